"""Jacobians from a tape: few rows one at a time, many all at once.

All at once means by a graph that the engines vectorise, which is a matter of the room above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.context import executing_eagerly
from wengert.core.errors import require
from wengert.core.hooks import Hook
from wengert.core.types import Tensor, Value
from wengert.ops.create import eye, zeros_like
from wengert.ops.create import zeros as zeros_of
from wengert.ops.joining import stack
from wengert.ops.shaping import broadcast_to, reshape, transpose
from wengert.tape.gradient_values import dense

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape


_FEW = 64


def _seeds(shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Gradients of the target that pick one element each."""
    size = int(np.prod(shape))
    for i in range(size):
        seed = np.zeros(size, dtype)
        seed[i] = 1
        yield wrap(seed.reshape(shape))


def _all_at_once(count: int, vectorised: bool) -> bool:
    """Whether rows are worth a graph; in a trace it is the only way that takes unknown sizes."""
    if executing_eagerly():
        return vectorised and count > _FEW
    return vectorised or type(count) is not int


# The gradients of a target for each row of seeds, by a graph.
GRADIENT_ROWS: Hook[Callable[[Any, Any, Any, list[Any]], list[Any]]] = Hook(
    "gradient_rows", "wengert.functions.vectorized_map"
)


def _total(sizes: tuple[int, ...]) -> int:
    total: Any = 1
    for d in sizes:
        total = total * d
    return total


def jacobian(
    tape: GradientTape, target: Tensor, sources: list[Value], vectorised: bool = True
) -> list[Tensor | None]:
    """One Jacobian for each of a list of sources; `None` where there is no path."""
    shape = target._array.shape
    count = _total(shape)
    if _all_at_once(count, vectorised):
        seeds = reshape(eye(count, dtype=target.dtype), (count, *shape))
        return [
            None if g is None else reshape(g, (*shape, *s._array.shape))
            for g, s in zip(GRADIENT_ROWS.call(tape, target, seeds, sources), sources, strict=True)
        ]
    rows = [
        tape._differentiate([target], [seed], sources, release=False)
        for seed in _seeds(shape, target._array.dtype)
    ]
    if not rows:  # no elements, but there may be a path
        value = tape._differentiate([target], [None], sources, release=False)
        return [
            None if g is None else zeros(target, s) for g, s in zip(value, sources, strict=True)
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


def batch_jacobian(
    tape: GradientTape, target: Tensor, source: Any, vectorised: bool = True
) -> Tensor | None:
    """Derivatives within each example: shape [batch, target…, source…]."""
    t, s = target._array.shape, source._array.shape
    require(
        t and s and (type(t[0]) is not int or type(s[0]) is not int or t[0] == s[0]),
        "batch_jacobian",
        "target and source must share their first size",
        target,
        source,
    )
    count = _total(t[1:])
    order = (1, 0, *range(2, 1 + len(s)))
    if _all_at_once(count, vectorised):
        seeds = reshape(eye(count, dtype=target.dtype), (count, 1, *t[1:]))
        (full,) = GRADIENT_ROWS.call(tape, target, broadcast_to(seeds, (count, *t)), [source])
        return None if full is None else reshape(transpose(full, order), (t[0], *t[1:], *s[1:]))
    columns = []
    for seed in _seeds(t[1:], target._array.dtype):
        picked = broadcast_to(seed, t)
        columns.append(tape._differentiate([target], [picked], [source], release=False)[0])
    if all(g is None for g in columns):
        return None
    full = stack([zeros_like(source) if g is None else dense(g) for g in columns])
    return reshape(transpose(full, order), (t[0], *t[1:], *s[1:]))


def zeros(target: Tensor, source: Any) -> Tensor:
    """The Jacobian of a target that does not depend on the source."""
    return zeros_of(target._array.shape + source._array.shape, source.dtype)


def batch_zeros(target: Tensor, source: Any) -> Tensor:
    """The batch Jacobian of a target that does not depend on the source."""
    return zeros_of(target._array.shape + source._array.shape[1:], source.dtype)
