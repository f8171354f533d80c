"""Powers, roots, exponentials and logarithms.

Outside their domain real functions answer NaN, and infinity at a pole; nothing here raises but an
integer to a negative power.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.arithmetic import ADD, DIVIDE, MULTIPLY
from wengert.ops.costs import SLOW
from wengert.ops.declare import (
    TAME,
    Hazards,
    JaxArray,
    Op,
    Pole,
    Tensor,
    TensorLike,
    Value,
    apply2,
    at_site,
    binary,
    describe,
    dtypes,
    fail_if,
    function_of,
    lax,
    operand,
    require,
    tf,
    unary,
)
from wengert.ops.select import choose
from wengert.ops.threads import in_parts


def _pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "i":
        require(
            not y.size or y.min() >= 0,
            "pow",
            "an integer to a negative power is no integer",
            x,
            y,
            help="Cast the base to a float with tf.cast.",
        )
    elif not y.ndim:
        return _fixed_power(x, y)
    return _powers(x, y)


_powers = in_parts(np.power)


def _fixed_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """All numbers to one power. NumPy is slow with negative ones, a hundred times and more."""
    power = y.item()
    if power == 2:
        return np.square(x)
    if x.dtype.num not in _WIDE or power % 1:
        return np.power(x, y)
    if power == 3:
        return x * x * x
    if x.size < 64:
        return np.power(x, y)
    result = np.power(np.abs(x), y)
    return np.copysign(result, x) if power % 2 else result


_WIDE = dtypes.nums("float32", "float64")


def _pow_grad_y(g: Tensor, x: Tensor, y: Tensor, out: Tensor) -> Tensor:
    # The logarithm of 1 stands in where the base has none.
    defined = tf.not_equal(x, 0) if x.dtype.is_complex else tf.greater(x, 0)
    return g * (out * log(tf.where(defined, x, 1)))


def _lower_pow(x: JaxArray, y: JaxArray) -> JaxArray:
    if x.dtype.kind == "i":
        return _lower_integer_pow(x, y)
    # XLA takes log(x**y) for y * log(abs(x)), a number where there is none, and exp(x)**y for
    # exp(x * y), NaN where it is 1. It does not see through the choice of what is 1 in any case.
    one = lax.full_like(x, 1)
    always = lax.bitwise_or(lax.eq(x, one), lax.eq(y, lax.full_like(y, 0)))
    return lax.select(always, one, lax.pow(x, y))


def _lower_integer_pow(x: JaxArray, y: Any) -> JaxArray:
    """Square and multiply over the bits of the exponent; overflow wraps."""
    one = lax.full_like(x, 1)
    out = one
    for bit in range(x.dtype.itemsize * 8 - 1):
        taken = lax.ne(lax.bitwise_and(y, lax.full_like(y, 1 << bit)), lax.full_like(y, 0))
        out = lax.mul(out, lax.select(taken, x, one))
        x = lax.mul(x, x)
    return out


def _fail_by_negative(x: JaxArray, y: JaxArray | np.ndarray) -> None:
    if y.dtype.kind == "i" and not (isinstance(y, np.ndarray) and (y >= 0).all()):
        fail_if(lambda: y < 0)


POW = binary(
    "pow",
    _pow,
    _lower_pow,
    grad=(
        lambda g, x, y: apply2(MULTIPLY, g, apply2(MULTIPLY, y, apply2(POW, x, y - 1))),
        _pow_grad_y,
    ),
    accepts=dtypes.nums("ifc"),
    fails=_fail_by_negative,
    cost=SLOW,
    hazards=Hazards(
        grows=True,
        outside="a negative base with a fraction as exponent",
        pole=Pole(lambda x, y: (x == 0) & (y < 1) & (y != 0), "at 0"),
    ),
)


@function_of(POW)
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x to the power y; NaN for a fractional power of a negative number."""


@function_of(
    unary(
        "square",
        np.square,
        lambda x: lax.mul(x, x),
        grad=lambda g, x: apply2(MULTIPLY, g, apply2(ADD, x, x)),
        accepts=dtypes.NUMERIC,
        hazards=TAME,
        on_sparse=True,
    )
)
def square(x: TensorLike, name: str | None = None) -> Any:
    """x².

    Args:
        x: a tensor of numbers.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the dtype is another.

    >>> tf.square([2, -3]).numpy().tolist()
    [4, 9]
    """


def _unless_zero(name: str, kernel: Any, lowered: Any, grad: Any, **facts: Any) -> Op:
    """A gradient that answers 0 to an incoming gradient of 0, however steep the root is."""

    def guarded(y: np.ndarray, g: np.ndarray) -> np.ndarray:
        zero = g == 0
        out = kernel(y, g)
        return choose(zero, np.zeros((), g.dtype), np.asarray(out)) if zero.any() else out

    def lower(y: JaxArray, g: JaxArray) -> JaxArray:
        zero = lax.full_like(g, 0)
        return lax.select(lax.eq(g, zero), zero, lowered(y, g))

    return binary(name, in_parts(guarded), lower, grad, accepts=dtypes.INEXACT, **facts)


def _half(x: JaxArray | np.ndarray) -> JaxArray:
    return lax.mul(x, lax.full_like(x, 0.5))


