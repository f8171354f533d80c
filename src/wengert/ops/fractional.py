"""Pooling by a factor that is no whole number: windows of two sizes in random order.

The windows along an axis are given by their edges, a tensor: window `i` reaches from edge `i` to
edge `i + 1`, which belongs to it only where windows overlap. Edges are made in whole numbers, the
same on every engine. The sizes of windows differ by one at most, which bounds them where XLA must
know. The largest number is found by `fractional_argmax` and picked by a gather; the mean is a sum
of gathers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.core.lazy_modules import Lazy
from wengert.ops import distributions
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    formula,
    jnp,
    operand,
    require,
    require_dtype,
    smaller,
    static_float,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.seeds import fixed_state, next_state

_TYPES = dtypes.nums("f", "int32", "int64")


def _span(size: Any, count: int | Dim, overlapping: bool) -> int | None:
    """How many elements the largest window may have."""
    return -(-size // count) + overlapping


def _windows(
    xp: ModuleType | Lazy, edges: JaxArray | np.ndarray, size: int, overlapping: bool
) -> JaxArray | np.ndarray:
    """The elements of each window; the last one again where a window has fewer than others."""
    last = xp.minimum(edges[1:] - (not overlapping), size - 1)
    span = _span(size, edges.shape[0] - 1, overlapping)
    return xp.minimum(edges[:-1, None] + xp.arange(span), last[:, None])


def _first_max(
    xp: ModuleType | Lazy,
    x: JaxArray | np.ndarray,
    place: JaxArray | np.ndarray,
    elements: JaxArray | np.ndarray,
    axis: int,
) -> tuple[JaxArray | np.ndarray, JaxArray | np.ndarray]:
    """The first maximum of each window along an axis and its place; NaN is above all."""
    pick = functools.partial(xp.take, axis=axis, mode="clip")
    best, result = pick(x, elements[:, 0]), pick(place, elements[:, 0])
    for t in range(1, elements.shape[1]):
        part = pick(x, elements[:, t])
        better = (part > best) | ((part != part) & (best == best))  # NaN
        best = xp.where(better, part, best)
        result = xp.where(better, pick(place, elements[:, t]), result)
    return best, result


def _argmax(
    xp: ModuleType | Lazy,
    x: JaxArray | np.ndarray,
    rows: JaxArray | np.ndarray,
    columns: JaxArray | np.ndarray,
    overlapping: bool,
) -> JaxArray | np.ndarray:
    _, height, width, channels = x.shape
    place = xp.arange(height * width * channels).reshape(1, height, width, channels)
    place = xp.broadcast_to(place, x.shape)
    across = _windows(xp, columns, width, overlapping)
    best, place = _first_max(xp, x, place, across, 2)
    return _first_max(xp, best, place, _windows(xp, rows, height, overlapping), 1)[1]


def _infer_argmax(
    x: ShapeDtype, rows: ShapeDtype, columns: ShapeDtype, overlapping: bool
) -> ShapeDtype:
    ranks = [None if s.shape is None else len(s.shape) for s in (x, rows, columns)]
    require(
        all(rank in (None, wanted) for rank, wanted in zip(ranks, (4, 1, 1), strict=True)),
        "fractional_argmax",
        "an image must have rank 4, edges rank 1",
        x,
        rows,
        columns,
    )
    batch, *_, channels = x.shape or (None,) * 4
    counts = [
        None if edges.shape is None or edges.shape[0] is None else edges.shape[0] - 1
        for edges in (rows, columns)
    ]
    return ShapeDtype((batch, *counts, channels), dtypes.int64)


# Where in its image the largest number of each window lies, the first of equal ones in row order.
ARGMAX = Op(
    "fractional_argmax",
    "x rows columns",
    kernel=lambda x, rows, columns, overlapping: _argmax(np, x, rows, columns, overlapping),
    infer=_infer_argmax,
    # `jnp` has NumPy's functions, so that one text serves both engines.
    lower=lambda x, rows, columns, overlapping: _argmax(jnp, x, rows, columns, overlapping),
    grad=None,
    accepts=_TYPES,
    match=(1, 2),
)


@with_fallback
def largest(x: Tensor, rows: Tensor, columns: Tensor, overlapping: bool) -> Tensor:
    """The largest number of each window between edges; its gradient goes to the first."""
    place = apply(ARGMAX, x, rows, columns, overlapping=overlapping)
    batch, *sizes = x._array.shape
    flat = tf.reshape(x, (batch, sizes[0] * sizes[1] * sizes[2]))
    return tf.gather(flat, place, axis=1, batch_dims=1)


def _sum_along(x: Tensor, edges: Tensor, axis: int, overlapping: bool) -> tuple[Tensor, Tensor]:
    """The sum of each window along an axis, and how many elements it has."""
    size, count = x._array.shape[axis], edges._array.shape[0] - 1
    last = tf.minimum(edges[1:] - (not overlapping), operand(size - 1, dtypes.int64))
    span = _span(size, count, overlapping)
    elements = edges[:-1, None] + tf.range(span, dtype=dtypes.int64)
    inside = elements <= last[:, None]
    parts = tf.gather(x, tf.minimum(elements, last[:, None]), axis=axis)
    inside = tf.reshape(inside, (count, span) + (1,) * (x._array.ndim - axis - 1))
    total = tf.reduce_sum(tf.where(inside, parts, tf.zeros_like(parts)), axis + 1)
    return total, last - edges[:-1] + 1


def mean(x: Tensor, rows: Tensor, columns: Tensor, overlapping: bool) -> Tensor:
    """The mean of each window between edges; that of whole numbers is cut towards zero."""
    kind = x.dtype
    if kind.is_floating and kind.size == 2:
        x = tf.cast(x, dtypes.float32)
    total, down = _sum_along(x, rows, 1, overlapping)
    total, across = _sum_along(total, columns, 2, overlapping)
    area = tf.cast((down[:, None] * across)[:, :, None], x.dtype)
    return tf.cast((tf.truncatediv if kind.is_integer else tf.truediv)(total, area), kind)


def _edges(state: Tensor, size: int | Dim, count: Any, pseudo_random: bool) -> Tensor:
    """The edges of `count` windows over `size` elements, of sizes `size // count` or one more.

    Random windows have their sizes in any order, each as likely. Pseudo-random ones are cut at
    even distances from a random start, which leaves the first and the last window such a size.
    """
    whole = functools.partial(operand, dtype=dtypes.int64)
    rest = size % count
    if pseudo_random:
        starts = smaller(2 * count - rest, count + rest)
        start = distributions.integers(state, whole(0), whole(starts), ())
        inner = (tf.range(1, count, dtype=dtypes.int64) * whole(size) + start) // whole(count)
        return tf.concat([[whole(0)], inner, [whole(size)]], 0)
    order = tf.cast(distributions.permutation(state, count), dtypes.int64)
    sizes = tf.cast(order < whole(rest), dtypes.int64) + whole(size // count)
    return tf.concat([[whole(0)], tf.cumsum(sizes)], 0)


@formula
def _count(size: int, ratio: float, name: str) -> int:
    """How many windows an axis has, computed in single precision as TensorFlow does."""
    result = int(np.float32(size) / np.float32(ratio))
    require(result >= 1, name, f"a `pooling_ratio` of {ratio} is too large for a size of {size}")
    return result


def _ratios(name: str, given: TensorLike) -> list[float]:
    """The factors for height and width."""
    each = list(given) if isinstance(given, list | tuple) else [given]
    results = [static_float(name, ratio, "pooling_ratio") for ratio in each]
    require(
        len(results) in (1, 2, 4),
        name,
        f"`pooling_ratio` must have 1, 2 or 4 entries; got {results}",
    )
    require(
        all(ratio >= 1.0 for ratio in results),
        name,
        f"`pooling_ratio` must be 1.0 or more; got {results}",
    )
    require(
        len(results) != 4 or (results[0], results[3]) == (1.0, 1.0),
        name,
        f"`pooling_ratio` of the batch and channel axes must be 1.0; got {results}",
    )
    return results[1:3] if len(results) == 4 else [results[0], results[-1]]


class FractionalPool(NamedTuple):
    """The largest number or the mean of each window, and where the windows begin and end."""

    output: Any
    row_pooling_sequence: Any
    col_pooling_sequence: Any


def _pooled(
    name: str, pool: Callable[..., Any], value: TensorLike, pooling_ratio: TensorLike, pseudo_random: bool,
    overlapping: bool, seed: TensorLike,
) -> FractionalPool:  # fmt: skip
    x = operand(value)
    require(
        x.ndim == 4,
        name,
        "`value` must have rank 4",
        x,
        help="An image is [batch, height, width, channels].",
    )
    require_dtype(
        x._array.dtype.num in _TYPES,
        name,
        f"dtype {x.dtype.name} is not supported",
        help="Use a floating type, int32 or int64.",
    )
    ratios, number = _ratios(name, pooling_ratio), static_int(name, seed or 0, "seed")
    edges = []
    for side, size, ratio in zip(("rows", "columns"), x._array.shape[1:3], ratios, strict=True):
        state = fixed_state(f"fractional {side}", number) if number else next_state(name)
        edges.append(_edges(state, size, _count(size, ratio, name), bool(pseudo_random)))
    return FractionalPool(pool(x, *edges, bool(overlapping)), *edges)


@with_fallback
def fractional_max_pool(
    value: TensorLike, pooling_ratio: TensorLike, pseudo_random: bool = False, overlapping: bool = False,
    seed: TensorLike = 0, name: str | None = None,
) -> FractionalPool:  # fmt: skip
    """The largest number of each of `size / pooling_ratio` random windows along both sides.

    Windows have two sizes that differ by one. They come in random order, or by a rule with a random
    start (`pseudo_random`), and share their edges where they overlap. With a `seed` that is not 0
    they are the same at each call.
    """
    given = (value, pooling_ratio, pseudo_random, overlapping, seed)
    return _pooled("fractional_max_pool", largest, *given)


@with_fallback
def fractional_avg_pool(
    value: TensorLike, pooling_ratio: TensorLike, pseudo_random: bool = False, overlapping: bool = False,
    seed: TensorLike = 0, name: str | None = None,
) -> FractionalPool:  # fmt: skip
    """The mean of each of `size / pooling_ratio` random windows, as in `fractional_max_pool`."""
    given = (value, pooling_ratio, pseudo_random, overlapping, seed)
    return _pooled("fractional_avg_pool", mean, *given)
