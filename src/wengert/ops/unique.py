"""Distinct elements, in the order of their first appearance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.ops.declare import (
    HALF,
    DType,
    DTypeLike,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    check_axis,
    dtypes,
    must_fit,
    operand,
    require,
    static_tuple,
)
from wengert.ops.sorting import choose_type


class Unique(NamedTuple):
    """The distinct elements, and for each element the place of its like among them."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """`Unique`, and how often each distinct element occurs."""

    y: Any
    idx: Any
    count: Any


def _kernel(x: np.ndarray, dtype: DType) -> tuple[np.ndarray, ...]:
    must_fit(x.ndim == 1)
    if x.dtype.kind in "iu" and x.size > 256:
        low, high = int(x.min()), int(x.max())
        if high - low < 4 * x.size:
            return _by_table(x, low, high - low + 1, dtype)
    keys = x.astype(np.float32) if x.dtype.num in HALF else x
    _, first, place, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.empty(order.size, dtype.np)
    rank[order] = np.arange(order.size)
    return x[first[order]], rank[place], counts[order].astype(dtype.np)


def _by_table(x: np.ndarray, low: int, width: int, dtype: DType) -> tuple[np.ndarray, ...]:
    """The same for whole numbers of a small range, without sorting."""
    places = (x.astype(np.int64) if x.dtype.itemsize < 8 else x) - x.dtype.type(low)
    places = places.astype(np.int64, copy=False)
    first = np.full(width, x.size, np.int64)
    first[places[::-1]] = np.arange(x.size - 1, -1, -1)  # what is written last stays
    starts = np.sort(first[first < x.size])
    rank = np.empty(width, dtype.np)
    rank[places[starts]] = np.arange(starts.size)
    counts = np.bincount(places, minlength=width)[places[starts]]
    return x[starts], rank[places], counts.astype(dtype.np)


def _infer(x: ShapeDtype, dtype: DType) -> tuple[ShapeDtype, ...]:
    require(
        x.shape is None or len(x.shape) == 1,
        "unique",
        "a vector is wanted",
        x,
        help="Flatten it with tf.reshape(x, [-1]).",
    )
    return (
        ShapeDtype((None,), x.dtype),
        ShapeDtype(x.shape or (None,), dtype),
        ShapeDtype((None,), dtype),
    )


# How many elements differ depends on the data, so XLA has no such operation.
UNIQUE = Op("unique", "x", kernel=_kernel, infer=_infer, lower=None, grad=None, outputs=3)


def _kernel_slices(x: np.ndarray, axis: int, dtype: DType) -> tuple[np.ndarray, ...]:
    keys = x.astype(np.float32) if x.dtype.num in HALF else x
    _, first, place, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    order = np.argsort(first)
    rank = np.empty(order.size, dtype.np)
    rank[order] = np.arange(order.size)
    result = np.take(x, first[order], axis)
    return result, rank[place.reshape(-1)], counts[order].astype(dtype.np)


def _infer_slices(x: ShapeDtype, axis: int, dtype: DType) -> tuple[ShapeDtype, ...]:
    if x.shape is None:
        return ShapeDtype(None, x.dtype), ShapeDtype((None,), dtype), ShapeDtype((None,), dtype)
    shape = (*x.shape[:axis], None, *x.shape[axis + 1 :])
    return (
        ShapeDtype(shape, x.dtype),
        ShapeDtype((x.shape[axis],), dtype),
        ShapeDtype((None,), dtype),
    )


UNIQUE_SLICES = Op(
    "unique_slices",
    "x",
    kernel=_kernel_slices,
    infer=_infer_slices,
    lower=None,
    grad=None,
    outputs=3,
)


def unique_slices(
    name: str, x: Any, axis: Any, out_idx: DTypeLike = dtypes.int32
) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct slices along an axis, the place of each slice among them, and their counts."""
    x = operand(x)
    kind = choose_type(name, "out_idx", out_idx, dtypes.int32, dtypes.int64)
    places = static_tuple(name, axis, "axis")
    require(len(places) == 1, name, f"`axis` must be one number; got {list(places)}")
    (place,) = places
    return apply(UNIQUE_SLICES, x, axis=check_axis(name, place, x._array.ndim), dtype=kind)


def _find(name: str, x: Any, out_idx: DType | DTypeLike) -> tuple[Tensor, Tensor, Tensor]:
    x = operand(x)
    kind = choose_type(name, "out_idx", out_idx, dtypes.int32, dtypes.int64)
    return apply(UNIQUE, x, dtype=kind)


def unique(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct elements of a vector and each element's place among them; NaNs all differ."""
    return Unique(*_find("unique", x, out_idx)[:2])


def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """`unique` with the number of times each distinct element occurs."""
    return UniqueWithCounts(*_find("unique_with_counts", x, out_idx))
