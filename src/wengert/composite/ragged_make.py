"""`tf.ragged`: ragged tensors from Python lists, ranges, masks and partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.composite.ragged_factories import values_of
from wengert.composite.ragged_gather import pick_rows
from wengert.composite.ragged_shaping import expand_dims as ragged_expand
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition, same_rows
from wengert.composite.values import Requirement, demand, length, unequal
from wengert.core import nest
from wengert.core.shapes import as_shape
from wengert.ops import indexing
from wengert.ops.declare import (
    DType,
    DTypeLike,
    IndexedSlices,
    Tensor,
    TensorLike,
    at_site,
    describe,
    dtypes,
    invalid,
    operand,
    require,
    static_int,
    tf,
    to_tensor,
)

_BOUNDS = "bounds and steps are vectors of one length"
_RANK = Requirement(
    (lambda bound: bound.ndim > 1, lambda bound: f"{_BOUNDS}; got {describe(bound)}")
)
_STEPS = Requirement((lambda steps: steps == 0, "a step must not be 0"))
_SAME_ROWS = Requirement((unequal, "data and row numbers must have the same rows"))
_ROW_NUMBERS = Requirement(
    (
        lambda rows, count, size: (rows < 0) | (rows >= count),
        lambda rows, count, size: f"row numbers must lie in [0, {count}); got {describe(rows)}",
    ),
    (
        lambda rows, count, size: size != rows.shape[0],
        lambda rows, count, size: (
            f"there must be one row number for each of {size} elements; got {describe(rows)}"
        ),
    ),
)


def constant(
    pylist: Any,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: TensorLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> Any:
    """A ragged tensor from nested lists whose rows may differ in length.

    The innermost `inner_shape` axes are uniform; without it, only those that `ragged_rank` leaves.

    Args:
        pylist: nested lists.
        dtype: the dtype; found by itself by default.
        ragged_rank: how many axes are ragged.
        inner_shape: the shape of the innermost uniform values.
        row_splits_dtype: int32 or int64.
        name: without effect.

    Returns:
        A `RaggedTensor`, or a tensor where there is no ragged axis.

    Raises:
        ValueError: the depth of the lists differs, or does not fit.

    >>> tf.ragged.constant([[1, 2], [], [3]]).row_lengths().numpy().tolist()
    [2, 0, 1]
    """
    kind = dtypes.as_dtype(row_splits_dtype)
    try:
        pylist = _plain(pylist)
    except RecursionError as error:
        raise nest.too_deep("ragged.constant", error, pylist) from None
    inner = None if inner_shape is None else as_shape(_checked_shape(inner_shape))
    if not isinstance(pylist, list):
        require(
            not ragged_rank and not inner,
            "ragged.constant",
            "one value has no rows",
            pylist,
            kind=ValueError,
        )
        return to_tensor(pylist, dtype)
    scalars, deepest = _depth(pylist)
    depth = _ragged_depth(scalars, deepest, ragged_rank, inner)
    values, lengths = pylist, []
    while len(lengths) < depth:
        lengths.append([len(row) for row in values])
        values = [item for row in values for item in row]
    flat: Any = (
        to_tensor(values, dtype)
        if values
        else tf.zeros([0, *(inner or ())], dtype or dtypes.float32)
    )
    require(
        inner is None or flat.shape[1:] == inner,
        "ragged.constant",
        f"rows do not have the inner shape {inner}",
        kind=ValueError,
    )
    for sizes in reversed(lengths):
        flat = ragged(flat, RowPartition.from_row_lengths(to_tensor(sizes, kind)))
    return flat


def _checked_shape(shape: TensorLike) -> Any:
    require(
        not isinstance(shape, int),
        "ragged.constant",
        "`inner_shape` must be a tuple of sizes",
        kind=TypeError,
    )
    return shape


def _plain(value: Any) -> Any:
    """Nested lists, with arrays and other sequences among them as lists too."""
    rows = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    rows = rows or (isinstance(value, np.ndarray) and value.ndim > 0)
    return [_plain(v) for v in value] if rows else value


def _depth(value: Any) -> tuple[int | None, int]:
    """At which depth scalars lie, if there are any, and how deep the lists go."""
    if not isinstance(value, list):
        return 0, 0
    scalars, deepest = None, 1
    for item in value:
        result, inner = _depth(item)
        deepest = max(deepest, inner + 1)
        if result is not None:
            require(
                scalars is None or scalars == result + 1,
                "ragged.constant",
                "all values must lie at the same depth of lists",
                kind=ValueError,
            )
            scalars = result + 1
    require(
        scalars is None or deepest <= scalars,
        "ragged.constant",
        "all values must lie at the same depth of lists",
        kind=ValueError,
    )
    return scalars, deepest


def _ragged_depth(scalars: int | None, deepest: int, ragged_rank: int | None, inner: Any) -> int:
    """How many axes are cut into rows."""
    inside = 0 if inner is None else len(inner)
    if ragged_rank is None:
        ragged_rank = max(0, (deepest if scalars is None else scalars) - 1 - inside)
    elif inner is not None and scalars is not None and ragged_rank + 1 + inside != scalars:
        raise at_site(
            ValueError(
                f"ragged.constant: lists of depth {scalars} do not have {ragged_rank} ragged axes "
                f"and an inner shape of rank {inside}."
            )
        )
    require(
        scalars is None or ragged_rank < scalars,
        "ragged.constant",
        f"lists of depth {scalars} do not have {ragged_rank} ragged axes",
        kind=ValueError,
    )
    return ragged_rank


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """Rows of numbers from a start up to a limit, each with its own bounds and step.

    >>> tf.ragged.range([3, 0, 2]).to_list()
    [[0, 1, 2], [], [0, 1]]
    """
    if limits is None:
        starts, limits = 0, starts
    bounds = [_vector(b) for b in _one_type(starts, limits, deltas, dtype)]
    sizes = {b.shape[0] for b in bounds if b.shape.rank} - {None}
    require(
        max(b.shape.rank for b in bounds) <= 1 and len(sizes) <= 1, "ragged.range", _BOUNDS, *bounds
    )
    bounds[2] = demand("ragged.range", _STEPS, bounds[2])
    rows_of = next((b._array.shape[0] for b in bounds if b.shape.rank), 1)
    count = [sizes.pop() if sizes else rows_of]
    start, limit, step = (tf.broadcast_to(b, count) for b in bounds)
    kind = dtypes.as_dtype(row_splits_dtype)
    lengths = tf.ceil(tf.cast(limit - start, dtypes.float64) / tf.cast(step, dtypes.float64))
    lengths = tf.cast(tf.maximum(lengths, tf.zeros([], dtypes.float64)), kind)
    rows = RowPartition.from_row_lengths(lengths, validate=False)
    ids, offsets = rows.value_rowids(), tf.cast(rows.offsets_in_rows(), start.dtype)
    return ragged(tf.add(tf.gather(start, ids), tf.multiply(offsets, tf.gather(step, ids))), rows)


def _one_type(
    starts: TensorLike, limits: TensorLike, deltas: TensorLike, dtype: DType | DTypeLike | None
) -> list[Any]:
    """The bounds as tensors of one type: that of `dtype`, or the widest of their own."""
    results = [
        operand(v, None, None if dtype is None else dtypes.as_dtype(dtype))
        for v in (starts, limits, deltas)
    ]
    order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
    widest = max((f.dtype for f in results), key=lambda d: order.index(d) if d in order else -1)
    return [tf.cast(f, dtype or widest) for f in results]


def _vector(bound: Tensor) -> Any:
    """A bound of unknown rank as a vector, which one number is too."""
    if bound.shape.rank is not None:
        return bound
    return tf.reshape(demand("ragged.range", _RANK, bound), [-1])


def boolean_mask(data: TensorLike, mask: TensorLike, name: str | None = None) -> Any:
    """The elements where a mask is true, row by row, so that rows may get different lengths."""
    x, m = values_of(data), values_of(mask)
    require(m.dtype is dtypes.bool_, "ragged.boolean_mask", "the mask must be boolean", m)
    require(
        m.shape.rank is not None, "ragged.boolean_mask", "the rank of the mask must be known", m
    )
    require(m.shape.rank != 0, "ragged.boolean_mask", "the mask must not be a scalar", m)
    if isinstance(m, RaggedTensor) or m.shape.rank > 1:
        return _masked_rows(_cut(x), _cut(m))
    if not isinstance(x, RaggedTensor):
        return indexing.boolean_mask(x, m)
    return pick_rows(x, tf.reshape(indexing.where_indices(m), [-1]))


def _cut(x: Tensor | RaggedTensor | IndexedSlices) -> RaggedTensor:
    return x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)


def _masked_rows(x: RaggedTensor, mask: RaggedTensor) -> RaggedTensor:
    require(
        same_rows(x._partition, mask._partition) is not False,
        "ragged.boolean_mask",
        "data and mask must have the same rows",
        x,
        mask,
    )
    inner = boolean_mask(x.values, mask.values)
    if isinstance(mask.values, RaggedTensor) or mask.values.shape.rank > 1:
        return x.with_values(inner)
    rows = mask._partition
    kept = tf.unsorted_segment_sum(
        tf.cast(mask.values, rows.dtype), rows.value_rowids(), rows.nrows()
    )
    return ragged(inner, RowPartition.from_row_lengths(kept, validate=False))


def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None
) -> Tensor:
    """For each value the number of its row."""
    ids = RowPartition.from_row_splits(splits).value_rowids()
    return ids if out_type is None else tf.cast(ids, out_type)


def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Where the rows end, from the row number of each value."""
    splits = RowPartition.from_value_rowids(segment_ids, num_segments).row_splits()
    return splits if out_type is None else tf.cast(splits, out_type)


