"""Paths from a target back to a source through everything that is known to have happened.

The best path is the one with the fewest places where no gradient passes; those places are the
reasons. Nothing here knows what the reasons mean.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from wengert.tape.history import Step


class Edge(NamedTuple):
    """From the result of a step to one of its inputs; `block` says why no gradient passes."""

    step: Step
    place: int
    block: str

    @property
    def input(self) -> int:
        return self.step.inputs[self.place]


class Trail(NamedTuple):
    """The edges from the target to the source, and the ends of all paths from the target."""

    edges: list[Edge] | None
    ends: set[int]

    @property
    def broken(self) -> list[int]:
        """Where in `edges` no gradient passes, nearest to the target first."""
        return [i for i, e in enumerate(self.edges or ()) if e.block]

    def on_integers(self, k: int) -> bool:
        """Whether the value was no float any more when it came to this edge."""
        edges = self.edges or []
        behind = edges[k + 1] if k + 1 < len(edges) else None
        return edges[k].block == "cut" and behind is not None and behind.step.discrete


Makers = dict[int, list[Step]]


def makers(steps: Iterable[Step]) -> Makers:
    """Which steps gave a tensor its value; only a variable may have several."""
    table: Makers = {}
    for step in steps:
        for out in step.outputs:
            table.setdefault(out, []).append(step)
    return table


def search(
    made: Makers, targets: Iterable[int], source: int, blocked: Callable[[Step, int], str]
) -> Trail:
    """The path with the fewest blocks; without one, only the ends are known."""
    costs: dict[int, int] = dict.fromkeys(targets, 0)
    came: dict[int, tuple[int, Edge]] = {}
    queue = deque(costs)
    ends: set[int] = set()
    while queue:
        at = queue.popleft()
        if at == source:
            return Trail(_unwind(came, source), ends)
        if at not in made:
            ends.add(at)
        for step in made.get(at, ()):
            for place, i in enumerate(step.inputs):
                block = blocked(step, place)
                cost = costs[at] + bool(block)
                if cost < costs.get(i, 1 << 60):
                    costs[i], came[i] = cost, (at, Edge(step, place, block))
                    (queue.append if block else queue.appendleft)(i)
    return Trail(None, ends)


def _unwind(came: dict[int, tuple[int, Edge]], at: int) -> list[Edge]:
    edges = []
    while at in came:
        at, edge = came[at]
        edges.append(edge)
    return edges[::-1]
