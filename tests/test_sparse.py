"""Sparse tensors: against dense NumPy, their gradients, and what they say when refused."""
# Checkers take what functions give for ragged and sparse tensors for plain tensors.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wengert as tf
from wengert.composite.sparse_rows import sparse_sparse_matmul
from wengert.testing import check_gradients

many = settings(deadline=None, max_examples=25, derandomize=True)
SP = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 3.0, -2.0], [2, 3])
VALUES = np.array([0.7, -1.3, 2.1])


def dense(x: Any) -> np.ndarray:
    return tf.sparse.to_dense(x).numpy()


def numbers(shape: Any) -> st.SearchStrategy[np.ndarray]:
    """Arrays of small whole numbers, most of them zero."""
    element = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.0, 3.0])
    return hnp.arrays(np.float32, shape, elements=element)


shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
arrays = shapes.flatmap(numbers)
pairs = shapes.flatmap(lambda s: st.tuples(numbers(s), numbers(s)))


@many
@given(arrays)
def test_dense_and_back(a: np.ndarray) -> None:
    x = tf.sparse.from_dense(a)
    np.testing.assert_array_equal(dense(x), a)
    assert x.values.shape == (np.count_nonzero(a),)
    assert x.shape == a.shape


@many
@given(pairs)
def test_two_sparse_tensors_element_by_element(pair: Any) -> None:
    a, b = pair
    x, y = tf.sparse.from_dense(a), tf.sparse.from_dense(b)
    np.testing.assert_array_equal(dense(tf.sparse.add(x, y)), a + b)
    np.testing.assert_array_equal(dense(tf.sparse.maximum(x, y)), np.maximum(a, b))
    np.testing.assert_array_equal(dense(tf.sparse.minimum(x, y)), np.minimum(a, b))
    np.testing.assert_array_equal(dense(x * tf.constant(b)), a * b)
    np.testing.assert_array_equal(tf.sparse.add(x, tf.constant(b)).numpy(), a + b)


@many
@given(arrays, st.data())
def test_axes(a: np.ndarray, data: Any) -> None:
    x = tf.sparse.from_dense(a)
    perm = data.draw(st.permutations(range(a.ndim)))
    np.testing.assert_array_equal(dense(tf.sparse.transpose(x, perm)), a.transpose(perm))
    np.testing.assert_array_equal(dense(tf.sparse.reshape(x, [-1])), a.reshape(-1))
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    np.testing.assert_array_equal(tf.sparse.reduce_sum(x, axis).numpy(), a.sum(axis))
    joined = tf.sparse.concat(axis, [x, x, x])
    np.testing.assert_array_equal(dense(joined), np.concatenate([a, a, a], axis))
    count = data.draw(st.integers(1, a.shape[axis]))
    parts = tf.sparse.split(x, count, axis)
    for part, want in zip(parts, np.array_split(a, count, axis), strict=True):
        np.testing.assert_array_equal(dense(part), want)


@many
@given(
    st.tuples(*[st.integers(1, 4)] * 3).flatmap(lambda s: st.tuples(numbers(s[:2]), numbers(s[1:])))
)
def test_products(pair: Any) -> None:
    a, b = pair
    x, y = tf.sparse.from_dense(a), tf.sparse.from_dense(b)
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(x, b).numpy(), a @ b)
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(a, y).numpy(), a @ b)
    np.testing.assert_array_equal(dense(sparse_sparse_matmul(x, y)), a @ b)


def test_a_stack_of_sparse_matrices_is_multiplied_one_by_one() -> None:
    a = np.array([[[1.0, 0.0], [2.0, 3.0]], [[0.0, 4.0], [0.0, 0.0]]], np.float32)
    b = np.array([[[0.0], [5.0]], [[6.0], [7.0]]], np.float32)
    found = sparse_sparse_matmul(tf.sparse.from_dense(a), tf.sparse.from_dense(b))
    np.testing.assert_array_equal(dense(found), a @ b)
    assert found.indices.numpy().tolist() == [[0, 1, 0], [1, 0, 0]]


def test_rows_without_values_are_filled() -> None:
    x = tf.SparseTensor([[1, 0]], [5.0], [3, 2])
    full, empty = tf.sparse.fill_empty_rows(x, 9.0)
    assert full.indices.numpy().tolist() == [[0, 0], [1, 0], [2, 0]]
    assert full.values.numpy().tolist() == [9.0, 5.0, 9.0]
    assert empty.numpy().tolist() == [True, False, True]


