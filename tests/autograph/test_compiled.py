"""Programs whose results have known shapes give the same on the compiled engine."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import wengert as tf
from tests.autograph.programs import CASES, Case
from tests.autograph.test_programs import check_equal, gradient_of, tensors

WITH_GRADIENT = ("while_state", "for_rows", "append_each_turn", "while_with_lazy_index")


@pytest.mark.parametrize("case", [c for c in CASES if c.xla], ids=lambda c: c.name)
def test_in_a_compiled_function(case: Case) -> None:
    function = tf.function(case.function, jit_compile=True)
    for run in case.runs:
        args = tensors(run)
        case.reset()
        wanted = case.function(*args)
        case.reset()
        check_equal(function(*args), wanted)


@pytest.mark.parametrize("name", WITH_GRADIENT)
def test_gradients_of_a_compiled_function(name: str) -> None:
    case = next(c for c in CASES if c.name == name)
    function = tf.function(case.function, jit_compile=True)
    for run in case.runs:
        args = tensors(run)
        check_equal(gradient_of(function, args), gradient_of(case.function, args))


def test_a_list_of_unknown_length_is_refused_at_the_line() -> None:
    @tf.function(jit_compile=True)
    def positive(x):
        out = []
        for v in x:
            if v > 0.0:
                out.append(v)  # noqa: PERF401  # the loop is the point
        return tf.stack(out)

    with pytest.raises(NotImplementedError, match="positive: XLA needs fixed shapes"):
        positive(tf.constant([1.0, -1.0]))


def test_what_an_open_size_taught_is_not_held_against_a_fixed_one() -> None:
    def total(t):
        x = tf.constant(3.0)
        for _ in tf.range(3):
            r = x * t
            x = x - 0.01 * tf.reduce_sum(r)
        return x + tf.reduce_sum(r)  # type: ignore[possibly-undefined]  # bound by three turns

    t = tf.linspace(0.0, 3.0, 5)
    first = tf.function(total, input_signature=[tf.TensorSpec([None])])(t)
    second = tf.function(total, jit_compile=True)(t)
    np.testing.assert_allclose([first, second], [21.625921, 21.625921], rtol=1e-6)


def test_names_bound_under_a_tape_belong_to_their_turn() -> None:
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None])])
    def descend(t):
        x = tf.constant(3.0)
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                r = x * t
            x = x - 0.01 * tape.gradient(r, x)
        return x

    for size, wanted in ((5, 2.775), (7, 2.685)):
        assert float(descend(tf.linspace(0.0, 3.0, size))) == pytest.approx(wanted)


def test_names_bound_where_errors_are_swallowed_are_carried_on() -> None:
    @tf.function
    def last(t):
        r = tf.zeros([])
        for i in tf.range(3):
            with contextlib.suppress(ZeroDivisionError):
                r = r + t * tf.cast(i, tf.float32)
        return r

    assert float(last(tf.constant(2.0))) == 6.0
