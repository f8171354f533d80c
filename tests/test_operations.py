"""Every operation through every lane: the case table run against references and rules."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import wengert as tf
import wengert.ops
from tests.cases import Case, all_cases
from tests.recorder import Recorder
from wengert.core import nest, shapes
from wengert.core.apply import spec
from wengert.core.op import REGISTRY, ShapeDtype
from wengert.testing import check_gradients

CASES = all_cases()
for family in pkgutil.iter_modules(wengert.ops.__path__):
    importlib.import_module(f"wengert.ops.{family.name}")
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def tensors(case: Case, dtype: str = "float64") -> list[Any]:
    """The arguments as tensors, floats in `dtype` and complex numbers in the matching width."""
    wide = "complex128" if dtype == "float64" else "complex64"

    def one(a: Any) -> Any:
        if isinstance(a, np.ndarray | np.generic | float):
            a = np.asarray(a)
            kind = {"f": dtype, "c": wide}.get(a.dtype.kind)
            return tf.constant(a, kind)
        return tf.constant(a)

    return [one(a) for a in case.args]


def run(case: Case, dtype: str = "float64") -> list[Any]:
    return nest.flatten(case.call(*tensors(case, dtype), **case.options))


def close(got: Any, want: Any, tolerance: float) -> None:
    got = np.asarray(got)
    want = np.asarray(want)
    assert got.shape == want.shape, f"shape {got.shape}, not {want.shape}"
    if got.dtype.kind in "biuOSU":
        assert np.array_equal(got, want), f"{got} is not {want}"
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        got.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True
    )


@pytest.mark.parametrize(
    ("case", "dtype"), [(c, d) for c in CASES if c.ref for d in c.dtypes], ids=str
)
def test_eager_equals_reference(case: Case, dtype: str) -> None:
    assert case.ref is not None
    got = run(case, dtype)
    want = nest.flatten(case.ref(*case.args, **case.options))
    half = dtype in ("float16", "bfloat16")
    tolerance = case.half_tolerance if half else case.tolerance
    if dtype == "float64":
        tolerance = min(tolerance, 1e-6)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        close(g, w, tolerance)


@functools.lru_cache(maxsize=1)
def _records(index: int) -> list[Any]:
    with Recorder() as recorder:
        case = CASES[index]
        case.call(*tensors(case), **case.options)
    return recorder.records


@each_case
def test_shape_rule_equals_real_shape(case: Case) -> None:
    for op, inputs, outputs, attrs in _records(CASES.index(case)):
        given = [spec(x) for x in inputs]
        want = [spec(y) for y in outputs]
        got = op.infer(*given, **attrs)
        for g, w in zip(_listed(op, got), want, strict=True):
            # Sizes that depend on the data stay open; XLA has no such operation.
            open_sizes = op.lower is None and shapes.compatible(g.shape, w.shape)
            assert g.dtype == w.dtype, f"{op.name}: {g} is not {w}"
            assert g.shape == w.shape or open_sizes, f"{op.name}: {g} is not {w}"
        for unknown in (_open(given), [ShapeDtype(None, s.dtype) for s in given]):
            for g, w in zip(_listed(op, op.infer(*unknown, **attrs)), want, strict=True):
                assert shapes.compatible(g.shape, w.shape), f"{op.name}: {g} for {w}"
                assert g.dtype == w.dtype


def _listed(op: Any, got: Any) -> list[ShapeDtype]:
    return [got] if op.outputs == 1 else list(got)


def _open(given: list[ShapeDtype]) -> list[ShapeDtype]:
    return [ShapeDtype(None if s.shape is None else (None,) * len(s.shape), s.dtype) for s in given]


@pytest.mark.parametrize("case", [c for c in CASES if c.order], ids=str)
def test_gradient_equals_finite_differences(case: Case) -> None:
    check_gradients(
        functools.partial(case.call, **case.options), tensors(case), case.order,
        tolerance=case.gradient_tolerance * 10, forward=case.forward,
    )  # fmt: skip


@each_case
def test_inputs_are_not_mutated(case: Case) -> None:
    given = tensors(case)
    before = [x.numpy() for x in given]
    with tf.GradientTape() as tape:
        floats = [x for x in given if x.dtype.is_differentiable]
        tape.watch(floats)
        ys = nest.flatten(case.call(*given, **case.options))
    if floats and any(y.dtype.is_differentiable for y in ys):
        tape.gradient([y for y in ys if y.dtype.is_differentiable], floats)
    for x, b in zip(given, before, strict=True):
        assert np.array_equal(x.numpy(), b, equal_nan=x.dtype.is_floating)


def test_registry_and_table_name_the_same_operations() -> None:
    seen: set[str] = set()
    for case in CASES:
        with Recorder() as recorder:
            given = tensors(case)
            floats = [x for x in given if x.dtype.is_differentiable]
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(floats)
                ys = nest.flatten(case.call(*given, **case.options))
            ys = [y for y in ys if y.dtype.is_differentiable]
            if floats and ys and case.order:
                tape.gradient(ys, floats)
        seen |= {op.name for op, *_ in recorder.records}
    missing = set(REGISTRY) - seen
    assert not missing, f"no case covers {sorted(missing)}"
