"""Sources that a tape does not follow, or follows too late.

In every file of the catalogue a function `bad_…` has one fault. The line where the path breaks ends
in the code; `(likely)` says that only a run with everything written down is certain of it, `(guess)`
that not even that is. The function `good_…` of the same name has no fault.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf


def bad_constant() -> Any:
    x = tf.constant(3.0)  # WG101
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def good_constant() -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def bad_converted() -> Any:
    x = tf.convert_to_tensor(np.ones(3, np.float32))  # WG101
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(x) * 2.0)
    return tape.gradient(y, x)


def good_converted() -> Any:
    x = tf.convert_to_tensor(np.ones(3, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * 2.0)
    return tape.gradient(y, x)


def bad_copy_of_what_is_watched() -> Any:
    v = tf.Variable([1.0, 2.0])
    x = tf.constant([1.0, 2.0])  # WG101
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * x)
    return tape.gradient(y, [v, x])


def good_copy_of_what_is_watched() -> Any:
    v = tf.Variable([1.0, 2.0])
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(v * x)
    return tape.gradient(y, [v, x])


def bad_value_of_a_variable_read_before() -> Any:
    v = tf.Variable(2.0)
    x = v.read_value()  # WG101
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def good_value_of_a_variable_read_before() -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x = v.read_value()
        y = x * x
    return tape.gradient(y, x)


def bad_watched_late() -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x  # WG102
        tape.watch(x)
    return tape.gradient(y, x)


def good_watched_late() -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def bad_watched_halfway() -> Any:
    x = tf.constant([3.0])
    with tf.GradientTape() as tape:
        h = tf.tanh(x)  # WG102 (likely)
        tape.watch(x)
        y = tf.reduce_sum(h * 2.0)
    return tape.gradient(y, x)


def good_watched_halfway() -> Any:
    x = tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = tf.tanh(x)
        y = tf.reduce_sum(h * 2.0)
    return tape.gradient(y, x)


def bad_not_trainable() -> Any:
    v = tf.Variable(3.0, trainable=False)  # WG103
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v)


def good_not_trainable() -> Any:
    v = tf.Variable(3.0, trainable=True)
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v)


class Layer:
    """Holds a weight and a number that is not to be trained."""

    def __init__(self) -> None:
        self.weight = tf.Variable([1.0, 2.0])
        self.mean = tf.Variable([0.5, 0.5], trainable=False)  # WG103


def bad_statistics_of_a_layer() -> Any:
    layer = Layer()  # the marked line is in the class
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer.weight - layer.mean)
    return tape.gradient(y, [layer.weight, layer.mean])


def good_statistics_of_a_layer() -> Any:
    layer = Layer()
    with tf.GradientTape() as tape:
        tape.watch(layer.mean)
        y = tf.reduce_sum(layer.weight - layer.mean)
    return tape.gradient(y, [layer.weight, layer.mean])


def bad_tape_that_watches_nothing() -> Any:
    v = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:  # WG104
        y = v * v
    return tape.gradient(y, v)


def good_tape_that_watches_nothing() -> Any:
    v = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * v
    return tape.gradient(y, v)


def bad_one_of_two_watched() -> Any:
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:  # WG104
        tape.watch(v)
        y = v * w
    return tape.gradient(y, [v, w])


def good_one_of_two_watched() -> Any:
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([v, w])
        y = v * w
    return tape.gradient(y, [v, w])


def bad_integer_source() -> Any:
    x = tf.constant(3)  # WG112
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.float32) * 2.0
    return tape.gradient(y, x)


def good_integer_source() -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    return tape.gradient(y, x)


def bad_integer_variable() -> Any:
    steps = tf.Variable(3)  # WG112
    with tf.GradientTape() as tape:
        y = tf.cast(steps, tf.float32) * 2.0
    return tape.gradient(y, steps)


def good_integer_variable() -> Any:
    steps = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = steps * 2.0
    return tape.gradient(y, steps)


def bad_integer_target() -> Any:
    v = tf.Variable([1.5, 2.5])
    with tf.GradientTape() as tape:
        y = tf.cast(tf.reduce_sum(v), tf.int32)  # WG112
    return tape.gradient(y, v)


def good_integer_target() -> Any:
    v = tf.Variable([1.5, 2.5])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v)
    return tape.gradient(y, v)


def bad_unused_variable() -> Any:
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, [v, w])  # WG120 (likely)


def good_unused_variable() -> Any:
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, [v, w], unconnected_gradients="zero")


def bad_read_but_not_for_the_target() -> Any:
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = v * v
        other = w * v
    return tape.gradient(y, w), other  # WG120 (likely)


def good_read_but_not_for_the_target() -> Any:
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = v * v
        other = w * v
    return tape.gradient([y, other], w)


def bad_branch() -> Any:
    v, extra = tf.Variable(2.0), tf.Variable(3.0)
    for use in (True, False):
        with tf.GradientTape() as tape:
            y = v * v
            if use:  # WG118 (guess)
                y = y * extra
        tape.gradient(y, [v, extra])


def good_branch() -> Any:
    v, extra = tf.Variable(2.0), tf.Variable(3.0)
    for use in (True, False):
        with tf.GradientTape() as tape:
            y = v * v + 0.0 * extra
            if use:
                y = y * extra
        tape.gradient(y, [v, extra])


def bad_loop_without_turns() -> Any:
    v, extra = tf.Variable(2.0), tf.Variable(3.0)
    for count in (2, 1, 0):
        with tf.GradientTape() as tape:
            y = v * v
            for _ in range(count):  # WG118 (guess)
                y = y * extra
        tape.gradient(y, [v, extra])


def good_loop_without_turns() -> Any:
    v, extra = tf.Variable(2.0), tf.Variable(3.0)
    for count in (2, 1):
        with tf.GradientTape() as tape:
            y = v * v
            for _ in range(count):
                y = y * extra
        tape.gradient(y, [v, extra])
