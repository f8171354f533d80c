"""NumPy's array functions in our operations, with NumPy's argument names and dtype rules.

Only what an operation can answer is in the signatures here; a call with more (`out=`, `where=`,
...) does not bind, and `numpy_protocols` leaves it to NumPy alone. The functions of `TRACED` are
operations in a trace only, where there is no array to hand to NumPy: eagerly they give arrays, as
in TensorFlow, and programs write into them.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import SymbolicTensor, Tensor, TensorLike, Value, dtypes, operand, tf
from wengert.ops.joining import split as _split


def rank(x: Any) -> int:
    """The number of axes of a tensor or array."""
    return x._array.ndim if isinstance(x, Value) else np.ndim(x)


def sizes(x: Tensor) -> tuple[Any, ...]:
    """The shape of a tensor, in a trace with numbers that the running function knows."""
    return tuple(x._array.shape)


def tensors(values: Any) -> list[Tensor] | list[Value]:
    """All values as tensors; arrays and numbers take the dtype of the first tensor."""
    kind = next(v.dtype for v in values if isinstance(v, Value))
    return [operand(v, None, kind) for v in values]


def _counted(a: Tensor) -> Tensor:
    """Booleans and short integers in 64 bits, in which NumPy adds and multiplies them."""
    if a.dtype.kind in "bi":
        return tf.cast(a, dtypes.int64)
    return tf.cast(a, dtypes.uint64) if a.dtype.kind == "u" else a


def _averaged(a: Tensor) -> Tensor:
    """Booleans and integers as float64, in which NumPy averages them."""
    return tf.cast(a, dtypes.float64) if a.dtype.kind in "biu" else a


def flat(a: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """A tensor and an axis of it; all its elements in a row where no axis is given."""
    return (tf.reshape(a, [-1]), 0) if axis is None else (a, axis)


def sum(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return tf.reduce_sum(_counted(a), axis, keepdims)


def prod(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Any:
    return tf.reduce_prod(_counted(a), axis, keepdims)


def mean(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return tf.reduce_mean(_averaged(a), axis, keepdims)


def std(a: Tensor, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return tf.reduce_std(_averaged(a), axis, keepdims)


def var(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return tf.reduce_variance(_averaged(a), axis, keepdims)


def max(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return tf.reduce_max(a, axis, keepdims)


def min(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return tf.reduce_min(a, axis, keepdims)


def any(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Any:
    return tf.reduce_any(tf.cast(a, dtypes.bool_), axis, keepdims)


def all(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Any:
    return tf.reduce_all(tf.cast(a, dtypes.bool_), axis, keepdims)


def argmax(a: SymbolicTensor, axis: Any = None) -> Tensor:
    return tf.argmax(*flat(a, axis))


def argmin(a: Any, axis: Any = None) -> Any:
    return tf.argmin(*flat(a, axis))


def cumsum(a: Tensor, axis: int | None = None) -> Tensor:
    return tf.cumsum(*flat(_counted(a), axis))


def cumprod(a: Tensor, axis: int | None = None) -> Tensor:
    return tf.cumprod(*flat(_counted(a), axis))


def sort(a: Tensor, axis: int = -1) -> Tensor:
    return tf.sort(*flat(a, axis))


def argsort(a: Any, axis: Any = -1) -> Any:
    return tf.cast(tf.argsort(*flat(a, axis)), dtypes.int64)


def matmul(x1: Tensor | np.ndarray, x2: Tensor | np.ndarray) -> Tensor:
    """NumPy's product, where a vector is a row on the left and a column on the right."""
    a, b = tensors([x1, x2])
    row, column = rank(a) == 1, rank(b) == 1
    out = tf.matmul(tf.expand_dims(a, 0) if row else a, tf.expand_dims(b, 1) if column else b)
    axes = [-2] * row + [-1] * column
    return tf.squeeze(out, axes) if axes else out


