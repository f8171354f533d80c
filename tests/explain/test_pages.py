"""Every code has a page whose first program gives that code, whose message is what Wengert says, and
whose last program gives none; and the pages travel with the package."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.explain.programs import PAGES, Page, examined, message, pages
from wengert.cli.main import main
from wengert.explain import CODES
from wengert.explain import code_pages as shipped

ROOT = Path(__file__).parents[2]


def test_codes_and_pages_are_the_same() -> None:
    assert {p.stem for p in pages()} == set(CODES)


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.stem)
def test_the_first_program_gives_the_code(path: Path) -> None:
    page = Page(path)
    assert page.text.startswith(
        f"# {page.code}: {CODES[page.code].removeprefix('no gradient: ')}\n"
    )
    assert examined(page.programs[0]).codes == [page.code]


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.stem)
def test_the_message_is_what_is_said(path: Path) -> None:
    page = Page(path)
    wanted, said = page.message.rstrip("\n"), message(page.programs[0])
    if sys.version_info >= (3, 13):  # there the place of a `with` is its whole line
        wanted, said = without_columns(wanted), without_columns(said)
    assert wanted == said


def without_columns(text: str) -> list[str]:
    """The lines of a message, less where in the source lines something stands."""
    lines = [re.sub(r"(\.py:\d+):\d+", r"\1", line) for line in text.splitlines()]
    return [re.sub(r"^( +\|) +[-^]+", r"\1", line) for line in lines]


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.stem)
def test_the_last_program_gives_none(path: Path) -> None:
    assert examined(Page(path).programs[-1]).codes == []


def test_the_index_links_every_page() -> None:
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    for code, title in CODES.items():
        assert f"| [{code}]({code}.md) | {title} |" in text


def test_pages_are_packed_where_the_installed_package_looks_for_them() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    targets = config["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["force-include"] == {"docs/diagnostics": "wengert/explain/pages"}
    assert "/docs" in targets["sdist"]["include"]
    assert shipped.FOLDERS[0].parts[-3:] == ("wengert", "explain", "pages")
    if Path(shipped.__file__).is_relative_to(ROOT):  # else the installed package is tested
        assert shipped.FOLDERS[1] == PAGES


def test_a_page_beside_the_package_is_read_first(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "WG101.md").write_text("# installed\n", encoding="utf-8")
    monkeypatch.setattr(shipped, "FOLDERS", (tmp_path, PAGES))
    shipped.read.cache_clear()
    try:
        assert shipped.read("WG101") == "# installed\n"
        assert shipped.read("WG102") == (PAGES / "WG102.md").read_text(encoding="utf-8")
    finally:
        shipped.read.cache_clear()


def test_the_command_prints_a_page(capsys: Any) -> None:
    assert main(["explain", "wg101"]) == 0
    assert capsys.readouterr().out.strip() == Page(PAGES / "WG101.md").text.strip()
    assert main(["explain"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"WG101  {CODES['WG101']}"
    assert main(["explain", "WG199"]) == 2
    assert "there is no code WG199. Did you mean" in capsys.readouterr().err
