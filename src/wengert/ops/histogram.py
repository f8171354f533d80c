"""Counting: how often numbers occur, histograms, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import (
    Axis,
    DType,
    DTypeLike,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    executing_eagerly,
    fail_if,
    invalid,
    lax,
    must_fit,
    negative,
    operand,
    require,
    require_dtype,
    shapes,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.shape_checks import sized
from wengert.ops.sizes import at_least
from wengert.ops.sorting import choose_type
from wengert.ops.threads import BLOCK, blocks_of, share

_COUNTS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def _length(top: int, least: int | None, most: int | None) -> int:
    size = max(top + 1, least or 0)
    return size if most is None else min(size, most)


# Fewer numbers are as quickly added one by one.
_MANY = 4096


def _count(x: np.ndarray, w: np.ndarray | None, size: int, dtype: DType) -> np.ndarray:
    inside = x < size
    if w is None and dtype.is_integer and x.size >= _MANY and size <= BLOCK:
        few = x if inside.all() else x[inside]
        total = np.zeros(size, np.int64)
        for part in blocks_of(few.size):  # which NumPy makes a copy of
            total += np.bincount(few[part], minlength=size)
        return total.astype(dtype.np)
    out = np.zeros(size, dtype.np)
    np.add.at(out, x[inside], dtype.np.type(1) if w is None else w[inside])
    return out


def _bincount_kernel(
    *xs: np.ndarray, least: int | None, most: int | None, dtype: DType, rows: bool, binary: bool
) -> np.ndarray:
    x = xs[0]
    must_fit(not any(w.shape != x.shape for w in xs[1:]))
    require(
        not x.size or x.min() >= 0,
        "bincount",
        lambda: f"the numbers must not be negative; got {x.min()}",
    )
    w = xs[1] if len(xs) > 1 else None
    size = _length(int(x.max()) if x.size else -1, least, most)
    if rows and x.ndim == 2:
        parts = [_count(r, None if w is None else w[i], size, dtype) for i, r in enumerate(x)]
        out = np.stack(parts) if parts else np.zeros((0, size), dtype.np)
    else:
        out = _count(x.ravel(), None if w is None else w.ravel(), size, dtype)
    return np.minimum(out, 1) if binary else out


def _infer_bincount(
    *xs: ShapeDtype, least: int | None, most: int | None, dtype: DType, rows: bool, binary: bool
) -> ShapeDtype:
    size = most if least == most else None
    x = xs[0]
    require(
        all(shapes.compatible(x.shape, w.shape) for w in xs[1:]),
        "bincount",
        "`weights` must have the shape of `arr`",
        *xs,
    )
    if not rows:
        return ShapeDtype((size,), dtype)
    if x.shape is None:
        return ShapeDtype(None, dtype)
    return ShapeDtype((*x.shape[:-1], size), dtype)


def _lower_bincount(
    *xs: JaxArray, least: int | None, most: int | None, dtype: DType, rows: bool, binary: bool
) -> JaxArray:
    assert least is not None, "bincount: only a count of known length is lowered"
    x = xs[0]
    fail_if(lambda: x < 0)
    if rows and x.ndim == 2:
        flat = lax.add(
            lax.mul(lax.broadcasted_iota(x.dtype, x.shape, 0), lax.full_like(x, least)), x
        )
        flat = lax.select(lax.lt(x, lax.full_like(x, least)), flat, lax.full_like(x, -1))
        shape = (x.shape[0], least)
    else:
        flat, shape = x, (least,)
    ones = xs[1] if len(xs) > 1 else lax.full(x.shape, 1, dtype.np)
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    out = lax.scatter_add(
        lax.full((int(np.prod(shape)),), 0, dtype.np),
        lax.reshape(flat, (x.size, 1)),
        lax.reshape(ones, (x.size,)),
        numbers,
        mode="drop",
    )
    out = lax.reshape(out, shape)
    return lax.min(out, lax.full_like(out, 1)) if binary else out


def _declare(name: str, lower: Callable[..., Any] | None) -> Op:
    return Op(
        name,
        "*xs",
        kernel=_bincount_kernel,
        infer=_infer_bincount,
        lower=lower,
        grad=None,
        match=(),
    )


BINCOUNT = _declare("bincount", _lower_bincount)
# Without a fixed length the size of the result depends on the data: not for XLA.
BINCOUNT_OPEN = _declare("bincount_open", None)


def as_counted(x: Value) -> Any:
    """Numbers to be counted; fractions are cut off, and true is 1."""
    return tf.cast(x, dtypes.int32) if x.dtype.is_floating or x.dtype is dtypes.bool_ else x


@with_fallback
def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    axis: Axis = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each of 0, 1, 2, … occurs in `arr`, or the sum of the `weights` that stand there.

    With `axis=-1` each row of a matrix counts by itself. Numbers from `maxlength` on are passed
    over; a negative one is an error.
    """
    x = operand(arr)
    x = as_counted(x)
    require_dtype(
        x.dtype in (dtypes.int32, dtypes.int64), "bincount", "`arr` must be int32 or int64", x
    )
    require(axis in (None, 0, -1), "bincount", f"`axis` must be None, 0 or -1; got {axis}")
    require(
        axis != -1 or x._array.ndim <= 2,
        "bincount",
        "with `axis=-1` a vector or a matrix is wanted",
        x,
    )
    xs = [x]
    if weights is not None:
        require(not binary_output, "bincount", "`weights` and `binary_output` exclude each other")
        xs.append(operand(weights))
        dtype = xs[1].dtype
    least = None if minlength is None else static_int("bincount", minlength, "minlength")
    most = None if maxlength is None else static_int("bincount", maxlength, "maxlength")
    require(not negative(most), "bincount", f"`maxlength` must not be negative; got {most}")
    return apply(
        BINCOUNT if least is not None and least == most else BINCOUNT_OPEN,
        *xs,
        least=least,
        most=most,
        dtype=choose_type("bincount", "dtype", dtype, *_COUNTS),
        rows=axis == -1 and x._array.ndim > 0,
        binary=bool(binary_output),
    )


