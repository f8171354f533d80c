"""Rows of ragged tensors by number: picked, gathered, looked up by ragged indices, partitioned.

Slicing, joining and reversing are made of `pick_rows`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.composite.ragged_convert import deepened, from_tensor
from wengert.composite.ragged_factories import values_of
from wengert.composite.ragged_tensor import RaggedTensor, check_axis, ragged
from wengert.composite.row_partition import RowPartition, same_rows
from wengert.composite.rules import for_ragged
from wengert.composite.values import Requirement, demand
from wengert.ops import embedding, partition
from wengert.ops import gather as plain
from wengert.ops.declare import (
    Axis,
    IndexedSlices,
    InvalidIndexError,
    Tensor,
    TensorLike,
    dtypes,
    invalid,
    operand,
    operand_or_empty,
    require,
    require_dtype,
    static_int,
    tf,
)
from wengert.ops.indexing import where_indices
from wengert.ops.shaping import transpose

_WITHIN = Requirement(
    (
        lambda at, sizes: (at < 0) | (at >= sizes),
        lambda at, sizes: _first_outside(*np.broadcast_arrays(at, sizes)),
    ),
    kind=InvalidIndexError,
)


def pick_rows(x: Tensor | RaggedTensor, rows: Tensor | IndexedSlices) -> Any:
    """Rows of a dense or ragged tensor by a vector of their numbers."""
    if not isinstance(x, RaggedTensor):
        return tf.gather(x, rows)
    own = x._partition
    rows = tf.cast(rows, own.dtype)
    if own.static_uniform_row_length is not None:
        cut = RowPartition.from_uniform_row_length(
            own.static_uniform_row_length, nrows=tf.shape(rows)[0], dtype=own.dtype
        )
    else:
        cut = RowPartition.from_row_lengths(tf.gather(own.row_lengths(), rows), validate=False)
    starts = tf.gather(own.row_starts(), rows)
    return ragged(pick_rows(x.values, spans(starts, cut)), cut)


def spans(starts: Tensor, cut: RowPartition) -> Tensor:
    """The numbers from each start on, as many as its row is long, one row after the other."""
    return tf.add(tf.gather(starts, cut.value_rowids()), cut.offsets_in_rows())


def _first_outside(at: np.ndarray, sizes: np.ndarray) -> str:
    outside = (at < 0) | (at >= sizes)
    return f"index {at[outside][0]} is outside a row of length {sizes[outside][0]}"


def within(name: str, places: TensorLike, lengths: TensorLike) -> Tensor:
    """Places, none of which may lie outside its row."""
    return demand(name, _WITHIN, places, lengths)


def alike(name: str, values: list[Tensor | RaggedTensor]) -> list[RaggedTensor]:
    """Tensors, of which some are ragged, all cut along the same axes with one type of splits."""
    some = [v for v in values if isinstance(v, RaggedTensor)]
    depth = max((v.ragged_rank for v in some), default=1)
    kind = some[0]._partition.dtype if some else dtypes.int32
    ranks = {v.shape.rank for v in values} - {None}
    require(
        len(ranks) <= 1 and all(v._partition.dtype is kind for v in some),
        name,
        "the tensors must have one rank and one type of row splits",
        *values,
    )
    made = []
    for value in values:
        if not isinstance(value, RaggedTensor):
            value = from_tensor(value, ragged_rank=depth, row_splits_dtype=kind)
        for _ in range(depth - value.ragged_rank):
            value = deepened(value)
        made.append(value)
    return made


@for_ragged(plain.gather)
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: Any = None,
    axis: Axis = None,
    batch_dims: TensorLike = 0,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Picks slices of `params` along `axis`; either may be ragged."""
    x, i = values_of(params), values_of(indices)
    require_dtype(i.dtype.is_integer, "gather", "`indices` must be whole numbers", i)
    batch = static_int("gather", batch_dims, "batch_dims")
    batch = batch + i.shape.rank if batch < 0 else batch
    place = (
        batch if axis is None else check_axis("gather", static_int("gather", axis), x.shape.rank)
    )
    if batch:
        return _by_batch(x, i, place, batch)
    return _along(x, i, place)


