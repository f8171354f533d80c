"""Arrays that loops write row by row: every version stays what it was, and none is copied."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.ops.row_list import Rows, added, as_rows, joined

FLOAT = np.dtype(np.float64)


def content(rows: Rows) -> list[Any]:
    return [None if x is None else float(x) for x in rows.items]


@pytest.mark.parametrize("seed", range(20))
def test_every_version_stays_what_it_was(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start: list[Any] = [None] * 4
    versions = [(Rows(list(start), FLOAT, ()), start)]
    for step in range(60):
        rows, plain = versions[rng.integers(len(versions))]
        if rng.random() < 0.6:
            i = int(rng.integers(len(plain) + (2 if len(plain) < 9 else 0)))
            grown = [*plain, *[None] * (i + 1 - len(plain))]
            grown[i] = float(step)
            versions.append((rows.written(i, np.asarray(float(step))), grown))
        assert content(rows) == plain
    for rows, plain in versions:
        assert content(rows) == plain
        assert np.asarray(rows).tolist() == [0.0 if x is None else x for x in plain]


def test_writing_copies_nothing() -> None:
    first = rows = Rows([None] * 100, FLOAT, ())
    held = rows.items
    for i in range(100):
        rows = rows.written(i, np.asarray(float(i)))
        assert rows.items is held
    assert content(rows) == list(map(float, range(100)))
    assert content(first) == [None] * 100


def test_sums() -> None:
    a = Rows([np.ones(2), None, np.ones(2)], FLOAT, (2,))
    b = as_rows(np.full((3, 2), 3.0))
    assert np.asarray(added(a, b)).tolist() == [[4.0, 4.0], [3.0, 3.0], [4.0, 4.0]]
    assert np.asarray(np.add(a, np.full((3, 2), 3.0))).tolist() == np.asarray(added(a, b)).tolist()
    longer = added(a, Rows([None, None, None, np.ones(2)], FLOAT, (2,)))
    assert np.asarray(longer).tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]


def test_rows_of_several_shapes() -> None:
    spec = tf.TensorSpec([None, None], tf.float64)
    rows = joined([np.ones(1), np.ones(3), np.ones(0)], spec)
    assert isinstance(rows, Rows) and not rows.is_even
    assert [x.shape for x in rows.zeros().items] == [(1,), (3,), (0,)]
    outside = np.asarray(rows)
    assert outside.dtype == object
    assert [x.shape for x in as_rows(outside).items] == [(1,), (3,), (0,)]
    nested = joined([rows, joined([np.ones(2), np.ones(1)], spec)], spec)
    assert [x.shape for x in added(nested, nested).get(1).items] == [(2,), (1,)]
    assert added(nested, nested).get(0).get(1).tolist() == [2.0, 2.0, 2.0]


# What loops cost.


def written(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float64, n, element_shape=[])
    body = lambda i, a: (i + 1, a.write(i, x * 2.0))
    return tf.reduce_sum(tf.while_loop(lambda i, a: i < n, body, (0, array))[1].stack())


def grown(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float64, 0, dynamic_size=True, element_shape=[])
    body = lambda i, a: (i + 1, a.write(i, x * 2.0))
    return tf.reduce_sum(tf.while_loop(lambda i, a: i < n, body, (0, array))[1].stack())


def read(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float64, n, element_shape=[]).unstack(tf.ones([n], x.dtype) * x)
    return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + array.read(i)), (0, x))[1]


def both(x: Any, n: Any) -> Any:
    array = tf.TensorArray(tf.float64, n, element_shape=[]).write(0, x)
    body = lambda i, a: (i + 1, a.write(i, a.read(i - 1) * 0.5 + x))
    return tf.reduce_sum(tf.while_loop(lambda i, a: i < n, body, (1, array))[1].stack())


def seconds(work: Callable[..., Any], *args: Any) -> float:
    """Seconds of this process's own processor time, whatever else the machine is doing."""
    start = time.process_time()
    work(*args)
    return time.process_time() - start


def slope(f: Callable[..., Any]) -> Any:
    def run(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, n)
        return tape.gradient(y, x)

    return tf.function(run, autograph=False)


