"""Ragged tensors to and from dense and sparse ones."""

from __future__ import annotations

from typing import Any

from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition, demanding
from wengert.composite.sparse_tensor import SparseTensor, as_sparse
from wengert.composite.values import index_tensor, length
from wengert.core import dtypes
from wengert.core.convert import to_tensor as tensor_of
from wengert.core.errors import at_site, invalid
from wengert.core.shapes import TensorShape, as_shape
from wengert.ops import create
from wengert.ops.cast import cast
from wengert.ops.compare import less, not_equal
from wengert.ops.declare import static
from wengert.ops.dims import expand_dims
from wengert.ops.dims import shape as shape_of
from wengert.ops.gather import gather
from wengert.ops.indexing import boolean_mask
from wengert.ops.joining import concat, stack
from wengert.ops.reduce import reduce_all, reduce_max
from wengert.ops.scatter import tensor_scatter_nd_update
from wengert.ops.select import maximum, minimum, where
from wengert.ops.shaping import broadcast_to, reshape


def places(x: RaggedTensor) -> Any:
    """The index tuple of each flat value, as far as the axes are cut into rows."""
    columns: list[Any] = []
    for rows in x._partitions:
        ids = rows.value_rowids()
        columns = [gather(c, ids) for c in columns] if columns else [ids]
        columns.append(rows.offsets_in_rows())
    return cast(stack(columns, axis=1), dtypes.int64)


def bounding_shape(x: RaggedTensor, axis: Any = None) -> Any:
    """The sizes of the smallest dense tensor that holds this one, or some of them."""
    kind = x._partition.dtype
    none = create.zeros([1], kind)
    widths = [reduce_max(concat([none, rows.row_lengths()], 0)) for rows in x._partitions]
    whole = concat([stack([x.nrows(), *widths]), shape_of(x.flat_values, kind)[1:]], 0)
    return whole if axis is None else gather(whole, static("bounding_shape", axis))


def uniform_lengths(values: Any, axis: int, dtype: Any) -> Any:
    """The lengths of the rows of a dense tensor along an axis: all the same."""
    sizes = shape_of(values, dtype)
    return create.fill(shape_of(values)[:axis], sizes[axis])


def to_tensor(x: RaggedTensor, default_value: Any = None, shape: Any = None) -> Any:
    """A dense tensor with short rows filled up."""
    flat, depth = x.flat_values, x.ragged_rank
    sizes = _dense_sizes(x, shape)
    at = places(x)
    if shape is not None:
        inside = reduce_all(less(at, cast(sizes[: depth + 1], dtypes.int64)), axis=1)
        at, flat = boolean_mask(at, inside), boolean_mask(flat, inside)
    if default_value is None:
        start = create.zeros(sizes, x.dtype)
    else:
        start = broadcast_to(tensor_of(default_value, x.dtype), sizes)
    return tensor_scatter_nd_update(start, at, flat)


def _dense_sizes(x: RaggedTensor, shape: Any) -> Any:
    """The sizes of the dense tensor: as asked for, or as needed."""
    needed = bounding_shape(x)
    if shape is None:
        return needed
    if isinstance(shape, TensorShape | list | tuple):
        asked: Any = as_shape(shape)
        if asked is None:
            return needed
        asked = [-1 if d is None else d for d in asked]
    else:
        asked = static("to_tensor", shape)
    inner = x.flat_values.shape[1:]
    wanted = asked[x.ragged_rank + 1 :]
    fits = len(asked) == x.shape.rank and all(
        w == -1 or w == d for w, d in zip(wanted, inner, strict=True)
    )
    if not fits:
        raise invalid("to_tensor", f"`shape` {asked} does not go with {x.shape}", x)
    target = tensor_of(asked, needed.dtype)
    return where(less(target, 0), needed, target)


def to_sparse(x: RaggedTensor) -> SparseTensor:
    """A sparse tensor with the values at their places."""
    flat = x.flat_values
    inner = flat.shape[1:]
    if inner.rank:
        # Inner axes are cut like the others, so that each number has its own index tuple.
        whole = x
        for _ in range(inner.rank):
            whole = deepened(whole)
        return to_sparse(whole)
    return SparseTensor(places(x), flat, cast(bounding_shape(x), dtypes.int64))


def deepened(x: RaggedTensor) -> RaggedTensor:
    """The same tensor with one more inner axis cut into (equal) rows."""
    flat = x.flat_values
    rows = RowPartition.from_uniform_row_length(
        length(flat, 1), nrows=shape_of(flat)[0], validate=False, dtype=x._partition.dtype
    )
    return x.with_flat_values(ragged(reshape(flat, concat([[-1], shape_of(flat)[2:]], 0)), rows))


