"""Ragged tensors to and from dense and sparse ones."""

from __future__ import annotations

from typing import Any

from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition, demanding
from wengert.composite.sparse_tensor import SparseTensor, as_sparse
from wengert.composite.values import Requirement, index_tensor, length, of_rank, unequal
from wengert.core.convert import to_tensor as tensor_of
from wengert.core.shapes import as_shape
from wengert.ops.declare import (
    Dim,
    DType,
    IndexedSlices,
    SymbolicTensor,
    Tensor,
    TensorShape,
    Value,
    at_site,
    dtypes,
    has_unknown_length,
    require,
    static,
    static_tuple,
    tf,
)
from wengert.ops.sizes import at_least

_NO_GAPS = Requirement(
    (
        lambda part, indices, wanted: unequal(part, indices[:, 1], wanted),
        "the values of each row must come first, without gaps",
    )
)


def places(x: RaggedTensor) -> Tensor | IndexedSlices:
    """The index tuple of each flat value, as far as the axes are cut into rows."""
    columns: list[Any] = []
    for rows in x._partitions:
        ids = rows.value_rowids()
        columns = [tf.gather(c, ids) for c in columns] if columns else [ids]
        columns.append(rows.offsets_in_rows())
    return tf.cast(tf.stack(columns, axis=1), dtypes.int64)


def bounding_shape(x: RaggedTensor, axis: int | list[int] | None = None) -> Tensor:
    """The sizes of the smallest dense tensor that holds this one, or some of them."""
    kind = x._partition.dtype
    none = tf.zeros([1], kind)
    widths = [tf.reduce_max(tf.concat([none, rows.row_lengths()], 0)) for rows in x._partitions]
    whole = tf.concat([tf.stack([x.nrows(), *widths]), tf.shape(x.flat_values, kind)[1:]], 0)
    return whole if axis is None else tf.gather(whole, static("bounding_shape", axis))


def uniform_lengths(values: Any, axis: int, dtype: Any) -> Any:
    """The lengths of the rows of a dense tensor along an axis: all the same."""
    sizes = tf.shape(values, dtype)
    return tf.fill(tf.shape(values)[:axis], sizes[axis])


def to_tensor(
    x: RaggedTensor,
    default_value: Tensor | float | list[float] | str | None = None,
    shape: Any = None,
) -> Tensor:
    """A dense tensor with short rows filled up."""
    if has_unknown_length(shape):
        shape = tf.ensure_shape(shape, [x.shape.rank])
    asked = _asked_sizes(shape)
    if asked is not None:
        x = _ranked(x, asked)
    flat, sizes = x.flat_values, _dense_sizes(x, asked)
    at = places(x)
    if asked is not None:
        limits = tensor_of(list(sizes[: x.ragged_rank + 1]), dtypes.int64)
        inside = tf.reduce_all(tf.less(at, limits), axis=1)
        at, flat = tf.boolean_mask(at, inside), tf.boolean_mask(flat, inside)
    if default_value is None:
        start = tf.zeros(sizes, x.dtype)
    else:
        start = tf.broadcast_to(tensor_of(default_value, x.dtype), sizes)
    return tf.tensor_scatter_nd_update(start, at, flat)


def _asked_sizes(
    shape: Tensor | list[SymbolicTensor | int | None] | TensorShape | None,
) -> list[int | Dim] | None:
    """The sizes that a program asked for, -1 where it leaves one open; `None` where all are."""
    if isinstance(shape, list | tuple) and any(isinstance(d, Value) for d in shape):
        return list(static_tuple("to_tensor", [_number(d) for d in shape]))
    if shape is None or isinstance(shape, TensorShape | list | tuple):
        asked = as_shape(shape)
        return None if asked is None else [-1 if d is None else d for d in asked]
    return list(static_tuple("to_tensor", shape))


