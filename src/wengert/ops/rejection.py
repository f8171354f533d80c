"""Gamma, Poisson and binomial numbers: rejection samplers on a counter-based generator.

Element `i` at its attempt `t` reads the block at counter (i, t) under a key of the call, so both
engines see the same bits however they schedule the work. The formulas take the array library as
an argument (`np` or `jnp`) and are written once; all work is in double precision.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import ml_dtypes
import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.lazy_modules import Lazy, jnp, lax, special
from wengert.core.types import DType, JaxArray, Op, ShapeDtype, Tensor, TensorLike
from wengert.ops import philox

_UNIT = 2.0**-32
# Beyond this many terms a sequential search has long used up a double's 53 bits.
_TERMS = 400

Step: TypeAlias = "Callable[..., tuple[np.ndarray | JaxArray, np.ndarray | JaxArray]]"


def _reject(state: np.ndarray, step: Step, active: np.ndarray, *params: np.ndarray) -> np.ndarray:
    """Repeats `step` on the active elements that have not been accepted yet; 0 elsewhere."""
    low, high, key = (int(s) for s in state)
    key = philox.mix(key, low, high)[0]
    shape = params[0].shape
    flat = [p.reshape(-1) for p in params]
    out = np.zeros(flat[0].size)
    pending = np.flatnonzero(active)
    attempt = 0
    while pending.size:
        w = philox.blocks(key, pending.astype(np.uint64), np.uint64(attempt))
        value, good = step(np, w.T, *[p[pending] for p in flat])
        out[pending[good]] = value[good]
        pending = pending[~good]
        attempt += 1
    return out.reshape(shape)


def _lower_reject(state: JaxArray, step: Step, active: JaxArray, *params: JaxArray) -> JaxArray:
    """`_reject` in JAX: all elements try again until the last active one is accepted."""
    shape = params[0].shape
    flat = [lax.reshape(p, (p.size,)) for p in params]
    a, b, _, _ = philox.lower_blocks(state[2], state[0], state[1])
    wide = lax.convert_element_type(b, np.uint64) << np.uint64(32)
    key = wide | lax.convert_element_type(a, np.uint64)
    index = lax.iota(np.uint64, flat[0].size)

    def body(carry: tuple[JaxArray, ...]) -> tuple[JaxArray, JaxArray, JaxArray]:
        attempt, out, done = carry
        w = philox.lower_blocks(key, index, attempt)
        value, good = step(jnp, w, *flat)
        return attempt + np.uint64(1), jnp.where(done, out, value), done | good

    start = (
        lax.full((), 0, np.uint64),
        lax.full_like(flat[0], 0.0),
        ~lax.reshape(active, index.shape),
    )
    return lax.reshape(lax.while_loop(lambda c: ~jnp.all(c[2]), body, start)[1], shape)


def _open(w: JaxArray | np.ndarray) -> JaxArray | np.ndarray:
    """A word as a number strictly inside (0, 1)."""
    return (w + 0.5) * _UNIT


def _fine(m: ModuleType | Lazy, low: JaxArray | np.ndarray, high: JaxArray | np.ndarray) -> Any:
    """Two words as a number in [0, 1) with 53 bits."""
    return (m.floor(high * 2.0**-11) * 2.0**32 + low) * 2.0**-53


def _gamma_step(
    m: ModuleType | Lazy, w: Any, alpha: JaxArray | np.ndarray
) -> tuple[JaxArray | np.ndarray, JaxArray | np.ndarray]:
    """Marsaglia and Tsang; below 1 a number for alpha + 1 is scaled down by a power."""
    w = [x.astype(np.float64) for x in w]
    d = m.where(alpha < 1.0, alpha + 1.0, alpha) - 1.0 / 3.0
    radius = m.sqrt(-2.0 * m.log((w[0] + 1.0) * _UNIT))
    x = radius * m.cos(w[1] * (2.0 * math.pi * _UNIT))
    v = (1.0 + x / m.sqrt(9.0 * d)) ** 3
    inside = v > 0
    v = m.where(inside, v, 1.0)
    good = inside & (m.log(_open(w[2])) < 0.5 * x * x + d * (1.0 - v + m.log(v)))
    scale = m.where(alpha < 1.0, _open(w[3]) ** (1.0 / alpha), 1.0)
    return d * v * scale, good


def _gamma(
    engine: Engine, alpha: JaxArray | np.ndarray, state: JaxArray | np.ndarray
) -> JaxArray | np.ndarray:
    m = engine.m
    a = alpha.astype(np.float64)
    usable = (a > 0) & (a < np.inf)
    result = engine.reject(state, _gamma_step, usable, m.where(usable, a, 1.0))
    result = m.where(usable, result, m.where(a >= 0.0, a, np.nan)).astype(alpha.dtype)
    return m.maximum(result, alpha.dtype.type(float(ml_dtypes.finfo(alpha.dtype).tiny)))


RANDOM_GAMMA = Op(
    "random_gamma",
    "alpha state",
    kernel=lambda alpha, state: _gamma(_HOST, alpha, state),
    infer=lambda alpha, state: ShapeDtype(alpha.shape, alpha.dtype),
    lower=lambda alpha, state: _gamma(_XLA, alpha, state),
    grad=(lambda g, alpha, out: g * gamma_slope(alpha, out), None),
    match=(),
)


def standard_gamma(alpha: Tensor, state: Tensor) -> Tensor:
    """One gamma number of scale 1 for each shape parameter; NaN below 0, never quite 0.

    Differentiable once with respect to `alpha`, through the distribution function.
    """
    return apply(RANDOM_GAMMA, alpha, state)


def gamma_slope(alpha: Tensor, sample: Tensor) -> Tensor:
    """How a gamma number moves with its shape parameter when its quantile is held fixed."""
    return apply(GAMMA_SLOPE, alpha, sample)


def _gamma_slope_kernel(alpha: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """-dP/da over the density, with dP/da by a five-point difference in double precision."""
    a, x = alpha.astype(np.float64), sample.astype(np.float64)
    step = 1e-3 * np.minimum(a, 3.0 * np.sqrt(a))
    p = special.gammainc
    # The upper tail is differenced as such, since the lower one is 1 to all digits there.
    q = special.gammaincc
    lower = 8.0 * (p(a + step, x) - p(a - step, x)) - (p(a + 2 * step, x) - p(a - 2 * step, x))
    upper = 8.0 * (q(a - step, x) - q(a + step, x)) - (q(a - 2 * step, x) - q(a + 2 * step, x))
    slope = np.where(x < a, lower, upper) / (12.0 * step)
    density = np.exp((a - 1.0) * np.log(x) - x - special.gammaln(a))
    return np.where(x > 0.0, -slope / density, 0.0).astype(alpha.dtype)


GAMMA_SLOPE = Op(
    "gamma_slope",
    "alpha sample",
    kernel=_gamma_slope_kernel,
    infer=lambda alpha, sample: ShapeDtype(alpha.shape, alpha.dtype),
    lower=lambda alpha, sample: lax.random_gamma_grad(alpha, sample),
    grad=None,
    accepts=dtypes.FLOAT,
)


def _poisson_step(
    lgamma: Any, m: ModuleType | Lazy, w: Any, lam: JaxArray | np.ndarray
) -> tuple[JaxArray | np.ndarray, JaxArray | np.ndarray]:
    """Transformed rejection (Hoermann 1993), for rates of 10 and more."""
    w = [x.astype(np.float64) for x in w]
    b = 0.931 + 2.53 * m.sqrt(lam)
    a = -0.059 + 0.02483 * b
    u = _fine(m, w[0], w[1]) - 0.5
    v = _open(w[2])
    us = 0.5 - m.abs(u) + 2.0**-54
    k = m.floor((2.0 * a / us + b) * u + lam + 0.43)
    quick = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0))
    bad = (k < 0.0) | ((us < 0.013) & (v > us))
    kk = m.where(bad, 0.0, k)
    left = m.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b))
    return k, quick | (~bad & (left <= kk * m.log(lam) - lam - lgamma(kk + 1.0)))


def _binomial_step(
    lgamma: Any, m: ModuleType | Lazy, w: Any, n: JaxArray | np.ndarray, q: JaxArray | np.ndarray
) -> tuple[JaxArray | np.ndarray, JaxArray | np.ndarray]:
    """Transformed rejection (Hoermann 1993), for means of 10 and more and q up to a half."""
    w = [x.astype(np.float64) for x in w]
    spread = m.sqrt(n * q * (1.0 - q))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * q
    u = _fine(m, w[0], w[1]) - 0.5
    v = _open(w[2])
    us = 0.5 - m.abs(u) + 2.0**-54
    k = m.floor((2.0 * a / us + b) * u + n * q + 0.5)
    quick = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
    bad = (k < 0.0) | (k > n)
    kk = m.where(bad, 0.0, k)
    left = m.log(v * (2.83 + 5.1 / b) * spread / (a / (us * us) + b))
    mode = m.floor((n + 1.0) * q)
    right = (
        lgamma(mode + 1.0) + lgamma(n - mode + 1.0) - lgamma(kk + 1.0) - lgamma(n - kk + 1.0)
        + (kk - mode) * m.log(q / (1.0 - q))
    )  # fmt: skip
    return k, ~bad & (quick | (left <= right))


def _search(
    m: ModuleType | Lazy,
    u: JaxArray | np.ndarray,
    first: JaxArray | np.ndarray,
    ratio: Callable[[Any], Any],
) -> tuple[Any, Any, Any]:
    """The start and the step of a sequential search through a distribution on 0, 1, 2, …"""
    start = (m.zeros_like(u), first, first)

    def step(
        k: np.ndarray, term: np.ndarray, total: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        on = u >= total
        k = m.where(on, k + 1.0, k)
        term = m.where(on, term * ratio(k), term)
        return k, term, m.where(on, total + term, total)

    return start, step, lambda k, total: (u >= total) & (k < _TERMS)


def _searched(u: np.ndarray, first: np.ndarray, ratio: Callable[[Any], Any]) -> np.ndarray:
    (k, term, total), step, more = _search(np, u, first, ratio)
    while np.any(more(k, total)):
        k, term, total = step(k, term, total)
    return k


def _lower_searched(u: JaxArray, first: JaxArray, ratio: Callable[[Any], Any]) -> JaxArray:
    start, step, more = _search(jnp, u, first, ratio)
    return lax.while_loop(lambda c: jnp.any(more(c[0], c[2])), lambda c: step(*c), start)[0]


def _uniform(state: np.ndarray, like: np.ndarray) -> np.ndarray:
    w = philox.words(state, 2 * like.size).reshape(-1, 2).astype(np.float64)
    return _fine(np, w[:, 0], w[:, 1]).reshape(like.shape)


def _lower_uniform(state: JaxArray, like: JaxArray) -> JaxArray:
    w = lax.reshape(philox.lower_words(state, 2 * like.size), (like.size, 2))
    w = lax.convert_element_type(w, np.float64)
    return lax.reshape(_fine(jnp, w[:, 0], w[:, 1]), like.shape)


def _finish(found: np.ndarray, dtype: DType) -> np.ndarray:
    """Converts as XLA does: NaN to 0 and what is too large to the end of an integer type."""
    if not dtype.is_integer:
        return found.astype(dtype.np)
    top = np.iinfo(dtype.np).max
    whole = np.where(np.isnan(found), 0.0, np.minimum(found, top))
    return np.where(whole >= top, top, np.where(whole >= top, 0.0, whole).astype(dtype.np))


class Engine(NamedTuple):
    """What the samplers need of an engine."""

    m: Any
    lgamma: Callable[[Any], Any]
    reject: Callable[..., Any]
    searched: Callable[..., Any]
    uniform: Callable[..., Any]
    finish: Callable[..., Any]


_HOST = Engine(np, lambda x: special.gammaln(x), _reject, _searched, _uniform, _finish)
_XLA = Engine(
    jnp,
    lambda x: lax.lgamma(x),
    _lower_reject,
    _lower_searched,
    _lower_uniform,
    lambda found, dtype: lax.convert_element_type(found, dtype.np),
)


def _poisson_terms(
    m: ModuleType | Lazy, rate: JaxArray | np.ndarray
) -> tuple[Any, Callable[[Any], Any]]:
    lam = m.where((rate > 0.0) & (rate < 10.0), rate, 0.0)
    return m.exp(-lam), lambda k: lam / m.maximum(k, 1.0)


def _binomial_terms(
    m: ModuleType | Lazy, n: JaxArray | np.ndarray, q: JaxArray | np.ndarray
) -> tuple[Any, Callable[[Any], Any]]:
    small = (n * q < 10.0) & (q > 0.0)
    q = m.where(small, q, 0.0)
    odds = q / (1.0 - q)
    return m.exp(n * m.log1p(-q)), lambda k: odds * m.maximum(n - k + 1.0, 0.0) / m.maximum(k, 1.0)


def _poisson(
    engine: Engine, rate: JaxArray | np.ndarray, state: JaxArray | np.ndarray, dtype: DType
) -> JaxArray | np.ndarray:
    m = engine.m
    lam = rate.astype(np.float64)
    large = (lam >= 10.0) & (lam < np.inf)
    step = functools.partial(_poisson_step, engine.lgamma)
    big = engine.reject(state, step, large, m.where(large, lam, 10.0))
    small = engine.searched(engine.uniform(state, lam), *_poisson_terms(m, lam))
    beyond = m.where(lam < 10.0, small, lam)
    return engine.finish(m.where(large, big, beyond), dtype)


RANDOM_POISSON = Op(
    "random_poisson",
    "rate state",
    kernel=functools.partial(_poisson, _HOST),
    infer=lambda rate, state, dtype: ShapeDtype(rate.shape, dtype),
    lower=functools.partial(_poisson, _XLA),
    grad=None,
    match=(),
)


def standard_poisson(rate: Tensor, state: Tensor, dtype: DType) -> Tensor:
    """One Poisson number for each rate; 0 for a negative rate, NaN (0 as integer) for NaN."""
    return apply(RANDOM_POISSON, rate, state, dtype=dtype)


def _binomial(
    engine: Engine,
    n: JaxArray | np.ndarray,
    p: JaxArray | np.ndarray,
    state: JaxArray | np.ndarray,
    dtype: DType,
) -> JaxArray | np.ndarray:
    m = engine.m
    n, p = n.astype(np.float64), p.astype(np.float64)
    valid = (n >= 0.0) & (p >= 0.0) & (p <= 1.0)
    n, q = m.where(valid, n, 0.0), m.where(valid, m.minimum(p, 1.0 - p), 0.0)
    large = n * q >= 10.0
    step = functools.partial(_binomial_step, engine.lgamma)
    big = engine.reject(state, step, large, m.where(large, n, 40.0), m.where(large, q, 0.5))
    small = engine.searched(engine.uniform(state, n), *_binomial_terms(m, n, q))
    result = m.where(large, big, small)
    result = m.where(p > 0.5, n - result, result)
    return engine.finish(m.where(valid, result, np.nan), dtype)


RANDOM_BINOMIAL = Op(
    "random_binomial",
    "n p state",
    kernel=functools.partial(_binomial, _HOST),
    infer=lambda n, p, state, dtype: ShapeDtype(n.shape, dtype),
    lower=functools.partial(_binomial, _XLA),
    grad=None,
    match=(),
)


def standard_binomial(n: Tensor, p: Tensor, state: TensorLike, dtype: DType) -> Tensor:
    """Successes among `n` trials of probability `p`; NaN (0 as integer) outside the domain."""
    return apply(RANDOM_BINOMIAL, n, p, state, dtype=dtype)
