"""Failures of our own code, told from what the handler of a signal raises in the middle of it.

A handler runs between any two instructions of the main thread: an alarm that ends a step may come
inside a kernel or a conversion. Where code goes another way after a failure, or explains it in
other words, the exception of a handler must pass as it is. This module does not know who installs
one."""

from __future__ import annotations

import functools
import signal
import sys
import threading
from collections.abc import Iterator
from types import CodeType, TracebackType
from typing import Any

_NUMBERS = sorted(signal.valid_signals())


def failures() -> type[Exception] | tuple[()]:
    """For `except failures():`, which is `except Exception:` but for what a handler has raised."""
    error = sys.exception()
    if isinstance(error, Exception) and threading.current_thread() is threading.main_thread():
        codes = set(_codes())
        if codes and any(code in codes for code in _passed(error.__traceback__)):
            return ()
    return Exception


def _passed(tb: TracebackType | None) -> Iterator[CodeType]:
    while tb is not None:
        yield tb.tb_frame.f_code
        tb = tb.tb_next


def _codes() -> Iterator[CodeType]:
    """The code of each handler that is written in Python."""
    for number in _NUMBERS:
        result: Any = signal.getsignal(number)
        while isinstance(result, functools.partial):
            result = result.func
        if not callable(result):
            continue
        result = getattr(result, "__func__", result)
        code = getattr(result, "__code__", None) or getattr(type(result).__call__, "__code__", None)
        if isinstance(code, CodeType):
            yield code
