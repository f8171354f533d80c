"""Sums, extremes, means and orders along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.types import Tensor, TensorLike
from wengert.experimental.numpy_api.arrays import (
    array,
    astype,
    default,
    dtype_of,
    flat,
    inexact,
    last_axis,
    promoted,
)
from wengert.experimental.numpy_api.elementwise import truth
from wengert.ops import public as tf


def _counted(a: Any, dtype: Any) -> Tensor:
    """Numbers in the dtype in which NumPy adds them: short whole ones in the default int."""
    a = array(a)
    if dtype is not None:
        return astype(a, dtype)
    if a.dtype.kind == "b" or (a.dtype.kind == "i" and a.dtype.size < 8):
        return astype(a, default(np.int64))
    if a.dtype.kind == "u" and a.dtype.size < 8:
        return astype(a, np.uint64)
    return a


def sum(a: TensorLike, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Sums along axes."""
    return tf.reduce_sum(_counted(a, dtype), axis, bool(keepdims))


def prod(a: TensorLike, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Products along axes."""
    return tf.reduce_prod(_counted(a, dtype), axis, bool(keepdims))


def mean(
    a: TensorLike, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = None
) -> Tensor:
    """Means along axes."""
    a = inexact(a) if dtype is None else astype(array(a), dtype)
    return tf.reduce_mean(a, axis, bool(keepdims))


def var(
    a: TensorLike, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0,
    keepdims: Any = None,
) -> Tensor:  # fmt: skip
    """Variances along axes; `ddof` is taken off the number of elements."""
    a = array(a)
    kind = None if dtype is None else dtype_of(dtype)
    x = inexact(a) if kind is None else astype(a, np.promote_types(kind, np.float16))
    gaps = x - tf.reduce_mean(x, axis, keepdims=True)
    squares = tf.square(tf.abs(gaps))
    if not ddof:
        result = tf.reduce_mean(squares, axis, bool(keepdims))
    else:
        total = tf.reduce_sum(squares, axis, bool(keepdims))
        count = tf.reduce_sum(tf.ones_like(squares), axis, bool(keepdims))
        result = total / (count - array(ddof, count.dtype))
    return result if kind is None else astype(result, kind)


def std(a: TensorLike, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Standard deviations along axes."""
    return tf.sqrt(var(a, axis, keepdims=keepdims))


def _extreme(name: str, on_truths: str) -> Any:
    def function(a: TensorLike, axis: Any = None, out: None = None, keepdims: Any = None) -> Tensor:
        a = array(a)
        op = on_truths if a.dtype.kind == "b" else name
        return getattr(tf, op)(a, axis, bool(keepdims))

    return function


max = amax = _extreme("reduce_max", "reduce_any")
min = amin = _extreme("reduce_min", "reduce_all")


def all(a: TensorLike, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether all numbers along axes are not 0."""
    return tf.reduce_all(truth(a), axis, bool(keepdims))


def any(a: TensorLike, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether a number along axes is not 0."""
    return tf.reduce_any(truth(a), axis, bool(keepdims))


def ptp(a: TensorLike, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The distance of the largest and the smallest number along axes."""
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


def count_nonzero(a: TensorLike, axis: Any = None) -> Tensor:
    """How many numbers along axes are not 0."""
    return tf.reduce_sum(astype(truth(a), np.int64), axis)


def argmax(a: TensorLike, axis: int | None = None) -> Tensor:
    """The place of the largest number along an axis, or among all."""
    a = array(a)
    return tf.argmax(flat(a), 0) if axis is None else tf.argmax(a, axis)


def argmin(a: TensorLike, axis: int | None = None) -> Tensor:
    """The place of the smallest number along an axis, or among all."""
    a = array(a)
    return tf.argmin(flat(a), 0) if axis is None else tf.argmin(a, axis)


def _running(op: str) -> Any:
    def function(a: TensorLike, axis: int | None = None, dtype: Any = None) -> Tensor:
        a = _counted(a, dtype)
        return getattr(tf, op)(flat(a), 0) if axis is None else getattr(tf, op)(a, axis)

    return function


cumsum, cumprod = _running("cumsum"), _running("cumprod")


def _without_nan(a: TensorLike, fill: int) -> Tensor:
    a = array(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return a
    return tf.where(tf.not_equal(a, a), array(fill, a.dtype), a)


def nansum(a: TensorLike, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sums along axes, of what is not NaN."""
    return sum(_without_nan(a, 0), axis, dtype, keepdims)


def nanprod(a: TensorLike, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Products along axes, of what is not NaN."""
    return prod(_without_nan(a, 1), axis, dtype, keepdims)


def nanmean(a: TensorLike, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """Means along axes, of what is not NaN."""
    a = array(a)
    if not a.dtype.is_floating:
        return mean(a, axis, dtype, keepdims=keepdims)
    total = nansum(a, axis, dtype, bool(keepdims))
    there = astype(tf.equal(a, a), total.dtype)
    return total / tf.reduce_sum(there, axis, bool(keepdims))


def average(
    a: TensorLike,
    axis: int | None = None,
    weights: TensorLike | None = None,
    returned: bool = False,
) -> Any:
    """Means along an axis, each number with a weight."""
    a = inexact(a)
    if weights is None:
        result = tf.reduce_mean(a, axis)
        count = tf.reduce_sum(tf.ones_like(a), axis)
        return (result, count) if returned else result
    x, w = promoted(a, inexact(weights))
    if w.shape.rank == 1 and axis is not None and (x.shape.rank or 1) > 1:
        shape = [1] * (x.shape.rank or 1)
        shape[axis] = -1
        w = tf.reshape(w, shape)
    w = w + tf.zeros_like(x)
    total = tf.reduce_sum(w, axis)
    result = tf.reduce_sum(x * w, axis) / total
    return (result, total) if returned else result


def sort(
    a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None
) -> Tensor:
    """The numbers in order along an axis."""
    a = array(a)
    return tf.sort(flat(a), 0) if axis is None else tf.sort(a, last_axis(axis, a))


def argsort(
    a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None
) -> Tensor:
    """The places from which `sort` takes its numbers."""
    a = array(a)
    row, at = (flat(a), 0) if axis is None else (a, last_axis(axis, a))
    return astype(tf.argsort(row, at, stable=True), np.int64)
