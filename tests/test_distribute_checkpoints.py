"""What four replicas wrote is restored on any number of them, or on none."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

import wengert as tf

ON_READ = tf.VariableSynchronization.ON_READ
Aggregation = tf.VariableAggregation


@pytest.fixture(autouse=True)
def eight_logical_cpus() -> Iterator[None]:
    cpu = tf.config.list_physical_devices("CPU")[0]
    shown = [tf.config.LogicalDeviceConfiguration()] * 8
    tf.config.set_logical_device_configuration(cpu, shown)
    yield
    tf.config.set_logical_device_configuration(cpu, None)


def strategy_of(replicas: int) -> Any:
    if not replicas:
        return tf.distribute.get_strategy()
    return tf.distribute.MirroredStrategy([f"CPU:{k}" for k in range(replicas)])


class Model(tf.Module):
    """A variable of each kind."""

    def __init__(self) -> None:
        super().__init__()
        own = {"synchronization": ON_READ, "trainable": False}
        self.w = tf.Variable([1.0, 2.0])
        self.total = tf.Variable(0.0, aggregation=Aggregation.SUM, **own)
        self.mean = tf.Variable(0.0, aggregation=Aggregation.MEAN, **own)
        self.first = tf.Variable(0.0, aggregation=Aggregation.ONLY_FIRST_REPLICA, **own)
        self.count = tf.Variable(0, trainable=False, aggregation=Aggregation.ONLY_FIRST_REPLICA)

    def step(self) -> None:
        context: Any = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0
        self.w.assign_add(context.all_reduce("SUM", tf.fill([2], number)) / 10.0)
        for v in (self.total, self.mean, self.first):
            v.assign_add(number)
        self.count.assign_add(1)

    def shown(self) -> list[Any]:
        kinds = (self.w, self.total, self.mean, self.first, self.count)
        return [v.numpy().tolist() for v in kinds]


def made(replicas: int) -> tuple[Any, Model]:
    strategy = strategy_of(replicas)
    with strategy.scope():
        return strategy, Model()


@pytest.fixture
def saved(tmp_path: Any) -> tuple[str, list[Any]]:
    strategy, model = made(4)
    strategy.run(model.step)
    strategy.run(model.step)
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "at"))
    assert model.shown() == [[3.0, 4.0], 20.0, 5.0, 2.0, 2]
    return path, model.shown()


# What one step adds to each, by the number of replicas: the sum and the mean of 1, 2, …
@pytest.mark.parametrize(
    ("replicas", "sum_", "mean"), [(0, 1, 1), (1, 1, 1), (2, 3, 1.5), (4, 10, 2.5), (8, 36, 4.5)]
)
def test_restored_and_trained_further(
    saved: tuple[str, list[Any]], replicas: int, sum_: float, mean: float
) -> None:
    path, values = saved
    strategy, model = made(replicas)
    tf.train.Checkpoint(model=model).restore(path).assert_consumed()
    assert model.shown() == values
    strategy.run(model.step)
    w, total, average, first, count = model.shown()
    assert w == pytest.approx([3.0 + sum_ / 10, 4.0 + sum_ / 10])
    assert (total, average, first, count) == (20.0 + sum_, 5.0 + mean, 3.0, 3)


def test_restored_before_the_model_is_made(saved: tuple[str, list[Any]]) -> None:
    path, values = saved
    checkpoint: Any = tf.train.Checkpoint()
    checkpoint.restore(path)
    checkpoint.model = made(2)[1]
    assert checkpoint.model.shown() == values


def test_saved_without_a_strategy(tmp_path: Any) -> None:
    path = tf.train.Checkpoint(v=tf.Variable(3.0)).save(str(tmp_path / "at"))
    strategy = strategy_of(4)
    with strategy.scope():
        v = tf.Variable(0.0)
        tf.train.Checkpoint(v=v).restore(path)
    found = strategy.reduce("SUM", strategy.run(lambda: v + 0.0), axis=None)
    assert float(found) == 12.0


def test_saved_models_and_copies(tmp_path: Any) -> None:
    strategy, model = made(4)
    strategy.run(model.step)
    f = tf.function(lambda x: model.w * x + model.total, input_signature=[tf.TensorSpec([2])])
    model.f = f  # type: ignore[attr-defined]
    tf.saved_model.save(model, str(tmp_path / "model"))
    loaded: Any = tf.saved_model.load(str(tmp_path / "model"))
    assert loaded.f(tf.ones([2])).numpy().tolist() == pytest.approx([12.0, 13.0])
    with strategy.scope():
        other = copy.deepcopy(model.total)
    model.total.assign(0.0)
    assert float(other) == 10.0
