"""Variables as values of names that loops and branches on tensors bind anew.

Where a name is a variable on one side and a tensor on the other, the variable gives its value, as
in TensorFlow, from which the numbers are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

V = tf.Variable(3.0)
W = tf.Variable(7.0)


def branch(n: Any) -> Any:
    x = V
    if n > 0:
        V.assign_add(1.0)
    else:
        x = V * 10.0
    return x


def early_return(n: Any) -> Any:
    if n > 0:
        return V
    return V * 2.0


def early_return_of_two(n: Any) -> Any:
    if n > 0:
        return V, W
    return W + 1.0, {"x": V}["x"]


def expression(n: Any) -> Any:
    y = V if n > 0 else V * 2.0
    return y + 1.0


def either(n: Any) -> Any:
    if n > 0:
        x = V
    else:
        x = W
    return x * 2.0


def loop(n: Any) -> Any:
    x = V
    for _ in tf.range(n):
        x = x * 2.0
    return x


def other_variable(n: Any) -> Any:
    total, one = tf.zeros([]), V
    for _ in tf.range(n):
        total += one
        one = W
    return total, one


def assigned(n: Any) -> Any:
    x = V
    for _ in tf.range(n):
        V.assign_add(1.0)
        x = x + V
    return x


def dictionary(n: Any) -> Any:
    p = {"a": V, "b": W}
    for _ in tf.range(n):
        p = {"a": p["b"], "b": p["a"] + 1.0}
    return p["a"], p["b"]


def pair(n: Any) -> Any:
    p = [V, W]
    if n > 0:
        p = [p[1] * 2.0, p[0]]
    return p


def both(n: Any) -> Any:
    h = V
    while n > 0:
        if n > 2:
            h = h * 2.0
        else:
            h = V + h
        n -= 1
    return h


def broken(n: Any) -> Any:
    x = V
    for i in tf.range(n):
        if i > 1:
            break
        x = x + 1.0
    return x


def bound_in_turn(n: Any) -> Any:
    x = V
    for _ in tf.range(n):
        x = V
        x.assign_add(1.0)
    return x


def augmented(n: Any) -> Any:
    x = V
    for _ in tf.range(n):
        x -= 1.0
    return x


def augmented_while(n: Any) -> Any:
    x = V
    while n > 0:
        x *= 2.0
        n -= 1
    return x


# The program, its argument, the result, and what V is afterwards.
CASES: list[tuple[Any, int, list[float], float]] = [
    (branch, 1, [4.0], 4.0),
    (branch, -1, [30.0], 3.0),
    (early_return, 1, [3.0], 3.0),
    (early_return, -1, [6.0], 3.0),
    (early_return_of_two, 1, [3.0, 7.0], 3.0),
    (early_return_of_two, -1, [8.0, 3.0], 3.0),
    (expression, 1, [4.0], 3.0),
    (expression, -1, [7.0], 3.0),
    (either, 1, [6.0], 3.0),
    (either, -1, [14.0], 3.0),
    (loop, 3, [24.0], 3.0),
    (loop, 0, [3.0], 3.0),
    (other_variable, 3, [17.0, 7.0], 3.0),
    (assigned, 3, [18.0], 6.0),
    (dictionary, 3, [8.0, 5.0], 3.0),
    (pair, 1, [14.0, 3.0], 3.0),
    (pair, -1, [3.0, 7.0], 3.0),
    (both, 4, [18.0], 3.0),
    (broken, 5, [5.0], 3.0),
    (bound_in_turn, 3, [6.0], 6.0),
    (augmented, 2, [1.0], 3.0),
    (augmented_while, 2, [12.0], 3.0),
]


@pytest.mark.parametrize("jit", [None, True])
@pytest.mark.parametrize(("program", "n", "result", "after"), CASES)
def test_a_variable_gives_its_value(
    program: Any, n: int, result: list[float], after: float, jit: bool | None
) -> None:
    V.assign(3.0)
    found = tf.function(program, jit_compile=jit)(tf.constant(n))
    assert [float(x) for x in tf.nest.flatten(found)] == result
    assert float(V) == after


def test_gradients_reach_a_variable_that_a_loop_carries() -> None:
    V.assign(3.0)

    @tf.function
    def step(n: Any) -> Any:
        with tf.GradientTape() as tape:
            x = V
            for _ in tf.range(n):
                x = x * V
        return x, tape.gradient(x, V)

    np.testing.assert_allclose(step(tf.constant(2)), [27.0, 27.0])


def test_an_augmented_assignment_in_a_branch_is_an_error_as_in_tensorflow() -> None:
    @tf.function
    def f(v: Any, n: Any) -> Any:
        if n > 0:
            v -= 1.0
        return v

    with pytest.raises(RuntimeError, match="assign_sub"):
        f(V, tf.constant(1))


def test_what_is_no_value_is_named() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = V
        if n > 0:
            x = "text" if n is None else object()
        return x

    with pytest.raises(TypeError, match="variable 'Variable"):
        f(tf.constant(1))
