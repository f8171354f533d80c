"""Activation functions with a bend: relu and its kin, element by element.

Each is one operation with a stable formula. Most keep only their result, from which the slope
can be read; the smooth ones stand in `smooth.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    TAME,
    JaxArray,
    Op,
    Tensor,
    TensorLike,
    Value,
    apply,
    apply1,
    apply2,
    as_numbers,
    binary,
    dtypes,
    function_of,
    in_float32,
    lax,
    lower_in_float32,
    operand,
    static_float,
    tf,
    unary,
)
from wengert.ops.select import choose, larger, smaller
from wengert.ops.threads import in_parts


def const(x: JaxArray | np.ndarray, value: float) -> JaxArray:
    """`value` as an array of the shape and dtype of `x`, for `lax`, which does not promote."""
    return lax.full_like(x, value)


def _gate(name: str, kernel: Any, lower: Any, grad_y: Any) -> Op:
    """A gradient `g` times a factor that depends on `y`; linear in `g`."""
    op = binary(
        name,
        kernel,
        lower_in_float32(lower),
        grad=(lambda h, y: apply2(op, h, y), grad_y),
        accepts=dtypes.REAL,
    )
    return op


_ZERO = {n: np.zeros((), d.np) for n, d in dtypes.BY_NUM.items() if d.kind in "iuf"}


# Arrays of zeros, which NumPy compares with twice as fast as with one zero.
_ZEROS: dict[tuple[int, ...], np.ndarray] = {}
_SMALL, _MOST = 1 << 13, 64
_FLOAT = dtypes.float32.np


def _relu_kernel(x: np.ndarray) -> np.ndarray:
    if x.dtype is not _FLOAT or x.size > _SMALL:
        return larger(x, _ZERO[x.dtype.num])
    zeros = _ZEROS.get(x.shape)
    if zeros is None:
        if len(_ZEROS) >= _MOST:
            _ZEROS.clear()
        zeros = _ZEROS[x.shape] = np.zeros(x.shape, x.dtype)
    return np.maximum(x, zeros)


def _masked(g: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`g * (y > 0)`; to multiply numbers by truth values takes NumPy longer."""
    mask = np.greater(y, _ZERO[y.dtype.num]).astype(g.dtype)
    try:
        return np.multiply(g, mask, mask)
    except (TypeError, ValueError):  # numbers, or `y` has another shape
        return g * mask


RELU_GRAD = _gate(
    "relu_grad",
    _masked,
    lambda g, y: lax.mul(g, as_numbers(lax.gt(y, const(y, 0)), g.dtype)),
    lambda h, y: tf.zeros_like(y),
)
RELU = unary(
    "relu",
    _relu_kernel,
    lambda x: lax.max(x, const(x, 0)),
    grad=lambda g, out: apply2(RELU_GRAD, g, out),
    accepts=dtypes.REAL,
    hazards=TAME,
)


def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """max(x, 0); NaN stays NaN, and the gradient at 0 is 0.

    Args:
        features: a tensor of real numbers.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the dtype is another.

    >>> tf.nn.relu([-1.0, 2.0]).numpy().tolist()
    [0.0, 2.0]
    """
    return apply1(RELU, features if type(features) is Tensor else operand(features))


def _between(y: np.ndarray) -> np.ndarray:
    return (y > 0) & (y < 6)


def _lower_relu6_grad(g: JaxArray, y: JaxArray) -> JaxArray:
    inside = lax.bitwise_and(lax.gt(y, const(y, 0)), lax.lt(y, const(y, 6)))
    return lax.mul(g, as_numbers(inside, g.dtype))


RELU6_GRAD = _gate(
    "relu6_grad",
    in_parts(lambda g, y: g * _between(y)),
    _lower_relu6_grad,
    lambda h, y: tf.zeros_like(y),
)


@function_of(
    unary(
        "relu6",
        in_parts(lambda x: smaller(larger(x, x.dtype.type(0)), x.dtype.type(6))),
        lambda x: lax.min(lax.max(x, const(x, 0)), const(x, 6)),
        grad=lambda g, out: apply2(RELU6_GRAD, g, out),
        accepts=dtypes.REAL,
    )
)
def relu6(features: TensorLike, name: str | None = None) -> Any:
    """min(max(x, 0), 6); the gradient is 0 at both ends."""


