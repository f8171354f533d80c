"""What plain public functions do with a sparse tensor: maps that keep zero, its sizes, labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.composite import sparse_counts
from wengert.composite.sparse_elements import over
from wengert.composite.sparse_tensor import as_sparse
from wengert.core import dtypes
from wengert.core.errors import invalid
from wengert.ops import create, dims
from wengert.ops.cast import cast
from wengert.ops.gather import gather
from wengert.ops.joining import stack
from wengert.ops.reduce import reduce_prod
from wengert.ops.scan import cumsum
from wengert.ops.scatter import scatter_nd
from wengert.ops.segment import unsorted_segment_sum


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
    return cast(input.dense_shape, out_type or dtypes.int32)


def size(input: Any, out_type: Any = None, name: Any = None) -> Any:
    """The number of elements of the whole tensor."""
    return cast(reduce_prod(input.dense_shape), out_type or dtypes.int32)


def rank(input: Any, name: Any = None) -> Any:
    """The number of axes."""
    return dims.size(input.dense_shape)


def zeros_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    """A dense tensor of zeros of the same shape."""
    return create.zeros(input.dense_shape, dtype or input.dtype)


def ones_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Any:
    """A dense tensor of ones of the same shape."""
    return create.ones(input.dense_shape, dtype or input.dtype)


bincount = sparse_counts.count


def ctc_of_rows(
    plain: Callable[..., Any], labels: Any, logits: Any, label_length: Any, logit_length: Any,
    logits_time_major: bool = True, unique: Any = None, blank_index: Any = None, name: Any = None,
) -> Any:  # fmt: skip
    """`ctc_loss` of labels that stand in the rows of a sparse tensor, one after the other."""
    if blank_index is None:
        raise invalid("ctc_loss", "`blank_index` must be given where `labels` is a SparseTensor")
    rows = labels.indices[:, 0]
    lengths = unsorted_segment_sum(create.ones_like(rows), rows, labels.dense_shape[0])
    starts = cumsum(lengths, exclusive=True)
    places = create.range(dims.size(rows, dtypes.int64)) - gather(starts, rows)
    dense = scatter_nd(stack([rows, places], 1), labels.values, labels.dense_shape)
    return plain(dense, logits, lengths, logit_length, logits_time_major, unique, blank_index)
