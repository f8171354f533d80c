"""Keras under `MirroredStrategy`: as on TensorFlow's, and a step of four replicas as that of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.keras_strategy_cases import CASES, TARGET, X, Y, cross_entropy, summary, trained

pytestmark = [
    pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed"),
    # The variables of Keras have an `__array__` as NumPy 1 wanted it.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
ANSWERS: dict[str, Any] = json.loads(TARGET.read_text())


@pytest.fixture(autouse=True)
def four_logical_cpus() -> Iterator[None]:
    cpu = tf.config.list_physical_devices("CPU")[0]
    shown = [tf.config.LogicalDeviceConfiguration()] * 4
    tf.config.set_logical_device_configuration(cpu, shown)
    yield
    tf.config.set_logical_device_configuration(cpu, None)
    tf.keras.mixed_precision.set_global_policy("float32")
    tf.keras.backend.clear_session()


def close(found: Any, want: Any, tolerance: float = 1e-3) -> None:
    assert sorted(found) == sorted(want)
    for name in want:
        np.testing.assert_allclose(found[name], want[name], tolerance, tolerance / 10, err_msg=name)


# TensorFlow itself fails in some, for conditions and loops within a replica.
@pytest.mark.parametrize("name", [name for name in CASES if "error" not in ANSWERS.get(name, {})])
def test_four_replicas_learn_what_they_learn_on_tensorflow(name: str) -> None:
    answer = ANSWERS[name]
    found = summary(*trained(tf, tf.keras, name, 4))
    close(found["history"], answer["history"])
    np.testing.assert_allclose(found["weights"], answer["weights"], 1e-3, 1e-4)


# Of the optimizers some do; TensorFlow's answers tell of all.
ALIKE = [n for n, case in CASES.items() if case.alike and n[-4:] not in ("elta", "grad", "amax")]


@pytest.mark.parametrize("name", ALIKE)
def test_four_replicas_learn_what_one_device_learns(name: str) -> None:
    (one, first), (four, second) = (trained(tf, tf.keras, name, n) for n in (0, 4))
    for a, b in zip(one, four, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5)
    close(second, first, 1e-4)


def test_every_case_is_recorded() -> None:
    assert list(ANSWERS) == list(CASES)


def built(replicas: int, **options: Any) -> Any:
    keras = tf.keras
    keras.utils.set_random_seed(0)
    names = [f"CPU:{k}" for k in range(replicas)]
    strategy = tf.distribute.MirroredStrategy(names) if replicas else tf.distribute.get_strategy()
    with strategy.scope():
        layers = keras.layers
        inner = [layers.Input((6,)), layers.Dense(8, "relu"), *options.pop("inner", [])]
        model = keras.Sequential([*inner, layers.Dense(3)])
        model.compile("adam", cross_entropy(keras), **options)
    return model


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision(policy: str) -> None:
    tf.keras.mixed_precision.set_global_policy(policy)
    models = [built(n) for n in (0, 4)]
    for model in models:
        model.fit(X, Y, batch_size=8, shuffle=False, verbose=0)
    for a, b in zip(*(m.get_weights() for m in models), strict=True):
        np.testing.assert_allclose(a, b, rtol=3e-2, atol=3e-2)
    assert type(models[0].optimizer) is type(models[1].optimizer)


def test_replicas_skip_a_step_together_if_the_gradients_of_one_are_not_finite() -> None:
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = built(4)
    x = X[:8].copy()
    x[-1] = np.inf  # in the part of the last replica
    before = model.get_weights()
    model.fit(x, Y[:8], batch_size=8, shuffle=False, verbose=0)
    for a, b in zip(before[:4], model.get_weights()[:4], strict=True):
        np.testing.assert_array_equal(a, b)


def test_callbacks(tmp_path: Any) -> None:
    keras, model = tf.keras, built(4)
    seen: list[int] = []
    callbacks = [
        keras.callbacks.EarlyStopping("loss", patience=1, min_delta=100.0),
        keras.callbacks.ModelCheckpoint(str(tmp_path / "m.keras"), monitor="loss"),
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
        keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch)),
        keras.callbacks.TerminateOnNaN(),
        keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
    ]
    history = model.fit(X, Y, batch_size=8, epochs=5, verbose=0, callbacks=callbacks)
    assert len(history.epoch) == 2
    assert seen == [0, 1, 2, 3, 4] * 2
    loaded = keras.models.load_model(str(tmp_path / "m.keras"))
    a, b = (m.predict(X, verbose=0) for m in (model, loaded))
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_saved_on_four_and_loaded_on_two_and_none(tmp_path: Any) -> None:
    model = built(4)
    model.fit(X, Y, batch_size=8, verbose=0, shuffle=False)
    model.save(tmp_path / "model.keras")
    further = []
    for replicas in (0, 2, 4):
        names = [f"CPU:{k}" for k in range(replicas)]
        strategy = tf.distribute.MirroredStrategy(names or ["CPU:0"])
        with strategy.scope():
            loaded: Any = tf.keras.models.load_model(tmp_path / "model.keras")
        loaded.fit(X, Y, batch_size=8, verbose=0, shuffle=False)
        further.append(loaded.get_weights())
    for other in further[1:]:
        for a, b in zip(further[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_dropout_repeats_by_seed() -> None:
    def run() -> Any:
        model = built(4, inner=[tf.keras.layers.Dropout(0.5, seed=1)])
        return model.fit(X, Y, batch_size=8, shuffle=False, verbose=0).history["loss"]

    assert run() == run()
