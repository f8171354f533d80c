"""Small habits of TensorFlow 2 that programs rely on; the values are TensorFlow 2.21's."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.test_not_finite import each_way, run

Invalid = tf.errors.InvalidArgumentError


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("other", "want"),
    [
        (2, [True, False]), (0, [False, False]), (2.5, [True, False]), (-1, [True, False]),
        (True, [True, False]), (np.float32(2), [True, False]), (np.array([0, 3]), [False, False]),
        (np.array([1.5, 0.0]), [True, False]),
    ],
)  # fmt: skip
def test_a_boolean_times_a_number_is_logic(other: Any, want: list[bool], traced: bool) -> None:
    x = tf.constant([True, False])
    ways = [lambda x: x * other]
    if isinstance(other, int | float):  # NumPy's own come by its protocol, which has its rules
        ways.append(lambda x: operator.mul(other, x))
    for f in ways:
        got = (tf.function(f) if traced else f)(x)
        assert got.dtype == tf.bool
        np.testing.assert_array_equal(got, want)


def test_other_products_with_numbers_keep_their_rules() -> None:
    x = tf.constant([True, False])
    with pytest.raises(TypeError):
        _ = x * tf.constant(2)
    with pytest.raises(TypeError):
        _ = x + 2
    with pytest.raises(TypeError):
        _ = tf.constant([1, 2]) * 2.5


def test_complex_tensors_as_real_numbers() -> None:
    x = tf.constant(3 + 0j)
    assert int(x) == 3 and float(x) == 3.0 and complex(x) == 3
    for kind in (int, float):
        with pytest.raises(TypeError):
            kind(tf.constant(3 + 2j))


class Items:
    """A sequence by its two methods alone."""

    def __init__(self, *items: Any) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, i: int) -> Any:
        return self._items[i]


class Endless(Items):
    def __getitem__(self, i: int) -> Any:
        return self._items[0]


def test_sequences_by_their_methods() -> None:
    for given, dtype, want in (
        (Items(1, 2), tf.int32, [1, 2]),
        (Items(1.5, 2), tf.float32, [1.5, 2]),
        (Items(Items(1, 2), Items(3, 4)), tf.int32, [[1, 2], [3, 4]]),
        ([Items(1, 2), [3, 4]], tf.int32, [[1, 2], [3, 4]]),
        (Items(), tf.float32, []),
        (Items("a", "b"), tf.string, [b"a", b"b"]),
        (Endless(7, 8), tf.int32, [7, 7]),
    ):
        for got in (tf.constant(given), tf.convert_to_tensor(given), tf.Variable(given)):
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, want)
    assert tf.constant(Items(1, 2), tf.float64).dtype == tf.float64
    assert tf.reduce_sum(Items(1, 2)).numpy() == 3
    np.testing.assert_array_equal(tf.constant(1) + Items(1, 2), [2, 3])
    for bad in ({1: 2}, {1, 2}, object()):
        with pytest.raises(ValueError, match="is not a number"):
            tf.constant(bad)


ASSIGNED: list[tuple[Any, Any, Any]] = [
    (np.s_[0, 0], [1.0], [[1, 0, 0], [0, 0, 0]]),
    (np.s_[0, 0], [[1.0]], [[1, 0, 0], [0, 0, 0]]),
    (np.s_[0], [[1.0, 2.0, 3.0]], [[1, 2, 3], [0, 0, 0]]),
    (np.s_[:, 0], [[1.0, 2.0]], [[1, 0, 0], [2, 0, 0]]),
    (np.s_[1], [[[5.0]]], [[0, 0, 0], [5, 5, 5]]),
]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("index", "value", "want"), ASSIGNED)
def test_slices_take_values_with_sizes_of_one_in_front(
    index: Any, value: Any, want: Any, traced: bool
) -> None:
    v = tf.Variable(np.zeros([2, 3], np.float32))

    def assign() -> None:
        v[index].assign(value)

    (tf.function(assign) if traced else assign)()
    np.testing.assert_array_equal(v, want)
    with pytest.raises(Invalid):
        v[:, 0].assign([[1.0], [2.0]])
    np.testing.assert_array_equal(v, want)


@each_way
def test_index_tuples_outside_are_passed_over_on_demand(way: str) -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    rows, cells = np.array([[0], [5], [-1]]), np.array([[0, 1], [1, 7], [-1, 0]])
    new = np.array([[8.0, 9.0], [6.0, 7.0], [4.0, np.nan]], np.float32)
    ignore = {"bad_indices_policy": "IGNORE"}
    for f, given, want in (
        (lambda x, i: tf.gather_nd(x, i, **ignore), (x, rows), [[1, 2], [0, 0], [0, 0]]),
        (lambda x, i: tf.gather_nd(x, i, **ignore), (x, cells), [2, 0, 0]),
        (lambda x, i: tf.gather_nd(x, i, 1, **ignore), (x, rows[:2]), [1, 0]),
        (lambda x, i: tf.gather_nd(x[:0], i, **ignore), (x, rows), np.zeros([3, 2])),
        (lambda i, u: tf.scatter_nd(i, u, [3, 2], **ignore), (rows, new),
         [[8, 9], [0, 0], [0, 0]]),
        (lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u, **ignore), (x, rows, new),
         [[9, 11], [3, 4]]),
        (lambda x, i, u: tf.tensor_scatter_nd_sub(x, i, u, **ignore), (x, rows, new),
         [[-7, -7], [3, 4]]),
        (lambda x, i, u: tf.tensor_scatter_nd_max(x, i, u, **ignore), (x, rows, new),
         [[8, 9], [3, 4]]),
        (lambda x, i, u: tf.tensor_scatter_nd_min(-x, i, -u, **ignore), (x, rows, new),
         [[-8, -9], [-3, -4]]),
    ):  # fmt: skip
        np.testing.assert_array_equal(run(way, f, *given), want)


def test_gradients_pass_over_bad_indices() -> None:
    x, u = tf.constant([1.0, 2.0]), tf.constant([5.0, 7.0])
    i = [[1], [9]]
    for f, gx, gu in (
        (lambda: tf.tensor_scatter_nd_max(x, i, u, bad_indices_policy="IGNORE"), [1, 0], [1, 0]),
        (lambda: tf.tensor_scatter_nd_add(x, i, u, bad_indices_policy="IGNORE"), [1, 1], [1, 0]),
        (lambda: tf.gather_nd(x, i, bad_indices_policy="IGNORE") * u, [0, 5], [2, 0]),
    ):
        with tf.GradientTape() as tape:
            tape.watch([x, u])
            y = f()
        got = tape.gradient(y, [x, u])
        np.testing.assert_array_equal(tf.convert_to_tensor(got[0]), gx)
        np.testing.assert_array_equal(got[1], gu)


def test_other_policies() -> None:
    assert tf.gather_nd(["a"], [[0], [5]], bad_indices_policy="IGNORE").numpy().tolist() == [
        b"a", b"",
    ]  # fmt: skip
    for policy in ("", "DEFAULT", "ERROR"):
        with pytest.raises((Invalid, IndexError)):
            tf.gather_nd([1, 2], [[5]], bad_indices_policy=policy)
    with pytest.raises(Invalid, match="`bad_indices_policy` 'ignore' is not"):
        tf.scatter_nd([[0]], [1], [2], bad_indices_policy="ignore")


@each_way
def test_segment_ids_of_16_bits(way: str) -> None:
    x, ids = np.array([1.0, 2.0, 4.0], np.float32), np.array([0, 0, 1], np.int16)
    got = run(way, lambda x, i: tf.math.unsorted_segment_sum(x, i, 2), x, ids)
    np.testing.assert_array_equal(got, [3, 4])
    got = run(way, lambda x, i: tf.math.unsorted_segment_mean(x, i, 2), x, ids)
    np.testing.assert_array_equal(got, [1.5, 4])
    with pytest.raises(TypeError, match="`segment_ids` must be int32 or int64"):
        tf.math.segment_sum(tf.constant(x), tf.constant(ids))


def test_the_memory_of_a_tensor_can_be_read() -> None:
    x = tf.constant([[1, 2], [3, 4]])
    memory = x.__buffer__(0)
    assert memory.readonly and memory.tolist() == [[1, 2], [3, 4]] and memory.format == "i"
    with pytest.raises(TypeError):
        memory[0, 0] = 5
    if sys.version_info >= (3, 12):
        assert memoryview(x).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(NotImplementedError):
        tf.function(lambda x: x.__buffer__(0))(x)


def test_a_sequence_has_as_many_elements_as_it_says() -> None:
    class Short:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, i: int) -> int:
            if i > 1:
                raise IndexError
            return i

    for convert in (tf.constant, tf.convert_to_tensor, lambda x: tf.constant([0, 1]) + x):
        with pytest.raises(ValueError, match="has 3 elements, and gives 2"):
            convert(Short())


@pytest.mark.parametrize("traced", [False, True])
def test_a_fraction_of_a_length_counts_as_a_place(traced: bool) -> None:
    f = tf.function(tf.sequence_mask) if traced else tf.sequence_mask
    assert f(tf.constant([1.5, 0.0])).numpy().tolist() == [[True, True], [False, False]]


def test_bytes_are_the_memory_of_a_tensor() -> None:
    for given, dtype in (
        ([1, 2], "int16"), ([1, 2], "int64"), ([1.5], "float32"), ([True, False], "bool"),
        ([[1, 2], [3, 4]], "uint8"), ([], "float64"), (7, "int32"),
    ):  # fmt: skip
        x = tf.constant(given, dtype)
        assert bytes(x) == x.numpy().tobytes()


@each_way
def test_spaces_between_short_whole_numbers_are_float32(way: str) -> None:
    for kind in (np.int8, np.uint8, np.int16, np.uint16):
        got = run(way, lambda a, b: tf.linspace(a, b, 3), kind(1), kind(2))
        assert got.dtype == tf.float32
        np.testing.assert_array_equal(got, [1.0, 1.5, 2.0])
    assert run(way, lambda a: tf.linspace(a, 2, 3), np.int32(1)).dtype == tf.float64


@pytest.mark.parametrize("traced", [False, True])
def test_what_is_one_tensor_is_its_own_stack(traced: bool) -> None:
    x = tf.zeros([0, 3])
    stack = tf.function(lambda x: tf.stack(x)) if traced else tf.stack
    assert stack(x).shape == (0, 3)
    for one in (tf.constant(1), tf.Variable(2.0), np.array(5), np.float32(1.5), "ab", b"ab"):
        got = tf.function(lambda one=one: tf.stack(one))() if traced else tf.stack(one)
        assert got.shape == ()
        assert got.numpy() == tf.convert_to_tensor(one).numpy()
    assert tf.concat(b"ab", 0).numpy() == b"ab"
    assert tf.concat(range(3), 0).numpy().tolist() == [0, 1, 2]


def test_booleans_beside_lists_are_logic_and_texts_no_numbers() -> None:
    x = tf.constant([True, False])
    for numbers in ([1, 2], (0.0, 2.5), [True, True]):
        np.testing.assert_array_equal(
            x * numbers, np.array([True, False]) & np.array(numbers, bool)
        )
    for text in ("a", ["a", "b"], np.array(["a", "b"]), np.array([b"a", b"b"], object)):
        with pytest.raises((TypeError, ValueError)):
            _ = x * text


def test_zeros_like_text_are_empty_texts() -> None:
    for x in (tf.constant("abc"), tf.constant(["a", "bc"])):
        for f in (tf.zeros_like, tf.function(tf.zeros_like)):
            assert f(x).numpy() == b"" if x.shape.rank == 0 else f(x).numpy().tolist() == [b""] * 2


def test_index_slices_of_lists() -> None:
    x = tf.IndexedSlices([[1.0], [2.0]], [0, 2], [3, 1])
    assert x.dtype == tf.float32 and x.shape == (3, 1)
    assert repr(x).startswith("IndexedSlices(indices=")
    np.testing.assert_array_equal(tf.convert_to_tensor(x), [[1.0], [0.0], [2.0]])
    np.testing.assert_array_equal((-x).values, [[-1.0], [-2.0]])
    assert tf.IndexedSlices([1.0], [0]).shape.rank is None
    with pytest.raises(TypeError, match="does not support item deletion"):
        del tf.constant([1])[0]
    nothing: Any = []
    assert tf.TensorSpec([2]).is_compatible_with(nothing) is False


def test_states_of_generators_that_a_trace_makes() -> None:
    key = tf.constant([1, 2, 3], tf.int64)
    for make in (
        lambda x: tf.random.Generator.from_state(x, "philox"),
        lambda x: tf.random.Generator.from_key_counter(x[0], x[1:], "philox"),
    ):
        with pytest.raises(ValueError, match="the state of a new generator must be known"):
            tf.function(lambda x, make=make: make(x).normal([2]))(key)


def test_rows_of_vectorized_map_agree_or_are_refused() -> None:
    for elems, words in (
        (tf.constant([2, 3]), "all rows must give results of one shape"),
        (tf.ragged.constant([[1], [2, 3]]), "`elems` must be tensors"),
        (tf.sparse.from_dense([1, 0]), "`elems` must be tensors"),
    ):
        for f in (tf.vectorized_map, tf.function(tf.vectorized_map)):
            with pytest.raises((ValueError, TypeError), match=words):
                f(tf.range, elems)


def test_a_variable_made_on_the_first_call_of_a_vectorised_function() -> None:
    made: list[Any] = []

    def scaled(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(2.0))
        return made[0] * x

    for _ in range(2):
        with tf.GradientTape() as tape:
            y = tf.vectorized_map(scaled, tf.constant([1.0, 2.0]))
        np.testing.assert_array_equal(y, [2.0, 4.0])
        assert tape.gradient(y, made[0]).numpy() == 3.0
    with pytest.raises(ValueError, match="its initial value depends on the arguments"):
        tf.vectorized_map(lambda x: tf.Variable(x) * 1.0, tf.constant([1.0, 2.0]))
