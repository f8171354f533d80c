"""Each example runs, shortened, and leaves its picture."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = sorted(p for p in EXAMPLES.glob("*.py") if not p.name.startswith("_"))
KERAS = ("image_classifier",)
HAS_KERAS = find_spec("keras") is not None


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_example_draws_its_picture(program: Path, tmp_path: Path) -> None:
    if program.stem in KERAS and not HAS_KERAS:
        pytest.skip("Keras is not installed")
    result = run(program, tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "picture.svg" in result.stdout


@pytest.mark.skipif(HAS_KERAS, reason="Keras is installed")
@pytest.mark.parametrize("name", KERAS)
def test_example_says_that_it_needs_keras(name: str, tmp_path: Path) -> None:
    result = run(EXAMPLES / f"{name}.py", tmp_path)
    assert result.returncode == 1
    assert result.stderr == f"{name}: this example needs Keras 3. pip install 'wengert[keras]'\n"


def test_every_example_is_in_the_table() -> None:
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in PROGRAMS if f"({p.name})" not in table] == []


def run(program: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(program), "--steps", "12", "--out", "picture.svg"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        check=False,
    )
