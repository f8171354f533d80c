"""Emits branches, loops and run-time checks into the graph.

What is traced here are closures over the state of the user's function. Which tensors come out of a
branch is known only when both sides have been traced, so tracing and joining are two steps.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply, wrap
from wengert.core.context import State, get_state, using
from wengert.core.convert import operand
from wengert.core.errors import InvalidArgumentError, at_site, require
from wengert.core.failures import failures
from wengert.core.shapes import as_shape
from wengert.core.sites import caller
from wengert.core.types import IndexedSlices, ShapeDtype, SymbolicTensor, Tensor, Value
from wengert.functions.branch_nodes import emit_switch
from wengert.functions.graph_calls import snapshot
from wengert.functions.loop_nodes import OPEN, TURN, Loop, emit_loop
from wengert.functions.subgraphs import close, written
from wengert.functions.trace import put_together, take_apart
from wengert.graph.builder import Builder, building
from wengert.graph.ir import Graph, Outer
from wengert.ops.cast import cast
from wengert.ops.checks import CHECK
from wengert.ops.shaping import reshape

if TYPE_CHECKING:
    from wengert.functions.signature import Apart
    from wengert.functions.tensor_array import TensorArray
    from wengert.functions.trace import Slot


Joined = tuple[list[Any], list[Any]]


class CheckFailed(InvalidArgumentError, AssertionError):
    """An `assert` on a tensor does not hold."""


def truth(x: Any) -> Any:
    """The truth of a tensor with one element, as a boolean scalar."""
    x = operand(x)
    count = x.shape.num_elements() if x.shape.is_fully_defined() else None
    require(
        count in (None, 1),
        "bool",
        f"the truth of a tensor with {count} elements is ambiguous",
        x,
        help="Use tf.reduce_any or tf.reduce_all.",
        kind=ValueError,
    )
    if x.dtype is not dtypes.bool_:
        x = cast(x, dtypes.bool_)
    return x if x.shape.rank == 0 else reshape(x, [])


@contextmanager
def _here() -> Iterator[Builder]:
    """The graph being built, with what is added to it at the user's line."""
    state = get_state()
    assert state is not None, "tensors of a trace have a graph"
    with using(State(state.listeners, state.graph, state.site or caller(2))):
        yield state.graph


class Side(NamedTuple):
    """One side of a branch: its graph, and the result of its code."""

    graph: Builder
    value: Any


def traced_side(name: str, run: Callable[[], Any]) -> Side:
    """Traces one side of a branch."""
    graph = Builder(name, building())
    with using(State((), graph)):
        return Side(graph, run())


def conditional(
    condition: SymbolicTensor | Value | bool | IndexedSlices,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    join: Callable[[Any, Any], Joined],
) -> list[Any]:
    """Traces both branches, asks `join` which tensors of each to choose from, and chooses."""
    sides = traced_side("then", then), traced_side("else", otherwise)
    return chosen(condition, sides, join(sides[0].value, sides[1].value))


def chosen(
    condition: SymbolicTensor | Value | bool | IndexedSlices, sides: tuple[Side, Side], outs: Joined
) -> list[SymbolicTensor | TensorArray]:
    """The tensors of one side or the other."""
    skeleton: Any = None
    for side, given in zip(sides, outs, strict=True):
        with using(State((), side.graph)):
            skeleton, tensors = take_apart("if", given)
            side.graph.outputs = [side.graph.value_of(x) for x in tensors]
        side.graph.end_replays()
    with _here():
        return put_together(skeleton, _switched(condition, [s.graph for s in sides[::-1]]))


def unasked(side: Side) -> Tensor | None:
    """The value of a side that may run speculatively, or `None` if it may not."""
    value, graph = side.value, side.graph
    if not isinstance(value, Tensor) or value.shape.rank != 0 or written([graph]):
        return None
    if not all(n.op.harmless for n in graph.nodes):
        return None
    if not isinstance(value, SymbolicTensor) or value._graph is not graph:
        return value
    return _moved(graph)[value._value]


def _moved(graph: Graph) -> dict[int, Tensor]:
    """Inlines the few nodes of a side into the graph around it; its values by their old numbers."""
    env: dict[int, Any] = {v: wrap(c) for v, c in graph.constants.items()}
    env |= {v: s.tensor() if isinstance(s, Outer) else s for s, v in graph.captures.values()}
    env |= {h.initial: h.variable for h in graph.held.values() if h.initial is not None}
    state = get_state()
    assert state is not None, "a side is traced inside a graph"
    for node in graph.nodes:
        with using(State(state.listeners, state.graph, node.site)):
            result = apply(node.op, *[env[v] for v in node.inputs], **node.attrs)
        env[node.outputs[0]] = result
    return env


def has_effects() -> bool:
    """Whether the graph being built has side effects."""
    graph = building()
    return graph is not None and bool(
        written([graph]) or any(node.op.effect for node in graph.walk())
    )


def _switched(
    condition: SymbolicTensor | Value | bool | IndexedSlices, graphs: list[Graph]
) -> list[SymbolicTensor]:
    here: Any = building()
    changed = written(graphs)
    closed = close(graphs, changed)
    inputs = [*[snapshot(here, v) for v in changed], *closed.tensors]
    outs = emit_switch(condition, closed.graphs, inputs)
    count = len(graphs[0].outputs)
    for variable, new in zip(changed, outs[count:], strict=True):
        variable.assign(new)
    return outs[:count]


