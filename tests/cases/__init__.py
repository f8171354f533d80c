"""The table of operation cases: one row per use of an operation, run as named lanes.

Each module here covers a family and has a list `CASES`. A row names the public function, its
arguments, a NumPy reference and how far its gradients are checked; `test_operations.py` does
the rest: reference, shape rule, lowering, gradients, half precision, and untouched inputs.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Case:
    """One use of an operation.

    `args` are NumPy arrays (floats as float64: each lane casts them to its dtype); `call` takes
    them as tensors and may return any nest; `ref` takes the float64 arrays. `order` is how many
    orders of gradient are checked (0: none). `dtypes` are the float types of the reference lane.
    """

    name: str
    call: Callable[..., Any]
    args: tuple[Any, ...]
    ref: Callable[..., Any] | None = None
    order: int = 2
    dtypes: tuple[str, ...] = ("float32", "float64")
    tolerance: float = 1e-5
    half_tolerance: float = 2e-2
    gradient_tolerance: float = 1e-5
    forward: bool = True
    lowered: bool = True
    needs_sizes: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def unknown_sizes(self) -> bool:
        """Whether it can be traced with unknown sizes; `needs_sizes` says why not."""
        return not self.needs_sizes

    def __str__(self) -> str:
        return self.name


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Random normal numbers of a fixed seed."""
    return rng(seed).standard_normal(shape)


def positive(*shape: int, seed: int = 0, low: float = 0.3, high: float = 2.5) -> np.ndarray:
    """Random numbers well away from zero."""
    return rng(seed).uniform(low, high, shape)


def within(*shape: int, low: float, high: float, seed: int = 0) -> np.ndarray:
    """Random numbers in an interval."""
    return rng(seed).uniform(low, high, shape)


def whole(*shape: int, low: int = 0, high: int = 10, seed: int = 0) -> np.ndarray:
    """Random int32 numbers in [low, high)."""
    return rng(seed).integers(low, high, shape).astype(np.int32)


def unique_values(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers without ties, for orderings."""
    return rng(seed).permutation(int(np.prod(shape))).reshape(shape) / 3.0 - 2.0


def all_cases() -> list[Case]:
    """The rows of every module in this folder."""
    found: list[Case] = []
    for module in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{module.name}").CASES
    names = [c.name for c in found]
    twice = {n for n in names if names.count(n) > 1}
    assert not twice, f"two cases have the same name: {twice}"
    return found
