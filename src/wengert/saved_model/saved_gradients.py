"""The gradient of a trace as a function of its own, kept beside it in a saved model.

It takes the arguments and the gradients of the results, and gives those of the arguments and of
the variables that the trace reads. What a loaded function is differentiated by is thus our own
gradient rules, as if its Python were there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.core.context import restoring
from wengert.core.convert import to_tensor
from wengert.core.sites import caller
from wengert.core.types import DType, SymbolicTensor, Tensor, TensorSpec, Variable
from wengert.functions.concrete import ConcreteFunction
from wengert.functions.signature import rebuild, spec_of
from wengert.functions.trace import Slot, Trace, trace
from wengert.ops.shaping import identity
from wengert.tape.gradient_tape import GradientTape


class Gradient(NamedTuple):
    """The function, and what its results are the gradients of, and its last arguments belong to."""

    concrete: ConcreteFunction
    leaves: list[int]
    variables: list[Variable]
    seeds: list[int]


@restoring
def gradient_of(concrete: ConcreteFunction) -> Gradient | None:
    """The gradient of a function; `None` where nothing in it has one."""
    forward = concrete._trace
    given, results = list(forward.specs), _results(forward)
    leaves = [k for k, s in enumerate(given) if _counts(s.dtype)]
    variables = [v for v in forward.reads if _counts(v.dtype)]
    seeds = [k for k, s in enumerate(results) if _counts(s.dtype)]
    if not seeds or not (leaves or variables):
        return None
    site, count = caller(), len(given)

    def body(*flat: Any) -> list[Tensor]:
        xs = [identity(x) for x in flat[:count]]
        sources = [*[xs[k] for k in leaves], *variables]
        with GradientTape() as tape:
            tape.watch(sources)
            result = _flat(forward, forward.call(xs, site))
        targets = [result[k] for k in seeds]
        return [to_tensor(g) for g in tape.gradient(targets, sources, list(flat[count:]), "zero")]

    pairs = [(f"x{k}", TensorSpec(s.shape, s.dtype, f"x{k}")) for k, s in enumerate(given)]
    pairs += [(f"g{k}", TensorSpec(results[k].shape, results[k].dtype, f"g{k}")) for k in seeds]
    name = f"{concrete._name}_gradient"
    made = trace(name, body, pairs, {}, spec_of, None, None, site)
    return Gradient(ConcreteFunction(name, made, pairs, {}), leaves, variables, seeds)


def _counts(dtype: DType) -> bool:
    return dtype.is_floating or dtype.is_complex


def _results(forward: Trace) -> list[TensorSpec]:
    specs = [forward.graph.specs[v] for v in forward.graph.outputs]
    return [TensorSpec(s.shape, s.dtype) for s in specs]


def _flat(forward: Trace, result: Any) -> list[SymbolicTensor]:
    """The tensors of a result by their numbers in the trace."""
    slots: list[int] = []
    rebuild(forward.skeleton, lambda slot, _: slots.append(slot.number), "", Slot)
    tensors: list[Any] = []
    rebuild(result, lambda x, _: tensors.append(x))
    value: list[Any] = [None] * len(forward.graph.outputs)
    for k, x in zip(slots, tensors, strict=True):
        value[k] = x
    return value