def crelu(features: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """The positive and the negated negative part, side by side along `axis`."""
    x = operand(features)
    return relu(tf.concat([x, -x], axis))


def _leaky_kernel(x: np.ndarray, alpha: float) -> np.ndarray:
    bend = np.maximum if alpha <= 1 else np.minimum
    return bend(x, x * x.dtype.type(alpha))


def _leaky_grad_kernel(g: np.ndarray, x: np.ndarray, alpha: float) -> np.ndarray:
    if not 0 <= alpha <= 1:
        return choose(x > 0, g, g * g.dtype.type(alpha))
    factor = np.asarray(x > 0).astype(g.dtype)
    np.maximum(factor, g.dtype.type(alpha), out=factor)
    return np.multiply(factor, g, out=factor) if factor.shape == g.shape else factor * g


LEAKY_RELU_GRAD = binary(
    "leaky_relu_grad",
    in_parts(in_float32(_leaky_grad_kernel)),
    lower_in_float32(
        lambda g, x, alpha: lax.select(lax.gt(x, const(x, 0)), g, lax.mul(g, const(g, alpha)))
    ),
    grad=(
        lambda h, y, alpha: apply(LEAKY_RELU_GRAD, h, y, alpha=alpha),
        lambda h, y: tf.zeros_like(y),
    ),
    accepts=dtypes.FLOAT,
)
LEAKY_RELU = unary(
    "leaky_relu",
    in_parts(in_float32(_leaky_kernel)),
    lower_in_float32(
        lambda x, alpha: (lax.max if alpha <= 1 else lax.min)(x, lax.mul(x, const(x, alpha)))
    ),
    grad=lambda g, x, alpha: apply(LEAKY_RELU_GRAD, g, x, alpha=alpha),
    accepts=dtypes.FLOAT,
)


def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: str | None = None) -> Tensor:
    """x where positive, `alpha` times x elsewhere; whole numbers become float32.

    `alpha` may be a tensor or variable, which then has a gradient.
    """
    x = operand(features)
    if x.dtype.is_integer:
        x = tf.cast(x, dtypes.float32)
    if isinstance(alpha, Value):
        return tf.where(x > 0.0, x, tf.cast(alpha, x.dtype) * x)
    return apply(LEAKY_RELU, x, alpha=static_float("leaky_relu", alpha, "alpha"))


ELU_GRAD = _gate(
    "elu_grad",
    in_parts(in_float32(lambda g, y: g * (np.fmin(y, 0) + g.dtype.type(1)))),
    lambda g, y: lax.select(lax.lt(y, const(y, 0)), lax.mul(g, lax.add(y, const(y, 1))), g),
    lambda h, x, y: apply2(RELU_GRAD, x * h, -y),
)


def _elu_kernel(x: np.ndarray) -> np.ndarray:
    zero = x.dtype.type(0)
    return np.expm1(smaller(x, zero)) + larger(x, zero)


@function_of(
    unary(
        "elu",
        in_parts(in_float32(_elu_kernel)),
        lower_in_float32(lambda x: lax.select(lax.lt(x, const(x, 0)), lax.expm1(x), x)),
        grad=lambda g, out: apply2(ELU_GRAD, g, out),
        accepts=dtypes.FLOAT,
    )
)
def elu(features: TensorLike, name: str | None = None) -> Any:
    """exp(x) - 1 below zero, x above."""


_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


def _selu_kernel(x: np.ndarray) -> np.ndarray:
    kind = x.dtype.type
    below = kind(_SELU_SCALE_ALPHA) * np.expm1(smaller(x, kind(0)))
    return below + kind(_SELU_SCALE) * larger(x, kind(0))


def _lower_selu(x: JaxArray) -> JaxArray:
    below = lax.mul(const(x, _SELU_SCALE_ALPHA), lax.expm1(x))
    return lax.select(lax.lt(x, const(x, 0)), below, lax.mul(const(x, _SELU_SCALE), x))


def _selu_grad_kernel(g: np.ndarray, y: np.ndarray) -> np.ndarray:
    kind = g.dtype.type
    return g * choose(y < 0, y + kind(_SELU_SCALE_ALPHA), np.asarray(kind(_SELU_SCALE)))


def _lower_selu_grad(g: JaxArray, y: JaxArray) -> JaxArray:
    below = lax.add(y, const(y, _SELU_SCALE_ALPHA))
    return lax.mul(g, lax.select(lax.lt(y, const(y, 0)), below, const(y, _SELU_SCALE)))


SELU_GRAD = _gate(
    "selu_grad",
    in_parts(in_float32(_selu_grad_kernel)),
    _lower_selu_grad,
    lambda h, x, y: apply2(RELU_GRAD, x * h, -y),
)


@function_of(
    unary(
        "selu",
        in_parts(in_float32(_selu_kernel)),
        lower_in_float32(_lower_selu),
        grad=lambda g, out: apply2(SELU_GRAD, g, out),
        accepts=dtypes.FLOAT,
    )
)
def selu(features: TensorLike, name: str | None = None) -> Any:
    """The scaled exponential linear unit, whose constants keep mean 0 and variance 1."""
