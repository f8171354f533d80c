"""Which engine runs a graph: by estimated work, never by the clock, so always the same.

Tiny graphs are faster on NumPy for ever. Small ones gain little from compiled code, so they are
compiled when they have cost as much as that takes. A graph with much work is compiled when the same
shapes come a second time, one of many small nodes after some more calls, and any at once when the
work is worth a compilation by itself, or the kernels of the host would have to be compiled, too.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.core import dtypes
from wengert.core.context import Scoped, State, restoring, using
from wengert.core.dims import moved
from wengert.core.failures import failures
from wengert.core.process_settings import PROCESS
from wengert.core.types import Dim, Op, ShapeDtype
from wengert.engines import devices, host
from wengert.engines.compiled_parts import needs_host
from wengert.engines.trip_counts import most_turns
from wengert.graph.fingerprint import fingerprint
from wengert.graph.ir import CacheKey, Graph, Node, cached_on_graph
from wengert.graph.passes import has_effects, optimised
from wengert.ops.nodes import BATCHED, CALL, LOOP, REPLICATED, SWITCH

if TYPE_CHECKING:
    import numpy as np


# Microseconds on the host: of a kernel call, per byte moved, per multiplication and addition.
_CALL = 1.5
_BYTE = 1 / 20000
_FLOP = 1 / 60000
# Where compiled code pays for its call, where it pays soon for its compilation, and where at once;
# on an accelerator it gains much sooner.
_TINY = 60.0
_SMALL = 200.0
_LARGE = 300_000.0
# How much work must have come by before a small graph is compiled: about what loading JAX and
# compiling takes.
_SLOWLY = 500_000.0
# How much work must have come by before a graph is compiled: so much per node, and so much per pair
# of nodes, since the time that a compilation takes grows faster than the graph (3 s for 600 nodes
# of an unrolled loop, 57 s for 3600).
_PATIENCE = 20.0
_PATIENCE_PAIRS = 4.0
_UNKNOWN_TURNS = 16
# What it takes to compile the kernel of an operation, where that is a program of XLA's: the first
# run on the host would do so for each such node.
_KERNEL = 80_000.0

_forced: Scoped[str | None] = Scoped("wengert_engine", None)


class engine:
    """Forces the engine for a block: `with wengert.engine("host"): …` or `"xla"`.

    For what this thread calls in the block, and tasks that start in it; other threads choose.
    """

    def __init__(self, name: str | None) -> None:
        if name not in ("host", "xla", None):
            raise ValueError(f"engine: choose 'host' or 'xla' (None for a choice); got {name!r}.")
        self.name = name

    def __enter__(self) -> engine:
        _forced.enter(self, self.name)
        return self

    def __exit__(self, *exc: object) -> None:
        _forced.leave(self)


# The engine that the user demands here, if any; asked at every call.
forced: Callable[[], str | None] = _forced.get


def force(name: str | None) -> None:
    """Demands an engine for the rest of this context, such as a thread of our own."""
    _forced.put(name)


NOT_FIXED: CacheKey[str] = CacheKey("why the graph is left to the host")
CHOICES: CacheKey[dict[tuple[Any, ...], Choice]] = CacheKey("choices by shapes")
TRANSIENT: CacheKey[bool] = CacheKey("made for one call, like equal ones before and after it")
WORKS: CacheKey[list[tuple[int, float]]] = CacheKey("work by volume")


@cached_on_graph("the first node that XLA cannot run")
def runs_only_on_host(graph: Graph) -> Node | None:
    """The first node that XLA cannot run, if there is one."""
    return next((n for n in optimised(graph).walk() if needs_host(n)), None)


def chooses_xla(graph: Graph, arrays: list[Any]) -> bool:
    """Whether this call of a graph is to be compiled."""
    if PROCESS.lost_xla:  # XLA is lost here; who did not ask for it need not know
        return False
    choice = choice_for(graph, arrays)
    choice.calls += 1
    return choice.compiled()


def choice_for(graph: Graph, arrays: list[np.ndarray]) -> Choice:
    """What is known of calls with arrays of these shapes."""
    shapes = tuple([a.shape for a in arrays])
    seen = graph.cache.get(CHOICES)
    if seen is None:
        seen = graph.cache[CHOICES] = _seen_before(graph)
    choice = seen.get(shapes)
    if choice is None:
        if len(seen) > 1000:
            seen.clear()
        choice = seen[shapes] = Choice(graph, arrays)
    return choice


# Choices for graphs that are made anew for each call, by their content, oldest first.
_transient: OrderedDict[Any, dict[Any, Choice]] = OrderedDict()


def _seen_before(graph: Graph) -> dict[Any, Choice]:
    """What was found out for this graph, or for an equal one that is gone."""
    if not graph.cache.get(TRANSIENT):
        return {}
    result = _transient.setdefault(fingerprint(graph), {})
    while len(_transient) > 256:
        _transient.popitem(last=False)
    return result


def is_closed(graph: Graph) -> bool:
    """Whether the shapes of all inputs are known."""
    shapes = [graph.specs[v].shape for v in graph.all_inputs()]
    return not any(s is None or None in s for s in shapes)


def stays_on_host(graph: Graph) -> bool:
    """Whether a graph of closed shapes is so small that the host always runs it."""
    if runs_only_on_host(graph) is not None:
        return True
    least = _limits()[0]
    return work(graph, [_Shaped(graph.specs[v]) for v in graph.all_inputs()]) < least


def _limits() -> tuple[float, float, float]:
    """The least work that is compiled, that is compiled soon, and that is compiled at once."""
    if devices.far():
        return _SMALL / 4, _SMALL / 4, _LARGE / 16
    return _TINY, _SMALL, _LARGE


class Choice:
    """What was found out for one set of closed shapes."""

    __slots__ = ("calls", "kernels", "nodes", "work")

    def __init__(self, graph: Graph, arrays: list[np.ndarray]) -> None:
        self.calls = 0
        self.nodes = 0
        self.work = 0.0 if runs_only_on_host(graph) is not None else _scaled(graph, arrays)
        self.kernels = 0.0
        if self.work >= _limits()[0] and not devices.far():
            self.nodes = _node_count(graph)
            self.kernels = _KERNEL * _compiled_kernels(graph)

    def compiled(self) -> bool:
        """Whether the present call is to be compiled."""
        return self.calls >= self.due()

    def due(self) -> float:
        """Which call is the first to be compiled."""
        tiny, small, large = _limits()
        if self.work < tiny:
            return math.inf
        if self.work + (self.kernels if self.work >= small else 0.0) > large:
            return 1
        patience = self.nodes * (_PATIENCE + self.nodes * _PATIENCE_PAIRS)
        if self.work < small:
            patience = max(patience, _SLOWLY)
        return max(2, patience // self.work + 1)


@cached_on_graph("number of nodes")
def _node_count(graph: Graph) -> int:
    return sum(1 for _ in optimised(graph).walk())


@cached_on_graph("number of nodes whose kernels XLA compiles")
def _compiled_kernels(graph: Graph) -> int:
    return sum(node.op.compiles for node in optimised(graph).walk())


def _scaled(graph: Graph, arrays: list[np.ndarray]) -> float:
    """The work for these shapes, read off a line through what was worked out for others.

    Working it out takes as long as a small step, so it is done only for amounts of data that are
    far from all before.
    """
    volume = sum(a.size for a in arrays)
    points = graph.cache.setdefault(WORKS, [])
    if len(points) > 1 and points[0][0] <= 2 * volume and volume <= 2 * points[-1][0]:
        return _on_line(points, volume)
    result = work(graph, arrays)
    if not devices.far() and result < _work_of_xla(graph, arrays):
        result = 0.0  # so that it stays with the host
    if volume not in dict(points):
        insort(points, (volume, result))
    return result


def _on_line(points: list[tuple[int, float]], volume: int) -> float:
    """The work at a volume, on the line through the two points next to it."""
    k = min(max(bisect_left(points, (volume, 0.0)), 1), len(points) - 1)
    (v0, w0), (v1, w1) = points[k - 1], points[k]
    return max(0.0, w0 + (w1 - w0) * (volume - v0) / (v1 - v0))


def work(graph: Graph, arrays: list[np.ndarray | _Shaped] | list[np.ndarray]) -> float:
    """Microseconds that the host would take, by a model of its kernels."""
    return sum(took for _, took in _work_of_nodes(graph, arrays))


def _work_of_xla(graph: Graph, arrays: list[np.ndarray]) -> float:
    """The same of compiled code for a CPU, without the time that its call takes."""
    return sum(node.op.xla_share * took for node, took in _work_of_nodes(graph, arrays))


@restoring
def _work_of_nodes(
    graph: Graph, arrays: list[np.ndarray | _Shaped] | list[np.ndarray]
) -> list[tuple[Node, float]]:
    graph = optimised(graph)
    specs: dict[int, ShapeDtype] = {
        v: ShapeDtype(c.shape, dtypes.of(c)) for v, c in graph.constants.items()
    }
    known: dict[int, Any] = dict(graph.constants)
    for v, a in zip(graph.all_inputs(), arrays, strict=True):
        specs[v] = ShapeDtype(tuple(a.shape), graph.specs[v].dtype)
    with using(State()):
        return [(node, _node_work(graph, node, specs, known)) for node in graph.nodes]


def _node_work(
    graph: Graph, node: Node, specs: dict[int, ShapeDtype], known: dict[int, np.ndarray]
) -> float:
    given = [specs[v] for v in node.inputs]
    try:
        made = _results(graph, node, given, specs)
    except failures():  # a shape that depends on data: what was known while tracing must do
        made = [graph.specs[v] for v in node.outputs]
    specs.update(zip(node.outputs, made, strict=True))
    inner = _INNER_WORK.get(node.op)
    if inner is not None:
        return inner(node, given, known)
    moved_bytes = 0 if node.op.view else sum(_bytes(s) for s in (*given, *made))
    return _CALL + moved_bytes * _BYTE + _flops(node, given, made) * _FLOP


def _results(
    graph: Graph, node: Node, given: list[ShapeDtype], specs: dict[int, ShapeDtype]
) -> list[ShapeDtype]:
    if node.op in host.RUNNERS or node.op.infer is None:
        return [graph.specs[v] for v in node.outputs]
    attrs = node.attrs
    if node.open:
        attrs = {k: moved(a, lambda leaf: _size(leaf, specs)) for k, a in attrs.items()}
    result = node.op.infer(*given, **attrs)
    return [result] if node.op.outputs == 1 else list(result)


def _size(leaf: Dim, specs: dict[int, ShapeDtype]) -> int:
    _, value, place = leaf.args
    shape = specs[value].shape
    if leaf.kind != "size" or shape is None or shape[place] is None:
        raise ValueError("unknown")
    return shape[place]


def _loop_work(node: Node, given: list[ShapeDtype], known: dict[int, np.ndarray]) -> float:
    turns = most_turns(node, [known.get(v, s) for v, s in zip(node.inputs, given, strict=True)])
    turns = _UNKNOWN_TURNS if turns is None else turns
    body = _inner(node.attrs["body"], [given[1], *given[2:]])
    test = 0.0 if node.attrs["test"] is None else len(node.attrs["test"].nodes) * _CALL
    return turns * (body + test)


def _switch_work(node: Node, given: list[ShapeDtype], known: dict[int, np.ndarray]) -> float:
    return max(_inner(b, given[1:]) for b in node.attrs["branches"])


def _call_work(node: Node, given: list[ShapeDtype], known: dict[int, np.ndarray]) -> float:
    return _inner(node.attrs["graph"], given)


def _batched_work(node: Node, given: list[ShapeDtype], known: dict[int, np.ndarray]) -> float:
    axes = node.attrs["axes"]
    rows = [s.row() if a == 0 else s for s, a in zip(given, axes, strict=True)]
    sizes = [s.shape[0] for s, a in zip(given, axes, strict=True) if a == 0 and s.shape]
    return (sizes[0] or 1 if sizes else 1) * _inner(node.attrs["graph"], rows)


def _replicated_work(node: Node, given: list[ShapeDtype], known: dict[int, np.ndarray]) -> float:
    axes = node.attrs["axes"]
    rows = [s.row() if a == 0 else s for s, a in zip(given, axes, strict=True)]
    return node.attrs["replicas"] * _inner(node.attrs["graph"], rows)


# What a node that holds graphs costs, from what is known of its inputs.
_INNER_WORK: dict[Op, Callable[[Node, list[ShapeDtype], dict[int, Any]], float]] = {
    BATCHED: _batched_work,
    CALL: _call_work,
    LOOP: _loop_work,
    REPLICATED: _replicated_work,
    SWITCH: _switch_work,
}


class _Shaped:
    def __init__(self, spec: ShapeDtype) -> None:
        self.shape = tuple(1 if d is None else d for d in spec.shape or ())
        self.size = 1


def _inner(graph: Graph, given: list[ShapeDtype]) -> float:
    rows = [_Shaped(s) for s in given]
    missing = len(graph.all_inputs()) - len(rows)
    rows += [_Shaped(graph.specs[v]) for v in graph.all_inputs()[len(rows) :]] if missing else []
    return work(graph, rows[: len(graph.all_inputs())])


def _count(spec: ShapeDtype) -> int:
    total = 1
    for d in spec.shape or ():
        total *= 1 if d is None else d
    return total


def _bytes(spec: ShapeDtype) -> int:
    return _count(spec) * spec.dtype.size


def _flops(node: Node, given: list[ShapeDtype], made: list[ShapeDtype]) -> float:
    cost = node.op.cost
    if callable(cost):
        return cost(given, made)
    return cost * _count(made[0]) if made else 0.0


def effects(graph: Graph) -> bool:
    """Whether running the graph does more than compute."""
    return any(has_effects(n) for n in graph.nodes)


def wanted() -> tuple[str | None, Any]:
    """What is asked for here, for `enter` in another thread."""
    return forced(), devices.WISHED.get()


def enter(engine: str | None, device: Any) -> None:
    """Asks for the same in this thread, until it ends."""
    force(engine)
    devices.WISHED.put(device)