def dot(a: Tensor, b: np.ndarray) -> Tensor:
    x, y = tensors([a, b])
    if not rank(x) or not rank(y):
        return x * y
    last = rank(y) - 2 if rank(y) > 1 else 0
    return tensordot(x, y, ([rank(x) - 1], [last]))


def tensordot(a: Value, b: Value | np.ndarray, axes: Any = 2) -> Tensor:
    x, y = tensors([a, b])
    return tf.tensordot(x, y, axes)


def outer(a: Tensor, b: np.ndarray) -> Tensor:
    x, y = tensors([a, b])
    return tf.reshape(x, [-1, 1]) * tf.reshape(y, [1, -1])


def einsum(subscripts: str, /, *operands: Tensor | np.ndarray) -> Tensor:
    from wengert.ops.einsum import einsum as product

    return product(subscripts, *tensors(operands))


def where(condition: Tensor | np.ndarray, x: Tensor, y: Tensor | float, /) -> Tensor:
    c = operand(condition)
    return tf.where(tf.cast(c, dtypes.bool_), x, y)


def clip(a: Tensor, a_min: float | None = None, a_max: float | None = None) -> Tensor:
    low = a if a_min is None else tf.maximum(a, a_min)
    return low if a_max is None else tf.minimum(low, a_max)


def concatenate(arrays: list[Tensor | np.ndarray], /, axis: int | None = 0) -> Tensor:
    xs = tensors(list(arrays))
    return tf.concat([tf.reshape(x, [-1]) for x in xs], 0) if axis is None else tf.concat(xs, axis)


def stacked(arrays: list[Tensor | np.ndarray], axis: int = 0) -> Tensor:
    return tf.stack(tensors(list(arrays)), axis)


def split(ary: Tensor, indices_or_sections: int | list[int], axis: int = 0) -> list[Tensor]:
    if isinstance(indices_or_sections, int):
        return _split(ary, indices_or_sections, axis)
    ends = [*indices_or_sections, sizes(ary)[axis]]
    return _split(ary, [b - a for a, b in zip([0, *ends[:-1]], ends, strict=True)], axis)


