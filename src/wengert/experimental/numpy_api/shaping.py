"""Shapes, parts and joints of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import at_site
from wengert.core.types import Tensor, TensorLike
from wengert.experimental.numpy_api.arrays import array, astype, flat, promoted, ranked, result_np
from wengert.experimental.numpy_api.elementwise import truth
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape


def ndim(a: Any) -> int:
    """The number of axes."""
    return ranked(a)


def shape(a: Any) -> Any:
    """The sizes of the axes."""
    a = array(a)
    return a.shape if a.shape.is_fully_defined() else tf.shape(a)


def size(x: Any, axis: int | None = None) -> Any:
    """The number of elements, or of those along an axis."""
    x = array(x)
    if axis is not None:
        found = x.shape[axis]
        return np.int64(found) if found is not None else tf.shape(x)[axis]
    if x.shape.is_fully_defined():
        return np.int64(x.shape.num_elements())
    return tf.size(x)


def isscalar(num: Any) -> bool:
    """Whether a value is a number, or an array without axes."""
    if hasattr(num, "shape") or isinstance(num, list | tuple):
        return ranked(num) == 0
    return np.isscalar(num)


def iscomplexobj(x: Any) -> bool:
    """Whether the numbers are complex."""
    return array(x).dtype.is_complex


def isrealobj(x: Any) -> bool:
    """Whether the numbers are not complex."""
    return not iscomplexobj(x)


def ravel(a: Any) -> Tensor:
    """All numbers in a row."""
    return flat(array(a))


flatten = ravel


def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """The numbers in another shape; `order="F"` counts the first axis fastest."""
    a = array(a)
    sizes = [newshape] if isinstance(newshape, int | np.integer) else newshape
    if order == "C":
        return tf.reshape(a, sizes)
    if order != "F":
        raise at_site(ValueError(f"reshape: `order` must be 'C' or 'F'; got {order!r}."))
    return tf.transpose(tf.reshape(tf.transpose(a), list(sizes)[::-1]))


def expand_dims(a: Any, axis: int) -> Tensor:
    """An axis of size 1 more."""
    return tf.expand_dims(array(a), axis)


def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Without axes of size 1."""
    return tf.squeeze(array(a), axis)


def transpose(a: Any, axes: Any = None) -> Tensor:
    """The axes in another order, the opposite one by default."""
    a = array(a)
    if axes is None:
        return tf.transpose(a)
    order = axes if hasattr(axes, "shape") else [axis % ranked(a) for axis in axes]
    return tf.transpose(a, order)


