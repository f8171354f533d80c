"""`tf.gradients` and `tf.hessians`: derivatives of what a trace has computed already.

There is no tape on which it was recorded. So the nodes between the sources and the targets are run
again under one, with the sources under new names; equal work is shared when the graph is finished.
"""

from __future__ import annotations

from typing import Any

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.context import State, get_state, using
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe
from wengert.core.tensor import Value
from wengert.core.variable import Variable
from wengert.functions.replay import calls_python, run_node
from wengert.graph.builder import Builder, building
from wengert.ops.create import zeros_like
from wengert.ops.shaping import identity
from wengert.tape import arguments
from wengert.tape.gradient_tape import GradientTape, UnconnectedGradients


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: Any = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradients of the sum of `ys` by each of `xs`, inside a function; a tape does it anywhere.

    Tensors in `stop_gradients` count as constants.
    """
    mode = arguments.mode(unconnected_gradients)
    sources = _listed("gradients", xs)
    stops = [] if stop_gradients is None else _listed("gradients", stop_gradients)
    with GradientTape() as tape:
        targets, starts = _again(_listed("gradients", ys), sources, stops, tape)
    seeds = tape._seeds(targets, None if grad_ys is None else nest.flatten(grad_ys))
    found = tape._differentiate(targets, seeds, starts, release=True)
    if mode is UnconnectedGradients.NONE:
        return found
    return [zeros_like(x) if g is None else g for g, x in zip(found, starts, strict=True)]


def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: Any = "hessians",
) -> list[Any]:
    """The second derivatives of the sum of `ys` by each of `xs` alone, inside a function."""
    targets, sources = _listed("hessians", ys), _listed("hessians", xs)
    result = []
    for x in sources:
        with GradientTape() as outer, GradientTape() as inner:
            found, starts = _again(targets, [x], [], outer, inner)
            slope = inner.gradient(found, starts[0])
        result.append(outer.jacobian(slope, starts[0]))
    return result


def _listed(name: str, values: Any) -> list[Any]:
    if building() is None:
        raise at_site(
            RuntimeError(f"{name}: it works inside tf.function only. Use tf.GradientTape.")
        )
    found = nest.flatten(values)
    for x in found:
        if not isinstance(x, Value):
            raise at_site(
                TypeError(f"{name}: a tensor or variable was expected; got {describe(x)}.")
            )
    return found


def _again(
    targets: list[Any], sources: list[Any], stops: list[Any], *tapes: Any
) -> tuple[list[Any], list[Any]]:
    """The targets once more, computed from sources that the tapes follow; and those sources."""
    here: Any = building()
    starts = [_value(here, x) for x in sources]
    fixed = {here.value_of(x) for x in stops}
    wanted = [here.value_of(operand(y)) for y in targets]
    env: dict[int, Any] = {}
    made = {v for n in here.nodes for v in n.outputs}
    depends = _downstream(here, starts)
    for v in starts:
        if v not in env and (v in fixed or v not in made or v not in depends):
            env[v] = identity(here.tensor(v))
            for tape in tapes:
                tape.watch(env[v])
    _run(here, env, fixed)
    return [env.get(v, here.tensor(v)) for v in wanted], [env[v] for v in starts]


def _value(here: Builder, x: Any) -> int:
    """The value that stands for a source; of a variable, what it had when it was read first."""
    if not isinstance(x, Variable):
        return here.value_of(x)
    now = here.read(x)
    start = here.held[x._id].initial
    return now if start is None else start


def _downstream(here: Builder, starts: list[int]) -> set[int]:
    """The values that depend on some source, other than the source itself."""
    reached, found = set(starts), set()
    for node in here.nodes:
        if any(v in reached for v in node.reads()):
            reached.update(node.outputs)
            found.update(node.outputs)
    return found


def _run(here: Builder, env: dict[int, Any], fixed: set[int]) -> None:
    """Runs the nodes that depend on what `env` holds; effects, and Python, happen once only."""
    state: Any = get_state()
    for node in list(here.nodes):
        reads = node.reads()
        if not any(v in env for v in reads) or calls_python(node):
            continue
        given = {v: env[v] if v in env else _known(here, v) for v in reads}
        if node.op.name == "assigned":
            env[node.outputs[0]] = given[node.inputs[0]]
        elif not node.op.effect:
            with using(State(state.listeners, here, node.site)):
                run_node(here, node, given)
            env.update({v: given[v] for v in node.outputs if v not in fixed and v not in env})


def _known(here: Builder, value: int) -> Any:
    array = here.constants.get(value)
    return here.tensor(value) if array is None else wrap(array)
