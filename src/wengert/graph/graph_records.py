"""The small records that a graph is made of.

They hold numbers of values and what belongs to them; how they come about is the graph's affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import dims
from wengert.core.op import Op
from wengert.core.sites import RawSite
from wengert.core.variable import Variable

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor
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
        results = [leaf.args[1] for a in self.attrs.values() for leaf in dims.leaves(a)]
        return (*self.inputs, *dict.fromkeys(results))


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

    def tensor(self) -> Tensor:
        """The value as a tensor of its own graph, under the id that tapes know it by."""
        result = self.graph.tensor(self.value)
        result._id = self.number
        return result


class Draw:
    """A random state that is drawn anew for each run."""

    __slots__ = ("kind", "seed")

    def __init__(self, kind: str, seed: int | None) -> None:
        self.kind = kind
        self.seed = seed
