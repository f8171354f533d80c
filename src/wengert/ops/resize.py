"""Changing the height and width of images: resizing, cropping, padding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe, invalid
from wengert.ops.cast import cast
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


def rank_of(name: str, image: Any, least: int = 3) -> int:
    """The rank of an image or a batch of images."""
    rank = image._array.ndim
    if not least <= rank <= 4:
        raise wrong(name, f"images have rank {'3 or 4' if least == 3 else least}; got "
                          f"{describe(image)}")  # fmt: skip
    return rank


def height_width(image: Any) -> tuple[int, int]:
    """The sizes of the two image axes."""
    shape = image._array.shape
    return shape[-3], shape[-2]


def _size(size: Any) -> tuple[int, int]:
    try:
        found = static("resize", size)
    except TypeError:
        found = None
    if (
        not isinstance(found, tuple)
        or len(found) != 2
        or not all(isinstance(n, int) for n in found)
    ):
        raise wrong("resize", f"`size` must be two whole numbers; got {describe(size)}")
    if min(found) < 1:
        raise invalid("resize", f"`size` must be positive; got {list(found)}")
    return found


def _keeping_aspect(image: Any, size: tuple[int, int]) -> tuple[int, int]:
    height, width = height_width(image)
    scale = min(np.float32(size[0]) / np.float32(height), np.float32(size[1]) / np.float32(width))
    return int(np.rint(scale * np.float32(height))), int(np.rint(scale * np.float32(width)))


def resampled(x: Any, size: tuple[int, int], method: str, antialias: bool) -> Any:
    """Resizes without changing the dtype; the axis that shrinks more goes first."""
    rank = rank_of("resize", x)
    old = height_width(x)
    for i in sorted((0, 1), key=lambda i: size[i] / old[i]):
        if size[i] != old[i] or method in ("gaussian", "mitchellcubic"):
            x = resample(x, rank - 3 + i, method, size[i], antialias)
    return x


def resize(
    images: Any, size: Any, method: Any = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False, antialias: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """Resizes images to `size` = [height, width], with pixels centred at halves.

    The result is float32, but of the images' own dtype for "nearest". With `antialias` the
    kernel is widened when shrinking; "area" and "nearest" do not know it.
    """
    x = operand(images)
    rank_of("resize", x)
    if method not in _METHODS:
        raise wrong("resize", f"`method` must be one of {', '.join(_METHODS)}; got {method!r}")
    wanted = _size(size)
    if 0 in height_width(x):
        raise invalid("resize", "an image of zero size cannot be resized", x)
    if preserve_aspect_ratio:
        wanted = _keeping_aspect(x, wanted)
    if x.dtype.kind not in "iuf":
        raise invalid("resize", "images must be real numbers", x, help="Cast them first.")
    if method != "nearest":
        x = cast(x, dtypes.float32)
    return resampled(x, wanted, method, antialias and method not in ("area", "nearest"))


def cropped(image: Any, top: int, left: int, height: int, width: int) -> Any:
    """A rectangle of an image or a batch of images."""
    return image[..., top : top + height, left : left + width, :]


def padded(image: Any, top: int, left: int, height: int, width: int) -> Any:
    """An image amid zeros."""
    from wengert.ops.padding import pad

    have = height_width(image)
    edges = [[top, height - have[0] - top], [left, width - have[1] - left], [0, 0]]
    lead = [[0, 0]] * (image._array.ndim - 3)
    return pad(image, lead + edges)


def _box(name: str, *values: Any) -> list[int]:
    names = ("offset_height", "offset_width", "target_height", "target_width")
    found = [static_int(name, v, what) for what, v in zip(names, values, strict=True)]
    for what, value in zip(names, found, strict=True):
        if value < 0 or (value == 0 and what.startswith("target")):
            least = "positive" if what.startswith("target") else "0 or more"
            raise wrong(name, f"`{what}` must be {least}; got {value}")
    return found


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """The rectangle whose upper left corner lies at the offsets."""
    x = operand(image)
    rank_of("crop_to_bounding_box", x)
    box = _box("crop_to_bounding_box", offset_height, offset_width, target_height, target_width)
    height, width = height_width(x)
    if box[0] + box[2] > height or box[1] + box[3] > width:
        raise wrong(
            "crop_to_bounding_box",
            f"offset plus target {[box[0] + box[2], box[1] + box[3]]} lies outside an image of "
            f"{[height, width]}",
        )
    return cropped(x, *box)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """The image at the offsets of a larger one that is zero elsewhere."""
    x = operand(image)
    rank_of("pad_to_bounding_box", x)
    box = _box("pad_to_bounding_box", offset_height, offset_width, target_height, target_width)
    height, width = height_width(x)
    if box[0] + height > box[2] or box[1] + width > box[3]:
        raise wrong(
            "pad_to_bounding_box",
            f"an image of {[height, width]} at offset {box[:2]} does not fit into {box[2:]}",
        )
    return padded(x, *box)


def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle part of an image, a fraction of each side."""
    x = operand(image)
    rank_of("central_crop", x)
    fraction = static_float("central_crop", central_fraction, "central_fraction")
    if not 0.0 < fraction <= 1.0:
        raise wrong("central_crop", f"`central_fraction` must be within (0, 1]; got {fraction}")
    if fraction == 1.0:
        return x
    height, width = height_width(x)
    top = int((height - height * fraction) / 2)
    left = int((width - width * fraction) / 2)
    return cropped(x, top, left, height - 2 * top, width - 2 * left)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Crops or pads both sides evenly to a size."""
    x = operand(image)
    rank_of("resize_with_crop_or_pad", x)
    _, _, height, width = _box("resize_with_crop_or_pad", 0, 0, target_height, target_width)
    have = height_width(x)
    extra = (height - have[0], width - have[1])
    top, left = (max(-e // 2, 0) for e in extra)
    x = cropped(x, top, left, min(height, have[0]), min(width, have[1]))
    top, left = (max(e // 2, 0) for e in extra)
    return padded(x, top, left, height, width)


def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Any:  # fmt: skip
    """Resizes without distortion to fit into a size, amid zeros."""
    x = operand(image)
    rank_of("resize_with_pad", x)
    _, _, height, width = _box("resize_with_pad", 0, 0, target_height, target_width)
    have = height_width(x)
    ratio = max(have[1] / width, have[0] / height)
    exact = (have[0] / ratio, have[1] / ratio)
    top, left = (
        max(0, math.floor((height - exact[0]) / 2)),
        max(0, math.floor((width - exact[1]) / 2)),
    )
    x = resize(x, [math.floor(exact[0]), math.floor(exact[1])], method, antialias=antialias)
    return padded(x, top, left, height, width)
