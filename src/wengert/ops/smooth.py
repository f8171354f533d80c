"""Smooth activation functions: gelu, silu (swish) and softsign.

Each is one operation; its first derivative is an operation of its own, whose rule is written in
plain operations, so every order exists.
"""

from __future__ import annotations

import math

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import require_dtype
from wengert.core.lazy_modules import lax, special
from wengert.core.types import JaxArray, Tensor, TensorLike
from wengert.ops import public as tf
from wengert.ops.activations import const
from wengert.ops.compiled import in_blocks
from wengert.ops.costs import SLOW
from wengert.ops.declare import in_float32, lower_in_float32, unary
from wengert.ops.threads import in_parts

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TAU = math.sqrt(2 * math.pi)
_TANH_SCALE = math.sqrt(2 / math.pi)
_CUBIC = 0.044715
# Beyond this the approximation is straight in every precision, while its inner terms overflow.
_FLAT = 30.0


def _gelu_kernel(x: np.ndarray, approximate: bool) -> np.ndarray:
    kind = x.dtype.type
    if approximate:
        inner = kind(_TANH_SCALE) * (x + kind(_CUBIC) * (x * x * x))
        return kind(0.5) * x * (kind(1) + np.tanh(inner))
    # The complementary form keeps its digits far out on the negative side.
    return kind(0.5) * x * special.erfc(-x * kind(_ROOT_HALF))


def _lower_gelu(x: JaxArray, approximate: bool) -> JaxArray:
    half_x = lax.mul(x, const(x, 0.5))
    if approximate:
        inner = lax.mul(
            const(x, _TANH_SCALE), lax.add(x, lax.mul(const(x, _CUBIC), lax.integer_pow(x, 3)))
        )
        return lax.mul(half_x, lax.add(lax.tanh(inner), const(x, 1)))
    return lax.mul(half_x, lax.erfc(lax.mul(x, const(x, -_ROOT_HALF))))


def _gelu_slope_kernel(x: np.ndarray, approximate: bool) -> np.ndarray:
    kind = x.dtype.type
    if approximate:
        x = np.clip(x, kind(-_FLAT), kind(_FLAT))
    square = x * x
    if approximate:
        t = np.tanh(kind(_TANH_SCALE) * x * (kind(1) + kind(_CUBIC) * square))
        steep = kind(_TANH_SCALE) * (kind(1) + kind(3 * _CUBIC) * square)
        return kind(0.5) * ((kind(1) + t) + x * (kind(1) - t * t) * steep)
    density = np.exp(kind(-0.5) * square) * kind(1 / _ROOT_TAU)
    return kind(0.5) * special.erfc(-x * kind(_ROOT_HALF)) + x * density


def _lower_gelu_slope(x: JaxArray, approximate: bool) -> JaxArray:
    if approximate:
        x = lax.clamp(x.dtype.type(-_FLAT), x, x.dtype.type(_FLAT))
    square = lax.mul(x, x)
    one = const(x, 1)
    if approximate:
        bend = lax.add(one, lax.mul(const(x, _CUBIC), square))
        t = lax.tanh(lax.mul(lax.mul(const(x, _TANH_SCALE), x), bend))
        steep = lax.add(const(x, _TANH_SCALE), lax.mul(const(x, 3 * _CUBIC * _TANH_SCALE), square))
        slope = lax.mul(lax.mul(x, lax.sub(one, lax.mul(t, t))), steep)
        return lax.mul(const(x, 0.5), lax.add(lax.add(one, t), slope))
    density = lax.mul(lax.exp(lax.mul(const(x, -0.5), square)), const(x, 1 / _ROOT_TAU))
    below = lax.mul(const(x, 0.5), lax.erfc(lax.mul(x, const(x, -_ROOT_HALF))))
    return lax.add(below, lax.mul(x, density))


