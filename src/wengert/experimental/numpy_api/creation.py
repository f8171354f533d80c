"""Arrays made of numbers and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import at_site
from wengert.core.types import Tensor, TensorLike
from wengert.experimental.numpy_api.arrays import array, astype, default, dtype_of, promoted, ranked
from wengert.ops import public as tf


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of numbers, arrays, tensors, or lists of them."""
    return array(a, dtype)


asanyarray = ascontiguousarray = asarray


def copy(a: Any) -> Tensor:
    """The same numbers in an array of their own."""
    return tf.identity(array(a))


def _sizes(shape: Any) -> Any:
    return [shape] if isinstance(shape, int | np.integer) else shape


def _kind(dtype: Any) -> np.dtype:
    return default(np.float64) if dtype is None else dtype_of(dtype)


def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """Zeros of a shape."""
    return tf.zeros(_sizes(shape), _kind(dtype))


def ones(shape: Any, dtype: Any = float) -> Tensor:
    """Ones of a shape."""
    return tf.ones(_sizes(shape), _kind(dtype))


empty = zeros


def _like(value: int) -> Any:
    def made(a: Any, dtype: Any = None) -> Tensor:
        a = array(a)
        kind = a.dtype.np if dtype is None else dtype_of(dtype)
        return tf.zeros_like(a, dtype=kind) if value == 0 else tf.ones_like(a, dtype=kind)

    return made


zeros_like = empty_like = _like(0)
ones_like = _like(1)


def full(shape: Any, fill_value: TensorLike, dtype: Any = None) -> Tensor:
    """One number, or a row of them, repeated over a shape."""
    return tf.broadcast_to(array(fill_value, dtype), _sizes(shape))


def full_like(
    a: Any, fill_value: TensorLike, dtype: Any = None, order: str = "K", subok: bool = True,
    shape: Any = None,
) -> Tensor:  # fmt: skip
    """One number in the shape and dtype of an array."""
    a = array(a)
    kind = a.dtype.np if dtype is None else dtype
    sizes = (tf.shape(a) if not a.shape.is_fully_defined() else a.shape) if shape is None else shape
    return tf.broadcast_to(array(fill_value, kind), sizes)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Tensor:
    """Ones on a diagonal."""
    return array(np.eye(N, M, k, _kind(dtype)))


def identity(n: int, dtype: Any = float) -> Tensor:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Numbers from `start` up to `stop`, which is left out."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        start, stop, step = promoted(start, stop, step)
    else:
        start, stop, step = (array(v, dtype) for v in (start, stop, step))
    if not hasattr(step, "_graph") and float(step) == 0:
        raise at_site(ValueError("arange: `step` must not be 0."))
    return tf.range(start, stop, step)


def linspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True,
    retstep: bool = False, dtype: Any = float, axis: int = 0,
) -> Any:  # fmt: skip
    """Numbers at equal distances."""
    kind = _kind(dtype)
    first, last = array(start, kind), array(stop, kind)
    if num < 0:
        raise at_site(ValueError(f"linspace: `num` must not be negative; got {num}."))
    parts = max(num - 1 if endpoint else num, 0)
    step = (last - first) / array(parts, kind) if parts else array(np.nan, kind)
    counts = astype(tf.range(num), kind)
    shape = [-1, *[1] * ranked(first + last)]
    result = first + tf.reshape(counts, shape) * (step if parts else array(0, kind))
    if endpoint and num > 1:
        result = tf.concat([result[:-1], tf.expand_dims(last + tf.zeros_like(first), 0)], 0)
    if axis:
        from wengert.experimental.numpy_api.shaping import moveaxis

        result = moveaxis(result, 0, axis)
    return (result, step) if retstep else result


def logspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True, base: float = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    """Powers whose exponents are at equal distances."""
    result = linspace(start, stop, num, endpoint, axis=axis)
    return astype(tf.pow(array(base, result.dtype), result), _kind(dtype))


def geomspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True, dtype: Any = None,
    axis: int = 0,
) -> Any:  # fmt: skip
    """Numbers of which each is the last one times the same factor."""
    first, last = array(start, float), array(stop, float)
    sign = tf.sign(first)
    exponents = linspace(tf.log(tf.abs(first)), tf.log(tf.abs(last)), num, endpoint, axis=axis)
    return astype(sign * tf.exp(exponents), _kind(dtype))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """Ones on and below a diagonal."""
    return array(np.tri(N, M, k, _kind(dtype)))


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of numbers, a row for each."""
    x = array(x)
    count = x.shape[0] if N is None else N
    powers = tf.range(count) if increasing else tf.range(count - 1, -1, -1)
    return tf.pow(tf.expand_dims(x, -1), astype(powers, x.dtype))


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The indices of the diagonal of an array with equal sizes."""
    return (tf.range(n),) * ndim


def meshgrid(*xi: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinates of a grid, for each axis."""
    from wengert.ops.create import meshgrid as made

    sparse, copied = kwargs.get("sparse", False), kwargs.get("copy", True)
    if sparse or not copied:
        raise at_site(ValueError("meshgrid: only `sparse=False` and `copy=True` are there."))
    arrays = [array(x) for x in xi]
    return made(*arrays, indexing=kwargs.get("indexing", "xy")) if arrays else []


def ix_(*args: Any) -> list[Tensor]:
    """Indices of a grid, one array for each axis."""
    results = []
    for place, one in enumerate(args):
        row = array(one)
        if ranked(row) != 1:
            raise at_site(ValueError(f"ix_: every argument must be a vector; got {row.shape}."))
        if row.dtype.kind == "b":
            from wengert.experimental.numpy_api.shaping import nonzero

            row = nonzero(row)[0]
        shape = [1] * len(args)
        shape[place] = -1
        results.append(tf.reshape(row, shape))
    return results
