"""What plain public functions do with a sparse tensor: maps that keep zero, its sizes, labels."""

from __future__ import annotations

from typing import Any

from wengert.composite import sparse_counts
from wengert.composite.rules import for_ragged, for_sparse
from wengert.composite.sparse_elements import over, times
from wengert.composite.sparse_tensor import SparseTensor, as_sparse
from wengert.ops import arithmetic, create, ctc, dims, histogram
from wengert.ops.declare import DTypeLike, IndexedSlices, Tensor, TensorLike, dtypes, require, tf


@for_sparse(arithmetic.MULTIPLY)
def multiply(x: Any, y: Any) -> Any:
    """The product of a sparse tensor and a dense one."""
    sparse, other = (x, y) if isinstance(x, SparseTensor) else (y, x)
    return times(sparse, other)


@for_sparse(arithmetic.DIVIDE)
def divide(x: Any, y: Any) -> Any:
    """A sparse tensor divided by a dense one."""
    return over(as_sparse("truediv", x), y)


@for_sparse(dims.shape)
def shape(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Any:
    """The sizes of the whole tensor."""
    return tf.cast(input.dense_shape, out_type or dtypes.int32)


@for_sparse(dims.size)
def size(
    input: Any, out_type: DTypeLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """The number of elements of the whole tensor."""
    return tf.cast(tf.reduce_prod(input.dense_shape), out_type or dtypes.int32)


@for_sparse(dims.rank)
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes."""
    return tf.size(input.dense_shape)


@for_sparse(create.ZEROS_LIKE)
def zeros_like(x: SparseTensor, dtype: DTypeLike | None) -> Any:
    """A dense tensor of zeros of the same shape."""
    return tf.zeros(x.dense_shape, dtype)


@for_sparse(create.ONES_LIKE)
def ones_like(x: SparseTensor, dtype: DTypeLike | None) -> Tensor:
    """A dense tensor of ones of the same shape."""
    return tf.ones(x.dense_shape, dtype)


for_sparse(histogram.bincount)(sparse_counts.count)
for_ragged(histogram.bincount)(sparse_counts.count)


@for_sparse(ctc.ctc_loss)
def ctc_of_rows(
    labels: Any, logits: Any, label_length: Any, logit_length: TensorLike,
    logits_time_major: bool = True, unique: Any = None, blank_index: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`ctc_loss` of labels that stand in the rows of a sparse tensor, one after the other."""
    if not isinstance(labels, SparseTensor):
        raise logits.not_dense()
    require(
        blank_index is not None,
        "ctc_loss",
        "`blank_index` must be given where `labels` is a SparseTensor",
    )
    rows = labels.indices[:, 0]
    lengths = tf.unsorted_segment_sum(tf.ones_like(rows), rows, labels.dense_shape[0])
    starts = tf.cumsum(lengths, exclusive=True)
    places = tf.range(tf.size(rows, dtypes.int64)) - tf.gather(starts, rows)
    dense = tf.scatter_nd(tf.stack([rows, places], 1), labels.values, labels.dense_shape)
    return ctc.ctc_loss(
        dense, logits, lengths, logit_length, logits_time_major, unique, blank_index
    )
