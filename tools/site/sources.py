"""Pages of source files and folders that other pages link to."""

from __future__ import annotations

import ast
from collections.abc import Callable
from html import escape
from pathlib import Path

from tools.site.contents import ROOT
from tools.site.markdown import coloured, sentence

_LANGUAGES = {".py": "python", ".sh": "bash", ".toml": "toml", ".md": "markdown"}


def page_of(source: str) -> str:
    return f"source/{source}.html" if source else "source/index.html"


def page(source: str, link: Callable[[str], str | None]) -> str:
    """A file coloured, or a folder with what its files say they own."""
    path = ROOT / source
    title = f"<h1><code>{escape(source)}</code></h1>"
    if path.is_file():
        language = _LANGUAGES.get(path.suffix, "text")
        text = coloured(path.read_text(encoding="utf-8"), language)
        return f"{title}<pre><code>{text}</code></pre>"
    rows = "".join(_row(inner, link) for inner in sorted(path.iterdir()) if _shown(inner))
    return f'{title}<div class="wide"><table>{rows}</table></div>'


def _shown(path: Path) -> bool:
    return path.name != "__pycache__" and (path.is_dir() or path.suffix in (*_LANGUAGES, ".txt"))


def _row(path: Path, link: Callable[[str], str | None]) -> str:
    target = link(path.relative_to(ROOT).as_posix())
    name = f"<code>{escape(path.name)}{'/' if path.is_dir() else ''}</code>"
    linked = name if target is None else f'<a href="{target}">{name}</a>'
    return f"<tr><td>{linked}<td>{sentence(_first_sentence(path))}"


def _first_sentence(path: Path) -> str:
    """What a module or package says of itself in its first line."""
    file = path / "__init__.py" if path.is_dir() else path
    if file.suffix != ".py" or not file.exists():
        return ""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.split("\n", 1)[0]
