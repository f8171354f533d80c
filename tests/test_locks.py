"""Locks and values of variables, whatever a signal's handler raises, in threads and after forks."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.signals_at import Stop, places_of, raising, stopped_at
from wengert.core import context, locks

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="there are few signals")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
SCALAR = tf.TensorSpec([], tf.float32)


def _in_thread(action: Callable[[], Any]) -> Any:
    """What an action returns or raises in another thread, which must end."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(action())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert found, "the thread waits for ever"
    return found[0]


def _is_free(lock: Any) -> bool:
    found = lock.acquire(False)
    if found:
        lock.release()
    return found


def _step(way: str) -> tuple[Callable[[], Any], Any, Any]:
    v, count = tf.Variable(tf.zeros([4])), tf.Variable(0)

    @tf.function(jit_compile=True if "compiled" in way else None)
    def step() -> Any:
        if "reading" in way:
            return tf.reduce_sum(v)
        if "python" in way:
            tf.py_function(lambda: None, [], [])
        count.assign_add(1)
        return v.assign_add(tf.ones([4]))

    def taped() -> Any:
        with tf.GradientTape():
            return step()

    run = taped if "taped" in way else step
    for _ in range(3):
        run()
    return run, v, count


WAYS = [
    "host", "compiled", "host reading", "compiled reading", "host taped", "compiled taped",
    "host python",
]  # fmt: skip


# A finalizer in Python ignores what a handler raises in it.
@needs_signals
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["SIGALRM", "SIGINT"])
@pytest.mark.parametrize("way", WAYS)
def test_a_signal_at_any_instruction_of_a_step(way: str, name: str) -> None:
    number = getattr(signal, name)
    run, v, count = _step(way)
    stopped = 0
    with raising(number):
        handler = signal.getsignal(number)
        for place in places_of(run):
            stopped += stopped_at(run, place, number)
            where = f"{place[0].co_qualname} at {place[1]}"
            context._state.set(None)  # what a tape leaves behind is another test's
            assert _in_thread(lambda: [_is_free(x._lock) for x in (v, count)]) == [True] * 2, where
            assert np.all(v.numpy() == count.numpy()), where
            assert signal.getsignal(number) is handler, where
            run()
    assert stopped


def test_an_alarm_that_ends_a_small_step_is_not_lost() -> None:
    run, _, _ = _step("host")
    places = places_of(run)
    with raising(signal.SIGALRM):
        assert all(stopped_at(run, place, signal.SIGALRM) for place in places[:-3])


@needs_signals
def test_a_step_that_waits_for_a_lock_can_be_stopped() -> None:
    run, v, count = _step("host")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with count._lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    with raising(signal.SIGALRM):
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Stop):
            run()
    assert _in_thread(v.numpy)[0] == 3.0
    done.set()
    thread.join(30)
    run()
    assert v.numpy()[0] == 4.0


# Threads that Python waits for inside a step.


