"""Control flow in functions as TensorFlow has it: measured there, and true for both.

`WENGERT_TEST_AGAINST=tensorflow` runs this file on TensorFlow.
"""

# ruff: noqa: RET503  # a function that returns on one path only is a point here
from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.api import tf

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def numbers(*values):
    return [np.asarray(v).tolist() for v in values]


def test_if_while_for_are_part_of_the_graph():
    traces = []

    @tf.function
    def f(x, n):
        traces.append(1)
        if x > 0.0:
            y = x
        else:
            y = -x
        while y < 10.0:
            y = y * 2.0
        for i in tf.range(n):
            if i == 3:
                break
            y = y + tf.cast(i, tf.float32)
        return y

    found = [f(tf.constant(x), tf.constant(n)) for x, n in ((1.0, 2), (-3.0, 9), (20.0, 0))]
    assert numbers(*found) == [17.0, 15.0, 20.0]
    assert traces == [1]


def test_range_unrolls_and_a_tensor_range_does_not():
    turns = []

    @tf.function
    def f(n):
        total = 0
        for i in range(4):
            turns.append("python")
            total += i
        for i in tf.range(4):
            turns.append("graph")
            total += i
        return total

    assert f(tf.constant(0)) == 12
    assert turns.count("python") == 4
    assert turns.count("graph") == 1


def test_rows_of_a_tensor():
    @tf.function
    def f(x):
        total = tf.zeros([2])
        for row in x:
            total = total * 2.0 + row
        return total

    assert numbers(f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))) == [[5.0, 8.0]]


def test_logic_is_lazy():
    @tf.function
    def f(x, i):
        return i < 2 and x[i] > 0.0, i >= 2 or x[i] > 0.0, not i < 2, 0 <= i < 2

    x = tf.constant([1.0, -1.0])
    assert [bool(b) for b in f(x, tf.constant(0))] == [True, True, False, True]
    assert [bool(b) for b in f(x, tf.constant(1))] == [False, False, False, True]


def test_python_numbers_become_tensors():
    @tf.function
    def f(n):
        i = 0
        half = 0.5
        while i < n:
            i += 1
            half = half * 2.0
        return i, half

    assert numbers(*f(tf.constant(3))) == [3, 4.0]


def test_functions_called_are_converted():
    def absolute(x):
        if x > 0.0:
            return x
        return -x

    class Twice:
        def __call__(self, x):
            return absolute(x) * 2.0

    @tf.function
    def f(x):
        return absolute(x), Twice()(x), (lambda v: v if v > 0.0 else v * 10.0)(x)

    assert numbers(*f(tf.constant(-2.0))) == [2.0, 4.0, -20.0]


def test_a_name_set_in_one_branch():
    @tf.function
    def used(x):
        if x > 0.0:
            y = x
        return y  # pyright: ignore[reportPossiblyUnboundVariable]  # the point

    @tf.function
    def unused(x):
        if x > 0.0:
            y = x * 2.0
            x = y
        return x

    with pytest.raises(ValueError, match="y"):
        used(tf.constant(1.0))
    assert unused(tf.constant(1.0)) == 2.0


@pytest.mark.parametrize("change", [lambda y: tf.cast(y, tf.float32), lambda y: (y, y)])
def test_a_loop_variable_that_changes_is_a_type_error(change):
    @tf.function
    def f(n):
        y = tf.constant(1)
        for _ in tf.range(n):
            y = change(y)
        return y

    with pytest.raises(TypeError, match="y"):
        f(tf.constant(2))


def test_a_loop_variable_that_changes_rank_is_a_value_error():
    @tf.function
    def f(n):
        y = tf.constant(1)
        for _ in tf.range(n):
            y = tf.stack([y, y])
        return y

    with pytest.raises(ValueError, match="y"):
        f(tf.constant(2))


def test_returns_on_one_path_only():
    @tf.function
    def f(x):  # the point
        if x > 0.0:
            return x

    with pytest.raises(ValueError):  # noqa: PT011  # the texts differ
        f(tf.constant(1.0))


