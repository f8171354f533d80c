"""Sums over replicas that share a device: of gradients by weights, worked out for all at once.

Such a gradient is a product over the batch, so that the replicas' gradients add up to that of their
batches joined. One product in place of one for each replica costs neither their memory nor, of a
convolution, the time that a product for each has taken in groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.tensor import new_id
from wengert.core.types import ShapeDtype
from wengert.graph.ir import CacheKey, Graph, Node
from wengert.graph.passes import needs_no_passes, optimised, prune
from wengert.ops.arithmetic import MULTIPLY
from wengert.ops.collectives import ALL_GATHER, ALL_REDUCE

_JOINED: CacheKey[dict[int, Graph]] = CacheKey("sums over replicas as one product")


def with_joined_sums(graph: Graph, replicas: int) -> Graph:
    """The graph of a replica, whose sums over replicas are made of joined batches where they can."""
    made = graph.cache.setdefault(_JOINED, {})
    cached = made.get(replicas)
    if cached is None:
        cached = made[replicas] = _joined(optimised(graph), replicas)
    return cached


def _joined(graph: Graph, replicas: int) -> Graph:
    makers = {v: n for n in graph.nodes for v in n.outputs}
    pairs = [(n, makers.get(n.inputs[0])) for n in graph.nodes if n.op is ALL_REDUCE]
    axes = {id(n): _axes(graph, m) for n, m in pairs if m is not None}
    if not any(axes.values()):
        return graph
    new = graph.copy()
    new.nodes, new.specs = [], dict(graph.specs)
    joined: dict[tuple[int, int], int] = {}
    for node in graph.nodes:
        along = axes.get(id(node))
        if along:
            _add(new, node, makers[node.inputs[0]], along, replicas, joined)
        else:
            new.nodes.append(node)
    prune(new)
    return needs_no_passes(new)


def _axes(graph: Graph, node: Node) -> tuple[int, ...] | None:
    if node.op.adds_up is None or node.open:
        return None
    return node.op.adds_up(*[graph.specs[v] for v in node.inputs], **node.attrs)


def _add(
    graph: Graph,
    node: Node,
    maker: Node,
    axes: tuple[int, ...],
    replicas: int,
    joined: dict[tuple[int, int], int],
) -> None:
    """The nodes that make the sum, or the mean, of a product over the batches of all replicas."""
    given = [
        _whole(graph, v, a, replicas, joined, node) for v, a in zip(maker.inputs, axes, strict=True)
    ]
    (end,) = node.outputs
    mean = node.attrs["kind"] == "mean"
    total = _new(graph, graph.specs[end]) if mean else end
    graph.nodes.append(Node(maker.op, tuple(given), (total,), maker.attrs, node.site))
    if mean:
        part = _new(graph, ShapeDtype((), graph.specs[end].dtype))
        graph.constants[part] = np.asarray(1 / replicas, graph.specs[end].dtype.np)
        graph.nodes.append(Node(MULTIPLY, (total, part), (end,), {}, node.site))


def _whole(
    graph: Graph,
    value: int,
    axis: int,
    replicas: int,
    joined: dict[tuple[int, int], int],
    node: Node,
) -> int:
    cached = joined.get((value, axis))
    if cached is None:
        attrs: dict[str, Any] = {"axis": axis, "replicas": replicas}
        cached = _new(graph, ALL_GATHER.infer(graph.specs[value], **attrs))
        joined[value, axis] = cached
        graph.nodes.append(Node(ALL_GATHER, (value,), (cached,), attrs, node.site))
    return cached


def _new(graph: Graph, spec: ShapeDtype) -> int:
    value = new_id()
    graph.specs[value] = spec
    return value
