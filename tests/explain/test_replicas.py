"""What the doctor says of programs for several replicas, eager and in functions."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import wengert as tf
from wengert.explain import doctor


@pytest.fixture(autouse=True)
def four_logical_cpus() -> Iterator[None]:
    cpu = tf.config.list_physical_devices("CPU")[0]
    shown = [tf.config.LogicalDeviceConfiguration()] * 4
    tf.config.set_logical_device_configuration(cpu, shown)
    yield
    tf.config.set_logical_device_configuration(cpu, None)


def rows(batch: int = 8) -> Any:
    return tf.data.Dataset.from_tensor_slices(tf.ones([24, 3])).batch(batch)


def codes(program: Any, traced: bool) -> list[str]:
    strategy = tf.distribute.MirroredStrategy()
    run = lambda fn: lambda x: strategy.run(fn, args=(x,))
    with doctor() as found:
        program(strategy, (lambda fn: tf.function(run(fn))) if traced else run)
    return [e.code for e in found.report()]


@pytest.mark.parametrize("traced", [False, True])
def test_batches_that_are_not_split(traced: bool) -> None:
    def program(strategy: Any, run: Any) -> None:
        step = run(lambda x: x * 2.0)
        for x in rows():
            step(x)

    assert codes(program, traced) == ["WG904"]


WAYS: dict[str, Any] = {
    "loop": lambda step, rows: _looped(step, rows),
    "loop with an inner function": lambda step, rows: _looped(tf.function(step), rows),
    "iterator": lambda step, rows: tf.function(lambda it: step(next(it)))(iter(rows)),
    "optional": lambda step, rows: tf.function(
        lambda it: step(it.get_next_as_optional().get_value())
    )(iter(rows)),
}


def _looped(step: Any, rows: Any) -> None:
    @tf.function
    def epoch() -> None:
        for x in rows:
            step(x)

    epoch()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("distributed", [False, True])
def test_batches_that_a_function_asks_for(way: str, distributed: bool) -> None:
    def program(strategy: Any, run: Any) -> None:
        with strategy.scope():
            total = tf.Variable([0.0] * 3, aggregation=tf.VariableAggregation.SUM)
        step = run(lambda x: total.assign_add(tf.reduce_sum(x, 0)))
        WAYS[way](step, strategy.experimental_distribute_dataset(rows()) if distributed else rows())

    assert codes(program, False) == ([] if distributed else ["WG904"])


def test_one_replica_may_have_it_all() -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    step = lambda x: strategy.run(lambda x: x * 2.0, args=(x,))
    with doctor() as found:
        _looped(step, rows())
        for x in rows():
            step(x)
    assert found.report().codes == []


@pytest.mark.parametrize("traced", [False, True])
def test_batches_that_do_not_divide(traced: bool) -> None:
    def program(strategy: Any, run: Any) -> None:
        step = run(lambda x: x * 2.0)
        for x in strategy.experimental_distribute_dataset(rows(6)):
            step(x)

    assert codes(program, traced) == ["WG903"]


def test_a_last_batch_that_does_not_divide_is_nothing_to_tell() -> None:
    def program(strategy: Any, run: Any) -> None:
        step = run(lambda x: x * 2.0)
        for x in strategy.experimental_distribute_dataset(rows(20)):
            step(x)

    assert codes(program, False) == []


# A loss of the rows' losses, and whether the sum of its gradients is too large.
LOSSES: dict[str, tuple[Any, bool]] = {
    "mean": (tf.reduce_mean, True),
    "mean and penalty": (lambda x: tf.reduce_mean(x) + 0.1, True),
    "scaled mean": (lambda x: tf.reduce_mean(x) * 0.5, True),
    "mean by replicas": (lambda x: tf.reduce_mean(x) / 4.0, False),
    "average": (lambda x: tf.nn.compute_average_loss(x, global_batch_size=8), False),
    "sum": (tf.reduce_sum, False),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_means_of_one_replica(name: str, traced: bool) -> None:
    loss, is_wrong = LOSSES[name]

    def program(strategy: Any, run: Any) -> None:
        with strategy.scope():
            w = tf.Variable([1.0, 2.0, 3.0])

        def step(x: Any) -> None:
            with tf.GradientTape() as tape:
                y = loss(tf.linalg.matvec(x, w) ** 2)
            context: Any = tf.distribute.get_replica_context()
            w.assign_sub(0.01 * context.all_reduce("SUM", tape.gradient(y, w)))

        whole = run(step)
        for x in strategy.experimental_distribute_dataset(rows()):
            whole(x)

    assert codes(program, traced) == (["WG905"] if is_wrong else [])


def test_a_mean_of_gradients_is_right() -> None:
    def program(strategy: Any, run: Any) -> None:
        with strategy.scope():
            w = tf.Variable([1.0, 2.0, 3.0])

        def step(x: Any) -> None:
            with tf.GradientTape() as tape:
                y = tf.reduce_mean(tf.linalg.matvec(x, w) ** 2)
            context: Any = tf.distribute.get_replica_context()
            w.assign_sub(0.01 * context.all_reduce("MEAN", tape.gradient(y, w)))

        whole = run(step)
        for x in strategy.experimental_distribute_dataset(rows()):
            whole(x)

    assert codes(program, False) == []


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_keras_does_it_right() -> None:
    keras: Any = tf.keras

    def program(strategy: Any, run: Any) -> None:
        with strategy.scope():
            model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
            model.compile("adam", "mse", metrics=["mae"])
        x = tf.ones([24, 3]).numpy()
        model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0)
        model.evaluate(x, x[:, :1], batch_size=8, verbose=0)
        model.predict(x, batch_size=8, verbose=0)

    assert [c for c in codes(program, False) if c.startswith("WG9")] == []


def test_a_batch_that_does_not_divide_has_a_code() -> None:
    with pytest.raises(ValueError, match="Choose a multiple") as caught:
        tf.distribute.InputContext(1, 0, 4).get_per_replica_batch_size(9)
    assert getattr(caught.value, "code", "") == "WG903"
