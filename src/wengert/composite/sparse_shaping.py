"""Sparse tensors cut, joined and rearranged; values move, and gradients with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.composite.sparse_order import numbered, sorted_by, tuples
from wengert.composite.sparse_tensor import SparseTensor, as_sparse, shaped
from wengert.composite.values import Requirement, demand, int64_tensor, known
from wengert.ops.declare import (
    Axis,
    DTypeLike,
    IndexedSlices,
    ShapeLike,
    Tensor,
    TensorLike,
    Value,
    at_site,
    describe,
    dtypes,
    invalid,
    invalid_dtype,
    jnp,
    operand,
    require,
    static,
    static_int,
    tf,
    to_tensor,
)
from wengert.ops.dims import get_static_value

_SIZES = Requirement(
    (
        lambda sizes, own: _misfit(sizes, own, np if isinstance(sizes, np.ndarray) else jnp),
        lambda sizes, own: f"{own.prod()} elements do not fit shape {sizes.tolist()}",
    )
)
_PARTS = Requirement(
    (
        lambda size, count: count > size,
        lambda size, count: f"an axis of size {size} does not give {count} parts",
    )
)
_AT_LEAST = Requirement(
    (
        lambda wanted, own: own.shape != wanted.shape or own > wanted,
        lambda wanted, own: (
            f"`new_shape` {wanted.tolist()} must be at least {own.tolist()} along each axis"
        ),
    )
)


def reorder(sp_input: TensorLike, name: str | None = None) -> SparseTensor:
    """The same tensor with its index tuples in row order."""
    x = as_sparse("reorder", sp_input)
    return sorted_by(numbered("reorder", x), x)


def transpose(
    sp_input: TensorLike, perm: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """The axes in another order, reversed without `perm`."""
    x = as_sparse("transpose", sp_input)
    axes = list(range(len(x.shape)))
    order = axes[::-1] if perm is None else list(_axes(perm))
    require(sorted(order) == axes, "transpose", f"`perm` {order} must name each axis once", x)
    return reorder(
        shaped(
            SparseTensor(
                tf.gather(x.indices, order, axis=1), x.values, tf.gather(x.dense_shape, order)
            ),
            [x.shape[i] for i in order],
        )
    )


def _axes(perm: TensorLike) -> tuple[int, ...]:
    result = static("transpose", perm)
    if isinstance(result, tuple) and all(isinstance(a, int) for a in result):
        return result
    raise invalid_dtype("transpose", "`perm` must be a list of axes", perm)


def reshape(sp_input: TensorLike, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """The same values in row order under another shape, of which one size may be -1."""
    x = as_sparse("reshape", sp_input)
    wanted = tf.cast(to_tensor(shape, None, dtypes.int64), dtypes.int64)
    require(wanted.shape.rank in (None, 1), "reshape", "`shape` must be a list of sizes", wanted)
    sizes, own = known(wanted), known(x.dense_shape)
    if sizes is not None and own is not None:
        wanted = to_tensor(_resolved(own.tolist(), sizes.tolist(), x), dtypes.int64)
    else:
        wanted = demand("reshape", _SIZES, wanted, x.dense_shape)
        free = tf.less(wanted, 0)
        rest = tf.reduce_prod(tf.where(free, tf.ones_like(wanted), wanted))
        wanted = tf.where(
            free, tf.floordiv(tf.reduce_prod(x.dense_shape), tf.maximum(rest, 1)), wanted
        )
    made = SparseTensor(tuples("reshape", numbered("reshape", x), wanted), x.values, wanted)
    if sizes is not None:
        made.set_shape(_new_sizes(x, sizes.tolist()))
    return made


def _new_sizes(x: SparseTensor, sizes: list[int]) -> list[int | None]:
    """The new sizes as far as they are known while tracing."""
    own = [d for d in x.shape if d is not None]
    if len(own) == len(x.shape):
        return [*_resolved(own, sizes, x)]
    return [None if d == -1 else d for d in sizes]


def _resolved(own: list[int], sizes: list[int], *got: Any) -> list[int]:
    """The new sizes with -1 worked out."""
    total = math.prod(own)
    rest = math.prod(d for d in sizes if d != -1)
    if sizes.count(-1) == 1 and rest and total % rest == 0:
        sizes = [total // rest if d == -1 else d for d in sizes]
    require(
        math.prod(sizes) == total and min(sizes, default=0) >= 0,
        "reshape",
        f"{total} elements do not fit shape {sizes}",
        *got,
    )
    return sizes


def _misfit(sizes: Any, own: Any, xp: Any) -> Any:
    """Whether sizes, of which one may be -1, do not make up as many elements as there are."""
    free = sizes == -1
    rest, total = xp.where(free, 1, sizes).prod(), own.prod()
    divides = (rest != 0) & (total % xp.where(rest == 0, 1, rest) == 0)
    fits = xp.where(free.any(), divides, rest == total)
    return (sizes < -1).any() | (free.sum() > 1) | ~fits


def expand_dims(sp_input: TensorLike, axis: Axis = None, name: str | None = None) -> SparseTensor:
    """Inserts an axis of size 1 at `axis`, at the end without one."""
    x = as_sparse("expand_dims", sp_input)
    rank = len(x.shape)
    place = static_int("expand_dims", -1 if axis is None else axis)
    if not -rank - 1 <= place <= rank:
        raise invalid(
            "expand_dims", f"`axis` {place} is out of range", x, help=f"Use {-rank - 1} to {rank}."
        )
    place %= rank + 1
    column = tf.zeros_like(x.indices[:, :1]) if rank else _blank_column(x)
    indices = tf.concat([x.indices[:, :place], column, x.indices[:, place:]], 1)
    one = tf.ones([1], dtypes.int64)
    return shaped(
        SparseTensor(
            indices, x.values, tf.concat([x.dense_shape[:place], one, x.dense_shape[place:]], 0)
        ),
        [*x.shape[:place], 1, *x.shape[place:]],
    )


def _blank_column(x: SparseTensor) -> Any:
    """A column of zeros, one per value, where there is no column to copy."""
    return tf.zeros(tf.concat([tf.shape(x.values), [1]], 0), dtypes.int64)


def concat(
    axis: Any, sp_inputs: TensorLike, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Joins sparse tensors along an axis; the other sizes must agree, or the largest is taken."""
    if not isinstance(sp_inputs, list | tuple):
        raise at_site(TypeError(f"concat: a list was expected; got {describe(sp_inputs)}."))
    xs = [as_sparse("concat", x) for x in sp_inputs]
    require(xs, "concat", "at least one sparse tensor is needed")
    place = _join_axis(xs, static_int("concat", axis), expand_nonconcat_dims)
    offset = tf.zeros([], dtypes.int64)
    unit = to_tensor([int(i == place) for i in range(len(xs[0].shape))], dtypes.int64)
    indices, whole = [], xs[0].dense_shape
    for x in xs:
        indices.append(tf.add(x.indices, offset * unit))
        whole = tf.maximum(whole, x.dense_shape)
        offset = tf.add(offset, x.dense_shape[place])
    dense_shape = whole * (1 - unit) + offset * unit
    return reorder(
        shaped(
            SparseTensor(tf.concat(indices, 0), tf.concat([x.values for x in xs], 0), dense_shape),
            _joined_sizes(xs, place),
        )
    )


