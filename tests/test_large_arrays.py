"""Kernels that go another way where arrays are large: the same numbers, and memory used again."""

from __future__ import annotations

import platform
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import wengert as tf

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e20, -1e20, 1e-30, -2.5]


def numbers(dtype: str, size: int = 5000) -> np.ndarray:
    """Random numbers of which many are equal, and all the special ones."""
    drawn = np.random.default_rng(1).normal(0, 2, size).round(1)
    with np.errstate(over="ignore"):
        return np.concatenate([SPECIAL, drawn]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, -1.0, -2.0, -3.0, 2.5, np.inf])
def test_powers(power: float, dtype: str) -> None:
    x = numbers(dtype)
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), power).astype(dtype)
    found = tf.constant(x) ** power
    np.testing.assert_allclose(found, wanted, rtol=4 * float(np.finfo(dtype).eps))
    signs = ~np.isnan(wanted)
    assert (np.signbit(found.numpy()) == np.signbit(wanted))[signs].all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
def test_bounds(dtype: str) -> None:
    x = numbers(dtype) if dtype.startswith("f") else np.arange(5000).astype(dtype)
    bound = x.dtype.type(1)
    for one, other in ((x, bound), (bound, x)):
        np.testing.assert_array_equal(tf.maximum(one, other), np.maximum(x, bound))
        np.testing.assert_array_equal(tf.minimum(one, other), np.minimum(x, bound))
    np.testing.assert_array_equal(tf.nn.relu(x), np.maximum(x, x.dtype.type(0)))
    np.testing.assert_array_equal(tf.nn.relu6(x), np.clip(x, 0, 6))
    np.testing.assert_array_equal(tf.clip_by_value(x, 1, 3), np.clip(x, 1, 3))
    # The lower bound wins where they cross.
    np.testing.assert_array_equal(
        tf.clip_by_value(x, 3, 1)[1:], np.where(np.isnan(x), x, x.dtype.type(3))[1:]
    )


