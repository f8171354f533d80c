"""Markdown to HTML: headings with anchors, coloured programs, links to pages of the site."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_PART = re.compile(r"^(Args|Returns|Raises):\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
_NAMED = re.compile(r"^    (\w+(?:, \w+)*): ", re.MULTILINE)
_DOCTEST = re.compile(r"(?:^ *>>> .*\n(?:^(?! *>>> ) *\S.*\n)*)+", re.MULTILINE)


def coloured(code: str, language: str) -> str:
    """A program with a class on each token, as the style sheet knows them."""
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return highlight(code, lexer, HtmlFormatter(nowrap=True))


def render(text: str, link: Callable[[str], str]) -> str:
    """A page's text as HTML; `link` says where a relative link leads."""
    reader = MarkdownIt("commonmark", {"highlight": _highlight}).enable("table")
    tokens = reader.parse(text)
    taken: set[str] = set()
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[number + 1].content, taken))
        for child in token.children or ():
            for name in ("href", "src"):
                target = child.attrGet(name)
                if isinstance(target, str) and not re.match(r"[a-z]+:|#", target):
                    child.attrSet(name, link(target))
    html = reader.renderer.render(tokens, reader.options, {})
    html = html.replace("<table>", '<div class="wide"><table>')
    return html.replace("</table>", "</table></div>")


def docstring(text: str, link: Callable[[str], str]) -> str:
    """A docstring as HTML: Markdown, in which `Args:` opens a list and a `>>>` a program."""
    listed = _PART.sub(_list, text + "\n")
    fenced = _DOCTEST.sub(lambda m: f"\n```pycon\n{m[0]}```\n\n", listed)
    return render(fenced, link)


def _list(part: re.Match[str]) -> str:
    """`Args`, `Returns` or `Raises` as a heading with an item for each name, or a text."""
    items = _NAMED.sub(lambda m: f"- `{m[1]}`: ", part[2])
    plain = "\n".join(line if line.startswith("- ") else line[2:] for line in items.splitlines())
    text = plain if items != part[2] else part[2].replace("    ", "")
    return f"**{part[1]}**\n\n{text}\n"


def sentence(text: str) -> str:
    """A line of a table as HTML."""
    return MarkdownIt("commonmark").renderInline(text)


def _highlight(code: str, language: str, _: Any) -> str:
    return f"<pre><code>{coloured(code, language)}</code></pre>"


def _anchor(heading: str, taken: set[str]) -> str:
    """The name that forges give a heading: `## What is there` is `what-is-there`."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    base = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
    name, count = base, 0
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    taken.add(name)
    return escape(name)
