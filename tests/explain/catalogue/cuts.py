"""Operations and detours that no gradient passes."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf


def bad_cast() -> Any:
    v = tf.Variable([1.2, 2.7])
    with tf.GradientTape() as tape:
        steps = tf.cast(v * 10.0, tf.int32)  # WG112 (likely)
        loss = tf.reduce_sum(tf.cast(steps, tf.float32))
    return tape.gradient(loss, v)


def good_cast() -> Any:
    v = tf.Variable([1.2, 2.7])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.cast(v * 10.0, tf.float64))
    return tape.gradient(loss, v)


def bad_cast_to_bool() -> Any:
    v, w = tf.Variable([0.0, 2.7]), tf.Variable([1.0, 1.0])
    with tf.GradientTape() as tape:
        used = tf.cast(v, tf.bool)  # WG112 (likely)
        loss = tf.reduce_sum(w * tf.cast(used, tf.float32))
    return tape.gradient(loss, [v, w])


def good_cast_to_bool() -> Any:
    v, w = tf.Variable([0.0, 2.7]), tf.Variable([1.0, 1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * tf.sigmoid(v))
    return tape.gradient(loss, [v, w])


def bad_numpy() -> Any:
    v = tf.Variable([1.3, 2.6])
    with tf.GradientTape() as tape:
        y = v * v
        z = tf.constant(y.numpy())  # WG113 (likely)
        loss = tf.reduce_sum(z)
    return tape.gradient(loss, v)


def good_numpy() -> Any:
    v = tf.Variable([1.3, 2.6])
    with tf.GradientTape() as tape:
        y = v * v
        z = tf.identity(y)
        loss = tf.reduce_sum(z)
    y.numpy()
    return tape.gradient(loss, v)


def bad_number() -> Any:
    v = tf.Variable([1.3, 2.6])
    with tf.GradientTape() as tape:
        scale = float(tf.reduce_sum(v))  # WG113 (likely)
        loss = tf.reduce_sum(tf.constant([1.0, 2.0])) * scale
    return tape.gradient(loss, v)


def good_number() -> Any:
    v = tf.Variable([1.3, 2.6])
    with tf.GradientTape() as tape:
        scale = tf.reduce_sum(v)
        loss = tf.reduce_sum(tf.constant([1.0, 2.0])) * scale
    return tape.gradient(loss, v)


def bad_computed_in_numpy() -> Any:
    v = tf.Variable([[1.3, 2.6]])
    with tf.GradientTape() as tape:
        y = np.array(v * 2.0)  # WG113 (likely)
        norm = np.linalg.norm(y) ** 2
        loss = tf.reduce_sum(tf.ones([2])) * norm
    return tape.gradient(loss, v)


def good_computed_in_numpy() -> Any:
    v = tf.Variable([[1.3, 2.6]])
    with tf.GradientTape() as tape:
        norm = tf.reduce_sum(tf.square(v * 2.0))
        loss = tf.reduce_sum(tf.ones([2])) * norm
    return tape.gradient(loss, v)


def bad_list_of_numbers() -> Any:
    v = tf.Variable([1.3, 2.6])
    with tf.GradientTape() as tape:
        rows = [x.item() for x in v * 3.0]  # WG113 (likely)
        loss = tf.reduce_sum(tf.convert_to_tensor(rows))
    return tape.gradient(loss, v)


def good_list_of_numbers() -> Any:
    v = tf.Variable([1.3, 2.6])
    with tf.GradientTape() as tape:
        rows = list(v * 3.0)
        loss = tf.reduce_sum(tf.convert_to_tensor(rows))
    return tape.gradient(loss, v)


def bad_assign() -> Any:
    v, state = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    with tf.GradientTape() as tape:
        state.assign(v * 2.0)  # WG114 (likely)
        loss = tf.reduce_sum(state * state)
    return tape.gradient(loss, v)


def good_assign() -> Any:
    v, state = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    with tf.GradientTape() as tape:
        new = v * 2.0
        state.assign(new)
        loss = tf.reduce_sum(new * new)
    return tape.gradient(loss, v)


def bad_assign_add() -> Any:
    v, total = tf.Variable(2.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = v * v
        total.assign_add(y)  # WG114 (likely)
        loss = total + 1.0
    return tape.gradient(loss, [v, total])


def good_assign_add() -> Any:
    v, total = tf.Variable(2.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = v * v
        loss = total + y + 1.0
    total.assign_add(y)
    return tape.gradient(loss, [v, total])


def bad_variable_of_a_tensor() -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        state = tf.Variable(x * 2.0)  # WG114 (likely)
        loss = tf.reduce_sum(state * state)
    return tape.gradient(loss, x)


def good_variable_of_a_tensor() -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        state = x * 2.0
        loss = tf.reduce_sum(state * state)
    return tape.gradient(loss, x)


def bad_stop() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        h = tf.stop_gradient(v * 2.0)  # WG115 (likely)
        loss = tf.reduce_sum(h * h)
    return tape.gradient(loss, v)


def good_stop() -> Any:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        h = v * 2.0
        loss = tf.reduce_sum(h * tf.stop_gradient(h))
    return tape.gradient(loss, v)


def bad_stop_of_one() -> Any:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        teacher = tf.stop_gradient(v)  # WG115
        loss = tf.reduce_sum(tf.square(teacher - w))
    return tape.gradient(loss, [v, w])


def good_stop_of_one() -> Any:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        teacher = tf.stop_gradient(v)
        loss = tf.reduce_sum(tf.square(teacher - w))
    return tape.gradient(loss, w)


def bad_argmax() -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        best = tf.argmax(v)  # WG116 (likely)
        loss = tf.cast(best, tf.float32) * 2.0
    return tape.gradient(loss, v)


def good_argmax() -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_max(v) * 2.0
    return tape.gradient(loss, v)


def bad_accuracy_as_loss() -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 1.0]])
    labels = tf.constant([1, 0], tf.int64)
    with tf.GradientTape() as tape:
        guesses = tf.argmax(v, axis=1)  # WG116 (likely)
        right = tf.cast(guesses, tf.float32) - tf.cast(labels, tf.float32)
        loss = 1.0 - tf.reduce_mean(right)
    return tape.gradient(loss, v)


def good_accuracy_as_loss() -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 1.0]])
    labels = tf.constant([1, 0], tf.int64)
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, v)
        loss = tf.reduce_mean(losses)
    return tape.gradient(loss, v)


def bad_floor_with_others() -> Any:
    v, w = tf.Variable([1.5, 2.5]), tf.Variable([1.0, 1.0])
    with tf.GradientTape() as tape:
        whole = tf.floor(v)  # WG116
        loss = tf.reduce_sum(whole * w)
    return tape.gradient(loss, [v, w])


def good_floor_with_others() -> Any:
    v, w = tf.Variable([1.5, 2.5]), tf.Variable([1.0, 1.0])
    with tf.GradientTape() as tape:
        whole = tf.grad_pass_through(tf.floor)(v)
        loss = tf.reduce_sum(whole * w)
    return tape.gradient(loss, [v, w])


def bad_comparison() -> Any:
    v, w = tf.Variable([1.5, -2.5]), tf.Variable([1.0, 1.0])
    with tf.GradientTape() as tape:
        positive = v > 0.0  # WG116
        loss = tf.reduce_sum(tf.where(positive, w, -w))
    return tape.gradient(loss, [v, w])


def good_comparison() -> Any:
    v, w = tf.Variable([1.5, -2.5]), tf.Variable([1.0, 1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.where(v > 0.0, v * w, -w))
    return tape.gradient(loss, [v, w])


@tf.custom_gradient
def _scale(x: Any, factor: Any) -> Any:
    return x * factor, lambda g: (g * factor, None)


def bad_custom_gradient() -> Any:
    x, factor = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = _scale(x, factor)  # WG117
    return tape.gradient(y, [x, factor])


def good_custom_gradient() -> Any:
    x, factor = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = _scale(x, factor)
    return tape.gradient(y, x)


def bad_custom_gradient_in_the_middle() -> Any:
    x, factor = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.sin(_scale(x, tf.exp(factor)))  # WG117
        loss = y * 2.0
    return tape.gradient(loss, [x, factor])


def good_custom_gradient_in_the_middle() -> Any:
    x, factor = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.sin(x * tf.exp(factor))
        loss = y * 2.0
    return tape.gradient(loss, [x, factor])
