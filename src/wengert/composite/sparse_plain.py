"""What plain public functions do with a sparse tensor: maps that keep zero, its sizes, labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.composite import sparse_counts
from wengert.composite.sparse_elements import over
from wengert.composite.sparse_tensor import as_sparse
from wengert.core import dtypes
from wengert.core.errors import invalid
from wengert.ops import public as tf


def on_values(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function of single elements that keeps zero, on the values."""
    if args:
        x, rest = args[0], args[1:]
        return x.with_values(function(x.values, *rest, **kwargs))
    key, x = next(iter(kwargs.items()))
    return x.with_values(function(**(kwargs | {key: x.values})))


def truediv(x: Any, y: Any, name: Any = None) -> Any:
    """A sparse tensor divided by a dense one."""
    return over(as_sparse("truediv", x), y)


def shape(input: Any, out_type: Any = None, name: Any = None) -> Any:
    """The sizes of the whole tensor."""
    return tf.cast(input.dense_shape, out_type or dtypes.int32)


def size(input: Any, out_type: Any = None, name: Any = None) -> Any:
    """The number of elements of the whole tensor."""
    return tf.cast(tf.reduce_prod(input.dense_shape), out_type or dtypes.int32)


def rank(input: Any, name: Any = None) -> Any:
    """The number of axes."""
    return tf.size(input.dense_shape)


def zeros_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    """A dense tensor of zeros of the same shape."""
    return tf.zeros(input.dense_shape, dtype or input.dtype)


def ones_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    """A dense tensor of ones of the same shape."""
    return tf.ones(input.dense_shape, dtype or input.dtype)


bincount = sparse_counts.count


def ctc_of_rows(
    plain: Callable[..., Any], labels: Any, logits: Any, label_length: Any, logit_length: Any,
    logits_time_major: bool = True, unique: Any = None, blank_index: Any = None, name: Any = None,
) -> Any:  # fmt: skip
    """`ctc_loss` of labels that stand in the rows of a sparse tensor, one after the other."""
    if blank_index is None:
        raise invalid("ctc_loss", "`blank_index` must be given where `labels` is a SparseTensor")
    rows = labels.indices[:, 0]
    lengths = tf.unsorted_segment_sum(tf.ones_like(rows), rows, labels.dense_shape[0])
    starts = tf.cumsum(lengths, exclusive=True)
    places = tf.range(tf.size(rows, dtypes.int64)) - tf.gather(starts, rows)
    dense = tf.scatter_nd(tf.stack([rows, places], 1), labels.values, labels.dense_shape)
    return plain(dense, logits, lengths, logit_length, logits_time_major, unique, blank_index)
