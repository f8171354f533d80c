"""What call sites and explanations cost: `python -m benchmarks.explanations`.

Figures are processor time, the best of several turns, in microseconds.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import wengert as tf


def best(work: Callable[[], object], number: int = 20_000, turns: int = 7) -> float:
    """Microseconds of one call."""
    turn = timeit.repeat(work, timer=time.process_time, number=number, repeat=turns)
    return min(turn) / number * 1e6


LIBRARY = """
import sys
from wengert.core import sites


def take():
    frame = sys._getframe(1)
    code = frame.f_code
    return (code, frame.f_lasti) if sites.USER.get(code.co_filename) else sites.find(frame)


def nothing():
    return None


def through(depth, work):
    return work() if not depth else through(depth - 1, work)
"""


def library() -> tuple[Callable[..., Any], ...]:
    """What the door does for every operation, a call that does nothing, and library frames."""
    names: dict[str, Any] = {}
    exec(compile(LIBRARY, str(Path(tf.__file__).parent / "library.py"), "exec"), names)
    return names["take"], names["nothing"], names["through"]


def step(variable: tf.Variable, x: tf.Tensor) -> object:
    """A small training step."""
    with tf.GradientTape() as tape:
        y = variable
        for _ in range(10):
            y = tf.tanh(y * x + variable)
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, variable)


def main() -> None:
    take, nothing, through = library()
    through(1, take)  # the files are judged once
    near = best(lambda: take()) - best(lambda: nothing())
    print(f"a site from user code: {near:.3f} µs (at most 0.2)")
    deep = best(lambda: through(15, take)) - best(lambda: through(15, nothing))
    print(f"a site through 15 frames of a library: {deep:.3f} µs (at most 1.5)")
    v, x = tf.Variable([1.0, 2.0]), tf.constant([0.5, 0.5])
    plain = best(lambda: step(v, x), 500)
    with tf.explain.doctor():
        watched = best(lambda: step(v, x), 500)
    print(f"a small step: {plain:.1f} µs; under the doctor {watched:.1f}, {watched / plain:.1f} ×")


if __name__ == "__main__":
    main()
