"""Habits of programs written for TensorFlow that say things in other ways than our own would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

LABELS = tf.constant([[0.0, 1.0, 0.0]] * 20)
LOGITS = tf.constant(np.arange(60, dtype=np.float32).reshape(4, 5, 3) % 7)


def test_labels_in_another_layout_than_their_logits() -> None:
    found = tf.nn.softmax_cross_entropy_with_logits(LABELS, LOGITS)
    flat = tf.nn.softmax_cross_entropy_with_logits(LABELS, tf.reshape(LOGITS, [20, 3]))
    assert found.shape == (4, 5)
    np.testing.assert_array_equal(tf.reshape(found, [20]), flat)
    one = tf.nn.softmax_cross_entropy_with_logits(LABELS[:1, None], LOGITS)
    np.testing.assert_array_equal(one, found)


@pytest.mark.parametrize(
    ("labels", "logits"),
    [((4, 3), (3,)), ((2, 2, 3), (2, 3)), ((5, 3), (4, 5, 3)), ((2, 3), (1, 3)), ((2, 3), (2, 1))],
)
def test_labels_that_do_not_fit_their_logits(labels: Any, logits: Any) -> None:
    with pytest.raises(ValueError, match="`labels` must have the shape of `logits`"):
        tf.nn.softmax_cross_entropy_with_logits(tf.ones(labels), tf.ones(logits))


WHOLE: dict[str, Any] = {
    "zeros": lambda: tf.zeros(np.array([2.0, 3.0])),
    "fill": lambda: tf.fill(np.array([2.0, 3.0]), 0.0),
    "reshape": lambda: tf.reshape(tf.zeros([6]), np.array([2.0, 3.0])),
    "tile": lambda: tf.tile(tf.zeros([1, 3]), np.array([2.0, 1.0])),
    "broadcast_to": lambda: tf.broadcast_to(0.0, np.array([2.0, 3.0])),
    "transpose": lambda: tf.transpose(tf.zeros([3, 2]), np.array([1.0, 0.0])),
    "reduce_sum": lambda: tf.reduce_sum(tf.zeros([2, 3, 4]), np.float64(2.0)),
    "linspace": lambda: tf.stack([tf.linspace(0.0, 0.0, np.float64(3))] * 2),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_that_numpy_holds_as_floats(name: str) -> None:
    found = WHOLE[name]()
    assert found.shape == (2, 3)
    assert not found.numpy().any()


def test_fractions_are_no_sizes() -> None:
    with pytest.raises(TypeError, match="must be a list of whole numbers"):
        tf.zeros(np.array([2.5, 3.0]))
    with pytest.raises(TypeError, match="whole numbers"):
        tf.zeros(tf.constant([2.0, 3.0]))
    with pytest.raises(TypeError, match="`padding_value` must be a whole number for int32"):
        tf.linalg.diag(tf.constant([1, 2]), padding_value=7.5)
    with pytest.raises(TypeError, match="all of `data` must have the same dtype"):
        tf.dynamic_stitch([[0], [1]], [tf.constant([1]), tf.constant([2.7])])


def test_masks_of_numpy() -> None:
    assert tf.where(np.array([1, 0]), [1.0, 2.0], [3.0, 4.0]).numpy().tolist() == [1.0, 4.0]


def test_names_and_order_of_arguments() -> None:
    assert tf.as_dtype(type_value="int32") is tf.int32
    spec = tf.TensorSpec([None, 2])
    assert spec.is_compatible_with(spec_or_tensor=tf.zeros([3, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="all differ"):
        tf.debugging.assert_none_equal([1, 2], [1, 3], None, "all differ")
    context = tf.distribute.InputContext(2, 1, num_replicas_in_sync=2)
    assert context.get_per_replica_batch_size(8) == 4
    with pytest.raises(ValueError, match="7 does not divide among 2 replicas"):
        context.get_per_replica_batch_size(7)
    assert [str(d) for d in tf.TensorShape([2, None]).dims or ()] == ["2", "?"]
    assert not tf.constant([])
