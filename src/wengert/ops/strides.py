"""The one operation behind indexing with integers, slices, `...` and `newaxis`.

An index is kept as a hashable tuple: whole numbers, `None` for a new axis, `Ellipsis`, and slices
as `(start, stop, step)`. NumPy reads it as a view; `resolve` works out its positions for the
shape rule and the lowering.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    InvalidIndexError,
    JaxArray,
    Op,
    ShapeDtype,
    apply,
    as_value,
    fail_if,
    invalid,
    is_symbol,
    lax,
)

Index = tuple[Any, ...]
_Slice = builtins.slice
# Above this size a small slice is copied, so that it does not keep the whole tensor alive.
_LARGE = 16384


def native(index: Index) -> Any:
    """The index as NumPy wants it."""
    return tuple([_native(i) if type(i) is tuple else i for i in index])


def _native(part: tuple[int | tuple[int, ...] | None, ...]) -> Any:
    # A single number and a fourth entry mark what was unknown while tracing.
    return part[0] if len(part) == 1 else _Slice(*part[:3])


def _expanded(index: Index, x: ShapeDtype) -> list[Any]:
    """The index with its ellipsis spelled out, one part per axis of `x` and per new axis."""
    rank = len(x.shape or ())
    used = builtins.sum(i is not None and i is not Ellipsis for i in index)
    if builtins.sum(i is Ellipsis for i in index) > 1:
        raise invalid("strided_slice", "an index may hold `...` only once", x)
    if used > rank:
        raise invalid(
            "strided_slice",
            f"{used} indices are too many for rank {rank}",
            x,
            kind=InvalidIndexError,
        )
    full = [(None, None, None)] * (rank - used)
    at = index.index(Ellipsis) if Ellipsis in index else len(index)
    return [*index[:at], *full, *index[at + 1 :]]


def resolve(index: Index, x: ShapeDtype) -> tuple[list[Any], list[int | None]]:
    """(first, count, step) for each axis of `x`, unknown where its size is, and the result's shape."""
    places: list[Any] = []
    shape: list[int | None] = []
    for part in _expanded(index, x):
        if part is None:
            shape.append(1)
            continue
        axis = len(places)
        size = x.shape[axis]  # type: ignore[index]  # the rank is known here
        if type(part) is tuple and len(part) == 1:
            part = part[0]
        if type(part) is int or part is None:
            places.append((None, 1, 1) if part is None else position(part, axis, size, x))
            continue
        if part[2] == 0:
            raise invalid("strided_slice", "the step of a slice must not be 0", x)
        if size is None or (len(part) == 4 and None in part[3]):
            places.append((None, None, part[2]))
            shape.append(None)
            continue
        first, stop, step = _Slice(*part[:3]).indices(size)
        count = len(builtins.range(first, stop, step))
        places.append((first, count, step))
        shape.append(count)
    return places, shape


def position(i: int, axis: int, size: int | None, x: ShapeDtype) -> tuple[int | None, int, int]:
    if size is None:
        return (None, 1, 1)
    if not -size <= i < size:
        raise invalid(
            "strided_slice",
            f"index {i} is out of bounds for axis {axis} of size {size}",
            x,
            kind=InvalidIndexError,
            help=f"Use a value from {-size} to {size - 1}." if size else "The axis is empty.",
        )
    return (i % size, 1, 1)


def kernel(x: np.ndarray, index: Index) -> np.ndarray:
    out = x[native(index)]
    if type(out) is bytes:
        return np.array(out, object)
    return out.copy() if x.size > _LARGE and out.size * 8 < x.size else out


def infer(x: ShapeDtype, index: Index) -> ShapeDtype:
    return ShapeDtype(None if x.shape is None else tuple(resolve(index, x)[1]), x.dtype)


def _lower_symbolic(x: Any, index: Index) -> JaxArray:
    """The same where sizes are symbols, which JAX compares with numbers as far as it can."""
    axis = 0
    for part in _expanded(index, x):
        i = part[0] if type(part) is tuple and len(part) == 1 else part
        if type(i) is int and is_symbol(x.shape[axis]):
            size = as_value(x.shape[axis], np.int32)
            fail_if(lambda i=i, size=size: size <= (i if i >= 0 else -i - 1))
        axis += part is not None
    return x[native(index)]


def lower(x: Any, index: Index) -> JaxArray:
    if any(map(is_symbol, x.shape)):
        return _lower_symbolic(x, index)
    places, shape = resolve(index, ShapeDtype(x.shape, x.dtype))
    low = [first if step > 0 else first + (n - 1) * step for first, n, step in places]
    low = [a if n else 0 for a, (_, n, _) in zip(low, places, strict=True)]
    high = [
        a + (n - 1) * abs(step) + 1 if n else a for a, (_, n, step) in zip(low, places, strict=True)
    ]
    out = lax.slice(x, low, high, [abs(step) for _, _, step in places])
    return lax.reshape(lax.rev(out, _backwards(places)), shape)


def _backwards(places: list[tuple[int, ...]]) -> list[int]:
    return [axis for axis, (_, n, step) in enumerate(places) if step < 0 and n > 1]


def _grad_kernel(g: np.ndarray, index: Index, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    out[native(index)] = g
    return out


def _lower_grad(g: Any, index: Index, shape: tuple[int, ...]) -> JaxArray:
    places, _ = resolve(index, ShapeDtype(shape, g.dtype))
    g = lax.rev(lax.reshape(g, [n for _, n, _ in places]), _backwards(places))
    edges = []
    for size, (first, n, step) in zip(shape, places, strict=True):
        low = first if step > 0 else first + (n - 1) * step
        span = (n - 1) * abs(step) + 1
        edges.append((low, size - low - span, abs(step) - 1) if n else (size, 0, 0))
    return lax.pad(g, g.dtype.type(0), edges)


STRIDED_SLICE = Op(
    "strided_slice",
    "x",
    kernel=kernel,
    infer=infer,
    lower=lower,
    grad=lambda g, x_shape, index: apply(SLICE_GRAD, g, index=index, shape=x_shape),
    hazards=TAME,
    moves=True,
    contents=known_elements.by_kernel,
)

SLICE_GRAD = Op(
    "slice_grad",
    "g",
    kernel=_grad_kernel,
    infer=lambda g, index, shape: ShapeDtype(tuple(shape), g.dtype),
    lower=_lower_grad,
    grad=lambda h, index: apply(STRIDED_SLICE, h, index=index),
    moves=True,
)
