"""Softmax and its logarithm, along any axis, each one operation that keeps only its result."""

from __future__ import annotations

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import require
from wengert.core.fallbacks import fallback
from wengert.core.lazy_modules import jax, lax
from wengert.core.types import Axis, JaxArray, Op, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops import public as tf
from wengert.ops.costs import SLOW
from wengert.ops.declare import in_float32, lower_in_float32, static_int
from wengert.ops.fast_reductions import fold, ones
from wengert.ops.threads import in_rows


def shifted(x: np.ndarray, axis: int) -> np.ndarray:
    """`x` less its maximum along `axis`, so that `exp` cannot overflow."""
    if not x.size:
        return x
    if x.ndim == 2 and axis in (-1, 1) and x.shape[1] <= _NARROW:
        return x - np.maximum.reduce(x.T.copy(), 0)[:, None]
    return x - np.maximum.reduce(x, axis, keepdims=True)


# Up to this many columns, NumPy reduces the columns of a transposed copy faster than the rows.
_NARROW = 32


def is_narrow(x: np.ndarray) -> bool:
    """Whether `by_columns` serves the last axis of an array well."""
    return x.ndim > 0 and 0 < x.shape[-1] <= _NARROW and x.dtype.num in _BLAS


def by_columns(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The exponentials of each row less its maximum, as columns; the maxima; the sums of those."""
    e = (x if x.ndim == 2 else x.reshape(-1, x.shape[-1])).T.copy()
    top = np.maximum.reduce(e, 0)
    e -= top
    np.exp(e, e)
    return e, top, ones(len(e), e.dtype.char).dot(e)


def row_sums(x: np.ndarray) -> np.ndarray:
    """The sums of the rows; BLAS adds up those of a narrow matrix faster than NumPy does."""
    if x.ndim == 2 and x.shape[1] <= _NARROW and x.dtype.num in _BLAS:
        return x.dot(ones(x.shape[1], x.dtype.char))
    return np.add.reduce(x, -1)


_BLAS = dtypes.nums("float32", "float64")


def softmax_array(x: np.ndarray, axis: int) -> np.ndarray:
    """The softmax of a NumPy array."""
    if axis in (-1, x.ndim - 1) and is_narrow(x):
        e, _, total = by_columns(x)
        e /= total
        return e.T.copy().reshape(x.shape)
    e = shifted(x, axis)
    e = np.exp(e, out=None if e is x else e)
    if axis in (-1, x.ndim - 1):
        e /= row_sums(e)[..., None]
    else:
        e /= np.add.reduce(e, axis, keepdims=True)
    return e


def lower_sum(x: JaxArray, axis: int) -> JaxArray:
    """The sum along `axis`, broadcast back over it."""
    total = fold(x, 0, lax.add, (axis,))
    return spread(total, x.shape, axis)


def spread(x: JaxArray | np.ndarray, shape: tuple[int, ...], axis: int) -> JaxArray:
    """A JAX array without `axis` broadcast to `shape`, which has it."""
    return lax.broadcast_in_dim(x, shape, [i for i in range(len(shape)) if i != axis])


def lower_shifted(x: JaxArray, axis: int) -> JaxArray:
    """The lowering of `shifted`."""
    top = fold(x, -np.inf, lax.max, (axis,))
    return lax.sub(x, spread(top, x.shape, axis))


def lower_softmax(x: JaxArray, axis: int) -> JaxArray:
    """The lowering of `softmax_array`."""
    top = once(fold(x, -np.inf, lax.max, (axis,)), x)
    e = lax.exp(lax.sub(x, spread(top, x.shape, axis)))
    total = once(fold(e, 0, lax.add, (axis,)), x)
    return lax.div(e, spread(total, x.shape, axis))


# Rows of fewer elements than this in all cost less than one more kernel.
_WORTH_A_KERNEL = 1 << 20


def once(row: JaxArray, x: JaxArray) -> JaxArray:
    """Has a GPU compute the maxima or sums of the rows of `x` once and keep them.

    Left alone, XLA fuses them into whatever uses the softmax, above all its gradient, and works
    them out anew there: almost three times the time for weights of attention.
    """
    large = all(type(n) is int for n in x.shape) and x.size >= _WORTH_A_KERNEL
    return lax.optimization_barrier(row) if large and jax.default_backend() == "gpu" else row


def _softmax_grad_grad_y(h: Tensor, g: Tensor, y: Tensor, axis: int) -> Tensor:
    total = tf.reduce_sum(g * y, axis, keepdims=True)
    return h * (g - total) - g * tf.reduce_sum(h * y, axis, keepdims=True)


SOFTMAX_GRAD = Op(
    "softmax_grad",
    "g y",
    kernel=in_rows(in_float32(lambda g, y, axis: (g - (g * y).sum(axis, keepdims=True)) * y)),
    infer=lambda g, y, axis: ShapeDtype(shapes.merge(g.shape, y.shape), y.dtype),
    lower=lower_in_float32(
        lambda g, y, axis: lax.mul(lax.sub(g, lower_sum(lax.mul(g, y), axis)), y)
    ),
    grad=(
        lambda h, y, axis: apply(SOFTMAX_GRAD, h, y, axis=axis),
        _softmax_grad_grad_y,
    ),
    accepts=dtypes.FLOAT,
)
SOFTMAX = Op(
    "softmax",
    "x",
    kernel=in_rows(in_float32(softmax_array)),
    infer=lambda x, axis: x,
    lower=lower_in_float32(lower_softmax),
    grad=lambda g, out, axis: apply(SOFTMAX_GRAD, g, out, axis=axis),
    accepts=dtypes.FLOAT,
    cost=SLOW,
)


def _arguments(name: str, logits: TensorLike, axis: Axis) -> tuple[Value, int]:
    x = operand(logits)
    require(x.ndim, name, "`logits` must have at least one axis", x, help="Use tf.reshape.")
    dim = static_int(name, axis, "axis", -1)
    return x, shapes.check_axis(name, dim, x.ndim)


def softmax(logits: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """exp(x) divided by its sum along `axis` (the last); NaN where a row has NaN or only -inf.

    Args:
        logits: a tensor of floating-point numbers.
        axis: the axis along which the result adds up to 1.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: there is no such axis, or the dtype is another.

    >>> tf.nn.softmax([0.0, 0.0]).numpy().tolist()
    [0.5, 0.5]
    """
    try:
        x, dim = _arguments("softmax", logits, axis)
        return apply(SOFTMAX, x, axis=dim)
    except Exception as error:
        return fallback(softmax, error, (logits, axis))


def _log_softmax_kernel(x: np.ndarray, axis: int) -> np.ndarray:
    z = shifted(x, axis)
    return z - np.log(np.add.reduce(np.exp(z), axis, keepdims=True))


def _lower_log_softmax(x: JaxArray, axis: int) -> JaxArray:
    z = lower_shifted(x, axis)
    return lax.sub(z, lax.log(lower_sum(lax.exp(z), axis)))


LOG_SOFTMAX_GRAD = Op(
    "log_softmax_grad",
    "g y",
    kernel=in_rows(in_float32(lambda g, y, axis: g - np.exp(y) * g.sum(axis, keepdims=True))),
    infer=lambda g, y, axis: ShapeDtype(shapes.merge(g.shape, y.shape), y.dtype),
    lower=lower_in_float32(lambda g, y, axis: lax.sub(g, lax.mul(lax.exp(y), lower_sum(g, axis)))),
    grad=(
        lambda h, y, axis: h - tf.reduce_sum(h * tf.exp(y), axis, keepdims=True),
        lambda h, g, y, axis: -h * tf.exp(y) * tf.reduce_sum(g, axis, keepdims=True),
    ),
    accepts=dtypes.FLOAT,
)
LOG_SOFTMAX = Op(
    "log_softmax",
    "x",
    kernel=in_rows(in_float32(_log_softmax_kernel)),
    infer=lambda x, axis: x,
    lower=lower_in_float32(_lower_log_softmax),
    grad=lambda g, out, axis: apply(LOG_SOFTMAX_GRAD, g, out, axis=axis),
    accepts=dtypes.FLOAT,
    cost=SLOW,
)


def log_softmax(logits: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """The logarithm of the softmax, without its overflow."""
    try:
        x, dim = _arguments("log_softmax", logits, axis)
        return apply(LOG_SOFTMAX, x, axis=dim)
    except Exception as error:
        return fallback(log_softmax, error, (logits, axis))
