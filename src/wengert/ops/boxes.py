"""Boxes in images: crops that are resized, and the choice of boxes that do not overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import OutOfRangeError
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    fail_if,
    is_open,
    known_unequal,
    lax,
    must_fit,
    operand,
    require,
    require_dtype,
    shapes,
    static,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.sizes import checked, factor, table


def _counted(count: int) -> np.ndarray:
    return np.arange(count)[None]


def _shares(count: int) -> np.ndarray:
    """How far along a box each element of a crop reads; the middle for a single one."""
    return np.arange(count)[None] / (count - 1) if count > 1 else np.full((1, count), 0.5)


def _positions(low: Tensor, high: Tensor, size: int | Dim, count: int) -> Tensor:
    """Where a crop of `count` elements reads an axis of `size`, box by box."""
    low, high = tf.reshape(low, (-1, 1)), tf.reshape(high, (-1, 1))
    last = factor(size - 1, low.dtype)
    if is_open(count):
        return low * last + (high - low) * last * table(_shares, (1, count), low.dtype, count)
    if count == 1:
        return (low + high) * (0.5 * last)
    # In this order, so that the last place of a full box is the last element and not beyond it.
    step = (high - low) * last / factor(count - 1, low.dtype)
    return low * last + step * table(_counted, (1, count), low.dtype, count)


def _pixel(at: Tensor, size: int | Dim) -> Tensor:
    """Whole positions as indices within an axis."""
    return tf.cast(tf.maximum(tf.minimum(at, factor(size - 1, at.dtype)), 0.0), dtypes.int64)


def _seen(at: Tensor, size: int | Dim) -> Tensor:
    """Which positions lie within an axis."""
    return (at >= 0.0) & (at <= factor(size - 1, at.dtype))


def _check_kernel(boxes: np.ndarray, rows: np.ndarray, batch: int) -> np.ndarray:
    name = "crop_and_resize"
    must_fit(rows.shape == boxes.shape[:1] and boxes.shape[1:] == (4,))
    require(np.isfinite(boxes).all(), name, "a box has a corner that is not finite", boxes)
    require(
        not rows.size or 0 <= rows.min() <= rows.max() < batch,
        name,
        f"an index lies outside [0, {batch})",
        rows,
        kind=OutOfRangeError,
    )
    return boxes


def _infer_check(boxes: ShapeDtype, rows: ShapeDtype, batch: int | None) -> ShapeDtype:
    name = "crop_and_resize"
    require(
        not known_unequal(boxes.shape, (None, 4)),
        name,
        "images of rank 4 and boxes [n, 4] are needed",
        boxes,
    )
    require(
        shapes.compatible(rows.shape, boxes.shape and boxes.shape[:1]),
        name,
        "each box needs one index of an image",
        boxes,
        rows,
    )
    return boxes


def _lower_check(boxes: JaxArray, rows: JaxArray, batch: int) -> JaxArray:
    fail_if(lambda: lax.bitwise_not(lax.is_finite(boxes)))
    fail_if(lambda: (rows < 0) | (rows >= batch))
    return boxes


# Boxes whose numbers, and those of their images, have been looked at.
CHECKED_BOXES = Op(
    "checked_boxes",
    "boxes rows",
    kernel=_check_kernel,
    infer=_infer_check,
    lower=checked(_lower_check, _infer_check),
    grad=(lambda g: g, None),
    match=(),
)


def _check_crops(x: Tensor, boxes: Value, rows: Value) -> None:
    name = "crop_and_resize"
    require(
        x._array.ndim == 4
        and boxes._array.ndim == 2
        and not known_unequal(boxes._array.shape[1], 4),
        name,
        "images of rank 4 and boxes [n, 4] are needed",
        x,
        boxes,
    )
    require_dtype(
        boxes.dtype.is_floating and rows.dtype.is_integer,
        name,
        "boxes are floating and `box_indices` whole numbers",
        boxes,
        rows,
    )


@with_fallback
def crops(
    x: Tensor, boxes: Value, rows: Value, size: tuple[int, int], method: str, fill: TensorLike
) -> Tensor:
    """Crops of the images `x[rows]` in their own dtype; gradients reach images and boxes."""
    _check_crops(x, boxes, rows)
    batch, height, width, depth = x._array.shape
    boxes = apply(CHECKED_BOXES, boxes, rows, batch=batch)
    y1, x1, y2, x2 = tf.unstack(boxes, 4, axis=1)
    down = _positions(y1, y2, height, size[0])
    right = _positions(x1, x2, width, size[1])
    pixels = tf.reshape(x, (batch * height * width, depth))
    start = tf.reshape(tf.cast(rows, dtypes.int64), (-1, 1, 1)) * height

    def read(row: Tensor, column: Tensor) -> Tensor:
        places = (start + tf.expand_dims(_pixel(row, height), 2)) * width
        return tf.gather(pixels, places + tf.expand_dims(_pixel(column, width), 1))

    if method == "nearest":
        # TensorFlow rounds halves away from zero; positions inside are never negative.
        result = read(tf.floor(down + 0.5), tf.floor(right + 0.5))
    else:
        top, left, bottom, end = tf.floor(down), tf.floor(right), tf.ceil(down), tf.ceil(right)
        fy = tf.expand_dims(tf.expand_dims(down - top, 2), 3)
        fx = tf.expand_dims(tf.expand_dims(right - left, 1), 3)
        a, b = read(top, left), read(top, end)
        c, d = read(bottom, left), read(bottom, end)
        upper, lower = a + (b - a) * fx, c + (d - c) * fx
        result = upper + (lower - upper) * fy
    seen = tf.expand_dims(_seen(down, height), 2) & tf.expand_dims(_seen(right, width), 1)
    return tf.where(tf.expand_dims(seen, 3), result, operand(fill, result.dtype))


def crop_and_resize(
    image: TensorLike, boxes: TensorLike, box_indices: TensorLike, crop_size: TensorLike, method: str = "bilinear",
    extrapolation_value: TensorLike = 0.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Cuts boxes [y1, x1, y2, x2] (fractions of the height and width) out and resizes them.

    Box `i` is cut from image `box_indices[i]`. What lies outside reads `extrapolation_value`.
    The result is float32; gradients reach images and boxes.
    """
    x = operand(image)
    corners = operand(boxes, None, dtypes.float32)
    rows = operand(box_indices)
    require(
        method in ("bilinear", "nearest"),
        "crop_and_resize",
        f"`method` must be 'bilinear' or 'nearest'; got {method!r}",
    )
    size = static("crop_and_resize", crop_size)
    require(
        isinstance(size, tuple)
        and len(size) == 2
        and all(type(n) is Dim or (type(n) is int and n >= 1) for n in size),
        "crop_and_resize",
        f"`crop_size` must be two positive numbers; got {size}",
    )
    return crops(tf.cast(x, dtypes.float32), corners, rows, size, method, extrapolation_value)


