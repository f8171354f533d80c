"""What detectors end with: the choice of boxes by score, class by class, and drawing them.

All of it is about counting and order, so it has no gradients and runs on the host.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from wengert.ops.boxes import by_overlap, choosing, chosen
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    invalid,
    known_unequal,
    operand,
    require,
    smaller,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.sizes import checked


def _check_share(name: str, value: np.ndarray, what: str = "iou_threshold") -> None:
    require(
        0.0 <= value <= 1.0, name, lambda: f"`{what}` must be within [0, 1]; got {float(value):g}"
    )


def _faded(
    shares: Any, scores: np.ndarray, most: int, lowest: np.float32, sigma: np.float32
) -> tuple[list[int], list[np.float32]]:
    """Candidates in order of score, where scores fade by how much they share with better ones.

    A candidate whose score has faded since it was put in the queue goes back and waits its turn.
    """
    queue = [(-scores[i], int(i), 0) for i in np.flatnonzero(scores > lowest)]
    heapq.heapify(queue)
    kept: list[int] = []
    results: list[np.float32] = []
    while queue and len(kept) < most:
        negative, best, seen = heapq.heappop(queue)
        shared = shares(best, kept[seen:])
        fading = np.exp(-0.5 / sigma * shared * shared)
        score = np.float32(-negative)
        for fade in fading[::-1].astype(np.float32):
            score = np.float32(score * fade)
        if score == -negative:
            kept.append(best)
            results.append(score)
        elif score > lowest:
            heapq.heappush(queue, (-score, best, len(kept)))
    return kept, results


def _scored_kernel(
    boxes: np.ndarray, scores: np.ndarray, limit: np.ndarray, lowest: np.ndarray,
    sigma: np.ndarray, most: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    _check_share("non_max_suppression_with_scores", limit)
    require(
        sigma >= 0.0,
        "non_max_suppression_with_scores",
        lambda: f"`soft_nms_sigma` must not be negative; got {float(sigma):g}",
    )
    if sigma > 0.0:
        values, least = scores.astype(np.float32), np.float32(lowest)
        kept, result = _faded(by_overlap(boxes), values, most, least, np.float32(sigma))
        return np.array(kept, np.int32), np.array(result, scores.dtype)
    rows = chosen(by_overlap(boxes), scores, most, limit, lowest)
    return rows, scores[rows]


def _need_boxes(name: str, boxes: ShapeDtype, scores: ShapeDtype) -> None:
    b, s = boxes.shape, scores.shape
    fits = (b is None or (len(b) == 2 and b[1] in (None, 4))) and (s is None or len(s) == 1)
    if fits and b is not None and s is not None:
        fits = not known_unequal(b[0], s[0])
    require(fits, name, "boxes [n, 4] and as many scores are needed", boxes, scores)


def _infer_scored(
    boxes: ShapeDtype,
    scores: ShapeDtype,
    limit: ShapeDtype,
    lowest: ShapeDtype,
    sigma: ShapeDtype,
    most: int,
) -> tuple[ShapeDtype, ShapeDtype]:
    _need_boxes("non_max_suppression_with_scores", boxes, scores)
    return ShapeDtype((None,), dtypes.int32), ShapeDtype((None,), scores.dtype)


SCORED_SUPPRESSION = choosing(
    "scored_suppression",
    "boxes scores limit lowest sigma",
    _scored_kernel,
    _infer_scored,
    outputs=2,
)


def _count(name: str, value: TensorLike, what: str, least: int = 0) -> int:
    count = static_int(name, value, what)
    if count < least:
        rule = "positive" if least else "0 or more"
        raise invalid(name, f"`{what}` must be {rule}; got {count}")
    return count


def _operands(boxes: TensorLike, scores: TensorLike, *limits: TensorLike) -> list[Tensor]:
    """Boxes (or how much they overlap), scores of their dtype, and limits."""
    b = operand(boxes, None, dtypes.float32)
    return [b, operand(scores, None, b.dtype), *[operand(v, None, dtypes.float32) for v in limits]]


def non_max_suppression_with_scores(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), soft_nms_sigma: TensorLike = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Indices of boxes in order of score, and their scores.

    With `soft_nms_sigma` the score of a box fades by how much it overlaps better ones, and
    `iou_threshold` does not count.
    """
    given = _operands(boxes, scores, iou_threshold, score_threshold, soft_nms_sigma)
    most = _count("non_max_suppression_with_scores", max_output_size, "max_output_size")
    return apply(SCORED_SUPPRESSION, *given, most=most)


