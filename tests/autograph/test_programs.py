"""Every program gives the same on eager tensors, converted or not, and in a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.autograph.programs import CASES, Case, Py
from wengert.autograph.conversion import convert


def each(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda c: c.name)


def tensors(run: tuple[Any, ...]) -> list[Any]:
    return [a.value if isinstance(a, Py) else tf.constant(a) for a in run]


def check_equal(found: Any, wanted: Any) -> None:
    """Assert the same structure and the same numbers."""
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            check_equal(a, b)
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for k in wanted:
            check_equal(found[k], wanted[k])
    else:
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)


def gradient_of(function: Any, args: list[Any]) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(args[0])
        result = function(*args)
        parts = [tf.reduce_sum(y) for y in tf.nest.flatten(result) if is_float(y)]
        target = tf.add_n(parts)
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


@each(CASES)
def test_converted_is_plain_python_on_eager_tensors(case: Case) -> None:
    converted, reason = convert(case.function)
    assert reason is None
    assert converted is not case.function
    run_all(case, converted)


@each(CASES)
def test_in_a_function_on_the_host(case: Case) -> None:
    with tf.engine("host"):
        run_all(case, tf.function(case.function))


def is_open(case: Case) -> bool:
    """Whether a program takes vectors only, so that their lengths can be left open."""
    return all(isinstance(a, list) for run in case.runs for a in run)


@each([c for c in CASES if is_open(c)])
def test_in_a_function_of_unknown_lengths(case: Case) -> None:
    shapes = [[None, *np.shape(a)[1:]] for a in case.runs[0]]
    kinds = [tf.constant(a).dtype for a in case.runs[0]]
    specs = [tf.TensorSpec(s, k) for s, k in zip(shapes, kinds, strict=True)]
    function = tf.function(case.function, input_signature=specs)
    run_all(case, function)
    assert function.experimental_get_tracing_count() == 1