def _gelu_slope_grad(g: Tensor, x: Tensor, approximate: bool) -> Tensor:
    if not approximate:
        density = tf.exp(-0.5 * (x * x)) * (1 / _ROOT_TAU)
        return g * (2.0 * density - x * (x * density))
    x = tf.maximum(tf.minimum(x, _FLAT), -_FLAT)
    square = x * x
    t = tf.tanh(_TANH_SCALE * x * (1.0 + _CUBIC * square))
    steep = _TANH_SCALE * (1.0 + 3 * _CUBIC * square)
    bend = steep + (3 * _CUBIC * _TANH_SCALE) * square - x * t * steep * steep
    return g * (1.0 - t * t) * bend


GELU_SLOPE = unary(
    "gelu_slope",
    in_blocks(_gelu_slope_kernel, _lower_gelu_slope),
    lower_in_float32(_lower_gelu_slope),
    grad=_gelu_slope_grad,
    accepts=dtypes.FLOAT,
)
GELU = unary(
    "gelu",
    in_blocks(_gelu_kernel, _lower_gelu),
    lower_in_float32(_lower_gelu),
    grad=lambda g, x, approximate: g * apply(GELU_SLOPE, x, approximate=approximate),
    accepts=dtypes.FLOAT,
    cost=SLOW,
)


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """x times the normal distribution function of x, or its approximation by tanh."""
    x = operand(features)
    require_dtype(
        x.dtype.is_floating, "gelu", "`features` must be floating", x, help="Use tf.cast."
    )
    return apply(GELU, x, approximate=bool(approximate))


def _logistic(x: np.ndarray) -> np.ndarray:
    return special.expit(x)


def _lower_silu(x: JaxArray, beta: float) -> JaxArray:
    return lax.mul(x, lax.logistic(lax.mul(x, const(x, beta))))


def _silu_slope_kernel(x: np.ndarray, beta: float) -> np.ndarray:
    kind = x.dtype.type
    z = x * kind(beta)
    s = _logistic(z)
    return s * (kind(1) + z * (kind(1) - s))


def _lower_silu_slope(x: JaxArray, beta: float) -> JaxArray:
    z = lax.mul(x, const(x, beta))
    s = lax.logistic(z)
    return lax.mul(s, lax.add(const(x, 1), lax.mul(z, lax.sub(const(x, 1), s))))


def _silu_slope_grad(g: Tensor, x: Tensor, beta: float) -> Tensor:
    s = tf.sigmoid(beta * x)
    return g * (beta * s * (1.0 - s) * (2.0 + beta * x * (1.0 - 2.0 * s)))


SILU_SLOPE = unary(
    "silu_slope",
    in_blocks(_silu_slope_kernel, _lower_silu_slope),
    lower_in_float32(_lower_silu_slope),
    grad=_silu_slope_grad,
    accepts=dtypes.FLOAT,
)
SILU = unary(
    "silu",
    in_blocks(lambda x, beta: x * _logistic(x * x.dtype.type(beta)), _lower_silu),
    lower_in_float32(_lower_silu),
    grad=lambda g, x, beta: g * apply(SILU_SLOPE, x, beta=beta),
    accepts=dtypes.FLOAT,
)


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """x times sigmoid(beta x), also called swish; `beta` may be a trained tensor."""
    x = operand(features)
    if isinstance(beta, int | float | np.generic):
        return apply(SILU, x, beta=float(beta))
    return x * tf.sigmoid(operand(beta, None, x.dtype) * x)


swish = silu


SOFTSIGN_SLOPE = unary(
    "softsign_slope",
    in_parts(in_float32(lambda x: 1 / np.square(1 + np.abs(x)))),
    lower_in_float32(lambda x: lax.integer_pow(lax.add(const(x, 1), lax.abs(x)), -2)),
    grad=lambda g, x: g * (-2.0 * tf.sign(x)) * apply(SOFTSIGN_SLOPE, x) / (1.0 + abs(x)),
    accepts=dtypes.FLOAT,
)
SOFTSIGN = unary(
    "softsign",
    in_parts(in_float32(lambda x: x / (1 + np.abs(x)))),
    lower_in_float32(lambda x: lax.div(x, lax.add(const(x, 1), lax.abs(x)))),
    grad=lambda g, x: g * apply(SOFTSIGN_SLOPE, x),
    accepts=dtypes.FLOAT,
)


def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """x / (1 + |x|); NaN at the infinities."""
    return apply(SOFTSIGN, operand(features))
