"""Shorter kernels for the host engine, where shapes and dtypes are known ahead.

An eager kernel must look at its arguments each time; a graph knows them. Each entry gives a
kernel with the same result, or `None` where the usual one is right. All give new arrays; the
attribute `into` of a kernel is its form with an argument `out`, `None` if it has no such form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import shapes
from wengert.core.types import ShapeDtype
from wengert.engines.host import SHORTER
from wengert.ops.activations import RELU, RELU_GRAD
from wengert.ops.matmul import MATMUL, MATMUL_NT, MATMUL_TN
from wengert.ops.shaping import SUM_TO

_WIDE = ("float32", "float64")
_MOST_ZEROS, _MOST_ONES = 1 << 14, 1 << 16


@functools.cache  # at most once for each function and dtype named here
def _shared(make: Callable[..., np.ndarray], count: int, dtype: np.dtype) -> np.ndarray:
    result = make(count, dtype)
    result.flags.writeable = False
    return result


def _matrices(x: ShapeDtype, y: ShapeDtype) -> bool:
    return (
        x.shape is not None
        and y.shape is not None
        and len(x.shape) == len(y.shape) == 2
        and x.dtype.name in _WIDE
    )


def _matmul(specs: list[ShapeDtype], **attrs: Any) -> Callable[..., Any] | None:
    return np.dot if _matrices(*specs) else None


def _matmul_nt(specs: list[ShapeDtype], **attrs: Any) -> Callable[..., Any] | None:
    return _new(lambda x, y: np.dot(x, y.T)) if _matrices(*specs) else None


def _matmul_tn(specs: list[ShapeDtype], **attrs: Any) -> Callable[..., Any] | None:
    return _new(lambda x, y: np.dot(x.T, y)) if _matrices(*specs) else None


def _relu(specs: list[ShapeDtype], **attrs: Any) -> Callable[..., Any] | None:
    zero = _zeros(specs[0])
    if specs[0].dtype.name not in _WIDE:
        return None
    return _new(lambda x: np.maximum(x, zero), lambda x, out: np.maximum(x, zero, out=out))


def _relu_grad(specs: list[ShapeDtype], **attrs: Any) -> Callable[..., Any] | None:
    dtype = specs[0].dtype.np
    zero = np.zeros((), dtype)
    if specs[0] != specs[1] or specs[0].dtype.name not in _WIDE:
        return None
    return _new(
        lambda g, y: np.multiply(g, np.greater(y, zero).astype(dtype)),
        lambda g, y, out: np.multiply(g, np.greater(y, zero).astype(dtype), out=out),
    )


def _zeros(spec: ShapeDtype) -> np.ndarray:
    """Zeros to compare with: NumPy takes a small array of equal shape faster than a number."""
    count = shapes.size(spec.shape)
    known: Any = spec.shape
    if count is None or count > _MOST_ZEROS:
        return np.zeros((), spec.dtype.np)
    # All kernels share one array, so that none of them takes memory for the sizes it has met.
    return _shared(np.zeros, _MOST_ZEROS, spec.dtype.np)[:count].reshape(known)


def _sum_to(specs: list[ShapeDtype], shape: tuple[int, ...]) -> Callable[..., Any] | None:
    have, dtype = specs[0]
    if have is None or None in have or len(have) != 2 or shape != have[1:]:
        return None
    rows = have[0] or 0
    if dtype.name not in _WIDE or rows > _MOST_ONES:
        return None
    # BLAS sums the columns of a matrix faster than NumPy does.
    ones = _shared(np.ones, _MOST_ONES, dtype.np)[:rows]
    return _new(lambda x, shape: np.dot(ones, x))


def _new(kernel: Any, into: Any = None) -> Any:
    kernel.into = into
    return kernel


SHORTER.fill(
    __name__,
    {
        SUM_TO: _sum_to,
        MATMUL: _matmul,
        MATMUL_NT: _matmul_nt,
        MATMUL_TN: _matmul_tn,
        RELU: _relu,
        RELU_GRAD: _relu_grad,
    },
)
