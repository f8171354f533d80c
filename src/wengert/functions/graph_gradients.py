"""`tf.gradients` and `tf.hessians`: derivatives of what a trace has computed already.

There is no tape on which it was recorded. So the steps that lead from the sources to the targets
are run again under one, in this graph and those around it, with the sources under new names; equal
work is shared when the graph is finished. A value has one key in all graphs: a constant and an
eager tensor the id of the tensor, any other the number it has in the graph where it came about."""

from __future__ import annotations

from typing import Any

from wengert.core import nest
from wengert.core.apply import apply, wrap
from wengert.core.context import State, get_state, restoring, using
from wengert.core.convert import operand
from wengert.core.errors import require
from wengert.core.types import Gradient, SymbolicTensor, Tensor, Value, Values, Variable
from wengert.functions.graph_replay import calls_python, run_node
from wengert.graph.builder import Builder, building
from wengert.graph.folding import Folded
from wengert.graph.ir import Draw, Node, Outer
from wengert.ops.create import zeros_like
from wengert.ops.shaping import identity
from wengert.ops.updates import ASSIGNED
from wengert.tape import arguments
from wengert.tape.gradient_tape import GradientTape, UnconnectedGradients


def gradients(
    ys: Values,
    xs: Values,
    grad_ys: Values | None = None,
    name: str | None = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Values | None = None,
    unconnected_gradients: str | UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """The gradients of the sum of `ys` by each of `xs`, inside a function; a tape does it anywhere.

    Tensors in `stop_gradients` count as constants.
    """
    mode = arguments.mode(unconnected_gradients)
    sources = _listed("gradients", xs)
    stops = [] if stop_gradients is None else _listed("gradients", stop_gradients)
    with GradientTape() as tape:
        targets, starts = _again(_listed("gradients", ys), sources, stops, tape)
    seeds = tape._seeds(targets, None if grad_ys is None else nest.flatten(grad_ys))
    result = tape._differentiate(targets, seeds, starts, release=True)
    if mode is UnconnectedGradients.NONE:
        return result
    return [zeros_like(x) if g is None else g for g, x in zip(result, starts, strict=True)]


def hessians(
    ys: Values,
    xs: Values,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str | None = "hessians",
) -> list[SymbolicTensor]:
    """The second derivatives of the sum of `ys` by each of `xs` alone, inside a function."""
    targets, sources = _listed("hessians", ys), _listed("hessians", xs)
    result = []
    for x in sources:
        with GradientTape() as outer, GradientTape() as inner:
            value, starts = _again(targets, [x], [], outer, inner)
            slope = inner.gradient(value, starts[0])
        result.append(outer.jacobian(slope, starts[0]))
    return result


def _listed(name: str, values: Values) -> list[Value]:
    require(
        building() is not None,
        name,
        "it works inside tf.function only",
        help="Use tf.GradientTape.",
        kind=RuntimeError,
    )
    leaves = nest.flatten(values)
    for x in leaves:
        require(isinstance(x, Value), name, "a tensor or variable was expected", x, kind=TypeError)
    return leaves


def _again(
    targets: list[SymbolicTensor] | list[Value],
    sources: list[Value],
    stops: list[SymbolicTensor] | list[Value],
    *tapes: Any,
) -> tuple[list[SymbolicTensor], list[Tensor]]:
    """The targets once more, computed from sources that the tapes follow; and those sources."""
    here: Any = building()
    keys = Keys(here)
    results = [keys.find(x) for x in sources]
    fixed = {key for x in stops for key in keys.find(x)}
    wanted = [next(iter(keys.find(operand(y)).items())) for y in targets]
    steps = keys.steps()
    depends = _downstream(steps, {key for each in results for key in each})
    env: dict[int, Any] = {}
    for each in results:
        begun = [k for k in each if k not in env and (k in fixed or k not in depends)]
        for key in begun:
            env[key] = identity(each[key])
            env[key]._id = env[begun[0]]._id  # all that a variable has been is one source
        for tape in tapes if begun else ():
            tape.watch(env[begun[0]])
    for step in steps:
        if any(key in env for key in step.reads):
            new = step.run(env)
            env.update({k: x for k, x in new.items() if k not in fixed and k not in env})
    return [env.get(key, x) for key, x in wanted], [env[next(iter(each))] for each in results]


def _downstream(steps: list[ConstantStep | NodeStep], starts: set[int]) -> set[int]:
    """The keys that depend on some source, other than the source itself."""
    reached, result = set(starts), set()
    for step in steps:
        if not reached.isdisjoint(step.reads):
            reached.update(step.makes)
            result.update(step.makes)
    return result


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
