"""Learns to read drawn digits with a small convolution network and Keras's `fit`.

    pip install 'wengert[keras]'
    python examples/image_classifier.py --steps 400 --out image_classifier.svg

The digits are strokes, turned and thickened at random; no data is downloaded. Ends with the
accuracy while training, and the test images that the network is least sure of.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console

import wengert as tf
from _digits import digits
from _draw import Images, Panel, Series, show

BATCH, PER_EPOCH = 64, 50


def make_model(keras):
    """Two convolutions, two dense layers."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.2),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(2e-3), loss, metrics=["accuracy"])
    return model


def gallery(model, images, labels):
    """The images that the network is least sure of, with what it takes them for."""
    chances = tf.nn.softmax(model.predict(images[..., None], verbose=0)).numpy()
    read = chances.argmax(axis=1)
    doubtful = np.argsort(chances[np.arange(len(labels)), labels])[:36]
    captions = [
        f"{read[i]}" if read[i] == labels[i] else f"!{read[i]} (is {labels[i]})" for i in doubtful
    ]
    return Images("least sure of, and read as", images[doubtful], tuple(captions))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400, help="batches of 64 images")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("image_classifier.svg"))
    options = parser.parse_args()
    if find_spec("keras") is None:
        sys.exit("image_classifier: this example needs Keras 3. pip install 'wengert[keras]'")
    console, rng = Console(), np.random.default_rng(options.seed)
    keras = tf.keras
    keras.utils.set_random_seed(options.seed)

    per_epoch = min(PER_EPOCH, options.steps)
    with console.status("drawing digits"):
        images, labels = digits(rng, BATCH * per_epoch, noise=0.25)
        test_images, test_labels = digits(rng, 1000, noise=0.25)
    model = make_model(keras)
    history = model.fit(
        images[..., None],
        labels,
        batch_size=BATCH,
        epochs=options.steps // per_epoch,
        validation_data=(test_images[..., None], test_labels),
        verbose=1 if console.is_terminal else 2,  # a bar that moves, or a line per epoch
    ).history
    epochs = np.arange(1, len(history["loss"]) + 1)
    curves = [
        Series(epochs, np.array(history["accuracy"]), "training", "#cc6600"),
        Series(epochs, np.array(history["val_accuracy"]), "test", "#3366ff"),
    ]
    show(
        [Panel("accuracy", curves), gallery(model, test_images, test_labels)], console, options.out
    )
    console.print(
        f"{history['val_accuracy'][-1]:.1%} of the test images read right; "
        f"picture in [bold]{options.out}[/]"
    )


if __name__ == "__main__":
    main()
