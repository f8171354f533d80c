"""Boxes in images: crops that are resized, and the choice of boxes that do not overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply, spec, wrap
from wengert.core.convert import operand
from wengert.core.errors import OutOfRangeError, invalid, invalid_dtype
from wengert.core.op import Op, Spec
from wengert.ops.cast import cast
from wengert.ops.declare import static, static_int


def _positions(low: Any, high: Any, size: int, count: int) -> Any:
    """Where a crop of `count` elements reads an axis of `size`, box by box."""
    from wengert.ops.shaping import reshape

    low, high = reshape(low, (-1, 1)), reshape(high, (-1, 1))
    if count == 1:
        return (low + high) * (0.5 * (size - 1))
    # In this order, so that the last place of a full box is the last element and not beyond it.
    step = (high - low) * float(size - 1) / float(count - 1)
    return low * float(size - 1) + step * wrap(np.arange(count, dtype=low.dtype.np)[None])


def _inside(at: Any, size: int) -> np.ndarray:
    array = at._array
    return (array >= 0) & (array <= size - 1)


def _check_crops(x: Any, boxes: Any, rows: Any) -> None:
    name = "crop_and_resize"
    if x._array.ndim != 4 or boxes._array.ndim != 2 or boxes._array.shape[1] != 4:
        raise invalid(name, "images of rank 4 and boxes [n, 4] are needed", x, boxes)
    if not boxes.dtype.is_floating or not rows.dtype.is_integer:
        raise invalid_dtype(name, "boxes are floating and `box_indices` whole numbers", boxes, rows)
    if rows._array.shape != boxes._array.shape[:1]:
        raise invalid(name, "each box needs one index of an image", boxes, rows)
    if not np.isfinite(boxes._array).all():
        raise invalid(name, "a box has a corner that is not finite", boxes)
    batch = x._array.shape[0]
    if rows._array.size and not 0 <= rows._array.min() <= rows._array.max() < batch:
        raise invalid(name, f"an index lies outside [0, {batch})", rows, kind=OutOfRangeError)


def crops(x: Any, boxes: Any, rows: Any, size: tuple[int, int], method: str, fill: Any) -> Any:
    """Crops of the images `x[rows]` in their own dtype; gradients reach images and boxes."""
    from wengert.ops.dims import expand_dims
    from wengert.ops.gather import gather
    from wengert.ops.joining import unstack
    from wengert.ops.select import where
    from wengert.ops.shaping import reshape

    _check_crops(x, boxes, rows)
    batch, height, width, depth = x._array.shape
    y1, x1, y2, x2 = unstack(boxes, axis=1)
    down = _positions(y1, y2, height, size[0])
    right = _positions(x1, x2, width, size[1])
    table = reshape(x, (batch * height * width, depth))
    start = rows._array.astype(np.int64)[:, None, None] * height

    def read(row: np.ndarray, column: np.ndarray) -> Any:
        row = row.clip(0, height - 1).astype(np.int64)[:, :, None]
        column = column.clip(0, width - 1).astype(np.int64)[:, None, :]
        return gather(table, wrap((start + row) * width + column))

    if method == "nearest":
        # TensorFlow rounds halves away from zero; positions inside are never negative.
        found = read(np.floor(down._array + 0.5), np.floor(right._array + 0.5))
    else:
        top, left = np.floor(down._array), np.floor(right._array)
        bottom, end = np.ceil(down._array), np.ceil(right._array)
        fy = expand_dims(expand_dims(down - wrap(top), 2), 3)
        fx = expand_dims(expand_dims(right - wrap(left), 1), 3)
        a, b = read(top, left), read(top, end)
        c, d = read(bottom, left), read(bottom, end)
        upper, lower = a + (b - a) * fx, c + (d - c) * fx
        found = upper + (lower - upper) * fy
    seen = _inside(down, height)[:, :, None] & _inside(right, width)[:, None, :]
    return where(wrap(seen[..., None]), found, operand(fill, found.dtype))


def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear",
    extrapolation_value: Any = 0.0, name: Any = None,
) -> Any:  # fmt: skip
    """Cuts boxes [y1, x1, y2, x2] (fractions of the height and width) out and resizes them.

    Box `i` is cut from image `box_indices[i]`. What lies outside reads `extrapolation_value`.
    The result is float32; gradients reach images and boxes.
    """
    x = operand(image)
    corners = operand(boxes, None, dtypes.float32)
    rows = operand(box_indices)
    if method not in ("bilinear", "nearest"):
        raise invalid(
            "crop_and_resize", f"`method` must be 'bilinear' or 'nearest'; got {method!r}"
        )
    size = static("crop_and_resize", crop_size)
    if not isinstance(size, tuple) or len(size) != 2 or min(size) < 1:
        raise invalid("crop_and_resize", f"`crop_size` must be two positive numbers; got {size}")
    return crops(cast(x, dtypes.float32), corners, rows, size, method, extrapolation_value)


def _overlaps(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The area two boxes share over the area they cover; 0 where a box is empty."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.prod(np.maximum(sides, 0.0), 1)
    area, areas = np.prod(box[2:] - box[:2]), np.prod(others[:, 2:] - others[:, :2], 1)
    covered = area + areas - shared
    return np.where((area > 0) & (areas > 0), shared / np.where(covered > 0, covered, 1.0), 0.0)


def _suppress(
    boxes: np.ndarray, scores: np.ndarray, most: int, overlap: float, threshold: float
) -> np.ndarray:
    corners = boxes.astype(np.float32)
    corners = np.concatenate(
        [np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])], 1
    )
    order = np.argsort(-scores.astype(np.float32), kind="stable")
    order = order[scores[order].astype(np.float32) > np.float32(threshold)]
    kept: list[int] = []
    while order.size and len(kept) < most:
        best, order = int(order[0]), order[1:]
        kept.append(best)
        order = order[_overlaps(corners[best], corners[order]) <= np.float32(overlap)]
    return np.array(kept, np.int32)


def _infer_suppress(boxes: Spec, scores: Spec, most: int, overlap: float, threshold: float) -> Spec:
    bad = boxes.shape is not None and (len(boxes.shape) != 2 or boxes.shape[1] not in (None, 4))
    if bad or (
        boxes.shape is not None and scores.shape is not None
        and (len(scores.shape) != 1 or (None not in (boxes.shape[0], scores.shape[0])
             and boxes.shape[0] != scores.shape[0]))
    ):  # fmt: skip
        raise invalid(
            "non_max_suppression", "boxes [n, 4] and as many scores are needed", boxes, scores
        )
    return Spec((None,), dtypes.int32)


NON_MAX_SUPPRESSION = Op(
    "non_max_suppression",
    "boxes scores",
    kernel=_suppress,
    infer=_infer_suppress,
    lower=None,
    grad=None,
    accepts=dtypes.FLOAT,
)


def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), name: Any = None,
) -> Any:  # fmt: skip
    """Indices of boxes in order of score, leaving out those that overlap a better one too much.

    Of equal scores the first box wins.
    """
    b = operand(boxes, None, dtypes.float32)
    s = operand(scores, None, b.dtype)
    overlap = float(iou_threshold)
    if not 0.0 <= overlap <= 1.0:
        raise invalid(
            "non_max_suppression", f"`iou_threshold` must be within [0, 1]; got {overlap}"
        )
    most = static_int("non_max_suppression", max_output_size, "max_output_size")
    if most < 0:
        raise invalid("non_max_suppression", f"`max_output_size` must not be negative; got {most}")
    attrs = {
        "most": most,
        "overlap": overlap,
        "threshold": float(score_threshold),
    }
    _infer_suppress(spec(b), spec(s), **attrs)
    return apply(NON_MAX_SUPPRESSION, b, s, **attrs)
