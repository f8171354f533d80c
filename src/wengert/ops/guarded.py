"""Quotients and products that answer 0, not NaN, where one argument is 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.arithmetic import fractions
from wengert.ops.declare import (
    Hazards,
    JaxArray,
    Op,
    Tensor,
    TensorLike,
    apply2,
    binary,
    dtypes,
    function_of,
    lax,
    operand,
    operands,
    tf,
)
from wengert.ops.select import choose


def _where_nonzero(name: str, test: int, compute: Any, lowered: Any, grad: Any, **facts: Any) -> Op:
    """An operation that answers 0 wherever its argument number `test` is 0."""

    def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        zero = (x, y)[test] == 0
        out = np.asarray(compute(x, y))
        return choose(zero, np.zeros((), x.dtype), out) if zero.any() else out

    def lower(x: JaxArray, y: JaxArray) -> JaxArray:
        zero = lax.full_like(x, 0)
        return lax.select(lax.eq((x, y)[test], zero), zero, lowered(x, y))

    return binary(name, kernel, lower, grad, accepts=dtypes.INEXACT, **facts)


DIVIDE_NO_NAN = _where_nonzero(
    "divide_no_nan",
    1,
    np.true_divide,
    lambda x, y: lax.div(x, y),
    grad=(
        lambda g, y: divide_no_nan(g, y),
        lambda g, y, out: g * divide_no_nan(-out, y),
    ),
)


def divide_no_nan(x: Any, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides, with 0 where `y` is 0; integers give floats as `truediv` does."""
    return apply2(DIVIDE_NO_NAN, *fractions("divide_no_nan", *operands("divide_no_nan", x, y)))


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, with 0 at 0."""
    x = operand(x)
    return apply2(DIVIDE_NO_NAN, operand(1, None, x.dtype), x)


@function_of(
    _where_nonzero(
        "multiply_no_nan",
        1,
        np.multiply,
        lambda x, y: lax.mul(x, y),
        grad=(lambda g, y: tf.multiply_no_nan(g, y), lambda g, x: tf.multiply_no_nan(x, g)),
    )
)
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """Multiplies, with 0 where `y` is 0, even if `x` is infinite or NaN."""


def _nonzero(x: Tensor) -> Tensor:
    """1 where `x` is not 0, else 0, in the dtype of `x`."""
    return tf.cast(tf.not_equal(x, 0), x.dtype)


@function_of(
    _where_nonzero(
        "xdivy",
        0,
        np.true_divide,
        lambda x, y: lax.div(x, y),
        grad=(
            lambda g, x, y: g * tf.xdivy(_nonzero(x), y),
            lambda g, x, y: g * tf.xdivy(-x, y * y),
        ),
    )
)
def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x / y, with 0 where `x` is 0."""


@function_of(
    _where_nonzero(
        "xlogy",
        0,
        lambda x, y: np.multiply(x, np.log(y)),
        lambda x, y: lax.mul(x, lax.log(y)),
        grad=(lambda g, x, y: g * tf.xlogy(_nonzero(x), y), lambda g, x, y: g * tf.xdivy(x, y)),
        hazards=Hazards(edge=0),
    )
)
def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x log(y), with 0 where `x` is 0."""


@function_of(
    _where_nonzero(
        "xlog1py",
        0,
        lambda x, y: np.multiply(x, np.log1p(y)),
        lambda x, y: lax.mul(x, lax.log1p(y)),
        grad=(
            lambda g, x, y: g * tf.xlog1py(_nonzero(x), y),
            lambda g, x, y: g * tf.xdivy(x, y + 1.0),
        ),
    )
)
def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x log(1 + y), with 0 where `x` is 0."""
