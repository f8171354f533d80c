"""The gradient of rows that were looked up, through calls of functions: `IndexedSlices`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

TABLE = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
ROWS = tf.constant([0, 2, 0])
DENSE = [[4.0, 8.0], [0.0, 0.0], [10.0, 12.0]]


def loss(table: Any) -> Any:
    return tf.reduce_sum(tf.gather(table, ROWS) ** 2)


def gradient(function: Any, source: Any = TABLE) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(source)
        y = function(source)
    return tape.gradient(y, source)


def by_name(_: Any) -> Any:
    return loss(TABLE)


PLAIN = [tf.function(loss), tf.function(by_name), tf.function(lambda x: tf.function(loss)(x))]
JIT = [tf.function(loss, jit_compile=True), tf.function(by_name, jit_compile=True)]


@pytest.mark.parametrize("function", [*PLAIN, *JIT])
@pytest.mark.parametrize("inside", [False, True])
def test_rows_stay_rows(function: Any, inside: bool) -> None:
    kinds = []

    def program() -> Any:
        g = gradient(function)
        kinds.append(type(g))
        return g

    g = (tf.function(program) if inside else program)()
    assert kinds == [tf.IndexedSlices]
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [0, 2, 0]
    assert g.values.numpy().tolist() == [[2.0, 4.0], [10.0, 12.0], [2.0, 4.0]]
    assert g.dense_shape.numpy().tolist() == [3, 2]
    assert tf.convert_to_tensor(g).numpy().tolist() == DENSE


def test_rows_of_an_argument_of_open_size() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x: Any) -> Any:
        return tf.gather(x, [1]) * 2.0

    for size in (2, 3):
        g = gradient(f, tf.ones([size, 2]))
        assert g.dense_shape.numpy().tolist() == [size, 2]
        assert tf.convert_to_tensor(g).numpy()[1].tolist() == [2.0, 2.0]


def test_a_sum_with_a_dense_gradient_is_dense() -> None:
    g = gradient(tf.function(lambda x: loss(x) + tf.reduce_sum(x)))
    assert isinstance(g, tf.Tensor)
    assert g.numpy().tolist() == (np.array(DENSE) + 1.0).tolist()


@pytest.mark.parametrize("function", [loss, *PLAIN, *JIT])
def test_further_derivatives(function: Any) -> None:
    product = lambda x: function(x) * tf.reduce_sum(x)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    source = TABLE if function in (PLAIN[1], JIT[1]) else x
    with tf.GradientTape() as outer:
        outer.watch(source)
        g = tf.convert_to_tensor(gradient(product, source))
    second = tf.convert_to_tensor(outer.gradient(g, source)).numpy()
    counts = np.array([[2.0], [0.0], [1.0]])
    slope = 2.0 * counts * x.numpy()
    total = slope.sum() + 6.0 * slope + 2.0 * counts * x.numpy().sum()
    np.testing.assert_allclose(second, total, rtol=1e-5)


def test_jacobians_and_forward_mode() -> None:
    rows = tf.function(lambda x: tf.reduce_sum(tf.gather(x, [0, 2, 0]) ** 2, 1))
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = rows(x)
    wanted = np.zeros((3, 3, 2), np.float32)
    wanted[0, 0] = wanted[2, 0] = [2.0, 4.0]
    wanted[1, 2] = [10.0, 12.0]
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), wanted)
    with tf.autodiff.ForwardAccumulator(x, tf.ones([3, 2])) as accumulator:
        y = rows(x)
    np.testing.assert_allclose(accumulator.jvp(y).numpy(), [6.0, 22.0, 6.0])


def test_an_update_by_rows() -> None:
    table = tf.Variable(tf.ones([3, 2]))
    table.scatter_sub(gradient(tf.function(loss), table))
    assert table.numpy().tolist() == [[-3.0, -3.0], [1.0, 1.0], [-1.0, -1.0]]


@pytest.mark.parametrize(("spec", "whole"), [([None], [1, 1, 0]), ([None, None], [3, 3, 0])])
@pytest.mark.parametrize("engine", ["host", "xla"])
def test_looked_up_rows_of_an_open_size_are_a_result(
    engine: str, spec: list[None], whole: list[int]
) -> None:
    @tf.function
    def slopes(table: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(table)
            y = tf.gather(table, [1, 0])
        return tape.gradient(y, table)

    shapes = []

    @tf.function(input_signature=[tf.TensorSpec(spec)])
    def f(table: Any) -> Any:
        g = slopes(table)
        shapes.append(g.shape.as_list())
        return g.dense_shape, tf.convert_to_tensor(g), g

    with tf.engine(engine):
        shape, dense, g = f(tf.ones([3] * len(spec)))
    assert shapes == [spec]
    assert shape.numpy().tolist() == g.shape.as_list() == [3] * len(spec)
    assert tf.reduce_sum(tf.reshape(dense, [3, -1]), 1).numpy().tolist() == whole
    assert isinstance(g, tf.IndexedSlices)
