"""The fast backward loops say what the reference loop says, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.cases import Case
from tests.test_operations import CASES, tensors
from tests.test_unrolled import Program
from wengert.core import nest
from wengert.core.context import State
from wengert.tape import backward, reference, unrolled


@contextmanager
def by_reference() -> Iterator[None]:
    """Every gradient goes back by the reference loop."""

    def on_arrays(
        steps: Any, grads: dict[int, Any], sources: set[int], needed: set[int] | None, state: State
    ) -> None:
        reference.walk(steps, grads, sources, needed, state, False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unrolled, "LONGEST", -1)
        patch.setattr(backward, "_on_arrays", on_arrays)
        yield


@contextmanager
def by_loop() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unrolled, "LONGEST", -1)
        yield


@contextmanager
def written_out() -> Iterator[None]:
    """Each tape is written out when it first comes."""
    unrolled._kinds.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unrolled, "_SOON", 1)
        patch.setattr(unrolled, "_PATIENCE", 1 << 20)
        yield
    unrolled._kinds.clear()


def assert_same_bits(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        if a is None or b is None:
            assert a is b
            continue
        assert type(a) is type(b)
        parts = [(a, b)]
        if isinstance(a, tf.IndexedSlices):
            parts = [(a.values, b.values), (a.indices, b.indices)]
        for x, y in parts:
            assert x.dtype is y.dtype
            np.testing.assert_array_equal(x.numpy(), y.numpy())


def gradients(case: Case, dtype: str) -> list[Any]:
    """The gradients of a case, after arithmetic that uses each input twice and joins the results."""
    xs = tensors(case, dtype)
    floats = [x for x in xs if x.dtype.is_floating or x.dtype.is_complex]
    tf.random.set_seed(1)
    with tf.GradientTape() as tape:
        tape.watch(floats)
        used = [2.0 * x if any(x is f for f in floats) and x.dtype.is_floating else x for x in xs]
        ys = nest.flatten(case.call(*used, **case.options))
        ys = [y for y in ys if isinstance(y, tf.Tensor) and y.dtype.is_differentiable]
        ys += [x * 0.5 for x in floats if x.dtype.is_floating]
    return tape.gradient(ys, floats)


@pytest.mark.parametrize("case", [c for c in CASES if c.order], ids=str)
def test_every_operation(case: Case) -> None:
    dtype = "float32" if "float32" in case.dtypes or not case.dtypes else case.dtypes[0]
    with by_reference():
        expected = gradients(case, dtype)
    ways: list[Callable[[], Any]] = [by_loop, written_out]
    for way in ways:
        with way():
            assert_same_bits(gradients(case, dtype), expected)


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        program = Program(seed)
        with by_reference():
            expected = program()
        for way in (by_loop, written_out):
            with way():
                for a, b in zip(program(), expected, strict=True):
                    assert (a is None) == (b is None)
                    if a is not None:
                        np.testing.assert_array_equal(a[0], b[0])
                        assert a[1] is b[1]  # its line is that of another operation on the way
