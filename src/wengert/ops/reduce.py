"""Reductions over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.lazy import lax
from wengert.core.op import Op, Spec
from wengert.ops.declare import in_float32, static
from wengert.ops.shaping import broadcast_to, reshape


def reduced(x: Spec, axis: tuple[int, ...], keepdims: bool) -> shapes.Shape:
    """The shape that is left when `axis` is reduced away."""
    if x.shape is None:
        return None
    if keepdims:
        return tuple(1 if i in axis else d for i, d in enumerate(x.shape))
    return tuple(d for i, d in enumerate(x.shape) if i not in axis)


def restore(g: Any, x_shape: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Spreads a gradient of a reduction back over the axes it summed away."""
    if not keepdims:
        kept = tuple(1 if i in axis else d for i, d in enumerate(x_shape))
        g = reshape(g, kept)
    return broadcast_to(g, x_shape)


def _lower_sum(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    out = lax.reduce(x, x.dtype.type(0), lax.add, axis)
    return lax.expand_dims(out, axis) if keepdims else out


REDUCE_SUM = Op(
    "reduce_sum",
    "x",
    kernel=in_float32(
        lambda x, axis, keepdims: np.add.reduce(x, axis, dtype=x.dtype, keepdims=keepdims)
    ),
    infer=lambda x, axis, keepdims: Spec(reduced(x, axis, keepdims), x.dtype),
    lower=_lower_sum,
    grad=restore,
    accepts=dtypes.NUMERIC,
)


def reduce_args(name: str, x: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """The tensor and its axes as sorted non-negative numbers."""
    x = operand(x)
    wanted = shapes.axes(name, static(name, axis), len(x.shape))
    return x, tuple(sorted(set(wanted)))


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """The sum over `axis`, or over everything."""
    x, axes = reduce_args("reduce_sum", input_tensor, axis)
    return apply(REDUCE_SUM, x, axis=axes, keepdims=bool(keepdims))
