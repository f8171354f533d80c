"""The error function and its relatives, and a few classical integrals.

Kernels are SciPy's. Outside their domain these functions answer NaN; half precision is computed
in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.lazy_modules import jsp
from wengert.ops.chebyshev import evaluate
from wengert.ops.compiled import in_blocks
from wengert.ops.costs import SLOW
from wengert.ops.declare import (
    JaxArray,
    Op,
    Tensor,
    TensorLike,
    dtypes,
    function_of,
    lax,
    lower_in_float32,
    special,
    tf,
    unary,
)

_ROOT_PI = math.sqrt(math.pi)
_SLOPE = 2 / _ROOT_PI


def smooth(
    name: str,
    kernel: Callable[..., Any],
    lower: Callable[..., Any],
    grad: Callable[..., Any],
    **facts: Any,
) -> Op:
    """An elementwise function of real floating numbers, in float32 for half precision.

    XLA computes it for large arrays in eager code, too.
    """
    run = in_blocks(kernel, lower)
    return unary(name, run, lower_in_float32(lower), grad=grad, accepts=dtypes.FLOAT, **facts)


@function_of(
    smooth(
        "erf",
        lambda x: special.erf(x),
        lambda x: lax.erf(x),
        grad=lambda g, x: g * (_SLOPE * tf.exp(-x * x)),
        cost=SLOW,
        on_sparse=True,
    )
)
def erf(x: TensorLike, name: str | None = None) -> Any:
    """The Gauss error function."""


@function_of(
    smooth(
        "erfc",
        lambda x: special.erfc(x),
        lambda x: lax.erfc(x),
        grad=lambda g, x: g * (-_SLOPE * tf.exp(-x * x)),
    )
)
def erfc(x: TensorLike, name: str | None = None) -> Any:
    """1 - erf(x), without cancellation for large x."""


@function_of(
    smooth(
        "erfinv",
        lambda x: special.erfinv(x),
        lambda x: lax.erf_inv(x),
        grad=lambda g, out: g * (_ROOT_PI / 2 * tf.exp(out * out)),
    )
)
def erfinv(x: TensorLike, name: str | None = None) -> Any:
    """The inverse of `erf`; infinite at ±1, NaN beyond."""


@function_of(
    smooth(
        "erfcinv",
        lambda x: special.erfcinv(x),
        lambda x: -jsp.ndtri(x / 2) * x.dtype.type(math.sqrt(0.5)),
        grad=lambda g, out: g * (-_ROOT_PI / 2 * tf.exp(out * out)),
    )
)
def erfcinv(x: TensorLike, name: str | None = None) -> Any:
    """The inverse of `erfc`; infinite at 0 and 2, NaN beyond."""


@function_of(
    smooth(
        "ndtri",
        lambda x: special.ndtri(x),
        lambda x: jsp.ndtri(x),
        grad=lambda g, out: g * (math.sqrt(2 * math.pi) * tf.exp(out * out * 0.5)),
    )
)
def ndtri(x: TensorLike, name: str | None = None) -> Any:
    """The quantile function of the standard normal distribution; NaN outside [0, 1]."""


def _lower_dawsn(x: JaxArray) -> JaxArray:
    size = lax.abs(x)
    near = x * evaluate(
        lambda y: special.dawsn(np.sqrt(y)) / np.sqrt(y),
        0.0,
        6.0,
        lax.min(x * x, lax.full_like(x, 6)),
    )
    inside = lax.clamp(x.dtype.type(2), size, x.dtype.type(6))
    middle = evaluate(lambda y: special.dawsn(y) * y, 2.0, 6.0, inside) / x
    far = (
        evaluate(
            lambda z: special.dawsn(6 / np.sqrt(z)) * 6 / np.sqrt(z),
            0.0,
            1.0,
            lax.square(6 / lax.max(size, lax.full_like(x, 6))),
        )
        / x
    )
    return lax.select(size < 2.4, near, lax.select(size < 6, middle, far))


@function_of(
    smooth(
        "dawsn",
        lambda x: special.dawsn(x),
        _lower_dawsn,
        grad=lambda g, x, out: g * (1 - 2 * x * out),
    )
)
def dawsn(x: TensorLike, name: str | None = None) -> Any:
    """Dawson's integral: exp(-x²) times the integral of exp(t²) from 0 to x."""


def _lower_expint(x: JaxArray) -> JaxArray:
    inner = lax.bitwise_and(x > 0, lax.is_finite(x))
    result = jsp.expi(lax.select(inner, x, lax.full_like(x, 1)))
    end = lax.select(x > 0, lax.full_like(x, np.inf), lax.full_like(x, -np.inf))
    result = lax.select(inner, result, end)
    return lax.select(x >= 0, result, lax.full_like(x, np.nan))


@function_of(
    smooth(
        "expint",
        lambda x: np.where(x < 0, x.dtype.type(np.nan), special.expi(x)),
        _lower_expint,
        grad=lambda g, x: g * (tf.exp(x) / x),
    )
)
def expint(x: TensorLike, name: str | None = None) -> Any:
    """The exponential integral Ei of positive numbers; -inf at 0, NaN below."""


def _fresnel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both integrals; SciPy squares numbers beyond the point where they are 1/2 to all digits."""
    return special.fresnel(np.clip(x, -1e100, 1e100) if x.dtype == np.float64 else x)


@function_of(
    smooth(
        "fresnel_cos",
        lambda x: _fresnel(x)[1],
        lambda x: jsp.fresnel(x)[1],
        grad=lambda g, x: g * tf.cos(math.pi / 2 * (x * x)),
    )
)
def fresnel_cos(x: TensorLike, name: str | None = None) -> Any:
    """Fresnel's integral of cos(πt²/2) from 0 to x."""


@function_of(
    smooth(
        "fresnel_sin",
        lambda x: _fresnel(x)[0],
        lambda x: jsp.fresnel(x)[0],
        grad=lambda g, x: g * tf.sin(math.pi / 2 * (x * x)),
    )
)
def fresnel_sin(x: TensorLike, name: str | None = None) -> Any:
    """Fresnel's integral of sin(πt²/2) from 0 to x."""


def _spence_grad(g: Tensor, x: Tensor) -> Tensor:
    one = tf.equal(x, 1)
    safe = tf.where(one, 0.5, x)
    return g * tf.where(one, -1, tf.log(safe) / (1 - safe))


@function_of(
    smooth("spence", lambda x: special.spence(x), lambda x: jsp.spence(x), grad=_spence_grad)
)
def spence(x: TensorLike, name: str | None = None) -> Any:
    """Spence's integral of log(t) / (1 - t) from 1 to x; NaN below 0."""
