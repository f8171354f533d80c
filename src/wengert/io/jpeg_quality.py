"""Pictures as they look after they were stored as JPEG of some quality."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import at_site, invalid
from wengert.core.types import Op, ShapeDtype, TensorLike
from wengert.io.images import decode_jpeg, encode_jpeg
from wengert.ops import random
from wengert.ops.color import convert_image_dtype
from wengert.ops.declare import static_int


def _kernel(x: np.ndarray, quality: np.ndarray) -> np.ndarray:
    if x.ndim != 3:
        raise ValueError("a picture is [height, width, channels]")
    stored = encode_jpeg(x, quality=int(quality))
    return decode_jpeg(stored, channels=x.shape[2])._array


def _infer(x: ShapeDtype, quality: ShapeDtype) -> ShapeDtype:
    if x.shape is not None and len(x.shape) != 3:
        raise invalid("adjust_jpeg_quality", "a picture is [height, width, channels]", x)
    if quality.shape not in (None, ()):
        raise invalid("adjust_jpeg_quality", "`jpeg_quality` must be one number", quality)
    return x


JPEG_QUALITY = Op(
    "adjust_jpeg_quality", "x quality", kernel=_kernel, infer=_infer, lower=None, grad=None,
    match=(), register=False,
)  # fmt: skip


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Any:
    """An image as it looks after it was stored as JPEG with a quality from 0 to 100.

    Floats are from 0 to 1. `dct_method` changes nothing here.
    """
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        rule = "`dct_method` must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE'"
        raise invalid("adjust_jpeg_quality", f"{rule}; got {dct_method!r}")
    x = operand(image)
    pixels = convert_image_dtype(x, dtypes.uint8, saturate=True)
    result = apply(JPEG_QUALITY, pixels, operand(jpeg_quality, dtypes.int32))
    return convert_image_dtype(result, x.dtype, saturate=True)


def _check(name: str, low: Any, high: Any) -> None:
    low, high = (static_int(name, n, "jpeg quality") for n in (low, high))
    if low < 0 or high < 0 or low > 100 or high > 100:
        raise at_site(ValueError(f"{name}: qualities are from 0 to 100; got {low} and {high}."))
    if low >= high:
        words = f"{name}: `min_jpeg_quality` {low} must be less than `max_jpeg_quality` {high}."
        raise at_site(ValueError(words))


def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any = None
) -> Any:
    """`adjust_jpeg_quality` with a random quality from [min_jpeg_quality, max_jpeg_quality)."""
    _check("random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    quality = random.uniform([], min_jpeg_quality, max_jpeg_quality, dtypes.int32, seed)
    return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any
) -> Any:
    """`random_jpeg_quality` that depends on `seed` alone."""
    _check("stateless_random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    low, high = min_jpeg_quality, max_jpeg_quality
    quality = random.stateless_uniform([], seed, low, high, dtypes.int32)
    return adjust_jpeg_quality(image, quality)
