"""`tf.gradients` and `tf.hessians`: derivatives of what a trace has computed already.

There is no tape on which it was recorded. So what leads from the sources to the targets is run
again under one, in this graph and those around it, with the sources under new names; equal work is
shared when the graph is finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe
from wengert.core.tensor import Tensor, Value
from wengert.functions.recompute import Keys
from wengert.graph.builder import building
from wengert.ops.create import zeros_like
from wengert.ops.shaping import identity
from wengert.tape import arguments
from wengert.tape.gradient_tape import GradientTape, UnconnectedGradients

if TYPE_CHECKING:
    from wengert.core.types import IndexedSlices, SymbolicTensor, TensorLike
    from wengert.functions.recompute import ConstantStep, NodeStep


def gradients(
    ys: TensorLike,
    xs: TensorLike,
    grad_ys: TensorLike | None = None,
    name: str | None = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: TensorLike | None = None,
    unconnected_gradients: str | UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Tensor] | list[Tensor | IndexedSlices | None]:
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
    ys: TensorLike,
    xs: TensorLike,
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


def _listed(name: str, values: TensorLike) -> list[Value]:
    if building() is None:
        raise at_site(
            RuntimeError(f"{name}: it works inside tf.function only. Use tf.GradientTape.")
        )
    leaves = nest.flatten(values)
    for x in leaves:
        if not isinstance(x, Value):
            raise at_site(
                TypeError(f"{name}: a tensor or variable was expected; got {describe(x)}.")
            )
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
