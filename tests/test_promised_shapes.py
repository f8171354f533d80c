"""Values of unknown sizes that do not fit what they are meant for are refused as the function runs.

Eagerly, on the host and in compiled code alike; what they were meant for stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

Invalid = tf.errors.InvalidArgumentError
RAGGED = tf.ragged.constant([[1.0, 2.0], [3.0]])
SHAPES: list[Any] = [(3, 3), (1, 2), (2,), ()]


def two_rows(x: Any) -> Any:
    return tf.IndexedSlices(x, tf.constant([0, 1]))


UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "assign": lambda v, x: v.assign(x),
    "assign_add": lambda v, x: v.assign_add(x),
    "assign_sub": lambda v, x: v.assign_sub(x),
    "rows": lambda v, x: v.assign_sub(two_rows(x)),
    "scatter_update": lambda v, x: v.scatter_update(two_rows(x)),
    "scatter_nd_update": lambda v, x: v.scatter_nd_update([[0], [1], [0]], x),
    "scatter_nd_add": lambda v, x: v.scatter_nd_add([[0, 0]], x),
}


def ways(f: Callable[..., Any], rank: int) -> dict[str, Callable[..., Any]]:
    """The function eagerly, and with sizes or the rank unknown, on the host and compiled."""
    made = {"eager": f}
    for name, shape in (("sizes", [None] * rank), ("rank", None)):
        for jit in (None, True):
            spec = [tf.TensorSpec(shape)]
            made[f"{name} {jit}"] = tf.function(f, input_signature=spec, jit_compile=jit)
    return made


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", UPDATES)
def test_a_variable_keeps_its_shape(name: str, shape: Any) -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    update = UPDATES[name]
    for way, f in ways(lambda x: update(v, x), len(shape)).items():
        with pytest.raises((Invalid, ValueError)):
            f(tf.ones(shape))
        np.testing.assert_array_equal(v, [[1.0, 2.0], [3.0, 4.0]], way)


def test_what_fits_is_taken() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    for way, f in ways(lambda x: (v.assign(x), v.assign_add(x), v.assign_sub(x))[0], 2).items():
        f(tf.eye(2))
        np.testing.assert_array_equal(v, np.eye(2), way)


@pytest.mark.parametrize("jit", [None, True])
def test_a_variable_of_open_sizes_takes_changes_of_its_present_shape(jit: bool | None) -> None:
    v = tf.Variable([1.0, 2.0], shape=[None])
    add = tf.function(v.assign_add, jit_compile=jit)
    np.testing.assert_array_equal(add(tf.ones([2])), [2.0, 3.0])
    with pytest.raises(Invalid, match=r"assign_add: the value's shape \(1,\) does not fit"):
        add(tf.ones([1]))
    v.assign(tf.ones([3]))
    np.testing.assert_array_equal(add(tf.ones([3])), [2.0, 2.0, 2.0])


def test_gradients_pass_the_check() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            v.assign(x * x)
            rows = tf.map_fn(lambda a: a * x, x, fn_output_signature=tf.TensorSpec([2]))
            y = tf.reduce_sum(rows)
        return tape.gradient(y, x)

    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [6.0, 6.0])
    np.testing.assert_array_equal(v, [1.0, 4.0])


def _element(x: Any) -> Any:
    return tf.TensorArray(tf.float32, 1, element_shape=[3]).write(0, x).stack()


def _rows(x: Any) -> Any:
    return tf.TensorArray(tf.float32, 2, element_shape=[3]).unstack([x, x]).stack()


def _mapped(x: Any) -> Any:
    return tf.map_fn(lambda r: x + r, tf.ones([2]), fn_output_signature=tf.TensorSpec([3]))


@pytest.mark.parametrize("f", [_element, _rows, _mapped])
def test_elements_have_the_shape_that_was_said(f: Callable[..., Any]) -> None:
    for way, g in ways(f, 1).items():
        assert g(tf.ones([3])).shape[1:] == [3], way
        with pytest.raises((Invalid, ValueError), match=r"\(3,\)"):
            g(tf.ones([2]))


def test_ragged_rows_take_as_many_values_as_before() -> None:
    for f in (RAGGED.with_values, RAGGED.with_flat_values):
        for way, g in ways(f, 1).items():
            if "rank" in way:
                continue
            assert g(tf.ones([3])).to_list() == [[1.0, 1.0], [1.0]], way
            for bad in (2, 4, 0):
                with pytest.raises(Invalid, match=r"as many values|the rows take 3 values"):
                    g(tf.ones([bad]))


WRONG: dict[str, tuple[Callable[..., Any], Any]] = {
    "tensor_scatter_nd_update": (
        lambda x: tf.tensor_scatter_nd_update(tf.zeros([2, 3]), [[0]], x), [1, 1]),
    "tensor_scatter_nd_max": (
        lambda x: tf.tensor_scatter_nd_max(tf.zeros([2, 3]), [[0], [1]], x), [1, 3]),
    "scatter_nd": (lambda x: tf.scatter_nd([[0], [1]], x, [4, 3]), [1, 3]),
    "unsorted_segment_sum": (lambda x: tf.math.unsorted_segment_sum(x, [0, 1, 0], 2), [2, 3]),
    "concat": (lambda x: tf.concat([x, tf.ones([1, 3])], 0), [2, 2]),
    "where": (lambda x: tf.where(x > 0.0, x, tf.ones([2, 3])), [3, 3]),
    "matmul": (lambda x: tf.matmul(x, tf.ones([3, 2])), [2, 1]),
    "set_diag": (lambda x: tf.linalg.set_diag(tf.ones([2, 2, 2]), x), [2, 1]),
    "solve": (lambda x: tf.linalg.solve(tf.eye(2), x), [1, 2]),
    "bias_add": (lambda x: tf.nn.bias_add(x, [1.0, 2.0, 3.0]), [2, 1]),
    "conv1d": (lambda x: tf.nn.conv1d(x[None], tf.ones([1, 3, 1]), 1, "SAME"), [2, 1]),
    "cross entropy": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1], x), [1, 3]),
    "reverse_sequence": (lambda x: tf.reverse_sequence(x, [1, 2], 1), [1, 3]),
    "stack": (lambda x: tf.stack([x, tf.ones([2, 3])]), [1, 3]),
    "batch_normalization": (
        lambda x: tf.nn.batch_normalization(tf.ones([2, 3]), x[0], [1.0], None, None, 0.1), [2, 2]),
    "dynamic_stitch": (lambda x: tf.dynamic_stitch([[0, 1], [2]], [x, tf.ones([1, 3])]), [1, 3]),
    "boolean_mask": (lambda x: tf.boolean_mask(x, [True, True]), [1, 3]),
    "sparse matmul": (
        lambda x: tf.sparse.sparse_dense_matmul(tf.sparse.from_dense([[1.0, 2.0]]), x), [1, 2]),
    "extract_glimpse": (
        lambda x: tf.image.extract_glimpse(tf.ones([2, 5, 4, 3]), [2, 2], x), [2, 3]),
    "tridiagonal_matmul": (
        lambda x: tf.linalg.tridiagonal_matmul(tf.ones([3, 4]), x, "compact"), [1, 2]),
    "tridiagonal_solve": (lambda x: tf.linalg.tridiagonal_solve(x, [1.0, 2.0]), [4, 2]),
    "lu_solve": (lambda x: tf.linalg.lu_solve(tf.eye(3), [0, 1, 2], x), [4, 2]),
    "separable_conv2d": (
        lambda x: tf.nn.separable_conv2d(
            tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), x, [1] * 4, "SAME"), [2, 1, 2, 3]),
    "depthwise_conv2d": (
        lambda x: tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 4, 2]), [1] * 4, "SAME"), [1, 3, 3, 1]),
    "softmax cross entropy": (
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 3]), x), [2, 1]),
    "confusion_matrix": (
        lambda x: tf.math.confusion_matrix([0, 1, 2], tf.cast(x, tf.int32), 3), [1]),
    "weights of a confusion_matrix": (
        lambda x: tf.math.confusion_matrix([0, 1], [0, 1], 3, weights=x), [1]),
    "gather in batches": (lambda x: tf.gather(x, [[0, 1]], batch_dims=1), [3, 2]),
    "gather_nd in batches": (lambda x: tf.gather_nd(x, [[0]], batch_dims=1), [3, 2]),
    "fake_quant": (
        lambda x: tf.quantization.fake_quant_with_min_max_vars_per_channel(
            tf.ones([2, 3]), -x, x), [1]),
    "histogram_fixed_width": (lambda x: tf.histogram_fixed_width([1.0], x + [0.0, 1.0, 2.0]), [1]),
    "sparse matrix": (
        lambda x: tf.sparse.sparse_dense_matmul(tf.sparse.from_dense([[1.0, 2.0]]), x), [3, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_operations_of_unknown_sizes_broadcast_where_eager_ones_do(name: str) -> None:
    f, shape = WRONG[name]
    x = tf.ones(shape)
    for way, g in ways(f, len(shape)).items():
        if way == "rank True" or (name == "boolean_mask" and way == "sizes True"):
            continue  # refused for what XLA cannot do
        try:
            g(x)
        except (Invalid, ValueError):
            continue
        pytest.fail(f"{name}, {way}: {shape} is taken")


@pytest.mark.parametrize("jit", [None, True])
def test_ragged_rows_of_different_lengths_do_not_meet_in_functions(jit: bool | None) -> None:
    def cut(*lengths: int) -> Any:
        return tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], list(lengths))

    spec = [tf.RaggedTensorSpec([None, None])] * 2
    for f in (
        lambda x, y: x + y,
        lambda x, y: tf.ragged.map_flat_values(tf.maximum, x, y),
        lambda x, y: tf.where(x > 1.0, x, y),
        lambda x, y: (x + 1.0) * tf.exp(y),
    ):
        g = tf.function(f, jit_compile=jit, input_signature=spec)
        for lengths in ((2, 1), (0, 3), (3, 0)):
            x = cut(*lengths)
            pair: Any = g(x, x + 0.0), f(x, x)
            got, want = pair
            np.testing.assert_array_equal(got.row_splits, want.row_splits)
            np.testing.assert_allclose(got.values, want.values, 1e-5)
        for bad in ((1, 2), (2, 0, 1), (3,)):
            for way in (f, g):
                with pytest.raises((Invalid, ValueError), match=r"rows|values"):
                    way(cut(2, 1), cut(*bad))
