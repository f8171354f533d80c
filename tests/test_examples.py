"""Each example runs, shortened, and leaves its picture."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = sorted(p for p in EXAMPLES.glob("*.py") if not p.name.startswith("_"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_example_draws_its_picture(program: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(program), "--steps", "12", "--out", "picture.svg"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "picture.svg" in result.stdout
