"""Runs small programs with all detectors on, and tells what these found.

`python -m tests.explain.programs` writes the messages of the pages under `docs/diagnostics` anew.
"""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

from wengert.explain import Report, doctor

PAGES = Path(__file__).parents[2] / "docs" / "diagnostics"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examined(text: str, file: str = "program.py") -> Report:
    """What the detectors say about a program; an error that ends it is theirs too."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "__main__", "__file__": file}
    with doctor() as found:
        try:
            exec(compile(text, file, "exec", dont_inherit=True), names)
        except Exception as error:
            if not hasattr(error, "code"):
                raise
            found.examine(error)
        finally:
            linecache.cache.pop(file, None)
    return found.report()


class Page:
    """A page: its code, the program that fails, the message, and the program that does not."""

    def __init__(self, path: Path) -> None:
        self.code = path.stem
        self.text = path.read_text(encoding="utf-8")
        self.blocks = [(m[1], m[2]) for m in BLOCK.finditer(self.text)]

    @property
    def programs(self) -> list[str]:
        return [text for kind, text in self.blocks if kind == "python"]

    @property
    def message(self) -> str:
        return next(text for kind, text in self.blocks if kind == "text")

    def with_message(self, message: str) -> str:
        """The page with another message."""
        old = f"```text\n{self.message}```"
        return self.text.replace(old, f"```text\n{message}\n```")


def pages() -> list[Path]:
    return sorted(PAGES.glob("WG*.md"))


def message(text: str) -> str:
    """What a terminal shows for a program; the lines are kept for the rendering."""
    file = "program.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    report = examined(text, file)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        return report.to_text()
    finally:
        linecache.cache.pop(file, None)


if __name__ == "__main__":
    for path in pages():
        page = Page(path)
        path.write_text(page.with_message(message(page.programs[0])), encoding="utf-8")
