"""Datasets and their iterators inside functions, as TensorFlow has them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from tests.semantics.api import tf


def pairs() -> Any:
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    return tf.data.Dataset.from_tensor_slices((x, {"a": np.arange(6)})).batch(2)


def test_each_call_takes_the_next_element() -> None:
    @tf.function
    def f(it: Any) -> Any:
        return it.get_next(), next(it) * 10

    it = iter(tf.data.Dataset.range(5))
    assert [[int(x) for x in f(it)] for _ in range(2)] == [[0, 10], [2, 30]]
    with pytest.raises(tf.errors.OutOfRangeError):
        f(it)


def test_another_iterator_of_the_same_kind_needs_no_trace() -> None:
    traces = []

    @tf.function
    def total(it: Any, count: Any) -> Any:
        traces.append(1)
        found = tf.constant(0.0)
        for _ in tf.range(count):
            x, y = next(it)
            found += tf.reduce_sum(x) + tf.cast(y["a"], tf.float32)[0]
        return found

    assert float(total(iter(pairs()), tf.constant(2))) == 30.0
    assert float(total(iter(pairs()), tf.constant(3))) == 72.0
    assert len(traces) == 1


def test_an_iterator_from_outside() -> None:
    it = iter(tf.data.Dataset.range(3))

    @tf.function
    def f() -> Any:
        return next(it)

    assert [int(f()), int(next(it)), int(f())] == [0, 1, 2]


def test_a_loop_over_a_dataset_runs_anew_each_time() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def train(data: Any) -> Any:
        for x, _ in data:
            if tf.reduce_sum(x) > 30.0:
                break
            v.assign_add(tf.reduce_sum(x))
        return v.read_value()

    data = pairs()
    assert [float(train(data)), float(train(data))] == [28.0, 56.0]


def test_a_dataset_made_inside() -> None:
    @tf.function
    def f() -> Any:
        found = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(4).map(lambda x: x * 2):
            found += x
        return found

    assert int(f()) == 12


def test_optionals() -> None:
    @tf.function
    def f(it: Any) -> Any:
        found = it.get_next_as_optional()
        if found.has_value():
            return found.get_value()
        else:  # noqa: RET505  # both branches return
            return tf.constant(-1, tf.int64)

    @tf.function
    def g(it: Any) -> Any:
        return it.get_next_as_optional()

    it = iter(tf.data.Dataset.range(2))
    assert [int(f(it)) for _ in range(3)] == [0, 1, -1]
    it = iter(tf.data.Dataset.range(1))
    first, second = g(it), g(it)
    assert int(first.get_value()) == 0
    assert not second.has_value()
    with pytest.raises(tf.errors.InvalidArgumentError):
        second.get_value()


def test_ragged_elements() -> None:
    @tf.function
    def f(it: Any) -> Any:
        return it.get_next() + 1

    ragged = tf.ragged.constant([[1], [2, 3], []])
    assert f(iter(tf.data.Dataset.from_tensors(ragged))).to_list() == [[2], [3, 4], []]


def test_the_name_of_the_loop_lives_on() -> None:
    @tf.function
    def f(data: Any) -> Any:
        x = tf.constant(-1, tf.int64)
        for x in data:  # noqa: B007  # it is used after the loop
            pass
        return x

    assert int(f(tf.data.Dataset.range(4))) == 3


def test_a_list_that_grows() -> None:
    @tf.function
    def f(data: Any) -> Any:
        found = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for i, x in data.enumerate():
            found = found.write(tf.cast(i, tf.int32), x)
        return found.stack()

    assert f(tf.data.Dataset.range(4)).numpy().tolist() == [0, 1, 2, 3]


def test_reduce() -> None:
    @tf.function
    def f(data: Any, start: Any) -> Any:
        return data.reduce(start, lambda a, b: a + b)

    assert int(f(tf.data.Dataset.range(5), tf.constant(7, tf.int64))) == 17


def test_python_loops_are_refused_where_nothing_is_converted() -> None:
    @tf.function(autograph=False)
    def f(data: Any) -> Any:
        return [x for x in data]  # noqa: C416  # the loop is the point

    with pytest.raises(ValueError):  # noqa: PT011  # the words differ
        f(tf.data.Dataset.range(2))


def test_an_optional_is_carried_through_a_loop():
    @tf.function
    def total(iterator):
        found = tf.constant(0, tf.int64)
        optional = iterator.get_next_as_optional()
        while optional.has_value():
            found += optional.get_value()
            optional = iterator.get_next_as_optional()
        return found

    assert int(total(iter(tf.data.Dataset.range(5)))) == 10
    assert int(total(iter(tf.data.Dataset.range(0)))) == 0


def _total(dataset: Any) -> Any:
    found = tf.constant(0.0)
    for x in dataset:
        found += tf.reduce_sum(x)
    return found


def _float(x: Any) -> Any:
    return tf.cast(x, tf.float32)


def _by_helper(x: Any) -> Any:
    def scaled(e: Any) -> Any:
        return x * _float(e)

    return _total(tf.data.Dataset.range(4).map(lambda e: scaled(e) + 1.0))


def _by_recursion(x: Any) -> Any:
    def times(e: Any, n: int = 2) -> Any:
        return e * x if n == 0 else times(e, n - 1)

    return _total(tf.data.Dataset.range(3).map(lambda e: times(_float(e))))


def _in_a_loop(x: Any) -> Any:
    found = tf.constant(0.0)
    for i in tf.range(3):
        y = x * _float(i)
        for e in tf.data.Dataset.range(3).map(lambda e: _float(e) * y):  # noqa: B023  # at once
            found += e
    return found


def _in_a_branch(x: Any) -> Any:
    if x > 2.5:
        return _total(tf.data.Dataset.range(3).map(lambda e: _float(e) * x))
    return x


def _in_containers(x: Any) -> Any:
    p = {"a": [x, x + 1.0]}
    return _total(tf.data.Dataset.range(3).map(lambda e: _float(e) * p["a"][0] + p["a"][1]))


def _in_datasets_of_datasets(x: Any) -> Any:
    inner = lambda e: tf.data.Dataset.range(e + 1).map(lambda k: x * _float(k))
    return _total(tf.data.Dataset.range(3).interleave(inner, cycle_length=2))


def _bound_anew(x: Any) -> Any:
    dataset = tf.data.Dataset.range(4).map(lambda e: x * _float(e))
    taken = _total(dataset)
    x = x + 100.0
    return taken + 0.0 * x


def _partial(x: Any) -> Any:
    return _total(tf.data.Dataset.range(3).map(functools.partial(lambda a, e: a * _float(e), x)))


RANGE = tf.data.Dataset.range


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda x: _total(RANGE(4).map(lambda e: x * _float(e))), [12.0, 18.0]),
        (lambda x: _total(RANGE(4).map(lambda e, x=x: x * _float(e))), [12.0, 18.0]),
        (lambda x: _total(RANGE(9).map(lambda e: _float(e) * x, 3).batch(2)), [72.0, 108.0]),
        (lambda x: _total(RANGE(9).take_while(lambda e: _float(e) < x).map(_float)), [1.0, 3.0]),
        (lambda x: _total(RANGE(6).filter(lambda e: _float(e) > x).map(_float)), [12.0, 9.0]),
        (lambda x: _total(RANGE(4).scan(0.0, lambda s, e: (s + x, s * _float(e)))), [28.0, 42.0]),
        (
            lambda x: RANGE(3).map(lambda e: _float(e) * x).reduce(x, lambda s, e: s * x + e),
            [24, 96],
        ),
        (lambda x: RANGE(1).map(lambda e: _float(e) + x).get_single_element(), [2.0, 3.0]),
        (_by_helper, [16.0, 22.0]),
        (_by_recursion, [6.0, 9.0]),
        (_in_a_loop, [18.0, 27.0]),
        (_in_a_branch, [2.0, 9.0]),
        (_in_containers, [15.0, 21.0]),
        (_in_datasets_of_datasets, [8.0, 12.0]),
        (_partial, [6.0, 9.0]),
        (_bound_anew, [12.0, 18.0]),
    ],
)
def test_functions_of_datasets_close_over_tensors_of_the_function(
    function: Any, values: list[float]
) -> None:
    traced = tf.function(function)
    assert [float(traced(tf.constant(v))) for v in (2.0, 3.0)] == values


def test_what_a_function_of_a_dataset_writes_to_is_shared() -> None:
    @tf.function
    def f(x: Any) -> Any:
        calls = 0

        def scaled(e: Any) -> Any:
            nonlocal calls
            calls += 1
            return x * _float(e)

        dataset = RANGE(3).map(scaled)
        return _total(dataset), tf.numpy_function(lambda: np.int64(calls), [], tf.int64)

    total, calls = f(tf.constant(2.0))
    assert float(total) == 6.0
    assert int(calls) >= 3
