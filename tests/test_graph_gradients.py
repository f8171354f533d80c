"""`tf.gradients` and `tf.hessians` inside functions: the values that TensorFlow gives."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

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


# Variables that branches and loops assign and read again, in derivatives of higher order.


def assigned_in_a_branch(x: Any, w: Any) -> Any:
    y = tf.tanh(w * x)
    if x > 0.0:
        w.assign(w * 0.5)
        y = y * tf.sin(w * x)
    return y * w


def assigned_in_a_loop(x: Any, w: Any) -> Any:
    y = x
    for _ in tf.range(2):
        w.assign(w * 0.5)
        y = tf.tanh(w * y + x)
    return y * w


def assigned_in_branches_of_loops(x: Any, w: Any) -> Any:
    y = x
    for i in tf.range(3):
        if i < 2:
            y = y * tf.sin(w * x)
            w.assign_add(y)
            y = tf.tanh(w * y)
        else:
            w.assign(0.25)
            y = y + w * w * x
    return y


def assigned_by_operations(x: Any, w: Any) -> Any:
    def change() -> Any:
        w.assign(w * 0.5 + x)
        return tf.sin(w * x) * w

    y = tf.cond(x > 0.0, change, lambda: x)
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * change()), (0, y))[1]


@pytest.mark.parametrize("where", ["inside", "outside", "between"])
@pytest.mark.parametrize(
    "program",
    [
        assigned_in_a_branch,
        assigned_in_a_loop,
        assigned_in_branches_of_loops,
        assigned_by_operations,
    ],
)
def test_three_orders_through_variables_that_are_assigned(program: Any, where: str) -> None:
    w = tf.Variable(-0.4, dtype=tf.float64)

    def orders(f: Any, x: Any) -> Any:
        with tf.GradientTape(persistent=True) as t3:
            t3.watch(x)
            with tf.GradientTape(persistent=True) as t2:
                t2.watch(x)
                with tf.GradientTape() as t1:
                    t1.watch(x)
                    y = f(x, w)
                first = t1.gradient(y, [x, w])
            second = [t2.gradient(g, [x, w], unconnected_gradients="zero") for g in first]
        flat = tf.nest.flatten(second)
        third = [t3.gradient(g, [x, w], unconnected_gradients="zero") for g in flat]
        return tf.nest.flatten([y, first, second, third, w + 0.0])

    def found(f: Any) -> Any:
        w.assign(-0.4)
        return f(tf.constant(0.6, tf.float64))

    wanted = found(lambda x: orders(program, x))
    traced = tf.function(program)
    if where == "outside":
        got = found(lambda x: orders(traced, x))
    else:
        got = found(tf.function(lambda x: orders(program if where == "inside" else traced, x)))
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def _outer_tape(x: Any) -> Any:
    """The rule, itself a function, asks a tape of the function around it, as samplers do."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x**3)

    @tf.function
    def rule(dy: Any) -> Any:
        return dy * tape.gradient(y, x)

    return y, rule


def _through_a_variable(state: Any) -> Any:
    """The rule asks for what does not depend on the argument: the gradient by a variable."""

    def run(x: Any) -> Any:
        state.assign(x)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(state**3)

        @tf.function
        def rule(dy: Any, variables: Any = None) -> Any:
            return dy * tape.gradient(y, state), [None]

        return y, rule

    return run


@pytest.mark.parametrize("assigns", [False, True])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_rule_that_is_a_function_sees_the_graph_around_it(assigns: bool, repeated: bool) -> None:
    rule = _through_a_variable(tf.Variable([5.0, 6.0])) if assigns else _outer_tape
    power = tf.custom_gradient(rule)

    def slope(x: Any) -> Any:
        return tf.gradients(power(x), x)[0]

    @tf.function
    def f(x: Any) -> Any:
        if repeated:
            return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, slope(x)), [0, x])[1]
        return slope(x)

    wanted = [27.0, 432.0] if repeated else [3.0, 12.0]  # TensorFlow's values
    assert f(tf.constant(X)).numpy().tolist() == wanted


def test_the_function_of_a_rule_is_found_by_the_name_that_libraries_use() -> None:
    """GPflow reaches the undecorated function so."""
    assert tf.custom_gradient(_outer_tape).__original_wrapped__ is _outer_tape


def test_a_rule_that_is_a_function_is_differentiated_again() -> None:
    @tf.function
    def f(x: Any) -> Any:
        slope = tf.gradients(tf.custom_gradient(_outer_tape)(x * 2.0), x)[0]
        return slope, tf.gradients(slope, x)[0]

    assert [g.numpy().tolist() for g in f(tf.constant(X))] == [[24.0, 96.0], [48.0, 96.0]]
