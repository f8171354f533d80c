"""Pooling over sliding windows.

The operations take a window size, stride, pair of paddings and dilation for *every* axis, so
layouts do not matter to them. A window is walked place by place: each place is one strided slice
of the input, which NumPy and XLA both turn into a plain loop. The gradient of the maximum goes to
the first of equal values; NaN in a window makes its maximum NaN, and the first takes the gradient.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.lazy_modules import jax, lax
from wengert.core.types import DType, JaxArray, Op, ShapeDtype
from wengert.ops import public as tf
from wengert.ops.compiled import compiled
from wengert.ops.declare import expand, in_float32, lower_in_float32
from wengert.ops.depthwise_lowerings import strided
from wengert.ops.sliding import extent, offsets, outer_sizes, resolve
from wengert.ops.strided_sums import add_apart

# Beyond this many places a window is left to XLA's own loop over windows.
_MOST_PLACES = 64
# Above this many windows the fused loop of XLA takes a third of the time of NumPy's passes.
_SMALL = 4096


def _lowest(dtype: np.dtype) -> float:
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return -np.inf


def _geometry(
    shape: tuple[int, ...], window: Any, strides: Any, padding: Any, dilations: Any
) -> Any:
    """The padding in pairs and the shape of the result."""
    reach = extent(window, dilations)
    pairs = resolve(shape, reach, strides, padding)
    return pairs, tuple(outer_sizes("pool", shape, reach, strides, pairs))


def _padded(x: np.ndarray, pairs: tuple[tuple[int, ...], ...], value: float) -> np.ndarray:
    if not any(map(any, pairs)):
        return x
    out = np.full([n + a + b for n, (a, b) in zip(x.shape, pairs, strict=True)], value, x.dtype)
    out[_inner(x.shape, pairs)] = x
    return out


def _inner(shape: tuple[int, ...], pairs: tuple[tuple[int, ...], ...]) -> tuple[slice, ...]:
    return tuple(slice(a, a + n) for n, (a, _) in zip(shape, pairs, strict=True))


def _slices(
    counts: tuple[int, ...], window: Any, strides: Any, dilations: Any
) -> list[tuple[slice, ...]]:
    """For each place in the window, the elements of the padded input that lie there."""
    return [
        tuple(
            slice(a, a + (n - 1) * s + 1 if n else a, s)
            for a, n, s in zip(start, counts, strides, strict=True)
        )
        for start in offsets(window, dilations)
    ]


def _max_kernel(
    x: np.ndarray,
    window: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str | tuple[tuple[int, ...], ...],
    dilations: tuple[int, ...],
) -> np.ndarray:
    """The maximum of a window is that of the maxima along each axis, which are fewer steps."""
    pairs, counts = _geometry(x.shape, window, strides, padding, dilations)
    out = _padded(x, pairs, _lowest(x.dtype))
    for axis, (size, step, apart) in enumerate(zip(window, strides, dilations, strict=True)):
        if (size, step) != (1, 1):
            length = (counts[axis] - 1) * step + 1 if counts[axis] else 0
            out = _max_along(out, axis, [k * apart for k in range(size)], length, step)
    return out


def _max_along(x: np.ndarray, axis: int, starts: list[int], length: int, step: int) -> np.ndarray:
    """The largest of slices along one axis, which begin at `starts`."""
    lead = (slice(None),) * axis
    first, *rest = [x[(*lead, slice(k, k + length, step))] for k in starts]
    if not rest:
        return first
    out = np.maximum(first, rest[0])
    for part in rest[1:]:
        np.maximum(out, part, out=out)
    return out


def _infer_pool(
    x: ShapeDtype,
    window: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str | tuple[tuple[int, ...], ...],
    dilations: tuple[int, ...],
) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype((None,) * len(window), x.dtype)
    reach = extent(window, dilations)
    return ShapeDtype(tuple(outer_sizes("pool", x.shape, reach, strides, padding)), x.dtype)


def _lower_max(
    x: JaxArray,
    window: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str | tuple[tuple[int, ...], ...],
    dilations: tuple[int, ...],
) -> JaxArray:
    pairs, _ = _geometry(x.shape, window, strides, padding, dilations)
    low = x.dtype.type(_lowest(np.dtype(x.dtype)))
    return lax.reduce_window(x, low, lax.max, window, strides, pairs, window_dilation=dilations)


def _hits(x: np.ndarray, y: np.ndarray, places: list[tuple[slice, ...]]) -> Any:
    """For each place, where it holds the first maximum of its window; NaN is above all."""
    left = np.ones(y.shape, bool)
    for place in places:
        part = x[place]
        hit = (part == y) | (part != part)  # NaN
        hit &= left
        left ^= hit
        yield place, hit


def _tiles(at: dict[str, Any]) -> bool:
    """Whether windows lie side by side, without overlap or gaps."""
    return at["window"] == at["strides"] and max(at["dilations"]) == 1


def _max_grad_kernel(g: np.ndarray, x: np.ndarray, y: np.ndarray, **at: Any) -> np.ndarray:
    if _tiles(at) and g.size > _SMALL and math.prod(at["window"]) <= _MOST_PLACES:
        return _compiled_max_grad(g, x, y, **at)
    pairs, counts = _geometry(x.shape, **at)
    wide_x = _padded(x, pairs, _lowest(x.dtype))
    out = np.zeros(wide_x.shape, g.dtype)
    places = _slices(counts, at["window"], at["strides"], at["dilations"])
    for place, hit in _hits(wide_x, y, places):
        part = out[place]
        np.add(part, g, part, where=hit)
    return out[_inner(x.shape, pairs)]


def _max_pick_kernel(
    h: np.ndarray, x: np.ndarray, y: np.ndarray, **at: str | tuple[int | tuple[int, ...], ...]
) -> np.ndarray:
    pairs, counts = _geometry(x.shape, **at)
    wide_x = _padded(x, pairs, _lowest(x.dtype))
    wide_h = _padded(h, pairs, 0)
    out = np.zeros(y.shape, h.dtype)
    places = _slices(counts, at["window"], at["strides"], at["dilations"])
    for place, hit in _hits(wide_x, y, places):
        np.add(out, wide_h[place], out, where=hit)
    return out


def _lower_padded(x: JaxArray, pairs: tuple[tuple[int, ...], ...], value: float) -> JaxArray:
    return lax.pad(x, x.dtype.type(value), [(a, b, 0) for a, b in pairs])


def _lower_first(x: JaxArray, shape: tuple[int, ...], at: dict[str, Any]) -> JaxArray:
    """The number of the place that holds the first maximum of each window; NaN is above all.

    Places are compared with each other and not with the maximum: XLA may compute `x` anew for each
    of its uses, each time rounded otherwise, and then none need equal a maximum found elsewhere.
    """
    starts = list(offsets(at["window"], at["dilations"]))
    best = strided(x, starts[-1], shape, at["strides"])
    first = lax.full(best.shape, np.int8(len(starts) - 1))
    for number, start in reversed(list(enumerate(starts[:-1]))):
        part = strided(x, start, shape, at["strides"])
        wins = lax.bitwise_or(lax.ge(part, best), lax.ne(part, part))
        best = lax.select(wins, part, best)
        first = lax.select(wins, lax.full_like(first, number), first)
    return first


def _computed_once(x: JaxArray) -> JaxArray:
    """The numbers of places, none below 0, which XLA on the CPU may not compute for each reader.

    It joins a loop with each loop that reads from it; a window of nine places would compare its
    places nine times over. It joins nothing with a branch, even one that is always taken.
    """
    if any(type(n) is not int or not n for n in x.shape) or jax.default_backend() != "cpu":
        return x
    corner = lax.reshape(lax.slice(x, (0,) * x.ndim, (1,) * x.ndim), ())
    taken = lax.ge(corner, lax.full_like(corner, 0))
    return lax.cond(taken, lambda x: x, lambda x: lax.full_like(x, 0), x)


def _lower_hits(x: JaxArray, y: JaxArray, at: dict[str, Any]) -> Any:
    first = _computed_once(_lower_first(x, y.shape, at))
    for number, start in enumerate(offsets(at["window"], at["dilations"])):
        yield start, lax.eq(first, lax.full_like(first, number))


def _unpadded(x: JaxArray, shape: tuple[int, ...], pairs: tuple[tuple[int, ...], ...]) -> JaxArray:
    starts = [a for a, _ in pairs]
    return lax.slice(x, starts, [a + n for a, n in zip(starts, shape, strict=True)])


def _lower_max_grad(g: JaxArray, x: JaxArray, y: JaxArray, **at: Any) -> JaxArray:
    if not g.size:
        return lax.full(x.shape, g.dtype.type(0))
    pairs, _ = _geometry(x.shape, **at)
    if math.prod(at["window"]) > _MOST_PLACES:
        return _lower_max_grad_large(g, x, pairs, at)
    wide_x = _lower_padded(x, pairs, _lowest(np.dtype(x.dtype)))
    if _tiles(at):
        total = _lower_tiled_grad(g, wide_x, y, at)
    else:
        parts = [
            (start, lax.select(hit, g, lax.full_like(g, 0)))
            for start, hit in _lower_hits(wide_x, y, at)
        ]
        total = add_apart(parts, wide_x.shape, at["strides"])
    return _unpadded(total, x.shape, pairs)


def _lower_tiled_grad(g: JaxArray, x: JaxArray, y: Any, at: dict[str, Any]) -> JaxArray:
    """Numbers the first maximum of each window, then spreads `g` to the elements so numbered."""
    window = at["window"]
    first = _lower_first(x, y.shape, at)
    tiles = tuple(d for pair in zip(y.shape, window, strict=True) for d in pair)
    outer = range(0, len(tiles), 2)
    numbers = np.arange(math.prod(window), dtype=np.int8).reshape(window)
    mine = lax.broadcast_in_dim(numbers, tiles, range(1, len(tiles), 2))
    chosen = lax.eq(lax.broadcast_in_dim(first, tiles, outer), mine)
    spread_g = lax.broadcast_in_dim(g, tiles, outer)
    out = lax.select(chosen, spread_g, lax.full_like(spread_g, 0))
    covered = tuple(n * k for n, k in zip(y.shape, window, strict=True))
    rest = [(0, size - n, 0) for size, n in zip(x.shape, covered, strict=True)]
    return lax.pad(lax.reshape(out, covered), g.dtype.type(0), rest)


def _first_max(x: JaxArray, pairs: tuple[tuple[int, ...], ...], at: dict[str, Any]) -> JaxArray:
    """The flat index in `x` of the first maximum of each window."""
    index = lax.reshape(lax.iota(np.int32, math.prod(x.shape)), x.shape)

    def better(a: tuple[JaxArray, ...], b: tuple[JaxArray, ...]) -> tuple[JaxArray, JaxArray]:
        (x1, i1), (x2, i2) = a, b
        odd1, odd2 = lax.ne(x1, x1), lax.ne(x2, x2)  # NaN is above all
        above = lax.gt(x1, x2) | (odd1 & ~odd2)
        wins = above | ((lax.eq(x1, x2) | (odd1 & odd2)) & lax.lt(i1, i2))
        return lax.select(wins, x1, x2), lax.select(wins, i1, i2)

    low = x.dtype.type(_lowest(np.dtype(x.dtype)))
    return lax.reduce_window(
        (x, index), (low, np.int32(np.iinfo(np.int32).max)), better, at["window"],
        at["strides"], pairs, window_dilation=at["dilations"],
    )[1]  # fmt: skip


def _lower_max_grad_large(
    g: JaxArray, x: JaxArray, pairs: tuple[tuple[int, ...], ...], at: dict[str, Any]
) -> JaxArray:
    from wengert.core.lazy_modules import jnp

    # `.at[].add` builds the scatter dimension numbers that `lax.scatter_add` would want.
    places = lax.reshape(_first_max(x, pairs, at), (g.size,))
    flat = jnp.zeros((math.prod(x.shape),), g.dtype).at[places].add(lax.reshape(g, (g.size,)))
    return lax.reshape(flat, x.shape)


_compiled_max_grad = compiled(_lower_max_grad)


def _lower_max_pick(h: JaxArray, x: JaxArray, y: JaxArray, **at: Any) -> JaxArray:
    if not y.size:
        return lax.full(y.shape, h.dtype.type(0))
    pairs, _ = _geometry(x.shape, **at)
    if math.prod(at["window"]) > _MOST_PLACES:
        return lax.reshape(h, (h.size,))[_first_max(x, pairs, at)]
    wide_x = _lower_padded(x, pairs, _lowest(np.dtype(x.dtype)))
    wide_h = _lower_padded(h, pairs, 0)
    total = lax.full(y.shape, h.dtype.type(0))
    for start, hit in _lower_hits(wide_x, y, at):
        part = strided(wide_h, start, y.shape, at["strides"])
        total = lax.add(total, lax.select(hit, part, lax.full_like(part, 0)))
    return total


MAX_POOL_PICK = Op(
    "max_pool_pick",
    "h x y",
    kernel=in_float32(_max_pick_kernel),
    infer=lambda h, x, y, **at: ShapeDtype(y.shape, h.dtype),
    lower=lower_in_float32(_lower_max_pick),
    grad=(
        lambda k, x, y, window, strides, padding, dilations: apply(
            MAX_POOL_GRAD, k, x, y, window=window, strides=strides, padding=padding,
            dilations=dilations,
        ),
        None,
        None,
    ),
    accepts=dtypes.FLOAT,
)  # fmt: skip
MAX_POOL_GRAD = Op(
    "max_pool_grad",
    "g x y",
    kernel=in_float32(_max_grad_kernel),
    infer=lambda g, x, y, **at: ShapeDtype(x.shape, g.dtype),
    lower=lower_in_float32(_lower_max_grad),
    grad=(
        lambda h, x, y, window, strides, padding, dilations: apply(
            MAX_POOL_PICK, h, x, y, window=window, strides=strides, padding=padding,
            dilations=dilations,
        ),
        lambda h, x: tf.zeros_like(x),
        None,
    ),
    accepts=dtypes.FLOAT,
)  # fmt: skip
MAX_POOL = Op(
    "max_pool",
    "x",
    kernel=_max_kernel,
    infer=_infer_pool,
    lower=_lower_max,
    grad=lambda g, x, out, window, strides, padding, dilations: apply(
        MAX_POOL_GRAD, g, x, out, window=window, strides=strides, padding=padding,
        dilations=dilations,
    ),
    accepts=dtypes.REAL,
)  # fmt: skip


def _valid(
    shape: tuple[int, ...],
    pairs: tuple[tuple[int, ...], ...],
    counts: tuple[int, ...],
    at: dict[str, Any],
) -> np.ndarray:
    """How many elements of each window lie inside the input; padding does not count."""
    total = np.ones((1,) * len(counts))
    for axis, n in enumerate(counts):
        if at["window"][axis] == 1 and not any(pairs[axis]):
            continue
        starts = np.arange(n) * at["strides"][axis] - pairs[axis][0]
        taps = np.arange(at["window"][axis]) * at["dilations"][axis]
        places = starts[:, None] + taps
        inside = ((places >= 0) & (places < shape[axis])).sum(1)
        total = total * inside.reshape([n if i == axis else 1 for i in range(len(counts))])
    return np.maximum(total, 1)


def _avg_kernel(x: np.ndarray, **at: str | tuple[int | tuple[int, ...], ...]) -> np.ndarray:
    pairs, counts = _geometry(x.shape, **at)
    wide_x = _padded(x, pairs, 0)
    out = np.zeros(counts, x.dtype)
    for place in _slices(counts, at["window"], at["strides"], at["dilations"]):
        out += wide_x[place]
    out /= _valid(x.shape, pairs, counts, at).astype(x.dtype)
    return out


def _avg_grad_kernel(
    g: np.ndarray, shape: tuple[int, ...], **at: str | tuple[int | tuple[int, ...], ...]
) -> np.ndarray:
    pairs, counts = _geometry(shape, **at)
    part = g / _valid(shape, pairs, counts, at).astype(g.dtype)
    out = np.zeros([n + a + b for n, (a, b) in zip(shape, pairs, strict=True)], g.dtype)
    for place in _slices(counts, at["window"], at["strides"], at["dilations"]):
        out[place] += part
    return out[_inner(shape, pairs)]


def _lower_avg(x: JaxArray, **at: str | tuple[int | tuple[int, ...], ...]) -> JaxArray:
    pairs, counts = _geometry(x.shape, **at)
    total = lax.reduce_window(
        x, x.dtype.type(0), lax.add, at["window"], at["strides"], pairs,
        window_dilation=at["dilations"],
    )  # fmt: skip
    valid = expand(_valid(x.shape, pairs, counts, at).astype(x.dtype), tuple(counts))
    return lax.div(total, valid)


def _lower_avg_grad(g: JaxArray, shape: Any, **at: Any) -> JaxArray:
    """Each element of the input collects from the windows that hold it: a window again."""
    pairs, counts = _geometry(shape, **at)
    valid = expand(_valid(shape, pairs, counts, at).astype(g.dtype), tuple(counts))
    if _by_places(counts, shape, at):
        share = lax.div(g, valid)
        wide = tuple(n + a + b for n, (a, b) in zip(shape, pairs, strict=True))
        parts = [(start, share) for start in offsets(at["window"], at["dilations"])]
        return _unpadded(add_apart(parts, wide, at["strides"]), shape, pairs)
    reach = extent(at["window"], at["dilations"])
    back = []
    for n, size, span, s, (low, _) in zip(counts, shape, reach, at["strides"], pairs, strict=True):
        spread = (n - 1) * s + 1 if n else 0
        back.append((span - 1 - low, size - spread + low))
    return lax.reduce_window(
        lax.div(g, valid), g.dtype.type(0), lax.add, at["window"], (1,) * len(shape), back,
        base_dilation=at["strides"], window_dilation=at["dilations"],
    )  # fmt: skip


def _by_places(counts: Any, shape: Any, at: dict[str, Any]) -> bool:
    """Whether the gradient is a sum over the places of the window, which the CPU does quickly."""
    known = all(type(n) is int and n for n in (*counts, *shape))
    return known and math.prod(at["window"]) <= _MOST_PLACES and jax.default_backend() == "cpu"


AVG_POOL_GRAD = Op(
    "avg_pool_grad",
    "g",
    kernel=in_float32(_avg_grad_kernel),
    infer=lambda g, shape, **at: ShapeDtype(tuple(shape), g.dtype),
    lower=lower_in_float32(_lower_avg_grad),
    grad=lambda h, window, strides, padding, dilations: apply(
        AVG_POOL, h, window=window, strides=strides, padding=padding, dilations=dilations
    ),
    accepts=dtypes.FLOAT,
)
AVG_POOL = Op(
    "avg_pool",
    "x",
    kernel=in_float32(_avg_kernel),
    infer=_infer_pool,
    lower=lower_in_float32(_lower_avg),
    grad=lambda g, x_shape, window, strides, padding, dilations: apply(
        AVG_POOL_GRAD, g, shape=tuple(x_shape), window=window, strides=strides, padding=padding,
        dilations=dilations,
    ),
    accepts=dtypes.FLOAT,
)  # fmt: skip


def _arg_kernel(
    x: np.ndarray, y: np.ndarray, batched: bool, dtype: DType, **at: str | tuple[int, ...]
) -> np.ndarray:
    pairs, counts = _geometry(x.shape, **at)
    inner = x.shape if batched else (1, *x.shape[1:])
    index = np.broadcast_to(np.arange(math.prod(inner)).reshape(inner), x.shape)
    wide_index = _padded(index, pairs, 0)
    out = np.zeros(y.shape, dtype.np)
    wide_x = _padded(x, pairs, _lowest(x.dtype))
    places = _slices(counts, at["window"], at["strides"], at["dilations"])
    for place, hit in _hits(wide_x, y, places):
        np.copyto(out, wide_index[place], where=hit, casting="unsafe")
    return out


def _lower_arg(
    x: JaxArray, y: JaxArray, batched: bool, dtype: DType, **at: str | tuple[int, ...]
) -> JaxArray:
    if not y.size:
        return lax.full(y.shape, dtype.np.type(0))
    pairs, _ = _geometry(x.shape, **at)
    result = lax.convert_element_type(_first_max(x, pairs, at), dtype.np)
    if batched or not x.size:
        return result
    return lax.rem(result, lax.full_like(result, math.prod(x.shape[1:])))


MAX_POOL_ARG = Op(
    "max_pool_arg",
    "x y",
    kernel=_arg_kernel,
    infer=lambda x, y, batched, dtype, **at: ShapeDtype(y.shape, dtype),
    lower=_lower_arg,
    grad=None,
    accepts=dtypes.REAL,
)
