"""What a lowering may ask of the engine that runs it: failure checks inside compiled code.

A compiled program cannot raise. A lowering that meets a bad index or a failed assertion says so
with `fail_if`; the engine gathers these conditions into one flag, undoes the step and lets the
host engine find the words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

class NotFixed(Exception):
    """XLA needs a number that only running the program would tell."""


_checks: ContextVar[list[Any] | None] = ContextVar("wengert_lowering_checks", default=None)


def checking() -> bool:
    """Whether an engine gathers failure checks here."""
    return _checks.get() is not None


def fail_if(bad: Callable[[], Any]) -> None:
    """Notes a condition (a function that gives a boolean of any shape) under which a step fails."""
    found = _checks.get()
    if found is not None:
        found.append(bad())


@contextmanager
def gathering() -> Iterator[list[Any]]:
    """Gathers the checks of a block."""
    found: list[Any] = []
    token = _checks.set(found)
    try:
        yield found
    finally:
        _checks.reset(token)