def _joined_sizes(xs: list[SparseTensor], place: int) -> list[int | None]:
    """The sizes of the whole as far as they are known: a sum along the axis, else the largest."""
    sizes: list[int | None] = []
    for axis, result in enumerate(zip(*[x.shape for x in xs], strict=True)):
        known_sizes = [d for d in result if d is not None]
        whole = len(known_sizes) == len(result)
        sizes.append((sum if axis == place else max)(known_sizes) if whole else None)
    return sizes


def _join_axis(xs: list[SparseTensor], axis: int, expand: bool) -> int:
    """The axis to join along as a non-negative number, after a look at the sizes."""
    first = xs[0]
    rank = len(first.shape)
    require(-rank <= axis < rank, "concat", f"`axis` {axis} is out of range", first)
    place = axis % rank
    for x in xs[1:]:
        others = [d for i, d in enumerate(x.shape) if i != place]
        ours = [d for i, d in enumerate(first.shape) if i != place]
        same = len(others) == len(ours) and (
            expand or all(a == b or None in (a, b) for a, b in zip(ours, others, strict=True))
        )
        require(
            same and x.dtype is first.dtype,
            "concat",
            "sizes and dtypes must agree but for the axis",
            first,
            x,
        )
    return place


def slice(
    sp_input: TensorLike, start: TensorLike, size: TensorLike, name: str | None = None
) -> SparseTensor:
    """The part of `size` from `start` on, cut off at the end of the tensor."""
    x = as_sparse("slice", sp_input)
    begin, extent = (tf.cast(to_tensor(v, None, dtypes.int64), dtypes.int64) for v in (start, size))
    own = x.dense_shape.shape
    require(
        begin.shape.is_compatible_with(own) and extent.shape.is_compatible_with(own),
        "slice",
        lambda: f"`start` and `size` need {len(x.shape)} numbers",
        x,
        begin,
        extent,
    )
    begin, extent = (v if v.shape == own else tf.ensure_shape(v, own) for v in (begin, extent))
    zero = tf.zeros([], dtypes.int64)
    left = tf.maximum(tf.subtract(x.dense_shape, begin), zero)
    shape = tf.minimum(extent, left)
    inside = tf.logical_and(tf.greater_equal(x.indices, begin), tf.less(x.indices, begin + shape))
    keep = tf.reduce_all(inside, axis=1)
    return SparseTensor(
        tf.boolean_mask(x.indices, keep) - begin, tf.boolean_mask(x.values, keep), shape
    )


