"""What the package carries: its README, its source archive, the versions it names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_readme_of_the_package_has_absolute_links_only() -> None:
    pytest.importorskip("hatchling")
    from hatchling.metadata.core import ProjectMetadata
    from hatchling.plugin.manager import PluginManager

    metadata = ProjectMetadata(str(ROOT), PluginManager())
    targets = re.findall(r"\]\(([^)]+)\)", metadata.core.readme)
    assert len(targets) > 10
    assert [t for t in targets if not t.startswith(("https://", "#"))] == []


def test_the_source_archive_has_what_its_checks_read() -> None:
    included = CONFIG["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in included if not (ROOT / name.lstrip("/")).exists()] == []
    for name in ("src", "tests", "tools", ".ci", "README.md", "CONTRIBUTING.md", "hatch_build.py"):
        assert f"/{name}" in included


def test_the_oldest_version_of_python_has_one_value() -> None:
    wanted = CONFIG["project"]["requires-python"].removeprefix(">=")
    named = [c.rpartition(" ")[2] for c in CONFIG["project"]["classifiers"] if ":: 3." in c]
    assert named[0] == wanted == CONFIG["tool"]["basedpyright"]["pythonVersion"]
    assert CONFIG["tool"]["ruff"]["target-version"] == "py" + wanted.replace(".", "")


def test_commands_with_extras_are_quoted() -> None:
    """A shell such as zsh takes the brackets of `wengert[keras]` for a pattern."""
    places = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder, kind in (("docs", "*.md"), ("src", "*.py"), ("examples", "*")):
        places += [p for p in (ROOT / folder).rglob(kind) if p.is_file() and p.suffix != ".pyc"]
    bare = re.compile(r"pip install [^'\n]*\w\[\w")
    assert [str(p) for p in places if bare.search(p.read_text(encoding="utf-8"))] == []
