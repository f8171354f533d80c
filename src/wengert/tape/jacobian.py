"""Jacobians from a tape, one row of the target at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.errors import invalid
from wengert.ops.create import zeros_like
from wengert.ops.joining import stack
from wengert.ops.shaping import broadcast_to, reshape, transpose
from wengert.tape.backward import dense


def _seeds(shape: tuple[int, ...], dtype: Any) -> Any:
    """Gradients of the target that pick one element each."""
    size = int(np.prod(shape))
    for i in range(size):
        seed = np.zeros(size, dtype)
        seed[i] = 1
        yield wrap(seed.reshape(shape))


def jacobian(tape: Any, target: Any, sources: list[Any]) -> list[Any]:
    """One Jacobian for each of a list of sources; `None` where there is no path."""
    shape = target._array.shape
    rows = [
        tape._differentiate([target], [seed], sources, release=False)
        for seed in _seeds(shape, target._array.dtype)
    ]
    if not rows:  # no elements, but there may be a path
        found = tape._differentiate([target], [None], sources, release=False)
        return [
            None if g is None else zeros(target, s) for g, s in zip(found, sources, strict=True)
        ]
    result = []
    for k, source in enumerate(sources):
        column = [row[k] for row in rows]
        if all(g is None for g in column):
            result.append(None)
            continue
        full = stack([zeros_like(source) if g is None else dense(g) for g in column])
        result.append(reshape(full, shape + tuple(full._array.shape[1:])))
    return result


def batch_jacobian(tape: Any, target: Any, source: Any) -> Any:
    """Derivatives within each example: shape [batch, target…, source…]."""
    t, s = target._array.shape, source._array.shape
    if not t or not s or t[0] != s[0]:
        raise invalid(
            "batch_jacobian", "target and source must share their first size", target, source
        )
    columns = []
    for seed in _seeds(t[1:], target._array.dtype):
        picked = broadcast_to(seed, t)
        columns.append(tape._differentiate([target], [picked], [source], release=False)[0])
    if all(g is None for g in columns):
        return None
    full = stack([zeros_like(source) if g is None else dense(g) for g in columns])
    order = (1, 0, *range(2, 1 + len(s)))
    return reshape(transpose(full, order), (t[0], *t[1:], *s[1:]))


def zeros(target: Any, source: Any) -> Any:
    """The Jacobian of a target that does not depend on the source."""
    shape = target._array.shape + source._array.shape
    return wrap(np.zeros(shape, source._array.dtype))


def batch_zeros(target: Any, source: Any) -> Any:
    """The batch Jacobian of a target that does not depend on the source."""
    shape = target._array.shape + source._array.shape[1:]
    return wrap(np.zeros(shape, source._array.dtype))
