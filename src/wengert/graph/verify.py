"""Checks that a graph is well formed; run after every build in the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wengert.core import dims
from wengert.core.context import State, restoring, using
from wengert.core.hooks import HookTable
from wengert.core.process_settings import PROCESS
from wengert.core.types import Op, TensorShape
from wengert.graph.ir import Graph, Node, inner_graphs

# For a node that holds graphs: each of them, and how many inputs and outputs it must have.
ENDS: HookTable[Op, Callable[[Node], Iterable[tuple[Graph, int, int]]]] = HookTable(
    "ends of inner graphs", "wengert.ops.nodes"
)


def checked(graph: Graph) -> Graph:
    """The graph itself, verified under test."""
    if PROCESS.verifies_graphs:
        verify(graph)
    return graph


def verify(graph: Graph) -> None:
    """Raises `AssertionError` where a graph breaks a rule of its own making."""
    known = {*graph.all_inputs(), *graph.constants}
    assert len(known) == len(graph.all_inputs()) + len(graph.constants), (
        f"{graph.name}: a value is given twice"
    )
    for value, array in graph.constants.items():
        assert array.shape == graph.specs[value].shape, f"{graph.name}: v{value} changed its shape"
    for k, node in enumerate(graph.nodes):
        where = f"{graph.name}, node {k} ({node.op.name})"
        for value in node.reads():
            assert value in known, f"{where} reads v{value} before it is there"
        for value in node.outputs:
            assert value not in known, f"{where} writes v{value} again"
            assert value in graph.specs, f"{where}: v{value} has no shape and dtype"
            known.add(value)
        _check_specs(graph, node, where)
        _check_inner(node, where)
    for value in graph.all_outputs():
        assert value in known, f"{graph.name} returns v{value}, which is not there"


@restoring
def _check_specs(graph: Graph, node: Node, where: str) -> None:
    """What a node is said to give must be what its shape rule says."""
    if not node.op.folds or inner_graphs(node):
        return
    given = [graph.specs[v] for v in node.inputs]
    attrs = {k: dims.opened(a) for k, a in node.attrs.items()} if node.open else node.attrs
    with using(State()):
        result: Any = node.op.infer(*given, **attrs)
    for spec, value in zip(
        (result,) if node.op.outputs == 1 else result, node.outputs, strict=True
    ):
        noted = graph.specs[value]
        assert spec.dtype is noted.dtype, (
            f"{where}: dtype {spec.dtype.name}, not {noted.dtype.name}"
        )
        assert TensorShape(spec.shape).is_compatible_with(noted.shape), (
            f"{where}: shape {spec.shape}, not {noted.shape}"
        )


def _check_inner(node: Node, where: str) -> None:
    """Graphs inside nodes stand alone, and take and give what the node does."""
    for inner in inner_graphs(node):
        verify(inner)
        assert not inner.captures, f"{where}: {inner.name} uses something from outside"
        assert not inner.held, f"{where}: {inner.name} uses variables"
    ends = ENDS.get(node.op)
    for inner, inputs, outputs in () if ends is None else ends(node):
        assert len(inner.inputs) == inputs, (
            f"{where}: {inner.name} takes {len(inner.inputs)} values"
        )
        assert len(inner.outputs) == outputs, (
            f"{where}: {inner.name} gives {len(inner.outputs)} values"
        )
