"""What is done to a finished graph before it runs: prune, share common work, drop no-ops.

Constants are folded while tracing already. Every pass reads the nodes in order and writes a new
list; a table of replaced values is applied as it goes. No pass moves, merges or drops a node with
an effect. For the host alone there is one more, `with_pairs`: operations share with their gradient
what both work out, where they say so (`core.op.PAIRS`); XLA finds such things by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import dims
from wengert.core.hooks import HookTable
from wengert.core.op import PAIRS
from wengert.core.op_facts import Neutral
from wengert.core.shapes import size
from wengert.core.tensor import new_id
from wengert.core.types import Dim, Op
from wengert.graph.ir import CacheKey, Graph, Node, inner_graphs
from wengert.graph.verify import checked

OPTIMISED: CacheKey[Graph] = CacheKey("the graph after the passes")


def needs_no_passes(graph: Graph) -> Graph:
    """Marks a graph as optimised, and returns it."""
    graph.cache[OPTIMISED] = graph
    return graph


def optimised(graph: Graph) -> Graph:
    """A graph that does the same with less work, made once.

    The graph as traced is kept beside it: gradients are taken of that one, where `stop_gradient`
    and the like still stand.
    """
    cached = graph.cache.get(OPTIMISED)
    if cached is None:
        cached = graph.copy()
        simplify(cached)
        fuse(cached)
        prune(cached)
        checked(cached)
        graph.cache[OPTIMISED] = needs_no_passes(cached)
    return cached


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
        if _unchanged(graph, node):
            table.update(zip(node.outputs, node.inputs, strict=False))
            continue
        same = None if node.op.neutral is None else _neutral(graph, node, node.op.neutral)
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


# What a sum with the result of an operation becomes. A function of the graph, the node of the sum,
# the other value and the node of the operation; it gives a node or `None`.
FUSED: HookTable[Op, Callable[[Graph, Node, int, Node], Node | None]] = HookTable(
    "fused sums", "wengert.ops.adding", "wengert.ops.rows"
)


def fuse(graph: Graph) -> None:
    """Adds a few rows to a sum in their place, where they stood alone among zeros before."""
    alone: dict[int, Node] = {}
    for node in graph.nodes:
        if node.op in FUSED:
            alone[node.outputs[0]] = node
    if not alone:
        return
    uses = Counter(v for n in graph.nodes for v in n.reads())
    uses.update(graph.all_outputs())
    graph.nodes = [_summed(graph, n, alone, uses) if n.op.sums else n for n in graph.nodes]


def _summed(graph: Graph, node: Node, alone: dict[int, Node], uses: Counter[int]) -> Node:
    x, y = node.inputs
    for one, other in ((y, x), (x, y)):
        if one in alone and one != other and uses[one] == 1:
            maker = alone[one]
            result = FUSED[maker.op](graph, node, other, maker)
            if result is not None:
                return result
    return node


def exact(attr: Any) -> Any:
    """An attribute as a key: equal numbers of different types differ, and so do 0.0 and -0.0."""
    if type(attr) is tuple:
        return tuple(map(exact, attr))
    return type(attr), repr(attr) if type(attr) in (float, complex) else attr


def _key(node: Node) -> Any:
    if inner_graphs(node):
        return None
    try:
        key = (node.op, node.inputs, *[(k, exact(a)) for k, a in node.attrs.items()])
        hash(key)
    except TypeError:
        return None
    return key


def _unchanged(graph: Graph, node: Node) -> bool:
    """Whether the node's results are its first inputs."""
    rule = node.op.unchanged
    if rule is None or node.open or not node.inputs:
        return False
    return rule(graph.specs[node.inputs[0]], **node.attrs)


def _neutral(graph: Graph, node: Node, neutral: Neutral) -> int | None:
    """The input that the node's result equals, since the other is a number that changes nothing."""
    x, y = node.inputs
    number = neutral.number
    for a, b in ((x, y), (y, x))[: 2 if neutral.either else 1]:
        array = graph.constants.get(b)
        if array is None or array.ndim or array.dtype.kind not in "iufcV":
            continue
        same = graph.specs[a] == graph.specs[node.outputs[0]]
        if (
            same
            and (size(graph.specs[a].shape) is not None)
            and np.asarray(array, object) == number
        ):
            return a if not (number == 0 and np.signbit(array.astype(float))) else None
    return None


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
