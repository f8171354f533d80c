"""Reductions of ragged tensors: over whole axes, over segments, and along rows.

Along the first axis the n-th elements of all rows that have one are combined; along others each
row by itself. What is left is ragged where rows inside are.
"""

from __future__ import annotations

from typing import Any

from wengert.composite.ragged_map import map_flat_values
from wengert.composite.ragged_tensor import RaggedTensor, check_axis, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.rules import for_ragged
from wengert.core.fallbacks import Rule
from wengert.ops import reduce, scan, segment, statistics
from wengert.ops import softmax as plain
from wengert.ops.declare import (
    Axis,
    IndexedSlices,
    Tensor,
    TensorLike,
    dtypes,
    invalid,
    operand,
    require,
    static,
    static_int,
    tf,
)


def _over_segments(plain: Rule, by_segment: Rule) -> None:
    """Registers a reduction that combines the elements of rows by their numbers."""

    @for_ragged(plain)
    def rule(
        input_tensor: RaggedTensor,
        axis: Axis = None,
        keepdims: bool = False,
        name: str | None = None,
    ) -> Tensor | RaggedTensor:
        return over_axes(plain, by_segment, input_tensor, axis, keepdims)


# An empty row gives the least number there is as its largest, and the largest as its smallest.
_over_segments(reduce.reduce_sum, segment.unsorted_segment_sum)
_over_segments(reduce.reduce_prod, segment.unsorted_segment_prod)
_over_segments(reduce.reduce_max, segment.unsorted_segment_max)
_over_segments(reduce.reduce_min, segment.unsorted_segment_min)


