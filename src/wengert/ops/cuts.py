"""`tf.slice` and `tf.strided_slice`: blocks of tensors, also where the graph decides which."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.ops.declare import (
    Dim,
    InvalidIndexError,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    executing_eagerly,
    fail_if,
    fallback,
    invalid,
    is_open,
    lax,
    negative,
    operand,
    require,
    static_int,
    static_tuple,
    with_length,
)
from wengert.ops.slicing import marked, writable
from wengert.ops.strides import SLICE_GRAD, STRIDED_SLICE, Index, infer, kernel, lower

if TYPE_CHECKING:
    from wengert.ops.slicing import VariableSlice


_Slice = builtins.slice


def slice(
    input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None
) -> Tensor:
    """The block of the given size that starts at `begin`; a size of -1 takes all that is left."""
    try:
        x = operand(input_)
        dims = x._array.shape
        begin, size = with_length(begin, len(dims)), with_length(size, len(dims))
        starts, counts = static_tuple("slice", begin, "begin"), static_tuple("slice", size, "size")
        if not len(starts) == len(counts) == len(dims):
            raise invalid("slice", f"`begin` and `size` need {len(dims)} numbers each", x)
        if not executing_eagerly() and is_open((starts, counts, dims)):
            return _traced_slice(x, begin, starts, counts)
        return apply(STRIDED_SLICE, x, index=_part_index(x, dims, starts, counts))
    except Exception as error:
        return fallback(slice, error, (input_, begin, size))


def _part_index(
    x: Tensor | ShapeDtype,
    dims: tuple[int, ...] | tuple[int | None, ...],
    starts: Any,
    counts: tuple[int, ...],
) -> Index:
    """The index of a block; raises where it does not lie within the sizes."""
    for axis, (a, n, d) in enumerate(zip(starts, counts, dims, strict=True)):
        if not 0 <= a <= d or not -1 <= n <= d - a:
            raise invalid(
                "slice",
                f"`begin` {a} and `size` {n} do not fit axis {axis} of size {d}",
                x,
                kind=InvalidIndexError,
            )
    return tuple((a, None if n == -1 else a + n, None) for a, n in zip(starts, counts, strict=True))


def _infer_part(x: ShapeDtype, begin: tuple[int | None, ...], size: tuple[int, ...]) -> ShapeDtype:
    if x.shape is not None and None not in (*x.shape, *begin, *size):
        return infer(x, _part_index(x, x.shape, begin, size))
    ends = x.shape or (None,) * len(size)
    return ShapeDtype(tuple(map(_part_size, ends, begin, size)), x.dtype)


def _part_size(end: int | None, begin: int | None, size: int | None) -> int | None:
    if size != -1:
        return size
    return None if end is None or begin is None else end - begin


def _part_kernel(x: np.ndarray, begin: tuple[int, ...], size: tuple[int, ...]) -> np.ndarray:
    return kernel(x, _part_index(ShapeDtype(x.shape, dtypes.of(x)), x.shape, begin, size))


def _part_grad(g: SymbolicTensor, x_shape: tuple[Dim, ...], begin: tuple[int, ...]) -> Tensor:
    index = tuple(marked(a, a + n, None) for a, n in zip(begin, g._array.shape, strict=True))
    return apply(SLICE_GRAD, g, index=index, shape=x_shape)


# `slice` whose start and sizes only the running function knows.
PART = Op(
    "slice",
    "x",
    kernel=_part_kernel,
    infer=_infer_part,
    lower=lambda x, begin, size: lower(x, _part_index(x, x.shape, begin, size)),
    grad=_part_grad,
    register=False,
)


def _traced_slice(
    x: SymbolicTensor | Value,
    begin: TensorLike,
    starts: tuple[int | Dim, ...],
    counts: tuple[int, ...],
) -> Tensor:
    """`slice` in a trace: with fixed sizes the start may depend on data, also in XLA."""
    if not is_open(counts) and not any(map(negative, counts)):
        return apply(BLOCK, x, operand(begin), size=tuple(counts))
    return apply(PART, x, begin=starts, size=counts)


def _lower_block(x: JaxArray, begin: JaxArray, size: tuple[int, ...]) -> JaxArray:
    room = np.asarray([d - n for d, n in zip(x.shape, size, strict=True)], begin.dtype)
    fail_if(lambda: (begin < 0) | (begin > room))
    if any(type(d) is int and d < n for d, n in zip(x.shape, size, strict=True)):
        return lax.full(size, 0, x.dtype)  # never reached, or fails
    return lax.dynamic_slice(x, [begin[k] for k in builtins.range(x.ndim)], size)


def _block_grad_kernel(g: np.ndarray, begin: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    out[tuple(_Slice(a, a + n) for a, n in zip(begin.tolist(), g.shape, strict=True))] = g
    return out


def _lower_block_grad(g: JaxArray, begin: JaxArray, shape: tuple[int, ...]) -> JaxArray:
    if any(d < n for d, n in zip(shape, g.shape, strict=True)):
        return lax.full(shape, 0, g.dtype)
    starts = [begin[k] for k in builtins.range(len(shape))]
    return lax.dynamic_update_slice(lax.full(shape, 0, g.dtype), g, starts)


# A block of fixed size at a place that only the running program knows, and its gradient.
BLOCK = Op(
    "block",
    "x begin",
    kernel=lambda x, begin, size: _part_kernel(x, tuple(begin.tolist()), size),
    infer=lambda x, begin, size: ShapeDtype(tuple(size), x.dtype),
    lower=_lower_block,
    grad=(lambda g, begin, x_shape: apply(BLOCK_GRAD, g, begin, shape=x_shape), None),
    match=(),
    register=False,
)
BLOCK_GRAD = Op(
    "block_grad",
    "g begin",
    kernel=_block_grad_kernel,
    infer=lambda g, begin, shape: ShapeDtype(tuple(shape), g.dtype),
    lower=_lower_block_grad,
    grad=(lambda h, begin, g_shape: apply(BLOCK, h, begin, size=g_shape), None),
    match=(),
    register=False,
)


def _mask(what: str, value: int) -> int:
    """The bits of a mask; none for `None`. TensorFlow cuts fractions off."""
    if value is None or (type(value) is float and math.isfinite(value)):
        return int(value or 0)
    return int(static_int("strided_slice", value, what))


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor | VariableSlice:
    """`input_[begin:end:strides]` for each axis; bit i of a mask changes what entry i means.

    The masks, strongest first: an ellipsis, a new axis, a single index (`begin`) without its
    axis, and bounds that are left open.
    """
    x = operand(input_)
    starts = static_tuple("strided_slice", begin, "begin")
    stops = static_tuple("strided_slice", end, "end")
    steps = (
        (1,) * len(starts) if strides is None else static_tuple("strided_slice", strides, "strides")
    )
    require(
        len(starts) == len(stops) == len(steps),
        "strided_slice",
        "`begin`, `end` and `strides` must be equally long",
        x,
    )
    begin_mask, end_mask = _mask("begin_mask", begin_mask), _mask("end_mask", end_mask)
    ellipsis_mask, new_axis_mask, shrink_axis_mask = (
        _mask("ellipsis_mask", ellipsis_mask), _mask("new_axis_mask", new_axis_mask),
        _mask("shrink_axis_mask", shrink_axis_mask),
    )  # fmt: skip
    index: list[Any] = []
    for i, (a, b, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            require(step > 0, "strided_slice", "a single index needs a stride of 1", x)
            index.append((a,) if type(a) is Dim else a)
        else:
            first, last = None if begin_mask & bit else a, None if end_mask & bit else b
            index.append(marked(first, last, step))
    out = apply(STRIDED_SLICE, x, index=tuple(index))
    return out if var is None else writable(out, var, tuple(index))
