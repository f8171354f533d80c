"""Cases for special functions: SciPy is the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp

import wengert as tf
from tests.cases import Case, positive, within
from wengert.ops.gamma import igamma_grad_a

HALF = ("float16", "bfloat16", "float32", "float64")
M, S = tf.math, tf.math.special
INNER = within(3, 4, low=-0.9, high=0.9)
WIDE = within(12, low=-4, high=4)
ABOVE = within(12, low=0.2, high=12)


def _one(name: str, call: Any, ref: Any, x: np.ndarray, **more: Any) -> Case:
    return Case(name, call, (x,), ref, dtypes=HALF, half_tolerance=4e-2, **more)


CASES = [
    _one("erf", M.erf, sp.erf, WIDE),
    _one("erfc", M.erfc, sp.erfc, WIDE),
    _one("erfinv", M.erfinv, sp.erfinv, INNER),
    _one("erfcinv", M.erfcinv, sp.erfcinv, INNER + 1),
    _one("ndtri", M.ndtri, sp.ndtri, (INNER + 1) / 2),
    _one("lgamma", M.lgamma, sp.gammaln, ABOVE),
    _one("digamma", M.digamma, sp.psi, ABOVE),
    _one("bessel_i0", M.bessel_i0, sp.i0, WIDE),
    _one("bessel_i1", M.bessel_i1, sp.i1, WIDE),
    _one("bessel_i0e", M.bessel_i0e, sp.i0e, WIDE),
    _one("bessel_i1e", M.bessel_i1e, sp.i1e, WIDE),
    _one("bessel_j0", S.bessel_j0, sp.j0, within(12, low=-12, high=12)),
    _one("bessel_j1", S.bessel_j1, sp.j1, within(12, low=-12, high=12)),
    _one("bessel_k0", S.bessel_k0, sp.k0, ABOVE),
    _one("bessel_k1", S.bessel_k1, sp.k1, ABOVE),
    _one("bessel_k0e", S.bessel_k0e, sp.k0e, ABOVE),
    _one("bessel_k1e", S.bessel_k1e, sp.k1e, ABOVE),
    _one("bessel_y0", S.bessel_y0, sp.y0, ABOVE),
    _one("bessel_y1", S.bessel_y1, sp.y1, ABOVE),
    _one("dawsn", S.dawsn, sp.dawsn, within(12, low=-8, high=8)),
    _one("expint", S.expint, sp.expi, within(12, low=0.2, high=4)),
    _one("fresnel_cos", S.fresnel_cos, lambda x: sp.fresnel(x)[1], within(12, low=-3, high=3)),
    _one("fresnel_sin", S.fresnel_sin, lambda x: sp.fresnel(x)[0], within(12, low=-3, high=3)),
    _one("spence", S.spence, sp.spence, within(12, low=0.1, high=3)),
    _one("lbeta", M.lbeta, lambda x: sp.gammaln(x).sum(-1) - sp.gammaln(x.sum(-1)), positive(3, 2)),
    Case("polygamma", lambda x: M.polygamma(tf.constant([[0.0], [1.0], [3.0]], x.dtype), x),
         (positive(4),), lambda x: np.stack([sp.psi(x), sp.polygamma(1, x), sp.polygamma(3, x)]),
         dtypes=HALF, half_tolerance=0.1),
    Case("zeta", lambda x: M.zeta(tf.constant([[1.5], [4.0]], x.dtype), x), (positive(4),),
         lambda x: np.stack([sp.zeta(1.5, x), sp.zeta(4.0, x)])),
    Case("igamma", M.igamma, (ABOVE, within(12, low=0.1, high=14, seed=1)), sp.gammainc, order=1),
    Case("igamma_x", lambda x: M.igamma(tf.constant(2.5, x.dtype), x), (positive(4),),
         lambda x: sp.gammainc(2.5, x), dtypes=HALF),
    Case("igammac", M.igammac, (positive(3, 1), positive(4, seed=1)), sp.gammaincc, order=1),
    Case("igammac_x", lambda x: M.igammac(tf.constant(2.5, x.dtype), x), (positive(4),),
         lambda x: sp.gammaincc(2.5, x)),
    Case("igamma_grad_a", lambda a, x: igamma_grad_a(tf.stop_gradient(a), x),
         (np.array([1.0, 2.0, 5.0, 0.5, 30.0, 0.01, 100.0, 1e-3]),
          np.array([0.5, 3.0, 2.0, 7.0, 20.0, 3.0, 120.0, 1e-5])),
         lambda a, x: np.array([-0.48945753, -0.1974254198, -0.0569132401, -0.00073669491,
                                -0.0102052573, -0.0135471876, -0.00621318593, -10.8183983]), order=0),
    Case("igamma_large", M.igamma, (np.array([30.0, 0.01, 100.0, 1e-3]), np.array([20.0, 3.0, 120.0, 1e-5])),
         sp.gammainc, order=0),
    Case("betainc", lambda x: M.betainc(tf.constant([[2.0], [0.5]], x.dtype), tf.constant(3.0, x.dtype), x),
         (within(4, low=0.1, high=0.9),), lambda x: sp.betainc(np.array([[2.0], [0.5]]), 3.0, x), dtypes=HALF),
]  # fmt: skip
