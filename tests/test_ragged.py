"""Ragged tensors: against Python lists, their gradients, in functions, and what they refuse."""
# Checkers take what functions give for ragged and sparse tensors for plain tensors.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as tf
from wengert.testing import check_gradients

many = settings(deadline=None, max_examples=25, derandomize=True)
RT = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
ROWS = [[1.0, 2.0], [], [3.0]]
VALUES = np.array([0.7, -1.3, 2.1])

row = st.lists(st.integers(-9, 9), max_size=4)
tables = st.lists(row, min_size=1, max_size=5)
cubes = st.lists(st.lists(row, max_size=3), min_size=1, max_size=4)


def bounds() -> st.SearchStrategy[slice]:
    bound = st.none() | st.integers(-5, 5)
    return st.builds(slice, bound, bound, st.none() | st.sampled_from([-2, -1, 1, 2, 3]))


def two(rows: Any) -> Any:
    return tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=1)


def three(rows: Any) -> Any:
    return tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=2)


@many
@given(tables)
def test_lists_and_back(rows: Any) -> None:
    x = two(rows)
    assert x.to_list() == rows
    assert len(x) == len(rows)
    assert [r.numpy().tolist() for r in x] == rows
    assert x.row_lengths().numpy().tolist() == [len(r) for r in rows]
    assert x.value_rowids().numpy().tolist() == [i for i, r in enumerate(rows) for _ in r]
    for again in (
        tf.RaggedTensor.from_row_splits(x.values, x.row_splits),
        tf.RaggedTensor.from_value_rowids(x.values, x.value_rowids(), x.nrows()),
        tf.RaggedTensor.from_row_starts(x.values, x.row_starts()),
        tf.RaggedTensor.from_row_limits(x.values, x.row_limits()),
        tf.RaggedTensor.from_tensor(x.to_tensor(), lengths=x.row_lengths()),
        tf.RaggedTensor.from_tensor(x.to_tensor(-99), padding=-99),
        tf.RaggedTensor.from_sparse(x.to_sparse()),
    ):
        assert again.to_list() == rows


@many
@given(tables, bounds(), bounds())
def test_slices(rows: Any, outer: slice, inner: slice) -> None:
    found = two(rows)[outer, inner]
    assert found.to_list() == [r[inner] for r in rows[outer]]


@many
@given(cubes, bounds(), bounds(), bounds())
def test_slices_of_three_axes(rows: Any, a: slice, b: slice, c: slice) -> None:
    found = three(rows)[a, b, c]
    assert found.to_list() == [[r[c] for r in m[b]] for m in rows[a]]
    assert three(rows)[..., c].to_list() == [[r[c] for r in m] for m in rows]


@many
@given(cubes, st.data())
def test_rows_are_picked_joined_and_reversed(rows: Any, data: Any) -> None:
    x = three(rows)
    some = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=4))
    ids = tf.constant(some, tf.int32)
    assert tf.gather(x, ids).to_list() == [rows[i] for i in some]
    assert tf.concat([x, x], 0).to_list() == rows + rows
    assert tf.concat([x, x], 1).to_list() == [m + m for m in rows]
    assert tf.concat([x, x], 2).to_list() == [[r + r for r in m] for m in rows]
    assert tf.stack([x, x]).to_list() == [rows, rows]
    assert tf.reverse(x, [0, 2]).to_list() == [[r[::-1] for r in m] for m in rows[::-1]]
    assert tf.tile(x, [2, 1, 2]).to_list() == [[r * 2 for r in m] for m in rows] * 2


@many
@given(cubes)
def test_reductions(rows: Any) -> None:
    x = three(rows)
    assert tf.reduce_sum(x, 2).to_list() == [[sum(r) for r in m] for m in rows]
    assert tf.reduce_sum(x, [1, 2]).numpy().tolist() == [sum(map(sum, m)) for m in rows]
    longest = max((len(m) for m in rows), default=0)
    columns = [sum(sum(m[j]) for m in rows if j < len(m)) for j in range(longest)]
    assert tf.reduce_sum(x, [0, 2]).numpy().tolist() == columns
    assert tf.reduce_any(x > 5, 2).to_list() == [[any(v > 5 for v in r) for r in m] for m in rows]
    running = [[np.cumsum(r).tolist() for r in m] for m in rows]
    assert tf.cumsum(x, 2).to_list() == running


