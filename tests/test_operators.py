"""The operators of tensors and variables, their reflected forms, and what they refuse."""
# Operators that tensors do not have are tested, too.
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import wengert as tf

FORWARD: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@pytest.mark.parametrize("symbol", FORWARD)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_operators_follow_numpy_on_every_kind_of_neighbour(symbol, dtype):
    f = FORWARD[symbol]
    x, y = np.array([3, 7, 2], dtype), np.array([2, 3, 2], dtype)
    want = f(x, y)
    t, u = tf.constant(x), tf.constant(y)
    for a, b in ((t, u), (tf.Variable(x), u), (t, tf.Variable(y)), (t, y), (x, u), (t, y.tolist())):
        got = f(a, b)
        assert isinstance(got, tf.Tensor)
        np.testing.assert_allclose(got, want, rtol=1e-6)
    np.testing.assert_allclose(f(t, 2), f(x, 2), rtol=1e-6)
    np.testing.assert_allclose(f(2, t), f(2, x), rtol=1e-6)


BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


@pytest.mark.parametrize("symbol", BITS)
def test_logic_for_booleans_and_bits_for_integers(symbol):
    f = BITS[symbol]
    truth, other = np.array([True, True, False]), np.array([True, False, False])
    ints, more = np.array([6, 3, -1], np.int32), np.array([3, 5, 8], np.int32)
    for x, y in ((truth, other), (ints, more)):
        for a, b in ((tf.constant(x), tf.constant(y)), (x, tf.constant(y)), (tf.constant(x), y)):
            got = f(a, b)
            assert isinstance(got, tf.Tensor)
            np.testing.assert_array_equal(got, f(x, y))
    assert f(tf.constant(6), True).dtype == tf.int32
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32 is not supported"):
        f(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(TypeError):
        f(tf.constant(True), 1)


def test_unary_operators():
    np.testing.assert_array_equal(-tf.constant([1, -2]), [-1, 2])
    np.testing.assert_array_equal(abs(tf.constant([1.0, -2.0])), [1, 2])
    np.testing.assert_array_equal(~tf.constant([True, False]), [False, True])
    np.testing.assert_array_equal(~tf.Variable([0, 5]), [-1, -6])
    with pytest.raises(TypeError):
        +tf.constant(1)
    with pytest.raises(TypeError):
        divmod(tf.constant(5), 3)
    for bad in (lambda: -tf.constant(True), lambda: -tf.constant(1, tf.uint8)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            bad()


def test_matmul_operator():
    a = tf.constant([[1.0, 2.0]])
    np.testing.assert_array_equal(a @ [[3.0], [4.0]], [[11]])
    np.testing.assert_array_equal([[3.0], [4.0]] @ a, [[3, 6], [4, 8]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        a @ a


def test_booleans_multiply_but_do_not_add():
    t = tf.constant([True, True, False])
    assert (t * [True, False, True]).numpy().tolist() == [True, False, False]
    assert (True * t).dtype == tf.bool
    with pytest.raises(tf.errors.InvalidArgumentError, match="add: dtype bool is not supported"):
        t + t


def test_strings_join_and_compare():
    t = tf.constant(["a", "b"])
    assert (t + "x").numpy().tolist() == [b"ax", b"bx"]
    assert ("x" + tf.constant("b")).numpy() == b"xb"
    assert (t == "a").numpy().tolist() == [True, False]
    with pytest.raises(tf.errors.InvalidArgumentError):
        operator.lt(t, "b")


def test_equality_never_fails_on_shapes_or_none():
    t = tf.constant([1, 2])
    assert (t == tf.constant([1, 2, 3])).numpy() is np.False_
    assert (t != [1, 2, 3]).numpy() is np.True_
    assert (t == None) is False  # noqa: E711  # the operator is under test
    assert (tf.Variable(1) != None) is True  # noqa: E711  # the operator is under test
    with pytest.raises(tf.errors.InvalidArgumentError, match="same dtype"):
        operator.eq(t, tf.constant([1.0, 2.0]))
    with pytest.raises(TypeError):
        operator.eq(t, 1.5)


def test_tensors_and_variables_are_unhashable_with_a_remedy():
    with pytest.raises(TypeError, match=r"Tensor is unhashable. Instead, use tensor.ref\(\) as"):
        hash(tf.constant(1))
    with pytest.raises(TypeError, match=r"Variable is unhashable. Instead, use variable.ref\(\)"):
        {tf.Variable(1)}


MIXED = {
    "add": (lambda: tf.constant(1) + tf.constant(1.0), "add: the arguments must have the same"),
    "divide": (lambda: tf.constant(1) / tf.constant(1.0), "truediv: the arguments must have the"),
    "python float": (lambda: tf.constant(1) * 2.5, "multiply: the arguments must have the same"),
    "reflected": (lambda: 2.5 - tf.constant(1), "no promotion between float32 and int32"),
    "shapes": (lambda: tf.ones([2, 3]) + tf.ones([2]), "add: shapes [2,3] and [2] do not"),
    "none": (lambda: tf.constant(1) + None, "None is not a tensor"),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_refusals_name_the_rule(name):
    call, text = MIXED[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert text in str(caught.value)


def test_gradients_reach_both_sides_of_every_operator():
    x, y = tf.constant([1.5, 2.5]), tf.constant([0.5, 2.0])
    for f in (
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.mod,
        operator.pow,
    ):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            both, left, right = f(x, y), f(x, 2.0), f(2.0, y)
        assert all(g is not None for g in tape.gradient(both, [x, y]))
        assert tape.gradient(left, x) is not None
        assert tape.gradient(right, y) is not None
