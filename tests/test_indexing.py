"""Indexing: what the case table cannot say. Refusals, variables, iteration, tapes, cost."""
# A slice of a variable can be assigned.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pytest

import wengert as tf
from wengert.core.tensor import Value
from wengert.ops.slicing import VariableSlice

InvalidArgument = tf.errors.InvalidArgumentError


def ramp() -> tf.Tensor:
    return tf.reshape(tf.range(24.0), [2, 3, 4])


BAD = {
    "past the end": (
        lambda x: x[5],
        "strided_slice: index 5 is out of bounds for axis 0 of size 2; got float32[2,3,4]. "
        "Use a value from -2 to 1.",
    ),
    "before the start": (
        lambda x: x[0, -4],
        "strided_slice: index -4 is out of bounds for axis 1 of size 3; got float32[2,3,4]. "
        "Use a value from -3 to 2.",
    ),
    "too many": (
        lambda x: x[0, 0, 0, 0],
        "strided_slice: 4 indices are too many for rank 3; got float32[2,3,4].",
    ),
    "of a scalar": (
        lambda x: tf.constant(1)[0],
        "strided_slice: 1 indices are too many for rank 0; got int32[].",
    ),
    "of an empty axis": (
        lambda x: tf.zeros([0])[0],
        "strided_slice: index 0 is out of bounds for axis 0 of size 0; got float32[0]. "
        "The axis is empty.",
    ),
    "a huge number": (
        lambda x: x[2**70],
        f"strided_slice: index {2**70} is out of bounds for axis 0 of size 2; got "
        "float32[2,3,4]. Use a value from -2 to 1.",
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD.keys())
def test_an_index_outside_is_an_index_error_and_an_invalid_argument(case) -> None:
    call, message = case
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        call(ramp())
    assert isinstance(caught.value, IndexError)
    assert str(caught.value) == message


def test_two_ellipses_and_a_step_of_zero_are_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"may hold `\.\.\.` only once"):
        ramp()[..., ...]
    with pytest.raises(tf.errors.InvalidArgumentError, match="the step of a slice must not be 0"):
        ramp()[::0]


@pytest.mark.parametrize(
    "index",
    [1.5, "a", {}, np.float32(1), np.array([0, 1]), tf.constant([0, 1]), tf.constant(1.0),
     slice(1.0, None), (0, "a"), (slice(None), [True, False, True]), [True, False]],
    ids=repr,
)  # fmt: skip
def test_other_kinds_of_index_are_type_errors(index) -> None:
    with pytest.raises(TypeError, match="only integers, slices"):
        ramp()[index]


def test_the_message_of_a_wrong_kind_names_the_way() -> None:
    with pytest.raises(TypeError) as caught:
        ramp()[tf.constant([0, 1])]
    assert str(caught.value) == (
        "getitem: only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        "integer tensors are indices; got int32[2]. Use tf.gather for a vector of indices, "
        "tf.boolean_mask for a mask along one axis."
    )


def test_a_list_means_a_tuple() -> None:
    assert ramp()[[0, 1]].numpy().tolist() == [4.0, 5.0, 6.0, 7.0]


def test_sizes_and_scalars_of_any_integer_kind_are_indices() -> None:
    x = ramp()
    for one in (np.int16(1), np.array(1), tf.constant(1, tf.int64), tf.Variable(1), x.shape[0] - 1):
        assert np.array_equal(x[one], x.numpy()[1])
        assert np.array_equal(x[one:], x.numpy()[1:])


def test_masks_select() -> None:
    x = ramp()
    for mask in (tf.constant([False, True]), np.array([False, True])):
        assert np.array_equal(x[mask], x.numpy()[1:])
    assert x[x > 20.0].numpy().tolist() == [21.0, 22.0, 23.0]


@pytest.mark.parametrize("mask", [True, tf.constant(True)], ids=repr)
def test_a_scalar_mask_is_refused(mask) -> None:
    with pytest.raises(ValueError, match="mask cannot be scalar"):
        ramp()[mask]


def test_a_mask_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(InvalidArgument) as caught:
        ramp()[tf.constant([True])]
    assert str(caught.value) == (
        "boolean_mask: shapes (2,) and (1,) are incompatible: the mask must have the sizes of the "
        "axes it selects from; got float32[2,3,4] and bool[1]."
    )