@many
@given(cubes)
def test_axes(rows: Any) -> None:
    x = three(rows)
    assert x.merge_dims(0, 1).to_list() == [r for m in rows for r in m]
    assert x.merge_dims(1, 2).to_list() == [[v for r in m for v in r] for m in rows]
    assert tf.squeeze(tf.expand_dims(x, 1), [1]).to_list() == rows
    assert tf.expand_dims(x, 2).to_list() == [[[r] for r in m] for m in rows]
    assert x.to_sparse().indices.numpy().tolist() == [
        [i, j, k] for i, m in enumerate(rows) for j, r in enumerate(m) for k in range(len(r))
    ]


@many
@given(tables, st.data())
def test_broadcasting_stretches_axes_of_size_one(rows: Any, data: Any) -> None:
    x = two(rows)
    column = data.draw(st.lists(st.integers(-9, 9), min_size=len(rows), max_size=len(rows)))
    wanted = [[v + c for v in r] for r, c in zip(rows, column, strict=True)]
    assert (x + np.array(column, np.int32)[:, None]).to_list() == wanted
    assert (np.array(column, np.int32)[:, None] + x).to_list() == wanted
    cube = tf.expand_dims(x, 0) * tf.constant([[[1]], [[2]]])
    assert cube.to_list() == [rows, [[2 * v for v in r] for r in rows]]


def of(values: Any) -> Any:
    return tf.RaggedTensor.from_row_splits(values, [0, 2, 2, 3])


GRADIENTS = {
    "times": lambda x: (x * x).flat_values,
    "broadcast": lambda x: (x * tf.constant([[2.0], [3.0], [4.0]], tf.float64)).flat_values,
    "exp": lambda x: tf.exp(x).flat_values,
    "to_tensor": lambda x: x.to_tensor(),
    "sum": lambda x: tf.reduce_sum(x, 1),
    "sum down": lambda x: tf.reduce_sum(x, 0),
    "mean": lambda x: tf.reduce_mean(x[::2], 1),
    "max": lambda x: tf.reduce_max(x[::2], 1),
    "softmax": lambda x: tf.nn.softmax(x).flat_values,
    "slice": lambda x: x[:, ::-1].flat_values,
    "row": lambda x: x[0],
    "gather": lambda x: tf.gather(x, [0, 2, 0]).flat_values,
    "concat": lambda x: tf.concat([x, x], 1).flat_values,
    "stack": lambda x: tf.stack([x, x]).flat_values,
    "cumsum": lambda x: tf.cumsum(x, 1, reverse=True).flat_values,
    "where": lambda x: tf.where(x > 0.0, x, 2.0 * x).flat_values,
}


@pytest.mark.parametrize("case", GRADIENTS)
def test_gradients_flow_through_the_flat_values(case: str) -> None:
    check_gradients(lambda v: GRADIENTS[case](of(v)), [VALUES], 2)


def test_the_gradient_by_a_ragged_tensor_is_ragged() -> None:
    with tf.GradientTape() as tape:
        tape.watch(RT)
        y = tf.reduce_sum(RT**2)
    assert tape.gradient(y, {"x": RT})["x"].to_list() == [[2.0, 4.0], [], [6.0]]
    with tf.GradientTape() as tape:
        y = RT * 2.0
    assert tape.gradient(y, RT) is None


OPEN = {
    "exp": lambda x: tf.exp(x),
    "add": lambda x: x + tf.constant([[1.0], [2.0], [3.0]]),
    "sum": lambda x: tf.reduce_sum(x, 1),
    "to_tensor": lambda x: x.to_tensor(),
    "concat": lambda x: tf.concat([x, x], 1),
    "stack": lambda x: tf.stack([x, x]),
    "slice": lambda x: x[:, :1],
    "row": lambda x: x[0],
    "gather": lambda x: tf.gather(x, [2, 0]),
    "softmax": lambda x: tf.nn.softmax(x),
    "expand": lambda x: tf.expand_dims(x, 0),
    "sparse": lambda x: x.to_sparse(),
}


@pytest.mark.parametrize("case", OPEN)
def test_in_a_function_with_open_shapes(case: str) -> None:
    def parts(values: Any, splits: Any) -> Any:
        x = tf.RaggedTensor.from_row_splits(values, splits)
        return tf.nest.flatten(OPEN[case](x), expand_composites=True)

    signature = [tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.int64)]
    found = tf.function(parts, input_signature=signature)(RT.values, RT.row_splits)
    for one, want in zip(found, parts(RT.values, RT.row_splits), strict=True):
        np.testing.assert_array_equal(one.numpy(), want.numpy())


