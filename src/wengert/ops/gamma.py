"""The gamma function's family: its logarithm and derivatives, incomplete gamma and beta, zeta.

Kernels are SciPy's, with TensorFlow's answers where a function is not defined: NaN for a shape
parameter that is not positive, infinity or NaN at poles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.compiled import in_blocks
from wengert.ops.declare import (
    Hazards,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    UnimplementedError,
    apply,
    binary,
    broadcasting,
    dtypes,
    function_of,
    in_float32,
    invalid,
    lax,
    lower_in_float32,
    operand,
    operands,
    shapes,
    special,
    tf,
)
from wengert.ops.special import smooth


@function_of(
    smooth(
        "lgamma",
        lambda x: np.where(x == -np.inf, x.dtype.type(np.inf), special.gammaln(x)),
        lambda x: lax.lgamma(x),
        grad=lambda g, x: g * digamma(x),
        hazards=Hazards(outside="a pole"),
    )
)
def lgamma(x: TensorLike, name: str | None = None) -> Any:
    """The logarithm of |Γ(x)|; infinite at 0 and negative whole numbers."""


def _digamma_kernel(x: np.ndarray) -> np.ndarray:
    return np.where(x == 0, x.dtype.type(np.nan), special.psi(x))


def _lower_digamma(x: JaxArray) -> JaxArray:
    # JAX has said NaN and, since 0.11, -inf of zero.
    return lax.select(x == 0, lax.full_like(x, np.nan), lax.digamma(x))


@function_of(
    smooth(
        "digamma",
        _digamma_kernel,
        _lower_digamma,
        grad=lambda g, x: g * tf.polygamma(1.0, x),
        hazards=Hazards(outside="a pole"),
    )
)
def digamma(x: TensorLike, name: str | None = None) -> Any:
    """The derivative of `lgamma`; NaN at 0 and negative whole numbers."""


def _function(name: str, kernel: Any, lower: Any, grad: Any) -> Op:
    """A function of two real floating numbers, in float32 for half precision."""
    run = in_blocks(kernel, lower)
    return binary(name, run, lower_in_float32(lower), grad=grad, accepts=dtypes.FLOAT)


def _zeta_kernel(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    nan = x.dtype.type(np.nan)
    pole = (q <= 0) & (q == np.floor(q)) & (np.fmod(x, 2) != 0)
    steep = np.where(q < 1, x.dtype.type(np.inf), (q == 1).astype(x.dtype))
    result = np.where(x == np.inf, steep, special.zeta(x, q))
    return np.where(pole | (x < 1) | np.isnan(q), nan, result)


def _lower_zeta(x: JaxArray, q: JaxArray) -> JaxArray:
    pole = (q <= 0) & (q == lax.floor(q)) & (lax.rem(x, lax.full_like(x, 2)) != 0)
    undefined = pole | (x < 1) | (x != x) | (q != q)
    far = (q == np.inf) & (x > 1)
    result = lax.zeta(x, lax.select(far, lax.full_like(q, 1), q))
    result = lax.select(far, lax.full_like(q, 0), result)
    steep = lax.select(q < 1, lax.full_like(q, np.inf), lax.convert_element_type(q == 1, q.dtype))
    result = lax.select(x == np.inf, steep, result)
    return lax.select(undefined, lax.full_like(q, np.nan), result)


@function_of(
    _function(
        "zeta",
        _zeta_kernel,
        _lower_zeta,
        grad=(None, lambda g, x, y: g * (-x * tf.zeta(x + 1.0, y))),
    )
)
def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Any:
    """Hurwitz's zeta function, the sum of (n + q)^-x; NaN for x below 1, inf at 1.

    There is a gradient with respect to `q` only.
    """


def _polygamma_kernel(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    n, y = a.astype(np.float64), x.astype(np.float64)
    sign = np.where(np.fmod(n, 2) == 0, -1.0, 1.0)
    result = sign * special.gamma(n + 1) * _zeta_kernel(n + 1, y)
    result = np.where(n == 0, _digamma_kernel(y), result)
    return np.where((n >= 0) & (n == np.floor(n)), result, np.nan).astype(a.dtype)


def _lower_polygamma(a: JaxArray, x: JaxArray) -> JaxArray:
    one = lax.full_like(a, 1)
    sign = lax.select(lax.rem(a, lax.full_like(a, 2)) == 0, -one, one)
    result = sign * lax.exp(lax.lgamma(a + 1)) * _lower_zeta(a + 1, x)
    result = lax.select(a == 0, _lower_digamma(x), result)
    defined = (a >= 0) & (a == lax.floor(a))
    return lax.select(defined, result, lax.full_like(a, np.nan))


@function_of(
    _function(
        "polygamma",
        _polygamma_kernel,
        _lower_polygamma,
        grad=(None, lambda g, x, y: g * tf.polygamma(x + 1.0, y)),
    )
)
def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """The derivative of order `a` of `digamma`; NaN unless `a` is a whole number from 0.

    There is a gradient with respect to `x` only.
    """


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The derivative of `igamma` with respect to `x`."""
    return tf.exp(tf.xlogy(a - 1.0, x) - x - lgamma(a))


