"""Loops over rows that end early: values and derivatives are those of the eager program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf


def first_only(x: Any) -> Any:
    w = tf.sin(x)
    b = x[0]
    for p in w:
        b = p * 2.0
        break
    return b


def after_the_use(x: Any) -> Any:
    b = 0.0
    for p in x * 2.0:
        b += p * p
        if p > 3.0:
            break
    return b


def before_the_use(x: Any) -> Any:
    b = x[0]
    for p in x * x:
        if p > 3.0:
            break
        b += p * b
    return b


def by_return(x: Any) -> Any:
    for p in tf.exp(x):
        if p > 3.0:
            return p * p
    return x[0]


def zipped(x: Any) -> Any:
    b = 0.0
    for p, q in zip(x * 2.0, tf.sin(x), strict=True):
        if p > 5.0:
            break
        b += p * q * b + p
    return b


def numbered(x: Any) -> Any:
    b = 0.0
    for i, p in enumerate(x * x):
        b += p * tf.cast(i, tf.float32) * p
        if b > 1.0:
            break
    return b


def with_else(x: Any) -> Any:
    b = 0.0
    for p in x * x:
        b += p * p
        if p > 100.0:
            break
    else:
        b = b * 2.0
    return b


def with_continue(x: Any) -> Any:
    b = 1.0
    for p in tf.sin(x):
        if p < 0.9:
            continue
        b = b * p
        if b < 0.5:
            break
    return b


def nested(x: Any) -> Any:
    b = 0.0
    for r in x[:, None] * x:
        for p in r:
            b += p * p
            if p > 2.5:
                break
        if b > 30.0:
            break
    return b


PROGRAMS = [
    first_only, after_the_use, before_the_use, by_return, zipped, numbered, with_else,
    with_continue, nested,
]  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "traced": {},
    "compiled": {"jit_compile": True},
    "of any size": {"input_signature": [tf.TensorSpec([None])]},
}


def derivatives(f: Callable[..., Any], x: Any) -> list[Any]:
    """The value, the gradient, a product with the Hessian, and a directional derivative."""
    zero = tf.UnconnectedGradients.ZERO
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x, unconnected_gradients=zero)
        s = tf.reduce_sum(g * tf.constant([1.0, -2.0, 0.5]))
    h = outer.gradient(s, x, unconnected_gradients=zero)
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5, -1.0])) as forward:
        again = f(x)
    return [y, g, h, forward.jvp(again, unconnected_gradients=zero)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_of_loops_that_end_early(f: Callable[..., Any], way: str) -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    wanted = derivatives(f, x)
    outside = derivatives(tf.function(f, **WAYS[way]), x)
    inside = tf.function(lambda v: derivatives(f, v), **WAYS[way])(x)
    for found in (outside, inside):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_at_most_so_many_turns() -> None:
    @tf.function
    def f(x: Any) -> Any:
        b = 0.0
        for p in x * x:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            b += p * p
        return b

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [4.0, 32.0, 0.0]


def test_no_turn_on_the_host_before_a_compiled_way_back() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
    def f(x: Any, n: Any) -> Any:
        tf.py_function(lambda: None, [], [])
        y = x
        k = 0
        while k < n:
            k += 1
            y = tf.sin(y) * x
        return y

    x = tf.ones([200_000])
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(0))
        np.testing.assert_array_equal(tape.gradient(y, x), np.ones(200_000))


def test_names_of_a_loop_without_turns_that_only_its_own_functions_read() -> None:
    @tf.function
    def by_lambda(x: Any, n: Any) -> Any:
        y = x
        for i in tf.range(n):
            y = tf.map_fn(lambda e: e * tf.cast(i, tf.float32), y)  # noqa: B023  # called at once
        return y

    @tf.function
    def by_function(x: Any, n: Any) -> Any:
        while n > 0:
            k = x * 2.0

            def add(v: Any) -> Any:
                return v + k  # noqa: B023  # called at once

            x = add(x)
            n -= 1
        return x

    @tf.function
    def by_later_function(x: Any, n: Any) -> Any:
        for i in tf.range(n):
            x = x + tf.cast(i, tf.float32)
        late = lambda: tf.cast(i, tf.float32)  # pyright: ignore[reportPossiblyUnboundVariable]  # the point
        return x + late()

    x = tf.constant([1.0])
    for n, values in ((0, [1.0]), (2, [0.0])):
        assert by_lambda(x, tf.constant(n)).numpy().tolist() == values
    for n, values in ((0, [1.0]), (2, [9.0])):
        assert by_function(x, tf.constant(n)).numpy().tolist() == values
    assert by_later_function(x, tf.constant(2)).numpy().tolist() == [3.0]
    assert by_later_function(x, tf.constant(0)).numpy().tolist() == [1.0]  # `i` is the start, 0