def chosen(
    shares: Any, scores: np.ndarray, most: int, limit: np.ndarray, lowest: np.ndarray
) -> np.ndarray:
    """Candidates in order of score, without those that share more than `limit` with a better one.

    `shares(i, others)` tells how much; only scores above `lowest` count.
    """
    values = scores.astype(np.float32)
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > np.float32(lowest)]
    kept: list[int] = []
    while order.size and len(kept) < most:
        best, order = int(order[0]), order[1:]
        kept.append(best)
        order = order[shares(best, order) <= np.float32(limit)]
    return np.array(kept, np.int32)


def by_overlap(boxes: np.ndarray) -> Any:
    """The area that one of the boxes shares with others over the area they cover, for `chosen`.

    It is 0 where a box is empty.
    """
    y1, x1, y2, x2 = np.ascontiguousarray(boxes.astype(np.float32).T)
    y1, y2, x1, x2 = np.minimum(y1, y2), np.maximum(y1, y2), np.minimum(x1, x2), np.maximum(x1, x2)
    areas = (y2 - y1) * (x2 - x1)

    def share(i: int, others: list[int] | np.ndarray) -> np.ndarray:
        height = np.minimum(y2[i], y2[others]) - np.maximum(y1[i], y1[others])
        width = np.minimum(x2[i], x2[others]) - np.maximum(x1[i], x1[others])
        shared = np.maximum(height, 0) * np.maximum(width, 0)
        covered = areas[i] + areas[others] - shared
        full = (areas[others] > 0) & (areas[i] > 0)
        return np.where(full, shared / np.where(full, covered, 1), 0)

    return share


def _suppress(
    boxes: np.ndarray, scores: np.ndarray, overlap: np.ndarray, threshold: np.ndarray, most: int
) -> np.ndarray:
    require(
        0.0 <= overlap <= 1.0,
        "non_max_suppression",
        lambda: f"`iou_threshold` must be within [0, 1]; got {float(overlap):g}",
    )
    require(most >= 0, "non_max_suppression", f"`max_output_size` must not be negative; got {most}")
    return chosen(by_overlap(boxes), scores, most, overlap, threshold)


def _infer_suppress(
    boxes: ShapeDtype, scores: ShapeDtype, overlap: ShapeDtype, threshold: ShapeDtype, most: int
) -> ShapeDtype:
    bad = boxes.shape is not None and (len(boxes.shape) != 2 or boxes.shape[1] not in (None, 4))
    require(
        not bad
        and (
            boxes.shape is None
            or scores.shape is None
            or (len(scores.shape) == 1 and (not known_unequal(boxes.shape[0], scores.shape[0])))
        ),
        "non_max_suppression",
        "boxes [n, 4] and as many scores are needed",
        boxes,
        scores,
    )
    return ShapeDtype((None,), dtypes.int32)


def choosing(name: str, inputs: str, kernel: Any, infer: Any, outputs: int = 1) -> Op:
    """An operation that chooses by scores: it has no gradient, nor a fixed shape for XLA."""
    return Op(
        name,
        inputs,
        kernel=checked(kernel, infer),
        infer=infer,
        lower=None,
        grad=None,
        accepts=dtypes.FLOAT,
        match=(0, 1),
        outputs=outputs,
    )


NON_MAX_SUPPRESSION = choosing(
    "non_max_suppression", "boxes scores overlap threshold", _suppress, _infer_suppress
)


def non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """Indices of boxes in order of score, leaving out those that overlap a better one too much.

    Of equal scores the first box wins.
    """
    b = operand(boxes, None, dtypes.float32)
    s = operand(scores, None, b.dtype)
    overlap = operand(iou_threshold, None, dtypes.float32)
    threshold = operand(score_threshold, None, dtypes.float32)
    most = static_int("non_max_suppression", max_output_size, "max_output_size")
    return apply(NON_MAX_SUPPRESSION, b, s, overlap, threshold, most=most)
