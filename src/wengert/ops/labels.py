"""Rows of labels, as recognizers of speech and of writing make them, made shorter.

How long the results are depends on the labels.
"""

from __future__ import annotations

from typing import Any

from wengert.core import dtypes
from wengert.core.convert import operand
from wengert.ops.cast import cast
from wengert.ops.create import ones
from wengert.ops.declare import need_rank, whole_operand
from wengert.ops.indexing import boolean_mask, sequence_mask
from wengert.ops.joining import concat
from wengert.ops.reduce import reduce_sum
from wengert.ops.scatter import scatter_nd


def collapse_repeated(labels: Any, seq_length: Any, name: Any = None) -> tuple[Any, Any]:
    """Rows in which labels that follow their like are left out, and how long the rows are then.

    Only the first `seq_length` labels of a row count; shorter rows are filled up with zeros.

    >>> tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5])[0].numpy().tolist()
    [[1, 2, 1]]
    """
    from wengert.ops.compare import not_equal
    from wengert.ops.dims import shape
    from wengert.ops.logical import logical_and
    from wengert.ops.select import where

    x, lengths = operand(labels), whole_operand(seq_length)
    need_rank("collapse_repeated", x, 2, 2)
    first = ones(shape(x[:, :1]), dtypes.bool_)
    new = concat([first, not_equal(x[:, 1:], x[:, :-1])], 1)
    kept = logical_and(new, sequence_mask(lengths, x._array.shape[1]))
    counts = reduce_sum(cast(kept, dtypes.int32), 1)
    filled = sequence_mask(counts)
    found = scatter_nd(where(filled), boolean_mask(x, kept), shape(filled, dtypes.int64))
    return found, cast(counts, lengths.dtype)
