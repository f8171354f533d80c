"""Special functions where they are not defined, at infinity, and on both engines."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import wengert as tf
from wengert.core.op import REGISTRY

inf, nan = np.inf, np.nan
M, S = tf.math, tf.math.special

EDGES: list[tuple[Any, list[float], list[float]]] = [
    (M.erf, [-inf, 0, inf, nan], [-1, 0, 1, nan]),
    (M.erfc, [-inf, inf], [2, 0]),
    (M.erfinv, [-1, 1, 2, -2], [-inf, inf, nan, nan]),
    (M.erfcinv, [0, 2, -2, 3], [inf, -inf, nan, nan]),
    (M.ndtri, [0, 1, 2, -2, 0.5], [-inf, inf, nan, nan, 0]),
    (M.lgamma, [-inf, -1, 0, 1, 2, inf], [inf, inf, inf, 0, 0, inf]),
    (M.digamma, [-inf, -1, 0, inf], [nan, nan, nan, inf]),
    (M.bessel_i0, [0, -3], [1, 4.880792585865024]),
    (M.bessel_i1e, [-inf, 0, inf], [0, 0, 0]),
    (S.bessel_k0, [-1, 0, inf], [inf, inf, 0]),
    (S.bessel_k1e, [-1, 0, inf], [inf, inf, 0]),
    (S.bessel_y0, [-1, 0], [-inf, -inf]),
    (S.bessel_y1, [-1, 0], [-inf, -inf]),
    (S.expint, [-1, 0, inf], [nan, -inf, inf]),
    (S.fresnel_cos, [-inf, inf], [-0.5, 0.5]),
    (S.spence, [-1, 0, 1], [nan, np.pi**2 / 6, 0]),
    (S.dawsn, [0, inf], [0, 0]),
]


@pytest.mark.parametrize(("f", "x", "want"), EDGES, ids=[f.__name__ for f, *_ in EDGES])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges(f: Any, x: list[float], want: list[float], dtype: str) -> None:
    got = f(tf.constant(x, dtype))
    assert got.dtype.name == dtype
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def test_shape_parameters_that_are_not_positive_give_nan() -> None:
    a = tf.constant([1.0, 0.0, -1.0, 1.0, 1.0, 0.0])
    x = tf.constant([1.0, 1.0, 1.0, -1.0, 0.0, 0.0])
    np.testing.assert_allclose(M.igamma(a, x), [0.63212056, nan, nan, nan, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(M.igammac(a, x), [0.36787944, nan, nan, nan, 1, nan], rtol=1e-6)
    found = M.betainc([0.0, 1.0, 1.0, 2.0], [1.0, 0.0, 1.0, 3.0], [0.5, 0.5, 1.1, 1.0])
    np.testing.assert_array_equal(found, [nan, nan, nan, 1])


def test_poles_of_zeta_and_polygamma() -> None:
    x = [1.0, 0.5, 2.0, 2.0, 3.0, inf, 2.0]
    q = [0.5, 0.5, 0.0, -1.0, -1.0, 1.0, inf]
    np.testing.assert_array_equal(M.zeta(x, q), [inf, nan, inf, inf, nan, 1, 0])
    a = [0.0, -1.0, 0.5, 1.0, 1.0]
    found = M.polygamma(a, [0.5, 0.5, 0.5, 0.0, inf])
    np.testing.assert_allclose(found, [-1.9635100, nan, nan, inf, 0], rtol=1e-6)


def test_gradients_that_do_not_exist_are_none() -> None:
    a, b, x = (tf.constant(v) for v in (2.0, 3.0, 0.3))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b, x])
        y, z, p = M.betainc(a, b, x), M.zeta(a, x), M.polygamma(a, x)
    assert tape.gradient(y, [a, b]) == [None, None]
    np.testing.assert_allclose(tape.gradient(y, x), 1.764, rtol=1e-5)
    assert tape.gradient(z, a) is None
    assert tape.gradient(p, a) is None


def test_the_second_derivative_of_igamma_in_a_is_refused() -> None:
    a, x = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(a)
        with tf.GradientTape() as inner:
            inner.watch(a)
            y = M.igamma(a, x)
        g = inner.gradient(y, a)
    np.testing.assert_allclose(g, -0.19742542, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="igamma: there is no second derivative"):
        outer.gradient(g, a)


@pytest.mark.parametrize("f", [M.bessel_i1, M.bessel_i1e, S.bessel_j1])
def test_odd_bessel_functions_have_slope_one_half_at_zero(f: Any) -> None:
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy() == 0.5


def test_integers_and_complex_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^erf: dtype int32 is not supported"):
        M.erf([1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^lgamma: dtype complex64"):
        M.lgamma(tf.constant([1j], tf.complex64))


NAMES = (
    "erf erfc erfinv erfcinv ndtri dawsn expint fresnel_cos fresnel_sin spence lgamma digamma "
    "bessel_i0 bessel_i1 bessel_i0e bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 "
    "bessel_k1e bessel_y0 bessel_y1"
)
POINTS = np.r_[
    -inf, -30.5, -3, -2.5, -1, -0.5, -0.0, 0.0, 1e-8, 0.5, 1, 1.99, 2.01, 2.5, 5.99, 6.01, 7.99,
    8.01, 20, 100, 1e4, inf, nan, np.linspace(-10, 10, 41),
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES.split())
def test_kernel_and_lowering_agree_everywhere(name: str) -> None:
    op = REGISTRY[name]
    assert op.lower is not None
    with jax.enable_x64(True), np.errstate(all="ignore"):
        got = np.asarray(jax.jit(op.lower)(POINTS))
        np.testing.assert_allclose(got, op.kernel(POINTS), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", ["zeta", "polygamma", "igamma", "igammac", "igamma_grad_a"])
def test_kernel_and_lowering_of_two_numbers_agree_everywhere(name: str) -> None:
    op = REGISTRY[name]
    assert op.lower is not None
    values = np.array([-inf, -2, -1.5, -1, 0, 0.3, 0.5, 1, 2, 3, 4, 7.5, 30, 1e3, inf, nan])
    a, x = (v.ravel() for v in np.meshgrid(values, values, indexing="ij"))
    with jax.enable_x64(True), np.errstate(all="ignore"):
        got = np.asarray(jax.jit(op.lower)(a, x))
        np.testing.assert_allclose(got, op.kernel(a, x), rtol=1e-8, atol=1e-12)
