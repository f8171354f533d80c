"""Branches, loops, maps, folds and arrays: what TensorFlow answers, eagerly and in a function.

`control_flow.txt` holds expressions and answers, each measured on TensorFlow. Where TensorFlow
gives up and Wengert goes on (Python numbers as conditions, results whose structure no signature
announces), there is no line; where the two modes of TensorFlow differ in the kind of a sequence
that a loop returns, Wengert follows its functions.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.semantics.api import tf
from tests.semantics.tables import rows

Pair = collections.namedtuple("Pair", "a b")
c = tf.constant
f32, i32 = tf.float32, tf.int32
x = c([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
empty = tf.zeros([0, 2])
yes, one = tf.Variable(True), tf.Variable(1)


def traced(f: Callable[[], Any]) -> Any:
    """What the expression answers inside a function."""
    return tf.function(f, autograph=False)()


def holds(value: bool) -> Any:
    """A condition that a trace does not know."""
    return tf.equal(yes, value)


def number(k: int) -> Any:
    """A whole number that a trace does not know."""
    return one + (k - 1)


def array(**options: Any) -> Any:
    """An array of three floats, unless the options say otherwise."""
    return tf.TensorArray(f32, **{"size": 3, **options})


def slope(f: Callable[[Any], Any]) -> Any:
    """The gradient of `f` at [1, 2, 3]."""
    at = c([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(at)
        y = f(at)
    return tape.gradient(y, at)


def show(value: Any) -> str:
    """A value in one line, with the kinds of its containers."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {show(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(map(show, value))
        return f"[{inner}]" if isinstance(value, list) else f"{type(value).__name__}({inner})"
    if tf.is_tensor(value) and hasattr(value, "numpy"):
        return f"{value.dtype.name} {np.asarray(value.numpy()).tolist()}"
    if isinstance(value, tf.RaggedTensor):
        return f"ragged {value.to_list()}"
    return repr(value)


def answer_to(expression: str, wanted: str) -> str:
    try:
        return show(eval(expression, dict(globals())))
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return (
            wanted if wanted.startswith("! ") and wanted[2:] in kinds else f"! {kinds[0]}: {error}"
        )


@pytest.mark.parametrize(("expression", "answer"), list(rows("control_flow.txt")))
def test_answers(expression: str, answer: str) -> None:
    assert answer_to(expression, answer) == answer
