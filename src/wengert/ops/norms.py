"""Lengths of vectors, matrices and lists of tensors, and scaling them down to a limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import (
    InvalidTypeError,
    describe,
    invalid,
    require,
    require_dtype,
)
from wengert.core.fallbacks import with_fallback
from wengert.core.lazy_modules import lax
from wengert.core.op import Joint, Op, ShapeDtype
from wengert.core.types import (
    Axis,
    Dim,
    Gradient,
    IndexedSlices,
    JaxArray,
    Tensor,
    TensorLike,
    Value,
)
from wengert.ops import public as tf
from wengert.ops.declare import in_float32, lower_in_float32, static
from wengert.ops.fast_reductions import fold

_MATRIX = ("euclidean", "fro", 1, 2, np.inf)


@with_fallback
def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: Axis = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The length of vectors (one `axis`, or all elements for `None`) or matrices (two axes).

    `ord` is 'euclidean', 1, 2, `np.inf` or any positive number; for matrices 'euclidean', 'fro',
    1, 2 (the largest singular value) or `np.inf`.

    Args:
        tensor: floating or complex.
        ord: see above.
        axis: an axis, two axes of matrices, or `None`.
        keepdims: `True` keeps reduced axes with size 1.
        name: without effect.

    Returns:
        A real tensor without the reduced axes.

    Raises:
        ValueError: `ord` or `axis` is none of these.

    >>> float(tf.norm([3.0, 4.0])) == 5.0
    True
    """
    x, keepdims = operand(tensor), bool(keepdims)
    adds = isinstance(ord, int | float) and ord in (1, np.inf)  # which whole numbers can do
    require_dtype(
        x.dtype.is_differentiable or (adds and x.dtype.is_integer),
        "norm",
        "a floating or complex tensor is wanted",
        x,
    )
    if isinstance(axis, list | tuple):
        return _matrix_norm(x, ord, static("norm", axis), keepdims)
    if axis is not None and (isinstance(axis, Value | str) or not hasattr(axis, "__index__")):
        raise _bad_axis(axis)
    if ord == "euclidean" or ord == 2:
        return tf.reduce_euclidean_norm(x, axis, keepdims)
    require(
        _is_positive(ord),
        "norm",
        lambda: f"`ord` must be 'euclidean' or a positive number for vectors; got {ord!r}",
        kind=InvalidTypeError,
    )
    if ord == 1:
        return tf.reduce_sum(tf.abs(x), axis, keepdims)
    if ord == np.inf:
        return tf.reduce_max(tf.abs(x), axis, keepdims)
    return tf.pow(tf.reduce_sum(tf.pow(tf.abs(x), float(ord)), axis, keepdims), 1.0 / ord)


def _is_positive(ord: TensorLike) -> bool:
    numbers = (int, float, np.generic, np.ndarray, Value)
    return isinstance(ord, numbers) and bool(ord > 0)  # type: ignore[operator]  # all compare


def _bad_axis(axis: Any) -> Exception:
    return invalid(
        "norm", f"`axis` must be None, one number or two different ones; got {describe(axis)}"
    )


