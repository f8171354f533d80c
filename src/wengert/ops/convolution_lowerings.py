"""How convolutions and their two transposes are said to XLA, on the CPU and elsewhere.

XLA's code for the CPU is quick for plain convolutions along a line and in the plane. Groups,
channels of their own and convolutions in space are put together from those.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.core.lazy_modules import jax, lax
from wengert.core.types import JaxArray
from wengert.ops import sliding as geometry
from wengert.ops.declare import lower_in_float32
from wengert.ops.depthwise_lowerings import by_offset, filter_by_offset, pairs_of, strided
from wengert.ops.sliding import Windows, extent, outer_sizes

_NAMES = {1: "W", 2: "HW", 3: "DHW"}


def _numbers(spatial: int, first: bool) -> tuple[str, str, str]:
    axes = _NAMES[spatial]
    image = f"NC{axes}" if first else f"N{axes}C"
    return image, f"{axes}IO", image


def _wide_type(x: JaxArray | np.ndarray) -> type | None:
    """Half precision is summed in float32."""
    return np.float32 if x.dtype.kind in "fV" and x.dtype.itemsize == 2 else None


def _narrow(y: JaxArray, x: JaxArray | np.ndarray) -> JaxArray:
    return lax.convert_element_type(y, x.dtype)


def _plain(
    x: JaxArray | np.ndarray, w: JaxArray | np.ndarray, at: Windows, groups: int
) -> JaxArray:
    spatial = w.ndim - 2
    y = lax.conv_general_dilated(
        x,
        w,
        at.strides,
        pairs_of(x.shape, w.shape[:spatial], at),
        rhs_dilation=at.dilations,
        dimension_numbers=_numbers(spatial, at.first),
        feature_group_count=groups,
        preferred_element_type=_wide_type(x),
    )
    return _narrow(y, x)


def _by_group(x: JaxArray, w: JaxArray, at: Windows, groups: int) -> JaxArray:
    """One convolution per group, which XLA on the CPU runs far faster than a grouped one."""
    axis = 1 if at.first else x.ndim - 1
    xs = lax.split(x, [x.shape[axis] // groups] * groups, axis)
    ws = lax.split(w, [w.shape[-1] // groups] * groups, w.ndim - 1)
    return lax.concatenate([_plain(a, b, at, 1) for a, b in zip(xs, ws, strict=True)], axis)


@lower_in_float32
def _on_cpu(x: JaxArray, w: JaxArray, at: Windows, groups: int) -> JaxArray:
    depthwise = w.shape[-2] == 1
    return (by_offset if depthwise else _by_group)(x, w, at, groups)


class _Layers(NamedTuple):
    """A convolution in space as convolutions in the plane, one for each layer of the window.

    XLA on the CPU has quick code for those in the plane only.
    """

    flat: Windows
    depth: tuple[int, int]
    stride: int
    dilation: int
    places: int

    @staticmethod
    def of(shape: tuple[int, ...], window: tuple[int, ...], at: Windows) -> _Layers:
        pairs = pairs_of(shape, window, at)
        reach = extent(window, at.dilations)
        sizes = geometry.split(shape, at.first)[2]
        count = outer_sizes("conv", sizes, reach, at.strides, pairs)[0]
        flat = Windows(at.strides[1:], tuple(pairs[1:]), at.dilations[1:], False)
        return _Layers(flat, pairs[0], at.strides[0], at.dilations[0], count)

    def frames(self, x: JaxArray) -> Callable[[int], Any]:
        """From the number of a layer to the images that it meets, for all examples and places."""
        rest = [(0, 0, 0)]
        padded = lax.pad(x, x.dtype.type(0), [*rest, (*self.depth, 0), *rest * 3])
        counts, steps = (x.shape[0], self.places, *x.shape[2:]), (1, self.stride, 1, 1, 1)
        return lambda k: _together(strided(padded, (0, k * self.dilation, 0, 0, 0), counts, steps))

    def spread(self, images: JaxArray, k: int, shape: Any) -> JaxArray:
        """The other way: what the images of a layer add to an input of this shape."""
        apart = lax.reshape(images, (shape[0], self.places, *shape[2:]))
        low = k * self.dilation - self.depth[0]
        high = shape[1] - low - ((self.places - 1) * self.stride + 1)
        rest = [(0, 0, 0)]
        ends = [*rest, (low, high, self.stride - 1), *rest * 3]
        return lax.pad(apart, apart.dtype.type(0), ends)


def _has_layers(image: tuple[int, ...], window: tuple[int, ...]) -> bool:
    """Whether this is a convolution in space, of something, with sizes that are numbers."""
    return len(window) == 5 and all(type(n) is int and n for n in (*image, *window))


def _together(x: JaxArray) -> JaxArray:
    """A stack of stacks of images as one stack."""
    return lax.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _last(x: JaxArray, at: Windows) -> JaxArray:
    """An image in space with its channels last."""
    return lax.transpose(x, (0, 2, 3, 4, 1)) if at.first else x


def _as_first(x: JaxArray, at: Windows) -> JaxArray:
    return lax.transpose(x, (0, 4, 1, 2, 3)) if at.first else x


@lower_in_float32
def _layered(x: JaxArray, w: JaxArray, at: Windows) -> JaxArray:
    layers = _Layers.of(x.shape, w.shape[:3], at)
    x = _last(x, at)
    images = layers.frames(x)
    y = _sum([_plain(images(k), w[k], layers.flat, 1) for k in range(w.shape[0])])
    return _as_first(lax.reshape(y, (x.shape[0], layers.places, *y.shape[1:])), at)


@lower_in_float32
def _layered_input(g: JaxArray, w: JaxArray, shape: tuple[int, ...], at: Windows) -> JaxArray:
    layers = _Layers.of(shape, w.shape[:3], at)
    batch, channels, sizes = geometry.split(shape, at.first)
    full = (batch, *sizes, channels)
    images = _together(_last(g, at))
    flat = (images.shape[0], *full[2:])
    parts = [_plain_input(images, w[k], flat, layers.flat, 1) for k in range(w.shape[0])]
    return _as_first(_sum([layers.spread(p, k, full) for k, p in enumerate(parts)]), at)


@lower_in_float32
def _layered_filter(x: JaxArray, g: JaxArray, shape: tuple[int, ...], at: Windows) -> JaxArray:
    layers = _Layers.of(x.shape, shape[:3], at)
    images, above = layers.frames(_last(x, at)), _together(_last(g, at))
    parts = [_plain_filter(images(k), above, shape[1:], layers.flat, 1) for k in range(shape[0])]
    return lax.concatenate([lax.expand_dims(p, (0,)) for p in parts], 0)


def _sum(parts: list[JaxArray]) -> JaxArray:
    """The sum of JAX arrays of one shape."""
    return functools.reduce(lax.add, parts)


def _groups(channels: int, w: JaxArray) -> int:
    return channels // w.shape[-2] if w.shape[-2] else 1


def lower_conv(
    x: JaxArray,
    w: JaxArray,
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    first: bool,
) -> JaxArray:
    at = Windows(strides, padding, dilations, first)
    if not x.size or not w.size:
        batch, _, sizes = geometry.split(x.shape, first)
        reach = geometry.extent(w.shape[:-2], dilations)
        counts = geometry.outer_sizes("conv", sizes, reach, strides, padding)
        return lax.full(geometry.join(batch, w.shape[-1], counts, first), x.dtype.type(0))
    groups = _groups(x.shape[1 if first else -1], w)
    if groups == 1 and _has_layers(x.shape, w.shape):
        return lax.platform_dependent(
            x,
            w,
            cpu=lambda x, w: _layered(x, w, at=at),
            default=lambda x, w: _plain(x, w, at, 1),
        )
    if w.shape[-2] != 1 and groups == 1:
        return _plain(x, w, at, 1)
    return lax.platform_dependent(
        x,
        w,
        cpu=lambda x, w: _on_cpu(x, w, at=at, groups=groups),
        default=lambda x, w: _plain(x, w, at, groups),
    )


def _swapped(w: JaxArray, groups: int) -> JaxArray:
    """The filter turned around, with input and output channels exchanged within each group."""
    spatial = w.ndim - 2
    w = lax.rev(w, range(spatial))
    inner, outer = w.shape[-2], w.shape[-1] // groups
    w = lax.reshape(w, (*w.shape[:-1], groups, outer))
    order = (*range(spatial), spatial + 2, spatial + 1, spatial)
    return lax.reshape(lax.transpose(w, order), (*w.shape[:spatial], outer, groups * inner))


def _cut(
    x: JaxArray | np.ndarray, pairs: list[tuple[int, ...]], dilation: tuple[int, ...], first: bool
) -> tuple[Any, list[Any], Any]:
    """An image without what negative padding takes from it, and the padding that is left.

    XLA on the CPU takes padding by -1 and 1 for none.
    """
    less = [tuple(min(n, 0) if isinstance(n, int) else 0 for n in pair) for pair in pairs]
    if not x.size or not any(map(any, less)):
        return x, pairs, dilation
    ends = [(low, high, d - 1) for (low, high), d in zip(less, dilation, strict=True)]
    rest = [(0, 0, 0)]
    full = [*rest, *rest, *ends] if first else [*rest, *ends, *rest]
    left = [(a - c, b - d) for (a, b), (c, d) in zip(pairs, less, strict=True)]
    return lax.pad(x, x.dtype.type(0), full), left, (1,) * len(left)


def _plain_input(
    g: JaxArray | np.ndarray, w: JaxArray, shape: Any, at: Windows, groups: int
) -> JaxArray:
    spatial = w.ndim - 2
    window = w.shape[:spatial]
    reach = extent(window, at.dilations)
    sizes = geometry.split(shape, at.first)[2]
    counts = geometry.split(g.shape, at.first)[2]
    pairs = []
    for i, (low, _) in enumerate(pairs_of(shape, window, at)):
        before = reach[i] - 1 - low
        spread = (counts[i] - 1) * at.strides[i] + 1 if counts[i] else 0
        pairs.append((before, sizes[i] + reach[i] - 1 - spread - before))
    cut, pairs, dilation = _cut(g, pairs, at.strides, at.first)
    y = lax.conv_general_dilated(
        cut,
        _swapped(w, groups),
        (1,) * spatial,
        pairs,
        lhs_dilation=dilation,
        rhs_dilation=at.dilations,
        dimension_numbers=_numbers(spatial, at.first),
        feature_group_count=groups,
        preferred_element_type=_wide_type(g),
    )
    return _narrow(y, g)


def lower_input(
    g: JaxArray,
    w: JaxArray,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    first: bool,
) -> JaxArray:
    at = Windows(strides, padding, dilations, first)
    if not g.size or not w.size or 0 in shape:
        return lax.full(shape, g.dtype.type(0))
    groups = _groups(shape[1 if first else -1], w)
    if groups == 1 and _has_layers(g.shape, w.shape):
        return lax.platform_dependent(
            g,
            w,
            cpu=lambda g, w: _layered_input(g, w, shape=shape, at=at),
            default=lambda g, w: _plain_input(g, w, shape, at, 1),
        )
    if groups == 1:
        return _plain_input(g, w, shape, at, groups)
    like = jax.ShapeDtypeStruct(shape, g.dtype)
    return lax.platform_dependent(
        g,
        w,
        cpu=lambda g, w: jax.linear_transpose(lambda x: _on_cpu(x, w, at=at, groups=groups), like)(
            g
        )[0],
        default=lambda g, w: _plain_input(g, w, shape, at, groups),
    )


def _plain_filter(
    x: JaxArray | np.ndarray,
    g: JaxArray | np.ndarray,
    shape: tuple[int, ...],
    at: Windows,
    groups: int,
) -> JaxArray:
    """The batch is summed away, so it plays the channels; the channels play the batch."""
    spatial = len(shape) - 2
    window = shape[:spatial]
    sizes = geometry.split(x.shape, at.first)[2]
    counts = geometry.split(g.shape, at.first)[2]
    pairs = []
    for i, (low, _) in enumerate(pairs_of(x.shape, window, at)):
        reach = (window[i] - 1) * at.dilations[i]
        spread = (counts[i] - 1) * at.strides[i] + 1
        pairs.append((low, reach + spread - sizes[i] - low))
    cut, pairs, _ = _cut(x, pairs, (1,) * spatial, at.first)
    axes = _NAMES[spatial]
    image = f"CN{axes}" if at.first else f"C{axes}N"
    kernel = f"IO{axes}" if at.first else f"I{axes}O"
    y = lax.conv_general_dilated(
        cut,
        g,
        at.dilations,
        pairs,
        rhs_dilation=at.strides,
        dimension_numbers=(image, kernel, f"{axes}NC"),
        batch_group_count=groups,
        preferred_element_type=_wide_type(x),
    )
    return _narrow(y, x)


@lower_in_float32
def _filter_on_cpu(
    x: JaxArray, g: JaxArray, shape: tuple[int, ...], at: Windows, groups: int
) -> JaxArray:
    sizes = (*x.shape, *g.shape, *shape)
    if shape[-2] == 1 and all(type(n) is int for n in sizes):
        return filter_by_offset(x, g, shape, at, groups)
    like = jax.ShapeDtypeStruct(shape, x.dtype)
    return jax.linear_transpose(lambda w: _on_cpu(x, w, at=at, groups=groups), like)(g)[0]


def lower_filter(
    x: JaxArray,
    g: JaxArray,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    padding: Any,
    dilations: tuple[int, ...],
    first: bool,
) -> JaxArray:
    at = Windows(strides, padding, dilations, first)
    if not x.size or not g.size:
        return lax.full(shape, x.dtype.type(0))
    groups = x.shape[1 if first else -1] // shape[-2]
    if groups == 1 and _has_layers(x.shape, shape):
        return lax.platform_dependent(
            x,
            g,
            cpu=lambda x, g: _layered_filter(x, g, shape=shape, at=at),
            default=lambda x, g: _plain_filter(x, g, shape, at, 1),
        )
    if groups == 1:
        return _plain_filter(x, g, shape, at, 1)
    return lax.platform_dependent(
        x,
        g,
        cpu=lambda x, g: _filter_on_cpu(x, g, shape=shape, at=at, groups=groups),
        default=lambda x, g: _plain_filter(x, g, shape, at, groups),
    )
