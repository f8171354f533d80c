"""Per-replica values: stacked where replicas look alike, leaves of nests, arguments of functions."""

import numpy as np
import pytest

import wengert as tf
from wengert.distribute.values import PerReplica, PerReplicaSpec, regroup, select


def _sparse(column):
    return tf.sparse.from_dense(np.eye(3, dtype=np.float32)[column : column + 1])


def _slices(row):
    return tf.IndexedSlices(tf.ones([1, 2]) * (row + 1.0), tf.constant([row]), tf.constant([3, 2]))


def _ragged(row):
    return tf.ragged.constant([[1.0] * (row + 1)])


def _plain(value):
    return tf.convert_to_tensor(value).numpy().tolist() if isinstance(value, tf.IndexedSlices) else (
        tf.sparse.to_dense(value) if isinstance(value, tf.SparseTensor) else value
    ).numpy().tolist()  # fmt: skip


KINDS = {
    "tensor": lambda k: tf.constant([k, k + 1.0]),
    "uneven": lambda k: tf.zeros([k, 2]),
    "dtypes": lambda k: tf.zeros([2], tf.int32 if k else tf.float32),
    "sparse": _sparse,
    "ragged": _ragged,
    "slices": _slices,
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_pass_through_functions(kind):
    value = PerReplica([KINDS[kind](k) for k in range(3)])
    alike = kind in ("tensor", "sparse", "slices")
    assert (value.stacked() is not None) == alike
    result = tf.function(lambda x: x)(value)
    assert isinstance(result, PerReplica) and len(result) == 3
    wanted = [_plain(v) for v in value.values]
    assert (
        [_plain(v) for v in result.values] == wanted == [_plain(KINDS[kind](k)) for k in range(3)]
    )


def test_a_trace_serves_values_that_look_alike():
    traces = []

    @tf.function
    def total(x):
        traces.append(x)
        return tf.add_n(list(x.values))

    rows = PerReplica.of_rows(tf.reshape(tf.range(8.0), [4, 2]))
    assert total(rows).numpy().tolist() == [12.0, 16.0]
    assert total(PerReplica([tf.ones([2])] * 4)).numpy().tolist() == [4.0, 4.0]
    assert len(traces) == 1
    total(PerReplica([tf.ones([2])] * 3))
    assert len(traces) == 2


def test_a_value_is_a_leaf():
    value = PerReplica.of_rows(tf.constant([1.0, 2.0]))
    assert tf.nest.flatten({"a": value}) == [value]
    parts = tf.nest.flatten(value, expand_composites=True)
    assert [float(p) for p in parts] == [1.0, 2.0]
    assert isinstance(value._type_spec, PerReplicaSpec)
    assert value._type_spec == PerReplicaSpec(tf.TensorSpec([]), tf.TensorSpec([]))
    assert repr(value).startswith("PerReplica:{\n  0: <tf.Tensor")


def test_a_value_is_no_tensor():
    value = PerReplica.of_rows(tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"strategy\.reduce"):
        tf.convert_to_tensor(value)


def test_select_and_regroup():
    one, two = tf.constant(1.0), tf.constant(2.0)
    value = regroup([one, two])
    assert select(value, 1) is two and select(one, 1) is one
    nested = regroup([{"a": one}, {"a": two}])
    assert [float(x) for x in nested["a"].values] == [1.0, 2.0]


@pytest.mark.parametrize("size", [2, None])
def test_a_signature_of_values(size):
    spec = PerReplicaSpec(*[tf.TensorSpec([size])] * 3)

    @tf.function(input_signature=[spec])
    def last(x):
        return x.values[-1] + 1.0

    assert last(PerReplica.of_rows(tf.zeros([3, 2]))).numpy().tolist() == [1.0, 1.0]
    if size is None:
        uneven = PerReplica([tf.zeros([2]), tf.zeros([2]), tf.zeros([1])])
        assert last(uneven).numpy().tolist() == [1.0]
    assert last.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="structure of `input_signature`"):
        last(tf.zeros([2]))
