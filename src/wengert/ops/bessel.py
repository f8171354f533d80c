"""Bessel functions of order 0 and 1: the modified ones I and K, plain and scaled, and J and Y.

XLA has the scaled I; the lowerings of the others are Chebyshev series (see `chebyshev`) in x² near
zero, with the logarithm taken out, and in 1/x far away, with amplitude and phase taken out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.chebyshev import evaluate
from wengert.ops.declare import JaxArray, Tensor, TensorLike, function_of, lax, special, tf
from wengert.ops.special import smooth


def _over(y: Tensor, x: Tensor, limit: float) -> Tensor:
    """y / x, and its limit at 0, with no division by zero left for a gradient to find."""
    zero = tf.equal(x, 0)
    return tf.where(zero, limit, y / tf.where(zero, 1, x))


def _lower_i0(x: JaxArray) -> JaxArray:
    return lax.bessel_i0e(x) * lax.exp(lax.abs(x))


def _lower_i1(x: JaxArray) -> JaxArray:
    return lax.bessel_i1e(x) * lax.exp(lax.abs(x))


I0 = smooth("bessel_i0", lambda x: special.i0(x), _lower_i0, grad=lambda g, x: g * tf.bessel_i1(x))
I1 = smooth(
    "bessel_i1",
    lambda x: special.i1(x),
    _lower_i1,
    grad=lambda g, x, out: g * (tf.bessel_i0(x) - _over(out, x, 0.5)),
)
I0E = smooth(
    "bessel_i0e",
    lambda x: special.i0e(x),
    lambda x: lax.bessel_i0e(x),
    grad=lambda g, x, out: g * (tf.bessel_i1e(x) - tf.sign(x) * out),
    on_sparse=True,
)
I1E = smooth(
    "bessel_i1e",
    lambda x: special.i1e(x),
    lambda x: lax.bessel_i1e(x),
    grad=lambda g, x, out: g * (tf.bessel_i0e(x) - tf.sign(x) * out - _over(out, x, 0.5)),
    on_sparse=True,
)


@function_of(I0)
def bessel_i0(x: TensorLike, name: str | None = None) -> Any:
    """The modified Bessel function I of order 0."""


@function_of(I1)
def bessel_i1(x: TensorLike, name: str | None = None) -> Any:
    """The modified Bessel function I of order 1."""


@function_of(I0E)
def bessel_i0e(x: TensorLike, name: str | None = None) -> Any:
    """exp(-|x|)·I0(x), which does not overflow."""


@function_of(I1E)
def bessel_i1e(x: TensorLike, name: str | None = None) -> Any:
    """exp(-|x|)·I1(x), which does not overflow."""


def _k0_near(y: np.ndarray) -> np.ndarray:
    x = np.sqrt(y)
    return special.k0(x) + np.log(x / 2) * special.i0(x)


def _k1_near(y: np.ndarray) -> np.ndarray:
    x = np.sqrt(y)
    return (special.k1(x) - np.log(x / 2) * special.i1(x)) * x


def _k0_far(z: np.ndarray) -> np.ndarray:
    return special.k0e(2 / z) * np.sqrt(2 / z)


def _k1_far(z: np.ndarray) -> np.ndarray:
    return special.k1e(2 / z) * np.sqrt(2 / z)


def _lower_k(order: int, scaled: bool) -> Callable[..., Any]:
    def lower(x: JaxArray) -> JaxArray:
        two = lax.full_like(x, 2)
        low, high = lax.clamp(x.dtype.type(0), x, x.dtype.type(2)), lax.max(x, two)
        if order:
            near = evaluate(_k1_near, 0.0, 4.0, low * low) / low + lax.log(low / 2) * _lower_i1(low)
        else:
            near = evaluate(_k0_near, 0.0, 4.0, low * low) - lax.log(low / 2) * _lower_i0(low)
        far = evaluate(_k1_far if order else _k0_far, 0.0, 1.0, 2 / high) * lax.rsqrt(high)
        near = near * lax.exp(low) if scaled else near
        far = far if scaled else far * lax.exp(-high)
        result = lax.select(x < 2, near, far)
        return lax.select(x <= 0, lax.full_like(x, np.inf), result)

    return lower


def _where_positive(f: str, otherwise: float) -> Callable[..., Any]:
    def kernel(x: np.ndarray) -> np.ndarray:
        return np.where(x <= 0, x.dtype.type(otherwise), getattr(special, f)(x))

    return kernel


K0 = smooth(
    "bessel_k0",
    _where_positive("k0", np.inf),
    _lower_k(0, scaled=False),
    grad=lambda g, x: g * -tf.bessel_k1(x),
)
K1 = smooth(
    "bessel_k1",
    _where_positive("k1", np.inf),
    _lower_k(1, scaled=False),
    grad=lambda g, x, out: g * -(tf.bessel_k0(x) + out / x),
)
K0E = smooth(
    "bessel_k0e",
    _where_positive("k0e", np.inf),
    _lower_k(0, scaled=True),
    grad=lambda g, x, out: g * (out - tf.bessel_k1e(x)),
)
K1E = smooth(
    "bessel_k1e",
    _where_positive("k1e", np.inf),
    _lower_k(1, scaled=True),
    grad=lambda g, x, out: g * (out - out / x - tf.bessel_k0e(x)),
)


@function_of(K0)
def bessel_k0(x: TensorLike, name: str | None = None) -> Any:
    """The modified Bessel function K of order 0; inf at 0 and below."""


@function_of(K1)
def bessel_k1(x: TensorLike, name: str | None = None) -> Any:
    """The modified Bessel function K of order 1; inf at 0 and below."""


@function_of(K0E)
def bessel_k0e(x: TensorLike, name: str | None = None) -> Any:
    """exp(x)·K0(x), which does not underflow."""


@function_of(K1E)
def bessel_k1e(x: TensorLike, name: str | None = None) -> Any:
    """exp(x)·K1(x), which does not underflow."""


def _j0_near(y: np.ndarray) -> np.ndarray:
    return special.j0(np.sqrt(y))


def _j1_near(y: np.ndarray) -> np.ndarray:
    return special.j1(np.sqrt(y)) / np.sqrt(y)


def _y0_near(y: np.ndarray) -> np.ndarray:
    x = np.sqrt(y)
    return special.y0(x) - 2 / math.pi * np.log(x) * special.j0(x)


def _y1_near(y: np.ndarray) -> np.ndarray:
    x = np.sqrt(y)
    return (special.y1(x) - 2 / math.pi * (np.log(x) * special.j1(x) - 1 / x)) / x


def _waves(order: int, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Amplitudes P and x·Q of J and Y at x = 8 / √z, which vary slowly with z."""
    x = 8 / np.sqrt(z)
    phase = x - math.pi / 4 - order * math.pi / 2
    j, y = (special.j1(x), special.y1(x)) if order else (special.j0(x), special.y0(x))
    scale = np.sqrt(math.pi * x / 2)
    c, s = np.cos(phase), np.sin(phase)
    return scale * (j * c + y * s), scale * (y * c - j * s) * x


