"""Names that Keras and few others use: raw operations, eight-bit floats, decoders, test cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.semantics.api import tf

raw = tf.raw_ops


def test_bucketize() -> None:
    x = tf.constant([[1.0, 0.5], [3.0, 2.0]])
    found = raw.Bucketize(input=x, boundaries=[1.0, 2.0])
    assert found.dtype == tf.int32
    assert found.numpy().tolist() == [[1, 0], [2, 2]]
    assert raw.Bucketize(input=tf.constant([1, 5]), boundaries=[1.5]).numpy().tolist() == [0, 1]


def test_unique_slices() -> None:
    y, places, counts = raw.UniqueWithCountsV2(x=[[3, 1], [2, 2], [3, 1]], axis=[0])
    assert y.numpy().tolist() == [[3, 1], [2, 2]]
    assert places.numpy().tolist() == [0, 1, 0]
    assert counts.numpy().tolist() == [2, 1]
    y, places = raw.UniqueV2(x=[[3, 1, 3], [2, 2, 2]], axis=[1])
    assert y.numpy().tolist() == [[3, 1], [2, 2]]


def test_raw_operations_take_keywords_only() -> None:
    with pytest.raises(TypeError):
        raw.Bucketize([1.0], [1.0])


def test_eight_bit_floats() -> None:
    kind = tf.as_dtype("float8_e4m3fn")
    assert kind.is_floating
    assert not kind.is_numeric
    assert (float(kind.max), kind.size, kind.as_datatype_enum) == (448.0, 1, 25)
    assert tf.as_dtype("float8_e5m2").as_datatype_enum == 24
    x = tf.cast(tf.constant([1.0, 500.0, 0.1]), kind)
    np.testing.assert_array_equal(tf.cast(x, tf.float32).numpy(), [1.0, np.nan, 0.1015625])
    assert tf.concat([x, x], 0).shape == (6,)
    assert tf.constant([1.0, 2.0], kind).dtype == kind
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.NotFoundError)):
        x + x


def test_select() -> None:
    np_ = tf.experimental.numpy
    found = np_.select(
        [tf.constant([True, False]), tf.constant([True, True])],
        [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])],
        default=0.0,
    )
    assert found.numpy().tolist() == [1.0, 4.0]
    assert float(np_.finfo(tf.float32).eps) == float(np.finfo(np.float32).eps)


def test_while_loops_leave_python_numbers_alone_when_eager() -> None:
    i, total = tf.while_loop(
        lambda i, total: i < 3, lambda i, total: (i + 1, total + i), (0, np.array(0))
    )
    assert (i.dtype, total.dtype, int(total)) == (tf.int32, tf.int64, 3)


def test_map_fn_over_sparse_rows() -> None:
    rows = tf.sparse.from_dense([[1.0, 2.0], [0.0, 3.0]])

    def f() -> Any:
        return tf.map_fn(
            lambda pair: tf.sparse.to_dense(pair[0]) + pair[1],
            (rows, tf.ones([2, 2])),
            fn_output_signature=tf.float32,
        )

    assert f().numpy().tolist() == tf.function(f)().numpy().tolist() == [[2.0, 3.0], [1.0, 4.0]]


def test_branches_may_number_rows_differently() -> None:
    @tf.function
    def f(which: Any) -> Any:
        return tf.cond(
            which,
            lambda: tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2])),
            lambda: tf.IndexedSlices(
                tf.ones([1, 2]), tf.constant([1], tf.int64), tf.constant([3, 2])
            ),
        )

    found = f(tf.constant(False))
    assert found.indices.dtype == tf.int64
    assert found.indices.numpy().tolist() == [1]


def test_a_test_case() -> None:
    class Case(tf.test.TestCase):
        def runTest(self) -> None:
            self.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0])
            self.assertAllClose({"a": [tf.constant(1.0)]}, {"a": [1.0]})
            self.assertNotAllClose(1.0, 2.0)
            self.assertAllEqual(tf.constant([1, 2]), [1, 2])
            assert self.evaluate(tf.constant(3)) == 3
            self.assertAllEqual(tf.constant([1]), [2])

    result = Case().run()
    assert result is not None
    assert len(result.failures) == 1
    assert not result.errors
