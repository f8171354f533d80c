"""The frame of a page: what is around its text, the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from tools.site.contents import relative
from wengert._version import __version__


class Entry(NamedTuple):
    """A link: the page, from the site's folder, and its words."""

    page: str
    title: str


_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)


def frame(
    page: str, title: str, body: str, top: Iterable[Entry], here: str, side: Sequence[Entry]
) -> str:
    """A whole page; `here` is the entry of `top` that it belongs to."""
    bar = "".join(_link(page, entry, entry.title == here) for entry in top)
    below = _headings(body)
    column = "".join(
        f"<li>{_link(page, e, e.page == page)}{below if e.page == page else ''}" for e in side
    )
    home = relative("index.html", page)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Wengert</title>"
        f'<link rel="stylesheet" href="{relative("style.css", page)}"></head>\n<body>'
        f'<header><nav aria-label="Sections"><a class="brand" href="{home}">Wengert</a>{bar}</nav>'
        f'</header>\n<div class="columns"><main>\n{body}\n</main>\n'
        f'<nav class="side" aria-label="{escape(here)}"><ul>{column}</ul></nav></div>\n'
        f"<footer>Wengert {__version__} · Apache-2.0</footer></body></html>\n"
    )


def _link(page: str, entry: Entry, current: bool) -> str:
    mark = ' aria-current="page"' if current else ""
    return f'<a href="{relative(entry.page, page)}"{mark}>{entry.title}</a>'


def _headings(body: str) -> str:
    """The headings of the page that is shown, for the column at its side."""
    found = _HEADING.findall(body)
    rows = "".join(
        f'<li><a href="#{name}">{re.sub(r"<a [^>]*>|</a>", "", words)}</a>' for name, words in found
    )
    return f'<ul class="sub">{rows}</ul>' if rows else ""
