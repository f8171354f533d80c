"""Dilation and erosion: values and gradients recorded from TensorFlow, ties, NaN, edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.test_not_finite import INF, NAN, each_way, run

X = np.array([3, 2, 2, 1, 1, 0, 0, 0, 0, 3, 2, 3, 2, 2, 3, 2, 2, 2, 2, 3,
              1, 3, 2, 0, 1, 3, 2, 0, 3, 2, 3, 0, 0, 3, 0, 2, 0, 1, 1, 1]).reshape(2, 4, 5, 1)  # fmt: skip
W = np.array([0, -1, -1, -1, -1, 1]).reshape(2, 3, 1)
ONES = [1, 1, 1, 1]
# Function, strides, padding, dilations; then the results, and the gradients by image and filter of
# their sum weighted by 1, 2, 3, …
GOLDEN = [
    ("dilation2d", [1, 1], "VALID", [1, 1],
     [3, 2, 4, 3, 3, 4, 3, 3, 4, 2, 4, 3, 3, 4, 2, 3, 2, 2],
     [1, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 8, 4, 5, 6, 0, 0, 7, 0, 9, 0, 10, 0, 0, 0, 13, 0, 0, 26,
      12, 16, 0, 0, 49, 0, 0, 0, 0, 0, 0],
     [40, 43, 17, 0, 0, 71]),
    ("dilation2d", [2, 1], "SAME", [1, 1],
     [2, 3, 2, 4, 2, 3, 3, 3, 4, 2, 3, 2, 4, 3, 2, 2, 3, 2, 2, 3],
     [3, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 8, 0, 10, 0, 0, 6, 7, 0, 9, 0, 12, 0, 0, 0, 0, 11, 0, 28,
      14, 33, 0, 0, 57, 0, 0, 0, 0, 0, 0],
     [60, 48, 18, 15, 5, 64]),
    ("dilation2d", [1, 2], "SAME", [2, 1],
     [1, 1, 2, 4, 3, 2, 3, 3, 2, 2, 3, 2, 3, 4, 2, 2, 4, 2, 2, 2, 3, 2, 2, 3],
     [0, 0, 0, 0, 0, 0, 1, 0, 2, 12, 0, 25, 0, 17, 6, 0, 7, 0, 8, 0, 0, 16, 0, 0, 0, 19, 33, 0,
      50, 0, 22, 0, 0, 82, 0, 0, 0, 0, 0, 0],
     [88, 50, 49, 33, 9, 71]),
    ("dilation2d", [1, 1], "VALID", [2, 2],
     [4, 4, 2, 3],
     [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0,
      3, 0, 0, 0, 0, 0, 0, 0, 0, 0],
     [4, 0, 0, 3, 0, 3]),
    ("erosion2d", [1, 1], "VALID", [1, 1],
     [0, 0, 1, -1, -1, -1, 1, 2, 1, 0, 1, 1, 0, 1, -1, 1, -1, -1],
     [0, 0, 3, 0, 0, 4, 5, 7, 2, 0, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 10, 0, 12, 11, 0, 0, 14, 15, 0,
      0, 0, 33, 31, 0, 0, 0, 0, 0, 0, 0],
     [-16, 0, 0, -11, -16, -128]),
    ("erosion2d", [3, 2], "SAME", [3, 2],
     [2, 3, 3, 3, 1, 1, 0, 0, 1, 1, 1, -1],
     [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 49, 0, 8, 0, 0, 0, 0, 0],
     [-16, 0, -14, -10, -15, -23]),
]  # fmt: skip


def flat(x: Any) -> list[Any]:
    return tf.reshape(x, [-1]).numpy().tolist()


def with_gradients(name: str, *at: Any) -> Any:
    """The results, and the gradients of their weighted sum."""

    def step(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = getattr(tf.nn, name)(x, w, *at)
        weights = tf.reshape(tf.range(1.0, tf.size(y) + 1), tf.shape(y))
        return y, *tape.gradient(y, [x, w], tf.cast(weights, y.dtype))

    return step


@each_way
@pytest.mark.parametrize(
    ("name", "strides", "padding", "dilations", "y", "by_image", "by_filter"), GOLDEN
)
def test_values_and_gradients_of_tensorflow(
    way: str, name: str, strides: Any, padding: str, dilations: Any, y: Any, by_image: Any,
    by_filter: Any,
) -> None:  # fmt: skip
    step = with_gradients(name, [1, *strides, 1], padding, "NHWC", [1, *dilations, 1])
    got = run(way, step, X.astype(np.float32), W.astype(np.float32))
    assert [flat(z) for z in got] == [y, by_image, by_filter]


@each_way
def test_whole_numbers_wrap_and_half_precision_is_rounded_as_in_tensorflow(way: str) -> None:
    def dilated(x: Any, w: Any) -> Any:
        return tf.nn.dilation2d(x, w, ONES, "SAME", "NHWC", ONES)

    got = run(way, dilated, (X[:1] * 80).astype(np.uint8), ((W + 1) * 60).astype(np.uint8))
    assert flat(got) == [240, 160, 220, 220, 240, 160, 240, 240, 240, 240,
                         240, 240, 160, 240, 240, 160, 220, 220, 240, 240]  # fmt: skip
    x, w = (X[:1] / 3).astype(np.float16), (W / 7).astype(np.float16)
    got = run(way, lambda x, w: tf.nn.dilation2d(x, w, ONES, "VALID", "NHWC", ONES), x, w)
    assert flat(got) == [1.0, 0.66650390625, 1.142578125, 0.857421875, 0.857421875, 1.142578125,
                         0.857421875, 1.0, 1.142578125]  # fmt: skip


@each_way
def test_a_window_outside_the_image_gives_the_lowest_number_and_no_gradient(way: str) -> None:
    step = with_gradients("dilation2d", ONES, "SAME", "NHWC", [1, 5, 5, 1])
    y, *gradients = run(
        way, step, np.ones((1, 2, 2, 1), np.float32), np.ones((2, 2, 1), np.float32)
    )
    assert flat(y) == [tf.float32.min] * 4
    assert not any(np.any(g) for g in gradients)


@each_way
def test_the_first_nan_of_a_window_takes_the_gradient(way: str) -> None:
    step = with_gradients("dilation2d", ONES, "VALID", "NHWC", ONES)
    x = np.array([INF, NAN, 1.0, NAN], np.float32).reshape(1, 2, 2, 1)
    y, by_image, by_filter = run(way, step, x, np.zeros((2, 2, 1), np.float32))
    assert np.isnan(y)
    assert flat(by_image) == flat(by_filter) == [0, 1, 0, 0]


def test_a_compiled_function_may_have_a_constant_filter() -> None:
    f = tf.function(lambda x: tf.nn.dilation2d(x, W, ONES, "VALID", "NHWC", ONES), jit_compile=True)
    assert flat(f(tf.constant(X))) == GOLDEN[0][4]


@each_way
@pytest.mark.parametrize("shape", [[1, 0, 4, 1], [0, 4, 4, 1], [1, 4, 4, 0]], ids=str)
def test_empty_images(way: str, shape: list[int]) -> None:
    step = with_gradients("erosion2d", [1, 2, 2, 1], "SAME", "NHWC", ONES)
    window = [2, 2, shape[3]]
    y, by_image, by_filter = run(
        way, step, np.zeros(shape, np.float32), np.ones(window, np.float32)
    )
    assert y.shape == [shape[0], -(-shape[1] // 2), 2, shape[3]]
    assert by_image.shape == shape and by_filter.shape == window and not np.any(by_filter)


@pytest.mark.parametrize("compiled", [False, True])
def test_sizes_that_a_trace_does_not_know_are_checked_when_it_runs(compiled: bool) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None] * 4), tf.TensorSpec([None] * 3)],
                 jit_compile=compiled)  # fmt: skip
    def dilated(x: Any, w: Any) -> Any:
        return tf.nn.dilation2d(x, w, ONES, "VALID", "NHWC", ONES)

    assert dilated(tf.ones((1, 4, 4, 2)), tf.ones((2, 3, 2))).shape == [1, 3, 2, 2]
    for shape, text in (
        ((2, 2, 3), "as many channels"), ((9, 2, 2), "does not fit"), ((0, 2, 2), "not be empty"),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            dilated(tf.ones((1, 4, 4, 2)), tf.ones(shape))
