"""Colours of images: colour spaces, number types, and adjustments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core.dtypes import as_dtype
from wengert.ops.declare import (
    DType,
    DTypeLike,
    InvalidTypeError,
    Tensor,
    TensorLike,
    Value,
    describe,
    dtypes,
    known_unequal,
    operand,
    require,
    static_float,
    tf,
    with_fallback,
    wrap,
)
from wengert.ops.resize import wrong
from wengert.ops.sizes import factor


class ImageTypeError(InvalidTypeError, AttributeError):
    """An image of a wrong element type, which TensorFlow calls an AttributeError."""


def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Value:
    """Changes the dtype and the scale with it: integers count up to their maximum, floats to 1.

    Args:
        image: a tensor of numbers.
        dtype: the dtype wanted.
        saturate: `True` clips what lies outside; else it wraps around.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        AttributeError, TypeError: `dtype` is no dtype of numbers.

    >>> image = tf.constant([0, 255], "uint8")
    >>> tf.image.convert_image_dtype(image, tf.float32).numpy().tolist()
    [0.0, 1.0]
    """
    x = operand(image)
    wanted, own = as_dtype(dtype), x.dtype
    for kind in (wanted, own):
        require(
            kind.is_floating or kind.is_integer,
            "convert_image_dtype",
            f"a floating or integer dtype is needed; got {kind.name}",
            kind=ImageTypeError,
        )
    if own is wanted:
        return x
    if own.is_integer and wanted.is_integer:
        return _between_integers(x, own, wanted, saturate)
    if own.is_floating and wanted.is_floating:
        return tf.cast(x, wanted)
    if own.is_integer:
        return tf.cast(x, wanted) * operand(1.0 / own.max, wanted)
    scaled = x * operand(wanted.max + 0.5, own)
    return tf.saturate_cast(scaled, wanted) if saturate else tf.cast(scaled, wanted)


def _between_integers(x: Value, own: DType, wanted: DType, saturate: bool) -> Tensor:
    scale_own, scale_wanted = int(own.max) + 1, int(wanted.max) + 1
    if scale_own > scale_wanted:
        lowered = tf.floordiv(x, operand(scale_own // scale_wanted, own))
        return tf.saturate_cast(lowered, wanted) if saturate else tf.cast(lowered, wanted)
    raised = tf.saturate_cast(x, wanted) if saturate else tf.cast(x, wanted)
    return raised * operand(scale_wanted // scale_own, wanted)


def as_floats(image: Value) -> Value:
    """An image as floating numbers: its own if it has them, else float32 up to 1."""
    return image if image.dtype.is_floating else convert_image_dtype(image, dtypes.float32)


def _channels(name: str, x: Value, count: int) -> None:
    require(
        x._array.ndim and not known_unequal(x._array.shape[-1], count),
        name,
        f"the last axis must hold {count} channels",
        x,
    )


def _mixed(name: str, images: TensorLike, matrix: list[list[float]]) -> Tensor:
    x = operand(images)
    _channels(name, x, 3)
    require(
        x.dtype.is_floating,
        name,
        "floating images are needed",
        x,
        help="Use tf.image.convert_image_dtype.",
        kind=TypeError,
    )
    return tf.tensordot(x, wrap(np.array(matrix, x.dtype.np)), axes=[[x._array.ndim - 1], [0]])


_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_FROM_YIQ = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


@with_fallback
def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Brightness and the two colour axes of NTSC television."""
    return _mixed("rgb_to_yiq", images, _YIQ)


@with_fallback
def yiq_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `rgb_to_yiq`."""
    return _mixed("yiq_to_rgb", images, _FROM_YIQ)


@with_fallback
def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Brightness and the two colour axes of PAL television."""
    return _mixed("rgb_to_yuv", images, _YUV)


@with_fallback
def yuv_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `rgb_to_yuv`."""
    return _mixed("yuv_to_rgb", images, _FROM_YUV)


@with_fallback
def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Value:
    """One channel: the brightness that the eye sees."""
    x = operand(images)
    grey = _mixed("rgb_to_grayscale", as_floats(x), [[0.2989], [0.587], [0.114]])
    return convert_image_dtype(grey, x.dtype)


@with_fallback
def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The one channel of an image three times."""
    x = operand(images)
    require(
        x._array.ndim and not known_unequal(x._array.shape[-1], 1),
        "grayscale_to_rgb",
        "the last axis must have size 1",
        x,
        kind=ValueError,
    )
    # The reshape fails where the size turns out to be another.
    return tf.broadcast_to(tf.reshape(x, (*x._array.shape[:-1], 1)), (*x._array.shape[:-1], 3))


def _parts(name: str, images: TensorLike) -> tuple[list[Tensor], DType]:
    """The channels, in single precision at least, and the dtype that they had."""
    x = operand(images, None, dtypes.float32)
    _channels(name, x, 3)
    require(
        x.dtype.is_floating, name, "images must be floating", x, help="Use convert_image_dtype."
    )
    wide = tf.cast(x, dtypes.float32) if x.dtype.size == 2 else x
    return tf.unstack(wide, 3, axis=-1), x.dtype


