"""Explanations as compilers show them: the user's source, the place underlined, a note, a help.

A text is built as lines of (words, style) pairs, which become plain text, colours or HTML.
"""

from __future__ import annotations

import os
import textwrap
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from wengert.core.sites import Site
from wengert.explain.explanation import Explanation, Place

if TYPE_CHECKING:
    from wengert.explain.explanation import Report


Span = tuple[str, str]
Line = list[Span]

WIDTH = 100
COLORS = {
    "error": "bold red",
    "warning": "bold yellow",
    "title": "bold",
    "gutter": "bold blue",
    "primary": "bold yellow",
    "secondary": "bold cyan",
    "help": "bold green",
}


def render(explanation: Explanation, color: bool = False) -> str:
    """The explanation as text."""
    return "\n".join(paint(line) if color else plain(line) for line in lines(explanation))


def plain(line: Line) -> str:
    """A line without its styles."""
    return "".join(text for text, _ in line).rstrip()


def paint(line: Line) -> str:
    """A line in colours."""
    from rich.color import ColorSystem
    from rich.style import Style

    return "".join(
        Style.parse(COLORS[style]).render(text, color_system=ColorSystem.STANDARD)
        if style
        else text
        for text, style in line
    )


def level(explanation: Explanation) -> str:
    """How grave it is: what raised is an error, the rest a warning."""
    return "error" if explanation.code.startswith(("WG207", "WG40", "WG8")) else "warning"


def lines(explanation: Explanation) -> Iterator[Line]:
    """The explanation line by line."""
    kind = level(explanation)
    yield [(f"{kind}[{explanation.code}]", kind), (f": {explanation.title}", "title")]
    places = explanation.sites
    margin = max((len(str(p.site.line)) for p in places), default=1) + 1
    first = places[0].site.file if places else ""
    ordered = sorted(places, key=lambda p: (p.site.file != first, p.site.file, p.site.line))
    for file, group in groupby(ordered, key=lambda p: p.site.file):
        shown = list(group)
        head = places[0] if file == first else shown[0]
        yield from _snippet(head, shown, margin, places[0], "-->" if file == first else ":::")
    likely = "" if explanation.certain else "likely, not certain: "
    yield from _remark("note", "gutter", likely + explanation.cause, margin)
    if explanation.remedy:
        yield from _remark("help", "help", explanation.remedy, margin)
    yield from _remark("more", "gutter", f"wengert explain {explanation.code}", margin)


def _snippet(
    head: Place, shown: list[Place], margin: int, primary: Place, arrow: str
) -> Iterator[Line]:
    """The lines of one file, each followed by the underlined places on it."""
    yield [(f"{' ' * (margin - 1)}{arrow} ", "gutter"), (where(head.site), "")]
    yield [(f"{' ' * margin} |", "gutter")]
    before = None
    for number, group in groupby(shown, key=lambda p: p.site.line):
        here = list(group)
        if before is not None and number > before + 1:
            yield [("...", "gutter")]
        before = number
        text = here[0].site.text
        yield [(f"{number:>{margin}} | ", "gutter"), (text.expandtabs(4), "")]
        for one in sorted(here, key=lambda p: p is not primary):
            yield _underline(one, text, margin, one is primary)
    yield [(f"{' ' * margin} |", "gutter")]


def _underline(one: Place, text: str, margin: int, primary: bool) -> Line:
    start, end = span(one.site, text)
    mark = "^" if primary else "-"
    marks = mark * max(1, _width(text[start:end]))
    style = "primary" if primary else "secondary"
    return [
        (f"{' ' * margin} | ", "gutter"),
        (" " * _width(text[:start].expandtabs(4)), ""),
        (f"{marks} {one.label}".rstrip(), style),
    ]


def span(site: Site, text: str) -> tuple[int, int]:
    """Where the place begins and ends on its line, in characters."""
    first = len(text) - len(text.lstrip())
    start = first if site.column is None else min(site.column, len(text))
    end = site.end_column
    if site.column is None or end is None or end <= start:
        end = len(text.rstrip())
    return start, end


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _remark(word: str, style: str, text: str, margin: int) -> Iterator[Line]:
    """A note below the source, folded under itself."""
    head = f"{' ' * margin} = {word}: "
    folded: list[str] = []
    for paragraph in text.splitlines() or [""]:
        folded += textwrap.wrap(paragraph, max(40, WIDTH - len(head)), break_long_words=False)
    for i, part in enumerate(folded):
        if i:
            yield [(" " * len(head) + part, "")]
        else:
            yield [(f"{' ' * margin} = ", "gutter"), (word, style), (f": {part}", "")]


def where(site: Site) -> str:
    """File, line and column; of a notebook cell its name and line."""
    name = near(site)
    in_file = name.endswith(f":{site.line}")
    return f"{name}:{site.column + 1}" if in_file and site.column is not None else name


def near(site: Site | None) -> str:
    """The place of a site, its file relative to the working directory where it lies below."""
    return "elsewhere" if site is None else site.place.replace(site.file, short(site.file), 1)


def short(file: str) -> str:
    """A file name as people write it."""
    if file.startswith("<"):
        return file
    try:
        near = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if near.startswith("..") else near


def write(explanations: Report, stream: Any) -> None:
    """Writes explanations to a stream, in colours if it is a terminal."""
    color = bool(getattr(stream, "isatty", lambda: False)()) and "NO_COLOR" not in os.environ
    for one in explanations:
        stream.write(one.to_text(color) + "\n\n")