def _bins_kernel(x: np.ndarray, ends: np.ndarray, nbins: int) -> np.ndarray:
    kind = np.float32 if x.dtype.kind != "f" and x.dtype.itemsize == 2 else None
    x, ends = (a.astype(kind or np.result_type(a, np.float32)) for a in (x, ends))
    bins = np.floor(nbins * ((x - ends[0]) / (ends[1] - ends[0])))
    return np.clip(np.where(np.isnan(bins), 0, bins), 0, nbins - 1).astype(np.int32)


def _lower_bins(x: JaxArray, ends: JaxArray, nbins: int) -> JaxArray:
    kind = np.float64 if x.dtype.itemsize > 4 or x.dtype.kind in "iu" else np.float32
    x, ends = lax.convert_element_type(x, kind), lax.convert_element_type(ends, kind)
    scaled = lax.div(lax.sub(x, ends[0]), lax.sub(ends[1], ends[0]))
    bins = lax.floor(lax.mul(scaled, lax.full_like(scaled, nbins)))
    bins = lax.select(lax.ne(bins, bins), lax.full_like(bins, 0), bins)
    clipped = lax.clamp(kind(0), bins, kind(nbins - 1))
    return lax.convert_element_type(clipped, np.int32)


BINS = Op(
    "histogram_fixed_width_bins",
    "x ends",
    kernel=_bins_kernel,
    infer=lambda x, ends, nbins: ShapeDtype(x.shape, dtypes.int32),
    lower=_lower_bins,
    grad=None,
    accepts=dtypes.REAL,
)