SQRT_GRAD = _unless_zero(
    "sqrt_grad",
    lambda x, y: np.true_divide(np.multiply(y, y.dtype.type(0.5)), x),
    lambda y, g: lax.div(_half(g), y),
    grad=(lambda g, x, out: -g * out / x, lambda g, x: 0.5 * g / x),
    hazards=Hazards(singular=True),
)


@function_of(
    unary(
        "sqrt",
        in_parts(np.sqrt),
        lambda x: lax.sqrt(x),
        grad=lambda g, out: apply2(SQRT_GRAD, out, g),
        hazards=Hazards(outside="negative numbers", pole=Pole(lambda x: x == 0, "at 0")),
        on_sparse=True,
    )
)
def sqrt(x: TensorLike, name: str | None = None) -> Any:
    """The square root; NaN below 0, and an infinite gradient at 0.

    Args:
        x: a tensor of floating-point or complex numbers.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the dtype is another.

    >>> tf.sqrt([4.0, 9.0]).numpy().tolist()
    [2.0, 3.0]
    """


RSQRT_GRAD = _unless_zero(
    "rsqrt_grad",
    lambda y, g: np.multiply(np.multiply(g, y.dtype.type(-0.5)), y * y * y),
    lambda y, g: lax.mul(lax.neg(_half(g)), lax.mul(lax.mul(y, y), y)),
    grad=(lambda g, x, y: -1.5 * g * y * (x * x), lambda g, x: apply2(RSQRT_GRAD, x, g)),
)


@function_of(
    unary(
        "rsqrt",
        in_parts(lambda x: np.reciprocal(np.sqrt(x))),
        lambda x: lax.rsqrt(x),
        grad=lambda g, out: apply2(RSQRT_GRAD, out, g),
        hazards=Hazards(
            divides=True, outside="negative numbers", pole=Pole(lambda x: x == 0, "at 0")
        ),
    )
)
def rsqrt(x: TensorLike, name: str | None = None) -> Any:
    """1 / sqrt(x); infinite at 0, NaN below."""


RECIPROCAL_GRAD = _unless_zero(
    "reciprocal_grad",
    lambda y, g: np.multiply(np.negative(g), y * y),
    lambda y, g: lax.mul(lax.neg(g), lax.mul(y, y)),
    grad=(lambda g, x, y: -2.0 * g * y * x, lambda g, x: apply2(RECIPROCAL_GRAD, x, g)),
)


@function_of(
    unary(
        "reciprocal",
        np.reciprocal,
        lambda x: lax.div(lax.full_like(x, 1), x),
        grad=lambda g, out: apply2(RECIPROCAL_GRAD, out, g),
        hazards=Hazards(divides=True, pole=Pole(lambda x: x == 0, "at 0")),
    )
)
def reciprocal(x: TensorLike, name: str | None = None) -> Any:
    """1 / x; infinite at 0."""


EXP = unary(
    "exp",
    np.exp,
    lambda x: lax.exp(x),
    grad=lambda g, out: apply2(MULTIPLY, g, out),
    cost=SLOW,
    hazards=Hazards(grows=True, tame=True),
)


@function_of(EXP)
def exp(x: TensorLike, name: str | None = None) -> Any:
    """e to the power x; overflows to infinity.

    Args:
        x: a floating or complex tensor.
        name: without effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    >>> float(tf.exp(0.0)) == 1.0
    True
    """


@function_of(
    unary(
        "expm1",
        np.expm1,
        lambda x: lax.expm1(x),
        grad=lambda g, x: g * exp(x),
        hazards=Hazards(grows=True),
    )
)
def expm1(x: TensorLike, name: str | None = None) -> Any:
    """exp(x) - 1, exact for small x."""


@function_of(
    unary(
        "log",
        np.log,
        lambda x: lax.log(x),
        grad=lambda g, x: apply2(DIVIDE, g, x),
        cost=SLOW,
        hazards=Hazards(edge=0, pole=Pole(lambda x: x == 0, "at 0")),
    )
)
def log(x: TensorLike, name: str | None = None) -> Any:
    """The natural logarithm; -inf at 0, NaN below.

    Args:
        x: a tensor of floating-point or complex numbers.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the dtype is another.

    >>> tf.math.log([1.0]).numpy().tolist()
    [0.0]
    """


@function_of(
    unary(
        "log1p",
        np.log1p,
        lambda x: lax.log1p(x),
        grad=lambda g, x: g / (x + 1.0),
        hazards=Hazards(edge=-1, pole=Pole(lambda x: x == -1, "at -1")),
    )
)
def log1p(x: TensorLike, name: str | None = None) -> Any:
    """log(1 + x), exact for small x; -inf at -1, NaN below."""


def polyval(coeffs: TensorLike, x: Any, name: str | None = None) -> Value:
    """The polynomial with the given list of coefficients, highest power first, at `x` (Horner)."""
    if not isinstance(coeffs, list):
        raise at_site(ValueError(f"polyval: `coeffs` must be a list; got {describe(coeffs)}."))
    x = operand(x)
    if not coeffs:
        return tf.zeros_like(x)
    total = operand(coeffs[0], None, x.dtype)
    for c in coeffs[1:]:
        total = operand(c, None, x.dtype) + total * x
    return total