def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes in each other's place."""
    a = array(a)
    order = list(range(ranked(a)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Axes in other places."""
    a = array(a)
    rank = ranked(a)
    sources = [s % rank for s in np.atleast_1d(source).tolist()]
    targets = [d % rank for d in np.atleast_1d(destination).tolist()]
    if len(sources) != len(targets):
        raise at_site(ValueError("moveaxis: `source` and `destination` must be as many."))
    order = [axis for axis in range(rank) if axis not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return tf.transpose(a, order)


def atleast_1d(*arys: Any) -> Any:
    """Arrays with an axis at least."""
    return _at_least(lambda x: tf.reshape(x, [-1]) if ranked(x) == 0 else x, arys)


def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes at least, new ones in front."""

    def one(x: Any) -> Tensor:
        x = tf.reshape(x, [-1]) if ranked(x) == 0 else x
        return tf.expand_dims(x, 0) if ranked(x) == 1 else x

    return _at_least(one, arys)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes at least."""

    def one(x: Any) -> Tensor:
        if ranked(x) == 0:
            return tf.reshape(x, [1, 1, 1])
        if ranked(x) == 1:
            return tf.expand_dims(tf.expand_dims(x, 0), -1)
        return tf.expand_dims(x, -1) if ranked(x) == 2 else x

    return _at_least(one, arys)


def _at_least(one: Any, arrays: tuple[Any, ...]) -> Any:
    results = [one(array(a)) for a in arrays]
    return results[0] if len(results) == 1 else results


def broadcast_to(array_: TensorLike, shape: Any) -> Tensor:
    """The numbers repeated over a shape."""
    return tf.broadcast_to(array(array_), [shape] if isinstance(shape, int) else shape)


def broadcast_arrays(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Arrays repeated over the shape that they have together."""
    arrays = [array(a) for a in args]
    together = tf.shape(arrays[0])
    for a in arrays[1:]:
        together = broadcast_dynamic_shape(together, tf.shape(a))
    return [tf.broadcast_to(a, together) for a in arrays]


# Joints.


def concatenate(arys: Any, axis: int = 0) -> Tensor:
    """Arrays one after the other."""
    arrays = _list(arys)
    if axis is None:
        raise at_site(ValueError("concatenate: `axis` must be a number. Use ravel() of each."))
    return tf.concat(promoted(*arrays), axis)


def _list(arys: Any) -> Any:
    return list(arys) if isinstance(arys, list | tuple) else list(tf.unstack(array(arys)))


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Arrays along a new axis."""
    return tf.stack(promoted(*_list(arrays)), axis)


def hstack(tup: Any) -> Tensor:
    """Arrays beside each other."""
    arrays = [atleast_1d(a) for a in promoted(*_list(tup))]
    return tf.concat(arrays, 0 if ranked(arrays[0]) == 1 else 1)


def vstack(tup: Any) -> Tensor:
    """Arrays below each other."""
    return tf.concat([atleast_2d(a) for a in promoted(*_list(tup))], 0)


def dstack(tup: Any) -> Tensor:
    """Arrays along the third axis."""
    return tf.concat([atleast_3d(a) for a in promoted(*_list(tup))], 2)


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """An array with more behind it."""
    x, y = promoted(arr, values)
    return tf.concat([flat(x), flat(y)], 0) if axis is None else tf.concat([x, y], axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Parts along an axis: so many of one size, or cut at places."""
    x = array(ary)
    if isinstance(indices_or_sections, int | np.integer):
        return tf.split(x, int(indices_or_sections), axis=axis)
    size = x.shape[axis]
    cuts = [0, *[int(i) for i in indices_or_sections], size]
    return tf.split(x, np.diff(np.clip(cuts, 0, size)).tolist(), axis=axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts beside each other."""
    x = array(ary)
    return split(x, indices_or_sections, 0 if ranked(x) == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts below each other."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts along the third axis."""
    return split(ary, indices_or_sections, 2)


def tile(a: Any, reps: Any) -> Tensor:
    """An array repeated as a whole."""
    a = array(a)
    times = np.atleast_1d(reps).tolist() if not hasattr(reps, "_array") else reps
    rank = ranked(a)
    if isinstance(times, list):
        if len(times) < rank:
            times = [1] * (rank - len(times)) + times
        elif len(times) > rank:
            a = tf.reshape(a, tf.concat([[1] * (len(times) - rank), tf.shape(a)], 0))
    return tf.tile(a, times)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element so many times."""
    return tf.repeat(array(a), repeats, axis)


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Elements moved along axes; those that leave come in on the other side."""
    a = array(a)
    if axis is None:
        return tf.reshape(tf.roll(flat(a), shift, 0), tf.shape(a))
    return tf.roll(a, shift, axis)


def flip(m: Any, axis: Any = None) -> Tensor:
    """The opposite order along axes."""
    m = array(m)
    axes = list(range(ranked(m))) if axis is None else np.atleast_1d(axis).tolist()
    return tf.reverse(m, axes) if axes else m


def flipud(m: Any) -> Tensor:
    """The opposite order of rows."""
    return flip(m, 0)


def fliplr(m: Any) -> Tensor:
    """The opposite order of columns."""
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Tensor:
    """Turned by so many right angles."""
    m = array(m)
    a, b = (axis % ranked(m) for axis in axes)
    if ranked(m) < 2 or a == b:
        raise at_site(ValueError(f"rot90: two axes are needed; got {axes} of rank {ranked(m)}."))
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, (a, b))
    turned = swapaxes(m, a, b)
    return flip(turned, a) if k == 1 else flip(turned, b)


def pad(array_: TensorLike, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Tensor:
    """More numbers on the sides."""
    if mode not in ("constant", "reflect", "symmetric"):
        choices = "constant, reflect, symmetric"
        raise at_site(ValueError(f"pad: `mode` must be one of {choices}; got {mode!r}."))
    x = array(array_)
    widths = np.broadcast_to(np.asarray(pad_width), (ranked(x), 2)).tolist()
    fill = array(kwargs.get("constant_values", 0), x.dtype)
    return tf.pad(x, widths, mode.upper(), fill)


# Parts.


def take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "clip"
) -> Tensor:
    """Elements by their places; those outside are clipped or wrapped around."""
    if mode not in ("raise", "clip", "wrap"):
        raise at_site(ValueError(f"take: `mode` must be raise, clip or wrap; got {mode!r}."))
    a = array(a)
    at = array(indices)
    if axis is None:
        a, axis = flat(a), 0
    count = astype(tf.shape(a)[axis], at.dtype)
    at = tf.floormod(at, count) if mode == "wrap" else at
    if mode == "clip":
        at = tf.clip_by_value(at, array(0, at.dtype), count - 1)
    return tf.gather(a, at, axis=axis)


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Tensor:
    """Elements by their places along an axis, one place for each of the others."""
    arr, at = array(arr), array(indices)
    if axis is None:
        return tf.gather(flat(arr), flat(at))
    rank = ranked(arr)
    axis %= rank
    last = [k for k in range(rank) if k != axis] + [axis]
    rows, places = tf.transpose(arr, last), tf.transpose(at, last)
    head = broadcast_dynamic_shape(tf.shape(rows)[:-1], tf.shape(places)[:-1])
    rows = tf.broadcast_to(rows, tf.concat([head, tf.shape(rows)[-1:]], 0))
    places = tf.broadcast_to(places, tf.concat([head, tf.shape(places)[-1:]], 0))
    found = tf.gather(rows, places, axis=rank - 1, batch_dims=rank - 1)
    return tf.transpose(found, np.argsort(last).tolist())


def compress(condition: Any, a: Any, axis: int | None = None) -> Tensor:
    """The elements along an axis for which a condition holds."""
    from wengert.ops.indexing import boolean_mask

    a, test = array(a), truth(condition)
    a, axis = (flat(a), 0) if axis is None else (a, axis % ranked(a))
    count = test.shape[0]
    cut = a if count is None else tf.gather(a, tf.range(count), axis=axis)
    return boolean_mask(cut, test, axis=axis)


def nonzero(a: Any) -> list[Tensor]:
    """The places of the numbers that are not 0, for each axis."""
    from wengert.ops.select import where as places

    test = truth(a)
    found = places(tf.reshape(test, [-1]) if ranked(test) == 0 else test)
    return tf.unstack(tf.transpose(found), num=max(1, ranked(test)))


def diag(v: Any, k: int = 0) -> Tensor:
    """A matrix with a diagonal, or the diagonal of a matrix."""
    from wengert.ops.diagonal import diag as made

    v = array(v)
    if ranked(v) == 1:
        return made(v, k=k)
    if ranked(v) != 2:
        raise at_site(ValueError(f"diag: a vector or a matrix is needed; got {v.shape}."))
    return _diagonal(v, k)


def _diagonal(x: Any, k: int) -> Tensor:
    rows, columns = x.shape[-2], x.shape[-1]
    outside = None not in (rows, columns) and (k >= columns or -k >= rows)
    if outside and rows * columns:
        return x[..., 0][..., :0]
    return tf.diag_part(x, k=k)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix whose diagonal has all numbers of an array."""
    return diag(flat(array(v)), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A diagonal of each matrix that two axes make."""
    a = array(a)
    if ranked(a) < 2:
        raise at_site(ValueError(f"diagonal: two axes are needed; got {a.shape}."))
    return _diagonal(moveaxis(a, (axis1, axis2), (-2, -1)), offset)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sums of diagonals."""
    from wengert.experimental.numpy_api.reductions import sum as total

    return total(diagonal(a, offset, axis1, axis2), -1, dtype)


def _half(m: Any, k: int, lower: bool) -> Tensor:
    m = array(m)
    if ranked(m) < 2:
        raise at_site(ValueError(f"tril, triu: a matrix is needed; got {m.shape}."))
    places = tf.range(tf.shape(m)[-1]) - tf.expand_dims(tf.range(tf.shape(m)[-2]), -1)
    keep = places <= k if lower else places >= k
    return tf.where(keep, m, tf.zeros_like(m))


def tril(m: Any, k: int = 0) -> Tensor:
    """What is on and below a diagonal, with zeros elsewhere."""
    return _half(m, k, True)


def triu(m: Any, k: int = 0) -> Tensor:
    """What is on and above a diagonal, with zeros elsewhere."""
    return _half(m, k, False)


def diff(a: TensorLike, n: int = 1, axis: int = -1) -> Tensor:
    """The differences of neighbours."""
    x = array(a)
    if n < 0:
        raise at_site(ValueError(f"diff: `n` must not be negative; got {n}."))
    for _ in range(n):
        last = moveaxis(x, axis, -1)
        later, earlier = last[..., 1:], last[..., :-1]
        gap = tf.not_equal(later, earlier) if x.dtype.kind == "b" else later - earlier
        x = moveaxis(gap, -1, axis)
    return x


def promote_types(type1: Any, type2: Any) -> Any:
    """The dtype of what two dtypes give together."""
    from wengert.core import dtypes

    return dtypes.as_dtype(result_np(type1, type2)).np


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of what arrays and dtypes give together."""
    from wengert.core import dtypes

    return dtypes.as_dtype(result_np(*arrays_and_dtypes))
