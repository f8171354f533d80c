"""Ctrl-C while a step runs: it waits until the variables of the step are back.

A compiled step gives its variables away and gets new ones. An interrupt in between, most likely at
the moment when the compiled code returns, would leave them without a value. JAX, half imported,
would be lost in the same way.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

# CPython's own functions, without the conversions to enumerations around them, which take longer
# than a small step.
try:
    _signals: Any = import_module("_signal")
except ImportError:
    _signals = signal
_INTERRUPT = int(signal.SIGINT)
# Python runs the handlers of signals in the main thread only, so there is one of each: whether a
# step runs, when an interrupt came since, and the handler that was there before.
_inside = [False]
_came: list[float] = []
_PATIENCE = 0.5  # seconds
_before: list[Any] = [None]
_main = [threading.main_thread().ident]


def _note_fork() -> None:
    _main[0] = threading.main_thread().ident


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def _note(number: int, frame: Any) -> None:
    """Waits with the first interrupt, and with others that come along with it.

    One that comes later goes on, since what the step calls may never end.
    """
    if not _came:
        _came.append(time.monotonic())
    elif time.monotonic() - _came[0] > _PATIENCE:
        _before[0](number, frame)


def uninterrupted(step: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, at whose end an interrupt is raised that came while it ran."""
    get_ident, getsignal, put = threading.get_ident, _signals.getsignal, _signals.signal

    @functools.wraps(step)
    def run(*args: Any) -> Any:
        if _inside[0] or get_ident() != _main[0]:
            return step(*args)
        before = getsignal(_INTERRUPT)
        if not callable(before):  # ignored, or left to the system
            return step(*args)
        _before[0] = before
        _came.clear()
        try:
            put(_INTERRUPT, _note)
            _inside[0] = True
            return step(*args)
        finally:
            # First this: an interrupt at the end of `put` is already the old handler's.
            _inside[0] = False
            put(_INTERRUPT, before)
            if _came:
                _came.clear()
                signal.raise_signal(signal.SIGINT)

    return run