def _number(size: SymbolicTensor | int | None) -> Tensor | int:
    """A size beside others that are tensors, where `None` has no place."""
    if size is None:
        raise at_site(TypeError("to_tensor: a `shape` of tensors has no None. Use -1 instead."))
    return size


def _ranked(x: RaggedTensor, asked: list[int | Dim]) -> RaggedTensor:
    """A tensor that has as many axes as sizes are asked for; inner ones keep their size."""
    depth = x.ragged_rank
    if x.shape.rank is None and len(asked) > depth:
        x = x.with_flat_values(of_rank(x.flat_values, len(asked) - depth))
    inner = x.flat_values.shape[1:]
    fits = len(asked) == x.shape.rank and all(
        type(w) is Dim or w == -1 or d in (None, w)
        for w, d in zip(asked[depth + 1 :], inner, strict=True)
    )
    require(
        fits and not any(type(w) is int and w < -1 for w in asked),
        "to_tensor",
        lambda: f"`shape` {asked} does not go with {x.shape}",
        x,
    )
    return x


def _dense_sizes(x: RaggedTensor, asked: list[Any] | None) -> Any:
    """The sizes of the dense tensor: as asked for, or as needed; numbers where they are known."""
    if asked is None and x.shape.rank is None:
        return bounding_shape(x)
    wanted = [-1] * len(x.shape) if asked is None else asked
    needed = x.shape.as_list()
    if any(n is None and (type(w) is Dim or w < 0) for n, w in zip(needed, wanted, strict=True)):
        result = static("to_tensor", bounding_shape(x))
        needed = [f if n is None else n for n, f in zip(needed, result, strict=True)]
    return tuple(map(_size, wanted, needed))


def _size(wanted: int, needed: int | Dim | None) -> int | Dim | None:
    """One size of the dense tensor, where a negative wish leaves it open."""
    if type(wanted) is int:
        return needed if wanted < 0 else wanted
    given = tensor_of(at_least("to_tensor", "a size", wanted, -1), dtypes.int64)
    return static("to_tensor", tf.where(tf.less(given, 0), tensor_of(needed, dtypes.int64), given))


def to_sparse(x: RaggedTensor) -> SparseTensor:
    """A sparse tensor with the values at their places."""
    x = cut_to_numbers(x)
    return SparseTensor(places(x), x.flat_values, tf.cast(bounding_shape(x), dtypes.int64))


def cut_to_numbers(x: RaggedTensor) -> RaggedTensor:
    """The same tensor with its inner axes cut like the others: each number has its own place."""
    for _ in range(x.flat_values.shape[1:].rank or 0):
        x = deepened(x)
    return x


def deepened(x: RaggedTensor) -> RaggedTensor:
    """The same tensor with one more inner axis cut into (equal) rows."""
    flat = x.flat_values
    rows = RowPartition.from_uniform_row_length(
        length(flat, 1), nrows=tf.shape(flat)[0], validate=False, dtype=x._partition.dtype
    )
    return x.with_flat_values(
        ragged(tf.reshape(flat, tf.concat([[-1], tf.shape(flat)[2:]], 0)), rows)
    )


def from_sparse(
    st_input: int | SparseTensor, row_splits_dtype: DType = dtypes.int64
) -> RaggedTensor:
    """A ragged tensor from a sparse matrix whose values begin each row without gaps."""
    x = as_sparse("from_sparse", st_input)
    require(
        x.shape.rank == 2,
        "from_sparse",
        lambda: f"a sparse matrix is needed; got shape {x.shape}",
        kind=ValueError,
    )
    kind = dtypes.as_dtype(row_splits_dtype)
    rows = RowPartition.from_value_rowids(
        tf.cast(x.indices[:, 0], kind), tf.cast(x.dense_shape[0], kind), validate=False
    )
    wanted = rows.offsets_in_rows()
    rows = demanding("from_sparse", _NO_GAPS, rows, x.indices, wanted)
    return ragged(x.values, rows)