B = np.array([[1.0, -1.0], [0.5, 2.0], [1.5, -0.5]])
GRADIENTS = {
    "to_dense": lambda x: tf.sparse.to_dense(x, 1.0),
    "matmul": lambda x: tf.sparse.sparse_dense_matmul(x, B),
    "add": lambda x: tf.sparse.add(x, x).values,
    "add dense": lambda x: tf.sparse.add(x, np.ones((2, 3))),
    "times": lambda x: (x * tf.constant(B.T)).values,
    "over": lambda x: (x / tf.constant(B.T)).values,
    "reduce_sum": lambda x: tf.sparse.reduce_sum(x, axis=0),
    "reduce_max": lambda x: tf.sparse.reduce_max(x, axis=1),
    "transpose": lambda x: tf.sparse.transpose(x).values * [1.0, 2.0, 3.0],
    "concat": lambda x: tf.sparse.concat(1, [x, x]).values,
    "slice": lambda x: tf.sparse.slice(x, [0, 1], [2, 2]).values,
    "softmax": lambda x: tf.sparse.softmax(x).values,
    "maximum": lambda x: tf.sparse.maximum(x, tf.sparse.reorder(x * 2.0)).values,
    "product": lambda x: sparse_sparse_matmul(x, tf.sparse.transpose(x)).values,
    "fill": lambda x: tf.sparse.fill_empty_rows(x, 0.0)[0].values,
}


@pytest.mark.parametrize("case", GRADIENTS)
def test_gradients_flow_through_the_values(case: str) -> None:
    indices, shape = SP.indices, SP.dense_shape
    check_gradients(lambda v: GRADIENTS[case](tf.SparseTensor(indices, v, shape)), [VALUES], 2)


def test_gradients_of_embeddings() -> None:
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [2, 2])

    def embed(table: Any, weights: Any) -> Any:
        return tf.nn.embedding_lookup_sparse(table, ids, ids.with_values(weights))

    check_gradients(embed, [B, np.array([0.5, 1.5, 2.0])])
    check_gradients(lambda x: tf.sparse.segment_mean(x, [0, 2, 2], [0, 0, 1]), [B])


def test_a_tape_follows_the_values_of_a_sparse_tensor() -> None:
    with tf.GradientTape() as tape:
        tape.watch(SP)
        y = tf.reduce_sum(tf.sparse.to_dense(SP) ** 2)
    by_sparse, by_values = tape.gradient(y, [SP, SP.values])
    assert isinstance(by_sparse, tf.SparseTensor)
    assert by_sparse.values.numpy().tolist() == by_values.numpy().tolist() == [2.0, 6.0, -4.0]


def test_a_sparse_tensor_is_pickled_and_copied() -> None:
    for twin in (pickle.loads(pickle.dumps(SP)), copy.copy(SP), copy.deepcopy(SP)):
        np.testing.assert_array_equal(dense(twin), dense(SP))


def test_its_shape_may_be_known_better_than_from_its_parts() -> None:
    spec = tf.SparseTensorSpec([2, 3])
    again = spec._from_components(spec._to_components(SP))
    assert again.shape == (2, 3)
    assert SP.with_values([1, 2, 3]).shape == (2, 3)


def test_numpy_and_tensors_leave_the_product_to_it() -> None:
    ones = np.ones((2, 3), np.float32)
    for product in (ones * SP, tf.constant(ones) * SP, tf.Variable(ones) * SP, SP * ones):
        assert isinstance(product, tf.SparseTensor)
    assert (2.0 * SP).values.numpy().tolist() == [2.0, 6.0, -4.0]


