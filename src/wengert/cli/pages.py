"""`wengert explain`: prints the page of a code."""

from __future__ import annotations

import difflib
import sys

from wengert.explain import code_pages
from wengert.explain.codes import CODES


def show(code: str | None) -> int:
    """Prints a page, or the list of codes."""
    if code is None:
        for name, title in CODES.items():
            print(f"{name}  {title}")
        return 0
    wanted = code.upper()
    text = code_pages.read(wanted) if wanted in CODES else None
    if text is None:
        near = difflib.get_close_matches(wanted, CODES, 3, 0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        print(f"explain: there is no code {code}.{hint}", file=sys.stderr)
        return 2
    _print(text)
    return 0


def _print(text: str) -> None:
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
