"""Array operations: what the case table cannot say. Refusals, dtypes, golden values, sparsity.

Golden values were measured on TensorFlow 2.21.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

InvalidArgument = tf.errors.InvalidArgumentError


def x23() -> tf.Tensor:
    return tf.reshape(tf.range(6.0), [2, 3])


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "reshape": (
        lambda: tf.reshape(x23(), [4]),
        "reshape: 6 elements do not fit shape [4]; got float32[2,3]. The product of the sizes "
        "must stay the same; one size may be -1.",
    ),
    "reshape to two open sizes": (
        lambda: tf.reshape(x23(), [-1, -1]),
        "reshape: 6 elements do not fit shape [-1, -1]; got float32[2,3]. The product of the "
        "sizes must stay the same; one size may be -1.",
    ),
    "reshape to a negative size": (
        lambda: tf.reshape(x23(), [-2, 3]),
        "reshape: 6 elements do not fit shape [-2, 3]; got float32[2,3]. The product of the "
        "sizes must stay the same; one size may be -1.",
    ),
    "reshape to a matrix": (
        lambda: tf.reshape(x23(), [[6]]),
        "reshape: `shape` must be a list of whole numbers; got [[6]].",
    ),
    "broadcast_to": (
        lambda: tf.broadcast_to(x23(), [2, 4]),
        "broadcast_to: shape (2, 3) does not broadcast to (2, 4). Sizes must be equal or 1, "
        "counted from the right.",
    ),
    "broadcast_to a smaller rank": (
        lambda: tf.broadcast_to(x23(), [3]),
        "broadcast_to: shape (2, 3) does not broadcast to (3,). Sizes must be equal or 1, "
        "counted from the right.",
    ),
    "transpose": (
        lambda: tf.transpose(x23(), [0, 0]),
        "transpose: `perm` [0, 0] is not an order of the 2 axes; got float32[2,3]. Name each "
        "axis once.",
    ),
    "expand_dims": (
        lambda: tf.expand_dims(x23(), 4),
        "expand_dims: `axis` 4 is out of range for a tensor of rank 3. Use a value from -3 to 2.",
    ),
    "squeeze": (
        lambda: tf.squeeze(x23(), 0),
        "squeeze: axis 0 has size 2, not 1; got float32[2,3]. Only axes of size 1 can be dropped; use an "
        "index or tf.reshape.",
    ),
    "concat of scalars": (
        lambda: tf.concat([1, 2], 0),
        "concat: scalars have no axis to join along; got int32[] and int32[]. Use tf.stack.",
    ),
    "concat of unequal sizes": (
        lambda: tf.concat([x23(), tf.zeros([2, 2])], 0),
        "concat: all sizes but that of axis 0 must agree; got float32[2,3] and float32[2,2]. "
        "Check the shapes, or use tf.stack for a new axis.",
    ),
    "concat of nothing": (
        lambda: tf.concat([], 0),
        "concat: the list of tensors is empty. Give at least one tensor.",
    ),
    "stack": (
        lambda: tf.stack([x23(), tf.zeros([2])]),
        "stack: all tensors must have the same shape; got float32[2,3] and float32[2].",
    ),
    "unstack": (
        lambda: tf.unstack(x23(), 3),
        "unstack: axis 0 has size 2, not `num` 3; got float32[2,3].",
    ),
    "split": (
        lambda: tf.split(x23(), 2, axis=1),
        "split: axis 1 of size 3 does not cut into 2 equal parts; got float32[2,3]. Give the sizes of the "
        "parts as a list.",
    ),
    "split sizes": (
        lambda: tf.split(x23(), [1, 1], axis=1),
        "split: sizes [1, 1] do not add up to 3, the size of axis 1; got float32[2,3].",
    ),
    "slice": (
        lambda: tf.slice(x23(), [0, 1], [2, 3]),
        "slice: `begin` 1 and `size` 3 do not fit axis 1 of size 3; got float32[2,3].",
    ),
    "gather": (
        lambda: tf.gather(x23(), [0, 5]),
        "gather: index 5 is outside [0, 2). Indices count from 0; negative ones are not allowed "
        "here.",
    ),
    "gather of a negative index": (
        lambda: tf.gather(x23(), [-1]),
        "gather: index -1 is outside [0, 2). Indices count from 0; negative ones are not allowed "
        "here.",
    ),
    "gather by fractions": (
        lambda: tf.gather(x23(), [0.0]),
        "gather: `indices` must be whole numbers; got float32[1]. Cast them to tf.int32.",
    ),
    "gather of unequal batches": (
        lambda: tf.gather(x23(), [[0], [1], [0]], batch_dims=1),
        "gather: the first 1 sizes (`batch_dims`) must agree; got float32[2,3] and int32[3,1].",
    ),
    "gather of a scalar": (
        lambda: tf.gather(5, [0]),
        "gather: `axis` 0 is out of range for a tensor of rank 0. A scalar has no axes.",
    ),
    "gather_nd": (
        lambda: tf.gather_nd(x23(), [[0, 1, 2]]),
        "gather_nd: index tuples of length 3 are too long for rank 2; got float32[2,3] and "
        "int32[1,3]. The last axis of `indices` holds one number per axis.",
    ),
    "gather_nd outside": (
        lambda: tf.gather_nd(x23(), [[0, 3]]),
        "gather_nd: index 3 is outside [0, 3). Indices count from 0; negative ones are not "
        "allowed here.",
    ),
    "scatter_nd": (
        lambda: tf.scatter_nd([[0]], [1.0, 2.0], [3]),
        "scatter_nd: `updates` of shape (2,) do not fit `indices` of shape (1, 1) into shape "
        "(3,). `updates` needs the shape indices.shape[:-1] + shape[indices.shape[-1]:].",
    ),
    "scatter_nd outside": (
        lambda: tf.scatter_nd([[4]], [1.0], [4]),
        "scatter_nd: index 4 is outside [0, 4). Indices count from 0; negative ones are not "
        "allowed here.",
    ),
    "tensor_scatter_nd_update outside": (
        lambda: tf.tensor_scatter_nd_update([1, 2], [[-1]], [5]),
        "tensor_scatter_nd_update: index -1 is outside [0, 2). Indices count from 0; negative "
        "ones are not allowed here.",
    ),
    "pad": (
        lambda: tf.pad(x23(), [[1, 1]]),
        "pad: 1 pairs of `paddings` do not fit rank 2; got float32[2,3].",
    ),
    "pad by less than nothing": (
        lambda: tf.pad(x23(), [[1, 1], [-1, 1]]),
        "pad: `paddings` must be pairs of sizes from 0 on; got [[1, 1], [-1, 1]].",
    ),
    "pad by reflection": (
        lambda: tf.pad(x23(), [[2, 1], [1, 1]], "REFLECT"),
        "pad: padding [2, 1] of axis 0 must be less than its size 2 in mode REFLECT; got "
        "float32[2,3].",
    ),
    "tile": (
        lambda: tf.tile(x23(), [1]),
        "tile: `multiples` [1] must be 2 numbers from 0 on; got float32[2,3].",
    ),
    "repeat": (
        lambda: tf.repeat(x23(), [1, 2, 0], axis=0),
        "repeat: 3 `repeats` do not fit axis 0 of size 2; got float32[2,3].",
    ),
    "reverse": (
        lambda: tf.reverse(x23(), 0),
        "reverse: `axis` must be a list of axes; got 0.",
    ),
    "reverse_sequence": (
        lambda: tf.reverse_sequence(x23(), [0, 4], seq_axis=1),
        "reverse_sequence: `seq_lengths` must be 2 numbers from 0 to 3; got [0, 4].",
    ),
    "roll": (
        lambda: tf.roll(x23(), 1, [0, 1]),
        "roll: `shift` and `axis` must be equally long; got 1 and 2.",
    ),
    "dynamic_partition": (
        lambda: tf.dynamic_partition(x23(), [2, 0], 2),
        "dynamic_partition: index 2 is outside [0, 2). Indices count from 0; negative ones are "
        "not allowed here.",
    ),
    "space_to_batch": (
        lambda: tf.space_to_batch(tf.zeros([1, 4, 4, 1]), [3, 2], [[0, 0], [0, 0]]),
        "space_to_batch: axis 1 of (padded) size 4 does not divide into blocks of 3; got "
        "float32[1,4,4,1].",
    ),
    "batch_to_space": (
        lambda: tf.batch_to_space(tf.zeros([4, 2, 2, 1]), [2, 2], [[3, 3], [0, 1]]),
        "batch_to_space: `crops` [3, 3] exceed axis 1 of size 4; got float32[4,2,2,1].",
    ),
    "depth_to_space": (
        lambda: tf.nn.depth_to_space(tf.zeros([1, 2, 2, 4]), 3),
        "depth_to_space: the depth must divide by 9, `block_size` squared; got float32[1,2,2,4].",
    ),
    "invert_permutation": (
        lambda: tf.math.invert_permutation([2, 0, 2]),
        "invert_permutation: each number from 0 to 2 must occur once. The argument is a vector "
        "that says where each element goes.",
    ),
    "unravel_index": (
        lambda: tf.unravel_index(6, [2, 3]),
        "unravel_index: an index is outside [0, 6).",
    ),
    "zeros": (
        lambda: tf.zeros([-1]),
        "zeros: a size must not be negative; got shape [-1].",
    ),
    "range that leads away": (
        lambda: tf.range(5, 1),
        "range: `limit` 1 does not lie beyond `start` 5 in the direction of `delta` 1.",
    ),
    "range without a step": (
        lambda: tf.range(3, 0, 0),
        "range: `delta` must not be 0.",
    ),
    "one_hot": (
        lambda: tf.one_hot([0], -1),
        "one_hot: `depth` must be a number from 0 on; got -1.",
    ),
    "constant": (
        lambda: tf.constant([1, 2], shape=[3]),
        "constant: 2 values do not fill shape [3]; got int32[2].",
    ),
    "a shape of fractions": (
        lambda: tf.ones([2.5]),
        "ones: `shape` must be a list of whole numbers; got [2.5].",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_is_an_invalid_argument_with_a_clear_message(case: Any) -> None:
    call, message = case
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert str(caught.value) == message


TYPE_ERRORS: dict[str, Callable[[], Any]] = {
    "constant of another dtype": lambda: tf.constant(tf.constant([1, 2]), tf.float32),
    "constant of too few values": lambda: tf.constant([1, 2], shape=[3]),
    "ones of strings": lambda: tf.ones([2], tf.string),
    "ones_like of strings": lambda: tf.ones_like(["a"]),
    "zeros of a fraction": lambda: tf.zeros([2.5]),
    "one_hot of mixed values": lambda: tf.one_hot([0], 2, on_value=1.0, off_value=0),
    "one_hot of booleans without values": lambda: tf.one_hot([0], 2, dtype=tf.bool),
    "one_hot of fractions": lambda: tf.one_hot(np.array([0.5]), 2),
    "one_hot of a Python float": lambda: tf.one_hot(1.0, 2),
    "linspace from a complex number to a float": (
        lambda: tf.linspace(np.complex128(3 + 1j), tf.constant(1.0), 3)
    ),
    "a float array of complex numbers": lambda: tf.constant(np.array([3 + 1j]), tf.float32),
    "diag of strings": lambda: tf.linalg.diag(["a", "b"]),
    "diag padded with a string": lambda: tf.linalg.diag([1.0], padding_value="a"),
    "pad with a fraction": lambda: tf.pad([1, 2], [[1, 1]], constant_values=2.5),
    "reverse_sequence without an axis": lambda: tf.reverse_sequence(x23(), [1, 2]),
    "update of another dtype": lambda: tf.tensor_scatter_nd_update([1, 2], [[0]], [5.0]),
}


@pytest.mark.parametrize("call", TYPE_ERRORS.values(), ids=TYPE_ERRORS.keys())
def test_wrong_types_are_type_errors(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        call()


def test_an_unknown_pad_mode_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="`mode` must be CONSTANT, REFLECT or SYMMETRIC"):
        tf.pad(x23(), [[1, 1], [1, 1]], "FOO")


GOLDEN: dict[str, tuple[Callable[[], Any], tuple[str, Any]]] = {
    "range": (lambda: tf.range(5), ("int32", [0, 1, 2, 3, 4])),
    "range down": (lambda: tf.range(5, 1, -2), ("int32", [5, 3])),
    "range of fractions": (lambda: tf.range(0, 1, 0.25), ("float32", [0.0, 0.25, 0.5, 0.75])),
    "range of tenths": (
        lambda: tf.range(0, 1.0, 0.1)[7:],
        ("float32", [0.699999988079071, 0.800000011920929, 0.9000000357627869]),
    ),
    "range to an int64": (lambda: tf.range(0, tf.constant(3, tf.int64)), ("int64", [0, 1, 2])),
    "range of mixed tensors": (
        lambda: tf.range(tf.constant(1), tf.constant(3.0)),
        ("float32", [1.0, 2.0]),
    ),
    "range of large numbers": (
        lambda: tf.range(2**33, 2**33 + 2),
        ("int64", [8589934592, 8589934593]),
    ),
    "range of a dtype": (lambda: tf.range(3, dtype=tf.float16), ("float16", [0.0, 1.0, 2.0])),
    "range by NumPy": (lambda: tf.range(np.float64(2)), ("float64", [0.0, 1.0])),
    "linspace of whole numbers": (
        lambda: tf.linspace(0, 1, 5),
        ("float64", [0.0, 0.25, 0.5, 0.75, 1.0]),
    ),
    "linspace of complex numbers": (
        lambda: tf.linspace(np.complex64(1 + 1j), 3.0, 3),
        ("complex64", [1 + 1j, 2 + 0.5j, 3]),
    ),
    "linspace has the type of its start": (
        lambda: tf.linspace(np.float64(0), np.float32(1), 3),
        ("float64", [0.0, 0.5, 1.0]),
    ),
    "eye": (lambda: tf.eye(2, 3, dtype=tf.int32), ("int32", [[1, 0, 0], [0, 1, 0]])),
    "eye in batches": (lambda: tf.eye(1, batch_shape=[2]), ("float32", [[[1.0]], [[1.0]]])),
    "zeros of strings": (lambda: tf.zeros([2], tf.string), ("string", [b"", b""])),
    "ones of booleans": (lambda: tf.ones([2], tf.bool), ("bool", [True, True])),
    "fill with a string": (lambda: tf.fill([2], "a"), ("string", [b"a", b"a"])),
    "constant fills a shape": (lambda: tf.constant([1], shape=[3]), ("int32", [1, 1, 1])),
    "stack of nothing": (lambda: tf.stack([]), ("float32", [])),
    "stack of mixed numbers": (lambda: tf.stack([1, 2.0]), ("float32", [1.0, 2.0])),
    "concat adopts a dtype": (
        lambda: tf.concat([[1], tf.constant([2], tf.int64)], 0),
        ("int64", [1, 2]),
    ),
    "concat of one ignores the axis": (lambda: tf.concat([[1]], 5), ("int32", [1])),
    "squeeze of no axes": (lambda: tf.squeeze([[1]], []), ("int32", 1)),
    "pad of strings": (lambda: tf.pad(["a"], [[1, 1]]), ("string", [b"", b"a", b""])),
    "pad in lower case": (lambda: tf.pad([1, 2, 3], [[1, 1]], "reflect"), ("int32", [2, 1, 2, 3, 2])),
    "repeat of less than nothing": (lambda: tf.repeat([1, 2], [1, -1]), ("int32", [1])),
    "repeat of a scalar": (lambda: tf.repeat(3, 2), ("int32", [3, 3])),
    "one_hot of strings": (
        lambda: tf.one_hot([0, 1], 2, on_value="a", off_value="b"),
        ("string", [[b"a", b"b"], [b"b", b"a"]]),
    ),
    "one_hot takes the dtype of its value": (
        lambda: tf.one_hot([0], 2, on_value=5, off_value=-1),
        ("int32", [[5, -1]]),
    ),
    "one_hot of NumPy's whole floats": (
        lambda: tf.one_hot(np.array([0.0, 2.0]), 3),
        ("float32", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    ),
    "one_hot of one NumPy float": (
        lambda: tf.one_hot(np.float32(1), 2),
        ("float32", [0.0, 1.0]),
    ),
    "one_hot of NumPy's booleans": (
        lambda: tf.one_hot(np.array([True, False]), 2),
        ("float32", [[0.0, 1.0], [1.0, 0.0]]),
    ),
    "invert_permutation of NumPy's whole floats": (
        lambda: tf.math.invert_permutation(np.array([1.0, 2.0, 0.0])),
        ("int32", [2, 0, 1]),
    ),
    "unravel_index of NumPy's whole floats": (
        lambda: tf.unravel_index(np.array([1.0, 2.0]), [2, 2]),
        ("int32", [[0, 1], [1, 0]]),
    ),
    "reverse_sequence by NumPy's whole floats": (
        lambda: tf.reverse_sequence([[1, 2, 3]], np.array([2.0]), 1),
        ("int32", [[2, 1, 3]]),
    ),
    "dynamic_partition by NumPy's whole floats": (
        lambda: tf.dynamic_partition([1, 2], np.array([1.0, 0.0]), 2)[0],
        ("int32", [2]),
    ),
    "dynamic_stitch by NumPy's whole floats": (
        lambda: tf.dynamic_stitch([np.array([1.0, 0.0])], [[1, 2]]),
        ("int32", [2, 1]),
    ),
    "in_top_k of NumPy's whole floats": (
        lambda: tf.math.in_top_k(np.array([1.0]), [[1.0, 2.0]], 1),
        ("bool", [True]),
    ),
    "in_top_k of NumPy's short numbers": (
        lambda: tf.math.in_top_k(np.array([1], np.int8), [[1.0, 2.0]], 1),
        ("bool", [True]),
    ),
    "diag of strings": (
        lambda: tf.linalg.diag(["a", "b"], padding_value=""),
        ("string", [[b"a", b""], [b"", b"b"]]),
    ),
    "bincount of booleans": (lambda: tf.math.bincount([True, False, True]), ("int32", [1, 2])),
    "bincount of rows of booleans": (
        lambda: tf.math.bincount(tf.ragged.constant([[True], [False, True]])),
        ("int32", [1, 2]),
    ),
    "bincount of rows of floats": (
        lambda: tf.math.bincount(tf.ragged.constant([[1.0], [2.0, 2.0]]), axis=-1),
        ("int32", [[0, 1, 0], [0, 0, 2]]),
    ),
    "the sum of whole numbers as a norm": (lambda: tf.norm([1, -2], 1), ("int32", 3)),
    "the largest whole number as a norm": (lambda: tf.norm([1, -2], np.inf), ("int32", 2)),
    "sequence_mask to a float": (
        lambda: tf.sequence_mask([1, 2], 3.0),
        ("bool", [[True, False, False], [True, True, False]]),
    ),
    "sequence_mask to a fraction": (
        lambda: tf.sequence_mask([1.5, 2], tf.constant(2.5)),
        ("bool", [[True, True, False], [True, True, False]]),
    ),
    "sequence_mask of booleans": (
        lambda: tf.sequence_mask([True, False], 2),
        ("bool", [[True, False], [False, False]]),
    ),
    "sequence_mask of fractions": (
        lambda: tf.sequence_mask([1.5, 2.0]),
        ("bool", [[True, True], [True, True]]),
    ),
    "sequence_mask of negative lengths": (
        lambda: tf.sequence_mask([-1, 2]),
        ("bool", [[False, False], [True, True]]),
    ),
    "scatter_nd adds": (
        lambda: tf.scatter_nd([[0], [2], [0]], [1.0, 2.0, 3.0], [4]),
        ("float32", [4.0, 0.0, 2.0, 0.0]),
    ),
    "scatter_nd of strings": (
        lambda: tf.scatter_nd([[0], [2], [0]], ["a", "b", "c"], [3]),
        ("string", [b"ac", b"", b"b"]),
    ),
    "scatter_nd of rows of strings": (
        lambda: tf.scatter_nd([[1]], [["a", "b"]], [2, 2]),
        ("string", [[b"", b""], [b"a", b"b"]]),
    ),
    "the last update stays": (
        lambda: tf.tensor_scatter_nd_update([1, 2, 3], [[0], [0]], [5, 6]),
        ("int32", [6, 2, 3]),
    ),
    "update of strings": (
        lambda: tf.tensor_scatter_nd_update(["a", "b"], [[0]], ["z"]),
        ("string", [b"z", b"b"]),
    ),
    "gather of strings": (lambda: tf.gather(["a", "b"], [1]), ("string", [b"b"])),
    "dynamic_stitch fills gaps with zeros": (
        lambda: tf.dynamic_stitch([[0, 3]], [[1.0, 2.0]]),
        ("float32", [1.0, 0.0, 0.0, 2.0]),
    ),
    "the last piece of a stitch stays": (
        lambda: tf.dynamic_stitch([[0, 2], [1, 0]], [[1.0, 2.0], [3.0, 9.0]]),
        ("float32", [9.0, 3.0, 2.0]),
    ),
    "unravel_index of a scalar": (lambda: tf.unravel_index(5, [2, 3]), ("int32", [1, 2])),
    "broadcast_dynamic_shape": (
        lambda: tf.broadcast_dynamic_shape([2, 1], [3]),
        ("int32", [2, 3]),
    ),
    "required paddings": (
        lambda: tf.required_space_to_batch_paddings([5, 6], [2, 3])[0],
        ("int32", [[0, 1], [0, 0]]),
    ),
    "required crops": (
        lambda: tf.required_space_to_batch_paddings([5, 6], [2, 3], [[1, 0], [0, 0]])[1],
        ("int32", [[0, 0], [0, 0]]),
    ),
    "batch_to_space of one size": (
        lambda: tf.batch_to_space(tf.reshape(tf.range(4), [4, 1, 1, 1]), 2, [[0, 0], [0, 0]])[0, ..., 0],
        ("int32", [[0, 1], [2, 3]]),
    ),
    "reshape beside a zero": (lambda: tf.shape(tf.reshape(tf.zeros([0, 3]), [-1, 0])), ("int32", [3, 0])),
    "rank": (lambda: tf.rank([[1]]), ("int32", 2)),
}  # fmt: skip


@pytest.mark.parametrize("case", GOLDEN.values(), ids=GOLDEN.keys())
def test_golden_values(case: Any) -> None:
    call, (dtype, value) = case
    got = call()
    assert got.dtype.name == dtype
    assert np.asarray(got.numpy()).tolist() == value


def test_every_constant_is_a_tensor_of_its_own() -> None:
    x, y = tf.constant(3.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = x * y
    assert float(tape.gradient(z, x)) == 3.0


def test_operations_see_the_real_shape_of_a_variable_with_open_sizes() -> None:
    v = tf.Variable(tf.ones([4, 2]), shape=tf.TensorShape([None, 2]))
    assert len(tf.split(v, 2)) == 2
    assert len(tf.unstack(v)) == 4
    assert tf.tile(v, [2, 1]).shape == (8, 2)
    assert tf.shape(v).numpy().tolist() == [4, 2]


def test_get_static_value() -> None:
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.get_static_value(tf.Variable(1)) is None


def test_broadcast_static_shape_keeps_unknown_sizes() -> None:
    open_shape = tf.TensorShape([None, 1])
    assert tf.broadcast_static_shape(open_shape, tf.TensorShape([3])).as_list() == [None, 3]
    with pytest.raises(ValueError, match="do not broadcast"):
        tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))


def gradient(f: Callable[..., Any], *values: Any) -> list[Any]:
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)


def test_the_gradient_of_gather_names_only_its_rows() -> None:
    for indices, rows in (([1, 1], [1, 1]), (1, [1]), ([[1, 0]], [1, 0])):
        (slope,) = gradient(lambda x, i=indices: tf.gather(x, i), np.ones([2, 3]))
        assert isinstance(slope, tf.IndexedSlices)
        assert slope.indices.numpy().tolist() == rows
        assert slope.values.shape == (len(rows), 3) and slope.shape == (2, 3)


def test_the_gradient_of_gather_is_dense_elsewhere() -> None:
    (slope,) = gradient(lambda x: tf.gather(x, [1, 1], axis=1), np.ones([2, 3]))
    assert slope.numpy().tolist() == [[0, 2, 0], [0, 2, 0]]
    (slope,) = gradient(lambda x: tf.gather(x, [[1], [2]], batch_dims=1), np.ones([2, 3]))
    assert slope.numpy().tolist() == [[0, 1, 0], [0, 0, 1]]
    (slope,) = gradient(lambda x: tf.repeat(x, [1, 2], axis=0), np.ones([2, 1]))
    assert slope.numpy().tolist() == [[1], [2]]


def test_gather_nd_of_rows_has_a_sparse_gradient() -> None:
    (slope,) = gradient(lambda x: tf.gather_nd(x, [[1], [0]]), np.ones([2, 3]))
    assert isinstance(slope, tf.IndexedSlices) and slope.indices.numpy().tolist() == [1, 0]
    (slope,) = gradient(lambda x: tf.gather_nd(x, [[1, 0]]), np.ones([2, 3]))
    assert slope.numpy().tolist() == [[0, 0, 0], [1, 0, 0]]


def test_rows_of_a_large_table_cost_only_themselves() -> None:
    table = tf.Variable(np.zeros([200_000, 64], np.float32))
    rows = tf.constant([3, 150_000, 3])

    def step() -> None:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, rows))
        slope = tape.gradient(y, table)
        table.scatter_sub(tf.IndexedSlices(slope.values, slope.indices))
        table[7].assign(tf.ones([64]))

    step()
    tracemalloc.start()
    try:
        step()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000
    assert table.numpy()[3, 0] == -4.0


def test_ties_share_the_gradient_of_a_scattered_maximum() -> None:
    def f(x: Any, u: Any) -> Any:
        return tf.tensor_scatter_nd_max(x, [[0], [0], [2]], u) * [1.0, 2.0, 3.0]

    dx, du = gradient(f, np.array([0, 1, 2], np.float32), np.array([0, -1, 5], np.float32))
    assert (dx.numpy().tolist(), du.numpy().tolist()) == ([0.5, 2, 0], [0.5, 0, 3])


def test_every_update_of_a_place_gets_its_gradient() -> None:
    dx, du = gradient(
        lambda x, u: tf.tensor_scatter_nd_update(x, [[0], [0]], u),
        np.array([0, 1, 2], np.float32), np.array([1, 2], np.float32),
    )  # fmt: skip
    assert (dx.numpy().tolist(), du.numpy().tolist()) == ([0, 1, 1], [1, 1])


def test_what_has_no_gradient() -> None:
    assert gradient(lambda c: tf.pad(tf.ones([2]), [[1, 1]], constant_values=c), 2.0) == [None]
    assert gradient(lambda v: tf.one_hot([0], 2, on_value=v, off_value=0.0), 2.0) == [None]
    assert gradient(lambda v: tf.range(v, 5.0), 2.0) == [None]
    assert gradient(tf.zeros_like, 2.0) == [None]


def test_dlpack_goes_both_ways() -> None:
    array = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    x = tf.constant(array)
    dlpack = tf.experimental.dlpack
    assert np.array_equal(dlpack.from_dlpack(dlpack.to_dlpack(x)), array)
    assert np.array_equal(np.from_dlpack(x), array)
    assert np.array_equal(np.from_dlpack(tf.Variable(array)), array)
    assert dlpack.from_dlpack(np.arange(3)).numpy().tolist() == [0, 1, 2]


def test_dlpack_carries_bfloat16() -> None:
    dlpack = tf.experimental.dlpack
    x = dlpack.from_dlpack(dlpack.to_dlpack(tf.constant([1.0, 2.5], tf.bfloat16)))
    assert x.dtype == tf.bfloat16
    assert x.numpy().tolist() == [1.0, 2.5]


def test_gather_counts_a_negative_default_axis_from_the_end() -> None:
    x = tf.reshape(tf.range(24), [2, 3, 4])
    i = [[0, 2], [1, 1]]
    assert np.array_equal(tf.gather(x, i, batch_dims=-1), tf.gather(x, i, axis=-1, batch_dims=1))


def test_broadcast_to_does_not_drop_axes() -> None:
    for x in (tf.ones([1, 3]), tf.ones([1, 5000])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not broadcast to"):
            tf.broadcast_to(x, x.shape[1:])


def test_an_identity_matrix_has_no_strings() -> None:
    with pytest.raises(TypeError, match="eye: there is no identity matrix of strings"):
        tf.eye(2, dtype=tf.string)


def test_stop_gradient_of_slices_stays_slices() -> None:
    rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([4, 1]))
    found = tf.stop_gradient(rows)
    assert isinstance(found, tf.IndexedSlices)
    assert np.array_equal(tf.convert_to_tensor(found), tf.convert_to_tensor(rows))


def test_dlpack_shares_nothing() -> None:
    array = np.array([1.0, 2.0])
    x = tf.experimental.dlpack.from_dlpack(array)
    array[0] = 9.0
    out = np.from_dlpack(x)
    if out.flags.writeable:
        out[1] = 9.0
    assert x.numpy().tolist() == [1.0, 2.0]


def test_dlpack_of_what_it_cannot_carry() -> None:
    dlpack = tf.experimental.dlpack
    with pytest.raises(TypeError, match="string cannot be exported"):
        dlpack.to_dlpack(tf.constant("a"))
    with pytest.raises(ValueError, match="no DLPack capsule"):
        dlpack.from_dlpack(3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int8])
@pytest.mark.parametrize("k", [1, 7])
def test_the_few_largest_of_long_rows_are_found_without_sorting(dtype: Any, k: int) -> None:
    x = (np.random.default_rng(0).standard_normal((5, 300)) * 4).astype(dtype)  # with many ties
    order = np.argsort(-x.astype(np.float64), -1, kind="stable")[:, :k]
    values, places = tf.math.top_k(x, k)
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64])
def test_distinct_numbers_of_a_small_range(dtype: Any) -> None:
    x = np.random.default_rng(0).integers(0, 90, 1000).astype(dtype)
    y, places, counts = tf.unique_with_counts(x)
    first = sorted({v: int(np.argmax(x == v)) for v in x.tolist()}.items(), key=lambda p: p[1])
    np.testing.assert_array_equal(y, [v for v, _ in first])
    np.testing.assert_array_equal(y.numpy()[places.numpy()], x)
    np.testing.assert_array_equal(counts, [np.sum(x == v) for v, _ in first])


def test_many_floats_become_whole_numbers_as_few_do() -> None:
    x = np.array([1.9, -1.9, 3e9, -3e9, np.nan, np.inf] * 20, np.float32)
    for dtype in (tf.int8, tf.int32, tf.int64):
        one_by_one = [tf.cast(v, dtype).numpy() for v in x]
        np.testing.assert_array_equal(tf.cast(x, dtype), one_by_one)
    np.testing.assert_array_equal(tf.cast(x[:2].repeat(50), tf.int16), [1] * 50 + [-1] * 50)
