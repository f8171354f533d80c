"""Graphs followed for their shapes alone, once more of their inputs is known than in the trace.

Nothing is run, and nobody listens. Graphs inside a graph are followed with it.
"""

from __future__ import annotations

from typing import Any

from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.context import State, restoring, using
from wengert.core.shapes import join
from wengert.core.types import ShapeDtype, SymbolicTensor, Tensor
from wengert.engines.empty_loops import FOLLOW, Known, known_of
from wengert.functions.graph_replay import run_node
from wengert.graph.builder import Builder
from wengert.graph.ir import Graph, Node
from wengert.ops.nodes import BATCHED, CALL, LOOP, REPLICATED, SWITCH


def follow(graph: Graph, known: list[Known]) -> list[ShapeDtype]:
    """What is known of the outputs of a graph, given what is known of its inputs."""
    return _ends(_followed(graph, known))


@restoring
def _followed(graph: Graph, known: list[Known]) -> Graph:
    """The graph again, with all the sizes that follow from those of its inputs."""
    new = Builder(graph.name)
    with using(State((), new)):
        env: dict[int, Any] = {v: wrap(c) for v, c in graph.constants.items()}
        env.update(zip(graph.all_inputs(), [_parameter(new, k) for k in known], strict=True))
        for node in graph.nodes:
            run_node(graph, _narrowed(node, env), env)
        new.outputs = [new.value_of(env[v]) for v in graph.all_outputs()]
    return new


def _parameter(graph: Builder, known: Known) -> Tensor:
    if isinstance(known, ShapeDtype):
        return graph.parameter(known)
    result = graph.parameter(ShapeDtype(known.shape, dtypes.of(known)))
    graph._contents[result._value] = known.astype(object)
    return result


def _narrowed(node: Node, env: dict[int, Tensor]) -> Node:
    """A node whose graphs have been followed for the inputs that they get here."""
    given = [_known(env[v]) for v in node.inputs]
    attrs = dict(node.attrs)
    if node.op is SWITCH:
        attrs["branches"] = tuple([_followed(b, given[1:]) for b in attrs["branches"]])
    elif node.op is CALL:
        attrs["graph"] = _followed(attrs["graph"], given)
    elif node.op in (BATCHED, REPLICATED):
        rows = [_row(k) if a == 0 else k for k, a in zip(given, attrs["axes"], strict=True)]
        attrs["graph"] = _followed(attrs["graph"], rows)
    elif node.op is LOOP:
        attrs["body"] = _body(attrs, given)
    else:
        return node
    return Node(node.op, node.inputs, node.outputs, attrs, node.site)


def _body(attrs: dict[str, Any], given: list[Known]) -> Graph:
    """The body of a loop, for what is known of its state in every turn."""
    n, m = 1 + attrs["states"], 1 + attrs["states"] + attrs["invariants"]
    turn, *states = [_spec(k) for k in given[1 : 1 + n]]
    fixed, stacks = given[1 + n : 1 + m], given[1 + m :]
    body = _followed(attrs["body"], [turn, *states, *fixed, *map(_row, stacks)])
    # A TensorArray that nobody has written gets its shape in the first turn.
    states = [e if s.shape is None else s for s, e in zip(states, _ends(body), strict=False)]
    while True:
        body = _followed(attrs["body"], [turn, *states, *fixed, *map(_row, stacks)])
        pairs = list(zip(states, _ends(body), strict=False))
        if all(s.shape == join(s.shape, e.shape) for s, e in pairs):
            return body
        states = [ShapeDtype(join(s.shape, e.shape), s.dtype) for s, e in pairs]


def _ends(graph: Graph) -> list[ShapeDtype]:
    return [graph.specs[v] for v in graph.outputs]


def _known(x: Tensor) -> Known:
    return x._graph.specs[x._value] if isinstance(x, SymbolicTensor) else known_of(x._array)


def _spec(known: Known) -> ShapeDtype:
    return known if isinstance(known, ShapeDtype) else ShapeDtype(known.shape, dtypes.of(known))


def _row(known: Known) -> ShapeDtype:
    return _spec(known).row()


FOLLOW.fill(follow)