def _along(x: Tensor | RaggedTensor, i: Any, axis: int) -> Tensor | RaggedTensor:
    """A gather without batch axes."""
    if isinstance(i, RaggedTensor):
        if axis:
            return _dense_along(x, i, axis)
        return i.with_values(_along(x, i.values, 0))
    if not isinstance(x, RaggedTensor):
        return tf.gather(x, i, axis=axis)
    if axis == 0:
        return _rows(x, i)
    if axis > 1:
        return x.with_values(_along(x.values, i, axis - 1))
    shape = [-1] + [1] * i.shape.rank
    i = within("gather", tf.expand_dims(i, 0), tf.reshape(x.row_lengths(), shape))
    return _rows(
        x.values, tf.add(tf.reshape(x.row_starts(), shape), tf.cast(i, x.row_splits.dtype))
    )


def _rows(x: Tensor | RaggedTensor, i: Tensor) -> Tensor | RaggedTensor:
    """Rows by indices of any rank."""
    if not isinstance(x, RaggedTensor):
        return tf.gather(x, i)
    flat = _unequal(pick_rows(x, tf.reshape(i, [-1])))
    if i.shape.rank == 0:
        return flat.values
    sizes = i.shape.as_list()
    for size in reversed(sizes[1:]):
        count = RowPartition.from_uniform_row_length(
            size, nvals=flat.nrows(), validate=False, dtype=x.row_splits.dtype
        )
        flat = ragged(flat, RowPartition(count.row_splits()))
    return flat


def _unequal(x: Tensor | RaggedTensor) -> Any:
    """A ragged tensor that does not promise rows of equal length; TensorFlow's gather does not."""
    if not isinstance(x, RaggedTensor):
        return x
    return ragged(_unequal(x.values), RowPartition(x.row_splits))


def _dense_along(x: Any, i: RaggedTensor, axis: int) -> RaggedTensor:
    """Ragged indices along an inner axis of a dense tensor: they apply to each outer position."""
    if isinstance(x, RaggedTensor):
        return x.with_values(_along(x.values, i, axis - 1)) if axis > 1 else _refused(x, i)
    lead = list(x.shape[:axis])
    rank = x.shape.rank
    front = transpose(x, [axis, *range(axis), *range(axis + 1, rank)])
    result = tf.gather(front, i.flat_values)
    back = transpose(result, [*range(1, axis + 1), 0, *range(axis + 1, rank)])
    values: Any = tf.reshape(back, tf.concat([[-1], tf.shape(back)[axis + 1 :]], 0))
    copies = 1
    for size in lead:
        copies *= size
    for rows in reversed(i._partitions):
        lengths = tf.tile(rows.row_lengths(), [copies])
        values = ragged(values, RowPartition.from_row_lengths(lengths, validate=False))
    sizes = [*lead[1:], i.shape[0]]
    for size in reversed(sizes):
        values = RaggedTensor.from_uniform_row_length(values, size, validate=False)
    return values


def _refused(x: Any, i: Any) -> Any:
    raise invalid("gather", "ragged indices along a ragged axis need `batch_dims`", x, i)


