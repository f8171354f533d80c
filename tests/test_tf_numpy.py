"""`tf.experimental.numpy`: TensorFlow's answers, functions, gradients, promotion, bad input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.tf_numpy_cases import answer, calls, given
from wengert.core.process_settings import PROCESS

tnp: Any = tf.experimental.numpy
ANSWERS = json.loads(Path(__file__).with_name("tf_numpy_answers.json").read_text())
# What NumPy gives, and TensorFlow does not: angles of real numbers as float64, an array of truths
# for whole numbers, fractions of `float_power`, and float32 beside truths.
AS_NUMPY = {
    *(f"angle({x})" for x in ("f", "m", "w", "i32")),
    *(f"{name}({x})" for name in ("isinf", "isneginf", "isposinf") for x in ("m", "i32")),
    "float_power(i, i)", "float_power(i, 2)", "logaddexp2(f32, b)",
}  # fmt: skip


@pytest.fixture
def promoting() -> Iterator[None]:
    tnp.experimental_enable_numpy_behavior()
    yield
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")


def close(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return bool(np.isclose(a, b, rtol=1e-5, atol=1e-7, equal_nan=True))
    return a == b


@pytest.mark.usefixtures("promoting")
@pytest.mark.parametrize("first", range(10))
def test_answers_are_those_of_tensorflow(first: int) -> None:
    namespace = {n: getattr(tnp, n) for n in dir(tnp)} | given(tnp)
    for call in calls()[first::10]:
        want = ANSWERS[call]
        found = answer(call, dict(namespace))
        if want[:1] == ["error"]:  # some of TensorFlow's own failures have an answer here
            continue
        if call in AS_NUMPY:
            assert found[:1] != ["error"], call
        else:
            assert close(want, found), (call, want, found)


def test_results_that_tensorflow_has_not_are_those_of_numpy() -> None:
    m = np.array([[3, 0, 2], [1, 5, -4]])
    for name, args in [
        ("reciprocal", ([1.0, 4.0],)), ("hypot", ([3, 4], 4)), ("arctan2", ([1, 2], [3, 4])),
        ("angle", ([1.0, -1.0],)), ("isinf", ([1, 2],)), ("float_power", ([1, 2], 2)),
    ]:  # fmt: skip
        np.testing.assert_allclose(getattr(tnp, name)(*args), getattr(np, name)(*args))
    np.testing.assert_allclose(tnp.var(m, ddof=1), np.var(m, ddof=1))
    np.testing.assert_array_equal(tnp.pad(m, 1), np.pad(m, 1))
    assert tnp.size(m, 1) == 3


def test_functions_trace_with_open_sizes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def run(x: Any) -> Any:
        return [
            tnp.mean(x, 0), tnp.where(x > 0, x, 0), tnp.sort(x, 1), tnp.cumsum(x), tnp.take(x, [0, 1]),
            tnp.roll(x, 1), tnp.kron(x, x), tnp.flip(x), tnp.tril(x), tnp.matmul(x, tnp.transpose(x)),
            tnp.tile(x, 2), tnp.var(x), tnp.full_like(x, 2), tnp.diff(x), tnp.concatenate([x, x], 1),
            tnp.rot90(x), tnp.moveaxis(x, 0, 1), tnp.std(x, 1), tnp.average(x, 0), tnp.pad(x, 1),
        ]  # fmt: skip

    x = np.array([[3, -1, 2], [0.5, 4, 1]], np.float32)
    for traced, eager in zip(run(x), run.python_function(tf.constant(x)), strict=True):
        np.testing.assert_allclose(traced, eager, rtol=1e-6)


def test_gradients_flow() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.kron(v, v)) + tnp.var(v) + tnp.dot(v, v) + tnp.max(tnp.where(v > 1, v, 0))
    found = tape.gradient(y, v)
    np.testing.assert_allclose(found, [13.333333, 16.0, 19.666667], rtol=1e-6)


@pytest.mark.usefixtures("promoting")
def test_operators_promote_where_asked() -> None:
    assert (tf.constant(1) + tf.constant(2.0)).dtype is tf.float64
    assert (tf.constant([1, 2]) * 2.5).numpy().tolist() == [2.5, 5.0]
    assert (2.5 - tf.constant(1)).dtype is tf.float64
    assert (tf.constant(1.0) + 1).dtype is tf.float32
    traced = tf.function(lambda a, b: a + b * 2.5)
    assert traced(tf.constant(1), tf.constant([2])).numpy().tolist() == [6.0]
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * tf.constant(3)
    assert float(tape.gradient(y, v)) == 3.0
    tnp.experimental_enable_numpy_behavior(prefer_float32=True)
    assert tnp.arange(3.0).dtype is tf.float32 and tnp.array(1).dtype is tf.int32
    assert (tf.constant([1, 2]) * 2.5).dtype is tf.float32
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
    with pytest.raises(TypeError, match="promotion of float32 and int32 is not safe"):
        tf.constant(1) + tf.constant(2.0)
    with pytest.raises(ValueError, match="legacy, all, safe, off"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="no")


def test_operators_do_not_promote_by_default() -> None:
    assert not PROCESS.promotes
    with pytest.raises(TypeError):
        tf.constant(1) + tf.constant(2.0)


def test_random_numbers_repeat_by_seed() -> None:
    def draw() -> Any:
        tnp.random.seed(7)
        return [
            tnp.random.randn(2), tnp.random.rand(3), tnp.random.randint(5, size=[4]),
            tnp.random.uniform(1.0, 2.0, [3]), tnp.random.poisson(3.0, [2]), tnp.random.random([2]),
        ]  # fmt: skip

    for a, b in zip(draw(), draw(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert draw()[2].dtype is tf.int64 and draw()[0].dtype is tf.float64
    low, high = tnp.random.randint(2, 5, [100]), tnp.random.uniform(1.0, 2.0, [100])
    assert {2, 3, 4} >= set(low.numpy().tolist()) and bool(tnp.all((high >= 1.0) & (high < 2.0)))


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: tnp.array([[1], [2, 3]]), ValueError, "array|inhomogeneous"),
        (lambda: tnp.reshape([1, 2], [3]), ValueError, "reshape"),
        (lambda: tnp.concatenate([[1], [2]], None), ValueError, "`axis` must be a number"),
        (lambda: tnp.clip([1], None, None), ValueError, "a bound is needed"),
        (lambda: tnp.where([True], [1]), ValueError, "both `x` and `y`"),
        (lambda: tnp.select([True], []), ValueError, "as many conditions"),
        (lambda: tnp.linspace(0, 1, -1), ValueError, "`num` must not be negative"),
        (lambda: tnp.arange(0, 1, 0), ValueError, "`step` must not be 0"),
        (lambda: tnp.take([1], [0], mode="no"), ValueError, "raise, clip or wrap"),
        (lambda: tnp.pad([1], 1, "edge"), ValueError, "constant, reflect, symmetric"),
        (lambda: tnp.diag(tnp.zeros([1, 1, 1])), ValueError, "a vector or a matrix"),
        (lambda: tnp.trace([1.0]), ValueError, "two axes are needed"),
        (lambda: tnp.tril([1.0]), ValueError, "a matrix is needed"),
        (lambda: tnp.rot90([1.0]), ValueError, "two axes|axis|rank|modulo"),
        (lambda: tnp.matmul(1.0, [2.0]), ValueError, "Use multiply"),
        (lambda: tnp.cross([1.0], [2.0]), ValueError, "2 or 3 numbers"),
        (lambda: tnp.gcd([1.5], [2]), ValueError, "whole numbers"),
        (lambda: tnp.moveaxis([[1]], [0, 1], [0]), ValueError, "as many"),
        (lambda: tnp.ix_([[1]]), ValueError, "must be a vector"),
        (lambda: tnp.reshape([1, 2], [2], "K"), ValueError, "`order`"),
        (lambda: tnp.no_such_name, AttributeError, "no_such_name"),
    ],
)
def test_bad_input_says_what_is_wrong(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        call()
