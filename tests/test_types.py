"""What type checkers see: user programs, right and wrong. `test_names` looks at the stubs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from tests.typed import right

ROOT = Path(__file__).parent.parent
TYPED = ROOT / "tests" / "typed"


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("wengert") / "py.typed").is_file()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str]]]:
    """Lines and words of what a checker says, by the name of the file."""
    folder = tmp_path_factory.mktemp("typed")
    for name in ("right.py", "wrong.py"):
        shutil.copy(TYPED / name, folder)
    settings = {"typeCheckingMode": "standard", "reportUnusedExpression": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    result: dict[str, list[tuple[int, str]]] = {"right.py": [], "wrong.py": []}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        place = one["range"]["start"]["line"] + 1, one["message"]
        result.setdefault(Path(one["file"]).name, []).append(place)
    return result


def test_nothing_is_wrong_with_a_right_program(found: dict[str, Any]) -> None:
    assert found["right.py"] == []


def test_the_mistakes_of_a_wrong_program_are_found(found: dict[str, Any]) -> None:
    lines = (TYPED / "wrong.py").read_text(encoding="utf-8").splitlines()
    marks = {n: m[1] for n, line in enumerate(lines, 1) if (m := re.search("# wrong: (.+)", line))}
    said = {n: [m for line, m in found["wrong.py"] if line == n] for n, _ in found["wrong.py"]}
    assert said.keys() == marks.keys()
    for number, word in marks.items():
        assert any(word in message for message in said[number]), (lines[number - 1], said[number])


def test_right_programs_run(tmp_path: Path) -> None:
    right.operations()
    right.operators(tf.Variable([[1.0, 2.0], [3.0, 4.0]]))
    right.values(tf.constant(2.0))
    right.gradients()
    right.functions()
    right.datasets()
    right.composites()
    right.control(tf.constant(1.0))
    right.saving(str(tmp_path))
    right.keras()
    assert right.clipped(tf.constant(2.0)).numpy() == 2.0
