"""Rounding as quantised numbers would; expected values are TensorFlow 2.21's."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

Q = tf.quantization
X = np.array([-7, -6, -1.3, -0.01, 0, 0.02, 0.5, 1.25, 2.999, 6, 9], np.float32)
GRID = np.linspace(-3, 3, 12).astype(np.float32).reshape(4, 3)
WAYS = {
    "eager": lambda f: f,
    "function": tf.function,
    "compiled": lambda f: tf.function(f, jit_compile=True),
}

FIXED = {
    "default": (
        {},
        [-6.0235295, -5.9764705, -1.3176471, 0, 0, 0, 0.5176471, 1.2705883, 3.0117648, 5.9764705,
         5.9764705],
    ),
    "all positive": (
        {"min": 0.5, "max": 4, "num_bits": 4},
        [0, 0, 0, 0, 0, 0, 0.4666667, 1.1666666, 3.0333333, 3.5, 3.5],
    ),
    "all negative, narrow": (
        {"min": -1, "max": -0.2, "num_bits": 3, "narrow_range": True},
        [-0.8000001, -0.8000001, -0.8000001, 0, 0, 0, 0, 0, 0, 0, 0],
    ),
    "two bits": (
        {"min": -2, "max": 2, "num_bits": 2},
        [-2.6666667, -2.6666667, -1.3333334, 0, 0, 0, 0, 1.3333334, 1.3333334, 1.3333334, 1.3333334],
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize(("options", "expected"), FIXED.values(), ids=FIXED.keys())
def test_a_fixed_range(options: Any, expected: Any, way: Any) -> None:
    found = way(lambda x: Q.fake_quant_with_min_max_args(x, **options))(tf.constant(X))
    np.testing.assert_allclose(found, np.array(expected, np.float32), 1e-6, 1e-7)


# The ends of the range; the gradients of the numbers (given 0, 1, 2, …) and of the two ends.
LEARNED = {
    "around zero": (-1.0, 3.0, [0, 0, 0, 3, 4, 5, 6, 7, 0, 0, 0], 3.0, 27.0),
    "nothing": (0.0, 0.0, list(range(11)), 0.0, 0.0),
    "lopsided": (-2.0, 0.5, [0, 0, 2, 3, 4, 5, 6, 0, 0, 0, 0], 1.0, 34.0),
    "positive": (0.3, 2.0, [0, 0, 0, 0, 4, 5, 6, 7, 0, 0, 0], 6.0, 27.0),
    "negative": (-3.0, -1.0, [0, 0, 2, 3, 4, 0, 0, 0, 0, 0, 0], 1.0, 45.0),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize(("low", "high", "x", "a", "b"), LEARNED.values(), ids=LEARNED.keys())
def test_gradients_of_a_learned_range(
    low: float, high: float, x: Any, a: float, b: float, way: Any
) -> None:
    v = [tf.Variable(X), tf.Variable(low), tf.Variable(high)]
    seed = tf.range(11.0)

    def gradients() -> Any:
        with tf.GradientTape() as tape:
            y = Q.fake_quant_with_min_max_vars(*v)
        return tape.gradient(y, v, output_gradients=seed)

    for found, expected in zip(way(gradients)(), (x, a, b), strict=True):
        np.testing.assert_allclose(found, expected)
    for found, expected in zip(
        Q.fake_quant_with_min_max_vars_gradient(seed, *v), (x, a, b), strict=True
    ):
        np.testing.assert_allclose(found, expected)


def test_a_range_for_each_channel() -> None:
    v = [tf.Variable(GRID), tf.Variable([-1.0, 0, -2]), tf.Variable([1.0, 0, 2.5])]
    with tf.GradientTape() as tape:
        y = Q.fake_quant_with_min_max_vars_per_channel(*v, num_bits=3)
    np.testing.assert_allclose(
        y,
        [[-0.8571429, 0, -1.9285715], [-0.8571429, 0, 0], [0.2857143, 0, 1.2857143],
         [1.1428572, 0, 2.5714285]],
        1e-6,
    )  # fmt: skip
    seed = tf.reshape(tf.range(12.0), [4, 3])
    x, low, high = tape.gradient(y, v, output_gradients=seed)
    assert x.numpy().tolist() == [[0, 1, 2], [0, 4, 5], [6, 7, 8], [0, 10, 0]]
    assert (low.numpy().tolist(), high.numpy().tolist()) == ([3, 0, 0], [9, 0, 11])
    again = Q.fake_quant_with_min_max_vars_per_channel_gradient(seed, *v, num_bits=3)
    for one, other in zip(again, (x, low, high), strict=True):
        np.testing.assert_array_equal(one, other)


def test_nan_stays_nan_and_has_no_gradient() -> None:
    assert np.isnan(Q.fake_quant_with_min_max_args([np.nan]).numpy()).all()
    assert Q.fake_quant_with_min_max_args_gradient([2.0, 2.0], [np.nan, 1.0]).numpy().tolist() == [
        0,
        2,
    ]


BAD = {
    "ends": (lambda: Q.fake_quant_with_min_max_args(X, min=2, max=1), "smaller than `max`"),
    "bits": (lambda: Q.fake_quant_with_min_max_args(X, num_bits=17), "from 2 to 16; got 17"),
    "rank": (lambda: Q.fake_quant_with_min_max_vars(X, [0.0], 1.0), "must be scalars"),
    "channels": (
        lambda: Q.fake_quant_with_min_max_vars_per_channel(GRID, [0.0], [1.0]),
        "a number for each channel",
    ),
}


@pytest.mark.parametrize(("call", "text"), BAD.values(), ids=BAD.keys())
def test_bad_ranges(call: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
        call()
    assert getattr(caught.value, "site").file == __file__  # noqa: B009  # set by `at_site`
