"""What must hold in a process after a step that was interrupted."""

from __future__ import annotations

import contextvars
import gc
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np

import wengert as tf
from tools.interrupts.scenarios import PERIOD, Subject
from wengert.core import context
from wengert.core.process_settings import PROCESS

_MISSING = object()
PATIENCE = 20.0  # seconds that another thread has for a step


def same(x: Any, y: Any) -> bool:
    """Whether two results are equal, number by number."""
    flat = [tf.nest.flatten(z) for z in (x, y)]
    return len(flat[0]) == len(flat[1]) and all(
        np.allclose(np.asarray(a), np.asarray(b), 1e-5, 1e-5) and np.shape(a) == np.shape(b)
        for a, b in zip(*flat, strict=True)
    )


def scopes() -> dict[str, Any]:
    """What the context holds of the library."""
    result = contextvars.copy_context()
    return {v.name: result[v] for v in result if v.name.startswith("wengert")}


def settings() -> dict[str, Any]:
    """What an exception must not leave behind in the process."""
    return {
        "recursion limit": sys.getrecursionlimit(),
        "filters of warnings": len(warnings.filters),
        "errors of NumPy": np.geterr(),
        "garbage collection": gc.isenabled(),
        "handler of SIGINT": signal.getsignal(signal.SIGINT),
        "trace function": sys.gettrace(),
        "deterministic": PROCESS.deterministic,
        "exact sites": PROCESS.exact_sites,
        "lost XLA": PROCESS.lost_xla,
        "runs eagerly": PROCESS.runs_eagerly,
        "watches operations": PROCESS.watches_operations,
    }


def locks() -> dict[str, Any]:
    """The locks that modules of the library hold."""
    kinds = type(threading.Lock()), type(threading.RLock())
    return {
        f"{name}.{attribute}": value
        for name, module in list(sys.modules.items())
        if name.startswith("wengert.") and module is not None
        for attribute, value in list(vars(module).items())
        if isinstance(value, kinds)
    }


def _held() -> list[str]:
    results = []
    for name, lock in locks().items():
        if lock.acquire(blocking=False):
            lock.release()
        else:
            results.append(name)
    return results


class Golden:
    """The states of a cycle and the results of the steps between them."""

    def __init__(self, build: Any) -> None:
        subject: Subject = build()
        self.states, self.results = [], []
        for _ in range(2 * PERIOD):
            subject.prepare()
            self.states.append(subject.state())
            subject.act()
            self.results.append(subject.results)
        again = subject.state()
        subject.close()
        for k in range(PERIOD):
            assert same(self.states[k], self.states[k + PERIOD]), "the states are no cycle"
            assert same(self.results[k], self.results[k + PERIOD]), "the results are no cycle"
        assert same(again, self.states[0]), "the cycle does not end where it began"

    def place(self, subject: Subject) -> int:
        """Where in the cycle an object stands."""
        state = subject.state()
        for k in range(PERIOD):
            if same(state, self.states[k]):
                return k
        raise AssertionError(f"state {state}: neither the old nor the new one")

    def step(self, subject: Subject, k: int, who: str) -> int:
        """One step from the k-th state on, with the right results; returns the next place."""
        subject.prepare()
        subject.act()
        if not same(subject.results, self.results[k]):
            raise AssertionError(f"{who} gives {subject.results}, not {self.results[k]}")
        if not same(subject.state(), self.states[(k + 1) % PERIOD]):
            raise AssertionError(f"{who} leads to {subject.state()}")
        subject.touch()
        return (k + 1) % PERIOD


class Checker:
    """Looks at the process and at the object whose step was interrupted."""

    def __init__(self, build: Any, fresh: bool) -> None:
        self.build, self.fresh = build, fresh
        self.golden = Golden(build)
        self.scopes, self.settings = scopes(), settings()
        self.running = threading.active_count()

    def restore(self) -> bool:
        """Ends the blocks that an `__exit__` had no time to end; whether there were any."""
        left = context.get_state() is not None or np.geterr() != self.settings["errors of NumPy"]
        context._state.set(None)
        np.seterr(**self.settings["errors of NumPy"])
        return left

    def check(self, subject: Subject, before: int) -> None:
        """Raises AssertionError with the first thing that is wrong."""
        now = scopes()
        for name in {*now, *self.scopes}:
            old, new = self.scopes.get(name, _MISSING), now.get(name, _MISSING)
            if old is not new and (old is _MISSING or new is _MISSING or old != new):
                if old is _MISSING and not new:
                    continue  # the default, put there
                raise AssertionError(f"the context keeps {name} = {_short(new)}")
        if settings() != self.settings:
            changed = [k for k, v in settings().items() if v != self.settings[k]]
            raise AssertionError(f"changed: {', '.join(changed)}")
        if threading.active_count() > self.running:
            raise AssertionError(f"threads stay: {threading.enumerate()}")
        self._elsewhere("looking for locks", self._no_lock_is_held)
        place = self._elsewhere("a look at the state", lambda: self.golden.place(subject))
        if place not in (before, (before + 1) % PERIOD):
            raise AssertionError(f"state {place}, after {before}")
        place = self._elsewhere(
            "a step", lambda: self.golden.step(subject, place, "the next step, in another thread,")
        )
        self.golden.step(subject, place, "the step after it")
        if self.fresh:
            fresh = self.build()
            try:
                self.golden.step(fresh, 0, "a fresh build")
            finally:
                fresh.close()

    def _no_lock_is_held(self) -> None:
        held = _held()
        assert not held, f"locks are held: {held}"

    def _elsewhere(self, what: str, action: Callable[[], Any]) -> Any:
        """The answer of another thread, which is left alone where it hangs."""
        answer: Future[Any] = Future()

        def run() -> None:
            try:
                answer.set_result(action())
            except BaseException as error:
                answer.set_exception(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            return answer.result(PATIENCE)
        except TimeoutError:
            raise AssertionError(f"{what} in another thread hangs") from None
        finally:
            thread.join(0.0 if not answer.done() else None)


def _short(x: Any) -> str:
    return f"{type(x).__name__} {x!s:.60}"
