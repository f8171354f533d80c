"""Reductions over segments: rows that carry the same number are combined into one.

`segment_*` want sorted numbers and make as many rows as the last one says; `unsorted_segment_*`
take any order, are told how many rows to make, and drop rows with negative numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from wengert.ops.declare import (
    Dim,
    DType,
    InvalidIndexError,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    fail_if,
    in_float32,
    known_unequal,
    lax,
    lower_in_float32,
    negative,
    operand,
    require,
    require_dtype,
    static,
    tf,
    with_fallback,
)
from wengert.ops.gather import add_rows
from wengert.ops.reduce import highest, lowest
from wengert.ops.spread import other_rows, spread

# Rows of so many numbers are combined segment by segment.
_WIDE = 64


def _combine(
    ufunc: np.ufunc, x: np.ndarray, ids: np.ndarray, num: int, start: int | np.generic
) -> np.ndarray:
    """Combines rows into `num` rows of `start`; those with negative numbers are left out."""
    rest = x.shape[ids.ndim :]
    width = math.prod(rest)
    x, ids = x.reshape(ids.size, width), ids.ravel()
    if ids.size and ids.min() < 0:
        x, ids = x[ids >= 0], ids[ids >= 0]
    if ufunc is np.add:
        return add_rows(ids, x, num).reshape(num, *rest)
    out = np.full((num, width), start, x.dtype)
    if x.size:
        if (ids[1:] < ids[:-1]).any():
            order = np.argsort(ids, kind="stable")
            x, ids = x[order], ids[order]
        begins = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
        if width < _WIDE:
            out[ids[begins]] = ufunc.reduceat(x, begins, 0, dtype=x.dtype)
        else:  # NumPy would take the numbers of each column one by one
            ends = [*begins[1:].tolist(), len(x)]
            for number, a, b in zip(ids[begins].tolist(), begins.tolist(), ends, strict=True):
                ufunc.reduce(x[a:b], 0, dtype=x.dtype, out=out[number])
        ufunc(out, out.dtype.type(start), out=out)  # which takes part, too: the lowest is not -inf
    return out.reshape(num, *rest)


def _check_range(name: str, ids: np.ndarray, num: int) -> None:
    require(
        not ids.size or ids.max() < num,
        name,
        lambda: f"segment {ids.max()} is outside [0, {num})",
        kind=InvalidIndexError,
        help="Raise `num_segments`; negative numbers drop a row.",
    )


def _check_sorted(name: str, ids: np.ndarray) -> None:
    require(
        not ids.size or (ids[0] >= 0 and not (ids[1:] < ids[:-1]).any()),
        name,
        "`segment_ids` must not be negative and must not decrease",
        help=f"Sort them, or use tf.math.unsorted_{name}.",
    )


def _infer_unsorted(name: str, x: ShapeDtype, ids: ShapeDtype, num: int) -> ShapeDtype:
    if x.shape is None or ids.shape is None:
        return ShapeDtype(None, x.dtype)
    lead = x.shape[: len(ids.shape)]
    require(
        len(lead) >= len(ids.shape)
        and all(not known_unequal(a, b) for a, b in zip(lead, ids.shape, strict=True)),
        name,
        "`data` must begin with the sizes of `segment_ids`",
        x,
        ids,
    )
    return ShapeDtype((num, *x.shape[len(ids.shape) :]), x.dtype)


def _infer_sorted(name: str, x: ShapeDtype, ids: ShapeDtype) -> ShapeDtype:
    require(ids.shape is None or len(ids.shape) == 1, name, "`segment_ids` must be a vector", ids)
    if x.shape is None or ids.shape is None:
        return ShapeDtype(None, x.dtype)
    require(
        x.shape and (not known_unequal(x.shape[0], ids.shape[0])),
        name,
        "`segment_ids` must have a number for each row of `data`",
        x,
        ids,
    )
    return ShapeDtype((None, *x.shape[1:]), x.dtype)


def _spec(x: np.ndarray) -> ShapeDtype:
    return ShapeDtype(x.shape, dtypes.of(x))


def _scatter(
    x: JaxArray | np.ndarray, ids: JaxArray | np.ndarray, out: JaxArray, combine: str
) -> JaxArray:
    rows = lax.reshape(x, (ids.size, *x.shape[ids.ndim :]))
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, rows.ndim)),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
    )
    places = lax.reshape(ids, (ids.size, 1))
    return getattr(lax, combine)(out, places, rows, numbers, mode="drop")


def _unsorted(
    name: str,
    ufunc: np.ufunc,
    start: Callable[[np.dtype], Any],
    combine: str,
    grad: Callable[..., Any],
    accepts: frozenset[int],
) -> Op:
    def kernel(x: np.ndarray, ids: np.ndarray, num: int) -> np.ndarray:
        _infer_unsorted(name, _spec(x), _spec(ids), num)
        _check_range(name, ids, num)
        return _combine(ufunc, x, ids, num, start(x.dtype))

    def lower(x: JaxArray, ids: JaxArray, num: int) -> JaxArray:
        fail_if(lambda: ids >= num)
        shape = (num, *x.shape[ids.ndim :])
        return _scatter(x, ids, lax.full(shape, start(x.dtype), x.dtype), combine)

    return Op(
        name,
        "x ids",
        kernel=in_float32(kernel) if combine in ("scatter_add", "scatter_mul") else kernel,
        infer=functools.partial(_infer_unsorted, name),
        lower=lower_in_float32(lower) if combine in ("scatter_add", "scatter_mul") else lower,
        grad=(grad, None),
        accepts=accepts,
        match=(),
    )


def _sorted(
    name: str,
    ufunc: np.ufunc,
    start: Callable[[np.dtype], Any],
    gap: int,
    grad: Callable[..., Any],
    accepts: frozenset[int],
) -> Op:
    def kernel(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        _infer_sorted(name, _spec(x), _spec(ids))
        _check_sorted(name, ids)
        num = int(ids[-1]) + 1 if ids.size else 0
        out = _combine(ufunc, x, ids, num, start(x.dtype))
        out[np.bincount(ids, minlength=num) == 0] = gap
        return out

    # How many rows come out depends on the data, so XLA has no such operation.
    return Op(
        name,
        "x ids",
        kernel=in_float32(kernel),
        infer=functools.partial(_infer_sorted, name),
        lower=None,
        grad=(grad, None),
        accepts=accepts,
        match=(),
    )


def _sum_grad(g: Tensor, ids: Tensor) -> Tensor:
    return spread(g, ids)


def _prod_grad(
    g: Tensor,
    x: Tensor,
    ids: Tensor,
    x_shape: tuple[int | Dim, ...],
    ids_shape: tuple[int | Dim, ...],
) -> Tensor:
    return spread(g, ids) * other_rows(x, ids, x_shape, ids_shape)


def _tie_grad(g: Tensor, x: Tensor, ids: Tensor, out: Tensor) -> Tensor:
    """Rows that tie for the extreme of their segment share its gradient equally."""
    hit = tf.equal(x, spread(out, ids))
    ties = apply(UNSORTED_SUM, tf.cast(hit, x.dtype), ids, num=out._array.shape[0])
    return tf.where(hit, spread(g / tf.maximum(ties, 1), ids), tf.zeros_like(x))


def _counts(ids: Tensor, num: int, dtype: DType, rank: int) -> Tensor:
    """The number of rows of each segment, at least 1, in a shape that divides the rows."""
    result = apply(UNSORTED_SUM, tf.ones_like(ids, dtype.real_dtype), ids, num=num)
    return tf.cast(tf.reshape(tf.maximum(result, 1), (num,) + (1,) * rank), dtype)


def _mean_grad(g: Tensor, ids: Tensor) -> Tensor:
    return spread(g / _counts(ids, g._array.shape[0], g.dtype, g._array.ndim - 1), ids)


def _least(dtype: np.dtype) -> int | np.generic:
    return np.iinfo(dtype).min if dtype.kind in "iu" else ml_dtypes.finfo(dtype).min


def _most(dtype: np.dtype) -> int | np.generic:
    return np.iinfo(dtype).max if dtype.kind in "iu" else ml_dtypes.finfo(dtype).max


UNSORTED_SUM = _unsorted(
    "unsorted_segment_sum", np.add, lambda d: 0, "scatter_add", _sum_grad, dtypes.NUMERIC
)
UNSORTED_PROD = _unsorted(
    "unsorted_segment_prod", np.multiply, lambda d: 1, "scatter_mul", _prod_grad, dtypes.NUMERIC
)
UNSORTED_MAX = _unsorted(
    "unsorted_segment_max", np.maximum, _least, "scatter_max", _tie_grad, dtypes.REAL
)
UNSORTED_MIN = _unsorted(
    "unsorted_segment_min", np.minimum, _most, "scatter_min", _tie_grad, dtypes.REAL
)
SEGMENT_SUM = _sorted("segment_sum", np.add, lambda d: 0, 0, _sum_grad, dtypes.NUMERIC)
SEGMENT_PROD = _sorted("segment_prod", np.multiply, lambda d: 1, 1, _prod_grad, dtypes.NUMERIC)
SEGMENT_MAX = _sorted("segment_max", np.maximum, lowest, 0, _tie_grad, dtypes.REAL)
SEGMENT_MIN = _sorted("segment_min", np.minimum, highest, 0, _tie_grad, dtypes.REAL)


def _mean_kernel(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    total = SEGMENT_SUM.kernel(x, ids)
    rows = np.maximum(np.bincount(ids, minlength=total.shape[0]), 1)
    rows = rows.reshape(-1, *(1,) * (x.ndim - 1))
    if x.dtype.kind in "iu":
        return (np.sign(total) * (np.abs(total) // rows.astype(x.dtype))).astype(x.dtype)
    return total / rows.astype(x.dtype)


SEGMENT_MEAN = Op(
    "segment_mean",
    "x ids",
    kernel=in_float32(_mean_kernel),
    infer=functools.partial(_infer_sorted, "segment_mean"),
    lower=None,
    grad=(_mean_grad, None),
    accepts=dtypes.NUMERIC,
    match=(),
)


def _inputs(name: str, data: TensorLike, segment_ids: Any) -> tuple[Any, Any]:
    x, ids = operand(data), operand(segment_ids)
    if ids.dtype is dtypes.int16 and name.startswith("unsorted"):
        ids = tf.cast(ids, dtypes.int32)
    require_dtype(
        ids.dtype in (dtypes.int32, dtypes.int64), name, "`segment_ids` must be int32 or int64", ids
    )
    return x, ids


def _run_sorted(op: Op, data: TensorLike, segment_ids: TensorLike) -> Tensor:
    return apply(op, *_inputs(op.name, data, segment_ids))


def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Sums rows with the same number; `segment_ids` are sorted, a number left out gives 0."""
    return _run_sorted(SEGMENT_SUM, data, segment_ids)


