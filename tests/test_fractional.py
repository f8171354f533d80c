"""Fractional pooling: values recorded from TensorFlow, and what holds of random windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.test_not_finite import INF, NAN, each_way, run
from wengert.ops import fractional

V = np.array([0, 3, -5, 2, 5, -2, -1, 9, 6, 9, -2, 4, 9, 3, 6, 4, 4, -2, 7, -7, 1, 4, 7, 0, -2, -4,
              -1, 0, 4, 7, -8, 8, 1, -3, 3, 1, -5, -3, 4, 2, 0, -3, 5, -2, -3, 7, -4, -5, 4, 2, -9,
              -8, -2, 6, -2, 5, -3, -5, 6, 7, -8, -8, 3, -3, 1, -7, 7, -1, 8, 6]).reshape(1, 5, 7, 2)  # fmt: skip
ROWS, COLUMNS = [0, 2, 3, 5], [0, 2, 4, 5, 7]
# The pool, whether windows overlap; then the results, and the gradient of their sum weighted by
# 1, 2, 3, …
GOLDEN = [
    ("largest", False,
     [6, 4, 7, 9, 7, 9, 9, 4, 4, 8, 3, 1, -5, -3, 4, 2, 6, 7, 4, 2, 1, -7, 8, 6],
     [0, 0, 0, 0, 0, 0, 0, 4, 0, 6, 0, 8, 7, 0, 1, 2, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 9, 0, 0,
      10, 0, 0, 11, 12, 13, 14, 15, 16, 0, 0, 0, 0, 0, 18, 0, 0, 19, 20, 0, 0, 0, 24, 0, 0, 0, 0,
      17, 0, 0, 0, 0, 0, 21, 22, 0, 0, 23, 0]),
    ("largest", True,
     [7, 8, 7, 9, 7, 9, 9, 4, 5, 8, 4, 2, 4, 6, 4, 6, 6, 7, 4, 2, 7, 6, 8, 6],
     [0, 0, 0, 0, 0, 0, 0, 4, 0, 6, 0, 8, 7, 0, 0, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0,
      12, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 9, 0, 0, 18, 0, 0, 30, 32, 0, 0, 0, 76, 0, 0, 0, 0, 17, 0,
      0, 0, 0, 0, 0, 0, 21, 0, 23, 0]),
    ("mean", False,
     [1.25, 1.75, 3, 1, 6.5, 4.5, 1, 0.75, -2, 7.5, 2, -1, -5, -3, 2, -0.5, 1.25, 1.75, -1.25, -3.5,
      -4, -7.5, 2.75, 4],
     [0.25, 0.5, 0.25, 0.5, 0.75, 1, 0.75, 1, 2.5, 3, 1.75, 2, 1.75, 2, 0.25, 0.5, 0.25, 0.5, 0.75,
      1, 0.75, 1, 2.5, 3, 1.75, 2, 1.75, 2, 4.5, 5, 4.5, 5, 5.5, 6, 5.5, 6, 13, 14, 7.5, 8, 7.5, 8,
      4.25, 4.5, 4.25, 4.5, 4.75, 5, 4.75, 5, 10.5, 11, 5.75, 6, 5.75, 6, 4.25, 4.5, 4.25, 4.5,
      4.75, 5, 4.75, 5, 10.5, 11, 5.75, 6, 5.75, 6]),
    ("mean", True,
     [1.5556, 1.1111, 2.6667, 0.8889, 1.3333, 1.3333, 1.3333, 0.3333, -0.8333, 2, -1.6667, -2.6667,
      -3, -0.75, 0, 2.5, -1.1667, -1, -2.1667, -4.8333, -0.75, -2.5, 2.75, 4],
     [0.1111, 0.2222, 0.1111, 0.2222, 0.4444, 0.6667, 0.3333, 0.4444, 1.1667, 1.4444, 2, 2.3333,
      1.1667, 1.3333, 0.1111, 0.2222, 0.1111, 0.2222, 0.4444, 0.6667, 0.3333, 0.4444, 1.1667, 1.4444,
      2, 2.3333, 1.1667, 1.3333, 1.6111, 1.8889, 1.6111, 1.8889, 3.7778, 4.3333, 2.1667, 2.4444,
      6.25, 6.9444, 9, 9.8333, 4.9167, 5.3333, 4.3333, 4.6667, 4.3333, 4.6667, 9.3333, 10, 5, 5.3333,
      13.5, 14.3333, 18, 19, 9.5, 10, 2.8333, 3, 2.8333, 3, 6, 6.3333, 3.1667, 3.3333, 8.4167,
      8.8333, 11, 11.5, 5.75, 6]),
]  # fmt: skip
each_pool = pytest.mark.parametrize(
    "pool", [tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool], ids=["max", "avg"]
)


@pytest.fixture(autouse=True)
def seed() -> Iterator[None]:
    tf.random.set_seed(1)
    yield
    tf.random.set_seed(None)


@each_way
@pytest.mark.parametrize(("name", "overlapping", "y", "gradient"), GOLDEN)
def test_values_and_gradients_of_tensorflow(
    way: str, name: str, overlapping: bool, y: Any, gradient: Any
) -> None:
    def step(x: Any, rows: Any, columns: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(fractional, name)(x, rows, columns, overlapping)
        weights = tf.reshape(tf.range(1.0, tf.size(y) + 1), tf.shape(y))
        return y, tape.gradient(y, x, tf.cast(weights, tf.float32))

    got = run(way, step, V.astype(np.float32), np.array(ROWS), np.array(COLUMNS))
    np.testing.assert_allclose(np.ravel(got[0]), y, atol=6e-5)
    np.testing.assert_allclose(np.ravel(got[1]), gradient, atol=6e-5)


@each_way
def test_means_of_whole_numbers_are_cut_towards_zero(way: str) -> None:
    def pooled(x: Any, rows: Any, columns: Any) -> Any:
        return fractional.mean(x, rows, columns, True)

    got = run(way, pooled, V.astype(np.int32), np.array(ROWS), np.array(COLUMNS))
    assert np.ravel(got).tolist() == [1, 1, 2, 0, 1, 1, 1, 0, 0, 2, -1, -2, -3, 0, 0, 2, -1, -1, -2,
                                      -4, 0, -2, 2, 4]  # fmt: skip


@each_pool
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize(("size", "ratio"), [(10, 1.44), (23, 2.3), (9, 1.0), (7, 7.0), (12, 3.0)])
def test_windows_cover_an_axis_and_differ_by_one(
    pool: Any, pseudo_random: bool, size: int, ratio: float
) -> None:
    x = tf.ones((2, size, 5, 1))
    seen, count = set(), int(size / ratio)
    for _ in range(20):
        y, rows, columns = pool(x, [1.0, ratio, 1.0, 1.0], pseudo_random)
        assert y.shape == [2, count, 5, 1] and rows.dtype == columns.dtype == tf.int64
        assert rows[0] == 0 and rows[-1] == size and columns.numpy().tolist() == [*range(6)]
        assert set(np.diff(rows)) <= {size // count, -(-size // count)}
        seen.add(tuple(rows.numpy()))
    assert (len(seen) > 1) == (size % count > 0)


@each_pool
@pytest.mark.parametrize("pseudo_random", [False, True])
def test_a_seed_repeats_the_windows_on_every_engine(pool: Any, pseudo_random: bool) -> None:
    x = tf.random.stateless_normal((1, 30, 20, 2), (1, 2))
    given = [1.0, 1.3, 1.7, 1.0], pseudo_random, True, 3

    def step(x: Any) -> Any:
        return pool(x, *given)

    want = pool(x, *given)
    for way in ("eager", "host", "xla"):
        for got, y in zip(run(way, step, x), want, strict=True):
            np.testing.assert_allclose(got, y, 1e-6, 1e-6)
    others = [tuple(pool(x, *given[:-1], seed)[1].numpy()) for seed in range(1, 9)]
    assert len(set(others)) > 1


def test_both_pools_have_the_windows_of_their_seed() -> None:
    x = tf.ones((1, 40, 40, 1))
    first, second = (
        f(x, 1.4, seed=9)[1:] for f in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool)
    )
    assert np.array_equal(first, second) and not np.array_equal(*first)


@each_pool
@pytest.mark.parametrize("way", ["host", "xla"])
def test_each_call_of_a_function_has_other_windows(pool: Any, way: str) -> None:
    x = tf.ones((1, 40, 4, 1))
    with tf.engine(way):
        step = tf.function(lambda x: pool(x, [1.0, 1.4, 1.0, 1.0])[1])
        tf.random.set_seed(4)
        found = [tuple(step(x).numpy()) for _ in range(4)]
        tf.random.set_seed(4)
        assert found == [tuple(step(x).numpy()) for _ in range(4)]
    assert len(set(found)) == 4


@each_way
def test_gradients_reach_the_windows(way: str) -> None:
    def step(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, rows, columns = tf.nn.fractional_max_pool(x, 1.6, seed=2)
            z = tf.nn.fractional_avg_pool(x, 1.6, seed=2)[0]
        return y, tape.gradient(y, x), tape.gradient(z, x), rows, columns

    x = np.random.default_rng(0).standard_normal((1, 9, 11, 1)).astype(np.float32)
    y, by_max, by_mean, rows, columns = (np.asarray(r) for r in run(way, step, x))
    np.testing.assert_array_equal(np.sort(x[by_max == 1]), np.sort(np.ravel(y)))
    area = np.diff(rows)[:, None] * np.diff(columns)
    spread = np.repeat(np.repeat(1 / area, np.diff(rows), 0), np.diff(columns), 1)
    np.testing.assert_allclose(by_mean[0, :, :, 0], spread, 1e-6)


@each_way
def test_the_first_nan_of_a_window_takes_the_gradient(way: str) -> None:
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.fractional_max_pool(x, 2.0)[0]
        return y, tape.gradient(y, x)

    y, g = run(way, step, np.array([INF, NAN, 1.0, NAN], np.float32).reshape(1, 2, 2, 1))
    assert np.isnan(y) and np.ravel(g).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("compiled", [False, True])
def test_sizes_that_a_trace_does_not_know_are_checked_when_it_runs(compiled: bool) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None] * 4)], jit_compile=compiled)
    def pooled(x: Any) -> Any:
        return tf.nn.fractional_max_pool(x, 2.5)[0]

    assert pooled(tf.ones((1, 5, 8, 2))).shape == [1, 2, 3, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large for a size of 2"):
        pooled(tf.ones((1, 5, 2, 2)))
