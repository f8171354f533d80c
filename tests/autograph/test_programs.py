"""Every program gives the same on eager tensors, converted or not, and in a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.autograph.programs import CASES, Case, Py
from wengert.autograph import convert

BY_NAME = pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)


def tensors(run: tuple[Any, ...]) -> list[Any]:
    return [a.value if isinstance(a, Py) else tf.constant(a) for a in run]


def plain(value: Any) -> Any:
    """The same structure with NumPy values."""
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return np.asarray(value)


def check_equal(found: Any, wanted: Any) -> None:
    found, wanted = plain(found), plain(wanted)
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            check_equal(a, b)
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for k in wanted:
            check_equal(found[k], wanted[k])
    else:
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def gradient_of(function: Any, args: list[Any]) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(args[0])
        result = function(*args)
        target = tf.add_n([tf.reduce_sum(y) for y in tf.nest.flatten(result) if is_float(y)])
    return tape.gradient(target, args[0], unconnected_gradients="zero")


def is_float(y: Any) -> bool:
    return tf.is_tensor(y) and y.dtype.is_floating


def run_all(case: Case, function: Any) -> None:
    for run in case.runs:
        args = tensors(run)
        case.reset()
        wanted = case.function(*args)
        case.reset()
        check_equal(function(*args), wanted)
        if case.gradient:
            check_equal(gradient_of(function, args), gradient_of(case.function, args))


@BY_NAME
def test_converted_is_plain_python_on_eager_tensors(case: Case) -> None:
    converted, reason = convert(case.function)
    assert reason is None
    assert converted is not case.function
    run_all(case, converted)


@BY_NAME
def test_in_a_function_on_the_host(case: Case) -> None:
    with tf.engine("host"):
        run_all(case, tf.function(case.function))


@BY_NAME
def test_in_a_function_of_open_shapes(case: Case) -> None:
    function = tf.function(case.function, reduce_retracing=True)
    run_all(case, function)


@pytest.mark.parametrize("case", [c for c in CASES if c.xla], ids=lambda c: c.name)
def test_in_a_compiled_function(case: Case) -> None:
    run_all(case, tf.function(case.function, jit_compile=True))
