"""How `Strategy.run` traces a function for all replicas at once, and what becomes of its results.

Values that differ by replica are rows of inputs with an axis; where replicas have values of
different shapes they run side by side in one graph. In a function the replicas are a part of its
graph; eagerly a graph is made for each call, and equal ones share their programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.core import late_operations as late
from wengert.core import nest, random_replay
from wengert.core.context import State, restoring, using
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe
from wengert.core.shapes import join
from wengert.core.types import (
    CompositeTensor,
    IndexedSlices,
    ShapeDtype,
    Tensor,
    Value,
    Variable,
)
from wengert.distribute.replica_context import Here, within
from wengert.distribute.values import DistributedValues, PerReplica, Stacked
from wengert.distribute.variables import check_aggregated, copies_of, replica_updates
from wengert.engines import engine_choice
from wengert.functions import tracing_state
from wengert.functions.graph_calls import snapshot
from wengert.functions.replica_analysis import Following
from wengert.functions.replica_steps import in_step
from wengert.functions.replicas import emit_replicated, ends_of
from wengert.functions.signature import Apart
from wengert.functions.subgraphs import close
from wengert.functions.trace import Slot, Trace, creator, put_together, take_apart
from wengert.graph.builder import Builder, building
from wengert.graph.verify import checked
from wengert.ops.collectives import replica_id
from wengert.ops.seeds import Places, draw

if TYPE_CHECKING:
    from wengert.distribute.strategies import Strategy
    from wengert.graph.ir import Graph


class Columns(NamedTuple):
    """Values that look different in each replica: one structure, and its tensors in each."""

    skeleton: Any
    columns: list[list[Any]]


# Eagerly.


class _Streams(Places):
    """Random states of a graph that runs once: drawn like those of eager operations."""

    def draw(self, place: int, kind: str, seed: int | None) -> np.ndarray:
        return random_replay.draw(lambda: draw(kind, seed))


@restoring
def run_now(strategy: Strategy, fn: Callable[..., Any], args: Any, kwargs: Any, site: Any) -> Any:
    """Traces a function for all replicas and runs it once."""
    graph = Builder(getattr(fn, "__name__", "run"), None, site)
    graph.on_create = creator(graph, {}, [])
    leaves: list[Any] = []

    def passed(value: Any) -> Any:
        """A tensor argument as a parameter, so that equal programs are found for other values."""
        if not isinstance(value, Value | CompositeTensor) or isinstance(value, Variable):
            return value
        if isinstance(value, PerReplica) and not _holds_tensors(value):
            return value
        skeleton, tensors = take_apart("run", value)
        leaves.extend(tensors)
        params = [graph.parameter(ShapeDtype(t.shape._dims, t.dtype), t._site) for t in tensors]
        return put_together(skeleton, params)

    with using(State((), graph)), random_replay.apart():
        args, kwargs = nest.map_structure(passed, (tuple(args), kwargs))
        result = emit_run(strategy, fn, args, kwargs)
        made, tensors = _taken(result)
        values = [graph.value_of(x) for x in tensors]
    graph.seal(values)
    graph.end_replays()
    checked(graph)
    graph.cache[engine_choice.TRANSIENT] = True
    trace = Trace(graph, Slot(0), None, site)
    trace.places = _Streams()
    trace.single, trace.flat = False, (list, (), [*range(len(values))])
    return made(trace._call_fully(leaves, site))


def _holds_tensors(value: PerReplica) -> bool:
    return all(isinstance(v, Value | CompositeTensor) for v in value.values)


def _taken(result: Any) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """The tensors of a nest, and how to put others in their places; what is none stays."""
    tensors: list[Any] = []

    def part(value: Any) -> Callable[[list[Any]], Any]:
        tensor_like = isinstance(value, Value | CompositeTensor | np.ndarray | np.generic)
        if not tensor_like or isinstance(value, Variable):
            return lambda outs: value
        if isinstance(value, PerReplica) and not _holds_tensors(value):
            return lambda outs: value
        skeleton, mine = take_apart("run", value)
        start = len(tensors)
        tensors.extend(mine)
        return lambda outs: put_together(skeleton, outs[start : start + len(mine)])

    parts = [part(x) for x in nest.flatten(result)]
    return lambda outs: nest.pack_sequence_as(result, [p(outs) for p in parts]), tensors


# In a graph.


@restoring
def emit_run(strategy: Strategy, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Adds a run of a function in all replicas to the graph being built."""
    count = strategy.num_replicas_in_sync
    taken: list[Stacked | Columns] = []

    def column(value: Any) -> Any:
        if not isinstance(value, DistributedValues):
            return value
        taken.append(_given(value, count))
        return _Place(len(taken) - 1)

    args, kwargs = nest.map_structure(column, (tuple(args), kwargs))
    even = all(isinstance(t, Stacked) for t in taken)
    specs = [_spec(x) for t in taken for x in (_parts(t))]
    inner, skeletons, made = _traced(strategy, fn, args, kwargs, taken, specs)
    carried, shown = _carried(inner), made.tensors
    closed = close([inner], carried)
    graph = closed.graphs[0]
    while True:
        apart = [copies_of(v) is not None for v in carried]
        axes = (0,) * len(specs) + tuple([0 if a else None for a in apart])
        axes += tuple([None] * len(closed.tensors))
        ends = ends_of(graph, axes)[shown:]
        differing = [v for v, e in zip(carried, ends, strict=True) if e == 0]
        if not check_aggregated(inner, differing, count):
            break
    here: Any = building()
    starts = [snapshot(here, _holder(v)) for v in carried]
    written = [inner.held[v._id].written for v in carried]
    ends = (0,) * shown + tuple([0 if a else None for a in apart])
    if even and not _opens(graph, specs, shown):
        given = [x for t in taken for x in _parts(t)]
        outs: list[Any] = emit_replicated(
            graph, axes, ends, strategy.extended.worker_devices, [*given, *starts, *closed.tensors]
        )
        results = [lambda s=s, k=k, n=n: PerReplica.of_parts(s, outs[k : k + n], count)
                   for s, k, n in skeletons]  # fmt: skip
    else:
        columns = [c for t in taken for c in _columns(t, count)]
        for x, a in zip(starts, apart, strict=True):
            columns.append(_rows(x, count) if a else [x] * count)
        columns += [[x] * count for x in closed.tensors]
        wide = in_step(graph, columns, count)
        outs = [late.STACK.call(c) if e == 0 and k >= shown else c[0]
                for k, (c, e) in enumerate(zip(wide, ends, strict=True))]  # fmt: skip
        results = [lambda s=s, k=k, n=n: PerReplica(
            [put_together(s, [c[r] for c in wide[k : k + n]]) for r in range(count)])
            for s, k, n in skeletons]  # fmt: skip
    for v, new, changed in zip(carried, outs[shown:], written, strict=True):
        if changed:
            late.UPDATE.call(_holder(v), "assign", new)
    return made.result([r() for r in results])


