"""What holds for the code inside a `with`: listeners, the graph being built, other settings.

All of it lives in `ContextVar`s: asynchronous tasks inherit it, new threads start without, and
blocks may end in any order. `State` is what an operation must know, `None` in plain eager code;
listeners are tapes, forward accumulators and watchers, outermost first. What the other values mean
(the engine, the device, the strategy) this module does not know.

The handler of a signal may raise where a Python function begins, so also where `__exit__` does. A
block of ours therefore stands in a function that is `restoring` the context, itself or further out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from wengert.core.errors import unexpected
from wengert.core.sites import RawSite

if TYPE_CHECKING:
    from wengert.core.types import Op, Tensor, Value
    from wengert.graph.builder import Builder
    from wengert.tape.forward import ForwardAccumulator


T = TypeVar("T")
_R = TypeVar("_R")
P = ParamSpec("P")

_set, _get = ContextVar.set, ContextVar.get
_own: list[ContextVar[Any]] = []


def own_variable(name: str, default: T) -> ContextVar[T]:
    """A context variable that only blocks of our own set, and `restoring` restores."""
    variable = ContextVar(name, default=default)
    _own.append(variable)
    return variable


def restoring(function: Callable[P, _R]) -> Callable[P, _R]:
    """The same function, which leaves our context variables as they were, however it ends."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> _R:
        before = [*map(_get, _own)]
        try:
            return function(*args, **kwargs)
        finally:
            [*map(_set, _own, before)]

    return run


class Setting(Generic[T, _R]):
    """A block in which a context variable has a value; `as` names another.

    No generator: one that was not ended would set the variable at some later time.
    """

    __slots__ = ("_before", "_named", "_value", "_variable")

    def __init__(self, variable: ContextVar[T], value: T, named: _R = None) -> None:
        self._variable, self._value, self._named = variable, value, named
        self._before = variable.get()

    def __enter__(self) -> _R:
        try:
            self._variable.set(self._value)
        except BaseException:
            self._variable.set(self._before)
            raise
        return self._named

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._variable.set(self._before)


class Scoped(Generic[T]):
    """A value with a default, which blocks set; `get` is one read of a `ContextVar`.

    A block is known by its owner, so one object may open blocks in many threads, and a generator
    that ends its block late takes away its own value and no other's.
    """

    __slots__ = ("_blocks", "_value", "get")

    def __init__(self, name: str, default: T) -> None:
        self._value: ContextVar[T] = ContextVar(name, default=default)
        self._blocks: ContextVar[tuple[tuple[object, T], ...]] = ContextVar(
            f"{name}_blocks", default=((None, default),)
        )
        self.get = self._value.get

    def enter(self, owner: object, value: T) -> None:
        """Begins a block of `owner`."""
        self._put((*self._blocks.get(), (owner, value)))

    def leave(self, owner: object) -> None:
        """Ends the last block that `owner` began in this context, if there is one."""
        blocks = self._blocks.get()
        for k in range(len(blocks) - 1, 0, -1):
            if blocks[k][0] is owner:
                self._put((*blocks[:k], *blocks[k + 1 :]))
                return

    def in_block(self) -> bool:
        """Whether this is in a block."""
        return len(self._blocks.get()) > 1

    def put(self, value: T) -> None:
        """Sets the value from here on, in a block until it ends."""
        *outer, (owner, _) = self._blocks.get()
        self._put((*outer, (owner, value)))

    def _put(self, blocks: tuple[tuple[object, T], ...]) -> None:
        """Sets both variables at once."""
        [*map(_set, (self._blocks, self._value), (blocks, blocks[-1][1]))]


_scope = Scoped("wengert_name_scope", "")


class name_scope:  # TensorFlow's name
    """Prefixes the names of variables made inside: `with tf.name_scope("layer"): ...`.

    Args:
        name: the prefix; `None` for none.
        default_name: taken where `name` is `None`.
        values: without effect.

    Returns:
        A context manager, whose value is the whole prefix.

    >>> with tf.name_scope("layer"):
    ...     v = tf.Variable(1.0, name="w")
    >>> v.name
    'layer/w:0'
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None):
        self._name = name or default_name or ""

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        absolute = self._name.endswith("/") or not self._name
        full = self._name if absolute else f"{_scope.get()}{self._name}/"
        _scope.enter(self, full)
        return full

    def __exit__(self, *exc: object) -> None:
        _scope.leave(self)


def scoped(name: str) -> str:
    """The name with the present prefix."""
    if not isinstance(name, str):
        raise unexpected("name", "a text", name)
    return _scope.get() + name


def get_current_name_scope() -> str:
    """The present prefix, without its last slash."""
    return _scope.get().removesuffix("/")


R = TypeVar("R")
NO_ATTRS: dict[str, Any] = {}


class Listener:
    """Who is told of every operation."""

    differentiates = False  # whether derivatives come of it; others only look on
    # Whether it is a tape. Where one listens alone, infix operators do themselves what its
    # `record2` does, with its `_live`, `_tracked`, `_accessed`, `_begin` and `_entries`.
    is_tape = False
    # Whether it also hears of Python that belongs to no tape or graph: that of datasets and host
    # calls.
    everywhere = False

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
    listener. It is `plain` if that is a tape, the `tape`, and there is nothing else. Who sets the
    site later says that it is not."""

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


# What becomes of the arguments of an update of a variable in a trace: a function of the variable, the
# method and the arguments. In replicas they are aggregated first.
UPDATES: ContextVar[Callable[[Any, str, tuple[Any, ...]], tuple[Any, ...]] | None] = own_variable(
    "wengert_updates", None
)
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
    """A block under another state; its function is `restoring` the old one (see `core.context`)."""
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


def detached() -> State:
    """A state for Python that belongs to no tape or graph here, such as a dataset's functions."""
    old = get_state()
    kept = () if old is None else tuple([x for x in old.listeners if x.everywhere])
    return State(kept)


def building_graph() -> Any:
    """The graph being built here, if any: there a variable is a value like others."""
    state = get_state()
    return None if state is None else state.graph


def executing_eagerly() -> bool:
    """Whether operations run at once, rather than being recorded in a graph.

    Returns:
        `False` while a function is traced.

    >>> tf.executing_eagerly()
    True
    """
    state = get_state()
    return state is None or state.graph is None
