"""Constants made in a trace, and variables, as sources of `tf.gradients`: TensorFlow's numbers."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as tf

V = tf.Variable(3.0)
EAGER = tf.constant(2.0)


def answered(program: Any, **options: Any) -> list[Any]:
    V.assign(3.0)
    return [None if g is None else g.numpy().tolist() for g in tf.function(program, **options)()]


def folded() -> Any:
    x = tf.constant(2.0)
    y = x * x
    return tf.gradients(tf.square(y) * x, [x, y])


def made_by_operations() -> Any:
    x, n = tf.range(3.0), tf.eye(2)
    return [*tf.gradients(tf.square(x + 1.0), x), *tf.gradients(tf.linalg.matmul(n, n), n)]


def equal_constants() -> Any:
    x, y = tf.constant(2.0), tf.constant(2.0)
    return tf.gradients(x * y * y, [x, y])


def second_order() -> Any:
    x = tf.constant([1.0, 2.0])
    return tf.hessians(tf.reduce_sum(x * x * x), x)


def in_a_called_function() -> Any:
    x = tf.constant(2.0)
    return tf.gradients(tf.function(lambda: x * x)(), x)


def within_a_called_function() -> Any:
    x = tf.constant(2.0)

    @tf.function
    def inner() -> Any:
        y = x * x
        return tf.function(lambda: tf.gradients(y * x, [x, y]))()

    return inner()


def through_a_branch() -> Any:
    x = tf.constant(2.0)
    return tf.gradients(tf.cond(V > 0.0, lambda: x * x, lambda: x), x)


def in_a_branch() -> Any:
    x = tf.constant(2.0)
    y = x * x
    return tf.cond(V > 0.0, lambda: tf.gradients(y * x, [x, y]), lambda: [x, x])


def through_a_loop_and_a_branch() -> Any:
    x = tf.constant(2.0)
    y = x * x
    r = tf.constant(1.0)
    for i in tf.range(4):
        r = r * y if i > 1 else r * x
    return tf.gradients(r, [x, y])


def in_a_loop() -> Any:
    y = tf.constant(1.0)
    for _ in tf.range(3):
        x = tf.constant(3.0)
        y = y + tf.gradients(x * x * y, x)[0]
    return [y]


def through_maps() -> Any:
    x = tf.constant([2.0, 1.0])
    s = tf.constant(2.0)
    return [
        *tf.gradients(tf.scan(lambda a, t: a * t, x), x),
        *tf.gradients(tf.map_fn(lambda t: t * s, x), s),
        *tf.gradients(tf.vectorized_map(lambda t: t * s * s, x), s),
    ]


def around_a_branch() -> Any:
    x = EAGER + 0.0 * V
    y = x * x
    return tf.cond(V > 0.0, lambda: tf.gradients(y * 3.0, x), lambda: [x])


def stopped() -> Any:
    x = tf.constant(2.0)
    y = x * x
    return [*tf.gradients(y + 1.0, x, stop_gradients=y), *tf.gradients(tf.stop_gradient(x) * x, x)]


def a_tape_around_the_second_call() -> Any:
    x = tf.constant(2.0)
    inner = tf.function(lambda: x * x)
    inner()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = inner()
    return [tape.gradient(y, x)]


def all_reads_of_a_variable() -> Any:
    y = V * V
    V.assign(7.0)
    return tf.gradients(y + V * V * V, V)


def an_assignment_cuts() -> Any:
    x = EAGER * V
    V.assign(x)
    return tf.gradients(V * V, [V, x, EAGER])


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (folded, [80.0, 16.0]),
        (made_by_operations, [[2.0, 4.0, 6.0], [[2.0, 2.0], [2.0, 2.0]]]),
        (equal_constants, [4.0, 8.0]),
        (second_order, [[[6.0, 0.0], [0.0, 12.0]]]),
        (in_a_called_function, [4.0]),
        (within_a_called_function, [12.0, 2.0]),
        (through_a_branch, [4.0]),
        (in_a_branch, [12.0, 2.0]),
        (through_a_loop_and_a_branch, [192.0, 32.0]),
        (in_a_loop, [343.0]),
        (through_maps, [[2.0, 2.0], 3.0, 12.0]),
        (around_a_branch, [12.0]),
        (stopped, [None, 2.0]),
        (a_tape_around_the_second_call, [4.0]),
        (all_reads_of_a_variable, [153.0]),
        (an_assignment_cuts, [12.0, None, None]),
    ],
)
@pytest.mark.parametrize("jit", [None, True])
def test_what_tensorflow_gives(program: Any, wanted: list[Any], jit: bool | None) -> None:
    assert answered(program, jit_compile=jit) == wanted


def test_sizes_from_constants_outside_stay_known() -> None:
    sizes: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        scale = tf.constant(3.0)

        def body() -> Any:
            made = tf.ones([tf.cast(scale, tf.int32), 2])
            sizes.append(made.shape)
            return tf.reduce_sum(made) * scale

        return tf.cond(x > 0.0, body, lambda: x)

    assert float(f(tf.constant(1.0))) == 18.0
    assert sizes == [(3, 2)]
