"""What graphs under construction have computed so far, as steps that can be run again.

`tf.gradients` runs them under a tape. A value has one key in all graphs: a constant and an eager
tensor the id of the tensor, any other the number it has in the graph where it came about. Which
steps are run again is not decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.apply import apply, wrap
from wengert.core.context import State, get_state, using
from wengert.core.scopes import restoring
from wengert.core.symbolic import SymbolicTensor
from wengert.core.variable import Variable
from wengert.functions.graph_replay import calls_python, run_node
from wengert.graph.builder import Builder
from wengert.graph.folding import Folded
from wengert.graph.graph_records import Draw, Node, Outer
from wengert.ops.updates import ASSIGNED

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor, Value


class Keys:
    """The keys of the values in a graph under construction and in those around it."""

    def __init__(self, here: Builder) -> None:
        self.graphs = [here]
        while self.graphs[0].parent is not None:
            self.graphs.insert(0, self.graphs[0].parent)
        self._table: dict[int, int] = {}
        self._current: dict[int, int] = {}  # of each variable, in the graphs seen so far
        for graph in self.graphs:
            self._add(graph)

    def _add(self, graph: Builder) -> None:
        table = self._table
        table.update(graph.identities)
        for source, value in graph.captures.values():
            if isinstance(source, Outer):
                table[value] = self.of(source.value)
            elif not isinstance(source, Draw):
                table[value] = source._id
        for i, held in graph.held.items():
            if held.initial is not None and i in self._current:
                table[held.initial] = self._current[i]
            if held.current is not None:
                self._current[i] = self.of(held.current)

    def of(self, value: int) -> int:
        """The key of a value of one of these graphs."""
        return self._table.get(value, value)

    def find(self, x: Value) -> dict[int, Any]:
        """The tensors that stand for a tensor or variable, by key.

        A variable has one for each value that was read: all of them count towards it.
        """
        if not isinstance(x, Variable):
            return {self.of(x._value) if isinstance(x, SymbolicTensor) else x._id: x}
        here = self.graphs[-1]
        if all(x._id not in graph.held for graph in self.graphs):
            value = here.read(x)
            return {value: here.tensor(value)}
        table: dict[int, Any] = {}
        for graph in self.graphs:
            for value in _values(graph, x):
                table.setdefault(self.of(value), graph.tensor(value))
        return table

    def steps(self) -> list[ConstantStep | NodeStep]:
        """What was computed so far, in order: the operations on constants first in each graph."""
        return [
            step
            for graph in self.graphs
            for step in (
                *[ConstantStep(folded) for folded in graph.folded],
                *[NodeStep(graph, node, self) for node in graph.nodes],
            )
        ]


class ConstantStep:
    """An operation on constants, which became no node."""

    def __init__(self, folded: Folded) -> None:
        self.reads = [x._id for x in folded.inputs]
        self.makes = [x._id for x in folded.outputs]
        self._folded = folded

    @restoring
    def run(self, env: dict[int, Any]) -> dict[int, Any]:
        """The results by key, for tensors that stand for others."""
        op, inputs, _, attrs, site = self._folded
        state: Any = get_state()
        with using(State(state.listeners, state.graph, site)):
            result = apply(op, *[env.get(x._id, x) for x in inputs], **attrs)
        return dict(zip(self.makes, (result,) if op.outputs == 1 else result, strict=True))


class NodeStep:
    """A node; effects, and Python, happen once only, and no gradient passes an assignment."""

    def __init__(self, graph: Builder, node: Node, keys: Keys) -> None:
        self.reads = [] if node.op is ASSIGNED else [keys.of(v) for v in node.reads()]
        self.makes = [keys.of(v) for v in node.outputs]
        self._graph, self._node = graph, node

    @restoring
    def run(self, env: dict[int, SymbolicTensor]) -> dict[int, Any]:
        """The results by key, for tensors that stand for others."""
        node = self._node
        if node.op is ASSIGNED or node.op.effect or calls_python(node):
            return {}
        values = zip(node.reads(), self.reads, strict=True)
        given = {v: env[key] if key in env else self._present(v) for v, key in values}
        state: Any = get_state()
        with using(State(state.listeners, state.graph, node.site)):
            run_node(self._graph, node, given)
        return {key: given[v] for v, key in zip(node.outputs, self.makes, strict=True)}

    def _present(self, value: int) -> Tensor:
        array = self._graph.constants.get(value)
        return self._graph.tensor(value) if array is None else wrap(array)


def _values(graph: Builder, variable: Variable) -> list[int]:
    """All values that a variable has had in a graph."""
    held = graph.held.get(variable._id)
    if held is None:
        return []
    given = [
        n.outputs[0]
        for n in graph.nodes
        if n.op is ASSIGNED and n.attrs["variable"]._id == variable._id
    ]
    return given if held.initial is None else [held.initial, *given]
