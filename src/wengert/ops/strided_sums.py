"""Sums of arrays whose elements are put apart, as gradients of windows with strides need them.

XLA's code for the CPU asks of each element whether it lies between others. Here the elements that
have the same rest by the strides, a phase, are added up as whole arrays, and the phases are
interleaved at the end.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from typing import Any

from wengert.core.lazy_modules import lax
from wengert.core.types import JaxArray


def add_apart(
    parts: Iterable[tuple[tuple[int, ...], JaxArray]], shape: tuple[int, ...], strides: Any
) -> JaxArray:
    """The sum of arrays, each put into zeros of `shape` from a start on, in steps of `strides`."""
    counts = tuple(n if s == 1 else -(-n // s) for n, s in zip(shape, strides, strict=True))
    phases: dict[tuple[int, ...], list[JaxArray]] = {}
    for start, part in parts:
        phase = tuple(a % s for a, s in zip(start, strides, strict=True))
        lows = [a // s for a, s in zip(start, strides, strict=True)]
        ends = [(low, n - low - m, 0) for low, n, m in zip(lows, counts, part.shape, strict=True)]
        phases.setdefault(phase, []).append(lax.pad(part, part.dtype.type(0), ends))
    dtype = next(iter(phases.values()))[0].dtype
    nothing = lax.full(counts, dtype.type(0))
    sums = [
        functools.reduce(lax.add, phases.get(phase, [nothing]))
        for phase in itertools.product(*map(range, strides))
    ]
    return lax.slice(interleaved(sums, strides), (0,) * len(shape), shape)


def interleaved(phases: list[JaxArray], strides: Any) -> JaxArray:
    """One array of those that hold every so many of its elements, the last axis' phases first."""
    for axis in reversed(range(len(strides))):
        if strides[axis] > 1:
            size = strides[axis]
            groups = [phases[k : k + size] for k in range(0, len(phases), size)]
            phases = [_woven(group, axis) for group in groups]
    return phases[0]


def _woven(group: list[JaxArray], axis: int) -> JaxArray:
    joined = lax.concatenate([lax.expand_dims(x, (axis + 1,)) for x in group], axis + 1)
    shape = group[0].shape
    return lax.reshape(joined, (*shape[:axis], shape[axis] * len(group), *shape[axis + 1 :]))
