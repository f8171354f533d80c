"""Arithmetic on two tensors, element by element, and the plain unary functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply, apply2
from wengert.core.convert import operand, operands
from wengert.core.errors import invalid
from wengert.core.lazy import lax
from wengert.ops.declare import binary, unary

_STRINGS = dtypes.nums("s")

ADD = binary(
    "add",
    np.add,
    lambda x, y: lax.add(x, y),
    grad=(lambda g: g, lambda g: g),
    accepts=dtypes.NUMERIC | _STRINGS,
)


def add(x: Any, y: Any, name: Any = None) -> Any:
    """Adds element by element; joins strings."""
    return apply2(ADD, *operands("add", x, y))


SUBTRACT = binary(
    "subtract",
    np.subtract,
    lambda x, y: lax.sub(x, y),
    grad=(lambda g: g, lambda g: -g),
)


def subtract(x: Any, y: Any, name: Any = None) -> Any:
    """Subtracts element by element."""
    return apply2(SUBTRACT, *operands("subtract", x, y))


MULTIPLY = binary(
    "multiply",
    np.multiply,
    lambda x, y: lax.mul(x, y),
    grad=(lambda g, y: g * y, lambda g, x: g * x),
)


def multiply(x: Any, y: Any, name: Any = None) -> Any:
    """Multiplies element by element."""
    return apply2(MULTIPLY, *operands("multiply", x, y))


DIVIDE = binary(
    "divide",
    np.true_divide,
    lambda x, y: lax.div(x, y),
    grad=(lambda g, y: g / y, lambda g, y, out: -g * out / y),
    accepts=dtypes.INEXACT,
)


def truediv(x: Any, y: Any, name: Any = None) -> Any:
    """Divides; integers give float64 (float32 for 8 and 16 bits), as Python divides."""
    x, y = operands("truediv", x, y)
    return divide_tensors(x, y)


def divide_tensors(x: Any, y: Any) -> Any:
    """`x / y` for two tensors of any number type."""
    kind = x.dtype
    if kind.is_integer:
        from wengert.ops.cast import cast

        wide = dtypes.float32 if kind.size < 4 else dtypes.float64
        if y.dtype is kind:
            x, y = cast(x, wide), cast(y, wide)
    return apply2(DIVIDE, x, y)


divide = truediv

NEGATIVE = unary(
    "negative",
    np.negative,
    lambda x: lax.neg(x),
    grad=lambda g: -g,
    accepts=dtypes.nums("ifc"),
    rows=True,
)


def negative(x: Any, name: Any = None) -> Any:
    """-x."""
    return apply(NEGATIVE, operand(x))


EXP = unary("exp", np.exp, lambda x: lax.exp(x), grad=lambda g, out: g * out)


def exp(x: Any, name: Any = None) -> Any:
    """e to the power x; overflows to infinity."""
    return apply(EXP, operand(x))


LOG = unary("log", np.log, lambda x: lax.log(x), grad=lambda g, x: g / x)


def log(x: Any, name: Any = None) -> Any:
    """The natural logarithm; -inf at 0, NaN below."""
    return apply(LOG, operand(x))


TANH = unary("tanh", np.tanh, lambda x: lax.tanh(x), grad=lambda g, out: g * (1.0 - out * out))


def tanh(x: Any, name: Any = None) -> Any:
    """The hyperbolic tangent."""
    return apply(TANH, operand(x))