def from_tensor(
    tensor: Any,
    lengths: Tensor | list[int] | tuple[list[int], ...] | None = None,
    padding: float | list[int] | str | None = None,
    ragged_rank: int = 1,
    row_splits_dtype: DType = dtypes.int64,
) -> RaggedTensor:
    """A ragged tensor from a dense one."""
    x, kind = tensor_of(tensor), dtypes.as_dtype(row_splits_dtype)
    require(
        lengths is None or padding is None,
        "from_tensor",
        "give `lengths` or `padding`, not both",
        kind=ValueError,
    )
    if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int | float):
        return _by_nested_lengths(x, lengths, kind)
    require(
        ragged_rank > 0 and x.shape.rank is not None and (x.shape.rank > ragged_rank),
        "from_tensor",
        f"`ragged_rank` {ragged_rank} does not go with the rank",
        x,
    )
    if ragged_rank > 1:
        return _split_first(x, lengths, padding, ragged_rank, kind)
    if padding is not None:
        lengths = _lengths_without(x, padding, kind)
    if lengths is None:
        return _uniform(x, kind)
    return _by_lengths(x, index_tensor("from_tensor", lengths, kind), kind)


def _uniform(x: Tensor, kind: DType) -> RaggedTensor:
    sizes = tf.shape(x)
    rows = RowPartition.from_uniform_row_length(
        length(x, 1), nrows=sizes[0], validate=False, dtype=kind
    )
    return ragged(tf.reshape(x, tf.concat([(sizes[0] * sizes[1])[None], sizes[2:]], 0)), rows)


def _split_first(x: Tensor, lengths: Any, padding: Any, depth: int, kind: DType) -> RaggedTensor:
    """Cuts the outer axes into equal rows and the innermost one as asked."""
    outer = _uniform(x, kind)
    inner = from_tensor(outer.values, lengths, padding, depth - 1, kind)
    return ragged(inner, outer._partition)


def _by_nested_lengths(x: Tensor, lengths: Any, kind: DType) -> RaggedTensor:
    made = _by_lengths(x, index_tensor("from_tensor", lengths[0], kind), kind)
    if len(lengths) == 1:
        return made
    inner = lengths[1] if len(lengths) == 2 else lengths[1:]
    return ragged(from_tensor(made.values, inner, None, 1, kind), made._partition)


def _lengths_without(x: Any, padding: float | list[int] | str, kind: DType) -> Tensor:
    """How long each row is without the padding at its end."""
    fill = tensor_of(padding, x.dtype)
    require(
        x.shape[2:].is_compatible_with(fill.shape),
        "from_tensor",
        "`padding` must have the shape of a value",
        fill,
    )
    differs = tf.not_equal(x, fill)
    if x.shape.rank > 2:
        # A value is padding only if all of it is.
        axes = list(range(2, x.shape.rank))
        differs = tf.reduce_max(tf.cast(differs, dtypes.int32), axis=axes) > 0
    numbered = tf.range(1, tf.cast(tf.shape(x)[1], kind) + 1)
    ends = tf.where(differs, tf.broadcast_to(numbered, tf.shape(differs)), tf.zeros([], kind))
    empty = tf.zeros(tf.concat([tf.shape(x)[:1], [1]], 0), kind)
    return tf.reduce_max(tf.concat([empty, ends], 1), axis=1)


def _by_lengths(x: Tensor, lengths: Tensor, kind: DType) -> RaggedTensor:
    require(
        x.shape[:1].is_compatible_with(lengths.shape),
        "from_tensor",
        "there must be one length per row",
        x,
        lengths,
    )
    width = tf.cast(tf.shape(x)[1], kind)
    lengths = tf.minimum(tf.maximum(tf.cast(lengths, kind), tf.zeros([], kind)), width)
    inside = tf.less(tf.range(width), tf.expand_dims(lengths, 1))
    return ragged(
        tf.boolean_mask(x, inside), RowPartition.from_row_lengths(lengths, validate=False)
    )