def test_a_bound_that_is_nan() -> None:
    assert np.isnan(tf.maximum(tf.zeros([5000]), np.nan)).all()
    assert np.isnan(tf.minimum(tf.zeros([5000]), np.nan)).all()
    assert np.isnan(tf.clip_by_value(tf.zeros([5000]), np.nan, 1.0)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
def test_orders(direction: str, axis: int, dtype: str) -> None:
    x = np.random.default_rng(2).normal(0, 3, (200, 100)).round(0).astype(dtype)
    if dtype.startswith("f"):
        x[x == 0] = -x[x == 0]  # zeros of both signs are equal
    sign = 1 if direction == "ASCENDING" else -1
    wanted = np.argsort(sign * x, axis, kind="stable")
    np.testing.assert_array_equal(tf.argsort(x, axis, direction), wanted)
    np.testing.assert_array_equal(tf.sort(x, axis, direction), np.take_along_axis(x, wanted, axis))


def test_order_with_nan() -> None:
    x = np.random.default_rng(3).normal(size=20_000).astype(np.float32)
    x[[5, 7000]] = [np.nan, -np.nan]
    assert tf.argsort(x).numpy()[-2:].tolist() == [5, 7000]
    assert np.isnan(tf.sort(x).numpy()[-2:]).all()


def test_the_gradient_of_a_sorted_tie_goes_to_each_in_order() -> None:
    x = tf.constant(np.random.default_rng(4).integers(0, 9, (100, 100)).astype(np.float32))
    weights = tf.range(100.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sort(x) * weights)
    place = np.argsort(np.argsort(x.numpy(), 1, kind="stable"), 1)
    np.testing.assert_array_equal(tape.gradient(y, x), place)


@pytest.mark.parametrize("width", [1, 3, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64", "bfloat16"])
def test_segment_sums(dtype: str, width: int) -> None:
    random = np.random.default_rng(5)
    kind = tf.as_dtype(dtype)
    x = tf.cast(random.integers(-8, 9, (9000, width)), kind)
    ids = random.integers(-1, 40, 9000)
    wanted: Any = np.zeros((41, width), complex)
    np.add.at(wanted, ids[ids >= 0], x.numpy().astype(complex)[ids >= 0])
    found = tf.math.unsorted_segment_sum(x, ids, 41)
    assert found.dtype is kind
    rounded = tf.cast(wanted, kind) if kind.is_complex else tf.cast(wanted.real, kind)
    np.testing.assert_array_equal(found.numpy(), rounded.numpy())
    order = np.argsort(ids, kind="stable")[np.count_nonzero(ids < 0) :]
    tidy = tf.math.segment_sum(tf.gather(x, order), ids[order])
    np.testing.assert_array_equal(tidy.numpy(), found.numpy()[: ids.max() + 1])


def test_segment_sums_of_nothing() -> None:
    none = tf.zeros([0], tf.int32)
    assert tf.math.unsorted_segment_sum(tf.zeros([0, 4]), none, 3).numpy().tolist() == [[0] * 4] * 3
    assert tf.math.segment_sum(tf.zeros([0, 4]), none).shape == (0, 4)
    assert tf.math.unsorted_segment_sum(tf.zeros([2, 0]), [0, -1], 3).shape == (3, 0)


SHAPES = [
    ((40, 30, 3), (0, 1)), ((40, 30, 3), (1,)), ((40, 30, 3), (0,)), ((40, 30, 3), (0, 2)),
    ((8, 16, 16, 4), (1, 2)), ((8, 16, 16, 4), (0, 1, 2)), ((5000, 1), (0,)), ((33, 77, 5), (1,)),
    ((2048, 2), ()), ((3, 0, 2000), (1,)), ((64, 64), (0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "complex64"])
def test_reductions_along_other_axes_than_the_last(
    shape: tuple[int, ...], axis: tuple[int, ...], dtype: str
) -> None:
    x = np.random.default_rng(6).integers(-3, 4, shape).astype(dtype)
    for keep in (False, True):
        for data in (x, np.asfortranarray(x)):
            found = tf.reduce_sum(data, axis, keep)
            assert found.dtype.name == dtype
            np.testing.assert_array_equal(found, np.sum(x, axis, x.dtype, keepdims=keep))
            if dtype != "complex64" and x.size:
                found = tf.reduce_max(data, axis, keep)
                np.testing.assert_array_equal(found, np.max(x, axis, keepdims=keep))
    if dtype in ("float32", "float64") and x.size:
        rule: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}
        np.testing.assert_allclose(tf.reduce_mean(x, axis), np.mean(x, axis), **rule)
        np.testing.assert_allclose(tf.math.reduce_variance(x, axis), np.var(x, axis), **rule)
        logs = np.log(np.sum(np.exp(x), axis))
        np.testing.assert_allclose(tf.reduce_logsumexp(x, axis), logs, **rule)
        signs = np.sign(x) + (x == 0)
        np.testing.assert_array_equal(tf.reduce_prod(signs, axis), np.prod(signs, axis))
        mean, variance = tf.nn.moments(x, axis)
        np.testing.assert_allclose(mean, np.mean(x, axis), **rule)
        np.testing.assert_allclose(variance, np.var(x, axis), **rule)
    np.testing.assert_array_equal(tf.reduce_any(x > 2, axis), np.any(x > 2, axis))
    np.testing.assert_array_equal(tf.reduce_all(x > -3, axis), np.all(x > -3, axis))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_sums_of_columns_with_what_is_no_number(special: float) -> None:
    x = np.ones((500, 8), np.float32)
    x[7, 3] = special
    total = tf.reduce_sum(x, 0).numpy()
    np.testing.assert_array_equal(total, [500.0 if i != 3 else special for i in range(8)])
    np.testing.assert_array_equal(tf.reduce_max(x, 0)[3], np.max(x[:, 3]))


_STEPS = """
import resource
import numpy as np
import wengert as tf

x = tf.constant(np.ones((256, 512), np.float32))

def step():
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.concat([tf.abs(x), x], 1)
    tape.gradient(y, x)

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for _ in range(20):
    step()
before = faults()
for _ in range(50):
    step()
print((faults() - before) / 50)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries do as they like")
def test_memory_of_arrays_is_used_again() -> None:
    done = subprocess.run([sys.executable, "-c", _STEPS], capture_output=True, check=True)
    found: Any = float(done.stdout)
    assert found < 20  # it takes some 500 to get it anew
