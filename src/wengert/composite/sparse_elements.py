"""Sparse tensors element by element: to and from dense ones, sums, extremes, and maps of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.composite.sparse_order import check_order, union
from wengert.composite.sparse_tensor import SparseTensor, as_sparse, shaped
from wengert.composite.values import Requirement, demand
from wengert.ops.declare import (
    DType,
    IndexedSlices,
    Tensor,
    TensorLike,
    Value,
    describe,
    dtypes,
    operand,
    require,
    require_dtype,
    tf,
    to_tensor,
)
from wengert.ops.indexing import where_indices

if TYPE_CHECKING:
    import numpy as np


_NOT_ZERO = Requirement((lambda below: below == 0, "a sparse tensor is not divided by zero"))


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero (or not empty, for strings)."""
    x = to_tensor(tensor)
    if x.dtype is dtypes.bool_:
        indices = where_indices(x)
    else:
        indices = where_indices(tf.not_equal(x, "" if x.dtype is dtypes.string else 0))
    return shaped(
        SparseTensor(indices, tf.gather_nd(x, indices), tf.shape(x, dtypes.int64)), x.shape
    )


def to_dense(
    sp_input: TensorLike,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The whole tensor, with `default_value` (zero) where the sparse one has no value.

    Index tuples that repeat or are out of order are an error unless `validate_indices` is false;
    then the last of two wins.

    Args:
        sp_input: a `SparseTensor`.
        default_value: a scalar of the same dtype.
        validate_indices: whether to check the order.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        InvalidArgumentError: an index is outside, twice there or out of order.

    >>> tf.sparse.to_dense(tf.SparseTensor([[1]], [7], [3])).numpy().tolist()
    [0, 7, 0]
    """
    x = as_sparse("to_dense", sp_input)
    if validate_indices:
        check_order("to_dense", x)
    if default_value is None:
        start = tf.zeros(x.dense_shape, x.dtype)
    else:
        start = tf.fill(x.dense_shape, operand(default_value, None, x.dtype))
    return tf.tensor_scatter_nd_update(start, x.indices, x.values)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Calls a function on the values of sparse arguments, which must have the same places.

    >>> x = tf.sparse.from_dense([[0.0, 2.0]])
    >>> tf.sparse.map_values(tf.square, x).values.numpy().tolist()
    [4.0]
    """
    sparse = [x for x in (*args, *kwargs.values()) if isinstance(x, SparseTensor)]
    require(sparse, "map_values", "at least one argument must be a SparseTensor", kind=ValueError)
    for other in sparse[1:]:
        _check_same_places("map_values", sparse[0], other)
    result = op(*map(_values, args), **{k: _values(v) for k, v in kwargs.items()})
    require(
        result.shape.rank != 0 and result.shape[:1].is_compatible_with(sparse[0].values.shape),
        "map_values",
        lambda: (
            f"the function must keep the number of values; it made {describe(result)} of "
            f"{describe(sparse[0].values)}"
        ),
        kind=ValueError,
    )
    return sparse[0].with_values(result)


def _values(x: float | SparseTensor | DType) -> Tensor | float | DType:
    return x.values if isinstance(x, SparseTensor) else x


def _check_same_places(name: str, x: SparseTensor, y: SparseTensor) -> None:
    same = x.indices is y.indices and x.dense_shape is y.dense_shape
    if same:
        return
    fits = x.values.shape.is_compatible_with(y.values.shape) and x.shape.rank == y.shape.rank
    require(
        fits and tf.reduce_all(tf.equal(x.indices, y.indices)),
        name,
        "the sparse tensors must have the same places",
        x,
        y,
    )


def times(x: SparseTensor, other: Value | float | np.ndarray | SparseTensor) -> SparseTensor:
    """The product with a dense tensor, which broadcasts to the shape of the sparse one."""
    return x.with_values(tf.multiply(x.values, _at_places("multiply", x, other)))


def over(x: SparseTensor, other: TensorLike) -> SparseTensor:
    """The quotient by a dense tensor, which broadcasts to the shape of the sparse one."""
    below = demand("divide", _NOT_ZERO, _at_places("divide", x, other))
    return x.with_values(tf.truediv(x.values, below))


def _at_places(name: str, x: SparseTensor, other: TensorLike) -> Tensor:
    """The elements of a dense tensor at the places of a sparse one."""
    dense = operand(other, None, x.dtype)
    rank = len(dense.shape)
    if not rank:
        return dense
    wanted = x.shape[-rank:]
    pairs = zip(dense.shape, wanted, strict=False)
    require(
        len(wanted) >= rank and all(d in (1, None, w) or w is None for d, w in pairs),
        name,
        "only the dense tensor broadcasts, and only to the sparse one",
        x,
        dense,
    )
    kept = operand([int(d != 1) for d in dense.shape], dtypes.int64)
    return tf.gather_nd(dense, x.indices[:, -rank:] * kept)


def add(a: TensorLike, b: Any, threshold: TensorLike = 0) -> Any:
    """The sum: sparse of two sparse tensors, dense where one is dense.

    Where both sparse tensors have a value, a sum smaller than `threshold` in magnitude is left out.
    """
    require(
        isinstance(a, SparseTensor) or isinstance(b, SparseTensor),
        "add",
        "at least one argument must be a SparseTensor",
        kind=TypeError,
    )
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        sparse, dense = (a, b) if isinstance(a, SparseTensor) else (b, a)
        return _add_to_dense(sparse, operand(dense, None, sparse.dtype))
    _check_pair("add", a, b)
    result = union("add", a, b)
    total = tf.add(result.ours, result.theirs)
    magnitude = tf.abs(total)
    large = tf.greater_equal(magnitude, operand(threshold, None, magnitude.dtype))
    keep = tf.logical_or(large, tf.logical_not(result.shared))
    return shaped(
        SparseTensor(
            tf.boolean_mask(result.indices, keep), tf.boolean_mask(total, keep), a.dense_shape
        ),
        a.shape,
    )


def _add_to_dense(x: SparseTensor, dense: Tensor) -> Tensor:
    require(x.shape.is_compatible_with(dense.shape), "add", "the shapes must agree", x, dense)
    return tf.tensor_scatter_nd_add(dense, x.indices, x.values)


def _check_pair(name: str, a: SparseTensor, b: SparseTensor) -> None:
    require(
        a.dtype is b.dtype and a.shape.is_compatible_with(b.shape),
        name,
        "the sparse tensors must have one shape and dtype",
        a,
        b,
    )


def maximum(sp_a: TensorLike, sp_b: TensorLike, name: str | None = None) -> SparseTensor:
    """The larger of two sparse tensors element by element, at the places of either."""
    return _extreme("maximum", tf.maximum, sp_a, sp_b)


def minimum(sp_a: TensorLike, sp_b: TensorLike, name: str | None = None) -> SparseTensor:
    """The smaller of two sparse tensors element by element, at the places of either."""
    return _extreme("minimum", tf.minimum, sp_a, sp_b)


def _extreme(
    name: str, combine: Callable[..., Any], sp_a: TensorLike, sp_b: TensorLike
) -> SparseTensor:
    a, b = as_sparse(name, sp_a), as_sparse(name, sp_b)
    _check_pair(name, a, b)
    result = union(name, a, b)
    return shaped(
        SparseTensor(result.indices, combine(result.ours, result.theirs), a.dense_shape), a.shape
    )


def retain(sp_input: TensorLike, to_retain: TensorLike) -> SparseTensor:
    """The values where `to_retain` is true."""
    x, keep = as_sparse("retain", sp_input), operand(to_retain)
    require(
        x.values.shape.is_compatible_with(keep.shape),
        "retain",
        lambda: f"`to_retain` needs one truth value for each of the values {describe(x.values)}",
        keep,
        kind=ValueError,
    )
    return shaped(
        SparseTensor(
            tf.boolean_mask(x.indices, keep), tf.boolean_mask(x.values, keep), x.dense_shape
        ),
        x.shape,
    )


def mask(a: Any, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """`IndexedSlices` without the rows that `mask_indices` name."""
    require_dtype(isinstance(a, IndexedSlices), "sparse.mask", "`a` must be tf.IndexedSlices", a)
    gone = tf.equal(tf.expand_dims(a.indices, 1), operand(mask_indices, None, a.indices.dtype))
    keep = tf.equal(tf.reduce_any(gone, axis=1), False)
    return IndexedSlices(
        tf.boolean_mask(a.values, keep), tf.boolean_mask(a.indices, keep), a.dense_shape
    )


def softmax(sp_input: TensorLike, name: str | None = None) -> SparseTensor:
    """Softmax along the last axis over the values that are there."""
    x = as_sparse("softmax", sp_input)
    require(
        x.shape.rank is None or x.shape.rank >= 2,
        "softmax",
        "a sparse tensor of rank 2 or more is needed",
        x,
    )
    check_order("softmax", x)
    rows = _row_segments(x)
    top = tf.stop_gradient(tf.gather(tf.segment_max(x.values, rows), rows))
    parts = tf.exp(tf.subtract(x.values, top))
    return x.with_values(tf.truediv(parts, tf.gather(tf.segment_sum(parts, rows), rows)))


def _row_segments(x: SparseTensor) -> Tensor:
    """For each value the number of its row, counting only rows that have values."""
    lead = x.indices[:, :-1]
    changed = tf.reduce_any(tf.not_equal(lead[1:], lead[:-1]), axis=1)
    first = tf.equal(x.indices[:1, 0], x.indices[:1, 0])
    return tf.cumsum(tf.cast(tf.concat([first, changed], 0), dtypes.int64)) - 1


def to_indicator(sp_input: TensorLike, vocab_size: TensorLike, name: str | None = None) -> Tensor:
    """A dense tensor of truth values: whether a number below `vocab_size` is in each row."""
    x = as_sparse("to_indicator", sp_input)
    numbers = tf.cast(x.values, dtypes.int64)
    size = operand(vocab_size, None, dtypes.int64)
    indices = tf.concat([x.indices[:, :-1], tf.expand_dims(numbers, 1)], 1)
    shape = tf.concat([x.dense_shape[:-1], tf.expand_dims(tf.cast(size, dtypes.int64), 0)], 0)
    return tf.tensor_scatter_nd_update(
        tf.zeros(shape, dtypes.bool_), indices, tf.ones(tf.shape(numbers), dtypes.bool_)
    )
