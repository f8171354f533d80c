"""Python called from compiled code: it sees its arguments, in order, and its errors undo the step."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import wengert as tf

SCALAR = tf.TensorSpec([], tf.float32)


def test_prints_and_calls_come_in_program_order(capfd: Any) -> None:
    seen: list[float] = []

    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        tf.print("before", x)
        y = tf.numpy_function(lambda a: (seen.append(float(a)), a * 2)[1], [x], SCALAR)
        tf.print("after", y)
        return y

    assert f(tf.constant(2.0)).numpy() == 4.0
    assert f(tf.constant(3.0)).numpy() == 6.0
    assert seen == [2.0, 3.0]
    lines = capfd.readouterr().err.splitlines()
    assert lines == ["before 2", "after 4", "before 3", "after 6"]


def test_a_print_in_a_loop_comes_once_a_turn(capfd: Any) -> None:
    @tf.function(jit_compile=True)
    def f(n: Any) -> Any:
        return tf.while_loop(lambda i: i < n, lambda i: (tf.print(i), i + 1)[1:], [0])

    f(tf.constant(3))
    assert capfd.readouterr().err.split() == ["0", "1", "2"]


def test_an_error_in_python_undoes_the_step_and_names_the_line() -> None:
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        v.assign_add(x)
        return tf.numpy_function(lambda a: 1 / float(a), [x], SCALAR)

    with pytest.raises(tf.errors.UnknownError, match="Python raised ZeroDivisionError") as found:
        f(tf.constant(0.0))
    assert any("test_compiled_host_calls.py" in note for note in found.value.__notes__)
    assert v.numpy() == 1.0
    assert f(tf.constant(2.0)).numpy() == 0.5
    assert v.numpy() == 3.0


def test_a_variable_that_the_step_has_taken_cannot_be_seen() -> None:
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        v.assign_add(x)
        return tf.numpy_function(lambda a: a * v.numpy(), [x], SCALAR)

    with pytest.raises(tf.errors.FailedPreconditionError, match="has taken it"):
        f(tf.constant(1.0))
    assert v.numpy() == 1.0


def test_wide_numbers_pass_unharmed() -> None:
    specs = [tf.TensorSpec([2], tf.float64), tf.TensorSpec([], tf.int64)]

    @tf.function(jit_compile=True)
    def f(x: Any, i: Any) -> Any:
        return tf.numpy_function(lambda a, b: (a * np.pi, b + 2**40), [x, i], specs)

    a, b = f(tf.constant([1.0, 2.0], tf.float64), tf.constant(2**41, tf.int64))
    np.testing.assert_array_equal(a.numpy(), np.array([1.0, 2.0]) * np.pi)
    assert b.numpy() == 2**41 + 2**40


def test_py_function_has_a_gradient_in_compiled_code() -> None:
    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        return tf.py_function(lambda a: a * a, [x], SCALAR)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 9.0
    assert tape.gradient(y, x).numpy() == 6.0


def test_results_without_a_fixed_shape_are_refused() -> None:
    f = tf.function(
        lambda x: tf.numpy_function(lambda a: a, [x], tf.float32), jit_compile=True, autograph=False
    )
    with pytest.raises(tf.errors.UnimplementedError, match=r"give `Tout` as tf\.TensorSpec"):
        f(tf.constant(1.0))


def test_the_time_is_asked_in_every_call() -> None:
    @tf.function
    def now() -> Any:
        return tf.timestamp()

    before = time.time()
    found = [float(now()) for _ in range(3)]
    assert before <= found[0] < found[1] < found[2] <= time.time()
    assert tf.timestamp().dtype == now().dtype == tf.float64
    assert now().shape == ()


def test_python_beside_an_assignment_has_a_gradient_in_compiled_code() -> None:
    v = tf.Variable(2.0)

    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        v.assign(v * 0.5)
        for _ in tf.range(2):
            x = tf.py_function(tf.sin, [x], tf.TensorSpec([], tf.float32)) * v
            v.assign_add(1.0)
        return x

    x = tf.constant(0.6)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    inner = np.sin(0.6)
    np.testing.assert_allclose(y, 2.0 * np.sin(inner), rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, x), 2.0 * np.cos(inner) * np.cos(0.6), rtol=1e-6)
    assert v == 3.0
