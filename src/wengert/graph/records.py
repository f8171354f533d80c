"""The small records that a graph is made of.

They hold numbers of values and what belongs to them; how they come about is the graph's affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import dims
from wengert.core.op import Op
from wengert.core.sites import RawSite
from wengert.core.symbolic import SymbolicTensor
from wengert.core.tensor import Tensor
from wengert.core.variable import Variable

if TYPE_CHECKING:
    from wengert.graph.ir import Graph


class Node:
    """One operation of a graph. `open` says that attributes hold unknown numbers."""

    __slots__ = ("attrs", "inputs", "op", "open", "outputs", "site")

    def __init__(
        self,
        op: Op,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        attrs: dict[str, Any],
        site: RawSite | None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self.site = site
        self.open = any(map(dims.is_open, attrs.values())) if attrs else False

    def reads(self) -> tuple[int, ...]:
        """All values the node needs, those in its attributes too."""
        if not self.open:
            return self.inputs
        found = [leaf.args[1] for a in self.attrs.values() for leaf in dims.leaves(a)]
        return (*self.inputs, *dict.fromkeys(found))


class Held:
    """A variable inside a graph: its value at the start, if read, and now."""

    __slots__ = ("current", "initial", "variable", "written")

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.initial: int | None = None
        self.current: int | None = None
        self.written = False

    def copy(self) -> Held:
        new = Held(self.variable)
        new.initial, new.current, new.written = self.initial, self.current, self.written
        return new


class Outer:
    """A value of an enclosing graph that an inner one uses."""

    __slots__ = ("graph", "number", "value")

    def __init__(self, graph: Graph, value: int, number: int) -> None:
        self.graph = graph
        self.value = value
        self.number = number

    def tensor(self) -> Any:
        """The value as a tensor of its own graph, under the id that tapes know it by."""
        found = self.graph.tensor(self.value)
        found._id = self.number
        return found


class Seen:
    """What a user's gradient rule sees in the place of the tensors that it closes over.

    They belong to an earlier graph, which was run again; `tables` say, for each earlier graph,
    what its values became: tensors while that is under way, then values of the new graph (or
    still tensors, where they are constants).
    """

    def __init__(self, before: Seen | None, graph: Graph, env: dict[int, Any]) -> None:
        self.tables: list[tuple[Graph, dict[int, Any]]] = []
        older = [*(before.tables if before is not None else ()), *graph.origins]
        self._older, self._graph, self._env = older, graph, env

    def frames(self) -> list[tuple[Graph, dict[int, Any]]]:
        """The tables, with tensors."""
        env = self._env
        return [*[(g, carried(t, env)) for g, t in self._older], (self._graph.origin, env)]

    def settle(self, graph: Graph) -> None:
        """Remembers values of the finished graph, and lets go of its tensors."""
        self.tables = [(g, settled(t, graph)) for g, t in self.frames()]
        del self._older, self._graph, self._env


def settled(env: dict[int, Any], graph: Graph) -> dict[int, Any]:
    """The values of a finished graph that tensors are; constants stay tensors.

    Tensors of enclosing graphs become inputs where there are rules that may close over them.
    """
    found: dict[int, Any] = {}
    for v, x in env.items():
        if type(x) is Tensor:
            found[v] = x
        elif not isinstance(x, SymbolicTensor):
            continue
        elif x._graph is graph or (graph.seen and graph.is_inside(x._graph)):
            found[v] = graph.value_of(x)
    return found


def carried(table: dict[int, Any], env: dict[int, Any]) -> dict[int, Any]:
    """What the values in a table became where their graph was run again."""
    found: dict[int, Any] = {}
    for v, w in table.items():
        if type(w) is Tensor:
            found[v] = w
        elif w in env:
            found[v] = env[w]
    return found


class Draw:
    """A random state that is drawn anew for each run."""

    __slots__ = ("kind", "seed")

    def __init__(self, kind: str, seed: int | None) -> None:
        self.kind = kind
        self.seed = seed
