"""What an operation must know about where it runs: who listens, and whether a graph is built.

The state is one immutable-by-convention object in a `ContextVar`, `None` in plain eager code.
Asynchronous tasks inherit it, new threads start without. Listeners are tapes, forward
accumulators and watchers, outermost first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from wengert.core.scopes import Setting, own_variable, restoring
from wengert.core.sites import RawSite

if TYPE_CHECKING:
    from wengert.core.types import Op, Tensor, Value
    from wengert.graph.builder import Builder
    from wengert.tape.forward import ForwardAccumulator


R = TypeVar("R")
NO_ATTRS: dict[str, Any] = {}


class Listener:
    """Who is told of every operation."""

    differentiates = False  # whether derivatives come of it; others only look on
    # Whether it is a tape. Where one listens alone, infix operators do themselves what its `record2`
    # does, with its `_live`, `_tracked`, `_accessed`, `_begin` and `_entries`.
    is_tape = False

    def follows(self, values: Any) -> bool:
        """Whether it wants to hear of what is done to these values inside a call."""
        return False

    def lost(self, sources: tuple[int, ...], constant: Any, site: Any) -> None:
        """Hears of a constant whose value NumPy made, at `site`, of the tensors with these ids."""

    def record(self, op: Any, inputs: Any, outputs: Any, attrs: Any, site: Any) -> None:
        """Hears of an operation that was run, or added to the graph."""

    def record1(
        self, op: Op, x: Value, out: Tensor, site: RawSite, attrs: dict[str, bool | tuple[int, ...]]
    ) -> None:
        """`record` for one tensor, outside graphs."""
        self.record(op, (x,), (out,), attrs, site)

    def record2(self, op: Op, x: Value, y: Value, out: Tensor, site: RawSite) -> None:
        """`record` for two tensors without attributes, outside graphs."""
        self.record(op, (x, y), (out,), NO_ATTRS, site)


class State:
    """The listeners, the graph under construction, and the site that backward work inherits.

    `only1` and `only2` are what to call for an operation on one or two tensors where there is one
    listener. It is `plain` if that is a tape, the `tape`, and there is nothing else. Who sets the site
    later says that it is not.
    """

    __slots__ = ("graph", "listeners", "only1", "only2", "plain", "site", "tape")

    def __init__(
        self,
        listeners: tuple[Any, ...] = (),
        graph: Builder | None = None,
        site: RawSite | None = None,
    ) -> None:
        self.listeners = listeners
        if len(listeners) == 1:
            only = listeners[0]
            self.only1: Any = only.record1
            self.only2: Any = only.record2
            self.tape: Any = only
            self.plain = only.is_tape and graph is None and site is None
        else:
            self.only1 = self.only2 = self.tape = None
            self.plain = False
        self.graph: Any = graph
        self.site = site


_state: ContextVar[State | None] = own_variable("wengert_state", None)
get_state = _state.get


def add_listener(listener: Any) -> None:
    """Puts a listener innermost; one that listens already stays where it is."""
    old = get_state()
    if old is None:
        _state.set(State((listener,)))
    elif listener not in old.listeners:
        _state.set(State((*old.listeners, listener), old.graph, old.site))


def remove_listener(listener: Any) -> None:
    """Takes this very listener out, wherever it stands."""
    old = get_state()
    if old is not None and old.plain and old.listeners[0] is listener:
        _state.set(None)
    elif old is not None:
        kept = tuple([x for x in old.listeners if x is not listener])
        plain = not kept and old.graph is None and old.site is None
        _state.set(None if plain else State(kept, old.graph, old.site))


def using(state: State, named: R = None) -> Setting[State | None, R]:
    """A block under another state; its function is `restoring` the old one (see `core.scopes`)."""
    return Setting(_state, state, named)


@restoring
def run_under(state: State, function: Callable[..., R], *given: Any) -> R:
    """Calls a function under another state."""
    _state.set(state)
    return function(*given)


def outside(listener: ForwardAccumulator | None = None, site: RawSite | None = None) -> State:
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
