"""Grey-scale dilation and erosion of images by a filter of their own for each channel.

`dilation2d_place` finds where in image and filter the first of the largest sums of each window
stands; two gathers fetch the numbers from there and bring derivatives of any order. Places outside
the image count for nothing, NaN is above all. Where nothing lies above the lowest number of the
dtype, that number is the result, as in TensorFlow, and no gradient is passed on.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from wengert.core.lazy_modules import Lazy
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    invalid,
    invalid_dtype,
    jnp,
    known_unequal,
    lax,
    operand,
    require,
    tf,
    with_fallback,
)
from wengert.ops.sizes import checked
from wengert.ops.sliding import extent, outer_sizes, per_axis, resolve
from wengert.ops.threads import in_batches


def _walk(
    count: int, step: Callable[[int, Any], Any], state: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray] | tuple[np.ndarray, ...]:
    """`step(number, state)` for each number below `count`."""
    for number in range(count):
        state = step(number, state)
    return state


def _places(
    xp: ModuleType | Lazy,
    walk: Any,
    x: Any,
    w: JaxArray | np.ndarray,
    strides: tuple[int, ...],
    padding: str,
    dilations: tuple[int, ...],
) -> tuple[Any, Any, Any]:
    """Flat indices of the largest sums into image and filter, and whether there is one."""
    batch, height, width, channels = x.shape
    reach = extent(w.shape[:2], dilations)
    counts = outer_sizes("dilation2d", (height, width), reach, strides, padding)
    (above, _), (before, _) = resolve((height, width), reach, strides, padding)
    top = np.arange(counts[0]) * strides[0] - above
    left = np.arange(counts[1]) * strides[1] - before
    taps = xp.asarray(w).reshape(w.shape[0] * w.shape[1], channels)  # XLA indexes no NumPy array

    def step(number: int, state: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        best, tap = state
        rows = top + number // w.shape[1] * dilations[0]
        columns = left + number % w.shape[1] * dilations[1]
        part = xp.take(xp.take(x, rows, 1, mode="clip"), columns, 2, mode="clip") + taps[number]
        inside = ((rows >= 0) & (rows < height))[:, None] & (columns >= 0) & (columns < width)
        better = (part > best) | ((part != part) & (best == best))  # NaN
        hit = inside[:, :, None] & better
        return xp.where(hit, part, best), xp.where(hit, number, tap)

    shape = (batch, *counts, channels)
    best, none = xp.full(shape, dtypes.of(x).min, x.dtype), xp.full(shape, -1)
    tap = walk(len(taps), step, (best, none))[1]
    result, tap = tap >= 0, xp.maximum(tap, 0)
    rows = top[:, None, None] + tap // w.shape[1] * dilations[0]
    columns = left[:, None] + tap % w.shape[1] * dilations[1]
    channel = np.arange(channels)
    index = (rows * width + columns) * channels + channel
    return xp.where(result, index, 0), tap * channels + channel, result


def _infer_places(
    x: ShapeDtype, w: ShapeDtype, strides: tuple[int, ...], padding: str, dilations: Any
) -> list[ShapeDtype]:
    batch, *sizes, channels = x.shape or (None,) * 4
    *window, depth = w.shape or (None,) * 3
    require(
        not known_unequal(channels, depth),
        "dilation2d",
        "image and filter must have as many channels",
        x,
        w,
    )
    require(0 not in window, "dilation2d", "`filters` must not be empty", x, w)
    reach = [k and (k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    counts = outer_sizes("dilation2d", sizes, reach, strides, padding)
    shape = (batch, *counts, depth if channels is None else channels)
    return [ShapeDtype(shape, kind) for kind in (dtypes.int64, dtypes.int64, dtypes.bool_)]


PLACES = Op(
    "dilation2d_place",
    "x w",
    kernel=checked(in_batches(lambda x, w, **at: _places(np, _walk, x, w, **at)), _infer_places),
    infer=_infer_places,
    # `jnp` has NumPy's functions, so that one text serves both engines.
    lower=checked(
        lambda x, w, **at: _places(jnp, lambda *a: lax.fori_loop(0, *a), x, w, **at), _infer_places
    ),
    grad=None,
    accepts=dtypes.REAL,
    outputs=3,
)


def _dilated(x: Tensor, w: Tensor, at: dict[str, str | tuple[int, ...]]) -> Tensor:
    index, tap, result = apply(PLACES, x, w, **at)
    batch, height, width, channels = x._array.shape
    pixels = tf.gather(
        tf.reshape(x, (batch, height * width * channels)), index, axis=1, batch_dims=1
    )
    return tf.where(
        result, pixels + tf.gather(tf.reshape(w, (-1,)), tap), operand(x.dtype.min, x.dtype)
    )


def _arguments(
    name: str, first: str, image: TensorLike, filters: TensorLike, strides: TensorLike, padding: str, data_format: str,
    dilations: TensorLike,
) -> tuple[Any, Any, dict[str, Any]]:  # fmt: skip
    """Image, filter and attributes of a dilation; `first` is what the image is called."""
    x = operand(image)
    w = operand(filters, None, x.dtype)
    require(
        x.ndim == 4 and w.ndim == 3,
        name,
        f"`{first}` must have rank 4, `filters` rank 3",
        x,
        w,
        help="They are [batch, height, width, channels] and [height, width, channels].",
    )
    require(data_format == "NHWC", name, f"`data_format` must be 'NHWC'; got {data_format!r}")
    if padding not in ("SAME", "VALID"):
        error = invalid if isinstance(padding, str) else invalid_dtype
        raise error(name, f"`padding` must be 'SAME' or 'VALID'; got {padding!r}")
    steps = per_axis(name, "strides", strides, 2, False)
    rates = per_axis(name, "dilations", dilations, 2, False)
    return x, w, {"strides": steps, "padding": padding, "dilations": rates}


@with_fallback
def dilation2d(
    input: TensorLike, filters: TensorLike, strides: TensorLike, padding: str, data_format: str, dilations: TensorLike,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The largest sum of image and filter in each window; ties give the gradient to the first."""
    given = (filters, strides, padding, data_format, dilations)
    return _dilated(*_arguments("dilation2d", "input", input, *given))


@with_fallback
def erosion2d(
    value: TensorLike, filters: TensorLike, strides: TensorLike, padding: str, data_format: str, dilations: TensorLike,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The least difference of image and mirrored filter in each window: a dilation of `-value`."""
    given = (filters, strides, padding, data_format, dilations)
    x, w, at = _arguments("erosion2d", "value", value, *given)
    return tf.negative(_dilated(tf.negative(x), tf.reverse(w, [0, 1]), at))
