"""Datasets for several replicas: what is split, without a copy, ahead of the step, and refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.distribute.distributed_dataset import datasets_from_function, distribute_dataset
from wengert.distribute.splitting import split
from wengert.distribute.values import PerReplica

INLINE = tf.distribute.InputOptions(experimental_fetch_to_device=False)


def numbers(element: Any) -> list[list[int]]:
    return [part.numpy().tolist() for part in element.values]


def test_equal_parts_share_the_memory_of_the_batch() -> None:
    batch = tf.constant(np.arange(24.0).reshape(8, 3))
    parts = split(batch, 4)
    stacked = parts.stacked()
    assert np.shares_memory(stacked.parts[0]._array, batch._array)
    assert [p.shape.as_list() for p in parts.values] == [[2, 3]] * 4


def test_unequal_parts_share_it_too() -> None:
    batch = tf.constant(np.arange(5.0))
    parts = split(batch, 4).values
    assert [p.numpy().tolist() for p in parts] == [[0.0, 1.0], [2.0, 3.0], [4.0], []]
    assert all(np.shares_memory(p._array, batch._array) for p in parts[:3])


@pytest.mark.parametrize("replicas", [2, 3, 8])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 24])
def test_every_row_goes_to_one_replica_in_order(rows: int, replicas: int) -> None:
    parts = split(tf.range(rows), replicas).values
    assert [n for p in parts for n in p.numpy().tolist()] == list(range(rows))
    assert max(len(p) for p in parts) == -(-rows // replicas)


def test_nests_and_missing_leaves_keep_their_form() -> None:
    data = tf.data.Dataset.from_tensor_slices({"x": np.arange(8), "y": (np.ones((8, 2)),)})
    element = next(iter(distribute_dataset(data.batch(8), 4, None)))
    assert numbers(element["x"]) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert isinstance(element["y"], tuple)
    assert isinstance(element["y"][0], PerReplica)


def test_sparse_rows_are_split() -> None:
    rows = tf.sparse.from_dense(np.diag(np.arange(1, 6)))
    data = tf.data.Dataset.from_tensors(rows)
    element = next(iter(distribute_dataset(data, 4, None)))
    dense = [tf.sparse.to_dense(p).numpy().tolist() for p in element.values]
    assert [len(d) for d in dense] == [2, 2, 1, 0]
    assert [row for d in dense for row in d] == np.diag(np.arange(1, 6)).tolist()


def test_the_next_batch_is_made_while_a_step_runs() -> None:
    made: list[int] = []
    seen = threading.Event()

    def rows() -> Iterator[int]:
        for k in range(8):
            made.append(k)
            if k == 3:
                seen.set()
            yield k

    spec = tf.TensorSpec([], tf.int32)
    data = tf.data.Dataset.from_generator(rows, output_signature=spec).batch(2)
    iterator = iter(distribute_dataset(data, 2, None))
    assert numbers(next(iterator)) == [[0], [1]]
    assert seen.wait(10.0), made  # the second batch, which nobody has asked for
    inline = iter(distribute_dataset(data, 2, INLINE))
    made.clear()
    next(inline)
    assert made == [0, 1]


def test_one_replica_gets_the_batches_themselves() -> None:
    data = distribute_dataset(tf.data.Dataset.range(4).batch(2), 1, INLINE)
    assert [x.numpy().tolist() for x in data] == [[0, 1], [2, 3]]
    assert data.element_spec == tf.TensorSpec([None], tf.int64)


def test_an_error_in_one_element_leaves_the_others() -> None:
    def check(x: Any) -> Any:
        tf.debugging.assert_none_equal(x, tf.constant(2, tf.int64))
        return x

    data = tf.data.Dataset.range(6).map(check).batch(2)
    iterator = iter(distribute_dataset(data, 2, INLINE))
    assert numbers(next(iterator)) == [[0], [1]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)


def test_datasets_of_replicas_end_with_the_longest() -> None:
    options = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA
    )
    data = datasets_from_function(
        lambda c: tf.data.Dataset.range(2 + 2 * c.input_pipeline_id).batch(2), 2, options
    )
    assert [numbers(x) for x in data] == [[[0, 1], [0, 1]], [[], [2, 3]]]


def test_iterators_can_be_saved_and_restored(tmp_path: Any) -> None:
    data = distribute_dataset(tf.data.Dataset.range(12).batch(4), 2, INLINE)
    iterator = iter(data)
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "at"))
    wanted = numbers(next(iterator))
    other = iter(data)
    tf.train.Checkpoint(iterator=other).restore(path)
    assert numbers(next(other)) == wanted == [[4, 5], [6, 7]]


def test_elements_inside_functions() -> None:
    data = distribute_dataset(tf.data.Dataset.range(9).batch(4), 2, INLINE)

    @tf.function
    def rows(dataset: Any) -> Any:
        total = tf.constant(0, tf.int64)
        for x in dataset:
            total += tf.size(x.values[0], tf.int64) * 10 + tf.size(x.values[1], tf.int64)
        return total

    assert int(rows(data)) == 22 + 22 + 10


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: distribute_dataset([1, 2], 2, None), TypeError, "tf.data.Dataset is needed"),
        (
            lambda: distribute_dataset(tf.data.Dataset.range(4), 2, None),
            ValueError,
            r"an element without rows.*dataset.batch\(n\)",
        ),
        (
            lambda: distribute_dataset(
                distribute_dataset(tf.data.Dataset.range(4).batch(2), 2, None), 2, None
            ),
            ValueError,
            "distributed already",
        ),
        (lambda: datasets_from_function(lambda c: 3, 2, None), TypeError, "must return a tf.data"),
        (lambda: datasets_from_function(3, 2, None), TypeError, "is a function"),  # type: ignore[arg-type]
        (lambda: tf.distribute.DistributedDataset(3), TypeError, "experimental_distribute"),  # type: ignore[arg-type]
    ],
)
def test_what_is_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


# Devices.


@pytest.fixture
def four_cpus() -> Iterator[None]:
    cpu = tf.config.list_physical_devices("CPU")[0]
    shown = [tf.config.LogicalDeviceConfiguration()] * 4
    tf.config.set_logical_device_configuration(cpu, shown)
    yield
    tf.config.set_logical_device_configuration(cpu, None)


def full(*names: str) -> tuple[str, ...]:
    return tuple(f"/job:localhost/replica:0/task:0/device:{n}" for n in names)


def test_logical_devices_are_listed_and_named(four_cpus: None) -> None:
    assert [d.name for d in tf.config.list_logical_devices("CPU")][-1] == "/device:CPU:3"
    strategy = tf.distribute.OneDeviceStrategy("/cpu:2")
    assert strategy.extended.worker_devices == full("CPU:2")
    with tf.device("/CPU:3"):
        assert float(tf.function(lambda: tf.constant(2.0))()) == 2.0


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: tf.distribute.OneDeviceStrategy("CPU:4"), ValueError, "set_logical_device"),
        (lambda: tf.distribute.MirroredStrategy(["GPU:7"]), ValueError, "there is no device GPU:7"),
        (lambda: tf.distribute.MirroredStrategy(["foo"]), ValueError, 'named like "/GPU:0"'),
        (lambda: tf.distribute.MirroredStrategy("CPU:0"), TypeError, "list of names"),
        (lambda: tf.distribute.MirroredStrategy(["CPU:0"] * 2), ValueError, "CPU:0 twice"),
        (
            lambda: tf.distribute.MirroredStrategy(["CPU:0"], 3),  # type: ignore[arg-type]
            TypeError,
            "CrossDeviceOps",
        ),
        (
            lambda: tf.distribute.ParameterServerStrategy(None),
            NotImplementedError,
            "asynchronous.*MirroredStrategy",
        ),
        (tf.distribute.TPUStrategy, ValueError, "there is no TPU"),
    ],
)
def test_strategies_that_are_refused(
    make: Any, kind: type[Exception], text: str, four_cpus: None
) -> None:
    with pytest.raises(kind, match=text):
        make()


def test_cpus_that_nobody_counted_are_there() -> None:
    assert tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).num_replicas_in_sync == 2
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(ValueError, match="there is no device CPU:1"):
            tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    finally:
        tf.config.set_soft_device_placement(True)


@pytest.mark.parametrize("given", [[], 3, ["x"]])
def test_logical_configurations_that_are_refused(given: Any) -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    with pytest.raises((ValueError, TypeError)):
        tf.config.set_logical_device_configuration(cpu, given)
    assert len(tf.config.list_logical_devices("CPU")) == 1


def test_several_workers_are_refused_and_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:1"]}}')
    with pytest.raises(NotImplementedError, match="one process"):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_a_tpu_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SimpleNamespace(platform="tpu")
    monkeypatch.setattr("wengert.runtime.hardware.accelerators", lambda: {"TPU:0": device})
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    assert strategy.extended.worker_devices == full("TPU:0")
    assert strategy.cluster_resolver is resolver
    assert strategy.experimental_assign_to_logical_device(3, 0) == 3
    with pytest.raises(ValueError, match="one core"):
        strategy.experimental_assign_to_logical_device(3, 1)


def test_losses_count_replicas() -> None:
    losses = tf.constant([1.0, 3.0])
    assert float(tf.nn.compute_average_loss(losses)) == 2.0
    with (
        tf.distribute.OneDeviceStrategy("CPU:0").scope(),
        pytest.raises(RuntimeError, match=r"strategy\.run"),
    ):
        tf.nn.compute_average_loss(losses)
