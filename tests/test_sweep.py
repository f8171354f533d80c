"""The sweep of `python -m benchmarks.sweep` knows every public operation, and counts as it says."""

from __future__ import annotations

import contextlib

import pytest

import wengert as tf
from benchmarks.sweep_report import above, gathered
from benchmarks.sweep_rows import LEFT_OUT, all_cells, form_of, public_names
from benchmarks.sweep_steps import operation


def measured_names() -> list[str]:
    """Names that have a form; those that are new and have none are told by the sweep itself."""
    names = []
    for name in public_names(tf):
        if name not in LEFT_OUT:
            with contextlib.suppress(LookupError):
                form_of(tf, name)
                names.append(name)
    return names


def test_nearly_every_public_operation_has_a_form_or_a_reason():
    known = len(measured_names()) + len(LEFT_OUT)
    assert known >= 0.97 * len(public_names(tf))


def test_names_that_are_left_out_exist():
    assert set(LEFT_OUT) <= set(public_names(tf))


@pytest.mark.filterwarnings("ignore")
def test_every_form_runs_at_the_smallest_size():
    for name in measured_names():
        operation(tf, name, form_of(tf, name), "small", False, False)()


def test_a_cell_has_its_ways_at_each_size():
    names = [str(cell) for cell in all_cells(tf, ["bitwise.invert", "math.erfc"], ("small",))]
    assert names[:3] == [
        "math.erfc small forward eager",
        "math.erfc small forward function",
        "math.erfc small with gradient eager",
    ]
    # An operation without a gradient has no such cells.
    assert [name for name in names if "bitwise" in name and "gradient" in name] == []


def row(run: int, ours: float, theirs: float) -> dict:
    cell = {"name": "exp", "size": "large", "gradient": False, "traced": False}
    seconds = {"wengert": ours, "tensorflow": theirs}
    return {"title": "exp", "run": run, "cell": cell, "seconds": seconds, "problems": []}


@pytest.mark.parametrize(("second", "is_above"), [(0.9, 0), (1.3, 1), (None, 0)])
def test_above_means_above_in_both_runs(second, is_above):
    rows = [row(1, 1.5, 1.0)] + ([row(2, second, 1.0)] if second else [])
    assert above(gathered(rows), 1.0, "").row_count == is_above


def test_what_one_framework_lacks_is_no_cell():
    assert gathered([{**row(1, 1.0, 1.0), "seconds": {"wengert": 1.0}}]) == []