def _matrix_norm(x: Value, ord: TensorLike, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if len(axis) != 2 or axis[0] == axis[1] or any(not isinstance(a, int | Dim) for a in axis):
        raise _bad_axis(axis)
    require(
        ord in _MATRIX,
        "norm",
        f"`ord` must be 'euclidean', 'fro', 1, 2 or inf for matrices; got {ord!r}",
    )
    if ord in ("euclidean", "fro"):
        return tf.reduce_euclidean_norm(x, axis, keepdims)
    rank = x._array.ndim
    down, across = (a + rank if a < 0 else a for a in axis)
    if ord == 2:
        return _spectral_norm(x, down, across, keepdims)
    # The norm 1 sums down the columns and takes the largest, inf sums along the rows.
    inner, outer = (down, across) if ord == 1 else (across, down)
    result = tf.reduce_max(tf.reduce_sum(tf.abs(x), inner, keepdims=True), outer, keepdims=True)
    return result if keepdims else _dropped(result, down, across)


def _dropped(x: Tensor, *axes: int) -> Tensor:
    return tf.reshape(x, tuple(d for i, d in enumerate(x._array.shape) if i not in axes))


def _spectral_norm(x: Value, down: int, across: int, keepdims: bool) -> Tensor:
    shape = x._array.shape
    rest = [i for i in range(len(shape)) if i not in (down, across)]
    top = tf.reduce_max(tf.svd(tf.transpose(x, [*rest, down, across]), compute_uv=False), -1)
    if not keepdims:
        return top
    return tf.reshape(top, tuple(1 if i in (down, across) else d for i, d in enumerate(shape)))


def clip_by_norm(t: Any, clip_norm: TensorLike, axes: Axis = None, name: str | None = None) -> Any:
    """Scales a tensor down so that its Euclidean length over `axes` is at most `clip_norm`.

    Of `IndexedSlices` only the given rows are scaled. A negative `clip_norm` counts as 0.
    """
    if isinstance(t, IndexedSlices):
        values = clip_by_norm(t.values, clip_norm, axes)
        return IndexedSlices(values, t.indices, t.dense_shape)
    x = operand(t)
    limit = tf.maximum(operand(clip_norm, None, x.dtype), 0)
    total = tf.reduce_sum(x * x, axes, keepdims=True)
    some = tf.greater(total, 0)
    # The root is taken of 1 where all is zero, so that its gradient there is 0 and not NaN.
    length = tf.where(some, tf.sqrt(tf.where(some, total, 1)), total)
    return x * limit / tf.maximum(length, limit)


def _length(*xs: np.ndarray) -> np.ndarray:
    total = sum(np.dot(x.ravel(), x.ravel()) for x in xs)
    return np.sqrt(np.asarray(total, xs[0].dtype))


def _lower_length(*xs: JaxArray) -> JaxArray:
    total = None
    for x in xs:
        part = fold(lax.mul(x, x), 0, lax.add, tuple(range(x.ndim)))
        total = part if total is None else lax.add(total, part)
    return lax.sqrt(total)


def _length_grad(
    g: Tensor, inputs: tuple[Tensor, ...], out: Tensor
) -> tuple[Tensor, Tensor] | tuple[Tensor, ...]:
    slope = g / out
    return tuple(x * slope for x in inputs)


GLOBAL_NORM = Op(
    "global_norm",
    "*xs",
    kernel=in_float32(_length),
    infer=lambda *xs: ShapeDtype((), xs[0].dtype),
    lower=lower_in_float32(_lower_length),
    grad=Joint(_length_grad),
    accepts=dtypes.FLOAT,
)


def _members(name: str, t_list: Any) -> list[Tensor | IndexedSlices | None]:
    require(
        not isinstance(t_list, Value | str) and hasattr(t_list, "__iter__"),
        name,
        "`t_list` must be a list",
        t_list,
        kind=TypeError,
    )
    return [
        t if t is None or isinstance(t, IndexedSlices) else operand(t) for t in t_list
    ]  # fmt: skip


def global_norm(t_list: list[Tensor | IndexedSlices | None], name: str | None = None) -> Tensor:
    """The Euclidean length of all tensors taken together; `None` in the list is passed over."""
    given = [t for t in _members("global_norm", t_list) if t is not None]
    if not given:
        return tf.zeros(())
    return apply(GLOBAL_NORM, *[t.values if isinstance(t, IndexedSlices) else t for t in given])


def clip_by_global_norm(
    t_list: Any, clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Gradient], Tensor]:
    """Scales all tensors by one factor so that their common length is at most `clip_norm`.

    Returns the list and the length before (or `use_norm`). A length of infinity or NaN makes all
    of them NaN. `IndexedSlices` stay sparse.

    Args:
        t_list: a list of tensors, in which `None` stays.
        clip_norm: the largest length that stays.
        use_norm: the common length, if it is known.
        name: without effect.

    Returns:
        The list of scaled tensors, and the length before.

    Raises:
        TypeError: `t_list` is no list.

    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 2.5)
    >>> [x.numpy().tolist() for x in clipped], float(norm)
    ([[1.5], [2.0]], 5.0)
    """
    members = _members("clip_by_global_norm", t_list)
    given = [t for t in members if t is not None]
    if use_norm is not None:
        length = operand(use_norm, None, given[0].dtype if given else None)
    else:
        length = global_norm(members)
    if not given:
        return members, length
    limit = operand(clip_norm, None, length.dtype)
    # The difference is 0 for a finite length and NaN otherwise.
    scale = limit * tf.minimum(1.0 / length, 1.0 / limit) + (length - length)
    return [t if t is None else _scaled(t, scale) for t in members], length


def _scaled(t: Tensor | IndexedSlices, scale: Tensor) -> Tensor | IndexedSlices:
    if isinstance(t, IndexedSlices):
        return IndexedSlices(t.values * scale, t.indices, t.dense_shape)
    return t * scale
