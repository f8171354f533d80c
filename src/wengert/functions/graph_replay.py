"""Runs the nodes of a finished graph again, through `apply`, in whatever is being built now.

That is how a call inside a trace is inlined and how the gradient of a graph is found: replayed
under a tape, with the user's own call sites.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.core import dims
from wengert.core.apply import apply, wrap
from wengert.core.context import State, _state, get_state, restoring
from wengert.core.hooks import Hook, HookTable
from wengert.core.symbolic import as_number
from wengert.core.types import Dim, Op, SymbolicTensor, Tensor, Variable
from wengert.graph.builder import Builder, building
from wengert.graph.ir import Graph, Node, cached_on_graph, inner_graphs
from wengert.graph.origins import Seen
from wengert.ops.nodes import HOST_CALL
from wengert.ops.updates import ASSIGNED
from wengert.tape.custom import CUSTOM, tell, with_gradient

# How nodes that are more than an operation are run again; each kind fills in its own.
REPLAYS: HookTable[Op, Callable[[Node, list[Any], dict[str, Any]], Any]] = HookTable(
    "replays",
    "wengert.functions.host_calls",
    "wengert.functions.branch_nodes",
    "wengert.functions.branch_nodes",
    "wengert.functions.loop_nodes",
    "wengert.functions.vectorized_map",
    "wengert.functions.replicas",
    "wengert.functions.deferred",
)
# What is done before and after a node inside which Python is called: it may look at variables.
BEFORE_PYTHON: Hook[Callable[[Builder, Any], None]] = Hook(
    "before Python is called", "wengert.functions.host_calls"
)
AFTER_PYTHON: Hook[Callable[[Builder, Any], None]] = Hook(
    "after Python was called", "wengert.functions.host_calls"
)


Assigned = Callable[[Any, Any], Any]


@restoring
def replay(graph: Graph, inputs: list[Tensor], assigned: Assigned | None = None) -> list[Tensor]:
    """The values of all outputs for tensors as inputs.

    `assigned(variable, value)` is told of assignments and gives the tensor that later reads see.
    In a graph whose variables are plain inputs it is not needed.
    """
    outer = get_state() or State()
    env: dict[int, Any] = {v: wrap(c) for v, c in graph.constants.items()}
    env.update(zip(graph.all_inputs(), inputs, strict=True))
    if outer.graph is not None:
        outer.graph.replays.append((graph, env))
    state = State(outer.listeners, outer.graph, None)
    state.plain = False
    _state.set(state)
    for node in graph.nodes:
        state.site = node.site or outer.site
        run_node(graph, node, env, assigned)
        _state.set(state)
    return [env[v] for v in graph.all_outputs()]


def run_node(
    graph: Graph, node: Node, env: dict[int, Tensor], assigned: Assigned | None = None
) -> None:
    """Runs one node again, on the tensors that `env` has for its values, and adds its results."""
    given = [env[v] for v in node.inputs]
    attrs = node.attrs
    if node.open:
        attrs = {k: dims.moved(a, lambda leaf: _number(leaf, env)) for k, a in attrs.items()}
    if node.op is ASSIGNED:
        results: Any = (_assigned(graph, attrs["variable"], given[0], env, assigned),)
    elif node.op is CUSTOM:
        results = _custom(graph, node, given, env)
    elif node.op in REPLAYS or node.op is HOST_CALL:
        here = building()
        looks = here if here is not None and calls_python(node) else None
        if looks is not None:
            BEFORE_PYTHON.call(looks, node.site)
        results = REPLAYS[node.op](node, given, attrs)
        if looks is not None:
            AFTER_PYTHON.call(looks, node.site)
    else:
        result = apply(node.op, *given, **attrs)
        results = (result,) if node.op.outputs == 1 else result
    env.update(zip(node.outputs, results, strict=True))


def calls_python(node: Node) -> bool:
    """Whether Python that may see variables is called in the graphs that a node holds."""
    return any(map(_calls_python, inner_graphs(node)))


@cached_on_graph("calls Python that may see variables")
def _calls_python(graph: Graph) -> bool:
    return any(n.op is HOST_CALL and n.attrs.get("variables") for n in graph.walk())


def _assigned(
    graph: Graph,
    variable: Variable,
    value: Tensor,
    env: dict[int, Tensor],
    assigned: Assigned | None,
) -> Tensor:
    """What reads after an assignment see: they count towards the variable, not the value."""
    here = building()
    if assigned is not None:
        return assigned(variable, value)
    if here is None:
        return value
    new = marked(here, variable, value)
    start = graph.variables.get(variable._id)
    if start is not None:
        new._id = env[start[1]]._id
    return new


def marked(here: Builder, variable: Variable, value: Tensor) -> Any:
    """A value of the graph being built as one that a variable was given."""
    number = here.value_of(value)
    (new,) = here.emit(ASSIGNED, (number,), {"variable": variable}, [here.specs[number]], None)
    return here.tensor(new)


def _custom(
    graph: Graph, node: Node, given: list[SymbolicTensor] | list[Tensor], env: dict[int, Tensor]
) -> tuple[SymbolicTensor, ...]:
    """Results with a user's gradient: the rule comes along, and sees the tensors of this run."""
    count, rule = node.attrs["count"], node.attrs["rule"]
    here = building()
    if here is not None:
        rule = bound(rule, here, graph, env)
    flat, inputs = given[:count], tuple(given[count:])
    outs = apply(CUSTOM, *given, count=count, rule=rule)
    tell(rule, flat, inputs, outs, node.site)
    return outs


def bound(rule: Op, here: Builder, graph: Graph, env: dict[int, Tensor]) -> Op:
    """A user's rule that was written in `graph`, for the tensors in `env`."""
    assert rule.joint is not None, "a user's rule answers for all inputs at once"
    function: Any = rule.joint.function
    base = getattr(function, "base", function)
    seen = Seen(getattr(function, "seen", None), graph, env)
    here.seen.append(seen)

    def gradients(g: Tensor) -> list[Tensor]:
        now: Any = building()
        frames = seen.frames()
        now.frames[:0] = frames
        try:
            return base(g)
        finally:
            del now.frames[: len(frames)]

    gradients.base, gradients.seen = base, seen  # type: ignore[attr-defined]  # for the next run
    return with_gradient(rule.user, gradients, rule.outputs)


def _number(leaf: Dim, env: dict[int, Tensor]) -> int | Dim:
    """An unknown number of the old graph in terms of the new one."""
    _, value, place = leaf.args
    tensor = env[value]
    if leaf.kind == "size":
        return tensor._array.shape[place]
    if isinstance(tensor, SymbolicTensor):
        result = as_number(tensor)
        return _flat(result)[place]
    return int(tensor._array.reshape(-1)[place])


def _flat(value: tuple[Dim, ...] | Dim) -> list[Dim]:
    return [x for v in value for x in _flat(v)] if isinstance(value, tuple) else [value]
