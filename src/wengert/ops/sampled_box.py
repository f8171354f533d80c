"""Random windows of images that show enough of what boxes mark.

All attempts are made at once, in whole numbers and double precision, and the first that fits is
taken; so both engines find the same window.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.core.dtypes import nums
from wengert.core.lazy_modules import Lazy
from wengert.ops import philox
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    fail_if,
    invalid,
    jnp,
    must_fit,
    operand,
    operand_or_empty,
    require,
    require_dtype,
    static_float,
    static_int,
)
from wengert.ops.seeds import next_state, seed_state

_TYPES = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_DRAWS = 4  # random numbers per attempt: ratio, height, top, left


class Window(NamedTuple):
    """What the windows must be like; `ratio` is width by height, `area` a part of the image's.

    Without boxes the image is one, if it may be (`whole`).
    """

    whole: bool
    covered: float
    ratio: tuple[float, float]
    area: tuple[float, float]
    attempts: int


def _sizes(
    xp: ModuleType | Lazy, u: JaxArray | np.ndarray, image: Any, how: Window
) -> tuple[Any, Any, Any]:
    """Heights and widths, and whether they are of the area that is wanted."""
    rows, columns = image
    least, most = (part * rows * columns for part in how.area)
    ratio = how.ratio[0] + u[:, 0] * (how.ratio[1] - how.ratio[0])
    fits = xp.minimum(rows, xp.floor((columns + 0.5 - 1e-7) / ratio))
    high = xp.minimum(xp.rint(xp.sqrt(most / ratio)), fits)
    low = xp.minimum(xp.rint(xp.sqrt(least / ratio)), high)
    height = low + xp.floor(u[:, 1] * (high - low + 1))
    # Rounding may have made the area too small or too large by a row.
    height = xp.where(height * xp.rint(height * ratio) < least, height + 1, height)
    height = xp.where(height * xp.rint(height * ratio) > most, height - 1, height)
    width = xp.rint(height * ratio)
    area = height * width
    inside = (height >= 1) & (width >= 1) & (height <= rows) & (width <= columns)
    return height, width, inside & (area >= least) & (area <= most)


def _shows(
    xp: ModuleType | Lazy,
    windows: JaxArray | np.ndarray,
    boxes: JaxArray | np.ndarray,
    covered: float,
) -> JaxArray | np.ndarray:
    """Whether windows [k, 4] show so much of some box [n, 4], in pixels."""
    ends = xp.minimum(windows[:, None, 2:], boxes[:, 2:])
    shared = xp.maximum(ends - xp.maximum(windows[:, None, :2], boxes[:, :2]), 0)
    sides = boxes[:, 2:] - boxes[:, :2]
    area = xp.where((sides > 0).all(-1), sides[:, 0] * sides[:, 1], 0)
    enough = shared[..., 0] * shared[..., 1] >= covered * area
    return (enough & (area > 0)).any(-1)


def _all(xp: ModuleType | Lazy, boxes: JaxArray | np.ndarray, whole: bool) -> JaxArray | np.ndarray:
    """The boxes [n, 4] of all images of the batch."""
    if boxes.size:
        return boxes.reshape(-1, 4)
    require(
        whole,
        "sample_distorted_bounding_box",
        "there are no boxes",
        help="Set `use_image_if_no_bounding_boxes` to take the image for the box.",
    )
    return xp.array([[0.0, 0.0, 1.0, 1.0]])


def _sample(
    xp: ModuleType | Lazy,
    words: JaxArray | np.ndarray,
    size: Any,
    boxes: JaxArray | np.ndarray,
    how: Window,
) -> tuple[Any, Any, Any]:
    boxes = _all(xp, boxes, how.whole)
    image = size[0].astype(np.float64), size[1].astype(np.float64)
    rows, columns = image
    u = words.reshape(how.attempts, _DRAWS).astype(np.float64) / 2.0**32
    height, width, fine = _sizes(xp, u, image, how)
    top = xp.floor(u[:, 2] * (rows - height + 1))
    left = xp.floor(u[:, 3] * (columns - width + 1))
    windows = xp.stack([top, left, top + height, left + width], 1)
    scale = xp.stack([rows, columns, rows, columns])
    fine = fine & _shows(xp, windows, xp.trunc(boxes * scale), how.covered)
    whole = xp.stack([rows * 0, columns * 0, rows, columns])
    result = xp.where(fine.any(), windows[xp.argmax(fine)], whole)
    begin = xp.concatenate([result[:2], xp.zeros(1)])
    extent = xp.concatenate([result[2:] - result[:2], -xp.ones(1)])
    part = (result / scale).astype(np.float32).reshape(1, 1, 4)
    return begin.astype(size.dtype), extent.astype(size.dtype), part


def _kernel(
    state: np.ndarray, size: np.ndarray, boxes: np.ndarray, how: Window
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    must_fit(
        size.shape == (3,) and boxes.ndim == 3 and boxes.shape[-1] == 4, "the shapes do not fit"
    )
    require(
        ((boxes >= 0) & (boxes <= 1)).all(),
        "sample_distorted_bounding_box",
        "the sides of boxes are parts of the image, from 0 to 1",
    )
    return _sample(np, philox.words(state, how.attempts * _DRAWS), size, boxes, how)


def _lower(
    state: JaxArray, size: JaxArray, boxes: JaxArray, how: Window
) -> tuple[JaxArray, JaxArray, JaxArray]:
    fail_if(lambda: ~((boxes >= 0) & (boxes <= 1)))
    # `jnp` has NumPy's functions, so that one text serves both engines.
    return _sample(jnp, philox.lower_words(state, how.attempts * _DRAWS), size, boxes, how)


def _infer(
    state: ShapeDtype, size: ShapeDtype, boxes: ShapeDtype, how: Window
) -> tuple[ShapeDtype, ShapeDtype, ShapeDtype]:
    require(
        size.shape is None or (len(size.shape) == 1 and size.shape[0] in (None, 3)),
        "sample_distorted_bounding_box",
        "`image_size` must be height, width and channels",
        size,
    )
    require(
        boxes.shape is None or (len(boxes.shape) == 3 and boxes.shape[2] in (None, 4)),
        "sample_distorted_bounding_box",
        "`bounding_boxes` must be [batch, n, 4]",
        boxes,
    )
    place = ShapeDtype((3,), size.dtype)
    return place, place, ShapeDtype((1, 1, 4), dtypes.float32)


SAMPLE_BOX = Op(
    "sample_distorted_bounding_box",
    "state size boxes",
    kernel=_kernel,
    infer=_infer,
    lower=_lower,
    grad=None,
    accepts=nums("i", "u", "f"),
    match=(),
    outputs=3,
)


class SampledBox(NamedTuple):
    """Where a window begins, its size, and its box [[[top, left, bottom, right]]]."""

    begin: Any
    size: Any
    bboxes: Any


def _pair(name: str, what: str, given: Any, usual: tuple[float, float]) -> tuple[float, float]:
    if given is None:
        return usual
    result = tuple(static_float(name, v, what) for v in given)
    require(
        len(result) == 2 and all(v > 0 for v in result),
        name,
        f"`{what}` must be two positive numbers; got {list(result)}",
    )
    return result[0], result[1]


def _drawn(
    name: str, state: Tensor, image_size: TensorLike, bounding_boxes: TensorLike, covered: TensorLike, ratio: TensorLike | None,
    area: TensorLike | None, attempts: TensorLike | None, whole: bool | None,
) -> SampledBox:  # fmt: skip
    size, boxes = (
        operand_or_empty(image_size, dtypes.int32),
        operand(bounding_boxes, dtypes.float32),
    )
    require_dtype(size.dtype in _TYPES, name, "`image_size` must be whole numbers", size)
    how = Window(
        bool(whole),
        static_float(name, covered, "min_object_covered"),
        _pair(name, "aspect_ratio_range", ratio, (0.75, 1.33)),
        _pair(name, "area_range", area, (0.05, 1.0)),
        static_int(name, attempts, "max_attempts", 100),
    )
    if how.covered < 0 or max(how.area) > 1 or how.attempts < 1:
        rule = (
            "`min_object_covered` must not be negative, `area_range` not above 1, `max_attempts` "
            "positive"
        )
        raise invalid(name, f"{rule}; got {how.covered}, {how.area} and {how.attempts}")
    return SampledBox(*apply(SAMPLE_BOX, state, size, boxes, how=how))


def sample_distorted_bounding_box(
    image_size: TensorLike, bounding_boxes: TensorLike, seed: TensorLike = 0, min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None, area_range: TensorLike | None = None, max_attempts: TensorLike | None = None,
    use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> SampledBox:  # fmt: skip
    """A random window of an image that shows at least `min_object_covered` of one of its boxes.

    Boxes are [batch, n, 4] as parts of the image: top, left, bottom, right. Where no attempt fits,
    the window is the whole image. `begin` and `size` are what `tf.slice` takes.
    """
    name = "sample_distorted_bounding_box"
    state = next_state(name, seed or None)
    return _drawn(
        name, state, image_size, bounding_boxes, min_object_covered, aspect_ratio_range,
        area_range, max_attempts, use_image_if_no_bounding_boxes,
    )  # fmt: skip


def stateless_sample_distorted_bounding_box(
    image_size: TensorLike, bounding_boxes: TensorLike, seed: TensorLike, min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None, area_range: TensorLike | None = None, max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None, name: str | None = None,
) -> SampledBox:  # fmt: skip
    """`sample_distorted_bounding_box` that depends on `seed` alone."""
    return _drawn(
        "stateless_sample_distorted_bounding_box", seed_state(seed), image_size, bounding_boxes,
        min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes,
    )  # fmt: skip
