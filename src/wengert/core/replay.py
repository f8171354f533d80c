"""Draws of random keys that can be played again.

Recomputation must see the random numbers of the first time. Every random operation asks for its
key through `draw`; inside `recording` the keys are written down, inside `replaying` they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_log: ContextVar[tuple[list[Any], Iterator[Any] | None] | None] = ContextVar(
    "wengert_draws", default=None
)


def draw(fresh: Callable[[], Any]) -> Any:
    """A key from `fresh`, or the one drawn at this place the first time."""
    log = _log.get()
    if log is None:
        return fresh()
    keys, again = log
    key = fresh() if again is None else next(again)
    keys.append(key)
    return key


@contextmanager
def recording() -> Iterator[list[Any]]:
    """Writes down the keys drawn inside; an enclosing log sees them too."""
    outer = _log.get()
    keys: list[Any] = []
    token = _log.set((keys, outer[1] if outer else None))
    try:
        yield keys
    finally:
        _log.reset(token)
        if outer:
            outer[0].extend(keys)


@contextmanager
def replaying(keys: list[Any]) -> Iterator[None]:
    """Hands out the keys written down earlier, in the same order."""
    token = _log.set(([], iter(keys)))
    try:
        yield
    finally:
        _log.reset(token)
