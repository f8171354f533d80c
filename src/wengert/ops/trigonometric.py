"""Trigonometric and hyperbolic functions and their inverses, in radians.

Outside the domain of an inverse the answer is NaN for real numbers; complex ones use the principal
branch. `tanh` stands with the logistic family in `unary.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.costs import SLOW
from wengert.ops.declare import (
    Hazards,
    Pole,
    Tensor,
    TensorLike,
    binary,
    dtypes,
    function_of,
    lax,
    tf,
    unary,
)
from wengert.ops.fast_trigonometry import (
    lower_acos,
    lower_asin,
    lower_atan,
    lower_atan2,
    lower_cos,
    lower_sin,
    lower_tan,
)
from wengert.ops.threads import in_parts


@function_of(
    unary(
        "sin",
        in_parts(np.sin),
        lower_sin,
        grad=lambda g, x: g * tf.cos(x),
        cost=SLOW,
        on_sparse=True,
    )
)
def sin(x: TensorLike, name: str | None = None) -> Any:
    """The sine; NaN for an infinity."""


@function_of(unary("cos", in_parts(np.cos), lower_cos, grad=lambda g, x: -g * tf.sin(x), cost=SLOW))
def cos(x: TensorLike, name: str | None = None) -> Any:
    """The cosine; NaN for an infinity."""


@function_of(
    unary(
        "tan",
        np.tan,
        lower_tan,
        grad=lambda g, out: g * (1.0 + out * out),
        on_sparse=True,
    )
)
def tan(x: TensorLike, name: str | None = None) -> Any:
    """The tangent; NaN for an infinity."""


def _complement(x: Tensor) -> Tensor:
    """1 - x², with the sign of a zero that tells the sides of a branch cut apart."""
    return -(x * x - 1.0) if x.dtype.is_complex else 1.0 - x * x


@function_of(
    unary(
        "asin",
        np.arcsin,
        lower_asin,
        grad=lambda g, x: g / tf.sqrt(_complement(x)),
        hazards=Hazards(
            outside="numbers outside [-1, 1]", pole=Pole(lambda x: np.abs(x) == 1, "at 1 and -1")
        ),
        on_sparse=True,
    )
)
def asin(x: TensorLike, name: str | None = None) -> Any:
    """The inverse sine, in [-π/2, π/2]; NaN outside [-1, 1]."""


@function_of(
    unary(
        "acos",
        np.arccos,
        lower_acos,
        grad=lambda g, x: -g / tf.sqrt(_complement(x)),
        hazards=Hazards(
            outside="numbers outside [-1, 1]", pole=Pole(lambda x: np.abs(x) == 1, "at 1 and -1")
        ),
    )
)
def acos(x: TensorLike, name: str | None = None) -> Any:
    """The inverse cosine, in [0, π]; NaN outside [-1, 1]."""


@function_of(
    unary(
        "atan",
        np.arctan,
        lower_atan,
        grad=lambda g, x: g / (1.0 + x * x),
        on_sparse=True,
    )
)
def atan(x: TensorLike, name: str | None = None) -> Any:
    """The inverse tangent, in [-π/2, π/2]."""


@function_of(
    binary(
        "atan2",
        np.arctan2,
        lower_atan2,
        grad=(
            lambda g, x, y: g * y / (x * x + y * y),
            lambda g, x, y: -g * x / (x * x + y * y),
        ),
        accepts=dtypes.FLOAT,
    )
)
def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """The angle of the point (x, y), in [-π, π]; its gradient at the origin is NaN."""


@function_of(
    unary(
        "sinh",
        np.sinh,
        lambda x: lax.sinh(x),
        grad=lambda g, x: g * tf.cosh(x),
        hazards=Hazards(grows=True),
    )
)
def sinh(x: TensorLike, name: str | None = None) -> Any:
    """The hyperbolic sine; overflows to infinity."""


@function_of(
    unary(
        "cosh",
        np.cosh,
        lambda x: lax.cosh(x),
        grad=lambda g, x: g * tf.sinh(x),
        hazards=Hazards(grows=True),
    )
)
def cosh(x: TensorLike, name: str | None = None) -> Any:
    """The hyperbolic cosine; overflows to infinity."""


@function_of(
    unary(
        "asinh",
        np.arcsinh,
        lambda x: lax.asinh(x),
        grad=lambda g, out: g / tf.cosh(out),
        on_sparse=True,
    )
)
def asinh(x: TensorLike, name: str | None = None) -> Any:
    """The inverse hyperbolic sine."""


@function_of(
    unary(
        "acosh",
        np.arccosh,
        lambda x: lax.acosh(x),
        grad=lambda g, out: g / tf.sinh(out),
        hazards=Hazards(outside="numbers below 1", pole=Pole(lambda x: x == 1, "at 1")),
    )
)
def acosh(x: TensorLike, name: str | None = None) -> Any:
    """The inverse hyperbolic cosine; NaN below 1."""


@function_of(
    unary(
        "atanh",
        np.arctanh,
        lambda x: lax.atanh(x),
        grad=lambda g, x: g / (1.0 - x * x),
        hazards=Hazards(
            outside="numbers outside (-1, 1)", pole=Pole(lambda x: np.abs(x) == 1, "at 1 and -1")
        ),
        on_sparse=True,
    )
)
def atanh(x: TensorLike, name: str | None = None) -> Any:
    """The inverse hyperbolic tangent; infinite at -1 and 1, NaN outside."""
