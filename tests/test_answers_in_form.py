"""The form of what `while_loop`, variables and `tf.test.compute_gradient` answer, as TensorFlow's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import wengert as tf


class Pair(NamedTuple):
    a: Any
    b: Any


LOOPS: list[tuple[Any, Any, Any, Any, Any]] = [
    # The test, the body, the variables; what comes back eagerly, and in a function.
    (lambda i: i < 3, lambda i: [i + 1], [0], [3], [3]),
    (lambda i: i < 3, lambda i: (i + 1,), [0], (3,), [3]),
    (lambda i, j: i < 3, lambda i, j: (i + 1, j), [0, 1], (3, 1), [3, 1]),
    (lambda i, j: i < 3, lambda i, j: [i + 1, j], (0, 1), [3, 1], (3, 1)),
    (lambda i, j: i < 0, lambda i, j: [i + 1, j], (0, 1), (0, 1), (0, 1)),
    (lambda a, b: a < 3, lambda a, b: Pair(a + 1, b), Pair(0, 1), Pair(3, 1), Pair(3, 1)),
    (lambda a, b: a < 3, lambda a, b: (a + 1, b), Pair(0, 1), (3, 1), Pair(3, 1)),
    (lambda p: p.a < 3, lambda p: [Pair(p.a + 1, p.b)], [Pair(0, 1)], [Pair(3, 1)], [Pair(3, 1)]),
    (lambda d: d["a"] < 3, lambda d: [{"a": d["a"] + 1}], [{"a": 0}], [{"a": 3}], [{"a": 3}]),
]


def numbers(result: Any) -> Any:
    return tf.nest.map_structure(lambda t: int(t.numpy()), result)


@pytest.mark.parametrize(("test", "body", "start", "eager", "traced"), LOOPS)
def test_the_structure_that_a_loop_returns(
    test: Any, body: Any, start: Any, eager: Any, traced: Any
) -> None:
    loop = lambda: tf.while_loop(test, body, start)
    for program, wanted in ((loop, eager), (tf.function(loop), traced)):
        found = numbers(program())
        assert found == wanted
        assert type(found) is type(wanted)


def test_a_loop_of_tensorflow_1_unpacks_a_single_variable_in_a_function() -> None:
    old = tf.compat.v1.while_loop

    def run(**options: Any) -> Any:
        return old(lambda i: i < 3, lambda i: [i + 1], [0], **options)

    traced = tf.function(run)
    assert numbers(run()) == numbers(traced(return_same_structure=True)) == [3]
    assert int(traced()) == 3


SYNC = tf.VariableSynchronization


def test_variables_brought_together_on_read_are_not_trained_unless_told() -> None:
    assert not tf.Variable(1.0, synchronization=SYNC.ON_READ).trainable
    assert tf.Variable(1.0, synchronization=SYNC.ON_READ, trainable=True).trainable
    assert tf.Variable(1.0, synchronization=SYNC.ON_WRITE).trainable
    module = tf.Module()
    module.count = tf.Variable(1.0, synchronization=SYNC.ON_READ)  # type: ignore[attr-defined]
    assert (module.trainable_variables, len(module.variables)) == ((), 1)
    with tf.GradientTape() as tape:
        tf.square(tf.Variable(1.0, synchronization=SYNC.ON_READ))
    assert tape.watched_variables() == ()
    wrong: Any = "on_read"
    with pytest.raises(ValueError, match="`synchronization` must be one of"):
        tf.Variable(1.0, synchronization=wrong)
    with pytest.raises(ValueError, match="`aggregation` must be one of"):
        tf.Variable(1.0, aggregation=wrong)


C128 = tf.complex128


@pytest.mark.parametrize(
    ("function", "given", "exact", "near"),
    [
        (lambda x: x * x, tf.constant(1.0), [[2.0]], [[2.0]]),
        (lambda x: x * x, 2.0, [[4.0]], [[4.0]]),
        (lambda x: x * x, tf.constant([1.0, 2.0], tf.float16), [[2, 0], [0, 4]], [[2, 0], [0, 2]]),
        (lambda x: x * x, tf.constant(1 + 2j, C128), [[2, -4], [4, 2]], [[2, -4], [4, 2]]),
        (lambda x: tf.math.real(x * x), tf.constant([1 + 2j], C128), [[2, -4]], [[2, -4]]),
        (tf.abs, tf.constant([3 + 4j], C128), [[0.6, 0.8]], [[0.6, 0.8]]),
        (tf.math.conj, tf.constant([3 + 4j], C128), [[1, 0], [0, -1]], [[1, 0], [0, -1]]),
        (lambda x: tf.complex(x, 2 * x), tf.constant([3.0]), [[1], [2]], [[1], [2]]),
        (lambda x: tf.gather(x, [0, 0]), tf.constant([1.0, 3.0]), [[1, 0]] * 2, [[1, 0]] * 2),
        (lambda x: tf.ones([2]), tf.constant([1.0]), [[0], [0]], [[0], [0]]),
        (lambda x: x * x, tf.zeros([0, 2]), np.zeros((0, 0)), np.zeros((0, 0))),
        (lambda x: x[:0], tf.ones([2]), np.zeros((0, 2)), np.zeros((0, 2))),
        (lambda x: x * x, tf.zeros([0], tf.complex64), np.zeros((0, 0)), np.zeros((0, 0))),
    ],
)
def test_jacobians_by_the_tape_and_by_differences(
    function: Any, given: Any, exact: Any, near: Any
) -> None:
    (by_tape,), (by_differences,) = tf.test.compute_gradient(function, [given])
    real = tf.convert_to_tensor(given).dtype.real_dtype.as_numpy_dtype
    assert by_tape.dtype == by_differences.dtype == real
    assert by_tape.shape == by_differences.shape == np.shape(exact)
    np.testing.assert_allclose(by_tape, exact, atol=1e-6)
    np.testing.assert_allclose(by_differences, near, atol=1e-3)


def test_what_has_no_jacobian() -> None:
    with pytest.raises(ValueError, match="`x` must be a list"):
        tf.test.compute_gradient(tf.square, tf.constant([1.0]))
    with pytest.raises(TypeError, match="argument 0 must be a tensor of a floating"):
        tf.test.compute_gradient(tf.square, [tf.constant([1])])
    with pytest.raises(TypeError, match="the result of `f`"):
        tf.test.compute_gradient(lambda x: [x], [tf.constant([1.0])])
