"""States of converted loops whose shapes change, and what a program says of them."""

from __future__ import annotations

import pytest

import wengert as tf

OPEN_MATRIX = tf.TensorSpec([None, None], tf.float32)
INVARIANT = tf.TensorShape([None, 3])


def invariant_before(x):
    t = x
    for _ in x:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(t, INVARIANT)])
        t = tf.tanh(t)
    return t


def invariant_rank(x):
    t = x[0]
    for _ in x:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(t, INVARIANT)])
        t = tf.tanh(t)
    return t


def invariant_after(x):
    t = tf.ones([2, 3])
    for _ in x:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(t, INVARIANT)])
        t = tf.tanh(x)
    return t


def invariant_narrow(x):
    t = tf.ones([2, 3])
    for _ in x:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(t, tf.TensorShape([2, 3]))])
        t = tf.concat([t, t], 0)
    return t


@pytest.mark.parametrize(
    ("program", "found"),
    [
        (invariant_before, r"float32\[\?,\?\] before the loop"),
        (invariant_rank, r"float32\[\?\] before the loop"),
        (invariant_after, r"float32\[\?,\?\] after one turn"),
        (invariant_narrow, r"float32\[4,3\] after one turn"),
    ],
)
def test_a_state_that_breaks_its_shape_invariant_is_refused(program, found):
    with pytest.raises(ValueError, match=r"`t` must keep its shape invariant .*" + found):
        tf.function(program, input_signature=[OPEN_MATRIX])(tf.ones([3, 3]))


def test_a_variable_that_is_replaced_by_a_tensor_of_another_shape():
    v = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        t = v
        for _ in x:
            t = tf.concat([x, x], 0)
        return t * 2.0

    assert f(tf.constant([1.0, 3.0])).numpy().tolist() == [2.0, 6.0, 2.0, 6.0]
    assert f(tf.zeros([0])).numpy().tolist() == [2.0, 4.0]
