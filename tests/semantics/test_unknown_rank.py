"""Tensors of unknown rank in functions: each operation gives what it gives eagerly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.cases import Case, all_cases
from tests.test_operations import tensors

ANY = [tf.TensorSpec(None, tf.float32)]
CASES: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: tf.transpose(x),
    "transpose_perm": lambda x: tf.transpose(x, [1, 0]),
    "tile": lambda x: tf.tile(x, tf.ones([tf.rank(x)], tf.int32) * 2),
    "gather": lambda x: tf.gather(x, [0, 1]),
    "gather_last": lambda x: tf.gather(x, [1], axis=-1),
    "sum_last": lambda x: tf.reduce_sum(x, axis=-1),
    "mean_first": lambda x: tf.reduce_mean(x, axis=0),
    "max_kept": lambda x: tf.reduce_max(x, axis=-1, keepdims=True),
    "std": lambda x: tf.math.reduce_std(x, -1),
    "logsumexp": lambda x: tf.reduce_logsumexp(x, -1),
    "softmax": lambda x: tf.nn.softmax(x),
    "expand_last": lambda x: tf.expand_dims(x, -1),
    "row": lambda x: x[0],
    "last_column": lambda x: x[..., -1],
    "new_axis": lambda x: x[..., None],
    "concat": lambda x: tf.concat([x, x * 2.0], -1),
    "matmul": lambda x: x @ tf.transpose(x),
    "tensordot": lambda x: tf.tensordot(x, x, 1),
    "einsum": lambda x: tf.einsum("ij->ji", x),
    "norm": lambda x: tf.norm(x),
    "l2_normalize": lambda x: tf.nn.l2_normalize(x, -1),
    "sort": lambda x: tf.sort(x),
    "top_k": lambda x: tf.math.top_k(x, 1)[0],
    "split": lambda x: tf.split(x, 2, axis=0)[1],
    "pad": lambda x: tf.pad(x, [[1, 1], [0, 0]]),
    "reverse": lambda x: tf.reverse(x, [0]),
    "roll": lambda x: tf.roll(x, 1, 0),
    "repeat": lambda x: tf.repeat(x, 2, axis=0),
    "cumsum": lambda x: tf.cumsum(x),
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1]]),
    "diag_part": lambda x: tf.linalg.diag_part(x),
    "det": lambda x: tf.linalg.det(x),
    "cholesky": lambda x: tf.linalg.cholesky(x @ tf.transpose(x)),
    "matvec": lambda x: tf.linalg.matvec(x, tf.ones([2])),
    "slice": lambda x: tf.slice(x, [0, 0], [1, -1]),
    "map_fn": lambda x: tf.map_fn(lambda row: row * 2.0, x),
    "scan": lambda x: tf.scan(lambda a, b: a * b, x),
    "foldl": lambda x: tf.foldl(lambda a, b: a + b, x),
    "vectorized_map": lambda x: tf.vectorized_map(lambda row: tf.reduce_sum(row), x),
}


def value_and_gradient(f: Callable[[Any], Any]) -> tuple[Any, Any]:
    x = tf.constant([[4.0, 1.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        target = tf.reduce_sum(y**2)
    return y.numpy(), tf.convert_to_tensor(tape.gradient(target, x)).numpy()


@pytest.mark.parametrize("name", CASES)
def test_an_operation_on_a_tensor_of_unknown_rank(name: str) -> None:
    wanted, wanted_gradient = value_and_gradient(CASES[name])
    found, gradient = value_and_gradient(tf.function(CASES[name], input_signature=ANY))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["sum_last", "softmax", "gather", "transpose", "row", "matmul"])
def test_it_compiles_too(name: str) -> None:
    wanted, wanted_gradient = value_and_gradient(CASES[name])
    demanded = tf.function(CASES[name], input_signature=ANY, jit_compile=True)
    found, gradient = value_and_gradient(demanded)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "taken",
    [
        lambda x, i: x[i],
        lambda x, i: x[i:],
        lambda x, i: x[..., i],
        lambda x, i: x[:, i],
        lambda x, i: x[i, ::-1],
        lambda x, i: x[0 : i + 1, tf.newaxis],
        lambda x, i: x[x > 2.0],
    ],
)
def test_indexing_by_tensors(taken: Any) -> None:
    spec = [*ANY, tf.TensorSpec([], tf.int32)]
    traced = tf.function(taken, input_signature=spec)
    i = tf.constant(1)
    wanted, wanted_gradient = value_and_gradient(lambda x: taken(x, i))
    found, gradient = value_and_gradient(lambda x: traced(x, i))
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(gradient, wanted_gradient)


def test_one_trace_serves_all_ranks() -> None:
    traced = []

    @tf.function(input_signature=ANY)
    def last(x: Any) -> Any:
        traced.append(1)
        return tf.reduce_sum(tf.nn.relu(x), axis=-1)

    assert last(tf.ones([3])).shape == ()
    assert last(tf.ones([2, 3])).shape == (2,)
    assert last(tf.ones([4, 2, 3])).shape == (4, 2)
    assert len(traced) == 1


def test_the_rank_of_the_result_is_known_where_it_follows() -> None:
    @tf.function(input_signature=ANY)
    def f(x: Any) -> Any:
        y = tf.transpose(x, [1, 0])
        assert y.shape.rank == 2
        return y

    assert f(tf.ones([2, 3])).shape == (3, 2)


def test_second_order() -> None:
    def f(x: Any) -> Any:
        return tf.reduce_prod(tf.sin(x), axis=-1)

    def second(g: Callable[[Any], Any]) -> np.ndarray:
        x = tf.constant([[0.5, 1.0, 0.2]])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = g(x)
            slope = inner.gradient(y, x)
        return outer.gradient(slope, x).numpy()

    traced = tf.function(f, input_signature=ANY)
    np.testing.assert_allclose(second(traced), second(f), rtol=1e-5)


def test_what_python_returns_needs_no_set_shape() -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def step(i: Any) -> Any:
        rows = tf.numpy_function(lambda a: a, [i], tf.int32)
        seen = tf.py_function(lambda a: a * 2.0, [tf.gather(table, rows)], tf.float32)
        return tf.reduce_sum(seen, axis=-1), tf.one_hot(rows, 3), seen[0]

    with tf.GradientTape() as tape:
        sums, hot, first = step(tf.constant([1, 0]))
        loss = tf.reduce_sum(sums**2)
    np.testing.assert_array_equal(sums, [14.0, 6.0])
    np.testing.assert_array_equal(hot, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(first, [6.0, 8.0])
    np.testing.assert_array_equal(tape.gradient(loss, table), [[24.0, 24.0], [56.0, 56.0]])


def test_a_rank_that_does_not_fit_is_told_when_it_is_known() -> None:
    @tf.function(input_signature=ANY)
    def f(x: Any) -> Any:
        return tf.transpose(x, [1, 0])

    with pytest.raises(tf.errors.InvalidArgumentError, match="transpose") as caught:
        f(tf.ones([3]))
    assert "return tf.transpose(x, [1, 0])" in "".join(caught.value.__notes__)
    np.testing.assert_array_equal(f(tf.ones([1, 2])), [[1.0], [1.0]])


def test_what_fails_for_every_rank_fails_in_the_trace() -> None:
    @tf.function(input_signature=ANY)
    def f(x: Any) -> Any:
        return tf.reduce_sum(x, axis=99)

    with pytest.raises(ValueError, match="needs the rank of a tensor"):
        f(tf.ones([3]))


# What a trace cannot put off, and why.
NEEDS_RANK = {
    "iterate": "Python counts the rows",
    "shuffle_rows": "how many numbers are drawn",
    "stateless_shuffle": "how many numbers are drawn",
    "unique_slices": "how many results there are",
    "unstack": "how many results there are",
}


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_every_operation_is_traced_without_ranks(case: Case) -> None:
    """A public function that reads a rank has a fallback, or cannot be put off."""
    specs = [tf.TensorSpec(None, x.dtype) for x in tensors(case)]
    call = functools.partial(case.call, **case.options)
    traced = tf.function(lambda *xs: call(*xs), input_signature=specs, autograph=False)
    if case.name in NEEDS_RANK:
        with pytest.raises((TypeError, ValueError), match=r"rank|no value yet"):
            traced.get_concrete_function()
    else:
        traced.get_concrete_function()


@pytest.mark.parametrize("jit", [False, True])
def test_shapes_that_do_not_meet_are_unequal_where_a_caller_knows_them(jit: bool) -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def differs(x: Any) -> Any:
        return tf.constant([1.0, 2.0, 3.0]) != x[:, 0], tf.constant([1.0, 2.0, 3.0]) == x[:, 0]

    outer = tf.function(lambda x: differs(x), jit_compile=jit)
    for f in (differs, outer):
        ne, eq = f(tf.ones([2, 3]))
        assert ne.shape == eq.shape == [] and bool(ne) and not bool(eq)
        assert [x.numpy().tolist() for x in f(tf.ones([3, 1]))] == [
            [False, True, True],
            [True, False, False],
        ]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("reduce", [tf.reduce_all, tf.reduce_any])
def test_one_truth_for_shapes_that_do_not_meet_is_reduced(reduce: Any, jit: bool) -> None:
    spec = tf.TensorSpec([None], tf.float32)
    inner = tf.function(lambda x, y: reduce(x != y), input_signature=[spec, spec], jit_compile=jit)
    outer = tf.function(lambda x, y: inner(x, y), jit_compile=jit)
    for f in (inner, outer):
        assert bool(f(tf.ones([2]), tf.ones([3])))
        assert not bool(f(tf.ones([3]), tf.ones([3])))
