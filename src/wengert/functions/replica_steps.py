"""Replicas side by side in one graph, in lock step: node by node for all of them.

What differs by replica is computed for each, what they share once; where they meet, their values
are summed or joined. So the host engine runs replicas, and so run replicas whose shapes differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.context import State, _state, get_state, restoring
from wengert.core.types import ShapeDtype, Tensor
from wengert.engines.replica_execution import SIDE_BY_SIDE
from wengert.functions.branch_nodes import emit_switch
from wengert.functions.graph_replay import run_node
from wengert.functions.loop_nodes import Loop, emit_loop
from wengert.functions.replicas import Axes
from wengert.functions.subgraphs import make_graph
from wengert.functions.vectorized_map import emit_batched
from wengert.graph.builder import building
from wengert.graph.ir import CacheKey, Graph, Node
from wengert.ops import public as tf
from wengert.ops.collectives import ALL_GATHER, ALL_REDUCE, REPLICA_ID, REPLICA_OFFSET
from wengert.ops.nodes import BATCHED, CALL, HOST_CALL, LOOP, SWITCH, joins

# What a value is in each replica; the same tensor in all of them where they share it.
Column = list["Tensor"]


@restoring
def in_step(graph: Graph, inputs: Sequence[Column], replicas: int) -> list[Column]:
    """The outputs of a graph in each replica, for its inputs in each."""
    outer = get_state() or State()
    shared = {v: wrap(c) for v, c in graph.constants.items()}
    envs: list[dict[int, Tensor]] = [dict(shared) for _ in range(replicas)]
    for value, column in zip(graph.all_inputs(), inputs, strict=True):
        _put(envs, value, column)
    if outer.graph is not None:
        outer.graph.replays.append((graph, envs[0]))
    state = State(outer.listeners, outer.graph, None)
    state.plain = False
    _state.set(state)
    for node in graph.nodes:
        state.site = node.site or outer.site
        _step(graph, node, envs)
        _state.set(state)
    return [[env[v] for env in envs] for v in graph.all_outputs()]


def _put(envs: list[dict[int, Tensor]], value: int, column: Column) -> None:
    for env, x in zip(envs, column, strict=True):
        env[value] = x


def _step(graph: Graph, node: Node, envs: list[dict[int, Tensor]]) -> None:
    meet = _MEETINGS.get(node.op)
    if meet is None and node.op in _HOLDERS and _joins(node):
        meet = _HOLDERS[node.op]
    if meet is not None:
        columns = [[env[v] for env in envs] for v in node.inputs]
        for value, column in zip(node.outputs, meet(node, columns, len(envs)), strict=True):
            _put(envs, value, column)
        return
    first = envs[0]
    if node.op is REPLICA_ID:
        _put(envs, node.outputs[0], [_number(k) for k in range(len(envs))])
        return
    if node.op is not HOST_CALL and all(_shared(envs, v) for v in node.reads()):
        run_node(graph, node, first)
        for value in node.outputs:
            _put(envs, value, [first[value]] * len(envs))
        return
    for env in envs:
        run_node(graph, node, env)


def _shared(envs: list[dict[int, Tensor]], value: int) -> bool:
    first = envs[0][value]
    return all(env[value] is first for env in envs)


def _joins(node: Node) -> bool:
    return any(
        joins(g) is not None
        for a in node.attrs.values()
        for g in (a if type(a) is tuple else (a,))
        if isinstance(g, Graph)
    )


# Collectives.


def _number(k: int) -> Tensor:
    return wrap(np.asarray(k, np.int32))


def _all_reduce(node: Node, columns: list[Column], replicas: int) -> list[Column]:
    (column,) = columns
    total = tf.add_n(column) if len(column) > 1 else column[0]
    if node.attrs["kind"] == "mean":
        total = total / tf.cast(len(column), total.dtype)
    return [[total] * len(column)]


def _all_gather(node: Node, columns: list[Column], replicas: int) -> list[Column]:
    (column,) = columns
    return [[tf.concat(column, node.attrs["axis"])] * len(column)]


def _replica_offset(node: Node, columns: list[Column], replicas: int) -> list[Column]:
    (sizes,) = columns
    starts = [_number(0)]
    for size in sizes[:-1]:
        starts.append(starts[-1] + tf.cast(size, starts[-1].dtype))
    return [starts]


# Nodes whose graphs hold collectives: their graphs run side by side, too.


def _call(node: Node, columns: list[Column], replicas: int) -> list[Column]:
    return in_step(node.attrs["graph"], columns, replicas)


def _flat(columns: Sequence[Column]) -> list[Tensor]:
    return [x for column in columns for x in column]


def _columns(xs: Sequence[Tensor], replicas: int) -> list[Column]:
    return [list(xs[k : k + replicas]) for k in range(0, len(xs), replicas)]


def _wide(graph: Graph, given: list[Tensor], replicas: int, first: int = 0) -> Graph:
    """A graph for all replicas, whose inputs from `first` on are there for each of them."""
    here: Any = building()
    specs = [here.specs[here.value_of(x)] for x in given]
    return _wide_of(graph, specs, replicas, first)


def _wide_of(
    graph: Graph,
    specs: list[ShapeDtype],
    replicas: int,
    first: int = 0,
    end: Callable[[list[Column]], list[Tensor]] = _flat,
) -> Graph:
    def run(*xs: Tensor) -> list[Tensor]:
        shared = [[x] * replicas for x in xs[:first]]
        return end(in_step(graph, [*shared, *_columns(xs[first:], replicas)], replicas))

    return make_graph(graph.name, specs, run)


def _switch(node: Node, columns: list[Column], replicas: int) -> list[Column]:
    index = columns[0][0]
    given = _flat(columns[1:])
    branches = [_wide(b, given, replicas) for b in node.attrs["branches"]]
    own = tuple([k * replicas for k in node.attrs["own"]])
    return _columns(emit_switch(index, branches, given, own), replicas)


def _loop(node: Node, columns: list[Column], replicas: int) -> list[Column]:
    loop = Loop(**node.attrs)
    count, turn, given = columns[0][0], columns[1][0], _flat(columns[2:])
    here: Any = building()
    specs = [here.specs[here.value_of(x)] for x in (turn, *given)]
    stacks = 1 + replicas * (loop.states + loop.invariants)
    rows = [s.row() for s in specs[stacks:]]
    only = lambda ends: [ends[0][0]]
    test = loop.test
    if test is not None:
        test = _wide_of(test, specs[:stacks], replicas, 1, only)
    body = _wide_of(loop.body, [*specs[:stacks], *rows], replicas, 1)
    wide = loop._replace(
        test=test,
        body=body,
        states=replicas * loop.states,
        invariants=replicas * loop.invariants,
        rows=replicas * loop.rows,
    )
    result = emit_loop(wide, count, turn, given)
    return [[result.turns] * replicas, *_columns([*result.states, *result.stacks], replicas)]


def _batched(node: Node, columns: list[Column], replicas: int) -> list[Column]:
    given = _flat(columns)
    axes = tuple([a for a in node.attrs["axes"] for _ in range(replicas)])
    here: Any = building()
    specs = [here.specs[here.value_of(x)] for x in given]
    rows = [s.row() if a == 0 else s for s, a in zip(specs, axes, strict=True)]
    graph = _wide_of(node.attrs["graph"], rows, replicas)
    return _columns(emit_batched(graph, axes, given), replicas)


_HOLDERS = {BATCHED: _batched, CALL: _call, LOOP: _loop, SWITCH: _switch}
_MEETINGS: dict[Any, Any] = {
    ALL_GATHER: _all_gather,
    ALL_REDUCE: _all_reduce,
    REPLICA_OFFSET: _replica_offset,
}


# For the host engine.

_WIDE: CacheKey[dict[Any, Graph]] = CacheKey("the replicas side by side")


def side_by_side(graph: Graph, axes: Axes, ends: Axes, replicas: int) -> Graph:
    """A graph for all replicas: each input with an axis, and each such result, once for each."""
    key = axes, ends, replicas
    made = graph.cache.setdefault(_WIDE, {})
    cached = made.get(key)
    if cached is None:
        cached = made[key] = _side_by_side(graph, axes, ends, replicas)
    return cached


def _side_by_side(graph: Graph, axes: Axes, ends: Axes, replicas: int) -> Graph:
    specs = []
    for value, axis in zip(graph.all_inputs(), axes, strict=True):
        specs += [graph.specs[value]] * (replicas if axis == 0 else 1)

    def run(*xs: Tensor) -> list[Tensor]:
        rest = iter(xs)
        columns = [
            [next(rest) for _ in range(replicas)] if a == 0 else [next(rest)] * replicas
            for a in axes
        ]
        results = in_step(graph, columns, replicas)
        return [x for c, e in zip(results, ends, strict=True) for x in (c if e == 0 else c[:1])]

    return make_graph(graph.name, specs, run)


SIDE_BY_SIDE.fill(side_by_side)