def _histogram_args(
    name: str, values: TensorLike, value_range: TensorLike, nbins: TensorLike
) -> tuple[Any, Any, int]:
    x = operand(values)
    ends, n = operand(value_range, None, x.dtype), static_int(name, nbins, "nbins")
    ends = sized(name, "`value_range` must be two numbers", ends, (2,))
    return x, ends, at_least(name, "`nbins`", n, 1)


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The number of the bin of each value, as int32; what lies outside goes to the end bins.

    NaN goes to bin 0.
    """
    x, ends, n = _histogram_args("histogram_fixed_width_bins", values, value_range, nbins)
    return apply(BINS, x, ends, nbins=n)


def _histogram_kernel(x: np.ndarray, ends: np.ndarray, nbins: int, dtype: DType) -> np.ndarray:
    low, high = float(ends[0]), float(ends[1])
    require(
        low < high, "histogram_fixed_width", f"`value_range` must increase; got [{low:g}, {high:g}]"
    )
    require(not np.isnan(x).any(), "histogram_fixed_width", "`values` must not contain NaN")
    flat, parts = x.reshape(-1), blocks_of(x.size)
    counts = np.zeros((len(parts), nbins), np.int64)

    def work(k: int) -> None:
        away = (np.maximum(flat[parts[k]], ends[0]) - ends[0]).astype(np.float64)
        bins = np.minimum(away / ((high - low) / nbins), nbins - 1).astype(np.intp)
        counts[k] = np.bincount(bins, minlength=nbins)

    share(work, range(len(parts)))
    return counts.sum(0).astype(dtype.np)


def _lower_histogram(x: JaxArray, ends: JaxArray, nbins: int, dtype: DType) -> JaxArray:
    fail_if(lambda: ~(ends[0] < ends[1]))
    fail_if(lambda: x != x)
    low = lax.broadcast_in_dim(ends[0], x.shape, ())
    away = lax.convert_element_type(lax.sub(lax.max(x, low), low), np.float64)
    wide = lax.convert_element_type(ends, np.float64)
    step = lax.div(lax.sub(wide[1], wide[0]), np.float64(nbins))
    bins = lax.div(away, lax.broadcast_in_dim(step, x.shape, ()))
    bins = lax.min(bins, lax.full_like(bins, nbins - 1))
    return lax.scatter_add(
        lax.full((nbins,), 0, dtype.np),
        lax.reshape(lax.convert_element_type(bins, np.int64), (x.size, 1)),
        lax.full((x.size,), 1, dtype.np),
        lax.ScatterDimensionNumbers((), (0,), (0,)),
        mode="drop",
    )


HISTOGRAM = Op(
    "histogram_fixed_width",
    "x ends",
    kernel=_histogram_kernel,
    infer=lambda x, ends, nbins, dtype: ShapeDtype((nbins,), dtype),
    lower=_lower_histogram,
    grad=None,
    accepts=dtypes.REAL,
    xla_share=3,
)


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values fall into each of `nbins` equal bins; the end bins take what lies outside.

    NaN among the values, and a range that does not increase, are errors.
    """
    x, ends, n = _histogram_args("histogram_fixed_width", values, value_range, nbins)
    kind = choose_type("histogram_fixed_width", "dtype", dtype, *_COUNTS[:2])
    return apply(HISTOGRAM, x, ends, nbins=n, dtype=kind)


@with_fallback
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Counts of (label, prediction) pairs: one row per label, one column per prediction.

    A negative class, or one from `num_classes` on, is an error.
    """
    kind = dtypes.as_dtype(dtype)
    true, result = (_flat(tf.cast(operand(x), dtypes.int64)) for x in (labels, predictions))
    rule = "`labels` and `predictions` must agree"
    result = sized("confusion_matrix", rule, result, true._array.shape, true)
    if num_classes is None:
        n = _class_count(true, result)
    else:
        n = static_int("confusion_matrix", num_classes, "num_classes")
    w = tf.ones_like(true, kind) if weights is None else _flat(tf.cast(operand(weights), kind))
    rule = "`weights` must have the shape of `labels`"
    w = sized("confusion_matrix", rule, w, true._array.shape, true)
    cells = apply(CELLS, true, result, classes=n)
    return tf.reshape(tf.unsorted_segment_sum(w, cells, n * n), (n, n))


def _flat(x: Tensor) -> Tensor:
    return tf.reshape(x, (-1,)) if x._array.ndim != 1 else x


def _class_count(true: Tensor, found: Tensor) -> int:
    """One more than the largest class."""
    if executing_eagerly() and not true._array.size:
        raise _nothing()
    top = tf.maximum(tf.reduce_max(true), tf.reduce_max(found))
    return static_int("confusion_matrix", top, "num_classes") + 1


def _nothing() -> Exception:
    return invalid("confusion_matrix", "nothing to count", help="Give `num_classes`.")


def _cells_kernel(true: np.ndarray, found: np.ndarray, classes: int) -> np.ndarray:
    given = [("labels", true), ("predictions", found)]
    for what, x in given:
        if x.size and x.min() < 0:
            raise invalid("confusion_matrix", f"`{what}` must not be negative; got {x.min()}")
    if classes < 0:
        raise _nothing()
    for what, x in given:
        if x.size and x.max() >= classes:
            raise invalid(
                "confusion_matrix",
                f"`{what}` must be below `num_classes` {classes}; got {x.max()}",
            )
    return true * classes + found


def _lower_cells(true: JaxArray, found: JaxArray, classes: int) -> JaxArray:
    fail_if(lambda: (true < 0) | (true >= classes) | (found < 0) | (found >= classes))
    return lax.add(lax.mul(true, lax.full_like(true, classes)), found)


# The place of each pair of classes in the flattened matrix.
CELLS = Op(
    "confusion_cells",
    "true found",
    kernel=_cells_kernel,
    infer=lambda true, found, classes: ShapeDtype(
        shapes.merge(true.shape, found.shape), true.dtype
    ),
    lower=_lower_cells,
    grad=None,
    accepts=dtypes.INTEGER,
)
