"""`tf.gradients` and `tf.hessians` inside functions: the values that TensorFlow gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

X, Y = [1.0, 2.0], [3.0, 4.0]


def asked(program: Any) -> list[Any]:
    """What a program makes of x, y and z = x² y, inside a function."""

    @tf.function
    def run(x: Any, y: Any) -> Any:
        return program(x, y, x**2 * y)

    return [None if g is None else g.numpy().tolist() for g in run(tf.constant(X), tf.constant(Y))]


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (lambda x, y, z: tf.gradients(tf.reduce_sum(z), [x, y]), [[6.0, 16.0], [1.0, 4.0]]),
        (lambda x, y, z: tf.gradients(z, x, grad_ys=[tf.constant([1.0, 2.0])]), [[6.0, 32.0]]),
        (lambda x, y, z: tf.gradients(z, tf.constant(1.0)), [None]),
        (lambda x, y, z: tf.gradients([z, y], [z, y]), [[1.0, 1.0], [2.0, 5.0]]),
        (lambda x, y, z: tf.gradients(z * z, [x, z], stop_gradients=[z]), [None, [6.0, 32.0]]),
        (lambda x, y, z: tf.gradients(x, y, unconnected_gradients="zero"), [[0.0, 0.0]]),
        (lambda x, y, z: tf.gradients(tf.gradients(z, x)[0], x), [[6.0, 8.0]]),
        (lambda x, y, z: tf.hessians(z, x), [[[6.0, 0.0], [0.0, 8.0]]]),
        (lambda x, y, z: tf.gradients(z, [x, x]), [[6.0, 16.0], [6.0, 16.0]]),
    ],
)
def test_gradients_of_what_was_computed(program: Any, wanted: list[Any]) -> None:
    assert asked(program) == wanted


def test_through_loops_branches_and_custom_gradients() -> None:
    @tf.custom_gradient
    def double(x: Any) -> Any:
        return x * 2.0, lambda g: g * 7.0

    @tf.function
    def f(x: Any) -> Any:
        y = x
        for _ in tf.range(3):
            y = y * x
        z = y * 2.0 if y > 5.0 else y
        return tf.gradients(z, x)[0], tf.gradients(double(x) ** 2, x)[0]

    assert [float(g) for g in f(tf.constant(2.0))] == [64.0, 56.0]
    assert [float(g) for g in f(tf.constant(1.0))] == [4.0, 28.0]


def test_a_training_step() -> None:
    w = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        loss = (w * x - 3.0) ** 2
        (g,) = tf.gradients(loss, w)
        w.assign_sub(0.1 * g)
        return loss

    for _ in range(3):
        step(tf.constant(2.0))
    np.testing.assert_allclose(w.numpy(), 1.496, rtol=1e-6)


def test_python_runs_once() -> None:
    calls = []

    @tf.function
    def f(x: Any) -> Any:
        y = x * 2.0
        tf.py_function(lambda a: calls.append(float(a)), [y], [])
        return tf.gradients(y, x)[0]

    assert float(f(tf.constant(3.0))) == 2.0
    assert calls == [6.0]


def test_outside_a_function_it_names_the_tape() -> None:
    x = tf.constant(1.0)
    with pytest.raises(RuntimeError, match=r"inside tf.function only. Use tf.GradientTape"):
        tf.gradients(x, x)
