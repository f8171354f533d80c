"""In functions of open sizes, what depends on whether sizes agree is what it is eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

VECTORS = [tf.TensorSpec([None], tf.float32)] * 2
MATRICES = [tf.TensorSpec([None, None], tf.float32)] * 2


def if_equal(a: Any, b: Any) -> Any:
    if tf.reduce_all(a == b):
        return 1
    return 0


# What TensorFlow gives eagerly for shapes (2,) and (3,); a function of None shapes gives the same
# for all but the last two, whose rank it takes from the trace.
UNEQUAL: dict[str, tuple[Callable[..., Any], Any]] = {
    "==": (lambda a, b: a == b, False),
    "!=": (lambda a, b: a != b, True),
    "not": (lambda a, b: tf.logical_not(a != b), False),
    "where": (lambda a, b: tf.where(a == b, 1, 0), 0),
    "cast": (lambda a, b: tf.cast(a != b, tf.int32) + 1, 2),
    "shape": (lambda a, b: tf.shape(a != b), []),
    "size": (lambda a, b: tf.size(a != b), 1),
    "all": (lambda a, b: tf.reduce_all(a == b), False),
    "if": (if_equal, 0),
}


@pytest.mark.parametrize("name", UNEQUAL)
@pytest.mark.parametrize("engine", [None, "host", "xla"])
def test_sizes_that_do_not_broadcast_are_unequal(name: str, engine: str | None) -> None:
    f, wanted = UNEQUAL[name]
    pairs = [([1.0, 2.0], [1.0, 2.0, 3.0]), ([], [1.0, 2.0, 3.0])]
    for signature in (VECTORS, [tf.TensorSpec(None, tf.float32)] * 2):
        function = tf.function(f, input_signature=signature)
        for a, b in pairs:
            args = tf.constant(a, tf.float32), tf.constant(b, tf.float32)
            with tf.engine(engine):
                for _ in range(2):
                    found = function(*args)
                    assert np.array_equal(found, wanted) and found.shape == np.shape(wanted)
            eager = f(*args)
            assert np.array_equal(eager, wanted)


@pytest.mark.parametrize("engine", ["host", "xla"])
def test_sizes_that_broadcast_are_compared(engine: str) -> None:
    function = tf.function(lambda a, b: (a == b, a != b), input_signature=VECTORS)
    for a, b in (([1.0, 2.0], [1.0, 3.0]), ([1.0], [1.0, 2.0]), ([], [1.0]), ([2.0], [])):
        with tf.engine(engine):
            same, other = function(tf.constant(a, tf.float32), tf.constant(b, tf.float32))
        assert np.array_equal(same, np.equal(a, b))
        assert np.array_equal(other, np.not_equal(a, b))


def test_matrices_and_compiled_steps_that_become_large() -> None:
    function = tf.function(
        lambda a, b: (a != b, tf.reduce_any(a != b), tf.reduce_sum(tf.sin(a))),
        input_signature=MATRICES,
    )
    wide, high = tf.ones([400, 1000]), tf.ones([1000, 400])
    for other, wanted in ((wide, ([400, 1000], False)), (high, ([], True)), (wide, None)):
        for _ in range(3):
            found, some, _ = function(wide, other)
            assert found.shape == (wanted[0] if wanted else wide.shape)
            assert bool(some) is (wanted[1] if wanted else False)


def test_compiled_code_answers_them_too() -> None:
    function = tf.function(
        lambda a, b: (a != b, a == b, (a != b) & (a == a), tf.where(a != b, a, 2 * a)),
        input_signature=VECTORS,
        jit_compile=True,
    )
    ne, eq, both, chosen = function(tf.ones([2]), tf.ones([3]))
    assert bool(ne) and not bool(eq)
    assert both.numpy().tolist() == [True, True] and chosen.numpy().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("jit", [False, True])
def test_a_size_of_such_an_answer_is_an_error_with_words(jit: bool) -> None:
    function = tf.function(
        lambda a, b: tf.zeros(tf.shape(a == b)), input_signature=VECTORS, jit_compile=jit
    )
    assert function(tf.ones([2]), tf.ones([2])).shape == [2]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="shapes that do not broadcast"
    ) as found:
        function(tf.ones([2]), tf.ones([3]))
    assert "tf.zeros(tf.shape(a == b))" in found.value.__notes__[0]


def test_the_functions_want_shapes_that_broadcast() -> None:
    for f in (tf.equal, tf.not_equal):
        function = tf.function(lambda a, b, f=f: f(a, b), input_signature=VECTORS)
        with pytest.raises(tf.errors.InvalidArgumentError, match="do not broadcast"):
            function(tf.ones([2]), tf.ones([3]))


ROWS = {
    "map_fn": lambda a, b: tf.map_fn(lambda t: t[0] + t[1], (a, b), fn_output_signature=tf.float32),
    "scan": lambda a, b: tf.scan(lambda s, t: s + t[0] * t[1], (a, b), 0.0),
    "foldl": lambda a, b: tf.foldl(lambda s, t: s + t[0] * t[1], (a, b), 0.0),
    "vectorized_map": lambda a, b: tf.vectorized_map(lambda t: t[0] + t[1], (a, b)),
}


@pytest.mark.parametrize("engine", ["host", "xla"])
@pytest.mark.parametrize("name", ROWS)
def test_elements_of_different_numbers_are_refused(name: str, engine: str) -> None:
    f = ROWS[name]
    function = tf.function(f, input_signature=VECTORS)
    with tf.engine(engine):
        assert np.array_equal(function(tf.ones([3]), tf.ones([3])), f(tf.ones([3]), tf.ones([3])))
        for a, b in ((2, 3), (3, 2)):
            with pytest.raises(tf.errors.InvalidArgumentError):
                function(tf.ones([a]), tf.ones([b]))
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                f(tf.ones([a]), tf.ones([b]))


@pytest.mark.parametrize("engine", ["host", "xla"])
def test_vectorized_map_repeats_a_single_row(engine: str) -> None:
    function = tf.function(ROWS["vectorized_map"], input_signature=VECTORS)
    with tf.engine(engine):
        assert function(tf.ones([1]), tf.ones([3])).numpy().tolist() == [2.0, 2.0, 2.0]
        assert function(tf.ones([3]), tf.ones([1])).numpy().tolist() == [2.0, 2.0, 2.0]
