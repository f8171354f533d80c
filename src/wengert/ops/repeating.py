"""Repeating elements: tile and repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import shapes
from wengert.core.apply import apply, wrap
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.lazy import lax
from wengert.core.op import Op, Spec
from wengert.ops.declare import static_int, static_tuple
from wengert.ops.gather import GATHER, GATHER_GRAD
from wengert.ops.shaping import reshape


def _infer_tile(x: Spec, multiples: tuple[int, ...]) -> Spec:
    if x.shape is None:
        return Spec((None,) * len(multiples), x.dtype)
    return Spec(
        tuple(None if d is None else d * m for d, m in zip(x.shape, multiples, strict=True)),
        x.dtype,
    )


def _interleaved(shape: Any, multiples: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for pair in zip(multiples, shape, strict=True) for n in pair)


def _lower_tile(x: Any, multiples: tuple[int, ...]) -> Any:
    spread = lax.broadcast_in_dim(x, _interleaved(x.shape, multiples), range(1, 2 * x.ndim, 2))
    return lax.reshape(spread, [d * m for d, m in zip(x.shape, multiples, strict=True)])


def _tile_grad(g: Any, x_shape: Any, multiples: tuple[int, ...]) -> Any:
    from wengert.ops.reduce import reduce_sum

    parts = reshape(g, _interleaved(x_shape, multiples))
    return reduce_sum(parts, list(range(0, 2 * len(multiples), 2)))


TILE = Op(
    "tile",
    "x",
    kernel=lambda x, multiples: np.tile(x, multiples),
    infer=_infer_tile,
    lower=_lower_tile,
    grad=_tile_grad,
)


def tile(input: Any, multiples: Any, name: Any = None) -> Any:
    """Lays copies of a tensor side by side, `multiples[i]` along axis i."""
    x = operand(input)
    counts = static_tuple("tile", multiples, "multiples")
    if len(counts) != x._array.ndim or min(counts, default=0) < 0:
        raise invalid(
            "tile",
            f"`multiples` {list(counts)} must be {x._array.ndim} numbers from 0 on",
            x,
        )
    return apply(TILE, x, multiples=counts)


def _sources(size: int, counts: Any) -> np.ndarray:
    """Which element each repeated one is a copy of."""
    return np.repeat(np.arange(size), counts)


def _infer_repeat(x: Spec, counts: Any, axis: int) -> Spec:
    if x.shape is None:
        return Spec(None, x.dtype)
    size = x.shape[axis]
    if isinstance(counts, tuple):
        if size not in (None, len(counts)):
            raise invalid(
                "repeat", f"{len(counts)} `repeats` do not fit axis {axis} of size {size}", x
            )
        total: int | None = sum(counts)
    else:
        total = None if size is None else size * counts
    return Spec((*x.shape[:axis], total, *x.shape[axis + 1 :]), x.dtype)


def _lower_repeat(x: Any, counts: Any, axis: int) -> Any:
    assert GATHER.lower is not None, "gather has a lowering"
    places = lax.convert_element_type(_sources(x.shape[axis], counts), np.int64)
    return GATHER.lower(x, places, axis=axis, batch_dims=0)


def _repeat_grad(g: Any, x_shape: Any, counts: Any, axis: int) -> Any:
    places = wrap(_sources(x_shape[axis], counts))
    return apply(GATHER_GRAD, g, places, shape=tuple(x_shape), axis=axis, batch_dims=0)


REPEAT = Op(
    "repeat",
    "x",
    kernel=lambda x, counts, axis: x.repeat(counts, axis),
    infer=_infer_repeat,
    lower=_lower_repeat,
    grad=_repeat_grad,
)


def repeat(input: Any, repeats: Any, axis: Any = None, name: Any = None) -> Any:
    """Repeats each element along `axis` (of the flattened tensor without one).

    `repeats` is one number, or one per element; of those, negative ones count as 0.
    """
    x = operand(input)
    if axis is None:
        x, axis = reshape(x, (x._array.size,)), 0
    elif not x._array.ndim:
        x = reshape(x, (1,))
    place = shapes.check_axis("repeat", static_int("repeat", axis), x._array.ndim)
    counts: Any = static_tuple("repeat", repeats, "repeats")
    if len(counts) != 1:
        counts = tuple(max(n, 0) for n in counts)
    elif counts[0] < 0:
        raise invalid("repeat", f"`repeats` must not be negative; got {counts[0]}", x)
    else:
        counts = counts[0]
    return apply(REPEAT, x, counts=counts, axis=place)