def from_sparse(st_input: Any, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
    """A ragged tensor from a sparse matrix whose values begin each row without gaps."""
    x = as_sparse("from_sparse", st_input)
    if x.shape.rank != 2:
        raise at_site(ValueError(f"from_sparse: a sparse matrix is needed; got shape {x.shape}."))
    kind = dtypes.as_dtype(row_splits_dtype)
    rows = RowPartition.from_value_rowids(
        cast(x.indices[:, 0], kind), cast(x.dense_shape[0], kind), validate=False
    )
    wanted = rows.offsets_in_rows()
    rows = demanding("from_sparse", _check_gaps, _bad_gaps, rows, x.indices, wanted)
    return ragged(x.values, rows)


def _check_gaps(name: str, part: Any, indices: Any, wanted: Any) -> None:
    if indices[:, 1].shape != wanted.shape or (indices[:, 1] != wanted).any():
        raise invalid(name, "the values of each row must come first, without gaps")


def _bad_gaps(part: Any, indices: Any, wanted: Any) -> tuple[Any, ...]:
    return (indices[:, 1] != wanted,)


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """A ragged tensor from a dense one."""
    x, kind = tensor_of(tensor), dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise at_site(ValueError("from_tensor: give `lengths` or `padding`, not both."))
    if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int | float):
        return _by_nested_lengths(x, lengths, kind)
    if ragged_rank <= 0 or x.shape.rank is None or x.shape.rank <= ragged_rank:
        raise invalid("from_tensor", f"`ragged_rank` {ragged_rank} does not go with the rank", x)
    if ragged_rank > 1:
        return _split_first(x, lengths, padding, ragged_rank, kind)
    if padding is not None:
        lengths = _lengths_without(x, padding, kind)
    if lengths is None:
        return _uniform(x, kind)
    return _by_lengths(x, index_tensor("from_tensor", lengths, kind), kind)


def _uniform(x: Any, kind: Any) -> RaggedTensor:
    sizes = shape_of(x)
    rows = RowPartition.from_uniform_row_length(
        length(x, 1), nrows=sizes[0], validate=False, dtype=kind
    )
    return ragged(reshape(x, concat([(sizes[0] * sizes[1])[None], sizes[2:]], 0)), rows)


def _split_first(x: Any, lengths: Any, padding: Any, depth: int, kind: Any) -> RaggedTensor:
    """Cuts the outer axes into equal rows and the innermost one as asked."""
    outer = _uniform(x, kind)
    inner = from_tensor(outer.values, lengths, padding, depth - 1, kind)
    return ragged(inner, outer._partition)


def _by_nested_lengths(x: Any, lengths: Any, kind: Any) -> RaggedTensor:
    made = _by_lengths(x, index_tensor("from_tensor", lengths[0], kind), kind)
    if len(lengths) == 1:
        return made
    inner = lengths[1] if len(lengths) == 2 else lengths[1:]
    return ragged(from_tensor(made.values, inner, None, 1, kind), made._partition)


def _lengths_without(x: Any, padding: Any, kind: Any) -> Any:
    """How long each row is without the padding at its end."""
    fill = tensor_of(padding, x.dtype)
    if not x.shape[2:].is_compatible_with(fill.shape):
        raise invalid("from_tensor", "`padding` must have the shape of a value", fill)
    differs = not_equal(x, fill)
    if x.shape.rank > 2:
        # A value is padding only if all of it is.
        axes = list(range(2, x.shape.rank))
        differs = reduce_max(cast(differs, dtypes.int32), axis=axes) > 0
    numbered = create.range(1, cast(shape_of(x)[1], kind) + 1)
    ends = where(differs, broadcast_to(numbered, shape_of(differs)), create.zeros([], kind))
    empty = create.zeros(concat([shape_of(x)[:1], [1]], 0), kind)
    return reduce_max(concat([empty, ends], 1), axis=1)


def _by_lengths(x: Any, lengths: Any, kind: Any) -> RaggedTensor:
    if not x.shape[:1].is_compatible_with(lengths.shape):
        raise invalid("from_tensor", "there must be one length per row", x, lengths)
    width = cast(shape_of(x)[1], kind)
    lengths = minimum(maximum(cast(lengths, kind), create.zeros([], kind)), width)
    inside = less(create.range(width), expand_dims(lengths, 1))
    return ragged(boolean_mask(x, inside), RowPartition.from_row_lengths(lengths, validate=False))
