"""Whatever raises, wherever it runs, the error names the user's own line.

Every program here has one line that ends in `# here`; it must be among the notes of the error, or
among the frames of its traceback.
"""
# Names that are not there are what is tested.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

X = tf.constant([1.0, 2.0, 3.0])


def operation() -> None:
    tf.matmul(X, X)  # here


def operator() -> None:
    X + tf.constant([1, 2, 3])  # here


def conversion() -> None:
    tf.constant([[1.0], [2.0, 3.0]])  # here


def assertion() -> None:
    tf.debugging.assert_less(X, 2.0)  # here


def variable() -> None:
    v = tf.Variable(X)
    v.assign([1.0])  # here


def tape_misuse() -> None:
    with tf.GradientTape() as tape:
        y = X * X
    tape.gradient(y, X, unconnected_gradients="zero")
    tape.gradient(y, X)  # here


def unconnected() -> None:
    x = tf.constant(1.0)  # here
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x, unconnected_gradients="error")


def seed_of_the_wrong_shape() -> None:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = X * X
    tape.gradient(y, X, output_gradients=tf.ones([2]))  # here


def rule_of_the_user() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        def rule(g: Any) -> Any:
            raise KeyError("missing")  # here

        return x * 2.0, rule

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    tape.gradient(y, X)


def rule_with_a_wrong_answer() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * 2.0, lambda g: (g, g, g)

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)  # here
    tape.gradient(y, X)


def check_inside_a_gradient() -> None:
    v = tf.Variable(0.0)
    tf.debugging.enable_check_numerics()
    try:
        with tf.GradientTape() as tape:
            y = tf.sqrt(v)  # here
        tape.gradient(y, v)
    finally:
        tf.debugging.disable_check_numerics()


def recomputed() -> None:
    def f(x: Any) -> Any:
        return tf.matmul(x, x)  # here

    tf.recompute_grad(f)(X)


def forward_mode() -> None:
    with tf.autodiff.ForwardAccumulator(X, tf.ones_like(X)):
        tf.reshape(X, [2, 2])  # here


def traced() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.matmul(x, x)  # here

    f(X)


def traced_in_another_function() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return tf.concat([x, x], axis=3)  # here

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) * 2.0

    outer(X)


def on_the_host_engine() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x: Any) -> Any:
        return tf.reshape(x, [2, 2])  # here

    with tf.engine("host"):
        f(X)


def compiled() -> None:
    @tf.function(jit_compile=True)
    def f(x: Any, i: Any) -> Any:
        return tf.gather(x, i)  # here

    f(X, tf.constant([7]))


def assertion_in_compiled_code() -> None:
    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        tf.debugging.assert_less(x, 2.0)  # here
        return x * 2.0

    f(X)


def what_cannot_be_compiled() -> None:
    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        return tf.strings.length(tf.as_string(x))  # here

    f(X)


def in_a_loop() -> None:
    @tf.function
    def f(n: Any) -> Any:
        return tf.while_loop(
            lambda i: i < n,
            lambda i: tf.gather(tf.constant([1, 2, 3]), i),  # here
            [tf.constant(0)],
        )

    f(tf.constant(100))


def python_callback() -> None:
    def work(x: Any) -> Any:
        raise KeyError("missing")  # here

    @tf.function
    def f(x: Any) -> Any:
        return tf.py_function(work, [x], tf.float32)

    f(X)


def numpy_callback() -> None:
    def work(x: np.ndarray) -> np.ndarray:
        return x @ np.ones([7, 7])  # here

    @tf.function
    def f(x: Any) -> Any:
        return tf.numpy_function(work, [x], tf.float32)

    f(X)


def dataset() -> None:
    def work(x: Any) -> Any:
        return tf.reshape(x, [2, 2])  # here

    list(tf.data.Dataset.from_tensor_slices([X, X]).map(work))


def dataset_generator() -> None:
    def rows() -> Any:
        yield 1.0
        raise KeyError("missing")  # here

    signature = tf.TensorSpec([], tf.float32)
    list(tf.data.Dataset.from_generator(rows, output_signature=signature))


def leaked() -> None:
    kept: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        y = x * 2.0
        kept.append(y)
        return y

    f(X)
    kept[0] + 1.0  # here


def variable_in_a_later_call() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x * tf.Variable(1.0)  # here

    f(X)


def too_many_traces() -> None:
    @tf.function(max_traces=1)
    def f(x: Any, n: int) -> Any:
        return x * n

    f(X, 1)
    f(X, 2)  # here


def missing_name() -> None:
    tf.placeholder(tf.float32)  # here


PROGRAMS = [
    operation, operator, conversion, assertion, variable, tape_misuse, unconnected,
    seed_of_the_wrong_shape, rule_of_the_user, rule_with_a_wrong_answer, check_inside_a_gradient,
    recomputed, forward_mode, traced, traced_in_another_function, on_the_host_engine, compiled,
    assertion_in_compiled_code, what_cannot_be_compiled, in_a_loop, python_callback,
    numpy_callback, dataset, dataset_generator, leaked, variable_in_a_later_call, too_many_traces,
    missing_name,
]  # fmt: skip


def shown(error: BaseException | None) -> str:
    """Everything Python prints of an error: its frames, its notes, and its causes."""
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_line_is_named(program: Callable[[], None]) -> None:
    with pytest.raises(Exception) as found:  # noqa: PT011  # of many kinds, on purpose
        program()
    assert "# here" in shown(found.value)
