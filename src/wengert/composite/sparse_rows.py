"""Sparse tensors row by row: sums and extremes over axes, products of matrices, empty rows.

In the product of two sparse matrices each value of the left one meets the row of the right one that
its column names, and products that land in the same place are added: the work is that of the
products, not of the dense sizes.
"""

from __future__ import annotations

from typing import Any

from wengert.composite.row_partition import RowPartition
from wengert.composite.sparse_order import numbered, tuples
from wengert.composite.sparse_shaping import reorder
from wengert.composite.sparse_tensor import SparseTensor, as_sparse, shaped
from wengert.composite.values import of_rank, pick
from wengert.ops.declare import (
    Axis,
    Tensor,
    TensorLike,
    dtypes,
    operand,
    require,
    shapes,
    static,
    tf,
    to_tensor,
)
from wengert.ops.indexing import where_indices
from wengert.ops.shape_checks import sized


def reduce_sum(
    sp_input: TensorLike,
    axis: Axis = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sum over `axis`, or over everything; dense unless `output_is_sparse`."""
    return _reduce("reduce_sum", tf.segment_sum, sp_input, axis, keepdims, output_is_sparse)


def reduce_max(
    sp_input: TensorLike,
    axis: Axis = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The largest of the values that are there, over `axis`; zero where there are none."""
    return _reduce("reduce_max", tf.segment_max, sp_input, axis, keepdims, output_is_sparse)


def _reduce(
    name: str,
    combine: Any,
    sp_input: TensorLike,
    axis: Tensor | int | list[int] | Axis | None,
    keepdims: bool | None,
    sparse: bool,
) -> Tensor | SparseTensor:
    x = as_sparse(name, sp_input)
    rank = len(x.shape)
    gone = set(shapes.axes(name, static(name, axis), rank))
    kept = [i for i in range(rank) if i not in gone]
    rest = SparseTensor(
        tf.gather(x.indices, to_tensor(kept, dtypes.int32), axis=1),
        x.values,
        tf.gather(x.dense_shape, to_tensor(kept, dtypes.int32)),
    )
    places = numbered(name, rest)
    order = tf.argsort(places, stable=True)
    result = tf.unique(tf.gather(places, order), dtypes.int64)
    values = combine(pick(x.values, order), result.idx)
    if keepdims:
        mask = [int(i not in gone) for i in range(rank)]
        shape = x.dense_shape * mask + [1 - m for m in mask]
    else:
        shape = rest.dense_shape
    made = SparseTensor(tuples(name, result.y, shape), values, shape)
    if sparse:
        return made
    flat = tf.scatter_nd(
        tf.expand_dims(result.y, 1), values, tf.expand_dims(tf.reduce_prod(shape), 0)
    )
    return tf.reshape(flat, shape)


def sparse_dense_matmul(
    sp_a: TensorLike,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse and a dense matrix (in either order) as a dense one.

    The gradient by the sparse matrix is for its values only.
    """
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        # (a b)ᴴ = bᴴ aᴴ puts the sparse one first.
        a = of_rank(operand(sp_a, None, b.dtype), 2)
        result = sparse_dense_matmul(b, a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        return tf.adjoint(result)
    a = as_sparse("sparse_dense_matmul", sp_a)
    dense = of_rank(operand(b, None, a.dtype), 2)
    dense = _fitting_product(a, dense, adjoint_a, adjoint_b)
    if adjoint_b:
        dense = tf.adjoint(dense)
    rows, columns = a.indices[:, 0], a.indices[:, 1]
    values, count = a.values, a.shape[0]
    if adjoint_a:
        rows, columns, count = columns, rows, a.shape[1]
        values = tf.conj(values) if a.dtype.is_complex else values
    picked = tf.multiply(pick(dense, columns), tf.expand_dims(values, 1))
    if count is None:
        count = a.dense_shape[1 if adjoint_a else 0]
    return tf.unsorted_segment_sum(picked, rows, count)


def _fitting_product(a: SparseTensor, b: Tensor, adjoint_a: bool, adjoint_b: bool) -> Tensor:
    """The dense matrix, whose inner size must be that of the sparse one."""
    name, rule = "sparse_dense_matmul", "inner dimensions must agree"
    fits = len(a.shape) == 2 and len(b.shape) == 2 and a.dtype is b.dtype
    require(fits, name, "two matrices of one dtype are needed", a, b)
    inner, other = a.shape[0 if adjoint_a else 1], b.shape[1 if adjoint_b else 0]
    require(inner == other or None in (inner, other), name, rule, a, b)
    return sized(name, rule, b, (None, inner) if adjoint_b else (inner, None))


def fill_empty_rows(
    sp_input: TensorLike, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Gives each row without values `default_value` in its first place; also tells which rows."""
    x = as_sparse("fill_empty_rows", sp_input)
    default = to_tensor(default_value, x.dtype)
    rows = x.indices[:, 0]
    filled = tf.tensor_scatter_nd_update(
        tf.zeros(x.dense_shape[:1], dtypes.bool_),
        tf.expand_dims(rows, 1),
        tf.equal(rows, rows),
    )
    empty = tf.logical_not(filled)
    lines = where_indices(empty)
    rest = tf.zeros(tf.concat([tf.shape(lines)[:1], [len(x.shape) - 1]], 0), dtypes.int64)
    indices = tf.concat([x.indices, tf.concat([lines, rest], 1)], 0)
    values = tf.concat([x.values, tf.fill(tf.shape(lines)[:1], default)], 0)
    order = tf.argsort(indices[:, 0], stable=True)
    return shaped(
        SparseTensor(tf.gather(indices, order), tf.gather(values, order), x.dense_shape), x.shape
    ), empty


def sparse_sparse_matmul(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The matrix product of two sparse tensors of rank 2, or of rank 3 stack by stack."""
    x, y = as_sparse("sparse_sparse_matmul", a), reorder(b)
    _check(x, y)
    # Rows of y are numbered through all matrices of the stack.
    row_of_y = numbered(
        "sparse_sparse_matmul", SparseTensor(y.indices[:, :-1], y.values, y.dense_shape[:-1])
    )
    rows = RowPartition.from_value_rowids(row_of_y, tf.reduce_prod(y.dense_shape[:-1]))
    wanted = numbered("sparse_sparse_matmul", _by_column(x, y))
    meets = RowPartition.from_row_lengths(tf.gather(rows.row_lengths(), wanted), validate=False)
    left = meets.value_rowids()
    right = tf.add(tf.gather(tf.gather(rows.row_starts(), wanted), left), meets.offsets_in_rows())
    values = tf.multiply(pick(x.values, left), pick(y.values, right))
    outer = tf.gather(x.indices[:, :-1], left)
    indices = tf.concat([outer, tf.gather(y.indices[:, -1:], right)], 1)
    return _summed(indices, values, tf.concat([x.dense_shape[:-1], y.dense_shape[-1:]], 0))


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
    require(
        rank in (2, 3) and y.shape.rank == rank and inner and (x.dtype is y.dtype),
        "sparse_sparse_matmul",
        "two matrices (or stacks) that fit are needed",
        x,
        y,
    )
    require(
        x.shape[:-2].is_compatible_with(y.shape[:-2]),
        "sparse_sparse_matmul",
        "the stacks must have one size",
        x,
        y,
    )