def stack_dynamic_partitions(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> RaggedTensor:
    """The elements of `data` dealt out to rows by number."""
    name = "stack_dynamic_partitions"
    x, where_to = values_of(data), values_of(partitions)
    if isinstance(x, RaggedTensor):
        where_to = tf.cast(where_to, x._partition.dtype)
    count = static_int(name, num_partitions, "num_partitions")
    rank = where_to.shape.rank
    if rank is None or not where_to.shape.is_compatible_with(x.shape[:rank]):
        raise invalid(name, "there must be one row number per element", x, where_to)
    if rank > 1:
        x, where_to = _cut(x), _cut(where_to)
        same = (x.row_splits, where_to.row_splits)
        flat = demand(name, _SAME_ROWS, where_to.flat_values, *same)
        inner = where_to.with_flat_values(flat).values
        return stack_dynamic_partitions(x.values, inner, num_partitions)
    if rank == 0:
        ours = isinstance(x, RaggedTensor)
        x = ragged_expand(x, 0) if ours else tf.expand_dims(x, 0)
        where_to = tf.expand_dims(where_to, 0)
    size = x.nrows() if isinstance(x, RaggedTensor) else operand(length(x), None, dtypes.int64)
    total = operand(count, None, dtypes.int64)
    where_to = demand(name, _ROW_NUMBERS, where_to, total, size)
    order = tf.argsort(where_to, stable=True)
    rows = RowPartition.from_value_rowids(tf.gather(where_to, order), count, validate=False)
    return ragged(pick_rows(x, order), rows)
