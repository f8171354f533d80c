"""Threads that trace and call the same functions at once; no update of a variable is lost or torn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import wengert as tf

THREADS = 8


@pytest.fixture(autouse=True, params=["host", "xla"])
def _engine(request: pytest.FixtureRequest) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with tf.engine(request.param):
            yield
    finally:
        sys.setswitchinterval(before)


def at_once(work: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS), timeout=600))


def test_no_increment_is_lost() -> None:
    counter, table = tf.Variable(0.0), tf.Variable(tf.zeros([4]))
    runs: list[int] = []

    @tf.function
    def step(x: Any) -> Any:
        runs.append(1)
        counter.assign_add(x)
        table.assign(table + 1.0)
        return counter + 0.0

    @tf.function
    def other_way_round(x: Any) -> None:
        table.assign_add(tf.ones([4]))
        counter.assign_add(x)

    def work(_: int) -> list[float]:
        seen = []
        for _ in range(25):
            seen.append(float(step(tf.constant(1.0))))
            other_way_round(tf.constant(1.0))
        return seen

    seen = [x for part in at_once(work) for x in part]
    assert counter.numpy() == 50 * THREADS
    assert table.numpy().tolist() == [50.0 * THREADS] * 4
    assert len(set(seen)) == len(seen) == 25 * THREADS
    assert len(runs) == 1


def test_eager_updates_wait_for_running_steps() -> None:
    counter = tf.Variable(0.0)
    step = tf.function(lambda: counter.assign_add(1.0))

    def work(i: int) -> None:
        for _ in range(50):
            if i % 2:
                counter.assign_add(1.0)
                assert counter.numpy() > 0.0
            else:
                step()

    at_once(work)
    assert counter.numpy() == 50 * THREADS


def test_every_signature_is_traced_once() -> None:
    total, runs = tf.Variable(0.0), []

    @tf.function
    def f(x: Any) -> Any:
        runs.append(x.shape)
        total.assign_add(tf.reduce_sum(x))
        return x * 2.0

    def work(_: int) -> None:
        for size in range(1, 5):
            assert f(tf.ones([size])).shape == [size]

    at_once(work)
    assert len(runs) == 4
    assert total.numpy() == 10 * THREADS


def test_variables_are_made_once() -> None:
    made: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(0.0))
        return made[0].assign_add(x)

    at_once(lambda _: f(tf.constant(1.0)))
    assert len(made) == 1
    assert made[0].numpy() == THREADS


def test_each_thread_has_its_own_gradients() -> None:
    square = tf.function(lambda x: x * x)

    def work(i: int) -> None:
        x = tf.constant(float(i))
        for _ in range(10):
            with tf.GradientTape() as outer, tf.GradientTape() as inner:
                outer.watch(x)
                inner.watch(x)
                y = square(x)
                slope = inner.gradient(y, x)
            assert float(slope) == 2.0 * i
            assert float(outer.gradient(slope, x)) == 2.0

    at_once(work)


def test_two_variables_change_together() -> None:
    first, second = tf.Variable(tf.zeros([1000])), tf.Variable(tf.zeros([1000]))

    @tf.function
    def both() -> None:
        first.assign_add(tf.ones([1000]))
        second.assign_add(tf.ones([1000]))

    difference = tf.function(lambda: tf.reduce_max(tf.abs(first - second)))

    def work(i: int) -> list[float]:
        if i % 2:
            return [both() or 0.0 for _ in range(50)]
        return [float(difference()) for _ in range(50)]

    assert not any(x for part in at_once(work) for x in part)
    assert first.numpy()[0] == second.numpy()[-1] == 50 * THREADS / 2


def test_failing_calls_beside_others() -> None:
    counter = tf.Variable(0.0)

    @tf.function
    def step(x: Any) -> None:
        counter.assign_add(1.0)
        tf.debugging.assert_positive(x)

    def work(i: int) -> int:
        failed = 0
        for k in range(20):
            try:
                step(tf.constant(-1.0 if (i + k) % 2 else 1.0))
            except tf.errors.InvalidArgumentError:
                failed += 1
        return failed

    assert sum(at_once(work)) == 10 * THREADS
    assert counter.numpy() == 10 * THREADS


def test_random_numbers_do_not_repeat() -> None:
    draw = tf.function(lambda: tf.random.uniform([4], dtype=tf.float64))
    found = np.concatenate(at_once(lambda _: np.concatenate([draw().numpy() for _ in range(10)])))
    assert len(set(found.tolist())) == 40 * THREADS


def test_a_compiled_loop_that_gets_more_room_while_others_run_it() -> None:
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while tf.reduce_sum(y) < n:
                y = y + tf.sin(y) * 0.001 + 0.01
        return tape.gradient(y, x)

    compiled = tf.function(f, jit_compile=True)
    x = tf.constant([0.1, 0.2], tf.float64)
    ends = (3.0, 3.5, 4.0, 5.0, 6.0)
    wanted = {n: f(x, tf.constant(n, tf.float64)).numpy() for n in ends}
    compiled(x, tf.constant(0.5, tf.float64))

    def work(k: int) -> list[bool]:
        found = [compiled(x, tf.constant(n, tf.float64)).numpy() for n in ends[k % 5 :]]
        return [np.allclose(g, wanted[n]) for g, n in zip(found, ends[k % 5 :], strict=True)]

    assert all(map(all, at_once(work)))
