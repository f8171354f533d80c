"""Bad values in compiled code: the same exception, with the same words, as in eager code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def whole(*numbers: Any) -> np.ndarray:
    return np.array(numbers, np.int32)


def sparse_loss(labels: Any, logits: Any) -> Any:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def sparse_slope(labels: Any, logits: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = sparse_loss(labels, logits)
    return tape.gradient(loss, logits)


def ctc(labels: Any, lengths: Any, frames: Any) -> Any:
    return tf.nn.ctc_loss(labels, tf.zeros([4, 2, 5]), lengths, frames)


def ctc_slope(labels: Any, logits: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.ctc_loss(labels, logits, [2, 2], [4, 4])
    return tape.gradient(loss, logits)


def dice(low: Any, high: Any) -> Any:
    return tf.random.uniform([3], low, high, tf.int32)


def stateless_dice(low: Any, high: Any) -> Any:
    return tf.random.stateless_uniform([3], [1, 2], low, high, tf.int32)


def crops(boxes: Any, rows: Any) -> Any:
    return tf.image.crop_and_resize(tf.ones([2, 4, 4, 1]), boxes, rows, [2, 2])


LABELS = whole([1, 2], [3, 4])
BOX = np.array([[0, 0, 1, 1]], np.float32)
NOWHERE = np.array([[0, np.nan, 1, 1]], np.float32)
ROWS = [
    ("label_high", sparse_loss, (whole(0, 5), floats(2, 5)), "label 5 is outside [0, 5)"),
    ("label_negative", sparse_loss, (whole(-1, 2), floats(2, 5)), "label -1 is outside [0, 5)"),
    ("label_in_gradient", sparse_slope, (whole(7, 2), floats(2, 5)), "label 7 is outside [0, 5)"),
    ("ctc_label", ctc, (whole([1, 9], [3, 4]), whole(2, 2), whole(4, 4)), "label 9 is outside"),
    ("ctc_label_length", ctc, (LABELS, whole(3, 2), whole(4, 4)), "`label_length` must lie in"),
    ("ctc_logit_length", ctc, (LABELS, whole(2, 2), whole(4, 5)), "`logit_length` must lie in"),
    ("ctc_in_gradient", ctc_slope, (whole([1, 2], [3, 5]), floats(4, 2, 5)), "label 5 is outside"),
    ("dice", dice, (whole(3)[0], whole(3)[0]), "`minval` must be less than `maxval`; got 3 and 3"),
    ("dice_of_a_seed", stateless_dice, (whole(3)[0], whole(2)[0]), "`minval` must be less than"),
    ("box_index", crops, (BOX, whole(2)), "an index lies outside [0, 2)"),
    ("box_corner", crops, (NOWHERE, whole(0)), "a box has a corner that is not finite"),
]
each_row = pytest.mark.parametrize(
    ("call", "args", "words"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS]
)


def failure(call: Any, args: Any) -> Any:
    with pytest.raises(tf.errors.OpError) as caught:
        call(*map(tf.constant, args))
    return caught.value


@each_row
@pytest.mark.parametrize("jit", [True, None], ids=["compiled", "traced"])
def test_same_words(call: Any, args: Any, words: str, jit: bool | None) -> None:
    eager = failure(call, args)
    found = failure(tf.function(call, jit_compile=jit, autograph=False), args)
    assert words in str(eager)
    assert type(found) is type(eager)
    assert str(found) == str(eager)
    assert (found.site.file, found.site.line) == (eager.site.file, eager.site.line)


def test_good_values_pass() -> None:
    good = [
        (sparse_loss, (whole(0, 4), floats(2, 5))),
        (ctc, (whole([1, 9], [3, 4]), whole(1, 2), whole(4, 3))),
        (stateless_dice, (whole(2)[0], whole(9)[0])),
        (crops, (BOX, whole(1))),
    ]
    for call, args in good:
        given = [tf.constant(a) for a in args]
        got = tf.function(call, jit_compile=True, autograph=False)(*given)
        np.testing.assert_allclose(got, call(*given), rtol=1e-5)


def test_a_failed_step_changes_nothing() -> None:
    steps = tf.Variable(0)

    @tf.function(jit_compile=True)
    def step(labels: Any) -> Any:
        steps.assign_add(1)
        return sparse_loss(labels, tf.zeros([2, 3]))

    step(tf.constant([0, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant([0, 3]))
    step(tf.constant([2, 1]))
    assert steps.numpy() == 2
