"""Measures on images: edges, gradients, variation, and how alike two images are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.ops.declare import (
    Tensor,
    TensorLike,
    Value,
    dtypes,
    need_rank,
    operand,
    require,
    require_dtype,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.resample import filtered
from wengert.ops.resize import rank_of
from wengert.ops.sizes import agree


@with_fallback
def sobel_edges(image: TensorLike) -> Tensor:
    """Differences across rows and across columns of smoothed images, in a new last axis."""
    x = operand(image)
    require(
        rank_of("sobel_edges", x) == 4,
        "sobel_edges",
        "a batch of images of rank 4 is needed",
        kind=ValueError,
    )
    kind = x.dtype
    require_dtype(
        kind.is_floating, "sobel_edges", "images must be floating", x, help="Cast them first."
    )
    x = tf.cast(x, dtypes.float32) if kind.is_floating and kind.size == 2 else x
    smooth, slope = (1.0, 2.0, 1.0), (-1.0, 0.0, 1.0)
    down = filtered(filtered(x, 2, smooth, "reflect"), 1, slope, "reflect")
    right = filtered(filtered(x, 1, smooth, "reflect"), 2, slope, "reflect")
    return tf.cast(tf.stack([down, right], axis=-1), kind)


def _steps(x: Value, axis: int) -> Tensor:
    """Differences of neighbours along an image axis."""
    if axis == -3:
        return x[..., 1:, :, :] - x[..., :-1, :, :]
    return x[..., 1:, :] - x[..., :-1, :]


@with_fallback
def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """Differences to the next row and to the next column; 0 in the last."""
    x = operand(image)
    require(
        x._array.ndim == 4,
        "image_gradients",
        "a batch of images of rank 4 is needed",
        kind=ValueError,
    )
    batch, height, width, depth = x._array.shape
    last_row = tf.zeros((batch, 1, width, depth), x.dtype)
    last_column = tf.zeros((batch, height, 1, depth), x.dtype)
    return tf.concat([_steps(x, -3), last_row], 1), tf.concat([_steps(x, -2), last_column], 2)


@with_fallback
def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbours, image by image."""
    x = operand(images)
    rank = rank_of("total_variation", x)
    axes = [rank - 3, rank - 2, rank - 1]
    return tf.reduce_sum(tf.abs(_steps(x, -3)), axes) + tf.reduce_sum(tf.abs(_steps(x, -2)), axes)


def _pair(name: str, a: Any, b: Any, max_val: TensorLike) -> tuple[Any, Any, Any]:
    """Two images as float32 and the largest value, a number of the first one's, likewise."""
    a, b = operand(a), operand(b)
    top = tf.convert_image_dtype(tf.cast(operand(max_val), a.dtype), dtypes.float32)
    require(a._array.ndim >= 3 and b._array.ndim >= 3, name, "images have rank 3 or more", a, b)
    a, b = (tf.convert_image_dtype(x, dtypes.float32) for x in (a, b))
    return a, b, top