def _by_batch(x: Tensor | RaggedTensor, i: Any, axis: int, batch: int) -> Tensor | RaggedTensor:
    """A gather in which row b of the indices speaks of row b of the tensor."""
    if batch > 1:
        rows = x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)
        ids = i if isinstance(i, RaggedTensor) else RaggedTensor.from_tensor(i)
        require(
            same_rows(rows._partition, ids._partition) is not False,
            "gather",
            f"the first {batch} axes (`batch_dims`) must agree",
            x,
            i,
        )
        return ids.with_values(_by_batch(rows.values, ids.values, axis - 1, batch - 1))
    require(
        x.shape[:1].is_compatible_with(i.shape[:1]),
        "gather",
        "the first axis (`batch_dims`) must agree",
        x,
        i,
    )
    rows = x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)
    require(axis <= 1, "gather", "with a ragged tensor `axis` must be `batch_dims`", x, i)
    starts, lengths, kind = rows.row_starts(), rows.row_lengths(), rows.row_splits.dtype
    if not isinstance(i, RaggedTensor):
        shape = [-1] + [1] * (i.shape.rank - 1)
        i = within("gather", i, tf.reshape(lengths, shape))
        return _rows(rows.values, tf.add(tf.reshape(starts, shape), tf.cast(i, kind)))
    require(
        i.ragged_rank <= 1, "gather", "with `batch_dims` the indices have one ragged axis", x, i
    )
    ids, flat = tf.cast(i.value_rowids(), kind), tf.cast(i.values, kind)
    tail = [-1] + [1] * (flat.ndim - 1)
    flat = within("gather", flat, tf.reshape(tf.gather(lengths, ids), tail))
    return i.with_values(_rows(rows.values, tf.add(flat, tf.reshape(tf.gather(starts, ids), tail))))


@for_ragged(plain.gather_nd)
def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    batch_dims: TensorLike = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor | RaggedTensor:
    """Picks slices at the index tuples in the last axis of `indices`."""
    require(
        not static_int("gather_nd", batch_dims, "batch_dims"),
        "gather_nd",
        "`batch_dims` is not taken for ragged tensors",
    )
    x, i = values_of(params), values_of(indices)
    if isinstance(i, RaggedTensor):
        return i.with_values(gather_nd(x, i.values))
    if not isinstance(x, RaggedTensor):
        return tf.gather_nd(x, i)
    depth = i.shape[-1]
    require(depth is not None, "gather_nd", "the length of index tuples must be known", i)
    flat = tf.cast(tf.reshape(i, [-1, depth]), x.row_splits.dtype)
    place, used = within("gather_nd", flat[:, 0], x.nrows()), 1
    values: Any = x
    while used < depth and isinstance(values, RaggedTensor):
        inner = within("gather_nd", flat[:, used], tf.gather(values.row_lengths(), place))
        place = tf.add(tf.gather(values.row_starts(), place), inner)
        values, used = values.values, used + 1
    if used < depth:
        result = tf.gather_nd(values, tf.concat([tf.expand_dims(place, 1), flat[:, used:]], 1))
        return tf.reshape(result, tf.concat([tf.shape(i)[:-1], tf.shape(result)[1:]], 0))
    return _rows(values, tf.reshape(place, tf.shape(i)[:-1]))


@for_ragged(embedding.embedding_lookup)
def embedding_lookup(
    params: TensorLike, ids: RaggedTensor, max_norm: Any = None, name: str | None = None
) -> RaggedTensor:
    """The rows of a table named by ragged ids."""
    return ids.with_flat_values(tf.embedding_lookup(params, ids.flat_values, max_norm))


@for_ragged(partition.dynamic_partition)
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> list[Tensor | RaggedTensor] | list[Tensor]:
    """The rows of a ragged tensor dealt out to several by number."""
    if not isinstance(data, RaggedTensor):
        where_to = partitions.flat_values if isinstance(partitions, RaggedTensor) else partitions
        return tf.dynamic_partition(data, where_to, num_partitions)
    if isinstance(partitions, RaggedTensor):
        if same_rows(data._partition, partitions._partition) is False:
            rule = "the data's shape must start with that of `partitions`"
            raise invalid("dynamic_partition", rule, data, partitions)
        return dynamic_partition(data.values, partitions.values, num_partitions)
    count = static_int("dynamic_partition", num_partitions, "num_partitions")
    where_to = operand_or_empty(partitions, dtypes.int32)
    where_to = within("dynamic_partition", where_to, operand(count, where_to.dtype))
    return [
        pick_rows(data, tf.reshape(where_indices(tf.equal(where_to, k)), [-1]))
        for k in range(count)
    ]
