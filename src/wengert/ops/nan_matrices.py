"""Functions of matrices for which a matrix with NaN gives NaN and others of its stack do not.

LU factors cannot be left to see to that: a search for pivots passes over NaN, and may find a zero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from wengert.core.lazy_modules import Lazy, jnp
from wengert.core.types import DType, JaxArray


def nan_for_nan(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a kernel see the identity where its first argument has a matrix with NaN."""

    @functools.wraps(kernel)
    def run(
        x: np.ndarray, *rest: np.ndarray, **attrs: Any
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        # The sum tells at little cost that all numbers are finite.
        if np.isfinite(np.add.reduce(x, None)):
            return kernel(x, *rest, **attrs)
        return _spread(np, kernel, x, rest, attrs)

    return run


def lower_nan_for_nan(lower: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a lowering."""

    @functools.wraps(lower)
    def run(
        x: JaxArray, *rest: JaxArray | np.ndarray, **attrs: Any
    ) -> JaxArray | tuple[JaxArray, JaxArray]:
        return _spread(jnp, lower, x, rest, attrs)

    return run


def _spread(
    xp: ModuleType | Lazy,
    compute: Callable[..., Any],
    x: JaxArray | np.ndarray,
    rest: tuple[JaxArray | np.ndarray, ...],
    attrs: dict[str, bool | DType],
) -> Any:
    bad = xp.isnan(x).any((-2, -1))
    safe = xp.where(bad[..., None, None], xp.eye(x.shape[-1], dtype=x.dtype), x)
    out = compute(safe, *rest, **attrs)
    if isinstance(out, tuple):
        return tuple(_filled(xp, o, bad) for o in out)
    return _filled(xp, out, bad)


def _filled(
    xp: ModuleType | Lazy, out: JaxArray | np.ndarray, bad: JaxArray | np.generic
) -> JaxArray | np.ndarray:
    """NaN in place of what was computed for the identities; whole numbers stay."""
    if out.dtype.kind not in "fc":
        return out
    where = bad.reshape(bad.shape + (1,) * (out.ndim - bad.ndim))
    return xp.where(where, nan_of(out.dtype), out)


def unless_infinite(
    xp: ModuleType | Lazy, x: JaxArray | np.ndarray, out: JaxArray | np.ndarray, infinite: Any
) -> Any:
    """`out`, with NaN for matrices that have infinite entries but no infinite determinant."""
    wrong = xp.isinf(x).any((-2, -1)) & ~infinite
    return xp.where(wrong, nan_of(out.dtype), out)


def nan_of(dtype: np.dtype) -> np.generic:
    """NaN, for complex numbers in both parts."""
    return dtype.type(complex(np.nan, np.nan) if dtype.kind == "c" else np.nan)
