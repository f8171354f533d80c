"""Changing the height and width of images: resizing, cropping, padding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.convert import operand
from wengert.core.dims import Dim, formula, is_open, larger, negative, opened, smaller
from wengert.core.errors import at_site, describe, invalid, require
from wengert.core.fallbacks import with_fallback
from wengert.core.symbolic import is_symbolic
from wengert.core.types import Tensor, TensorLike, Value
from wengert.ops import public as tf
from wengert.ops.declare import static, static_float, static_int
from wengert.ops.resample import KERNELS, resample


class ResizeMethod:
    """The names of the methods of `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_METHODS = (*KERNELS, "nearest", "area")


def wrong(name: str, rule: str) -> Any:
    """A ValueError at the caller's line."""
    return at_site(ValueError(f"{name}: {rule}."))


def rank_of(name: str, image: Any) -> int:
    """The rank of an image or a batch of images."""
    rank = image._array.ndim
    require(3 <= rank <= 4, name, "images have rank 3 or 4", image, kind=ValueError)
    return rank


def _picture(image: TensorLike) -> Any:
    """An image or a batch of them; where a trace does not know the rank, a single one."""
    x = operand(image)
    return tf.ensure_shape(x, (None, None, None)) if x.shape.rank is None else x


def height_width(image: Value) -> tuple[int, int]:
    """The sizes of the two image axes."""
    shape = image._array.shape
    return shape[-3], shape[-2]


def _size(size: TensorLike) -> tuple[int, int]:
    try:
        result = static("resize", size)
    except TypeError:
        result = None
    if (
        not isinstance(result, tuple)
        or len(result) != 2
        or not all(isinstance(n, int | Dim) for n in result)
    ):
        raise wrong("resize", f"`size` must be two whole numbers; got {describe(size)}")
    if any(isinstance(n, int) and n < 1 for n in result):
        raise invalid("resize", f"`size` must be positive; got {list(result)}")
    return result


@formula
def _keeping_aspect(side: int, height: int, width: int, new_height: int, new_width: int) -> int:
    """A side of an image (`side` is its height or width) that fits into a size undistorted."""
    down = np.float32(new_height) / np.float32(height)
    across = np.float32(new_width) / np.float32(width)
    return int(np.rint(min(down, across) * np.float32(side)))


@with_fallback
def resampled(x: Any, size: tuple[int, int], method: str, antialias: bool) -> Tensor:
    """Resizes without changing the dtype; the axis that shrinks more goes first."""
    rank = rank_of("resize", x)
    old = height_width(x)
    order = (0, 1)
    if not is_open((*old, *size)):
        order = sorted(order, key=lambda i: size[i] / old[i])
    for i in order:
        if size[i] != old[i] or method in ("gaussian", "mitchellcubic"):
            x = resample(x, rank - 3 + i, method, size[i], antialias)
    return x


@with_fallback
def resize(
    images: TensorLike, size: TensorLike, method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Resizes images to `size` = [height, width], with pixels centred at halves.

    The result is float32, but of the images' own dtype for "nearest". With `antialias` the
    kernel is widened when shrinking; "area" and "nearest" do not know it.

    Args:
        images: `[height, width, channels]` or a batch of them.
        size: the new height and width.
        method: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian" or
            "mitchellcubic".
        preserve_aspect_ratio: whether to keep the proportions and stay within `size`.
        antialias: whether to blur when shrinking.
        name: without effect.

    Returns:
        Images of that size.

    Raises:
        ValueError: the rank, the size or the method does not fit.

    >>> tf.image.resize([[[0.0], [2.0]]], [1, 4], method="nearest").numpy().ravel().tolist()
    [0.0, 0.0, 2.0, 2.0]
    """
    x = operand(images)
    rank_of("resize", x)
    require(
        method in _METHODS,
        "resize",
        f"`method` must be one of {', '.join(_METHODS)}; got {method!r}",
        kind=ValueError,
    )
    wanted = _size(size)
    require(0 not in height_width(x), "resize", "an image of zero size cannot be resized", x)
    if preserve_aspect_ratio:
        sides = height_width(x)
        wanted = tuple([_keeping_aspect(side, *sides, *wanted) for side in sides])
    require(
        x.dtype.kind in "iuf", "resize", "images must be real numbers", x, help="Cast them first."
    )
    if method != "nearest":
        x = tf.cast(x, dtypes.float32)
    return resampled(x, wanted, method, antialias and method not in ("area", "nearest"))


def _sized(image: Tensor, height: int | Dim, width: int | Dim) -> Tensor:
    """Says what is known of the size of an image in a trace."""
    if is_symbolic(image):
        shape = image._array.shape
        image.set_shape(opened((*shape[:-3], height, width, shape[-1])))
    return image


def cropped(image: Value, top: int, left: int, height: int, width: int) -> Tensor:
    """A rectangle, which must lie inside, of an image or a batch of images."""
    return _sized(image[..., top : top + height, left : left + width, :], height, width)


def padded(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """An image amid zeros."""
    have = height_width(image)
    edges = [[top, height - have[0] - top], [left, width - have[1] - left], [0, 0]]
    lead = [[0, 0]] * (image._array.ndim - 3)
    return _sized(tf.pad(image, lead + edges), height, width)


_SIDES = ("offset_height", "offset_width", "target_height", "target_width")


def _box(name: str, *values: TensorLike) -> list[int]:
    results = [static_int(name, v, what) for what, v in zip(_SIDES, values, strict=True)]
    _check_box(name, *results)
    return results


def _check_box(name: str, *found: int) -> None:
    """Refuses offsets and targets that cannot be; those that are open are looked at later."""
    for what, value in zip(_SIDES, found, strict=True):
        if negative(value) or (isinstance(value, int) and not value and what.startswith("target")):
            least = "positive" if what.startswith("target") else "0 or more"
            raise wrong(name, f"`{what}` must be {least}; got {value}")


@formula
def _inside(axis: int, top: int, left: int, height: int, width: int, *have: int) -> int:
    """Where a crop starts along an axis; an error where it ends outside the image."""
    _check_box("crop_to_bounding_box", top, left, height, width)
    ends = [top + height, left + width]
    require(
        ends[0] <= have[0] and ends[1] <= have[1],
        "crop_to_bounding_box",
        f"offset plus target {ends} lies outside an image of {[*have]}",
        kind=ValueError,
    )
    return (top, left)[axis]


@formula
def _around(axis: int, top: int, left: int, height: int, width: int, *have: int) -> int:
    """Where an image starts within a larger one; an error where it does not fit."""
    _check_box("pad_to_bounding_box", top, left, height, width)
    require(
        top + have[0] <= height and left + have[1] <= width,
        "pad_to_bounding_box",
        f"an image of {[*have]} at offset {[top, left]} does not fit into {[height, width]}",
        kind=ValueError,
    )
    return (top, left)[axis]


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """The rectangle whose upper left corner lies at the offsets."""
    x = _picture(image)
    rank_of("crop_to_bounding_box", x)
    box = _box("crop_to_bounding_box", offset_height, offset_width, target_height, target_width)
    have = height_width(x)
    return cropped(x, _inside(0, *box, *have), _inside(1, *box, *have), *box[2:])


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """The image at the offsets of a larger one that is zero elsewhere."""
    x = _picture(image)
    rank_of("pad_to_bounding_box", x)
    box = _box("pad_to_bounding_box", offset_height, offset_width, target_height, target_width)
    have = height_width(x)
    return padded(x, _around(0, *box, *have), _around(1, *box, *have), *box[2:])


@formula
def _margin(size: int, fraction: float) -> int:
    """What is cut off at each end so that about a fraction is left."""
    return int((size - size * fraction) / 2)


@with_fallback
def central_crop(image: TensorLike, central_fraction: TensorLike) -> Value:
    """The middle part of an image, a fraction of each side."""
    x = operand(image)
    rank_of("central_crop", x)
    fraction = static_float("central_crop", central_fraction, "central_fraction")
    require(
        0.0 < fraction <= 1.0,
        "central_crop",
        f"`central_fraction` must be within (0, 1]; got {fraction}",
        kind=ValueError,
    )
    if fraction == 1.0:
        return x
    height, width = height_width(x)
    top, left = _margin(height, fraction), _margin(width, fraction)
    return cropped(x, top, left, height - 2 * top, width - 2 * left)


def resize_with_crop_or_pad(
    image: TensorLike, target_height: TensorLike, target_width: TensorLike
) -> Tensor:
    """Crops or pads both sides evenly to a size."""
    x = _picture(image)
    rank_of("resize_with_crop_or_pad", x)
    _, _, height, width = _box("resize_with_crop_or_pad", 0, 0, target_height, target_width)
    have = height_width(x)
    extra = (height - have[0], width - have[1])
    top, left = (larger(-e // 2, 0) for e in extra)
    x = cropped(x, top, left, smaller(height, have[0]), smaller(width, have[1]))
    top, left = (larger(e // 2, 0) for e in extra)
    return padded(x, top, left, height, width)


def resize_with_pad(
    image: TensorLike, target_height: TensorLike, target_width: TensorLike, method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Resizes without distortion to fit into a size, amid zeros."""
    x = _picture(image)
    rank_of("resize_with_pad", x)
    _, _, height, width = _box("resize_with_pad", 0, 0, target_height, target_width)
    sides = (*height_width(x), height, width)
    size = [_inner(0, *sides), _inner(1, *sides)]
    x = resize(x, size, method, antialias=antialias)
    return padded(x, _edge(0, *sides), _edge(1, *sides), height, width)


def _exact(axis: int, height: int, width: int, new_height: int, new_width: int) -> float:
    """The height (or width) of an image resized to fit into a size."""
    ratio = max(width / new_width, height / new_height)
    return (height, width)[axis] / ratio


@formula
def _inner(axis: int, *sides: int) -> int:
    return math.floor(_exact(axis, *sides))


@formula
def _edge(axis: int, *sides: int) -> int:
    return max(0, math.floor((sides[2 + axis] - _exact(axis, *sides)) / 2))
