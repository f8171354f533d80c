"""Counting: how often whole numbers occur, as a sparse or dense result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.composite.sparse_order import tuples
from wengert.composite.sparse_tensor import SparseTensor
from wengert.composite.values import Requirement, demand, unequal
from wengert.ops.declare import (
    Axis,
    DTypeLike,
    IndexedSlices,
    Tensor,
    TensorLike,
    Value,
    describe,
    dtypes,
    operand,
    require,
    require_dtype,
    tf,
    to_tensor,
)
from wengert.ops.histogram import as_counted

_COUNTABLE = Requirement(
    (lambda x: x < 0, lambda x: f"the numbers must not be negative; got {describe(x)}")
)
_SAME_PLACES = Requirement((unequal, "`weights` must have the places of `values`"))


def bincount(
    values: TensorLike,
    weights: TensorLike | None = None,
    axis: Axis = 0,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each number occurs in a dense, sparse or ragged tensor, as a sparse tensor.

    With `axis=0` everything counts together, with `axis=-1` each row by itself. Numbers from
    `maxlength` on are passed over; `weights` are summed instead of ones.
    """
    return _counted(values, weights, axis, minlength, maxlength, binary_output, _extent)


def _counted(
    values: Any,
    weights: TensorLike | None,
    axis: Axis,
    minlength: TensorLike | None,
    maxlength: TensorLike | None,
    binary_output: bool,
    extent: Callable[[Any, Any, Any], Any],
) -> SparseTensor:
    require(
        axis in (None, 0, -1), "bincount", f"`axis` must be 0 or -1; got {axis}", kind=ValueError
    )
    require(
        weights is None or not binary_output,
        "bincount",
        "`weights` and `binary_output` exclude each other",
        kind=ValueError,
    )
    rows, numbers, lines = _parts(values, by_row=axis == -1)
    require_dtype(
        numbers.dtype in (dtypes.int32, dtypes.int64),
        "bincount",
        "`values` must be int32 or int64",
        numbers,
    )
    amounts = tf.ones_like(numbers) if weights is None else _weights(values, weights)
    numbers = tf.cast(demand("bincount", _COUNTABLE, numbers), dtypes.int64)
    size = extent(numbers, minlength, maxlength)
    keep = tf.less(numbers, size)
    places = tf.boolean_mask(tf.add(rows * size, numbers), keep)
    order = tf.argsort(places, stable=True)
    distinct = tf.unique(tf.gather(places, order), dtypes.int64)
    sums = tf.segment_sum(tf.gather(tf.boolean_mask(amounts, keep), order), distinct.idx)
    if binary_output:
        sums = tf.ones_like(sums)
    if lines is None:
        return SparseTensor(tf.expand_dims(distinct.y, 1), sums, tf.expand_dims(size, 0))
    shape = tf.stack([tf.cast(lines, dtypes.int64), size])
    # Where there are no columns there are no places either, and nothing to divide.
    indices = tuples("bincount", distinct.y, tf.maximum(shape, 1))
    if isinstance(values, Value) and values.shape.rank is None:
        first = tf.maximum(2 - tf.rank(values), 0)  # a vector is one row, and has no number for it
        indices, shape = indices[:, first:], shape[first:]
    return SparseTensor(indices, sums, shape)


def _extent(
    numbers: Tensor, minlength: int | None, maxlength: int | None
) -> Tensor | IndexedSlices:
    """`maxlength`, or one more than the largest number; `minlength` and 1 at least."""
    if maxlength is not None:
        return tf.cast(operand(maxlength), dtypes.int64)
    return tf.maximum(_wanted(numbers, minlength), 1)


def _dense_extent(numbers: Tensor, minlength: int | None, maxlength: int | None) -> Tensor:
    """One more than the largest number, within the bounds."""
    result = _wanted(numbers, minlength)
    return (
        result
        if maxlength is None
        else tf.minimum(result, tf.cast(operand(maxlength), dtypes.int64))
    )


def _wanted(numbers: Tensor, minlength: int | None) -> Any:
    least = operand(0 if minlength is None else minlength)
    zero = tf.zeros([1], dtypes.int64)
    largest = tf.reduce_max(tf.concat([zero, numbers + 1], 0))
    return tf.maximum(largest, tf.cast(least, dtypes.int64))


def _parts(values: Any, by_row: bool) -> tuple[Any, Any, Any]:
    """The row of each number, the numbers as a vector, and how many rows there are."""
    if isinstance(values, SparseTensor):
        rows = values.indices[:, 0]
        numbers, lines = values.values, values.dense_shape[0]
        vector = len(values.shape) == 1
    elif hasattr(values, "value_rowids"):
        numbers, lines = values.flat_values, values.nrows()
        rows = tf.cast(values.value_rowids(), dtypes.int64)
        vector = False
    else:
        x = to_tensor(values)
        if x.shape.rank is None:
            x = tf.reshape(x, tf.stack([-1, tf.shape(x)[-1]]) if by_row else [-1])
        numbers, vector = tf.reshape(x, [-1]), len(x.shape) < 2
        lines = None if vector else tf.shape(x, dtypes.int64)[0]
        rows = tf.zeros_like(numbers, dtypes.int64)
        if by_row and not vector:
            line = tf.range(lines)[:, None]
            rows = tf.reshape(line + tf.zeros_like(x, dtypes.int64), [-1])
    if not by_row or vector:
        return tf.zeros_like(numbers, dtypes.int64), numbers, None
    return rows, numbers, lines


def _weights(values: Any, weights: Any) -> Tensor:
    if isinstance(values, SparseTensor):
        return demand("bincount", _SAME_PLACES, weights.values, values.indices, weights.indices)
    if hasattr(weights, "flat_values"):
        return weights.flat_values
    return tf.reshape(to_tensor(weights), [-1])


def count(
    arr: Any,
    weights: Any = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    axis: Axis = None,
    binary_output: bool = False,
) -> Tensor:
    """The same as a dense tensor: what `tf.math.bincount` does with a composite."""
    if isinstance(arr, Value):
        raise weights.not_dense()
    if isinstance(arr, SparseTensor):
        arr = SparseTensor(arr.indices, as_counted(arr.values), arr.dense_shape)
    else:
        arr = arr.with_flat_values(as_counted(arr.flat_values))
    bounds = minlength, maxlength
    result = _counted(arr, weights, axis, *bounds, binary_output, _dense_extent)
    amounts = result.values if weights is not None else tf.cast(result.values, dtype)
    return tf.scatter_nd(result.indices, amounts, result.dense_shape)
