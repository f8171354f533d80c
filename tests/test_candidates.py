"""Losses over sampled classes, averages of losses, and small names beside them.

The numbers were recorded from TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

WEIGHTS = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(8, 3)
BIASES = np.linspace(0.0, 0.7, 8, dtype=np.float32)
LABELS = np.array([[1], [2]], np.int64)
INPUTS = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.2]], np.float32)
DRAWN = (
    np.array([0, 2, 5], np.int64),
    np.array([[0.5], [0.6]], np.float32),
    np.array([0.4, 0.3, 0.2], np.float32),
)


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [
        (tf.nn.nce_loss, [5.425022, 4.848099]),
        (tf.nn.sampled_softmax_loss, [3.105932, 2.753541]),
    ],
    ids=["nce", "softmax"],
)
def test_a_loss_over_drawn_classes(loss: Any, wanted: list[float]) -> None:
    weights, biases = tf.Variable(WEIGHTS), tf.Variable(BIASES)

    def run() -> Any:
        return loss(weights, biases, LABELS, INPUTS, 3, 8, sampled_values=DRAWN)

    np.testing.assert_allclose(run(), wanted, rtol=1e-5)
    np.testing.assert_allclose(tf.function(run)(), wanted, rtol=1e-5)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(run())
    assert all(g is not None for g in tape.gradient(y, [weights, biases]))


def test_candidates_are_distinct_and_repeat_with_their_seed() -> None:
    def draw() -> Any:
        tf.random.set_seed(4)
        return tf.random.log_uniform_candidate_sampler([[1]], 1, 5, True, 20, seed=3)

    first, second = draw(), draw()
    assert len(set(first.sampled_candidates.numpy().tolist())) == 5
    assert first.sampled_candidates.numpy().max() < 20
    np.testing.assert_array_equal(first.sampled_candidates, second.sampled_candidates)
    assert first.true_expected_count.shape == (1, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="9 distinct classes"):
        tf.random.log_uniform_candidate_sampler([[1]], 1, 9, True, 8)


def test_small_classes_come_more_often() -> None:
    tf.random.set_seed(0)
    drawn = tf.random.log_uniform_candidate_sampler([[0]], 1, 4000, False, 100)
    share = np.mean(drawn.sampled_candidates.numpy() == 0)
    assert abs(share - np.log(2.0) / np.log(101.0)) < 0.02
    even = tf.random.uniform_candidate_sampler([[0]], 1, 4, False, 8)
    np.testing.assert_allclose(even.sampled_expected_count, [0.5] * 4)


def test_average_losses() -> None:
    assert tf.nn.compute_average_loss([1.0, 2.0, 3.0]).numpy() == 2.0
    assert tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=6).numpy() == 1.0
    assert tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[0.0, 2.0]).numpy() == 2.0
    assert tf.nn.scale_regularization_loss([1.0, 2.0]).numpy() == 3.0


@pytest.mark.parametrize("shift", [None, 0.5])
def test_moments_from_their_parts(shift: float | None) -> None:
    x = tf.constant(INPUTS)
    found = tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, [0], shift))
    for a, b in zip(found, tf.nn.moments(x, [0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_type_of_the_program_becomes_a_tensor() -> None:
    class Length:
        def __init__(self, metres: float) -> None:
            self.metres = metres

    def convert(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        return tf.constant(value.metres, dtype=dtype or tf.float32)

    tf.register_tensor_conversion_function(Length, convert)
    assert (tf.constant(1.0) + Length(2.0)).numpy() == 3.0
    assert tf.function(lambda x: x * Length(3.0))(tf.constant(2.0)).numpy() == 6.0
    with pytest.raises(TypeError, match="a type was expected"):
        tf.register_tensor_conversion_function(3, convert)


def test_gradients_by_the_tape_and_by_differences() -> None:
    exact, near = tf.test.compute_gradient(lambda x, y: x * tf.sin(y), [[1.0, 2.0], [0.5, 0.3]])
    for a, b in zip(exact, near, strict=True):
        assert a.shape == (2, 2)
        np.testing.assert_allclose(a, b, atol=1e-2)


def test_versions_and_settings() -> None:
    assert tf.version.VERSION.startswith("2.")
    tf.debugging.disable_traceback_filtering()
    assert not tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.enable_traceback_filtering()
    assert tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.disable_traceback_filtering()  # as in all tests
    assert tf.int8.limits == (0, 127)
    assert tf.float32.limits == (0, 1)
