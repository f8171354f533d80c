"""What values of earlier graphs became in the graph where those were run again.

A gradient is a graph that runs another one again, so what a user's rule closes over belongs to a
graph that is no longer there; it means the values that stand in for them. How graphs are run again
is the business of functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.types import SymbolicTensor, Tensor

if TYPE_CHECKING:
    from wengert.graph.builder import Builder
    from wengert.graph.ir import Graph


def replayed(here: Builder, graph: Graph, value: int) -> Tensor | None:
    """What a value of another graph became when that graph was run again in this one.

    `tf.gradients` runs steps of a graph again in the graph itself. What does not depend on its
    sources stays what it is there, and is found as any value of an enclosing graph.
    """
    result = _became(here, graph, value)
    if isinstance(result, SymbolicTensor) and result._graph is graph and result._value == value:
        return None
    return result


def _became(here: Builder, graph: Graph, value: int) -> Tensor | None:
    place: Builder | None = here
    while place is not None:
        for origin, table in place.frames:
            if origin is graph.origin and value in table:
                return table[value]
        for source, env in place.replays:
            if source.origin is graph.origin and value in env:
                return env[value]
            for older, table in source.origins:
                if older is graph.origin and value in table:
                    result = carried({value: table[value]}, env)
                    if result:
                        return result[value]
        place = place.parent
    return None


class Seen:
    """What a user's gradient rule sees in the place of the tensors that it closes over.

    They belong to an earlier graph, which was run again; `tables` say, for each earlier graph,
    what its values became: tensors while that is under way, then values of the new graph (or
    still tensors, where they are constants).
    """

    def __init__(self, before: Seen | None, graph: Graph, env: dict[int, Tensor]) -> None:
        self.tables: list[tuple[Graph, dict[int, Any]]] = []
        older = [*(before.tables if before is not None else ()), *graph.origins]
        self._older, self._graph, self._env = older, graph, env

    def frames(self) -> list[tuple[Graph, dict[int, Any]]]:
        """The tables, with tensors."""
        env = self._env
        return [*[(g, carried(t, env)) for g, t in self._older], (self._graph.origin, env)]

    def settle(self, graph: Builder) -> None:
        """Remembers values of the finished graph, and lets go of its tensors."""
        self.tables = [(g, settled(t, graph)) for g, t in self.frames()]
        del self._older, self._graph, self._env


def settled(env: dict[int, Tensor], graph: Builder) -> dict[int, Tensor | int]:
    """The values of a finished graph that tensors are; constants stay tensors.

    Tensors of enclosing graphs become inputs where there are rules that may close over them.
    """
    table: dict[int, Any] = {}
    for v, x in env.items():
        if type(x) is Tensor:
            table[v] = x
        elif not isinstance(x, SymbolicTensor):
            continue
        elif x._graph is graph or (graph.seen and graph.is_inside(x._graph)):
            table[v] = graph.value_of(x)
    return table


def carried(table: dict[int, Any], env: dict[int, Any]) -> dict[int, Any]:
    """What the values in a table became where their graph was run again."""
    mapping: dict[int, Any] = {}
    for v, w in table.items():
        if type(w) is Tensor:
            mapping[v] = w
        elif w in env:
            mapping[v] = env[w]
    return mapping