def reshaped(a: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    return tf.reshape(a, shape if isinstance(shape, tuple | list) else [shape])


def ravel(a: Tensor) -> Tensor:
    return tf.reshape(a, [-1])


def transposed(a: Tensor, axes: tuple[int, ...] | None = None) -> Tensor:
    return tf.transpose(a, None if axes is None else [i % rank(a) for i in axes])


def swapaxes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    order = list(range(rank(a)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(a, order)


def moveaxis(a: Tensor, source: int, destination: int) -> Tensor:
    # NumPy works the order of axes out; an array that shares one element costs nothing.
    blank = np.broadcast_to(np.empty([1] * rank(a)), range(1, rank(a) + 1))
    order = [n - 1 for n in np.moveaxis(blank, source, destination).shape]
    return tf.transpose(a, order)


def expand_dims(a: Tensor, axis: int | tuple[int, ...]) -> Tensor:
    wanted = np.expand_dims(np.empty([0] * rank(a)), axis).shape
    own = iter(sizes(a))
    return tf.reshape(a, [1 if n == 1 else next(own) for n in wanted])


def squeeze(a: Tensor, axis: tuple[int, ...] | None = None) -> Tensor:
    return tf.squeeze(a, list(axis) if isinstance(axis, tuple) else axis)


def flip(m: Tensor, axis: int | None = None) -> Tensor:
    axes = range(rank(m)) if axis is None else np.atleast_1d(axis)
    return tf.reverse(m, [int(i) for i in axes])


def roll(a: Tensor, shift: int, axis: int | None = None) -> Tensor:
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(a, [-1]), shift, 0), sizes(a))
    return tf.roll(a, shift, axis)


def tile(A: Tensor, reps: int | tuple[int, ...]) -> Tensor:
    counts = [int(n) for n in np.atleast_1d(reps)]
    most = builtins.max(rank(A), len(counts))
    wide = tf.reshape(A, [1] * (most - rank(A)) + list(sizes(A)))
    return tf.tile(wide, [1] * (most - len(counts)) + counts)


def repeat(a: Tensor, repeats: int, axis: int | None = None) -> Tensor:
    a, axis = flat(a, axis)
    return tf.repeat(a, repeats, axis)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: sum,
    np.prod: prod,
    np.mean: mean,
    np.std: std,
    np.var: var,
    np.max: max,
    np.amax: max,
    np.min: min,
    np.amin: min,
    np.any: any,
    np.all: all,
    np.argmax: argmax,
    np.argmin: argmin,
    np.cumsum: cumsum,
    np.cumprod: cumprod,
    np.sort: sort,
    np.argsort: argsort,
    np.dot: dot,
    np.tensordot: tensordot,
    np.outer: outer,
    np.einsum: einsum,
    np.where: where,
    np.clip: clip,
    np.concatenate: concatenate,
    np.stack: stacked,
    np.split: split,
    np.reshape: reshaped,
    np.ravel: ravel,
    np.transpose: transposed,
    np.swapaxes: swapaxes,
    np.moveaxis: moveaxis,
    np.expand_dims: expand_dims,
    np.squeeze: squeeze,
    np.flip: flip,
    np.roll: roll,
    np.tile: tile,
    np.repeat: repeat,
    np.broadcast_to: lambda array, shape: tf.broadcast_to(array, shape),
    np.round: lambda a: tf.round(a),
    np.around: lambda a: tf.round(a),
    np.real: lambda val: tf.real(val),
    np.imag: lambda val: tf.imag(val),
    np.angle: lambda z: tf.angle(z),
    np.copy: lambda a: tf.identity(a),
    np.shape: lambda a: sizes(a),
    np.ndim: lambda a: rank(a),
}


def full_like(a: Any, fill_value: TensorLike) -> Tensor:
    return tf.broadcast_to(operand(fill_value, None, a.dtype), sizes(a))


def vstack(tup: Any) -> Tensor:
    return tf.concat([tf.reshape(x, [1, -1]) if rank(x) < 2 else x for x in tensors(list(tup))], 0)


def hstack(tup: Any) -> Tensor:
    xs = [x if rank(x) else tf.reshape(x, [1]) for x in tensors(list(tup))]
    return tf.concat(xs, 0 if rank(xs[0]) == 1 else 1)


def diff(a: Any, *, axis: int = -1) -> Tensor:
    lead = (slice(None),) * (axis % rank(a))
    return a[(*lead, slice(1, None))] - a[(*lead, slice(None, -1))]


def isclose(a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8) -> Tensor:
    x, y = tensors([a, b])
    return tf.abs(x - y) <= atol + rtol * tf.abs(y)


def take(a: Any, indices: TensorLike, axis: Any = None) -> Tensor:
    a, axis = flat(a, axis)
    return tf.gather(a, indices, axis=axis)


def norm(x: TensorLike, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.norm(x, "euclidean" if ord is None else ord, axis, keepdims)


TRACED: dict[Any, Callable[..., Any]] = {
    np.zeros_like: lambda a, dtype=None: tf.zeros_like(a, dtype),
    np.ones_like: lambda a, dtype=None: tf.ones_like(a, dtype),
    np.full_like: full_like,
    np.vstack: vstack,
    np.hstack: hstack,
    np.diff: diff,
    np.isclose: isclose,
    np.allclose: lambda a, b, rtol=1e-5, atol=1e-8: all(isclose(a, b, rtol, atol)),
    np.take: take,
    np.size: lambda a: a._array.size,
    np.linalg.norm: norm,
    np.linalg.inv: lambda a: tf.inv(a),
    np.linalg.det: lambda a: tf.det(a),
    np.linalg.solve: lambda a, b: tf.solve(a, b),
}
