"""Which values of a replica's graph may differ from replica to replica.

Inputs with an axis differ, and so do random numbers, numbers of replicas, what Python answers, and
what is computed of any of these; what replicas make together is the same in all. Where they would
meet under a condition that differs, some would wait for ever: that is refused, with both lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wengert.core.errors import coded
from wengert.core.sites import locate
from wengert.graph.ir import Graph, Node
from wengert.ops.nodes import BATCHED, CALL, LOOP, SWITCH, joins

Flags = list[bool]


def differing(graph: Graph, given: Sequence[bool]) -> Flags:
    """Which outputs of a graph may differ, for what is known of its inputs."""
    found = differing_values(graph, given)
    return [v in found for v in graph.all_outputs()]


def differing_values(graph: Graph, given: Sequence[bool]) -> set[int]:
    """The values of a graph that may differ."""
    found = {v for v, own in zip(graph.all_inputs(), given, strict=True) if own}
    for node in graph.nodes:
        made = _results(node, found)
        found.update(v for v, own in zip(node.outputs, made, strict=True) if own)
    return found


class Following:
    """The same for a graph that is being traced: nodes are looked at when somebody asks."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.found: set[int] = set()
        self.seen = 0

    def differs(self, value: int) -> bool:
        """Whether a value may differ by replica."""
        self.found.update(self.graph.inputs)
        for held in self.graph.held.values():
            if held.initial is not None and held.variable._copies is not None:
                self.found.add(held.initial)
        nodes = self.graph.nodes
        while self.seen < len(nodes):
            node = nodes[self.seen]
            self.seen += 1
            made = _results(node, self.found)
            self.found.update(v for v, own in zip(node.outputs, made, strict=True) if own)
        return value in self.found


def _results(node: Node, found: set[int]) -> Flags:
    inside = _INSIDE.get(node.op)
    if inside is not None:
        return inside(node, [v in found for v in node.inputs])
    own = node.op.replicas == "own" or node.op.calls_python
    if node.op.replicas != "joined":
        own = own or any(v in found for v in node.reads())
    return [own] * len(node.outputs)


def _call(node: Node, given: Flags) -> Flags:
    return differing(node.attrs["graph"], given)


def _switch(node: Node, given: Flags) -> Flags:
    branches, own = node.attrs["branches"], node.attrs["own"]
    if given[0]:
        for branch in branches:
            _demand_apart(node, branch, "branch")
        return [True] * len(node.outputs)
    ends = [differing(b, given[1:]) for b in branches]
    common = len(node.outputs) - sum(own)
    shared = [any(e[k] for e in ends) for k in range(common)]
    return shared + [flag for e in ends for flag in e[common:]]


def _loop(node: Node, given: Flags) -> Flags:
    attrs: Any = node.attrs
    body, test, count = attrs["body"], attrs["test"], attrs["states"]
    states, rest = given[2 : 2 + count], given[2 + count :]
    fixed = rest[: attrs["invariants"]]
    while True:
        turn = given[0] or given[1]
        differs = turn
        if test is not None:
            differs = turn or any(differing(test, [turn, *states, *fixed]))
        if differs:
            for graph in (body, test):
                if graph is not None:
                    _demand_apart(node, graph, "loop")
            return [True] * len(node.outputs)
        ends = differing(body, [turn, *states, *rest])
        news = [a or b for a, b in zip(states, ends, strict=False)]
        if news == states:
            return [False, *states, *ends[count:]]
        states = news


_INSIDE = {BATCHED: _call, CALL: _call, LOOP: _loop, SWITCH: _switch}


def _demand_apart(node: Node, graph: Graph, what: str) -> None:
    """Refuses a branch or loop that some replicas enter and others do not, if they meet in it."""
    meeting = joins(graph)
    if meeting is None:
        return
    place = locate(node.site)
    where = "" if place is None else f", decided at {place}"
    raise coded(
        _at(
            ValueError(
                f"{meeting.op.name}: all replicas must come here, but the condition of the {what} "
                f"around it differs by replica{where}. Take the condition of a value that all "
                f"replicas share, such as the result of all_reduce, or move this outside."
            ),
            meeting,
        ),
        "WG902",
        node.site,
    )


def _at(error: Exception, node: Node) -> Exception:
    from wengert.core.errors import at_site

    return at_site(error, node.site)
