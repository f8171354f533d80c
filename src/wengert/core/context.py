"""What an operation must know about where it runs: who listens, and whether a graph is built.

The state is one immutable-by-convention object in a `ContextVar`, `None` in plain eager code.
Asynchronous tasks inherit it, new threads start without. Listeners are tapes, forward
accumulators and watchers, outermost first; each has `record(op, inputs, outputs, attrs, site)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from wengert.core.sites import RawSite


class State:
    """The listeners, the graph under construction, and the site that backward work inherits.

    `only` is what to call for an operation on two tensors where there is one listener; it is
    `plain` if there is nothing else. Who sets the site later says that it is not.
    """

    __slots__ = ("graph", "listeners", "only", "plain", "site")

    def __init__(
        self, listeners: tuple[Any, ...] = (), graph: Any = None, site: RawSite | None = None
    ) -> None:
        self.listeners = listeners
        self.only: Any = listeners[0].record2 if len(listeners) == 1 else None
        self.graph = graph
        self.site = site
        self.plain = self.only is not None and graph is None and site is None


_state: ContextVar[State | None] = ContextVar("wengert_state", default=None)
get_state = _state.get


def add_listener(listener: Any) -> None:
    """Puts a listener innermost."""
    old = get_state()
    if old is None:
        _state.set(State((listener,)))
    else:
        _state.set(State((*old.listeners, listener), old.graph, old.site))


def remove_listener(listener: Any) -> None:
    """Takes this very listener out, wherever it stands."""
    old = get_state()
    if old is not None:
        kept = tuple([x for x in old.listeners if x is not listener])
        plain = not kept and old.graph is None and old.site is None
        _state.set(None if plain else State(kept, old.graph, old.site))


@contextmanager
def using(state: State) -> Iterator[State]:
    """Runs a block under another state and puts the old one back, whatever happens."""
    token = _state.set(state)
    try:
        yield state
    finally:
        _state.reset(token)


def outside(listener: Any = None, site: RawSite | None = None) -> State:
    """The present state without `listener` and all that stand inside it (all, for `None`)."""
    old = get_state() or State()
    kept: list[Any] = []
    for one in old.listeners if listener is not None else ():
        if one is listener:
            break
        kept.append(one)
    return State(tuple(kept), old.graph, old.site if site is None else site)


def building_graph() -> Any:
    """The graph being built here, if any: there a variable is a value like others."""
    state = get_state()
    return None if state is None else state.graph


def executing_eagerly() -> bool:
    """Whether operations run at once, rather than being recorded in a graph."""
    state = get_state()
    return state is None or state.graph is None
