"""Lowerings of functions that XLA lacks, as Chebyshev series.

The coefficients are not written down here: they are fitted to SciPy's values when a function is
first lowered, so that kernel and lowering agree to the last digits by construction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import JaxArray, lax

_DEGREE = 40


@functools.lru_cache(maxsize=64)
def fit(f: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> tuple[float, ...]:
    """The Chebyshev coefficients of a smooth function on [low, high]; the ends are not visited."""
    middle, half = (high + low) / 2, (high - low) / 2
    shifted: Any = lambda t: f(middle + half * t)
    result = np.polynomial.chebyshev.chebinterpolate(shifted, _DEGREE)
    significant = np.flatnonzero(np.abs(result) > 1e-17 * np.abs(result).max())
    return tuple(result[: significant[-1] + 1].tolist())


def evaluate(
    f: Callable[[np.ndarray], np.ndarray], low: float, high: float, x: JaxArray
) -> JaxArray:
    """The series of `f` on [low, high] at a JAX array `x`, by Clenshaw's recurrence."""
    scale = 2 / (high - low)
    t = x * x.dtype.type(scale) - x.dtype.type(1 + low * scale)
    now = later = lax.full_like(t, 0)
    for c in reversed(fit(f, low, high)[1:]):
        now, later = 2 * t * now - later + x.dtype.type(c), now
    return t * now - later + x.dtype.type(fit(f, low, high)[0])
