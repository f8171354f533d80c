"""What tapes keep alive: nothing after they are dropped, and only what gradients need before."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf


@pytest.fixture
def no_gc() -> Iterator[None]:
    """Reference counting alone must free everything."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _bytes(work: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        kept = work()
        size = tracemalloc.get_traced_memory()[0]
        del kept
    finally:
        tracemalloc.stop()
    return size


@pytest.mark.usefixtures("no_gc")
@pytest.mark.parametrize("persistent", [False, True])
def test_a_dropped_tape_frees_everything_at_once(persistent: bool) -> None:
    v = tf.Variable(np.ones((10, 10), np.float32))
    x = tf.constant(np.ones((10, 10), np.float32))
    with tf.GradientTape(persistent=persistent) as tape:
        hidden = tf.tanh(tf.matmul(x, v))
        y = tf.reduce_sum(hidden * hidden)
    seen = [weakref.ref(hidden), weakref.ref(y), weakref.ref(tape)]
    tape.gradient(y, v)
    del hidden, y, tape
    assert [r() for r in seen] == [None, None, None]


@pytest.mark.usefixtures("no_gc")
def test_a_tape_dropped_by_an_exception_frees_everything() -> None:
    x = tf.constant([1.0, 2.0])
    seen: list[Any] = []

    def fail() -> None:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            seen.extend([weakref.ref(y), weakref.ref(tape)])
            raise KeyError("stop")

    with pytest.raises(KeyError):
        fail()
    assert [r() for r in seen] == [None, None]
    assert (x * x).numpy().tolist() == [1.0, 4.0]


@pytest.mark.usefixtures("no_gc")
def test_forward_accumulators_and_custom_gradients_leave_nothing() -> None:
    @tf.custom_gradient
    def double(x: Any) -> Any:
        return x * 2.0, lambda g: g * 2.0

    x = tf.constant([1.0, 2.0])
    with (
        tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator,
        tf.GradientTape() as tape,
    ):
        tape.watch(x)
        y = double(x) * x
    seen = [weakref.ref(o) for o in (y, tape, accumulator)]
    accumulator.jvp(y)
    tape.gradient(y, x)
    del y, tape, accumulator
    assert [r() for r in seen] == [None, None, None]


def test_gradient_frees_entries_as_it_walks() -> None:
    size = 1 << 16
    x = tf.ones([size])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(50):
            y = tf.tanh(y)
    assert len(tape._entries) == 50
    tape.gradient(y, x)
    assert not tape._entries


def test_a_product_keeps_only_the_factor_that_is_needed() -> None:
    size = 1 << 18
    x, c = tf.ones([size]), tf.ones([size])

    def chain() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(20):
                y = y * c
        return tape, y

    assert _bytes(chain) < 2.5 * 4 * size


def test_sums_and_shapes_keep_nothing() -> None:
    size = 1 << 18
    x = tf.ones([size])

    def chain() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.reshape(x + x, [2, -1]), axis=0)
            for _ in range(20):
                y = y + 1.0
        return tape, y

    assert _bytes(chain) < 2.5 * 4 * size


def test_recompute_grad_keeps_a_fifth_or_less() -> None:
    size, blocks, inside = 1 << 14, 50, 6

    def block(x: Any) -> Any:
        for _ in range(inside):
            x = tf.tanh(x * 1.01)
        return x

    def kept(f: Callable[[Any], Any]) -> int:
        def work() -> Any:
            x = tf.ones([size])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in range(blocks):
                    y = f(y)
            return tape, y

        return _bytes(work)

    assert kept(tf.recompute_grad(block)) <= kept(block) / 5


def test_a_long_tape_has_no_recursion_limit() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(100_000):
            y = y + 1e-9
    assert tape.gradient(y, x).numpy() == 1.0


def test_a_sparse_step_on_a_large_table_touches_only_its_rows() -> None:
    rows, width = 200_000, 64
    table = tf.Variable(np.zeros((rows, width), np.float32))
    index = tf.constant(np.arange(256))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, index) * 2.0)
        g = tape.gradient(loss, table)
        assert isinstance(g, tf.IndexedSlices)
        table.scatter_sub(tf.IndexedSlices(g.values * 0.1, g.indices, g.dense_shape))

    step()
    tracemalloc.start()
    try:
        step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows * width * 4 / 20
    assert np.allclose(table.numpy()[:256], -0.4)


def test_a_tensor_read_earlier_never_changes() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    read, view, array = v.read_value(), tf.reshape(v, [3, 1]), np.asarray(v)
    v.assign_add([1.0, 1.0, 1.0])
    v.scatter_add(tf.IndexedSlices(tf.constant([5.0]), tf.constant([0])))
    v[1].assign(9.0)
    assert read.numpy().tolist() == array.tolist() == [1.0, 2.0, 3.0]
    assert view.numpy().tolist() == [[1.0], [2.0], [3.0]]
    assert v.numpy().tolist() == [7.0, 9.0, 4.0]
