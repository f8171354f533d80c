"""The pages of the codes: what each means, a program that shows it, and the remedy.

They are written under `docs/diagnostics` and travel inside the installed package; a checkout that
is not installed is read where it lies.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
FOLDERS = (_HERE / "pages", _HERE.parents[2] / "docs" / "diagnostics")


@cache
def read(code: str) -> str | None:
    """The page of a code, in Markdown; `None` if there is none."""
    for folder in FOLDERS:
        page = folder / f"{code}.md"
        if page.is_file():
            return page.read_text(encoding="utf-8")
    return None