def test_a_ragged_tensor_is_pickled_and_copied() -> None:
    for twin in (pickle.loads(pickle.dumps(RT)), copy.copy(RT), copy.deepcopy(RT)):
        assert twin.to_list() == ROWS


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print(RT, [tf.ragged.constant([["a"], []])], tf.ragged.range([9]))
    wanted = "[[1.000000, 2.000000], [], [3.000000]] [[['a'], []]] [[0, 1, 2, ..., 6, 7, 8]]\n"
    assert capsys.readouterr().err == wanted


def test_embedding_of_ragged_ids() -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup(table, tf.ragged.constant([[0], [1, 1]]))
    assert y.to_list() == [[[1.0, 2.0]], [[3.0, 4.0], [3.0, 4.0]]]
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    assert tf.convert_to_tensor(g).numpy().tolist() == [[1.0, 1.0], [2.0, 2.0]]


INVALID = tf.errors.InvalidArgumentError
REFUSED = {
    "RaggedTensor: make one with tf.ragged.constant or a method such as "
    "RaggedTensor.from_row_lengths.": (lambda: tf.RaggedTensor([1], [0, 1]), ValueError),
    "RaggedTensor: the rows take 4 values; got int32[3].": (
        lambda: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 4]),
        INVALID,
    ),
    "from_row_splits: the first row must start at 0; got 1.": (
        lambda: tf.RaggedTensor.from_row_splits([1, 2], [1, 2]),
        INVALID,
    ),
    "from_row_splits: the splits must not decrease. Each row ends where one begins.": (
        lambda: tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 1]),
        INVALID,
    ),
    "from_row_lengths: lengths must not be negative; got -1.": (
        lambda: tf.RaggedTensor.from_row_lengths([1, 2], [3, -1]),
        INVALID,
    ),
    "from_value_rowids: row numbers must not be negative and not decrease.": (
        lambda: tf.RaggedTensor.from_value_rowids([1, 2], [1, 0]),
        INVALID,
    ),
    "convert_to_tensor: a RaggedTensor is not one dense tensor. Use x.to_tensor() to fill short "
    "rows up, or x.flat_values.": (lambda: tf.sort(RT), ValueError),
    "add: rows of different lengths do not broadcast; got float32[3,?] and float32[3,2]. Only "
    "axes of size 1 are stretched.": (lambda: RT + tf.ones((3, 2)), INVALID),
    "RaggedTensor: rows of different lengths are not indexed by a number; got float32[3,?]. Use "
    "a slice, or tf.gather with `batch_dims=1`.": (lambda: RT[:, 0], ValueError),
    "RaggedTensor: an index is a number, a slice, `...` or None; got a.": (
        lambda: RT["a"],
        TypeError,
    ),
    "index: there is no row 3 in 3 rows; got float32[3,?].": (lambda: RT[3], IndexError),
    "gather: index 0 is outside a row of length 0.": (
        lambda: tf.gather(RT, [[0], [0], [0]], batch_dims=1),
        INVALID,
    ),
    "reduce_sum: `axis` 2 is out of range for a tensor of rank 2. Use a value from -2 to 1.": (
        lambda: tf.reduce_sum(RT, 2),
        INVALID,
    ),
    "reduce_sum: `axis` [0, 0] names an axis twice; got float32[3,?].": (
        lambda: tf.reduce_sum(RT, [0, 0]),
        INVALID,
    ),
    "ragged.constant: all values must lie at the same depth of lists.": (
        lambda: tf.ragged.constant([1, [2]]),
        ValueError,
    ),
    "map_flat_values: the function must keep the number of values; it made float32[] of "
    "float32[3].": (lambda: tf.ragged.map_flat_values(tf.reduce_sum, RT), ValueError),
    "to_tensor: `shape` [-1] does not go with (3, None); got float32[3,?].": (
        lambda: RT.to_tensor(shape=[None]),
        INVALID,
    ),
    "squeeze: axis 1 does not have size 1; got float32[3,?].": (
        lambda: tf.squeeze(RT, [1]),
        INVALID,
    ),
    "bool: a RaggedTensor has no one truth value.": (lambda: bool(RT), TypeError),
    "shape: axis 1 has rows of different lengths, so no one size.": (
        lambda: tf.shape(RT)[1],
        ValueError,
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_say_why_and_where(text: str) -> None:
    call, kind = REFUSED[text]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text
    assert __file__ in "".join(caught.value.__notes__)


def test_lengths_of_either_dtype():
    for dtype in (tf.int32, tf.int64):
        lengths = tf.constant([1, 0], dtype)
        assert tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], lengths).to_list() == [[1], []]


