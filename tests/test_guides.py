"""What programs in the style of TensorFlow's guides rely on inside functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf


class TestArraysInLoops:
    """A `TensorArray` of known size is a tensor with known rows when it is stacked."""

    def test_the_rows_are_known_after_a_loop(self) -> None:
        shapes = []

        @tf.function
        def steps(x: Any) -> Any:
            array = tf.TensorArray(tf.float32, 4)
            for i in tf.range(4):
                if x[0] > 0.0:
                    array = array.write(i, x * tf.cast(i, tf.float32))
                else:
                    array = array.write(i, x)
            found = array.stack()
            shapes.append(found.shape.as_list())
            return found

        np.testing.assert_array_equal(steps(tf.ones(3))[:, 0], [0, 1, 2, 3])
        assert shapes[-1] == [4, 3]

    def test_the_rows_of_one_that_grows_are_not(self) -> None:
        shapes = []

        @tf.function
        def steps(x: Any) -> Any:
            array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
            for i in tf.range(3):
                array = array.write(i, x[i])
            found = array.stack()
            shapes.append(found.shape.as_list())
            return found

        np.testing.assert_array_equal(steps(tf.range(3.0)), [0, 1, 2])
        assert shapes[-1] == [None]

    def test_a_size_that_follows_from_a_shape_counts(self) -> None:
        @tf.function(input_signature=[tf.TensorSpec([None, 5])])
        def turned(x: Any) -> Any:
            array = tf.TensorArray(tf.float32, tf.shape(x)[1])
            for i in tf.range(5):
                array = array.write(i, x[:, i])
            found = array.stack()
            assert found.shape.as_list() == [5, None]
            return found

        assert turned(tf.ones((2, 5))).shape == (5, 2)


class Keeper(tf.Module):
    """Keeps a tensor of its last call, as attention layers keep their scores."""

    def __call__(self, x: Any) -> Any:
        self.last = x * 2.0
        self.both = [x, x + 1.0]
        return tf.reduce_sum(self.last)


class TestAttributesOfEarlierTraces:
    """An attribute that holds a tensor of a trace that has ended is as good as none."""

    @pytest.fixture
    def keeper(self) -> Keeper:
        found = Keeper()
        tf.function(found.__call__)(tf.ones((2, 3)))
        return found

    def test_a_loop_gives_it_a_new_value(self, keeper: Keeper) -> None:
        @tf.function
        def total(x: Any) -> Any:
            s = 0.0
            for i in tf.range(3):
                s += keeper(x) * tf.cast(i, tf.float32)
            return s + keeper.last[0]

        assert float(total(tf.ones(4))) == 26.0

    def test_a_branch_gives_it_a_new_value(self, keeper: Keeper) -> None:
        @tf.function
        def maybe(x: Any) -> Any:
            if tf.reduce_sum(x) > 0.0:
                y = keeper(x)
            else:
                y = 0.0
            return y

        assert float(maybe(tf.ones(4))) == 8.0
        assert float(maybe(-tf.ones(4))) == 0.0

    def test_what_one_branch_leaves_is_not_used_by_mistake(self, keeper: Keeper) -> None:
        @tf.function
        def wrong(x: Any) -> Any:
            if tf.reduce_sum(x) > 0.0:
                y = keeper(x)
            else:
                y = 0.0
            return y + keeper.last

        with pytest.raises(ValueError, match=r"`keeper.last` has a value in one branch only"):
            wrong(tf.ones(4))


class TestCallsOfPythonAsDecorators:
    def test_numpy_function(self) -> None:
        @tf.numpy_function(Tout=[tf.float32, tf.int32])
        def step(x: Any) -> Any:
            return np.float32(x * 2), np.int32(x > 1)

        @tf.function
        def twice(x: Any) -> Any:
            y, big = step(x)
            return y + tf.cast(big, tf.float32)

        assert float(twice(tf.constant(3.0))) == 7.0
        assert float(step(tf.constant(1.0))[0]) == 2.0

    def test_py_function_has_a_gradient(self) -> None:
        @tf.py_function(Tout=tf.float32)
        def cube(x: Any) -> Any:
            return x**3

        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = cube(x)
        assert float(tape.gradient(y, x)) == 12.0

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: tf.py_function(lambda x: x, [1.0]), "`Tout` is missing"),
            (lambda: tf.numpy_function(lambda: 1.0, Tout=tf.float32), "`inp` is missing"),
            (lambda: tf.py_function(inp=[1.0], Tout=tf.float32), "`inp` without `func`"),
        ],
    )
    def test_what_is_missing_is_said(self, call: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            call()


def test_a_trace_that_failed_leaves_no_shape_behind() -> None:
    @tf.function(reduce_retracing=True)
    def double(x: Any) -> Any:
        if x.shape.rank != 2:
            raise ValueError("a matrix, please")
        shapes.append(x.shape.as_list())
        return x * 2.0

    shapes: list[Any] = []
    with pytest.raises(ValueError, match="a matrix, please"):
        double(tf.ones(3))
    double(tf.ones((2, 3)))
    double(tf.ones((4, 3)))
    assert shapes == [[2, 3], [None, 3]]


class TestCompat:
    def test_text_and_bytes(self) -> None:
        assert tf.compat.as_bytes("né") == "né".encode()
        assert tf.compat.as_str(b"a") == tf.compat.as_text("a") == "a"
        assert tf.compat.as_str_any(3) == "3"
        with pytest.raises(TypeError, match="as_bytes: it takes text or bytes; got 3"):
            tf.compat.as_bytes(3)

    def test_names_of_two_are_found_under_one(self) -> None:
        assert tf.compat.v2 is tf
        v1 = tf.compat.v1
        assert v1.nn.relu is tf.nn.relu
        assert v1.to_float(tf.constant(1)).dtype is tf.float32
        v1.enable_eager_execution()
        level = v1.logging.get_verbosity()
        v1.logging.set_verbosity(v1.logging.ERROR)
        assert v1.logging.get_verbosity() == v1.logging.ERROR
        v1.logging.set_verbosity(level)

    @pytest.mark.parametrize("name", ["Session", "layers", "ConfigProto", "train", "zzyzx"])
    def test_what_belongs_to_one_says_so(self, name: str) -> None:
        with pytest.raises(
            AttributeError, match=rf"no `tf.compat.v1.{name}`. It belongs to TensorFlow 1"
        ):
            getattr(tf.compat.v1, name)