@for_ragged(reduce.reduce_mean)
def reduce_mean(
    input_tensor: RaggedTensor, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor | RaggedTensor:
    """The mean over `axis`, or of everything; NaN for an empty row."""
    total = tf.reduce_sum(input_tensor, axis, keepdims)
    return tf.truediv(total, tf.reduce_sum(tf.ones_like(input_tensor), axis, keepdims))


@for_ragged(statistics.reduce_variance)
def reduce_variance(
    input_tensor: RaggedTensor, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor | RaggedTensor:
    """The variance over `axis`, or of everything: the mean square less the squared mean."""
    squares = tf.reduce_mean(tf.square(input_tensor), axis, keepdims)
    mean = tf.reduce_mean(input_tensor, axis, keepdims)
    return tf.maximum(squares - tf.square(mean), 0)


@for_ragged(statistics.reduce_std)
def reduce_std(
    input_tensor: RaggedTensor, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor | RaggedTensor:
    """The standard deviation over `axis`, or of everything."""
    return tf.sqrt(tf.reduce_variance(input_tensor, axis, keepdims))


@for_ragged(reduce.reduce_all)
def reduce_all(
    input_tensor: RaggedTensor, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor | RaggedTensor:
    """Whether all are true over `axis`, or altogether."""
    return tf.cast(tf.reduce_prod(_bits(input_tensor), axis, keepdims), dtypes.bool_)


@for_ragged(reduce.reduce_any)
def reduce_any(
    input_tensor: RaggedTensor, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor | RaggedTensor:
    """Whether any is true over `axis`, or altogether."""
    return tf.cast(tf.reduce_sum(_bits(input_tensor), axis, keepdims), dtypes.bool_)


def _bits(x: RaggedTensor) -> Tensor:
    return tf.cast(tf.cast(x, dtypes.bool_), dtypes.int32)


def over_axes(
    reduce_dense: Any,
    by_segment: Any,
    x: RaggedTensor,
    axis: Axis,
    keepdims: bool,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Reduces axes: of dense tensors by `reduce_dense(x, axis)`, of ragged ones by `by_segment`."""
    rank, name = x.shape.rank, name or str(reduce_dense.__name__)
    if axis is None:
        result = reduce_dense(x.flat_values)
        axes = list(range(len(x.shape))) if keepdims else []
    else:
        wanted = static(name, axis)
        given = [wanted] if isinstance(wanted, int) else list(wanted)
        axes = sorted({check_axis(name, a, rank) for a in given})
        require(len(axes) >= len(given), name, f"`axis` {given} names an axis twice", x)
        result = x
        # From the inside out, so that the numbers of the axes still to come stay right.
        for place in reversed(axes):
            result = _over(reduce_dense, by_segment, result, place)
    if keepdims:
        for place in axes:
            result = tf.expand_dims(result, place)
    return result


def _over(
    reduce_dense: Any, by_segment: Any, x: Tensor | RaggedTensor, axis: int
) -> Tensor | RaggedTensor:
    """Reduces one axis away."""
    if not isinstance(x, RaggedTensor):
        return reduce_dense(x, axis)
    rows = x._partition
    if axis == 0:
        return _segments(by_segment, x.values, rows.offsets_in_rows(), x.bounding_shape(axis=1))
    if axis == 1:
        return _segments(by_segment, x.values, rows.value_rowids(), rows.nrows())
    return x.with_values(_over(reduce_dense, by_segment, x.values, axis - 1))


def _segments(
    combine: Any,
    data: Tensor | RaggedTensor,
    ids: Tensor | RaggedTensor | IndexedSlices,
    count: Tensor | int | IndexedSlices,
) -> Tensor | RaggedTensor:
    """Combines rows with the same number; ragged rows element by element, as far as they go."""
    if isinstance(ids, RaggedTensor):
        return _segments(combine, _matching(data, ids), ids.values, count)
    if not isinstance(data, RaggedTensor):
        return combine(data, ids, count)
    lengths = data.row_lengths()
    longest = tf.maximum(
        segment.unsorted_segment_max(lengths, ids, count), lengths.dtype.np.type(0)
    )
    rows = RowPartition.from_row_lengths(longest, validate=False)
    begin = tf.gather(tf.gather(rows.row_starts(), ids), data.value_rowids())
    place = tf.add(begin, data._partition.offsets_in_rows())
    return ragged(_segments(combine, data.values, place, rows.nvals()), rows)


def _matching(data: RaggedTensor | Tensor, ids: RaggedTensor) -> Tensor | RaggedTensor:
    if isinstance(data, RaggedTensor):
        return data.values
    raise invalid("unsorted_segment", "ragged numbers need ragged data with the same rows", data)


def _combined(combine: Rule) -> None:
    """Registers a function that combines rows with the same number."""

    @for_ragged(combine)
    def rule(
        data: Any, segment_ids: TensorLike, num_segments: Any, name: str | None = None
    ) -> Tensor | RaggedTensor:
        return _segments(combine, data, operand(segment_ids), num_segments)


_combined(segment.unsorted_segment_max)
_combined(segment.unsorted_segment_min)
_combined(segment.unsorted_segment_prod)
_combined(segment.unsorted_segment_sum)


@for_ragged(segment.unsorted_segment_mean)
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor | RaggedTensor:
    """The mean of rows with the same number, element by element."""
    total = tf.unsorted_segment_sum(data, segment_ids, num_segments)
    return tf.truediv(total, _counts(data, segment_ids, num_segments))


@for_ragged(segment.unsorted_segment_sqrt_n)
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor | RaggedTensor:
    """The sum of rows with the same number over the root of their count."""
    total = tf.unsorted_segment_sum(data, segment_ids, num_segments)
    return tf.truediv(total, tf.sqrt(_counts(data, segment_ids, num_segments)))


def _counts(data: TensorLike, ids: TensorLike, count: TensorLike) -> Tensor:
    return tf.unsorted_segment_sum(tf.ones_like(data), ids, count)


@for_ragged(scan.cumsum)
def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Running sums along the rows, the last ragged axis, or an inner axis."""
    place = check_axis("cumsum", static_int("cumsum", axis), x.shape.rank)
    if place > x.ragged_rank:
        inner = place - x.ragged_rank
        return map_flat_values(lambda v: tf.cumsum(v, inner, exclusive, reverse), x)
    if place == 0 and x.ragged_rank == 1:
        return _cumsum_down(x, exclusive, reverse)
    require(place >= x.ragged_rank, "cumsum", f"axis {place} must be the innermost ragged one", x)
    flat, rows = x.flat_values, x._partitions[-1]
    running = tf.cumsum(flat, 0, exclusive=True)
    # What had been summed where a row begins is taken off all of it.
    ends = tf.add(running, flat)
    whole = _padded(ends)
    if reverse:
        limit = tf.gather(whole, tf.gather(rows.row_limits(), rows.value_rowids()))
        result = tf.subtract(limit, ends if exclusive else running)
    else:
        begin = tf.gather(whole, tf.gather(rows.row_starts(), rows.value_rowids()))
        result = tf.subtract(running if exclusive else ends, begin)
    return x.with_flat_values(result)


def _cumsum_down(x: RaggedTensor, exclusive: bool, reverse: bool) -> RaggedTensor:
    """Running sums over the n-th elements of the rows, which are the rows of another tensor."""
    place = x._partition.offsets_in_rows()
    order = tf.argsort(place, stable=True)
    columns = RowPartition.from_value_rowids(tf.gather(place, order), validate=False)
    result = cumsum(ragged(tf.gather(x.values, order), columns), 1, exclusive, reverse)
    return x.with_values(tf.gather(result.values, tf.invert_permutation(order)))


def _padded(ends: Tensor) -> Tensor:
    """Running sums with the zero that stands before the first."""
    first = tf.zeros(tf.concat([[1], tf.shape(ends)[1:]], 0), ends.dtype)
    return tf.concat([first, ends], 0)


@for_ragged(plain.softmax)
def softmax(logits: Any, axis: Axis = None, name: str | None = None) -> RaggedTensor | Tensor:
    """Softmax along the last axis: over each row where it is ragged."""
    place = check_axis(
        "softmax", -1 if axis is None else static_int("softmax", axis), logits.shape.rank
    )
    require(
        place == logits.shape.rank - 1, "softmax", "only the last axis of a ragged tensor", logits
    )
    if place > logits.ragged_rank:
        return map_flat_values(tf.softmax, logits)
    flat, rows = logits.flat_values, logits._partitions[-1]
    ids, count = rows.value_rowids(), rows.nrows()
    top = tf.stop_gradient(tf.gather(segment.unsorted_segment_max(flat, ids, count), ids))
    parts = tf.exp(tf.subtract(flat, top))
    total = tf.gather(segment.unsorted_segment_sum(parts, ids, count), ids)
    return logits.with_flat_values(tf.truediv(parts, total))
