"""Every operation inside a function: traced and compiled equal eager, values and gradients."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as tf
from tests.cases import Case, all_cases
from tests.test_operations import close, tensors
from wengert.core import nest
from wengert.core.indexed_slices import IndexedSlices

CASES = all_cases()
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def step(case: Case) -> Any:
    """The case as a function from tensors to its results and their gradients."""

    def run(*xs: Any) -> Any:
        floats = [x for x in xs if x.dtype.is_differentiable]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            ys = nest.flatten(case.call(*xs, **case.options))
        targets = [y for y in ys if y.dtype.is_differentiable]
        if not case.order or not floats or not targets:
            return ys, []
        return ys, [dense(g) for g in tape.gradient(targets, floats)]

    return run


def dense(g: Any) -> Any:
    return tf.convert_to_tensor(g) if isinstance(g, IndexedSlices) else g


def equal(got: Any, want: Any, tolerance: float) -> None:
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert (g is None) == (w is None), f"{g} for {w}"
        if g is not None:
            assert g.dtype == w.dtype, f"{g.dtype} for {w.dtype}"
            close(g, w, tolerance)


def compare(case: Case, traced: Any) -> None:
    given = tensors(case)
    want = step(case)(*given)
    got = traced(*given)
    tolerance = max(1e-9, min(case.tolerance, 1e-6))
    equal(got[0], want[0], tolerance)
    equal(got[1], want[1], max(tolerance, 1e-7))


@each_case
def test_traced_equals_eager(case: Case) -> None:
    with tf.engine("host"):
        compare(case, tf.function(step(case), autograph=False))


@each_case
def test_traced_with_unknown_sizes_equals_eager(case: Case) -> None:
    specs = [tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in tensors(case)]
    if not case.unknown_sizes:
        pytest.skip(f"needs known sizes: {case.needs_sizes}")
    with tf.engine("host"):
        compare(case, tf.function(step(case), input_signature=specs, autograph=False))


@each_case
def test_compiled_equals_eager(case: Case) -> None:
    if not case.lowered:
        pytest.skip("this case has no lowering; the table says so")
    compare(case, tf.function(step(case), jit_compile=True, autograph=False))