def _of_one_dtype(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    a, b = operand(a), operand(b)
    require_dtype(
        a.dtype is b.dtype, name, "the images must have one dtype", a, b, help="Cast one."
    )
    return a, b


@with_fallback
def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio in decibels; infinite for equal images."""
    x, y, top = _pair("psnr", a, b, max_val)
    x = agree("psnr", _SAME, x, y, 3)
    rank = max(x._array.ndim, y._array.ndim)
    mean = tf.reduce_mean(tf.squared_difference(x, y), [rank - 3, rank - 2, rank - 1])
    return tf.log(top) * (20.0 / math.log(10.0)) - tf.log(mean) * (10.0 / math.log(10.0))


@with_fallback
def similarity(
    x: Any, y: Tensor, top: Tensor, size: int, sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """SSIM at every place and channel, and its contrast part."""
    places = np.arange(size) - (size - 1) / 2.0
    weights = np.exp(-(places**2) / (2.0 * sigma**2))
    bell = tuple(float(w) for w in weights / weights.sum())
    need_rank("ssim", x, 3)
    need_rank("ssim", y, 3)

    def blurred(z: Any) -> Tensor:
        rank = z._array.ndim
        return filtered(filtered(z, rank - 3, bell), rank - 2, bell)

    c1, c2 = (top * k1) * (top * k1), (top * k2) * (top * k2)
    mean_x, mean_y = blurred(x), blurred(y)
    product = mean_x * mean_y * 2.0
    squares = mean_x * mean_x + mean_y * mean_y
    luminance = (product + c1) / (squares + c1)
    covariance = blurred(x * y) * 2.0
    variances = blurred(x * x + y * y)
    contrast = (covariance - product + c2) / (variances - squares + c2)
    return luminance * contrast, contrast


_SAME = "the images must have the same size"


def _check_filter(name: str, x: Any, y: Tensor, given: int, where: str = "") -> int:
    size = static_int(name, given, "filter_size")
    require(size >= 1, name, f"`filter_size` must be positive; got {size}")
    for z in (x, y):
        require(
            all(not isinstance(d, int) or d >= size for d in z._array.shape[-3:-1]),
            name,
            f"images must be at least {size} (`filter_size`) high and wide{where}",
            z,
        )
    return size


# How much each scale counts, the finest first: the weights of the measure's inventors.
_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(x: Any) -> Tensor:
    """Images of half the size; an odd last row or column stands for itself."""
    shape = x._array.shape
    small = tf.avg_pool2d(tf.reshape(x, (-1, *shape[-3:])), 2, 2, "SAME")
    return tf.reshape(small, (*shape[:-3], *small._array.shape[1:]))


@with_fallback
def ssim_multiscale(
    img1: TensorLike, img2: TensorLike, max_val: TensorLike, power_factors: Any = _SCALES, filter_size: int = 11,
    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """The structural similarity of two images at several sizes, each half of the one before.

    Contrast counts at every size, luminance only at the last; `power_factors` weigh them.
    """
    name = "ssim_multiscale"
    x, y, top = _pair(name, *_of_one_dtype(name, img1, img2), max_val)
    x = agree(name, _SAME, x, y, 3)
    require(
        len(power_factors), name, "`power_factors` must hold one weight for each scale; got none"
    )
    parts = []
    for scale in range(len(power_factors)):
        if scale:
            x, y = _halved(x), _halved(y)
        size = _check_filter(name, x, y, filter_size, f" at scale {scale + 1}")
        both = similarity(x, y, top, size, filter_sigma, k1, k2)
        rank = both[0]._array.ndim
        index, contrast = (tf.relu(tf.reduce_mean(z, [rank - 3, rank - 2])) for z in both)
        parts.append(contrast if scale < len(power_factors) - 1 else index)
    weights = operand(power_factors, dtypes.float32)
    return tf.reduce_mean(tf.reduce_prod(tf.pow(tf.stack(parts, axis=-1), weights), -1), -1)


@with_fallback
def ssim(
    img1: TensorLike, img2: TensorLike, max_val: TensorLike, filter_size: int = 11, filter_sigma: float = 1.5,
    k1: float = 0.01, k2: float = 0.03, return_index_map: bool = False,
) -> Tensor:  # fmt: skip
    """The structural similarity of two images, 1 for equal ones; on demand as a map."""
    x, y, top = _pair("ssim", *_of_one_dtype("ssim", img1, img2), max_val)
    size = _check_filter("ssim", x, y, filter_size)
    x = agree("ssim", _SAME, x, y, 3)
    index, _ = similarity(x, y, top, size, filter_sigma, k1, k2)
    rank = index._array.ndim
    axes = [rank - 1] if return_index_map else [rank - 3, rank - 2, rank - 1]
    return tf.reduce_mean(index, axes)
