"""Rows of labels, as recognizers of speech and of writing make them, made shorter.

How long the results are depends on the labels.
"""

from __future__ import annotations

from wengert.core import dtypes
from wengert.core.convert import operand
from wengert.core.types import Tensor, TensorLike
from wengert.ops import public as tf
from wengert.ops.declare import need_rank, whole_operand


def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Rows in which labels that follow their like are left out, and how long the rows are then.

    Only the first `seq_length` labels of a row count; shorter rows are filled up with zeros.

    >>> tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5])[0].numpy().tolist()
    [[1, 2, 1]]
    """
    x, lengths = operand(labels), whole_operand(seq_length)
    need_rank("collapse_repeated", x, 2, 2)
    first = tf.ones(tf.shape(x[:, :1]), dtypes.bool_)
    new = tf.concat([first, tf.not_equal(x[:, 1:], x[:, :-1])], 1)
    kept = tf.logical_and(new, tf.sequence_mask(lengths, x._array.shape[1]))
    counts = tf.reduce_sum(tf.cast(kept, dtypes.int32), 1)
    filled = tf.sequence_mask(counts)
    result = tf.scatter_nd(
        tf.where(filled), tf.boolean_mask(x, kept), tf.shape(filled, dtypes.int64)
    )
    return result, tf.cast(counts, lengths.dtype)
