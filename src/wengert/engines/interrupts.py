"""Ctrl-C while a step runs: it waits until the variables of the step are back.

A compiled step gives its variables away and gets new ones. An interrupt in between, most likely at
the moment when the compiled code returns, would leave them without a value.
"""

from __future__ import annotations

import functools
import signal
import threading
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
_inside = [False]


def uninterrupted(step: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, at whose end an interrupt is raised that came while it ran.

    A second interrupt does not wait: what the step calls may never end.
    """

    @functools.wraps(step)
    def run(*args: Any) -> Any:
        # Python runs the handlers of signals in the main thread only.
        if _inside[0] or threading.get_ident() != threading.main_thread().ident:
            return step(*args)
        before: Any = _signals.getsignal(_INTERRUPT)
        if not callable(before):  # ignored, or left to the system
            return step(*args)
        came: list[int] = []

        def note(number: int, frame: Any) -> None:
            came.append(number)
            if len(came) > 1:
                before(number, frame)

        try:
            _signals.signal(_INTERRUPT, note)
            _inside[0] = True
            return step(*args)
        finally:
            _signals.signal(_INTERRUPT, before)
            _inside[0] = False
            if came:
                signal.raise_signal(signal.SIGINT)

    return run
