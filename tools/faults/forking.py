"""Forks while other threads take steps: children end or raise, and never hang."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import wengert as tf
from tools.faults.killing import in_child

PERIOD = 7


def _steps(jit: bool | None) -> tuple[Any, Any, Any]:
    count, w = tf.Variable(0), tf.Variable(tf.zeros([40, 40]))

    @tf.function(jit_compile=jit)
    def step() -> Any:
        count.assign((count + 1) % PERIOD)
        w.assign(tf.cast(count, tf.float32) * tf.ones([40, 40]) + 0.0 * (w @ w))
        return tf.reduce_sum(w)

    return count, w, step


def forks(count: int, seed: int, jit: bool | None) -> Iterator[str]:
    """Forks at random moments of another thread's steps; AssertionError at what is wrong."""
    number, w, step = _steps(jit)
    stop, rng = threading.Event(), random.Random(seed)

    def work() -> None:
        while not stop.is_set():
            with tf.GradientTape() as tape:
                tape.watch(w)
                tf.reduce_sum(w * w)
            step()

    def child() -> None:
        refused = (tf.errors.OpError, RuntimeError)
        try:
            before = int(number.numpy())
            assert np.all(w.numpy() == before), "a mixture"
        except refused:
            before = None
        number.assign(1)
        w.assign(tf.ones([40, 40]))
        if jit is None:
            assert float(step()) == 2.0 * 1600
        tf.function(lambda x: x * 2.0)(tf.constant(1.0))
        with suppress(*refused):
            step()

    step()
    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for k in range(count):
            time.sleep(rng.uniform(0.0, 0.01))
            status = in_child(child)
            assert status == 0, f"fork {k}: exit {status}"
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert not any(t.is_alive() for t in threads), "a thread of the parent hangs"
    yield f"{'xla' if jit else 'host'}: {count} forks"
