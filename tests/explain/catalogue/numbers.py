"""NaN and infinity, forward and backward."""

from __future__ import annotations

from typing import Any

import wengert as tf


def bad_entropy() -> Any:
    p = tf.Variable([0.0, 0.5, 0.5])
    with tf.GradientTape() as tape:
        logs = tf.math.log(p)  # WG501
        loss = -tf.reduce_sum(p * logs)
    return tape.gradient(loss, p)


def good_entropy() -> Any:
    p = tf.Variable([0.0, 0.5, 0.5])
    with tf.GradientTape() as tape:
        loss = -tf.reduce_sum(p * tf.math.log(p + 1e-7))
    return tape.gradient(loss, p)


def bad_log_of_a_negative() -> Any:
    x = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as tape:
        y = tf.math.log1p(x * 2.0)  # WG501
        loss = tf.reduce_mean(y)
    return tape.gradient(loss, x)


def good_log_of_a_negative() -> Any:
    x = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.math.log1p(tf.nn.relu(x)))
    return tape.gradient(loss, x)


def bad_mean_of_nothing() -> Any:
    x, mask = tf.Variable([1.0, 2.0]), tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * mask) / tf.reduce_sum(mask)  # WG502
    return tape.gradient(loss, x)


def good_mean_of_nothing() -> Any:
    x, mask = tf.Variable([1.0, 2.0]), tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.math.divide_no_nan(tf.reduce_sum(x * mask), tf.reduce_sum(mask))
    return tape.gradient(loss, x)


def bad_reciprocal() -> Any:
    x = tf.Variable([1.0, 0.0])
    with tf.GradientTape() as tape:
        y = tf.math.reciprocal(x)  # WG502
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, x)


def good_reciprocal() -> Any:
    x = tf.Variable([1.0, 0.5])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.reciprocal(x))
    return tape.gradient(loss, x)


def bad_softmax_by_hand() -> Any:
    x = tf.Variable([100.0, 0.0])
    with tf.GradientTape() as tape:
        e = tf.exp(x)  # WG503
        loss = tf.reduce_sum(e / tf.reduce_sum(e))
    return tape.gradient(loss, x)


def good_softmax_by_hand() -> Any:
    x = tf.Variable([100.0, 0.0])
    with tf.GradientTape() as tape:
        e = tf.exp(x - tf.reduce_max(x))
        loss = tf.reduce_sum(e / tf.reduce_sum(e))
    return tape.gradient(loss, x)


def bad_square_of_the_large() -> Any:
    x = tf.Variable([1e30, 1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * x)  # WG503
    return tape.gradient(loss, x)


def good_square_of_the_large() -> Any:
    x = tf.Variable([1e30, 1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(x / 1e30))
    return tape.gradient(loss, x)


def bad_root_of_a_negative() -> Any:
    x = tf.Variable([-1.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(x))  # WG504
    return tape.gradient(loss, x)


def good_root_of_a_negative() -> Any:
    x = tf.Variable([-1.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(tf.maximum(x, 1e-6)))
    return tape.gradient(loss, x)


def bad_arc_cosine() -> Any:
    x = tf.Variable([0.5, 1.5])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.acos(x))  # WG504
    return tape.gradient(loss, x)


def good_arc_cosine() -> Any:
    x = tf.Variable([0.5, 1.5])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.acos(tf.clip_by_value(x, -0.9999, 0.9999)))
    return tape.gradient(loss, x)


def bad_where() -> Any:
    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as tape:
        y = tf.where(x > 0.0, tf.math.log(x), 0.0)  # WG505
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, x)


def good_where() -> Any:
    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as tape:
        ok = x > 0.0
        y = tf.where(ok, tf.math.log(tf.where(ok, x, 1.0)), 0.0)
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, x)


def bad_where_in_two_lines() -> Any:
    x = tf.Variable([0.0, 2.0])
    with tf.GradientTape() as tape:
        inverse = 1.0 / x  # WG505
        doubled = inverse * 2.0
        loss = tf.reduce_sum(tf.where(x > 0.0, doubled, 0.0))
    return tape.gradient(loss, x)


def good_where_in_two_lines() -> Any:
    x = tf.Variable([0.0, 2.0])
    with tf.GradientTape() as tape:
        inverse = tf.math.divide_no_nan(1.0, x)
        doubled = inverse * 2.0
        loss = tf.reduce_sum(tf.where(x > 0.0, doubled, 0.0))
    return tape.gradient(loss, x)


def bad_half() -> Any:
    x = tf.Variable([300.0], dtype=tf.float16)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * x)  # WG506
    return tape.gradient(loss, x)


def good_half() -> Any:
    x = tf.Variable([300.0], dtype=tf.float16)
    with tf.GradientTape() as tape:
        wide = tf.cast(x, tf.float32)
        loss = tf.reduce_sum(wide * wide)
    return tape.gradient(loss, x)


def bad_root_at_zero() -> Any:
    x = tf.Variable([0.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(x))  # WG507
    return tape.gradient(loss, x)


def good_root_at_zero() -> Any:
    x = tf.Variable([0.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.sqrt(x + 1e-12))
    return tape.gradient(loss, x)


def bad_norm_of_zero() -> Any:
    x = tf.Variable([0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.norm(x)  # WG507
    return tape.gradient(loss, x)


def good_norm_of_zero() -> Any:
    x = tf.Variable([0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.norm(x + 1e-6)
    return tape.gradient(loss, x)


def bad_data() -> Any:
    w, data = tf.Variable([1.0, 2.0]), tf.constant([1.0, float("nan")])  # WG509
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * data)
    return tape.gradient(loss, w)


def good_data() -> Any:
    w, data = tf.Variable([1.0, 2.0]), tf.constant([1.0, float("inf")])
    with tf.GradientTape() as tape:
        clean = tf.where(tf.math.is_finite(data), data, 0.0)
        loss = tf.reduce_sum(w * clean)
    return tape.gradient(loss, w)
