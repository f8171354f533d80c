"""Functions of one tensor, element by element: magnitude and sign, rounding, the logistic family.

Rounding has no gradient; `abs` has gradient 0 at 0. NaN goes through everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.costs import SLOW
from wengert.ops.declare import (
    TAME,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply2,
    binary,
    dtypes,
    function_of,
    in_float32,
    lax,
    tf,
    unary,
)
from wengert.ops.threads import in_parts

ABS = Op(
    "abs",
    "x",
    kernel=np.abs,
    infer=lambda x: ShapeDtype(x.shape, x.dtype.real_dtype),
    lower=lambda x: lax.abs(x),
    grad=lambda g, x: tf.cast(g, x.dtype) * sign(x),
    accepts=dtypes.nums("ifc"),
    holomorphic=False,
    harmless=True,
    elementwise=True,
    on_sparse=True,
)


@function_of(ABS)
def abs(x: TensorLike, name: str | None = None) -> Any:
    """The absolute value; the lowest integer of a type is its own.

    Args:
        x: a tensor of numbers.
        name: without effect.

    Returns:
        A tensor of the same shape; of complex numbers their lengths.

    Raises:
        InvalidArgumentError: the dtype is another.

    >>> tf.abs([-1.5, 2.0]).numpy().tolist()
    [1.5, 2.0]
    """


def _sign_grad(g: Tensor, x: Tensor) -> Tensor:
    """0 for real numbers; for complex ones only a turn around 0 changes the sign."""
    if not x.dtype.is_complex:
        return tf.zeros_like(g)
    unit = sign(x)
    turn = tf.imag(tf.conj(unit) * g)
    return unit * tf.divide_no_nan(tf.complex(tf.zeros_like(turn), turn), tf.cast(abs(x), x.dtype))


@function_of(
    unary(
        "sign",
        in_parts(np.sign),
        lambda x: lax.sign(x),
        grad=_sign_grad,
        accepts=dtypes.nums("ifc"),
        holomorphic=False,
        instead="Use tf.tanh(k * x) or tf.nn.softsign(x).",
        on_sparse=True,
    )
)
def sign(x: TensorLike, name: str | None = None) -> Any:
    """-1, 0 or 1; x / |x| for complex numbers; NaN for NaN."""


@function_of(
    unary(
        "floor",
        np.floor,
        lambda x: lax.floor(x),
        grad=None,
        accepts=dtypes.FLOAT,
        instead="Leave it out, or wrap it in tf.grad_pass_through.",
    )
)
def floor(x: TensorLike, name: str | None = None) -> Any:
    """The largest whole number not above x, in the dtype of x."""


@function_of(
    unary(
        "ceil",
        np.ceil,
        lambda x: lax.ceil(x),
        grad=None,
        accepts=dtypes.FLOAT,
        instead="Leave it out, or wrap it in tf.grad_pass_through.",
    )
)
def ceil(x: TensorLike, name: str | None = None) -> Any:
    """The smallest whole number not below x, in the dtype of x."""


def _lower_round(x: JaxArray) -> JaxArray:
    if x.dtype.kind in "iu":
        return x
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


@function_of(
    unary(
        "round",
        lambda x: x if x.dtype.kind in "iu" else np.rint(x),
        _lower_round,
        grad=None,
        accepts=dtypes.REAL,
        instead="Leave it out, or wrap it in tf.grad_pass_through.",
    )
)
def round(x: TensorLike, name: str | None = None) -> Any:
    """The nearest whole number, halves to the even one; integers stay."""


@function_of(
    unary(
        "rint",
        np.rint,
        _lower_round,
        grad=None,
        accepts=dtypes.FLOAT,
        instead="Leave it out, or wrap it in tf.grad_pass_through.",
    )
)
def rint(x: TensorLike, name: str | None = None) -> Any:
    """The nearest whole number, halves to the even one."""


def _tanh_grad(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.asarray(np.multiply(x, x))
    np.subtract(1, out, out=out)
    return np.multiply(out, y, out=out)


TANH_GRAD = binary(
    "tanh_grad",
    in_parts(_tanh_grad),
    lambda x, y: lax.mul(y, lax.sub(lax.full_like(x, 1), lax.mul(x, x))),
    grad=(lambda g, x, y: -2.0 * g * y * x, lambda g, x: apply2(TANH_GRAD, x, g)),
    accepts=dtypes.INEXACT,
)


@function_of(
    unary(
        "tanh",
        np.tanh,
        lambda x: lax.tanh(x),
        grad=lambda g, out: apply2(TANH_GRAD, out, g),
        cost=SLOW,
        hazards=TAME,
        on_sparse=True,
    )
)
def tanh(x: TensorLike, name: str | None = None) -> Any:
    """The hyperbolic tangent.

    Args:
        x: a floating or complex tensor.
        name: without effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    >>> float(tf.tanh(0.0)) == 0.0
    True
    """


def _sigmoid(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "c":
        # exp(-x) would overflow in both parts, and 1 over that is NaN.
        left = np.real(x) < 0
        small = np.exp(np.where(left, x, -x))
        return np.where(left, small, 1).astype(x.dtype) / (1 + small)
    out = np.asarray(np.negative(x))
    np.exp(out, out=out)
    out += 1
    return np.reciprocal(out, out=out)


def _sigmoid_grad(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.asarray(np.subtract(1, x))
    out *= x
    return np.multiply(out, y, out=out)


SIGMOID_GRAD = binary(
    "sigmoid_grad",
    in_parts(_sigmoid_grad),
    lambda x, y: lax.mul(y, lax.mul(x, lax.sub(lax.full_like(x, 1), x))),
    grad=(lambda g, x, y: g * y * (1.0 - 2.0 * x), lambda g, x: apply2(SIGMOID_GRAD, x, g)),
    accepts=dtypes.INEXACT,
)


@function_of(
    unary(
        "sigmoid",
        in_parts(in_float32(_sigmoid)),
        lambda x: lax.logistic(x),
        grad=lambda g, out: apply2(SIGMOID_GRAD, out, g),
        cost=SLOW,
        hazards=TAME,
    )
)
def sigmoid(x: TensorLike, name: str | None = None) -> Any:
    """1 / (1 + exp(-x)), without overflow.

    Args:
        x: a floating or complex tensor.
        name: without effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    >>> float(tf.sigmoid(0.0)) == 0.5
    True
    """


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _lower_softplus(x: JaxArray) -> JaxArray:
    zero = lax.full_like(x, 0)
    return lax.add(lax.max(x, zero), lax.log1p(lax.exp(lax.neg(lax.abs(x)))))


@function_of(
    unary(
        "softplus",
        in_parts(in_float32(_softplus)),
        _lower_softplus,
        grad=lambda g, x: g * sigmoid(x),
        accepts=dtypes.FLOAT,
        cost=SLOW,
    )
)
def softplus(features: TensorLike, name: str | None = None) -> Any:
    """log(1 + exp(x)), without overflow."""


@function_of(
    unary(
        "log_sigmoid",
        in_parts(in_float32(lambda x: -_softplus(-x))),
        lambda x: lax.neg(_lower_softplus(lax.neg(x))),
        grad=lambda g, x: g * sigmoid(-x),
        accepts=dtypes.FLOAT,
    )
)
def log_sigmoid(x: TensorLike, name: str | None = None) -> Any:
    """log(sigmoid(x)), without underflow."""