def _igamma_kernel(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    undefined = (a <= 0) & ~((a == 0) & (x == 0))
    result = np.where(undefined, a.dtype.type(np.nan), special.gammainc(a, x))
    return np.where((x == 0) & (a >= 0), a.dtype.type(0), result)


def _lower_igamma(a: JaxArray, x: JaxArray) -> JaxArray:
    zero, nan = lax.full_like(a, 0), lax.full_like(a, np.nan)
    limit = lax.select(x < np.inf, zero, nan)
    result = lax.select(a == np.inf, limit, lax.igamma(a, x))
    result = lax.select((a <= 0) | (x < 0), nan, result)
    return lax.select((x == 0) & (a >= 0), zero, result)


@function_of(
    _function(
        "igamma",
        _igamma_kernel,
        _lower_igamma,
        grad=(lambda g, x, y: g * igamma_grad_a(x, y), lambda g, x, y: g * _density(x, y)),
    )
)
def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """The lower regularised incomplete gamma function P(a, x); NaN unless a > 0 and x >= 0."""


def _lower_igammac(a: JaxArray, x: JaxArray) -> JaxArray:
    one, nan = lax.full_like(a, 1), lax.full_like(a, np.nan)
    limit = lax.select(x < np.inf, one, nan)
    result = lax.select(a == np.inf, limit, lax.igammac(a, x))
    return lax.select((a <= 0) | (x < 0), nan, result)


@function_of(
    _function(
        "igammac",
        lambda a, x: np.where(a <= 0, a.dtype.type(np.nan), special.gammaincc(a, x)),
        _lower_igammac,
        grad=(lambda g, x, y: g * -igamma_grad_a(x, y), lambda g, x, y: g * -_density(x, y)),
    )
)
def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """The upper regularised incomplete gamma function, 1 - P(a, x), without cancellation."""


def _grad_a_kernel(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """dP/da from P = Σ t(n), t(n) = x^(a+n) e^-x / Γ(a+n+1), whose terms are all positive.

    Each term contributes t(n)·(log x - ψ(a+n+1)). The terms rise to a peak at n = x - a of width
    √x, so the sum begins ten widths before it and ends where nothing is added any more.
    """
    shape = np.broadcast_shapes(a.shape, x.shape)
    p, y = (np.broadcast_to(v, shape).astype(np.float64) for v in (a, x))
    inner = (p > 0) & (y > 0) & np.isfinite(p) & np.isfinite(y)
    p, y = np.where(inner, p, 1.0), np.where(inner, y, 1.0)
    at = p + np.maximum(0.0, np.floor(y - p - 10 * np.sqrt(y) - 40)) + 1
    last = (y - p).max(initial=0.0)
    rate = np.log(y)
    term = np.exp((at - 1) * rate - y - special.gammaln(at))
    slope = rate - special.psi(at)
    total = term * slope
    steps = 0
    while term.size and (steps % 8 or (at - p).min() <= last or np.abs(term).max() > 1e-18):
        term = term * (y / at)
        slope = slope - 1 / at
        total += term * slope
        at, steps = at + 1, steps + 1
        if steps > 100_000:
            break
    edge = np.where((a > 0) & (x >= 0), 0.0, np.nan)
    return np.where(inner, total, edge).astype(a.dtype)


def _lower_grad_a(a: JaxArray, x: JaxArray) -> JaxArray:
    ends = (a > 0) & ((x == 0) | (x == np.inf) | ((a == np.inf) & (x > 0)))
    one = lax.full_like(a, 1)
    result = lax.igamma_grad_a(lax.select(ends, one, a), lax.select(ends, one, x))
    return lax.select(ends, lax.full_like(a, 0), result)


def _no_second_derivative(g: Tensor) -> Any:
    raise invalid(
        "igamma",
        "there is no second derivative with respect to `a`",
        kind=UnimplementedError,
        help="Stop the gradient at `a`, or differentiate it once.",
    )


@function_of(
    _function(
        "igamma_grad_a",
        _grad_a_kernel,
        _lower_grad_a,
        grad=(
            _no_second_derivative,
            lambda g, x, y: g * (_density(x, y) * (tf.log(y) - digamma(x))),
        ),
    )
)
def igamma_grad_a(a: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """The derivative of `igamma` with respect to `a`."""


def _betainc_kernel(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    undefined = (a <= 0) | (b <= 0) | (x < 0) | (x > 1)
    return np.where(undefined, a.dtype.type(np.nan), special.betainc(a, b, x))


def _lower_betainc(a: JaxArray, b: JaxArray, x: JaxArray) -> JaxArray:
    undefined = (a <= 0) | (b <= 0) | (x < 0) | (x > 1) | (a != a) | (b != b) | (x != x)
    return lax.select(undefined, lax.full_like(a, np.nan), lax.betainc(a, b, x))


def _betainc_grad(g: Tensor, a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    return g * tf.exp(tf.xlog1py(b - 1.0, -x) + tf.xlogy(a - 1.0, x) + scale)


BETAINC = Op(
    "betainc",
    "a b x",
    kernel=in_float32(_betainc_kernel),
    infer=lambda a, b, x: ShapeDtype(
        shapes.broadcast("betainc", a.shape, b.shape, x.shape), a.dtype
    ),
    lower=broadcasting(lower_in_float32(_lower_betainc)),
    grad=(None, None, _betainc_grad),
    accepts=dtypes.FLOAT,
    broadcasts=True,
    elementwise=True,
    xla_share=4,
)


def betainc(a: Any, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function; NaN unless a > 0, b > 0 and 0 <= x <= 1.

    There is a gradient with respect to `x` only.
    """
    a, b = operands("betainc", a, b)
    return apply(BETAINC, a, b, operand(x, None, a.dtype))


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of |Beta| over the last axis: Σ lgamma(x) - lgamma(Σ x)."""
    x = operand(x)
    return tf.reduce_sum(lgamma(x), -1) - lgamma(tf.reduce_sum(x, -1))
