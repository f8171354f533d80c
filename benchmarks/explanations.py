"""What call sites and explanations cost: `python -m benchmarks.explanations`.

Figures are processor time, the best of several turns, in microseconds.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import get_ident
from types import SimpleNamespace
from typing import Any

import wengert as tf
from wengert.core.context import add_listener, remove_listener
from wengert.tape import history
from wengert.tape.gradient_tape import GradientTape


def best(work: Callable[[], object], number: int = 2000, turns: int = 100) -> float:
    """Microseconds of one call; short turns and many of them find the quiet moments."""
    turn = timeit.repeat(work, timer=time.process_time, number=number, repeat=turns)
    return min(turn) / number * 1e6


LIBRARY = """
import sys
from wengert.core.sites import above
from wengert.core.sites import USER, find

_frame = sys._getframe


def door():
    frame = _frame(2)
    code = frame.f_code
    try:
        return (code, frame.f_lasti) if USER[code.co_filename] else above(frame)
    except KeyError:
        return find(frame)


def shut():
    return None


def take():
    return door()


def nothing():
    return shut()


def through(depth, work):
    return work() if not depth else through(depth - 1, work)
"""


def library() -> tuple[Callable[..., Any], ...]:
    """What the door does for every operation, a call that does nothing, and library frames."""
    names: dict[str, Any] = {}
    exec(compile(LIBRARY, str(Path(tf.__file__).parent / "library.py"), "exec"), names)
    return names["take"], names["nothing"], names["through"]


def small(variable: tf.Variable, x: tf.Tensor) -> object:
    """A small training step: ten layers of three operations on two numbers, and their gradient."""
    with tf.GradientTape() as tape:
        y = variable
        for _ in range(10):
            y = tf.tanh(y * x + variable)
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, variable)


def tiny(variable: tf.Variable, x: tf.Tensor) -> object:
    """The least that a tape can do."""
    with tf.GradientTape() as tape:
        y = variable * x
    return tape.gradient(y, variable)


@tf.function
def traced(variable: tf.Variable, x: tf.Tensor) -> object:
    """The same as a function."""
    return small(variable, x)


@contextmanager
def speechless() -> Iterator[None]:
    """Takes away what tapes and functions note for explanations, and nothing else."""

    def start(self: Any, event: int, site: Any = None) -> None:
        self._live = self._thread = get_ident()
        add_listener(self)

    def stop(self: Any, event: int, site: Any = None) -> None:
        self._live = 0
        remove_listener(self)

    with ExitStack() as stack:
        for owner, name, new in (
            (GradientTape, "_start", start),
            (GradientTape, "_stop", stop),
            (history, "before", lambda *_: None),
            (history, "after", lambda *_: None),
            (history, "ASKED", SimpleNamespace(append=lambda _: None)),
        ):
            stack.callback(setattr, owner, name, vars(owner)[name])
            setattr(owner, name, new)
        yield


def noted(work: Callable[[], object], number: int = 300) -> float:
    """Microseconds that a call spends on notes for explanations; with and without, turn by turn."""
    pairs = []
    for _ in range(100):
        as_it_is = best(work, number, 1)
        with speechless():
            pairs.append((as_it_is, best(work, number, 1)))
    return min(a for a, _ in pairs) - min(b for _, b in pairs)


def main() -> None:
    take, nothing, through = library()
    through(1, take)  # the files are judged once
    near = best(lambda: take()) - best(lambda: nothing())
    print(f"a site from user code: {near:.3f} µs (at most 0.2)")
    deep = best(lambda: through(15, take)) - best(lambda: through(15, nothing))
    print(f"a site through 15 frames of a library: {deep:.3f} µs (at most 1.5)")
    v, x = tf.Variable([1.0, 2.0]), tf.constant([0.5, 0.5])
    tiny(v, x)
    notes = noted(lambda: tiny(v, x))  # a tape makes as many, however much it records
    for name, work in (("a small step", small), ("the step as a function", traced)):
        work(v, x)
        plain = best(lambda work=work: work(v, x), 100)
        print(f"{name}: {plain:.1f} µs")
        if work is small:
            share = notes / plain
            print(f"    notes for explanations {notes:.2f} µs, {share:.1%} of it (at most 2 %)")
        with tf.explain.doctor():
            watched = best(lambda work=work: work(v, x), 100, 20)
        print(f"    under the doctor {watched:.1f} µs, {watched / plain:.1f} × (at most 3)")


if __name__ == "__main__":
    main()
