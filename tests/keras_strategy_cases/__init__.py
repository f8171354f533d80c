"""Models that Keras trains on four replicas, and what they become on TensorFlow: `answers.json`.

`python -m tests.keras_strategy_cases` in an environment with TensorFlow and Keras records them
again. An answer is the mean and the root of the mean square of each weight, and the history.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TARGET = Path(__file__).with_name("answers.json")
REPLICAS = 4
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 6)).astype("float32")
Y = rng.integers(0, 3, 40)
IMAGES = rng.normal(size=(16, 8, 8, 1)).astype("float32")
WORDS = rng.integers(0, 10, (16, 5))
SETTINGS: dict[str, Any] = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0}

Made = Callable[[Any], Any]
Fit = Callable[[Any], Any]


class Case:
    """How a model is made, of the module `keras`, and how it is trained.

    `alike` says whether four replicas do the same step as one device: not where each clips its own
    gradients, normalises its own part of the batch, or takes the mean of fewer rows.
    """

    def __init__(self, make: Made, fit: Fit | None = None, alike: bool = True) -> None:
        self.make = make
        self.fit = fit or (lambda model: model.fit(X, Y, **SETTINGS).history)
        self.alike = alike


def cross_entropy(keras: Any, **options: Any) -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True, **options)


def dense(
    optimizer: Callable[[Any], Any] = lambda keras: keras.optimizers.SGD(0.1),
    inner: Callable[[Any], list[Any]] = lambda keras: [],
    metrics: Callable[[Any], list[Any]] = lambda keras: ["accuracy"],
    loss: Callable[[Any], Any] = cross_entropy,
    **options: Any,
) -> Made:
    """A model of two dense layers, with others between them."""

    def make(keras: Any) -> Any:
        layers = keras.layers
        hidden = [layers.Input((6,)), layers.Dense(8, "relu"), *inner(keras)]
        model = keras.Sequential([*hidden, layers.Dense(3)])
        model.compile(optimizer(keras), loss(keras), metrics=metrics(keras), **options)
        return model

    return make


def other(shape: Any, inner: Callable[[Any], list[Any]]) -> Made:
    """A model of other layers, and a dense one at its end."""

    def make(keras: Any) -> Any:
        layers = [keras.layers.Input(shape), *inner(keras.layers), keras.layers.Dense(3)]
        model = keras.Sequential(layers)
        model.compile(keras.optimizers.SGD(0.1), cross_entropy(keras))
        return model

    return make


def fitting(x: Any, y: Any = Y, **options: Any) -> Fit:
    return lambda model: model.fit(x, y[: len(x)], **(SETTINGS | options)).history


def binary(keras: Any) -> Any:
    model = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(1, "sigmoid")])
    kinds = [
        keras.metrics.AUC(name="auc"),
        keras.metrics.Precision(name="precision"),
        keras.metrics.Recall(name="recall"),
    ]
    model.compile(keras.optimizers.SGD(0.1), "binary_crossentropy", metrics=kinds)
    return model


def custom(keras: Any) -> Any:
    """A model with a step of its own, a tracker, an added loss and a count."""
    import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]

    class Custom(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner = keras.layers.Dense(8, "relu", kernel_regularizer="l2")
            self.outer = keras.layers.Dense(3)
            self.tracker = keras.metrics.Mean("mine")
            self.count = self.add_weight(
                shape=(), initializer="zeros", trainable=False, aggregation="only_first_replica"
            )

        def call(self, x: Any) -> Any:
            return self.outer(self.inner(x))

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            self.tracker.update_state(tf.reduce_mean(x, axis=1))
            self.count.assign_add(1.0)
            return {"mine": self.tracker.result()}

    model = Custom()
    model(X[:1])
    model.compile(keras.optimizers.SGD(0.1), cross_entropy(keras))
    return model


def answering(model: Any) -> Any:
    """What `evaluate` and `predict` say of several numbers of rows."""
    settings = {"batch_size": 8, "verbose": 0}
    model.fit(X, Y, **SETTINGS)
    found = {}
    for rows in (40, 21, 12):
        found[f"predict {rows}"] = model.predict(X[:rows], **settings).ravel().tolist()
        found[f"evaluate {rows}"] = model.evaluate(X[:rows], Y[:rows], **settings)
    return found


def single_batches(model: Any) -> Any:
    first = model.train_on_batch(X[:8], Y[:8])
    return {"train": np.ravel(first).tolist(), "test": np.ravel(model.test_on_batch(X, Y)).tolist()}


def from_dataset(model: Any) -> Any:
    import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]

    rows = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).repeat()
    options = {"epochs": 2, "steps_per_epoch": 3, "verbose": 0, "shuffle": False}
    return model.fit(rows, **options).history


OPTIMIZERS = [
    "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion", "Nadam",
    "RMSprop", "SGD",
]  # fmt: skip
METRICS = ("SparseCategoricalAccuracy", "SparseTopKCategoricalAccuracy")


def _sgd(**options: Any) -> Callable[[Any], Any]:
    return lambda keras: keras.optimizers.SGD(0.1, **options)


def _optimizer(name: str) -> Made:
    return dense(lambda keras: getattr(keras.optimizers, name)(0.01))


WEIGHTS = np.linspace(0.1, 2.0, 40).astype("float32")
CLASSES = {0: 1.0, 1: 2.0, 2: 0.5}
CASES: dict[str, Case] = {
    **{f"optimizer {name}": Case(_optimizer(name)) for name in OPTIMIZERS},
    "clipnorm": Case(dense(_sgd(clipnorm=0.05)), alike=False),
    "clipvalue": Case(dense(_sgd(clipvalue=0.01)), alike=False),
    "global clipnorm": Case(dense(_sgd(global_clipnorm=0.05)), alike=False),
    "moving average": Case(dense(_sgd(use_ema=True, ema_overwrite_frequency=2))),
    "momentum and decay": Case(dense(_sgd(momentum=0.9, nesterov=True, weight_decay=0.01))),
    "accumulated gradients": Case(dense(_sgd(gradient_accumulation_steps=2))),
    "schedule": Case(
        dense(
            lambda keras: keras.optimizers.SGD(
                keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
            )
        )
    ),
    "synchronized normalization": Case(
        dense(inner=lambda keras: [keras.layers.BatchNormalization(synchronized=True)])
    ),
    "normalization of parts": Case(
        dense(inner=lambda keras: [keras.layers.BatchNormalization()]), alike=False
    ),
    "layer normalization": Case(
        dense(inner=lambda keras: [keras.layers.LayerNormalization()])
    ),
    "uneven last batch of 5": Case(dense(), fitting(X[:37]), alike=False),
    "uneven last batch of 7": Case(dense(), fitting(X[:39]), alike=False),
    "sum of losses": Case(dense(loss=lambda keras: cross_entropy(keras, reduction="sum"))),
    "mean with weights": Case(
        dense(loss=lambda keras: cross_entropy(keras, reduction="mean_with_sample_weight"))
    ),
    "weights of examples": Case(dense(), fitting(X, sample_weight=WEIGHTS)),
    "weights of classes": Case(dense(), fitting(X, class_weight=CLASSES)),
    "validation": Case(dense(), fitting(X, validation_data=(X[:12], Y[:12]))),
    "metrics": Case(
        dense(metrics=lambda keras: [getattr(keras.metrics, name)() for name in METRICS])
    ),
    "binary metrics": Case(binary, fitting(X, (Y > 0).astype("float32")[:, None])),
    "custom step": Case(custom),
    "evaluate and predict": Case(dense(), answering, alike=False),
    "single batches": Case(dense(), single_batches, alike=False),
    "dataset": Case(dense(), from_dataset),
    "steps per execution": Case(dense(steps_per_execution=2)),
    "eager": Case(dense(run_eagerly=True)),
    "convolution": Case(
        other((8, 8, 1), lambda layers: [layers.Conv2D(4, 3, activation="relu"), layers.Flatten()]),
        fitting(IMAGES),
    ),
    "recurrent": Case(
        other((5,), lambda layers: [layers.Embedding(10, 4), layers.LSTM(6)]), fitting(WORDS)
    ),
    "embedding": Case(
        other((5,), lambda layers: [layers.Embedding(10, 4), layers.GlobalAveragePooling1D()]),
        fitting(WORDS),
    ),
}  # fmt: skip


def trained(tf: Any, keras: Any, name: str, replicas: int) -> tuple[list[Any], Any]:
    """The weights of a case after training, and its history."""
    case = CASES[name]
    if replicas:
        strategy = tf.distribute.MirroredStrategy([f"CPU:{k}" for k in range(replicas)])
    else:
        strategy = tf.distribute.get_strategy()
    with strategy.scope():
        model = case.make(keras)
    r = np.random.default_rng(1)
    model.set_weights(
        [0.3 * r.normal(size=w.shape) if w.ndim > 1 else w for w in model.get_weights()]
    )
    history = case.fit(model)
    return model.get_weights(), history


def summary(weights: list[Any], history: Any) -> dict[str, Any]:
    """An answer as JSON."""
    parts = [[float(np.mean(w)), float(np.sqrt(np.mean(np.square(w))))] for w in weights]
    rounded = {
        name: [float(f"{v:.6g}") for v in np.ravel(values)] for name, values in history.items()
    }
    return {
        "weights": [[float(f"{v:.6g}") for v in part] for part in parts],
        "history": rounded,
    }
