"""Boxes chosen by score, and drawn; expected values are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

I = tf.image
BOXES = np.array(
    [[-0.09, -0.03, 0.26, 0.5], [0.53, 0.41, 1.08, 0.76], [-0.01, 0.09, 0.19, 0.78],
     [0.3, -0.02, 0.65, 0.34], [0.41, -0.13, 1.06, 0.36], [0.17, 0.22, 0.61, 0.81],
     [0.32, 0.31, 0.54, 0.86], [0.54, 0.83, 0.93, 1.08]],
    np.float32,
)  # fmt: skip
SCORES = np.array([0.65, 0.75, 0.45, 0.35, 0.25, 0.15, 0.55, 0.85], np.float32)
WAYS = {"eager": lambda f: f, "function": tf.function}

SCORED = {
    "hard": ({"iou_threshold": 0.2}, [7, 1, 0, 6, 3], [0.85, 0.75, 0.65, 0.55, 0.35]),
    "soft": (
        {"soft_nms_sigma": 0.5, "iou_threshold": 0.9},
        [7, 1, 0, 6, 2, 3],
        [0.85, 0.75, 0.65, 0.54993, 0.401, 0.34974],
    ),
    "soft and only the good": (
        {"soft_nms_sigma": 0.1, "score_threshold": 0.3, "iou_threshold": 0.9},
        [7, 1, 0, 6, 3],
        [0.85, 0.75, 0.65, 0.54965, 0.34868],
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize(("options", "rows", "scores"), SCORED.values(), ids=SCORED.keys())
def test_boxes_with_their_scores(options: Any, rows: Any, scores: Any, way: Any) -> None:
    f = way(lambda b, s: I.non_max_suppression_with_scores(b, s, 6, **options))
    found = f(tf.constant(BOXES), tf.constant(SCORES))
    assert found[0].numpy().tolist() == rows
    np.testing.assert_allclose(found[1], scores, 2e-5)


def test_batches_of_boxes_filled_up() -> None:
    b, s = np.stack([BOXES, BOXES[::-1]]), np.stack([SCORES, SCORES])
    rows, counts = I.non_max_suppression_padded(b, s, 5, 0.1, pad_to_max_output_size=True)
    assert rows.numpy().tolist() == [[7, 1, 0, 6, 3], [7, 1, 0, 6, 3]]
    assert counts.numpy().tolist() == [5, 5]
    rows, count = I.non_max_suppression_padded(BOXES, SCORES, 7, 0.1, 0.5, True)
    assert (rows.numpy().tolist(), int(count)) == ([7, 1, 0, 6, 0, 0, 0], 4)
    rows, count = I.non_max_suppression_padded(BOXES, SCORES, 7, 0.1, 0.5)
    assert (rows.numpy().tolist(), int(count)) == ([7, 1, 0, 6], 4)


def test_a_table_of_overlaps() -> None:
    table = np.array(
        [[0.3, 0.71, 0.785, 0.545, 0.505, 0.755], [0.71, 0.82, 0.41, 0.52, 0.815, 0.135],
         [0.785, 0.41, 0.48, 0.355, 0.725, 0.625], [0.545, 0.52, 0.355, 0.4, 0.59, 0.41],
         [0.505, 0.815, 0.725, 0.59, 0.92, 0.41], [0.755, 0.135, 0.625, 0.41, 0.41, 0.97]],
        np.float32,
    )  # fmt: skip
    found = I.non_max_suppression_overlaps(table, SCORES[:6], 5, 0.6, 0.2)
    assert found.numpy().tolist() == [1, 2, 3]


def test_a_table_is_read_by_the_row_of_the_candidate() -> None:
    table, scores = [[1.0, 0.9, 0.0], [0.1, 1.0, 0.9], [0.0, 0.1, 1.0]], [3.0, 2.0, 1.0]
    found = I.non_max_suppression_overlaps(table, scores, 3, overlap_threshold=0.5)
    assert found.numpy().tolist() == [0, 1, 2]
    found = I.non_max_suppression_overlaps(np.transpose(table), scores, 3, overlap_threshold=0.5)
    assert found.numpy().tolist() == [0, 2]


def test_a_number_of_classes_that_a_trace_does_not_know() -> None:
    def choose(boxes: Any, scores: Any) -> Any:
        return I.combined_non_max_suppression(boxes, scores, 3, 5, pad_per_class=True)

    signature = [tf.TensorSpec([None, None, 1, 4]), tf.TensorSpec([None, None, None])]
    f = tf.function(choose, input_signature=signature)
    boxes = f.get_concrete_function().structured_outputs.nmsed_boxes
    assert boxes.shape.as_list() == [None, None, 4]
    for classes in (1, 2):
        b, s = BOXES[None, :, None], np.stack([SCORES, SCORES[::-1]], -1)[None, :, :classes]
        found, wanted = f(b, s), choose(b, s)
        assert found.nmsed_boxes.shape == (1, min(5, 3 * classes), 4)
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_the_best_of_all_classes(way: Any) -> None:
    both = np.stack([SCORES, 1 - SCORES], -1)[None]

    def best(boxes: Any, *sizes: Any, **options: Any) -> Any:
        f = way(lambda b, s: I.combined_non_max_suppression(b, s, *sizes, **options))
        return f(tf.constant(boxes), tf.constant(both))

    found = best(BOXES[None, :, None], 2, 6, iou_threshold=0.2)
    assert type(found).__name__ == "CombinedNonMaxSuppression"
    np.testing.assert_array_equal(found.nmsed_boxes[0, :4], np.clip(BOXES[[7, 5, 1, 4]], 0.0, 1.0))
    assert not found.nmsed_boxes[0, 4:].numpy().any()
    np.testing.assert_allclose(found.nmsed_scores, [[0.85, 0.85, 0.75, 0.75, 0, 0]], 1e-6)
    assert found.nmsed_classes.numpy().tolist() == [[0, 1, 0, 1, 0, 0]]
    assert found.valid_detections.numpy().tolist() == [4]
    options = {"pad_per_class": True, "clip_boxes": False, "score_threshold": 0.4}
    found = best(BOXES[None, :, None], 2, 6, **options)
    np.testing.assert_array_equal(found.nmsed_boxes[0], BOXES[[7, 5, 1, 4]])
    found = best(np.stack([BOXES, BOXES[::-1]], 1)[None], 3, 4, iou_threshold=0.2)
    np.testing.assert_array_equal(found.nmsed_boxes[0], np.clip(BOXES[[7, 2, 1, 3]], 0, 1))


def test_outlines_of_boxes() -> None:
    boxes = [[[0.1, 0.1, 0.8, 0.9], [0, 0, 0.3, 0.3], [-0.5, 0.5, 0.5, 1.5]],
             [[0.5, 0.5, 0.2, 0.2], [0.2, 0.2, 2, 2], [np.nan, 0, 1, 1]]]  # fmt: skip
    drawn = I.draw_bounding_boxes(np.zeros((2, 8, 10, 3), np.float32), boxes, None).numpy()
    # Yellow is 3, blue 4 and red 1 here; the last box of the first image leaves it on two sides.
    assert (drawn @ [1, 2, 4]).astype(int).tolist() == [
        [[4, 4, 4, 3, 1, 3, 3, 3, 3, 0], [4, 0, 4, 0, 1, 0, 0, 0, 3, 0],
         [4, 4, 4, 0, 1, 0, 0, 0, 3, 0], [3, 0, 0, 0, 1, 1, 1, 1, 1, 1],
         [3, 0, 0, 0, 0, 0, 0, 0, 3, 0], [3, 3, 3, 3, 3, 3, 3, 3, 3, 0],
         [0] * 10, [0] * 10],
        [[0] * 10, [0, 4, 4, 4, 4, 4, 4, 4, 4, 4], *[[0, 4, 0, 0, 0, 0, 0, 0, 0, 0]] * 6],
    ]  # fmt: skip
    gray = I.draw_bounding_boxes(np.zeros((1, 4, 4, 1), np.float16), [[[0, 0, 1, 1]]], None)
    assert gray.dtype == tf.float16
    assert gray.numpy()[0, ..., 0].tolist() == [[1] * 4, [1, 0, 0, 1], [1, 0, 0, 1], [1] * 4]
    own = I.draw_bounding_boxes(np.zeros((1, 2, 2, 3)), [[[0, 0, 1, 1]]], [[0.25, 0.5, 0.75]])
    assert own.dtype == tf.float64
    assert own.numpy()[0, 1, 1].tolist() == [0.25, 0.5, 0.75]


IMAGES = np.zeros((2, 8, 8, 3), np.float32)
BAD = {
    "scores": (lambda: I.non_max_suppression_with_scores(BOXES, SCORES[:3], 3), "as many scores"),
    "sigma": (
        lambda: I.non_max_suppression_with_scores(BOXES, SCORES, 3, soft_nms_sigma=-1.0),
        "must not be negative",
    ),
    "share": (lambda: I.non_max_suppression_padded(BOXES, SCORES, 3, 1.5), r"within \[0, 1\]"),
    "count": (lambda: I.non_max_suppression_overlaps(BOXES[:4], SCORES[:4], -1), "0 or more"),
    "table": (lambda: I.non_max_suppression_overlaps(BOXES, SCORES, 3), r"overlaps \[n, n\]"),
    "classes": (
        lambda: I.combined_non_max_suppression(
            np.zeros((1, 5, 2, 4)), np.zeros((1, 5, 3)), 2, 2
        ),
        "boxes for each class, or one set for all",
    ),
    "none wanted": (
        lambda: I.combined_non_max_suppression(np.zeros((1, 5, 1, 4)), np.zeros((1, 5, 3)), 0, 2),
        "must be positive; got 0",
    ),
    "images": (lambda: I.draw_bounding_boxes(IMAGES[0], [[[0, 0, 1, 1]]]), "of rank 4"),
    "batch": (lambda: I.draw_bounding_boxes(IMAGES, [[[0, 0, 1, 1]]]), "for each image"),
    "colors": (
        lambda: I.draw_bounding_boxes(IMAGES, np.zeros((2, 1, 4)), [[1.0, 1.0]]),
        "a number for each channel",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "text"), BAD.values(), ids=BAD.keys())
def test_bad_boxes(call: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
        call()
    assert getattr(caught.value, "site").file == __file__  # noqa: B009  # set by `at_site`