def _joined(jit: bool | None, action: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What an action on a variable gives in a thread that Python inside a step waits for."""
    v, found = tf.Variable(1.0), []

    def wait(x: Any) -> Any:
        found.append(_in_thread(lambda: action(v)))
        return x

    @tf.function(jit_compile=jit)
    def step(x: Any) -> Any:
        v.assign_add(x)
        y = tf.py_function(wait, [x], SCALAR)
        v.assign_add(x)
        return y

    step(tf.constant(10.0))
    return found[0], v


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda v: v.numpy(),
    "read": lambda v: float(v + 0.0),
    "function": lambda v: float(tf.function(lambda: v + 0.0)()),
    "compiled function": lambda v: float(tf.function(lambda: v + 0.0, jit_compile=True)()),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_thread_reads_a_variable_of_the_step_that_waits_for_it(name: str) -> None:
    found, v = _joined(None, ACTIONS[name])
    assert found == 11.0, found  # as Python itself sees it there
    assert v.numpy() == 21.0


@pytest.mark.parametrize("name", ACTIONS)
def test_a_compiled_step_says_that_it_has_taken_the_variable(name: str) -> None:
    found, v = _joined(True, ACTIONS[name])
    assert isinstance(found, tf.errors.FailedPreconditionError)
    assert "has taken it" in str(found)
    assert v.numpy() == 21.0


@pytest.mark.parametrize(
    ("update", "after"),
    [(lambda v: v.assign(5.0), 15.0), (lambda v: v.assign_add(5.0), 26.0)],
)
def test_a_thread_changes_a_variable_of_the_step_that_waits_for_it(
    update: Any, after: float
) -> None:
    found, v = _joined(None, update)
    assert not isinstance(found, Exception)
    assert v.numpy() == after
    found, v = _joined(True, update)
    assert "has taken it" in str(found)
    assert v.numpy() == 21.0


def test_a_step_in_a_thread_that_another_step_waits_for(monkeypatch: Any) -> None:
    monkeypatch.setattr(locks, "_PATIENCE", 0.3)
    found, v = _joined(None, lambda v: tf.function(lambda: v.assign_add(1.0))())
    assert isinstance(found, tf.errors.FailedPreconditionError)
    assert "waits in Python that it called, at " in str(found) and __file__ in str(found)
    assert v.numpy() == 21.0


def test_a_step_waits_for_a_step_whose_python_is_busy(monkeypatch: Any) -> None:
    monkeypatch.setattr(locks, "_PATIENCE", 0.2)
    v, inside = tf.Variable(0.0), threading.Event()

    def busy(x: Any) -> Any:
        inside.set()
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            time.sleep(0.01)
            time.monotonic()
        return x

    @tf.function
    def slow(x: Any) -> Any:
        v.assign_add(x)
        return tf.py_function(busy, [x], SCALAR)

    thread = threading.Thread(target=lambda: slow(tf.constant(1.0)))
    thread.start()
    assert inside.wait(30)
    tf.function(lambda: v.assign_add(10.0))()
    thread.join(30)
    assert v.numpy() == 11.0


# Forks.


def _child(action: Callable[[], Any]) -> str:
    """What an action returns or raises in a forked child, as text; the child must end."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.alarm(20)  # whose default ends the process
            try:
                found = repr(action())
            except BaseException as error:
                found = f"{type(error).__name__}: {error}"
            os.write(writing, found.encode()[:4000])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        found = file.read().decode()
    os.waitpid(child, 0)
    assert found, "the child waits for ever"
    return found


@needs_fork
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # JAX's
@pytest.mark.parametrize("way", ["host", "host python", "compiled"])
def test_children_forked_while_another_thread_is_in_a_step(way: str) -> None:
    run, v, count = _step(way)
    ends = threading.Event()

    def work() -> None:
        while not ends.is_set():
            run()
            v.assign_add(tf.zeros([4]))

    def look() -> Any:
        v.assign_add(tf.ones([4]))
        count.assign_add(1)
        np.testing.assert_array_equal(v.numpy(), float(count.numpy()))
        with (
            contextlib.nullcontext()
            if way != "compiled"
            else pytest.raises(tf.errors.FailedPreconditionError, match="forked")
        ):
            run()
        tf.random.normal([3])
        tf.CriticalSection(shared_name="forked").execute(lambda: None)
        return "looked"

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert [_child(look) for _ in range(20)] == ["'looked'"] * 20
    finally:
        ends.set()
        thread.join(30)


@needs_fork
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # JAX's
@pytest.mark.parametrize("jit", [None, True])
def test_a_child_forked_in_the_middle_of_a_long_step(jit: bool | None, monkeypatch: Any) -> None:
    monkeypatch.setattr(locks, "_FORK_PATIENCE", 0.1)
    v, inside, go_on = tf.Variable(1.0), threading.Event(), threading.Event()

    def wait(x: Any) -> Any:
        inside.set()
        go_on.wait(30)
        return x

    @tf.function(jit_compile=jit)
    def step(x: Any) -> Any:
        y = tf.py_function(wait, [x], SCALAR)
        v.assign_add(x)
        return y

    thread = threading.Thread(target=lambda: step(tf.constant(1.0)))
    thread.start()
    assert inside.wait(60)
    found, assigned = _child(v.numpy), _child(lambda: float(v.assign(3.0)))
    go_on.set()
    thread.join(30)
    assert v.numpy() == 2.0
    if jit:
        assert "forked meanwhile" in found
    else:
        assert "1.0" in found
        assert assigned == "3.0"


def test_locks_are_forgotten_with_their_variables() -> None:
    before = len(locks._all)
    kept = [tf.Variable(0.0) for _ in range(5)]
    assert len(locks._all) == before + len(kept)
    kept.clear()
    assert len(locks._all) == before