def test_a_loop_without_a_turn_leaves_no_value():
    @tf.function
    def f(n):
        for i in tf.range(n):
            y = i * 2
        return y  # pyright: ignore[reportPossiblyUnboundVariable]  # the point

    assert f(tf.constant(3)) == 4
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(0))


def test_shape_invariants():
    @tf.function
    def f(n):
        x = tf.constant([1])
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, [i]], 0)
        return x

    assert numbers(f(tf.constant(3))) == [[1, 0, 1, 2]]


def test_do_not_convert():
    @tf.autograph.experimental.do_not_convert
    def g(x):
        return x if x > 0.0 else -x

    with pytest.raises(TypeError):
        tf.function(g)(tf.constant(1.0))
    with pytest.raises(TypeError):
        tf.function(lambda x: x if x > 0.0 else -x, autograph=False)(tf.constant(1.0))


def test_attributes_are_state():
    class Box:
        pass

    @tf.function
    def f(n):
        box = Box()
        box.total = 0  # type: ignore[attr-defined]  # any attribute will do
        for i in tf.range(n):
            box.total += i  # type: ignore[attr-defined]  # see above
        return box.total  # type: ignore[attr-defined]  # see above

    assert f(tf.constant(4)) == 6


def test_gradients_through_branches_and_loops():
    @tf.function
    def f(x):
        y = x
        while y < 50.0:
            if y > 5.0:
                y = y * x
            else:
                y = y + x
        return y

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert numbers(y, tape.gradient(y, x)) == [54.0, 54.0]


def test_tensor_arrays_in_loops():
    @tf.function
    def f(n):
        ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            ta = ta.write(i, i * i)
        return ta.stack()

    assert numbers(f(tf.constant(4))) == [[0, 1, 4, 9]]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_the_variable_of_a_range_after_no_turn(dtype):
    @tf.function
    def to(n):
        for i in tf.range(n):  # noqa: B007
            pass
        return i  # pyright: ignore[reportPossiblyUnboundVariable]  # the point

    @tf.function
    def between(a, b):
        total = tf.constant(0, dtype)
        for i in tf.range(a, b, 2):
            total += i
        return total, i  # pyright: ignore[reportPossiblyUnboundVariable]  # the point

    @tf.function
    def with_break(n):
        for i in tf.range(n):
            if i > 5:
                break
        return i  # pyright: ignore[reportPossiblyUnboundVariable]  # the point

    for n, last in ((0, 0), (3, 2), (9, 8)):
        found = to(tf.constant(n, dtype))
        assert found.dtype == dtype and found.shape == () and int(found) == last
    for (a, b), wanted in (((3, 1), [0, 3]), ((3, 3), [0, 3]), ((3, 8), [15, 7])):
        assert numbers(*between(tf.constant(a, dtype), tf.constant(b, dtype))) == wanted
    assert numbers(*map(with_break, [tf.constant(n, dtype) for n in (0, 2, 9)])) == [0, 1, 6]


def test_the_variable_of_a_range_keeps_the_value_before_the_loop():
    @tf.function
    def f(n):
        i = 7
        for i in tf.range(n):  # noqa: B007
            pass
        return i  # pyright: ignore[reportPossiblyUnboundVariable]  # the point

    assert numbers(f(tf.constant(0)), f(tf.constant(2))) == [7, 1]


def test_rows_after_no_turn_are_an_error():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        for row in x:  # noqa: B007
            pass
        return row  # pyright: ignore[reportPossiblyUnboundVariable]  # the point

    assert numbers(f(tf.constant([[1.0, 2.0]]))) == [[1.0, 2.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.zeros([0, 2]))


def test_an_endless_loop_that_changes_shapes_is_refused():
    @tf.function
    def doubled(x):
        while tf.constant(True):
            x = tf.concat([x, x], 0)
        return x

    @tf.function
    def until(x):
        while tf.constant(True):
            x = x + 1.0
            if tf.reduce_sum(x) > 20.0:
                break
        return x

    with pytest.raises(ValueError, match="shape"):
        doubled(tf.ones([2]))
    assert numbers(until(tf.ones([2]))) == [[11.0, 11.0]]