def _padded_kernel(
    boxes: np.ndarray, scores: np.ndarray, limit: np.ndarray, lowest: np.ndarray, most: int,
    pads: bool,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    _check_share("non_max_suppression_padded", limit)
    lead = boxes.shape[:-2]
    sets = zip(
        boxes.reshape(-1, *boxes.shape[-2:]), scores.reshape(-1, scores.shape[-1]), strict=True
    )
    all_kept = [chosen(by_overlap(b), s, most, limit, lowest) for b, s in sets]
    counts = np.array([len(kept) for kept in all_kept], np.int32)
    width = most if pads else int(counts.max(initial=0))
    out = np.zeros((len(all_kept), width), np.int32)
    for row, kept in zip(out, all_kept, strict=True):
        row[: len(kept)] = kept
    return out.reshape(*lead, width), counts.reshape(lead)


def _infer_padded(
    boxes: ShapeDtype,
    scores: ShapeDtype,
    limit: ShapeDtype,
    lowest: ShapeDtype,
    most: int,
    pads: bool,
) -> tuple[ShapeDtype, ShapeDtype]:
    b, s = boxes.shape, scores.shape
    if b is None or s is None:
        return ShapeDtype(None, dtypes.int32), ShapeDtype(None, dtypes.int32)
    pairs = zip(b[:-1], s, strict=False)
    fits = len(b) >= 2 and len(s) == len(b) - 1 and b[-1] in (None, 4)
    require(
        fits and all(not known_unequal(*p) for p in pairs),
        "non_max_suppression_padded",
        "boxes [..., n, 4] and as many scores [..., n] are needed",
        boxes,
        scores,
    )
    lead = tuple(b[:-2])
    return ShapeDtype((*lead, most if pads else None), dtypes.int32), ShapeDtype(lead, dtypes.int32)


PADDED_SUPPRESSION = choosing(
    "padded_suppression", "boxes scores limit lowest", _padded_kernel, _infer_padded, outputs=2
)


def non_max_suppression_padded(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), pad_to_max_output_size: bool = False, name: str | None = None,
    sorted_input: bool = False, canonicalized_coordinates: bool = False, tile_size: int = 512,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Indices of boxes in order of score, filled up with zeros, and how many are real.

    Boxes may come in batches [..., n, 4]. The last three arguments change nothing here.
    """
    given = _operands(boxes, scores, iou_threshold, score_threshold)
    most = _count("non_max_suppression_padded", max_output_size, "max_output_size")
    return apply(PADDED_SUPPRESSION, *given, most=most, pads=bool(pad_to_max_output_size))


def _infer_table(
    shares: ShapeDtype, scores: ShapeDtype, limit: ShapeDtype, lowest: ShapeDtype, most: int
) -> ShapeDtype:
    a, s = shares.shape, scores.shape
    known = {n for n in (*(a or ()), *(s or ())) if n is not None}
    require(
        (a is None or len(a) == 2) and (s is None or len(s) == 1) and len(known) <= 1,
        "non_max_suppression_overlaps",
        "overlaps [n, n] and as many scores are needed",
        shares,
        scores,
    )
    return ShapeDtype((None,), dtypes.int32)


TABLE_SUPPRESSION = choosing(
    "table_suppression",
    "shares scores limit lowest",
    lambda shares, scores, limit, lowest, most: chosen(
        lambda i, others: shares[others, i], scores, most, limit, lowest
    ),
    _infer_table,
)


def non_max_suppression_overlaps(
    overlaps: TensorLike, scores: TensorLike, max_output_size: TensorLike, overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """Indices in order of score, given how much each pair overlaps."""
    given = _operands(overlaps, scores, overlap_threshold, score_threshold)
    most = _count("non_max_suppression_overlaps", max_output_size, "max_output_size")
    return apply(TABLE_SUPPRESSION, *given, most=most)


class CombinedNonMaxSuppression(NamedTuple):
    """The boxes chosen in each image, filled up with zeros, and how many are real."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


def _combined_kernel(
    boxes: np.ndarray, scores: np.ndarray, limit: np.ndarray, lowest: np.ndarray, most: int,
    size: int, clips: bool,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    _check_share("combined_non_max_suppression", limit)
    batch, _, classes = scores.shape
    out = np.zeros((batch, size, 4), np.float32)
    values, kinds = np.zeros((2, batch, size), np.float32)
    counts = np.zeros(batch, np.int32)
    for k in range(batch):
        result: list[tuple[int, int]] = []
        for c in range(classes):
            shares = by_overlap(boxes[k, :, c % boxes.shape[2]])
            result += [(i, c) for i in chosen(shares, scores[k, :, c], most, limit, lowest)]
        result = sorted(result, key=lambda at: -scores[k, *at])[:size]
        counts[k] = len(result)
        for j, (i, c) in enumerate(result):
            out[k, j] = boxes[k, i, c % boxes.shape[2]]
            values[k, j], kinds[k, j] = scores[k, i, c], c
    return np.clip(out, 0.0, 1.0) if clips else out, values, kinds, counts


def _infer_combined(
    boxes: ShapeDtype,
    scores: ShapeDtype,
    limit: ShapeDtype,
    lowest: ShapeDtype,
    most: int,
    size: int,
    clips: bool,
) -> tuple[ShapeDtype, ...]:
    b, s = boxes.shape or (None,) * 4, scores.shape or (None,) * 3
    fits = len(b) == 4 and len(s) == 3 and b[3] in (None, 4)
    require(
        fits and all(not known_unequal(*p) for p in zip(b[:2], s[:2], strict=True)),
        "combined_non_max_suppression",
        "boxes [batch, n, classes or 1, 4] and scores [batch, n, classes] are needed",
        boxes,
        scores,
    )
    require(
        b[2] in (None, 1) or s[2] in (None, b[2]),
        "combined_non_max_suppression",
        "there must be boxes for each class, or one set for all",
        boxes,
        scores,
    )
    batch = s[0] if b[0] is None else b[0]
    numbers = ShapeDtype((batch, size), dtypes.float32)
    return (
        ShapeDtype((batch, size, 4), dtypes.float32),
        numbers,
        numbers,
        ShapeDtype((batch,), dtypes.int32),
    )


COMBINED_SUPPRESSION = choosing(
    "combined_suppression",
    "boxes scores limit lowest",
    _combined_kernel,
    _infer_combined,
    outputs=4,
)


def combined_non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size_per_class: TensorLike, max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5, score_threshold: TensorLike = float("-inf"), pad_per_class: bool = False,
    clip_boxes: bool = True, name: str | None = None,
) -> CombinedNonMaxSuppression:  # fmt: skip
    """The best boxes of each image over all classes, none overlapping a better one of its class.

    `boxes` are [batch, n, q, 4] with q = 1 where the classes share them, `scores` are
    [batch, n, classes]. With `pad_per_class` the results hold no more than all classes can fill.
    """
    which = "combined_non_max_suppression"
    b, s = operand(boxes, dtypes.float32), operand(scores, dtypes.float32)
    limits = [operand(v, dtypes.float32) for v in (iou_threshold, score_threshold)]
    most = _count(which, max_output_size_per_class, "max_output_size_per_class", 1)
    size = _count(which, max_total_size, "max_total_size", 1)
    if pad_per_class and s._array.ndim == 3:
        size = smaller(size, most * s._array.shape[2])
    result = apply(
        COMBINED_SUPPRESSION, b, s, *limits, most=most, size=size, clips=bool(clip_boxes)
    )
    return CombinedNonMaxSuppression(*result)


# The colours of outlines, box after box: yellow, blue, red, lime, purple, olive, maroon, navy,
# aqua, fuchsia; the fourth number is opacity.
_COLORS = np.array(
    [[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
     [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]],
    np.float32,
)  # fmt: skip


def _outline(image: np.ndarray, box: np.ndarray, color: np.ndarray) -> None:
    """Draws the sides of a box that lie within the image, one pixel thick."""
    if not np.isfinite(box).all():
        return
    height, width = image.shape[:2]
    top, bottom = (int(v) for v in box[::2] * np.float32(height - 1))
    left, right = (int(v) for v in box[1::2] * np.float32(width - 1))
    if top > bottom or left > right or bottom < 0 or right < 0 or top >= height or left >= width:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for row in {top, bottom}:
        if 0 <= row < height:
            image[row, columns] = color
    for column in {left, right}:
        if 0 <= column < width:
            image[rows, column] = color


def _draw_kernel(images: np.ndarray, boxes: np.ndarray, colors: np.ndarray) -> np.ndarray:
    out = images.copy()
    depth = images.shape[3]
    for image, here in zip(out, boxes, strict=True):
        for k, box in enumerate(here):
            _outline(image, box, colors[k % len(colors)][:depth])
    return out


def _fewer(a: int | None, b: int | None) -> bool:
    """Whether one size is known to be smaller than another."""
    return a is not None and b is not None and a < b


def _infer_draw(images: ShapeDtype, boxes: ShapeDtype, colors: ShapeDtype) -> ShapeDtype:
    x, b, c = images.shape or (None,) * 4, boxes.shape or (None,) * 3, colors.shape
    require(
        len(x) == 4 and len(b) == 3 and b[2] in (None, 4),
        "draw_bounding_boxes",
        "images of rank 4 and boxes [batch, n, 4] are needed",
        images,
        boxes,
    )
    require(
        not known_unequal(x[0], b[0]),
        "draw_bounding_boxes",
        "there must be a list of boxes for each image",
        images,
        boxes,
    )
    require(
        c is None or (len(c) == 2 and not _fewer(c[1], x[3])),
        "draw_bounding_boxes",
        "`colors` must be rows with a number for each channel of the images",
        images,
        colors,
    )
    return images


DRAW_BOXES = Op(
    "draw_bounding_boxes",
    "images boxes colors",
    kernel=checked(_draw_kernel, _infer_draw),
    infer=_infer_draw,
    lower=None,
    grad=None,
    accepts=dtypes.FLOAT,
    match=(),
)


@with_fallback
def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, colors: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Images with the outlines of boxes [y1, x1, y2, x2] (fractions of the height and width).

    `colors` are taken in turn, box by box; ten of our own if there are none.
    """
    x = operand(images)
    require(x._array.ndim == 4, "draw_bounding_boxes", "`images` must have rank 4", x)
    x = x if x.dtype.is_floating else tf.cast(x, dtypes.float32)
    given = None if colors is None else operand(colors, None, dtypes.float32)
    if given is None or given._array.shape[:1] == (0,):
        table = _COLORS.copy()
        if x._array.ndim == 4 and x._array.shape[3] == 1:
            table[:, 0] = 1.0
        given = operand(table)
    return apply(DRAW_BOXES, x, operand(boxes, dtypes.float32), given)