class LoopPlan(NamedTuple):
    """A loop to be traced.

    `test(i, state)` says whether there is another turn, or is `None` where only the count does;
    `body(i, state, rows)` makes one and gives the new state and rows of results.
    """

    test: Callable[..., Any] | None
    body: Callable[..., tuple[list[Any], list[Any]]]
    start: list[Any]
    shapes: list[Any]
    count: Any = None
    stacks: Sequence[Any] = ()


def loop(plan: LoopPlan) -> tuple[list[SymbolicTensor | TensorArray], list[SymbolicTensor]]:
    """A loop of the graph: the state after it, and the rows that its turns gave, stacked."""
    with _here() as here:
        skeleton, starts = take_apart("loop", plan.start)
        specs = _state_specs(here, plan, skeleton, starts)
        stacks = [operand(x) for x in plan.stacks]
        rows = [_row(here.specs[here.value_of(x)]) for x in stacks]
        count = len(specs)

        def body(
            i: SymbolicTensor, *xs: Any
        ) -> tuple[list[Tensor | TensorArray], list[SymbolicTensor]]:
            return plan.body(i, put_together(skeleton, list(xs[:count])), list(xs[count:]))

        step, (states, made) = _traced("body", body, [*specs, *rows])
        graphs: list[Graph] = [step]
        if plan.test is not None:
            ask = plan.test
            test, _ = _traced(
                "test", lambda i, *xs: ask(i, put_together(skeleton, list(xs))), specs
            )
            graphs.append(test)
        everything = _emitted(here, plan, graphs, starts, stacks)
        return put_together(states, everything), put_together(made, everything)


def _traced(
    name: str, function: Callable[..., Any], specs: list[ShapeDtype]
) -> tuple[Builder, Any]:
    graph = Builder(name, building())
    with using(State((), graph)):
        turn, *params = [graph.parameter(s) for s in (TURN, *specs)]
        graph.turn = turn
        skeleton, tensors = take_apart(name, function(turn, *params))
        graph.outputs = [graph.value_of(x) for x in tensors]
    graph.end_replays()
    return graph, skeleton


def _state_specs(
    here: Builder, plan: LoopPlan, skeleton: list[Apart | Slot], starts: list[Tensor]
) -> list[ShapeDtype]:
    """The static specs of the state over all iterations."""
    specs = [here.specs[here.value_of(x)] for x in starts]
    assert len(plan.shapes) == len(specs), "each part of the state has a shape"
    return [ShapeDtype(as_shape(s), spec.dtype) for s, spec in zip(plan.shapes, specs, strict=True)]


def _row(spec: ShapeDtype) -> ShapeDtype:
    return ShapeDtype(None if spec.shape is None else spec.shape[1:], spec.dtype)


def _emitted(
    here: Builder, plan: LoopPlan, graphs: list[Graph], starts: list[Tensor], stacks: list[Tensor]
) -> list[SymbolicTensor]:
    """Adds the loop, and gives its last state and its stacks."""
    n, r = len(starts), len(stacks)
    made = len(graphs[0].outputs) - n
    changed = written(graphs)
    closed = close(graphs, changed)
    step = closed.graphs[0]
    turn, rest = step.inputs[0], step.inputs[1:]
    # A loop takes the rows after everything else, and gives them so.
    step.inputs = [turn, *rest[:n], *rest[n + r :], *rest[n : n + r]]
    step.outputs = [*step.outputs[:n], *step.outputs[n + made :], *step.outputs[n : n + made]]
    test = closed.graphs[1] if plan.test is not None else None
    if test is not None:
        test.outputs = test.outputs[:1]
    states = n + len(changed)
    count = wrap(np.asarray(OPEN, np.int32)) if plan.count is None else _whole(plan.count)
    inputs = [*starts, *[snapshot(here, v) for v in changed], *closed.tensors, *stacks]
    node = Loop(test, step, states, len(closed.tensors), made)
    result = emit_loop(node, count, wrap(np.zeros((), np.int32)), inputs)
    for variable, new in zip(changed, result.states[n:], strict=True):
        variable.assign(new)
    return [*result.states[:n], *result.stacks]


def _whole(count: SymbolicTensor | int) -> Any:
    x = operand(count)
    return x if x.dtype is dtypes.int32 else cast(x, dtypes.int32)


def check(condition: SymbolicTensor | Value | bool | IndexedSlices, message: str) -> None:
    """Fails when the function runs, unless the condition holds."""
    _fails_unless(condition, CheckFailed(None, None, message), caller(1))


def fail(error: Exception, site: Any) -> None:
    """Raises the exception, at the given site, when the function runs and gets here."""
    _fails_unless(wrap(np.asarray(False)), error, site)


def _fails_unless(condition: Value | bool | IndexedSlices, error: Exception, site: Any) -> None:
    def explain() -> None:
        try:
            fresh = copy.copy(error)
        except failures():
            fresh = error
        raise at_site(fresh.with_traceback(None), site)

    state = get_state()
    assert state is not None, "a check that waits belongs to a graph"
    with using(State(state.listeners, state.graph, site)):
        apply(CHECK, condition, explain=explain)
