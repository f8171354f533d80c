"""Draws of random keys that can be played again.

Recomputation must see the random numbers of the first time. Every random operation asks for its
key through `draw`; inside `recording` the keys are written down, inside `replaying` they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from wengert.core.context import Setting, get_state, own_variable

if TYPE_CHECKING:
    import numpy as np

    from wengert.data.keys import Draws
    from wengert.graph.builder import Builder


# The lists of keys so far, the keys to be read, and the graph in which the log was opened.
_Log = tuple[tuple[list[Any], ...], Iterator[Any] | None, Any]
_log: ContextVar[_Log | None] = own_variable("wengert_draws", None)


def draw(fresh: Callable[[], Any]) -> Any:
    """A key from `fresh`, or the one drawn at this place the first time."""
    log = _log.get()
    if log is None:
        return fresh()
    lists, again, _ = log
    key = fresh() if again is None else next(again)
    for keys in lists:
        keys.append(key)
    return key


def home() -> None:
    """The graph in which the log was opened: its keys are tensors of that graph."""
    log = _log.get()
    return None if log is None else log[2]


def _here() -> Builder | None:
    state = get_state()
    return None if state is None else state.graph


def recording() -> Setting[_Log | None, list[Any]]:
    """Writes down the keys drawn in a block; an enclosing log sees them too."""
    outer = _log.get()
    keys: list[Any] = []
    lists, again = ((), None) if outer is None else outer[:2]
    return Setting(_log, ((keys, *lists), again, _here()), keys)


def replaying(keys: list[np.ndarray] | Draws) -> Setting[_Log | None, None]:
    """A block to which keys written down earlier are handed out, in the same order."""
    return Setting(_log, ((), iter(keys), _here()))


def apart() -> Setting[_Log | None, None]:
    """Keeps what is drawn in a block out of an enclosing log: it belongs to a graph being built."""
    return Setting(_log, None)
