"""What is done to a finished graph before it runs: prune, share common work, drop no-ops.

Constants are folded while tracing already. Every pass reads the nodes in order and writes a new list; a table of replaced values is applied
as it goes. No pass moves, merges or drops a node with an effect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dims
from wengert.core.dims import Dim
from wengert.core.shapes import size
from wengert.graph.ir import Graph, Node, inner_graphs
from wengert.graph.verify import checked


def optimised(graph: Graph) -> Graph:
    """A graph that does the same with less work, made once.

    The graph as traced is kept beside it: gradients are taken of that one, where `stop_gradient`
    and the like still stand.
    """
    found = graph.cache.get("optimised")
    if found is None:
        found = graph.copy()
        simplify(found)
        prune(found)
        checked(found)
        found.cache["optimised"] = found
        graph.cache["optimised"] = found
    return found


def rewritten(node: Node, table: dict[int, int]) -> Node:
    """A node that reads the values that replace its own."""
    reads = node.reads()
    if not any(v in table for v in reads):
        return node
    attrs = node.attrs
    if node.open:
        attrs = {
            k: dims.moved(
                a, lambda d: Dim(d.kind, d.args[0], table.get(d.args[1], d.args[1]), d.args[2])
            )
            for k, a in attrs.items()
        }
    inputs = tuple([table.get(v, v) for v in node.inputs])
    return Node(node.op, inputs, node.outputs, attrs, node.site)


def replace_outputs(graph: Graph, table: dict[int, int]) -> None:
    """Lets the ends of a graph name the values that replace theirs."""
    graph.outputs = [table.get(v, v) for v in graph.outputs]
    for held in graph.held.values():
        if held.current is not None:
            held.current = table.get(held.current, held.current)


def simplify(graph: Graph) -> None:
    """Shares equal work and drops operations that give back their input."""
    table: dict[int, int] = {}
    seen: dict[Any, Node] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        node = rewritten(node, table)
        if node.op.effect:
            kept.append(node)
            continue
        if node.op.name == "custom_gradient":
            table.update(zip(node.outputs, node.inputs, strict=False))
            continue
        same = _unchanged(graph, node)
        if same is not None:
            table[node.outputs[0]] = same
            continue
        key = _key(node)
        twin = seen.get(key) if key is not None else None
        if twin is not None:
            table.update(zip(node.outputs, twin.outputs, strict=True))
            continue
        if key is not None:
            seen[key] = node
        kept.append(node)
    graph.nodes = kept
    replace_outputs(graph, table)


def _key(node: Node) -> Any:
    if inner_graphs(node):
        return None
    try:
        key = (node.op, node.inputs, *node.attrs.items())
        hash(key)
    except TypeError:
        return None
    return key


_PASS = ("identity", "read_variable", "stop_gradient", "assigned")


def _unchanged(graph: Graph, node: Node) -> int | None:
    """The input that the node's result equals, if it does nothing."""
    name = node.op.name
    if name in _PASS:
        return node.inputs[0]
    if name in ("reshape", "broadcast_to", "sum_to") and not node.open:
        have = graph.specs[node.inputs[0]].shape
        return node.inputs[0] if have is not None and have == node.attrs["shape"] else None
    if name == "cast":
        same = graph.specs[node.inputs[0]].dtype is graph.specs[node.outputs[0]].dtype
        return node.inputs[0] if same else None
    if name in _NEUTRAL:
        return _neutral(graph, node, *_NEUTRAL[name])
    return None


# Adding 0 is not here: it turns -0.0 into 0.0.
_NEUTRAL = {"multiply": (1, True), "divide": (1, False), "subtract": (0, False)}


def _neutral(graph: Graph, node: Node, number: int, either: bool) -> int | None:
    x, y = node.inputs
    for a, b in ((x, y), (y, x))[: 2 if either else 1]:
        array = graph.constants.get(b)
        if array is None or array.ndim or array.dtype.kind not in "iufcV":
            continue
        same = graph.specs[a] == graph.specs[node.outputs[0]]
        if same and _closed(graph, a) and np.asarray(array, object) == number:
            return a if not (number == 0 and np.signbit(array.astype(float))) else None
    return None


def _closed(graph: Graph, value: int) -> bool:
    return size(graph.specs[value].shape) is not None


def prune(graph: Graph) -> None:
    """Drops nodes whose results nobody needs, and constants with them."""
    needed = set(graph.all_outputs())
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if node.op.effect or has_effects(node) or not needed.isdisjoint(node.outputs):
            needed.update(node.reads())
            kept.append(node)
    kept.reverse()
    graph.nodes = kept
    graph.constants = {v: c for v, c in graph.constants.items() if v in needed}


def has_effects(node: Node) -> bool:
    """Whether a node, or anything inside it, does more than compute."""
    return node.op.effect or any(has_effects(n) for g in inner_graphs(node) for n in g.nodes)