def test_tensors_cannot_be_written() -> None:
    with pytest.raises(TypeError):
        ramp()[0] = 1.0  # type: ignore[index]


def test_iteration_gives_rows_that_tapes_know() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, second = x
        y = tf.reduce_sum(first * second)
    assert tape.gradient(y, x).numpy().tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_iteration_over_many_rows_and_over_none() -> None:
    x = tf.range(3000.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = list(x)
        y = rows[0] + 2.0 * rows[-1]
    assert len(rows) == 3000 and float(rows[1500]) == 1500.0
    slope = tape.gradient(y, x).numpy()
    assert (slope[0], slope[-1], np.abs(slope).sum()) == (1.0, 2.0, 3.0)
    assert list(tf.zeros([0, 2])) == []


def test_iteration_over_a_scalar_is_refused() -> None:
    with pytest.raises(TypeError, match="a scalar tensor has no rows"):
        iter(tf.constant(1))


def test_a_small_slice_does_not_keep_a_large_tensor_alive() -> None:
    assert tf.zeros([1000, 100])[3]._array.base is None


def test_slices_of_variables_are_tensors_that_can_be_written() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    part = v[0, 1:]
    assert isinstance(part, tf.Tensor) and type(part) is VariableSlice
    assert v[1].assign([7.0, 8.0]) is v
    v[:, 0].assign_add([1.0, 1.0])
    v[0, 0].assign_sub(0.5)
    assert v.numpy().tolist() == [[1.5, 2.0], [8.0, 8.0]]
    assert part.numpy().tolist() == [2.0]


def test_strided_slice_with_a_variable_can_be_written() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    tf.strided_slice(v, [0], [3], [2], var=v).assign([9.0, 8.0])
    assert v.numpy().tolist() == [9.0, 2.0, 8.0]


def test_a_bad_sliced_assign_leaves_the_variable() -> None:
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not fit the slice"):
        v[:1].assign([1.0, 2.0])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_gradients_through_a_slice_reach_the_variable() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v[1] * v[::-1][0]
    assert tape.gradient(y, v).numpy().tolist() == [0.0, 3.0, 2.0]


def test_a_sliced_assign_writes_in_place() -> None:
    v = tf.Variable(tf.zeros([4, 2]))
    v[0].assign([1.0, 1.0])
    before = v._array.ctypes.data
    v[1].assign([2.0, 2.0])
    assert v._array.ctypes.data == before


def test_tensors_under_every_value_class_index_alike() -> None:
    assert Value.__getitem__ is tf.Tensor.__getitem__


def test_boolean_mask_reads_numbers_as_truth() -> None:
    assert tf.boolean_mask([5, 6, 7], [1, 0, 3]).numpy().tolist() == [5, 7]
    assert tf.boolean_mask(["a", "b"], [True, False]).numpy().tolist() == [b"a"]
    with pytest.raises(TypeError, match="`mask` must be boolean"):
        tf.boolean_mask([1, 2], ["a", "b"])


def test_where_of_a_scalar_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="a scalar has no indices"):
        tf.where(True)


def test_where_gives_int64_index_tuples() -> None:
    found = tf.where([[True, False], [True, True]])
    assert found.dtype == tf.int64 and found.numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert tf.where(tf.zeros([0, 2])).shape == (0, 2)


@pytest.mark.parametrize("engine", ["host", "xla"])
def test_a_position_of_the_trace_stands_beside_a_constant_tensor(engine: str) -> None:
    """What is left of the index after the first position is taken holds a tensor, not a slice."""
    x, i = tf.constant(np.arange(12.0).reshape(2, 3, 2)), tf.constant(1)
    for take in (
        lambda x, i: x[i, tf.constant(2)], lambda x, i: x[tf.constant(1), i],
        lambda x, i: x[i, ..., tf.constant(0)], lambda x, i: x[:, i, tf.constant(1)],
    ):  # fmt: skip
        with tf.engine(engine):
            np.testing.assert_array_equal(tf.function(take)(x, i), take(x, i))
