"""Compiled reductions of long rows, which go in two strides, and the largest of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

SHAPES = [((20_001,), None), ((64, 129), 1), ((9, 33, 31), (1, 2)), ((3, 4_099), None)]
REDUCTIONS = ["sum", "mean", "prod", "max", "min", "logsumexp", "variance", "euclidean_norm"]


def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    return tf.function(f, jit_compile=True)


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return np.random.default_rng(len(shape)).uniform(0.9, 1.1, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_strides_meet_every_number_once(
    name: str, shape: tuple[int, ...], axis: Any, dtype: str
) -> None:
    reduce = getattr(tf.math, f"reduce_{name}")
    x = tf.constant(numbers(shape, dtype))
    found = compiled(lambda x: reduce(x, axis))(x)
    np.testing.assert_allclose(found, reduce(x, axis), rtol=2e-3 if dtype == "float16" else 1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 31, 4_000, 4_097, 4_098])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_the_strides_keep_what_is_not_finite(name: str, place: int, value: float) -> None:
    reduce = getattr(tf.math, f"reduce_{name}")
    x = numbers((4, 4_099), "float32")
    x[2, place] = value
    np.testing.assert_allclose(compiled(lambda x: reduce(x, 1))(x), reduce(x, 1), rtol=1e-5)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_ties_of_long_rows_share_the_gradient(
    shape: tuple[int, ...], axis: Any, keepdims: bool
) -> None:
    x = tf.constant(np.random.default_rng(0).integers(0, 7, shape).astype(np.float32))

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(x * 0.3) * 2.0  # computed anew by whatever needs it
            top = tf.reduce_max(y, axis, keepdims=keepdims)
        return tape.gradient(top, y)

    found = compiled(gradient)(x)
    np.testing.assert_allclose(found, gradient(x), rtol=1e-5)
    np.testing.assert_allclose(tf.reduce_sum(found, axis), 1.0, rtol=1e-5)


SPECIAL = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1.0, 2.0, -3.0])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int16", "int32"])
def test_the_largest_of_each_row_are_the_same_compiled(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.choice(SPECIAL if "float" in dtype else SPECIAL[4:], (6, 5, 300))
    x = tf.cast(tf.constant(x), dtype)
    for k in (0, 1, 7, 300):
        eager = tf.math.top_k(x, k)
        found = compiled(lambda x, k=k: tf.math.top_k(x, k))(x)
        np.testing.assert_array_equal(found.indices, eager.indices)
        a, b = (np.asarray(tf.cast(t.values, "float64")) for t in (found, eager))
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))
