"""The product of two sparse matrices, or of two stacks of them, as a sparse tensor.

Each value of the left one meets the whole row of the right one that its column names; products
that land in the same place are added. The work is that of the products, not of the dense sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wengert.composite.row_partition import RowPartition
from wengert.composite.sparse_order import numbered, tuples
from wengert.composite.sparse_shaping import reorder
from wengert.composite.sparse_tensor import SparseTensor, as_sparse
from wengert.composite.values import pick
from wengert.core import dtypes
from wengert.core.errors import invalid
from wengert.ops import public as tf

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


def sparse_sparse_matmul(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The matrix product of two sparse tensors of rank 2, or of rank 3 stack by stack."""
    x, y = as_sparse("sparse_sparse_matmul", a), reorder(b)
    _check(x, y)
    # Rows of y are numbered through all matrices of the stack.
    row_of_y = numbered("sparse_sparse_matmul", _without_last(y))
    rows = RowPartition.from_value_rowids(row_of_y, tf.reduce_prod(y.dense_shape[:-1]))
    wanted = numbered("sparse_sparse_matmul", _by_column(x, y))
    meets = RowPartition.from_row_lengths(tf.gather(rows.row_lengths(), wanted), validate=False)
    left = meets.value_rowids()
    right = tf.add(tf.gather(tf.gather(rows.row_starts(), wanted), left), meets.offsets_in_rows())
    values = tf.multiply(pick(x.values, left), pick(y.values, right))
    outer = tf.gather(x.indices[:, :-1], left)
    indices = tf.concat([outer, tf.gather(y.indices[:, -1:], right)], 1)
    return _summed(indices, values, tf.concat([x.dense_shape[:-1], y.dense_shape[-1:]], 0))


def _without_last(x: SparseTensor) -> SparseTensor:
    return SparseTensor(x.indices[:, :-1], x.values, x.dense_shape[:-1])


def _by_column(x: SparseTensor, y: SparseTensor) -> SparseTensor:
    """The values of x at the rows of y that their columns name."""
    places = tf.concat([x.indices[:, :-2], x.indices[:, -1:]], 1)
    return SparseTensor(places, x.values, y.dense_shape[:-1])


def _summed(indices: Tensor, values: Tensor, shape: Tensor) -> SparseTensor:
    """Values in row order, those in the same place added up."""
    places = numbered("sparse_sparse_matmul", SparseTensor(indices, values, shape))
    order = tf.argsort(places, stable=True)
    result = tf.unique(tf.gather(places, order), dtypes.int64)
    total = tf.segment_sum(pick(values, order), result.idx)
    return SparseTensor(tuples("sparse_sparse_matmul", result.y, shape), total, shape)


def _check(x: SparseTensor, y: SparseTensor) -> None:
    rank = x.shape.rank
    inner = None if rank is None else x.shape[-1:].is_compatible_with(y.shape[-2:-1])
    if rank not in (2, 3) or y.shape.rank != rank or not inner or x.dtype is not y.dtype:
        raise invalid("sparse_sparse_matmul", "two matrices (or stacks) that fit are needed", x, y)
    if not x.shape[:-2].is_compatible_with(y.shape[:-2]):
        raise invalid("sparse_sparse_matmul", "the stacks must have one size", x, y)
