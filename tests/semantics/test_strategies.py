"""Strategies with one replica, as TensorFlow has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.semantics.api import tf

d = tf.distribute


def test_without_a_strategy() -> None:
    assert not d.has_strategy()
    assert not d.in_cross_replica_context()
    assert d.get_strategy().num_replicas_in_sync == 1
    assert d.get_replica_context() is not None
    with d.get_strategy().scope():
        assert not d.has_strategy()


@pytest.mark.parametrize("make", [d.OneDeviceStrategy, lambda name: d.MirroredStrategy([name])])
def test_a_strategy_for_one_device(make: Any) -> None:
    strategy = make("/cpu:0")
    with strategy.scope():
        assert d.has_strategy()
        assert d.get_strategy() is strategy
        assert d.in_cross_replica_context()
        assert d.get_replica_context() is None
        v = tf.Variable(2.0)

    def step(x: Any) -> Any:
        assert d.get_replica_context() is not None
        assert not d.in_cross_replica_context()
        v.assign_add(x)
        return v * 2.0

    assert float(strategy.run(step, args=(tf.constant(1.0),))) == 6.0
    assert not d.has_strategy()
    assert float(strategy.reduce("SUM", tf.constant(3.0), axis=None)) == 3.0
    assert float(strategy.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0)) == 2.0
    assert len(strategy.experimental_local_results(tf.constant(1.0))) == 1


def test_a_function_run_by_a_strategy() -> None:
    strategy = d.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        w = tf.Variable([1.0, 2.0])

    @tf.function
    def train(x: Any) -> Any:
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * x)
            w.assign_sub(tape.gradient(loss, w))
            return loss

        return strategy.reduce(d.ReduceOp.SUM, strategy.run(step, args=(x,)), axis=None)

    data = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices(np.ones((4, 2), np.float32)).batch(2)
    )
    assert [float(train(x[0])) for x in data] == [3.0, 1.0]


def test_code_that_looks_for_a_tpu_goes_on_without():
    try:
        tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(tpu)
        tf.tpu.experimental.initialize_tpu_system(tpu)
        strategy = tf.distribute.TPUStrategy(tpu)
    except ValueError:
        strategy = tf.distribute.get_strategy()
    assert strategy.num_replicas_in_sync == 1
    assert tf.distribute.OneDeviceStrategy("CPU:0").cluster_resolver is None
    with pytest.raises(ValueError, match="TPU"):
        tf.distribute.cluster_resolver.TPUClusterResolver.connect("")


def test_set_up_of_devices_is_accepted():
    tf.debugging.set_log_device_placement(True)
    assert tf.debugging.get_log_device_placement() is True
    tf.debugging.set_log_device_placement(False)