@pytest.mark.parametrize(
    ("inner", "known"), [((), [None, 1]), ((4,), [None, 1, 4]), ((2, 4), None)]
)
def test_a_dense_tensor_of_open_size_meets_rows(inner: tuple[int, ...], known: Any) -> None:
    values = np.arange(3 * math.prod(inner), dtype=np.float32).reshape(3, *inner)
    rows = tf.RaggedTensor.from_row_lengths(values, [2, 1])
    each = np.arange(1, 3, dtype=np.float32).reshape(2, 1, *[1] * len(inner))
    each = each + np.zeros((2, 1, *inner), np.float32)
    spec = tf.RaggedTensorSpec([None, None, *inner], tf.float32, ragged_rank=1)
    shape = [None, 1, *inner] if known is None else known
    f = tf.function(lambda r, b: b - r * b, input_signature=[spec, tf.TensorSpec(shape)])
    wanted = each[[0, 0, 1], 0] * (1 - values)
    found = f(rows, tf.constant(each))
    np.testing.assert_allclose(found.flat_values, wanted)
    assert found.row_lengths().numpy().tolist() == [2, 1]


@pytest.mark.parametrize("way", [lambda f: f, tf.function], ids=["eager", "function"])
def test_map_fn_asks_what_numbers_of_rows_are(way: Any) -> None:
    rows = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Say what they are: fn_output_sig"):
        way(lambda x: tf.map_fn(tf.reduce_sum, x))(rows)
    found = way(lambda x: tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.int32))(rows)
    assert found.numpy().tolist() == [3, 3]


def test_products_of_rows_in_functions_have_gradients() -> None:
    rows = tf.RaggedTensor.from_row_lengths(np.arange(6.0).reshape(3, 2) - 2, [2, 0, 1])

    def product(values: Any, other: Any) -> Any:
        x = rows.with_values(values)
        return tf.matmul(x, other), tf.matmul(x, x, transpose_b=True)

    def loss(values: Any, other: Any) -> Any:
        return sum(tf.reduce_sum(p.flat_values**2) for p in product(values, other))

    other = tf.constant(np.arange(12.0).reshape(3, 2, 2) / 5)
    check_gradients(tf.function(loss), (rows.values, other), order=2)
    found = tf.function(product)(rows.values, other)
    for one, again in zip(found, product(rows.values, other), strict=True):
        assert one.to_list() == again.to_list()


def test_infinities_stay_in_their_matrix() -> None:
    x = tf.ragged.constant([[[np.inf, 1.0], [2.0, 3.0]], [[4.0]]])
    y = tf.ragged.constant([[[1.0], [1.0]], [[5.0]]])
    assert tf.matmul(x, y).to_list() == [[[np.inf], [5.0]], [[20.0]]]


def test_a_product_of_open_sizes_knows_its_own() -> None:
    spec = tf.TensorSpec([3, None, 2])

    @tf.function(input_signature=[spec, tf.TensorSpec([3, None], tf.bool)])
    def f(x: Any, mask: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            picked = tf.boolean_mask(tf.matmul(x, x, transpose_b=True), mask)
        return tape.gradient(picked, x)

    assert f(tf.ones([3, 4, 2]), tf.ones([3, 4], tf.bool)).numpy().tolist() == (
        np.full((3, 4, 2), 8.0).tolist()
    )


def test_elements_of_datasets_have_the_sizes_that_were_asked_for() -> None:
    rows = tf.ragged.constant([[[1.0], [2.0, 3.0]], [[4.0, 5.0, 6.0], []]])
    data = tf.data.Dataset.from_tensor_slices(rows).map(lambda r: r.to_tensor(shape=[None, 4]))
    assert data.element_spec.shape == [None, 4]
    assert next(iter(data)).numpy().tolist() == [[1.0, 0.0, 0.0, 0.0], [2.0, 3.0, 0.0, 0.0]]
