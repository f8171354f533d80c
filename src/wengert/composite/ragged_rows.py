"""Picking rows of ragged tensors, which slicing, gathering, joining and reversing are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ragged_convert import deepened, from_tensor
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.values import demand
from wengert.core import dtypes
from wengert.core.errors import InvalidIndexError, invalid
from wengert.ops import public as tf

if TYPE_CHECKING:
    from wengert.core.types import IndexedSlices, Tensor, TensorLike


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


def within(name: str, places: TensorLike, lengths: TensorLike) -> Tensor:
    """Places, none of which may lie outside its row."""
    return demand(name, _check_within, _bad_within, places, lengths)


def _check_within(name: str, at: np.ndarray, sizes: np.ndarray) -> None:
    at, sizes = np.broadcast_arrays(at, sizes)
    outside = (at < 0) | (at >= sizes)
    if outside.any():
        raise invalid(
            name,
            f"index {at[outside][0]} is outside a row of length {sizes[outside][0]}",
            kind=InvalidIndexError,
        )


def _bad_within(at: Any, sizes: Any) -> tuple[Any, ...]:
    return ((at < 0) | (at >= sizes),)


def alike(name: str, values: list[Tensor | RaggedTensor]) -> list[RaggedTensor]:
    """Tensors, of which some are ragged, all cut along the same axes with one type of splits."""
    some = [v for v in values if isinstance(v, RaggedTensor)]
    depth = max((v.ragged_rank for v in some), default=1)
    kind = some[0]._partition.dtype if some else dtypes.int32
    ranks = {v.shape.rank for v in values} - {None}
    if len(ranks) > 1 or any(v._partition.dtype is not kind for v in some):
        raise invalid(name, "the tensors must have one rank and one type of row splits", *values)
    made = []
    for value in values:
        if not isinstance(value, RaggedTensor):
            value = from_tensor(value, ragged_rank=depth, row_splits_dtype=kind)
        for _ in range(depth - value.ragged_rank):
            value = deepened(value)
        made.append(value)
    return made
