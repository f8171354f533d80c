"""Shares what an operation and its gradient both work out, in graphs that the host runs.

XLA finds such things by itself; on the host the operations say so (`core.op.PAIRS`).
"""

from __future__ import annotations

from wengert.core.op import PAIRS, Op
from wengert.core.tensor import new_id
from wengert.graph.graph_records import Node
from wengert.graph.ir import Graph
from wengert.graph.passes import needs_no_passes


def with_pairs(graph: Graph) -> Graph:
    """The graph with each operation and its gradient sharing their work, where both are there."""
    firsts = {(n.op, n.inputs): k for k, n in enumerate(graph.nodes) if n.op in PAIRS}
    if not firsts:
        return graph
    gradients = {PAIRS[op][0]: op for op, _ in firsts}
    new = graph.copy()
    kept: dict[int, int] = {}
    for k, node in enumerate(graph.nodes):
        op = gradients.get(node.op)
        first = None if op is None else firsts.get((op, node.inputs[1:]))
        if op is not None and first is not None and first < k:
            new.nodes[k] = _second(new, node, op, first, kept)
    return needs_no_passes(new)


def _second(graph: Graph, node: Node, op: Op, first: int, kept: dict[int, int]) -> Node:
    _, both, rest = PAIRS[op]
    if first not in kept:
        old = graph.nodes[first]
        value = kept[first] = new_id()
        graph.specs[value] = graph.specs[old.inputs[1]]
        graph.nodes[first] = Node(both, old.inputs, (*old.outputs, value), old.attrs, old.site)
    inputs = (node.inputs[0], node.inputs[1], kept[first])
    return Node(rest, inputs, node.outputs, node.attrs, node.site)
