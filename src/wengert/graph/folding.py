"""What is worked out while tracing and becomes no node: operations on small constants.

Only what no tape outside can follow is a constant. The builder does the work; here it is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wengert.core import dims, dtypes, shapes
from wengert.core.types import Op, RawSite, ShapeDtype, Tensor, Value

if TYPE_CHECKING:
    from wengert.core.variable_aliases import Alias
    from wengert.graph.builder import Builder

# Constants up to this many elements are worked out while tracing; larger ones are made when run.
SMALL = 4096


class Folded(NamedTuple):
    """An operation on constants that was worked out while tracing; `tf.gradients` runs it again."""

    op: Op
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attrs: dict[str, Any]
    site: RawSite | None


def differentiable(tensors: tuple[Tensor, ...]) -> bool:
    """Whether a gradient by one of these constants may be asked for."""
    return any(x._id and x._array.dtype.num in dtypes.INEXACT for x in tensors)


def is_known(graph: Builder, inputs: tuple[Value | Alias, ...]) -> bool:
    """Whether all inputs are constants made during this trace, in this graph or around it."""
    for x in inputs:
        if type(x) is not Tensor:
            return False
        if differentiable((x,)) and (x._id <= graph.start or graph.follows(x)):
            return False
    return True


def is_small(graph: Builder, op: Op, inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> bool:
    """Whether neither inputs nor results are too large to be worked out while tracing.

    Nor may a result that has a gradient come from a constant of an enclosing graph: the node that
    holds this graph must read that constant, so that the gradient leads there.
    """
    if any(x._array.size > SMALL for x in inputs) or any(map(dims.is_open, attrs.values())):
        return False
    result = op.infer(*[ShapeDtype(x._array.shape, x.dtype) for x in inputs], **attrs)
    outer = any(x._id <= graph.begin and differentiable((x,)) for x in inputs)
    for spec in (result,) if op.outputs == 1 else result:
        count = shapes.size(spec.shape)
        if count is not None and count > SMALL:
            return False
        if outer and spec.dtype.np.num in dtypes.INEXACT:
            return False
    return True
