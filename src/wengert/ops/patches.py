"""Windows of images: patches on a grid, the sum of patches (its transpose), glimpses.

Glimpses lie around places of their own in each image, as recurrent attention takes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import OutOfRangeError
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    lax,
    need_rank,
    operand,
    require,
    static,
    static_tuple,
    tf,
    with_fallback,
    with_length,
)
from wengert.ops.shape_checks import sized
from wengert.ops.sizes import checked, factor
from wengert.ops.sliding import extent, outer_sizes

Pair = tuple[int, int]


def _extent(size: int, patch: int, stride: int, rate: int, same: bool) -> tuple[int, int, int]:
    """How many patches fit along an axis, and the padding before and after."""
    reach = (patch - 1) * rate + 1
    if not same:
        return max(0, (size - reach) // stride + 1), 0, 0
    count = -(-size // stride)
    total = max(0, (count - 1) * stride + reach - size)
    return count, total // 2, total - total // 2


def _layout(
    shape: tuple[int, ...], sizes: Pair, strides: Pair, rates: Pair, same: bool
) -> tuple[Pair, list[Pair]]:
    rows = _extent(shape[1], sizes[0], strides[0], rates[0], same)
    columns = _extent(shape[2], sizes[1], strides[1], rates[1], same)
    return (rows[0], columns[0]), [rows[1:], columns[1:]]


def _windows(count: Pair, sizes: Pair, strides: Pair, rates: Pair) -> list[tuple[slice, slice]]:
    """For each place in a patch, the elements of the padded image that all patches have there."""
    return [
        (
            slice(i * rates[0], i * rates[0] + (count[0] - 1) * strides[0] + 1, strides[0]),
            slice(j * rates[1], j * rates[1] + (count[1] - 1) * strides[1] + 1, strides[1]),
        )
        for i in range(sizes[0])
        for j in range(sizes[1])
    ]


def _patches_kernel(
    x: np.ndarray, sizes: Pair, strides: Pair, rates: Pair, same: bool
) -> np.ndarray:
    count, edges = _layout(x.shape, sizes, strides, rates, same)
    batch, channels = x.shape[0], x.shape[3]
    out = np.zeros((batch, *count, sizes[0] * sizes[1], channels), x.dtype)
    if out.size:
        wide = np.pad(x, [(0, 0), *edges, (0, 0)])
        for k, (rows, columns) in enumerate(_windows(count, sizes, strides, rates)):
            out[:, :, :, k] = wide[:, rows, columns]
    return (
        out.reshape(batch, *count, -1)
        if out.size
        else out.reshape(batch, *count, sizes[0] * sizes[1] * channels)
    )


def _infer_patches(
    x: ShapeDtype, sizes: Pair, strides: Pair, rates: Pair, same: bool
) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype((None,) * 4, x.dtype)
    require(len(x.shape) == 4, "extract_patches", "a batch of images of rank 4 is needed", x)
    outer_sizes(
        "extract_patches", x.shape[1:3], extent(sizes, rates), strides, "SAME" if same else "VALID"
    )
    counts = [
        None if d is None else _extent(d, p, s, r, same)[0]
        for d, p, s, r in zip(x.shape[1:3], sizes, strides, rates, strict=True)
    ]
    depth = None if x.shape[3] is None else sizes[0] * sizes[1] * x.shape[3]
    return ShapeDtype((x.shape[0], *counts, depth), x.dtype)


def _lower_patches(x: JaxArray, sizes: Pair, strides: Pair, rates: Pair, same: bool) -> JaxArray:
    count, edges = _layout(x.shape, sizes, strides, rates, same)
    shape = (x.shape[0], *count, sizes[0] * sizes[1] * x.shape[3])
    if 0 in shape:
        return lax.full(shape, 0, x.dtype)
    zero = lax.full((), 0, x.dtype)
    wide = lax.pad(x, zero, [(0, 0, 0), *((a, b, 0) for a, b in edges), (0, 0, 0)])
    parts = [
        lax.slice(
            wide, (0, r.start, c.start, 0), (x.shape[0], r.stop, c.stop, x.shape[3]),
            (1, *strides, 1),
        )
        for r, c in _windows(count, sizes, strides, rates)
    ]  # fmt: skip
    return lax.concatenate(parts, 3)


EXTRACT_PATCHES = Op(
    "extract_patches",
    "x",
    kernel=checked(_patches_kernel, _infer_patches),
    infer=_infer_patches,
    lower=checked(_lower_patches, _infer_patches),
    grad=lambda g, x_shape, sizes, strides, rates, same: apply(
        ADD_PATCHES, g, shape=tuple(x_shape), sizes=sizes, strides=strides, rates=rates, same=same
    ),
    accepts=dtypes.nums("biufc"),
)


def _add_kernel(
    g: np.ndarray, shape: tuple[int, ...], sizes: Pair, strides: Pair, rates: Pair, same: bool
) -> np.ndarray:
    count, edges = _layout(shape, sizes, strides, rates, same)
    height, width = (d + a + b for d, (a, b) in zip(shape[1:3], edges, strict=True))
    wide = np.zeros((shape[0], height, width, shape[3]), g.dtype)
    if g.size:
        parts = g.reshape(shape[0], *count, sizes[0] * sizes[1], shape[3])
        for k, (rows, columns) in enumerate(_windows(count, sizes, strides, rates)):
            wide[:, rows, columns] += parts[:, :, :, k]
    (top, _), (left, _) = edges
    return wide[:, top : top + shape[1], left : left + shape[2]]


def _lower_add(
    g: Any, shape: tuple[int, ...], sizes: Pair, strides: Pair, rates: Pair, same: bool
) -> Any:
    count, edges = _layout(shape, sizes, strides, rates, same)
    if not g.size:
        return lax.full(shape, 0, g.dtype)
    (top, bottom), (left, right) = edges
    height, width = shape[1] + top + bottom, shape[2] + left + right
    zero = lax.full((), 0, g.dtype)
    total: Any = None
    for k, (r, c) in enumerate(_windows(count, sizes, strides, rates)):
        part = lax.slice_in_dim(g, k * shape[3], (k + 1) * shape[3], axis=3)
        spread = lax.pad(
            part, zero,
            [(0, 0, 0), (r.start - top, height - r.stop - bottom, strides[0] - 1),
             (c.start - left, width - c.stop - right, strides[1] - 1), (0, 0, 0)],
        )  # fmt: skip
        total = spread if total is None else total + spread
    return total


ADD_PATCHES = Op(
    "add_patches",
    "g",
    kernel=_add_kernel,
    infer=lambda g, shape, sizes, strides, rates, same: ShapeDtype(shape, g.dtype),
    lower=_lower_add,
    grad=lambda h, sizes, strides, rates, same: apply(
        EXTRACT_PATCHES, h, sizes=sizes, strides=strides, rates=rates, same=same
    ),
    accepts=dtypes.INEXACT,
)


def _inner(what: str, given: TensorLike) -> Pair:
    result = static("extract_patches", given)
    require(
        isinstance(result, tuple) and len(result) == 4 and result[0] == 1 and result[3] == 1,
        "extract_patches",
        f"`{what}` must be [1, rows, columns, 1]; got {given}",
    )
    require(
        min(result) >= 1,
        "extract_patches",
        f"`{what}` must be positive; got {given}",
        kind=OutOfRangeError,
    )
    return result[1], result[2]


@with_fallback
def extract_patches(
    images: TensorLike,
    sizes: TensorLike,
    strides: TensorLike,
    rates: TensorLike,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """Collects the patches of images in the depth of the result: rows, columns, then channels.

    `rates` leave gaps in a patch; "SAME" fills up with zeros so that every stride has a patch.
    """
    x = operand(images)
    require(
        padding in ("SAME", "VALID"),
        "extract_patches",
        f"`padding` must be 'SAME' or 'VALID'; got {padding!r}",
    )
    require(x._array.ndim == 4, "extract_patches", "a batch of images of rank 4 is needed", x)
    window, steps = _inner("sizes", sizes), _inner("strides", strides)
    gaps = _inner("rates", rates)
    return apply(
        EXTRACT_PATCHES, x, sizes=window, strides=steps, rates=gaps, same=padding == "SAME"
    )


_IMAGE = [1, 2, 3]


def _noise(kind: str, x: Value, like: Tensor) -> Tensor:
    """What stands where a glimpse leaves its image; the numbers are like those of the image."""
    if kind == "zero":
        return tf.zeros_like(like)
    if kind == "uniform":
        low, high = (f(x, _IMAGE, keepdims=True) for f in (tf.reduce_min, tf.reduce_max))
        return low + tf.uniform(tf.shape(like)) * (high - low)
    mean = tf.reduce_mean(x, _IMAGE, keepdims=True)
    spread = tf.reduce_mean((x - mean) ** 2, _IMAGE, keepdims=True) ** 0.5
    return mean + tf.normal(tf.shape(like)) * spread


def _places(
    x: Value, axis: int, at: Tensor, count: int, centered: bool, normalized: bool
) -> tuple[Tensor, Tensor]:
    """Which rows (or columns) of its image each glimpse shows, and which of them there are."""
    size = x._array.shape[axis]
    n, half = factor(size, dtypes.float32), factor(count, dtypes.float32) / 2
    if normalized:
        at = at * n / 2 + (n / 2 - half) if centered else at * n
    elif centered:
        at = at + n / 2
    result = tf.expand_dims(tf.cast(at, dtypes.int32), 1) + tf.range(count)
    last = operand(size, dtypes.int32) - 1
    return tf.clip_by_value(result, 0, last), (result >= 0) & (result <= last)


@with_fallback
def extract_glimpse(
    input: TensorLike, size: TensorLike, offsets: TensorLike, centered: bool = True, normalized: bool = True,
    noise: str = "uniform", name: str | None = None,
) -> Tensor:  # fmt: skip
    """A window of `size` from each image, at the place [y, x] that `offsets` gives it.

    Offsets are parts of the image's size (pixels without `normalized`): `centered`, from -1 to 1
    with the middle of the window at 0 in the middle of the image; else of its upper left corner.
    Outside of the image there is noise: "uniform" or "gaussian", like its numbers, or "zero".
    """
    which = "extract_glimpse"
    x, at = operand(input, dtypes.float32), operand(offsets, dtypes.float32)
    need_rank(which, x, 4, 4)
    need_rank(which, at, 2, 2)
    counts = static_tuple(which, with_length(size, 2), "size")
    require(len(counts) == 2, which, f"`size` must be height and width; got {list(counts)}")
    rule = "`offsets` must be a pair of numbers for each image"
    at = sized(which, rule, at, (x._array.shape[0], 2), x)
    require(
        noise in ("uniform", "gaussian", "zero"),
        which,
        f"`noise` must be 'uniform', 'gaussian' or 'zero'; got {noise!r}",
    )
    how = bool(centered), bool(normalized)
    (rows, above), (columns, across) = (
        _places(x, k + 1, at[:, k], counts[k], *how) for k in range(2)
    )
    result = tf.gather(tf.gather(x, rows, axis=1, batch_dims=1), columns, axis=2, batch_dims=1)
    inside = above[:, :, None, None] & across[:, None, :, None]
    return tf.where(inside, result, _noise(noise, x, result))
