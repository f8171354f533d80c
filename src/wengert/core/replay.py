"""Draws of random keys that can be played again.

Recomputation must see the random numbers of the first time. Every random operation asks for its
key through `draw`; inside `recording` the keys are written down, inside `replaying` they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from wengert.core.context import get_state

if TYPE_CHECKING:
    import numpy as np

    from wengert.data.keys import Draws
    from wengert.graph.builder import Builder


# The keys so far, those to be read, and the graph in which the log was opened.
_log: ContextVar[tuple[list[Any], Iterator[Any] | None, Any] | None] = ContextVar(
    "wengert_draws", default=None
)


def draw(fresh: Callable[[], Any]) -> Any:
    """A key from `fresh`, or the one drawn at this place the first time."""
    log = _log.get()
    if log is None:
        return fresh()
    keys, again, _ = log
    key = fresh() if again is None else next(again)
    keys.append(key)
    return key


def home() -> None:
    """The graph in which the log was opened: its keys are tensors of that graph."""
    log = _log.get()
    return None if log is None else log[2]


def _here() -> Builder | None:
    state = get_state()
    return None if state is None else state.graph


@contextmanager
def recording() -> Iterator[list[Any]]:
    """Writes down the keys drawn inside; an enclosing log sees them too."""
    outer = _log.get()
    keys: list[Any] = []
    token = _log.set((keys, outer[1] if outer else None, _here()))
    try:
        yield keys
    finally:
        _log.reset(token)
        if outer:
            outer[0].extend(keys)


@contextmanager
def replaying(keys: list[np.ndarray] | Draws) -> Iterator[None]:
    """Hands out the keys written down earlier, in the same order."""
    token = _log.set(([], iter(keys), _here()))
    try:
        yield
    finally:
        _log.reset(token)


@contextmanager
def apart() -> Iterator[None]:
    """Keeps what is drawn inside out of an enclosing log: it belongs to a graph being built."""
    token = _log.set(None)
    try:
        yield
    finally:
        _log.reset(token)