def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """Cuts a sparse tensor into `num_split` parts; the first ones are longer by one if need be."""
    for what, given in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        require(given is not None, "split", f"`{what}` must be given", kind=ValueError)
    x, count = as_sparse("split", sp_input), static_int("split", num_split, "num_split")
    rank, place = len(x.shape), static_int("split", axis)
    require(-rank <= place < rank, "split", f"`axis` {place} is out of range", x)
    along = place % rank
    length = x.shape[along]
    require(
        count >= 1 and (length is None or count <= length),
        "split",
        f"an axis of size {length} does not give {count} parts",
        x,
    )
    own = [d if n is None else n for n, d in zip(x.shape, tf.unstack(x.dense_shape), strict=True)]
    if length is None:
        own[along] = demand("split", _PARTS, own[along], to_tensor(count))
    parts, begin = [], 0
    for i in range(count):
        extent = (own[along] + (count - 1 - i)) // count
        start = [begin if axis == along else 0 for axis in range(rank)]
        sizes = [extent if axis == along else d for axis, d in enumerate(own)]
        parts.append(slice(x, int64_tensor(start), int64_tensor(sizes)))
        parts[-1].set_shape([d if isinstance(d, int) else None for d in sizes])
        begin = begin + extent
    return parts


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """Ones on the diagonal of a matrix."""
    rows = _count(num_rows, "num_rows")
    columns = rows if num_columns is None else _count(num_columns, "num_columns")
    places = tf.range(tf.minimum(rows, columns))
    return SparseTensor(
        tf.stack([places, places], 1), tf.ones(tf.shape(places), dtype), tf.stack([rows, columns])
    )


def _count(value: TensorLike, what: str) -> Tensor | IndexedSlices:
    """A number of rows or columns as a scalar; tensors may be of any type, as in TensorFlow."""
    result = value if isinstance(value, Value) else static_int("sparse.eye", value, what)
    return tf.cast(operand(result, None, dtypes.int64), dtypes.int64)


def reset_shape(sp_input: TensorLike, new_shape: TensorLike | None = None) -> SparseTensor:
    """The same values in a tensor just large enough, or of `new_shape`."""
    x = as_sparse("reset_shape", sp_input)
    if new_shape is None:
        first = tf.zeros_like(x.dense_shape)[None]
        tight = tf.reduce_max(tf.concat([first, x.indices + 1], 0), axis=0)
        return SparseTensor(x.indices, x.values, tight)
    wanted = tf.cast(to_tensor(new_shape, None, dtypes.int64), dtypes.int64)
    shape = demand("reset_shape", _AT_LEAST, wanted, x.dense_shape)
    return shaped(SparseTensor(x.indices, x.values, shape), get_static_value(wanted, partial=True))