def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The mean of rows with the same number; `segment_ids` are sorted, gaps give 0."""
    return _run_sorted(SEGMENT_MEAN, data, segment_ids)


def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The product of rows with the same number; `segment_ids` are sorted, gaps give 1."""
    return _run_sorted(SEGMENT_PROD, data, segment_ids)


def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The largest of rows with the same number; NaN wins, gaps give 0, ties share the gradient."""
    return _run_sorted(SEGMENT_MAX, data, segment_ids)


def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The smallest of rows with the same number; NaN wins, gaps give 0, ties share the gradient."""
    return _run_sorted(SEGMENT_MIN, data, segment_ids)


def _segments(name: str, num_segments: TensorLike) -> Any:
    num = static(name, num_segments)
    require(
        isinstance(num, int | Dim) and not negative(num),
        name,
        f"`num_segments` must be one number, not negative; got {num}",
    )
    return num


def _run_unsorted(
    op: Op, data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike
) -> Tensor:
    x, ids = _inputs(op.name, data, segment_ids)
    return apply(op, x, ids, num=_segments(op.name, num_segments))


@with_fallback
def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Sums rows with the same number; negative numbers drop a row, an empty segment gives 0."""
    return _run_unsorted(UNSORTED_SUM, data, segment_ids, num_segments)


@with_fallback
def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The product of rows with the same number; an empty segment gives 1."""
    return _run_unsorted(UNSORTED_PROD, data, segment_ids, num_segments)


@with_fallback
def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The largest of rows with the same number; NaN wins, nothing gives the dtype's minimum."""
    return _run_unsorted(UNSORTED_MAX, data, segment_ids, num_segments)


@with_fallback
def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The smallest of rows with the same number; NaN wins, nothing gives the dtype's maximum."""
    return _run_unsorted(UNSORTED_MIN, data, segment_ids, num_segments)


def _sum_and_counts(
    name: str, data: TensorLike, segment_ids: TensorLike, num_segments: Any
) -> tuple[Tensor, Tensor]:
    x, ids = _inputs(name, data, segment_ids)
    num = _segments(name, num_segments)
    total = _run_unsorted(UNSORTED_SUM, x, ids, num)
    return total, _counts(ids, num, x.dtype, total._array.ndim - 1)


@with_fallback
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The mean of rows with the same number; an empty segment gives 0."""
    return tf.truediv(*_sum_and_counts("unsorted_segment_mean", data, segment_ids, num_segments))


@with_fallback
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of rows with the same number over the root of their count; an empty one gives 0."""
    name = "unsorted_segment_sqrt_n"
    total, counts = _sum_and_counts(name, data, segment_ids, num_segments)
    return total / tf.sqrt(counts)
