"""What is worked out while tracing and becomes no node: operations on small constants.

Only what no tape outside can follow is a constant. The builder does the work; here it is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import dims, dtypes, shapes
from wengert.core.op import Op, Spec
from wengert.core.tensor import Tensor

if TYPE_CHECKING:
    from wengert.graph.builder import Builder

# Constants up to this many elements are worked out while tracing; larger ones are made when run.
SMALL = 4096
# What depends only on a shape that is known is known too.
FILLS = {"zeros_like": 0, "ones_like": 1}


def is_known(graph: Builder, inputs: tuple[Any, ...]) -> bool:
    """Whether all inputs are constants made during this trace."""
    for x in inputs:
        if type(x) is not Tensor:
            return False
        differentiable = x._id and x._array.dtype.num in dtypes.INEXACT
        if differentiable and (x._id <= graph.start or graph.follows(x)):
            return False
    return True


def is_small(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
    """Whether neither inputs nor results are too large to be worked out while tracing."""
    if any(x._array.size > SMALL for x in inputs) or any(map(dims.is_open, attrs.values())):
        return False
    found = op.infer(*[Spec(x._array.shape, x.dtype) for x in inputs], **attrs)
    for spec in (found,) if op.outputs == 1 else found:
        count = shapes.size(spec.shape)
        if count is not None and count > SMALL:
            return False
    return True
