"""`tf.experimental.numpy.random`: numbers of the global generator, as NumPy's old functions give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.types import Tensor
from wengert.experimental.numpy_api.arrays import array, astype, default
from wengert.ops import random as ours
from wengert.ops.seeds import set_seed


def seed(s: int) -> None:
    """Fixes the numbers that follow."""
    set_seed(int(s) & 0x7FFFFFFF)


def _shape(size: Any) -> Any:
    if size is None:
        return []
    return [size] if isinstance(size, int) else size


def randn(*args: int) -> Tensor:
    """Normal numbers of a shape."""
    return standard_normal(args or None)


def standard_normal(size: Any = None) -> Tensor:
    """Normal numbers of a shape."""
    return ours.normal(_shape(size), dtype=dtypes.as_dtype(default(np.float64)))


def rand(*size: int) -> Tensor:
    """Numbers from 0 to 1 of a shape."""
    return uniform(0.0, 1.0, size)


def random(size: Any = None) -> Tensor:
    """Numbers from 0 to 1 of a shape."""
    return uniform(0.0, 1.0, size)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers between two others."""
    kind = default(np.float64)
    low, high = array(low, kind), array(high, kind)
    shape = (low + high).shape if size is None else _shape(size)
    return low + (high - low) * ours.uniform(shape, dtype=dtypes.as_dtype(kind))


def poisson(lam: Any = 1.0, size: Any = None) -> Tensor:
    """Whole numbers that are `lam` on average."""

    shape = [] if size is None else _shape(size)
    rate = array(lam, default(np.float64))
    return astype(ours.poisson(shape, rate), default(np.int64))


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Tensor:
    """Whole numbers from `low` up to `high`, which is left out."""
    if high is None:
        low, high = 0, low
    drawn = ours.uniform(_shape(size), int(low), int(high), dtypes.int64)
    return astype(drawn, dtype)