REFUSED = {
    "SparseTensor: `indices` must have rank 2; got shape (2,).": (
        lambda: tf.SparseTensor([0, 0], [1.0], [2, 2]),
        ValueError,
    ),
    "SparseTensor: `indices` needs a row for each value and a column for each axis; got "
    "int64[1,2] for float32[2] and 2 axes.": (
        lambda: tf.SparseTensor([[0, 0]], [1.0, 2.0], [2, 2]),
        ValueError,
    ),
    "convert_to_tensor: a SparseTensor is not one dense tensor. Use tf.sparse.to_dense(x), or a "
    "function of tf.sparse.": (lambda: tf.exp(SP), ValueError),
    "to_dense: the index [0, 0] is there twice. Use tf.sparse.reorder(x), or "
    "validate_indices=False.": (
        lambda: tf.sparse.to_dense(tf.SparseTensor([[0, 0], [0, 0]], [1.0, 2.0], [2, 2])),
        tf.errors.InvalidArgumentError,
    ),
    "to_dense: the index [5, 0] lies outside a tensor of shape [2, 2].": (
        lambda: tf.sparse.to_dense(tf.SparseTensor([[5, 0]], [1.0], [2, 2])),
        tf.errors.InvalidArgumentError,
    ),
    "to_dense: a SparseTensor was expected; got float32[1]. Use tf.sparse.from_dense(x).": (
        lambda: tf.sparse.to_dense(tf.constant([1.0])),
        TypeError,
    ),
    "sparse_dense_matmul: inner dimensions must agree; got float32[2,3] and float32[2,2].": (
        lambda: tf.sparse.sparse_dense_matmul(SP, tf.ones((2, 2))),
        tf.errors.InvalidArgumentError,
    ),
    "add: the shapes must agree; got float32[2,3] and float32[3].": (
        lambda: tf.sparse.add(SP, tf.ones(3)),
        tf.errors.InvalidArgumentError,
    ),
    "multiply: only the dense tensor broadcasts, and only to the sparse one; got float32[2,3] "
    "and float32[2,2].": (lambda: SP * tf.ones((2, 2)), tf.errors.InvalidArgumentError),
    "divide: a sparse tensor is not divided by zero.": (
        lambda: SP / 0.0,
        tf.errors.InvalidArgumentError,
    ),
    "reshape: 6 elements do not fit shape [4]; got float32[2,3].": (
        lambda: tf.sparse.reshape(SP, [4]),
        tf.errors.InvalidArgumentError,
    ),
    "transpose: `perm` [0, 0] must name each axis once; got float32[2,3].": (
        lambda: tf.sparse.transpose(SP, [0, 0]),
        tf.errors.InvalidArgumentError,
    ),
    "map_values: at least one argument must be a SparseTensor.": (
        lambda: tf.sparse.map_values(tf.exp, 1.0),
        ValueError,
    ),
    "bincount: the numbers must not be negative; got int32[2].": (
        lambda: tf.sparse.bincount([-1, 2]),
        tf.errors.InvalidArgumentError,
    ),
    "embedding_lookup_sparse: `sp_ids` must be a sparse or ragged tensor; got int32[1].": (
        lambda: tf.nn.embedding_lookup_sparse(B, tf.constant([0]), None),
        TypeError,
    ),
    "reorder: a dense shape of [4294967296, 4294967296] has too many places to number.": (
        lambda: tf.sparse.reorder(tf.SparseTensor([[0, 0]], [1.0], [2**32, 2**32])),
        tf.errors.InvalidArgumentError,
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_say_why_and_where(text: str) -> None:
    call, kind = REFUSED[text]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text
    assert __file__ in "".join(caught.value.__notes__)


class TestEditDistance:
    """The numbers are TensorFlow's."""

    hypothesis = tf.SparseTensor([[0, 0, 0], [1, 0, 0]], ["a", "b"], (2, 1, 1))
    truth = tf.SparseTensor(
        [[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], (2, 2, 2)
    )
    rows = tf.sparse.from_dense([[1, 2, 3, 0], [4, 5, 0, 0], [0, 0, 0, 0]])
    others = tf.sparse.from_dense([[1, 3, 3, 2], [4, 0, 0, 0], [0, 0, 0, 0]])

    @pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
    def test_distances(self, wrap: Any) -> None:
        f = wrap(tf.edit_distance)
        found = f(self.hypothesis, self.truth)
        np.testing.assert_array_equal(found, [[np.inf, 1.0], [0.5, 1.0]])
        np.testing.assert_array_equal(f(self.hypothesis, self.truth, False), np.ones([2, 2]))
        np.testing.assert_array_equal(f(self.rows, self.others), [0.5, 1.0, 0.0])
        np.testing.assert_array_equal(f(self.rows, self.others, normalize=False), [2, 1, 0])
        np.testing.assert_allclose(f(self.others, self.rows), [2 / 3, 0.5, 0.0])

    def test_it_is_levenshteins(self) -> None:
        def slow(x: Any, y: Any) -> int:
            if not x or not y:
                return len(x) + len(y)
            keep = slow(x[1:], y[1:]) + (x[0] != y[0])
            return min(keep, slow(x[1:], y) + 1, slow(x, y[1:]) + 1)

        rng = np.random.default_rng(0)
        for _ in range(40):
            x, y = (rng.integers(1, 4, rng.integers(0, 6)) for _ in range(2))
            sides = [tf.RaggedTensor.from_row_lengths(z, [len(z)]).to_sparse() for z in (x, y)]
            got = tf.edit_distance(*sides, normalize=False)
            assert float(got[0]) == slow(list(x), list(y))

    def test_bad_arguments(self) -> None:
        with pytest.raises(TypeError, match="`hypothesis` must be a SparseTensor; got Tensor"):
            tf.edit_distance(tf.constant([[1]]), self.rows)
        with pytest.raises(tf.errors.InvalidArgumentError, match="same dtype"):
            tf.edit_distance(self.rows, tf.cast(self.rows, tf.int64))
        outside = tf.SparseTensor([[5, 0]], [1], (2, 1))
        with pytest.raises(tf.errors.InvalidArgumentError, match="an index lies outside"):
            tf.edit_distance(outside, outside)
        flat = tf.sparse.from_dense([1, 2])
        with pytest.raises(tf.errors.InvalidArgumentError, match="the same rank, 2 or more"):
            tf.edit_distance(flat, flat)


def test_sets_of_strings() -> None:
    a, b = [["b", "a", "b"], ["x", "x", "y"]], [["c", "a"], ["", "z"]]

    def rows(x: Any) -> Any:
        return tf.sparse.to_dense(x, "-").numpy().tolist()

    for union in (tf.sets.union, tf.function(tf.sets.union)):
        found = union(tf.constant(a), tf.constant(b))
        assert rows(found) == [[b"a", b"b", b"c", b"-"], [b"", b"x", b"y", b"z"]]
    assert rows(tf.sets.intersection(a, b)) == [[b"a"], [b"-"]]
    assert rows(tf.sets.difference(a, b)) == [[b"b", b"-"], [b"x", b"y"]]
    assert tf.sets.size(tf.sparse.from_dense([["a", "a"], ["b", "c"]])).numpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match="of one dtype"):
        tf.sets.union([["a"]], [[1]])
    with pytest.raises(TypeError, match="whole numbers or strings are needed"):
        tf.sets.union([[1.0]], [[1.0]])


COUNTED = {
    "bounds": ({"maxlength": 10}, [1, 2, 2, 0, 0, 1]),
    "less": ({"maxlength": 2}, [1, 2]),
    "both": ({"minlength": 8, "maxlength": 7}, [1, 2, 2, 0, 0, 1, 0]),
    "both, in between": ({"minlength": 2, "maxlength": 9}, [1, 2, 2, 0, 0, 1]),
    "binary": ({"maxlength": 9, "binary_output": True}, [1, 1, 1, 0, 0, 1]),
    "weights": ({"maxlength": 9, "weights": True}, [4, 6, 5, 0, 0, 5]),
    "rows": ({"maxlength": 9, "axis": -1}, [[0, 1, 2, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0] * 6,
                                            [0, 1, 0, 0, 0, 1]]),
    "rows of nothing": ({"maxlength": 0, "axis": -1}, np.zeros([4, 0])),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("form", ["ragged", "sparse"])
@pytest.mark.parametrize("traced", [False, True])
def test_bincount_of_rows_stays_within_its_bounds(name: str, form: str, traced: bool) -> None:
    options, want = dict(COUNTED[name][0]), COUNTED[name][1]
    lengths = [3, 1, 0, 2]
    x = tf.RaggedTensor.from_row_lengths([1, 2, 2, 0, 5, 1], lengths)
    y = None
    if options.pop("weights", None):
        y = tf.RaggedTensor.from_row_lengths([1.0, 2, 3, 4, 5, 5], lengths)
    if form == "sparse":
        x, y = x.to_sparse(), None if y is None else y.to_sparse()

    def f(x: Any, y: Any) -> Any:
        return tf.math.bincount(x, y, **options)

    got = (tf.function(f) if traced else f)(x, y)
    np.testing.assert_array_equal(got, want)
    assert got.shape == np.shape(want)


def test_bincount_of_empty_rows() -> None:
    x = tf.RaggedTensor.from_row_lengths(tf.constant([], tf.int32), [0, 0])
    assert tf.math.bincount(x, maxlength=3).shape == [0]
    assert tf.math.bincount(x, axis=-1).shape == [2, 0]
    assert tf.math.bincount(x, axis=-1, minlength=2, maxlength=4).shape == [2, 2]
    assert tf.sparse.bincount(x, axis=-1).dense_shape.numpy().tolist() == [2, 1]
    assert tf.sparse.bincount(x, axis=-1, maxlength=0).dense_shape.numpy().tolist() == [2, 0]
