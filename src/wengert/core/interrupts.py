"""Signals while a compiled step runs: their handlers wait until the variables are back.

A compiled step gives its variables away and gets new ones. What a handler raises in between
(Ctrl-C, an alarm), most likely at the moment when the compiled code returns, would leave them
without a value. JAX, half imported, would be lost in the same way."""

from __future__ import annotations

import _thread
import functools
import os
import signal
import threading
import time
from collections.abc import Callable
from importlib import import_module
from itertools import starmap
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from wengert.core.locks import CALLED_BACK

P = ParamSpec("P")
R = TypeVar("R")
Handler = Callable[[int, FrameType | None], Any]

# CPython's own functions, without the conversions to enumerations around them, which take longer
# than a small step.
try:
    _signals: Any = import_module("_signal")
except ImportError:
    _signals = signal
# Those of profilers are not among them, which only look at where the program is.
_NAMES = "INT", "TERM", "BREAK", "HUP", "ALRM", "USR1", "USR2"
_NUMBERS = [int(getattr(signal, f"SIG{n}")) for n in _NAMES if hasattr(signal, f"SIG{n}")]
_PATIENCE = 0.5  # seconds


class _Deferral:
    """Python runs handlers in the main thread only, so there is one of these."""

    def __init__(self) -> None:
        self.running = False
        self.came: dict[signal.Signals, float] = {}  # the signals since, and when each came first
        self.all: list[Any] = []  # what handles the signals, as last seen
        self.caught: dict[int, Handler] = {}  # those handlers that are Python's
        self.main = threading.main_thread().ident

    def look(self, handlers: list[Any]) -> None:
        """Notes which of the handlers are Python's; others ignore a signal, or end the process."""
        self.all = handlers
        self.caught = {n: h for n, h in zip(_NUMBERS, handlers, strict=True) if callable(h)}


_deferral = _Deferral()


def _defer(number: int, frame: FrameType | None) -> None:
    """Defers a signal, unless Python runs that the step called, which loses nothing.

    One that comes again later goes on, too, since what the step calls may never end.
    """
    which, now = signal.Signals(number), time.monotonic()
    first = _deferral.came.setdefault(which, now)
    if CALLED_BACK.get() or now - first > _PATIENCE:
        del _deferral.came[which]
        _deferral.caught[number](number, frame)


def _note_fork() -> None:
    _deferral.main = threading.main_thread().ident


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def uninterrupted(step: Callable[P, R]) -> Callable[P, R]:
    """The same function, at whose end signals are handled that came while it ran."""
    get_ident, getsignal, put = threading.get_ident, _signals.getsignal, _signals.signal
    here = _deferral

    @functools.wraps(step)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if get_ident() != here.main:
            return step(*args, **kwargs)
        if here.running:
            if not CALLED_BACK.get():
                return step(*args, **kwargs)
            try:
                CALLED_BACK.set(False)
                return step(*args, **kwargs)
            finally:
                CALLED_BACK.set(True)
        results = [*map(getsignal, _NUMBERS)]
        if results != here.all:
            here.look(results)
        caught = here.caught
        if not caught:
            return step(*args, **kwargs)
        try:
            here.running = True
            for number in caught:
                put(number, _defer)
            return step(*args, **kwargs)
        finally:
            here.running = False
            try:
                for number, handler in caught.items():
                    put(number, handler)
            except BaseException:  # by a handler that was put back before the others
                [*starmap(put, caught.items())]
                raise
            finally:
                if here.came:
                    [*map(_thread.interrupt_main, here.came)]
                    here.came.clear()

    return run
