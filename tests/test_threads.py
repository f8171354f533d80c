"""Tapes among threads, asynchronous tasks and forked processes, under load."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import wengert as tf


def _matmul_gradient(seed: int, size: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """The tape's gradient of sum(tanh(x @ w)) and the same by hand."""
    rng = np.random.default_rng(seed)
    x, w = (rng.standard_normal((size, size)).astype(np.float32) / size for _ in range(2))
    variable = tf.Variable(w)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.tanh(tf.matmul(tf.constant(x), variable)))
    got = tape.gradient(loss, variable).numpy()
    want = x.T @ (1 - np.tanh(x @ w) ** 2)
    return got, want


def test_eight_threads_of_heavy_matmul_have_a_tape_each() -> None:
    with ThreadPoolExecutor(8) as pool:
        for got, want in pool.map(_matmul_gradient, range(32), timeout=600):
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_a_thread_does_not_record_on_the_tape_of_another() -> None:
    x = tf.constant(3.0)
    made: list[Any] = []
    with tf.GradientTape() as tape:
        tape.watch(x)
        context = contextvars.copy_context()
        for run in (lambda: made.append(x * x), lambda: context.run(lambda: made.append(x * x))):
            worker = threading.Thread(target=run)
            worker.start()
            worker.join()
    assert tape.gradient(made, x) is None


def test_gradient_asked_from_another_thread_while_recording_is_refused() -> None:
    x = tf.constant(3.0)
    errors: list[BaseException] = []

    def ask(tape: Any, y: Any) -> None:
        try:
            tape.gradient(y, x)
        except RuntimeError as error:
            errors.append(error)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        worker = threading.Thread(target=ask, args=(tape, y))
        worker.start()
        worker.join()
    assert "still recording in another thread" in str(errors[0])
    assert tape.gradient(y, x).numpy() == 6.0


def test_many_tasks_record_on_the_tape_they_started_in() -> None:
    async def power(x: Any, n: int) -> Any:
        y = x
        for _ in range(n - 1):
            await asyncio.sleep(0)
            y = y * x
        return y

    async def main() -> None:
        x = tf.constant(1.5)
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = await asyncio.gather(*(power(x, n) for n in range(1, 20)))
        got = tape.gradient(list(parts), x).numpy()
        assert np.isclose(got, sum(n * 1.5 ** (n - 1) for n in range(1, 20)), rtol=1e-5)

    asyncio.run(main())


def test_tasks_with_tapes_of_their_own_do_not_mix() -> None:
    async def slope(k: float) -> float:
        x = tf.constant(k)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(10):
                await asyncio.sleep(0)
                y = y * x
        return float(tape.gradient(y, x))

    async def main() -> None:
        found = await asyncio.gather(*(slope(1 + i / 50) for i in range(50)))
        np.testing.assert_allclose(found, [11 * (1 + i / 50) ** 10 for i in range(50)], rtol=1e-4)

    asyncio.run(main())


def test_a_closed_tape_ignores_late_children() -> None:
    async def late(x: Any, go: asyncio.Event) -> Any:
        await go.wait()
        return x * x

    async def main() -> None:
        x = tf.constant(3.0)
        go = asyncio.Event()
        with tf.GradientTape() as tape:
            tape.watch(x)
            task = asyncio.create_task(late(x, go))
            await asyncio.sleep(0)
        go.set()
        assert tape.gradient(await task, x) is None

    asyncio.run(main())


def test_threads_never_lose_an_update_of_a_variable() -> None:
    v = tf.Variable(0.0)
    table = tf.Variable(tf.zeros([4, 2]))
    step = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]))

    def work(_: int) -> None:
        for _ in range(200):
            v.assign_add(1.0)
            table.scatter_add(step)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert v.numpy() == 1600.0
    assert table.numpy()[1].tolist() == [1600.0, 1600.0]


def _child(queue: Any) -> None:
    queue.put(np.abs(np.subtract(*_matmul_gradient(0, 64))).max() < 1e-3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # JAX's, where another test loaded it
def test_a_forked_child_computes_gradients() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_child, args=(queue,))
        child.start()
        assert queue.get(timeout=600)
        child.join(60)
    assert child.exitcode == 0
    assert tape.gradient(y, x).numpy() == 4.0


def test_one_thread_at_a_time_is_in_a_critical_section() -> None:
    section, total = tf.CriticalSection(), tf.Variable(0)

    def add() -> Any:
        value = int(total)
        time.sleep(1e-4)  # room for another thread
        return total.assign(value + 1)

    threads = [
        threading.Thread(target=lambda: [section.execute(add) for _ in range(20)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(total) == 80


def test_what_a_critical_section_returns() -> None:
    section, v = tf.CriticalSection(name="steps"), tf.Variable(1.0)
    found = section.execute(lambda: {"a": v + 1, "b": [v, 2]})
    assert found["a"].numpy() == 2.0
    assert [x.dtype for x in found["b"]] == [tf.float32, tf.int32]
    assert section.execute(lambda: None) is None
    assert tf.function(lambda: section.execute(lambda: v.assign_add(1.0)))().numpy() == 2.0
    with tf.GradientTape() as tape:
        y = section.execute(lambda: v * v)
    assert tape.gradient(y, v).numpy() == 4.0
    with pytest.raises(ValueError, match="is in the section already"):
        section.execute(lambda: section.execute(lambda: 1))
    assert section.execute(lambda: 1).numpy() == 1


def test_names_that_only_tensorflow_needs() -> None:
    kinds = tf.AggregationMethod
    found = [kinds.ADD_N, kinds.DEFAULT, kinds.EXPERIMENTAL_TREE, kinds.EXPERIMENTAL_ACCUMULATE_N]
    assert found == [0, 0, 1, 2]
    tf.no_gradient("MyOperation")
    with pytest.raises(TypeError, match="a name was expected; got 3"):
        tf.no_gradient(3)  # type: ignore[arg-type]
