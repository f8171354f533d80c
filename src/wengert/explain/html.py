"""Explanations as HTML: a fragment for notebooks, and a page that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from wengert.explain.explanation import Explanation
from wengert.explain.terminal import Line, lines

STYLE = """
.wengert { font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.wengert pre { margin: 0 0 1em; padding: .8em 1em; overflow-x: auto; border-radius: 6px;
  background: #f6f8fa; color: #1f2328; }
.wengert .error { color: #c1121f; font-weight: bold } .wengert .title { font-weight: bold }
.wengert .warning, .wengert .primary { color: #9a6700; font-weight: bold }
.wengert .gutter { color: #0550ae } .wengert .secondary { color: #0a6c74 }
.wengert .help { color: #116329; font-weight: bold }
@media (prefers-color-scheme: dark) {
  .wengert pre { background: #161b22; color: #e6edf3 }
  .wengert .error { color: #ff7b72 } .wengert .warning, .wengert .primary { color: #e3b341 }
  .wengert .gutter { color: #79c0ff } .wengert .secondary { color: #56d4dd }
  .wengert .help { color: #7ee787 }
}
"""


def fragment(explanations: Sequence[Explanation], silence: str = "") -> str:
    """Explanations for a notebook cell."""
    blocks = "".join(f"<pre>{_block(e)}</pre>" for e in explanations)
    return f'<style>{STYLE}</style><div class="wengert">{blocks or escape(silence)}</div>'


def preformatted(text: str) -> str:
    """A text of several lines for a notebook cell."""
    return f"<pre>{escape(text)}</pre>"


def page(explanations: Sequence[Explanation], title: str, silence: str) -> str:
    """A whole page; it loads nothing from elsewhere."""
    count = len(explanations)
    words = silence if not count else f"{count} finding{'s' if count > 1 else ''}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>body {{ max-width: 62rem; margin: 2rem auto; padding: 0 1rem; "
        f"font-family: system-ui, sans-serif; color-scheme: light dark }}</style></head>"
        f"<body><h1>{escape(title)}</h1><p>{escape(words)}</p>"
        f"{fragment(explanations)}</body></html>\n"
    )


def _block(explanation: Explanation) -> str:
    return "\n".join(_spans(line) for line in lines(explanation))


def _spans(line: Line) -> str:
    return "".join(
        f'<span class="{style}">{escape(text)}</span>' if style else escape(text)
        for text, style in line
    ).rstrip()