def _p0(z: np.ndarray) -> np.ndarray:
    return _waves(0, z)[0]


def _q0(z: np.ndarray) -> np.ndarray:
    return _waves(0, z)[1]


def _p1(z: np.ndarray) -> np.ndarray:
    return _waves(1, z)[0]


def _q1(z: np.ndarray) -> np.ndarray:
    return _waves(1, z)[1]


def _lower_far(order: int, second: bool, x: JaxArray) -> JaxArray:
    """J or, with `second`, Y of numbers from 8 on."""
    z = lax.square(8 / x)
    p = evaluate(_p1 if order else _p0, 0.0, 1.0, z)
    q = evaluate(_q1 if order else _q0, 0.0, 1.0, z) / x
    phase = x - x.dtype.type(math.pi / 4 + order * math.pi / 2)
    c, s = lax.cos(phase), lax.sin(phase)
    wave = p * s + q * c if second else p * c - q * s
    return x.dtype.type(math.sqrt(2 / math.pi)) * lax.rsqrt(x) * wave


def _lower_j(order: int) -> Callable[..., Any]:
    def lower(x: JaxArray) -> JaxArray:
        size = lax.abs(x)
        low = lax.min(size, lax.full_like(x, 8))
        near = evaluate(_j1_near if order else _j0_near, 0.0, 64.0, low * low)
        far = _lower_far(order, False, lax.max(size, lax.full_like(x, 8)))
        if order:
            near, far = near * x, far * lax.sign(x)
        return lax.select(size < 8, near, far)

    return lower


def _lower_y(order: int) -> Callable[..., Any]:
    def lower(x: JaxArray) -> JaxArray:
        low = lax.clamp(x.dtype.type(0), x, x.dtype.type(8))
        y, root = low * low, x.dtype.type(2 / math.pi)
        if order:
            tail = lax.log(low) * evaluate(_j1_near, 0.0, 64.0, y) * low - 1 / low
            near = evaluate(_y1_near, 0.0, 64.0, y) * low + root * tail
        else:
            tail = lax.log(low) * evaluate(_j0_near, 0.0, 64.0, y)
            near = evaluate(_y0_near, 0.0, 64.0, y) + root * tail
        result = lax.select(x < 8, near, _lower_far(order, True, lax.max(x, lax.full_like(x, 8))))
        return lax.select(x <= 0, lax.full_like(x, -np.inf), result)

    return lower


J0 = smooth(
    "bessel_j0", lambda x: special.j0(x), _lower_j(0), grad=lambda g, x: g * -tf.bessel_j1(x)
)
J1 = smooth(
    "bessel_j1",
    lambda x: special.j1(x),
    _lower_j(1),
    grad=lambda g, x, out: g * (tf.bessel_j0(x) - _over(out, x, 0.5)),
)
Y0 = smooth(
    "bessel_y0",
    _where_positive("y0", -np.inf),
    _lower_y(0),
    grad=lambda g, x: g * -tf.bessel_y1(x),
)
Y1 = smooth(
    "bessel_y1",
    _where_positive("y1", -np.inf),
    _lower_y(1),
    grad=lambda g, x, out: g * (tf.bessel_y0(x) - out / x),
)


@function_of(J0)
def bessel_j0(x: TensorLike, name: str | None = None) -> Any:
    """The Bessel function of the first kind of order 0."""


@function_of(J1)
def bessel_j1(x: TensorLike, name: str | None = None) -> Any:
    """The Bessel function of the first kind of order 1."""


@function_of(Y0)
def bessel_y0(x: TensorLike, name: str | None = None) -> Any:
    """The Bessel function of the second kind of order 0; -inf at 0 and below."""


@function_of(Y1)
def bessel_y1(x: TensorLike, name: str | None = None) -> Any:
    """The Bessel function of the second kind of order 1; -inf at 0 and below."""
