"""Where the way from an argument of a traced function to its result is cut, node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wengert.explain.paths import makers, search
from wengert.tape.history import Step, step_of

if TYPE_CHECKING:
    from wengert.graph.ir import Graph, Node


def cut_inside(graph: Graph, start: int, end: int) -> tuple[Step, list[Step]] | None:
    """The node at which the way from one value of a graph to another is cut, and those behind it."""
    steps = [step_of(n.op, n.inputs, n.outputs, n.site, _discrete(graph, n)) for n in graph.nodes]
    trail = search(makers(steps), [end], start, _blocked)
    if trail.edges is None or not trail.broken:
        return None
    k = next(k for k in trail.broken if not trail.on_integers(k))
    return trail.edges[k].step, [e.step for e in trail.edges[:k]]


def _discrete(graph: Graph, node: Node) -> bool:
    made = [graph.specs[v].dtype.is_differentiable for v in node.outputs]
    return bool(made) and not any(made)


def _blocked(step: Step, k: int) -> str:
    return "" if step.passes[k] and not step.whole else "cut"
