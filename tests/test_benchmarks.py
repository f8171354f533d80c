"""What `python -m benchmarks --against` says of two measurements."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.against import BEFORE, NOW, ratio, slower
from benchmarks.driver import ROOT, Contender, Results
from benchmarks.workloads import WORKLOADS

WORK = WORKLOADS[0]


def measured(now: float, before: float) -> Results:
    return Results(figures={WORK.name: {NOW: now, BEFORE: before}})


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ((1.04, 1.0), (1.2, 1.0), False),
        ((1.06, 1.0), (1.04, 1.0), False),
        ((1.06, 1.0), (1.06, 1.0), True),
        ((0.5, 1.0), None, False),
        ((0.0, 0.0), None, False),
        ((3.0, 0.0), (3.0, 0.0), True),
    ],
)
def test_slower_means_above_the_limit_in_both_runs(first, second, verdict):
    again = measured(*second) if second else Results()
    assert (slower(measured(*first), again, [WORK]) == [WORK]) is verdict


def test_what_one_tree_lacks_has_no_ratio():
    assert ratio(Results(figures={WORK.name: {NOW: 1.0}}), WORK) is None


def test_a_contender_imports_the_package_of_its_folder(tmp_path: Path):
    (tmp_path / "wengert.py").write_text("__version__ = 'older'\n")
    contender = Contender("wengert", sys.executable, tmp_path)
    code = "import wengert; print(wengert.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, cwd=ROOT, env=contender.environment(),
    )  # fmt: skip
    assert done.stdout == "older\n"
