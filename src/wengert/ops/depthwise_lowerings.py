"""Depthwise convolutions for XLA on the CPU, as sums over the places of the window.

XLA's own code for them there is a loop over single numbers, a hundred times slower.
"""

from __future__ import annotations

import functools
from typing import Any

from wengert.ops import sliding as geometry
from wengert.ops.declare import JaxArray, lax
from wengert.ops.fast_reductions import fold
from wengert.ops.sliding import Pairs, Windows, extent, offsets, outer_sizes, resolve

# So many products of one place are added up before they are written to memory.
_FOLD = 8


def pairs_of(shape: tuple[int, ...], window: tuple[int, ...], at: Windows) -> Pairs:
    sizes = geometry.split(shape, at.first)[2]
    return resolve(sizes, extent(window, at.dilations), at.strides, at.padding)


def strided(x: JaxArray, start: tuple[int, ...], counts: Any, strides: Any) -> JaxArray:
    """`counts` elements from `start` in steps of `strides`, of a JAX array."""
    limits = [
        a if n == 0 else a + (n - 1) * s + 1 for a, n, s in zip(start, counts, strides, strict=True)
    ]
    return lax.slice(x, start, limits, strides)


def channels_last(x: JaxArray, at: Windows) -> JaxArray:
    """Images with their channels behind the spatial axes, wherever they were."""
    return lax.transpose(x, (0, *range(2, x.ndim), 1)) if at.first else x


def _padded(x: JaxArray, pairs: Any) -> JaxArray:
    return lax.pad(x, x.dtype.type(0), [(0, 0, 0), *((a, b, 0) for a, b in pairs), (0, 0, 0)])


def by_offset(x: JaxArray, w: JaxArray, at: Windows, groups: int) -> JaxArray:
    """A depthwise convolution as a sum over the places of the window; fuses into one loop."""
    spatial = w.ndim - 2
    window = w.shape[:spatial]
    x, last = channels_last(x, at), at._replace(first=False)
    pairs = pairs_of(x.shape, window, last)
    padded = _padded(x, pairs)
    reach = extent(window, at.dilations)
    counts = outer_sizes("conv", x.shape[1:-1], reach, at.strides, pairs)
    shape = (x.shape[0], *counts, groups, w.shape[-1] // groups)
    total = lax.full(shape, x.dtype.type(0))
    places = offsets(window, (1,) * spatial)
    for place, start in zip(places, offsets(window, at.dilations), strict=True):
        part = strided(padded, (0, *start, 0), (x.shape[0], *counts, groups), (1, *at.strides, 1))
        tap = lax.reshape(lax.index_in_dim(w[place], 0, 0, keepdims=False), shape[-2:])
        spread_tap = lax.broadcast_in_dim(tap, shape, (len(shape) - 2, len(shape) - 1))
        spread_part = lax.broadcast_in_dim(part, shape, range(len(shape) - 1))
        total = lax.add(total, lax.mul(spread_part, spread_tap))
    y = lax.reshape(total, (*shape[:-2], w.shape[-1]))
    return lax.transpose(y, (0, y.ndim - 1, *range(1, y.ndim - 1))) if at.first else y


def filter_by_offset(
    x: JaxArray, g: JaxArray, shape: tuple[int, ...], at: Windows, groups: int
) -> JaxArray:
    """The gradient by a depthwise filter: for each place of the window a sum of products.

    Products are made, and some of them added up on the way, in one quick loop.
    """
    window, last = shape[:-2], at._replace(first=False)
    x, g = channels_last(x, at), channels_last(g, at)
    padded = lax.optimization_barrier(_padded(x, pairs_of(x.shape, window, last)))
    if shape[-1] != groups:  # an axis of one number would keep XLA from vector code
        g = lax.reshape(g, (*g.shape[:-1], groups, shape[-1] // groups))
    starts = offsets(window, at.dilations)
    products = [_products(padded, g, s, at.strides) for s in starts]
    sums = [fold(p, 0, lax.add, tuple(range(x.ndim - 1))) for p in products]
    return lax.reshape(lax.concatenate([lax.expand_dims(s, (0,)) for s in sums], 0), shape)


def _products(
    padded: JaxArray, g: JaxArray, start: tuple[int, ...], strides: tuple[int, ...]
) -> JaxArray:
    """The products of `g` with what one place of the window meets, partly added up.

    The axis that is cut into parts to be added is that of the images, or of their rows.
    """
    folds = [next(f for f in range(_FOLD, 0, -1) if g.shape[axis] % f == 0) for axis in (0, 1)]
    axis = int(folds[1] > folds[0])
    count = g.shape[axis] // folds[axis]
    first, steps = (0, *start, 0), (1, *strides, 1)
    parts = []
    for k in range(folds[axis]):
        part = lax.slice_in_dim(g, k * count, (k + 1) * count, axis=axis)
        at = [
            n + k * count * s if i == axis else n
            for i, (n, s) in enumerate(zip(first, steps, strict=True))
        ]
        met = strided(padded, tuple(at), part.shape[: padded.ndim], steps)
        parts.append(lax.mul(lax.broadcast_in_dim(met, part.shape, range(met.ndim)), part))
    return functools.reduce(lax.add, parts)