@with_fallback
def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Hue, saturation and value; hue and saturation lie within [0, 1] for colours that do."""
    (r, g, b), kind = _parts("rgb_to_hsv", images)
    value = tf.maximum(tf.maximum(r, g), b)
    spread = value - tf.minimum(tf.minimum(r, g), b)
    some, bright = spread > 0.0, value > 0.0
    norm = tf.where(some, 1.0 / (6.0 * tf.where(some, spread, 1.0)), 0.0)
    hue = tf.where(
        r >= value,
        norm * (g - b),
        tf.where(g >= value, norm * (b - r) + 2.0 / 6.0, norm * (r - g) + 4.0 / 6.0),
    )
    hue = tf.where(some, tf.where(hue < 0.0, hue + 1.0, hue), 0.0)
    saturation = tf.where(bright, spread / tf.where(bright, value, 1.0), 0.0)
    return tf.cast(tf.stack([hue, saturation, value], axis=-1), kind)


@with_fallback
def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `rgb_to_hsv`; a hue outside [0, 1] is red, not wrapped."""
    (h, s, v), kind = _parts("hsv_to_rgb", images)
    turn = h * 6.0
    pure = [tf.abs(turn - 3.0) - 1.0, 2.0 - tf.abs(turn - 2.0), 2.0 - tf.abs(turn - 4.0)]
    results = [((1.0 - s) + s * tf.clip_by_value(p, 0.0, 1.0)) * v for p in pure]
    return tf.cast(tf.stack(results, axis=-1), kind)


def restored(x: Tensor, dtype: DType) -> Value:
    """Adjusted floats in the dtype that the image had."""
    return convert_image_dtype(x, dtype, saturate=True)


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Value:
    """Adds `delta`, in units of the full scale."""
    x = operand(image)
    floats = as_floats(x)
    return restored(floats + tf.cast(operand(delta, None, floats.dtype), floats.dtype), x.dtype)


@with_fallback
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Value:
    """Scales the distance of each pixel from its channel's mean."""
    x = operand(images)
    rank = x._array.ndim
    require(not rank < 3, "adjust_contrast", "images have rank 3 or more", x)
    floats = as_floats(x)
    mean = tf.reduce_mean(floats, axis=[rank - 3, rank - 2], keepdims=True)
    factor = tf.cast(operand(contrast_factor, None, floats.dtype), floats.dtype)
    return restored((floats - mean) * factor + mean, x.dtype)


def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Value:
    """`gain * image ** gamma`."""
    x = operand(image)
    require(
        isinstance(gamma, Value) or not static_float("adjust_gamma", gamma, "gamma") < 0,
        "adjust_gamma",
        f"`gamma` must not be negative; got {gamma}",
        kind=ValueError,
    )
    floats = as_floats(x)
    exponent = operand(gamma, None, floats.dtype)
    return restored(tf.pow(floats, exponent) * operand(gain, None, floats.dtype), x.dtype)


def _in_hsv(name: str, image: TensorLike, change: Any) -> Value:
    x = operand(image)
    _channels(name, x, 3)
    floats = as_floats(x)
    h, s, v = tf.unstack(rgb_to_hsv(floats), axis=-1)
    h, s = change(h, s)
    return restored(tf.cast(hsv_to_rgb(tf.stack([h, s, v], axis=-1)), floats.dtype), x.dtype)


@with_fallback
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Value:
    """Turns the hue by `delta`, where 1 is a full turn."""
    turns = 0.0 if isinstance(delta, Value) else static_float("adjust_hue", delta, "delta")
    require(
        -1 <= turns <= 1,
        "adjust_hue",
        f"`delta` must be within [-1, 1]; got {delta}",
        kind=ValueError,
    )

    def turn(h: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
        return tf.floormod(h + tf.cast(operand(delta, None, h.dtype), h.dtype), 1.0), s

    return _in_hsv("adjust_hue", image, turn)


@with_fallback
def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> Value:
    """Multiplies the saturation, kept within [0, 1]."""

    def scale(h: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
        factor = tf.cast(operand(saturation_factor, None, s.dtype), s.dtype)
        return h, tf.clip_by_value(s * factor, 0.0, 1.0)

    return _in_hsv("adjust_saturation", image, scale)


@with_fallback
def standardized(x: Tensor) -> Tensor:
    """Each image with mean 0 and deviation 1; flat images are not blown up."""
    rank = x._array.ndim
    axes = [rank - 3, rank - 2, rank - 1]
    pixels = factor(math.prod(x._array.shape[-3:]), x.dtype)
    mean = tf.reduce_mean(x, axis=axes, keepdims=True)
    deviation = tf.reduce_std(x, axis=axes, keepdims=True)
    return (x - mean) / tf.maximum(deviation, operand(pixels**-0.5, x.dtype))


@with_fallback
def per_image_standardization(image: TensorLike) -> Tensor:
    """Each image as float32 with mean 0 and deviation 1; flat images are not blown up."""
    x = operand(image)
    require(
        x._array.ndim >= 3,
        "per_image_standardization",
        "images have rank 3 or more",
        x,
        kind=ValueError,
    )
    if 0 in x._array.shape[-3:]:
        raise wrong("per_image_standardization", f"the images have no pixels: {describe(x)}")
    return standardized(tf.cast(x, dtypes.float32))