@pytest.mark.parametrize("program", [written, grown, read, both])
def test_long_loops_end(program: Any) -> None:
    """A cost that grows with the square of the turns would take minutes here."""
    x = tf.constant(1.0, tf.float64)
    with tf.engine("host"):
        took = seconds(tf.function(program, autograph=False), x, tf.constant(100_000))
        took += seconds(slope(program), x, tf.constant(15_000))
    assert took < 120.0


def peak(work: Callable[..., Any], *args: Any) -> int:
    work(*args)
    tracemalloc.start()
    try:
        work(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_loop_keeps_for_its_gradient_what_each_turn_needs() -> None:
    def run(x: Any, n: Any) -> Any:
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.sin(s) * 0.5), (0, x))[1]

    x = tf.ones([5_000], tf.float64)
    with tf.engine("host"):
        work = slope(run)
        few, many = (peak(work, x, tf.constant(n)) for n in (50, 200))
    per_turn = (many - few) / 150
    assert 0.9 * x.numpy().nbytes < per_turn < 2.5 * x.numpy().nbytes


def test_reading_an_array_keeps_only_its_sizes() -> None:
    def run(x: Any, n: Any) -> Any:
        array = tf.TensorArray(tf.float64, n, element_shape=[2_000], clear_after_read=False)
        array = array.write(0, x)
        body = lambda i, a: (i + 1, a.write(i, a.read(i - 1) * 0.5 + x))
        return tf.while_loop(lambda i, a: i < n, body, (1, array))[1].read(n - 1)

    x = tf.ones([2_000], tf.float64)
    with tf.engine("host"):
        used = peak(slope(run), x, tf.constant(200))
    assert used < 10 * 200 * x.numpy().nbytes


def test_a_gradient_that_needs_a_size_keeps_no_elements() -> None:
    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.float64)] * 2)
    def run(x: Any, b: Any) -> Any:
        return tf.reduce_sum(tf.math.floor(x * 2.0) + b)

    x, b = tf.ones([500_000], tf.float64), tf.ones([1], tf.float64)
    with tf.engine("host"), tf.GradientTape() as tape:
        tape.watch(b)
        y = run(x, b)
        tracemalloc.start()
        y = run(x, b)
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    assert kept < 100_000
    assert tape.gradient(y, b).numpy().tolist() == [500_000.0]


def in_loops(read: str, branch: float, dynamic: bool) -> Callable[[Any, Any], Any]:
    def f(u: Any, a: Any) -> Any:
        total = tf.constant(0.0)
        if tf.reduce_sum(a) > branch:
            for _ in tf.range(2):
                rows = tf.TensorArray(tf.float32, 0 if dynamic else 3, dynamic_size=dynamic)
                for j in tf.range(3):
                    rows = rows.write(j, tf.sin(u) * tf.cast(j + 1, tf.float32))
                    u = u * a
                if read == "one":
                    total += tf.reduce_sum(rows.read(1) ** 2)
                elif read == "all":
                    total += tf.reduce_sum(rows.stack() ** 2 * a)
        return tf.reduce_sum(u**3) + total

    return f


def derivatives(f: Callable[[Any, Any], Any]) -> list[Any]:
    at = [tf.constant([0.7, -0.3]), tf.constant([0.3, 0.8])]
    with tf.GradientTape() as second:
        second.watch(at)
        with tf.GradientTape() as first:
            first.watch(at)
            y = f(*at)
        found = first.gradient(y, at, unconnected_gradients="zero")
        total = tf.reduce_sum(found[0]) + 2.0 * tf.reduce_sum(found[1])
    return [*found, *second.gradient(total, at, unconnected_gradients="zero")]


@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("branch", [-9.0, 9.0])
@pytest.mark.parametrize("read", ["none", "one", "all"])
def test_arrays_in_loops_in_a_branch_have_second_derivatives(
    read: str, branch: float, dynamic: bool, open_sizes: bool
) -> None:
    f = in_loops(read, branch, dynamic)
    signature = [tf.TensorSpec([None]), tf.TensorSpec([None])] if open_sizes else None
    tf.config.run_functions_eagerly(True)
    try:
        expected = derivatives(tf.function(f))
    finally:
        tf.config.run_functions_eagerly(False)
    found = derivatives(tf.function(f, input_signature=signature))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6)