class _Place:
    """Where a value that differs by replica stood among the arguments."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Made(NamedTuple):
    """The results of a trace: how many tensors, and how values for them become a result."""

    tensors: int
    result: Callable[[list[Any]], Any]


def _holder(variable: Variable) -> Variable:
    """The variable that has the value outside of replicas: the copies, where there are some."""
    copies = copies_of(variable)
    return variable if copies is None else copies


def _carried(inner: Graph) -> list[Variable]:
    """The variables that replicas change, and those of which each has its own copy."""
    table = {
        i: h.variable
        for i, h in inner.held.items()
        if h.written or copies_of(h.variable) is not None
    }
    return [v for _, v in sorted(table.items())]


@restoring
def _traced(
    strategy: Strategy,
    fn: Callable[..., Any],
    args: Any,
    kwargs: Any,
    taken: list[Stacked | Columns],
    specs: list[ShapeDtype],
) -> tuple[Builder, list[tuple[Any, int, int]], _Made]:
    """The graph of one replica, the places of its results, and what they are made to."""
    graph = Builder(getattr(fn, "__name__", "replica"), building())
    tensors: list[Any] = []
    skeletons: list[tuple[Any, int, int]] = []

    def kept(value: Any) -> Any:
        if value is None or not isinstance(
            value, Value | CompositeTensor | np.ndarray | np.generic
        ):
            return None
        if isinstance(value, Variable) and copies_of(value) is None:
            return None
        skeleton, mine = take_apart("run", value)
        skeletons.append((skeleton, len(tensors), len(mine)))
        tensors.extend(mine)
        return len(skeletons) - 1

    graph.for_replica = Following(graph)
    with using(State((), graph)):
        graph.turn = replica_id()
        params = iter([graph.parameter(s) for s in specs])
        own = [put_together(t.skeleton, [next(params) for _ in _parts(t)]) for t in taken]
        filled = lambda x: own[x.number] if isinstance(x, _Place) else x
        args, kwargs = nest.map_structure(filled, (args, kwargs))
        place = Here(strategy, False, strategy.num_replicas_in_sync)
        with replica_updates(graph):
            result = within(place, tracing_state.convert(fn), *args, **kwargs)
        flat = nest.flatten(result)
        places = [kept(x) for x in flat]
        graph.outputs = [graph.value_of(x) for x in tensors]
    graph.watching = ()
    graph.end_replays()

    def whole(values: list[Any]) -> Any:
        leaves = [x if p is None else values[p] for x, p in zip(flat, places, strict=True)]
        return nest.pack_sequence_as(result, leaves)

    return graph, skeletons, _Made(len(tensors), whole)


# Values that differ by replica.


def _given(value: Any, count: int) -> Stacked | Columns:
    if not isinstance(value, PerReplica):
        value = PerReplica(value.values)
    if len(value) != count:
        raise at_site(
            ValueError(
                f"run: a value for {len(value)} replicas was given to a strategy with {count}. Use "
                f"the strategy that made it."
            )
        )
    stacked = value.stacked()
    return _alike(value.values) if stacked is None else stacked


def _alike(values: tuple[Any, ...]) -> Columns:
    """Values of several shapes as one structure with columns of tensors."""
    first = values[0]
    _demand_one(all(map(_becomes_tensor, values)), values)
    if isinstance(first, IndexedSlices) or not isinstance(first, CompositeTensor):
        taken = [take_apart("run", v) for v in values]
        kinds = {(type(v) if isinstance(v, CompositeTensor) else Tensor, len(t[1]))
                 for v, t in zip(values, taken, strict=True)}  # fmt: skip
        _demand_one(len(kinds) == 1, values)
        return Columns(taken[0][0], [list(c) for c in zip(*[t for _, t in taken], strict=True)])
    _demand_one(all(type(v) is type(first) for v in values), values)
    spec = first._type_spec.most_specific_common_supertype([v._type_spec for v in values[1:]])
    _demand_one(spec is not None, values)
    parts = [v.__tf_flatten__() for v in values]
    (_, form), tensors = parts[0]
    _demand_one(all(len(p) == len(tensors) for _, p in parts), values)
    slots: list[Any] = [Slot(k) for k in range(len(tensors))]
    skeleton = Apart(type(first), (spec, form), slots)
    return Columns(skeleton, [list(c) for c in zip(*[p for _, p in parts], strict=True)])


def _becomes_tensor(value: object) -> bool:
    return isinstance(
        value,
        Value | CompositeTensor | np.ndarray | np.generic | int | float | complex | str | bytes,
    )


def _demand_one(holds: bool, values: tuple[Any, ...]) -> None:
    if not holds:
        other = next((v for v in values if describe(v) != describe(values[0])), values[-1])
        raise at_site(
            ValueError(
                f"run: the values of the replicas must be of one kind; got {describe(values[0])} "
                f"and {describe(other)}. Give each replica a tensor of one dtype and rank."
            )
        )


def _parts(taken: Stacked | Columns) -> list[Any]:
    return taken.parts if isinstance(taken, Stacked) else taken.columns


def _spec(part: Any) -> ShapeDtype:
    """What is known of a value in any replica."""
    if not isinstance(part, list):
        return ShapeDtype(part.shape._dims, part.dtype).row()
    specs = [ShapeDtype(operand(x).shape._dims, operand(x).dtype) for x in part]
    shape = specs[0].shape
    for other in specs[1:]:
        _demand_one(other.dtype is specs[0].dtype, tuple(part))
        shape = join(shape, other.shape)
    return ShapeDtype(shape, specs[0].dtype)


def _rows(part: Any, count: int) -> list[Any]:
    from wengert.ops import public as tf

    return tf.unstack(part, num=count)


def _columns(taken: Stacked | Columns, count: int) -> list[list[Any]]:
    if isinstance(taken, Columns):
        return taken.columns
    return [_rows(part, count) for part in taken.parts]


def _opens(graph: Graph, specs: list[ShapeDtype], shown: int) -> bool:
    """Whether results may differ in shape by replica: their sizes depend on numbers."""
    open_ = lambda s: s.shape is None or None in s.shape
    return not any(map(open_, specs)) and any(open_(graph.specs[v]) for v in graph.outputs[:shown])
