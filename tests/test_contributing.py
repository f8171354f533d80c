"""What `CONTRIBUTING.md` shows is true: its change applies and works, its files are there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
TEXT = PAGE.read_text(encoding="utf-8")


class Hunk(NamedTuple):
    """A place in a file, before and after the change."""

    file: str
    before: str
    after: str


def hunks() -> Iterator[Hunk]:
    [diff] = re.findall(r"^```diff\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    for part in re.split(r"^--- .*\n", diff, flags=re.MULTILINE)[1:]:
        head, *places = re.split(r"^@@\n", part, flags=re.MULTILINE)
        file = head.strip().removeprefix("+++ b/")
        for place in places:
            lines = place.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] in " -")
            yield Hunk(file, before, "".join(line[1:] for line in lines if line[0] in " +"))


@pytest.mark.parametrize("hunk", list(hunks()), ids=lambda h: h.file)
def test_the_change_fits_the_files_as_they_are(hunk: Hunk) -> None:
    text = (ROOT / hunk.file).read_text(encoding="utf-8")
    assert text.count(hunk.before) == 1, f"{hunk.file} has no such place:\n{hunk.before}"


PROGRAM = """
import wengert as tf
from wengert.testing import check_gradients
x = tf.constant([0.3, 8.0])
assert abs(float(tf.math.cbrt(x)[1]) - 2.0) < 1e-6
check_gradients(tf.math.cbrt, [x], order=2)
f = tf.function(tf.math.cbrt, jit_compile=True)
tf.debugging.assert_near(f(x), tf.math.cbrt(x))
"""


def test_the_change_works(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "wengert", tmp_path / "src" / "wengert")
    for hunk in hunks():
        if hunk.file.startswith("src/"):
            path = tmp_path / hunk.file
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(hunk.before, hunk.after), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "page",
    [PAGE, ROOT / "CHANGELOG.md", ROOT / "examples/README.md", *ROOT.glob("benchmarks/*.md")],
    ids=lambda p: p.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!http|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_commands_name_tools_that_are_there() -> None:
    for module in re.findall(r"python -m ((?:tools|benchmarks)[\w.]*)", TEXT):
        path = ROOT / module.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").exists(), module
    for script in re.findall(r"bash (tools/\w+\.sh)", TEXT):
        assert (ROOT / script).exists(), script
