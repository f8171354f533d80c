"""The networks of `benchmarks.keras_fit` beyond the dense ones, as functions of the package Keras.

Each function returns a model whose last layer gives ten logits, and the shape of one input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WORDS, TOKENS, WIDTH = 1000, 64, 128

Shape = tuple[int, ...]


def conv(keras: Any) -> tuple[Any, Shape]:
    """Two convolutions, of 16 and 32 channels."""
    return _plain(keras, 16, 32)


def cnn(keras: Any) -> tuple[Any, Shape]:
    """Two convolutions, of 32 and 64 channels."""
    return _plain(keras, 32, 64)


def _plain(keras: Any, *widths: int) -> tuple[Any, Shape]:
    layers = keras.layers
    model = keras.Sequential([layers.Input((28, 28, 1))])
    for width in widths:
        model.add(layers.Conv2D(width, 3, activation="relu"))
        model.add(layers.MaxPooling2D())
    model.add(layers.Flatten())
    model.add(layers.Dense(10))
    return model, (28, 28, 1)


def residual(keras: Any) -> tuple[Any, Shape]:
    """Eight convolutions with batch normalisation, in three stages of 32, 64 and 128 channels."""
    layers = keras.layers
    x = inputs = layers.Input((32, 32, 3))
    x = _normal(keras, layers.Conv2D(32, 3, padding="same", use_bias=False)(x))
    for width, stride in ((32, 1), (64, 2), (128, 2)):
        y = layers.Conv2D(width, 3, stride, padding="same", use_bias=False)(x)
        y = _normal(keras, y)
        y = layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same", use_bias=False)(y))
        if stride > 1:
            x = layers.Conv2D(width, 1, stride, use_bias=False)(x)
        x = layers.ReLU()(layers.Add()([x, y]))
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(10)(x)), (32, 32, 3)


def _normal(keras: Any, x: Any) -> Any:
    return keras.layers.ReLU()(keras.layers.BatchNormalization()(x))


def separable(keras: Any) -> tuple[Any, Shape]:
    """A convolution and three separable ones, with batch normalisation."""
    layers = keras.layers
    model = keras.Sequential([layers.Input((32, 32, 3))])
    model.add(layers.Conv2D(32, 3, padding="same", activation="relu"))
    for width in (64, 128, 128):
        model.add(layers.SeparableConv2D(width, 3, padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.ReLU())
        model.add(layers.MaxPooling2D())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(10))
    return model, (32, 32, 3)


def transformer(keras: Any) -> tuple[Any, Shape]:
    """Two blocks of attention and dense layers, 128 wide, on 64 tokens."""
    layers = keras.layers
    inputs = layers.Input((TOKENS,))
    x = layers.Embedding(WORDS, WIDTH)(inputs)
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, WIDTH // 4, dropout=0.1)(y, y)])
        y = layers.LayerNormalization()(x)
        y = layers.Dense(4 * WIDTH, activation="gelu")(y)
        x = layers.Add()([x, layers.Dropout(0.1)(layers.Dense(WIDTH)(y))])
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(inputs, layers.Dense(10)(x)), (TOKENS,)


def lstm(keras: Any) -> tuple[Any, Shape]:
    """An LSTM of 64 numbers over 80 steps of 32."""
    layers = keras.layers
    model = keras.Sequential([layers.Input((80, 32)), layers.LSTM(64), layers.Dense(10)])
    return model, (80, 32)


# By name: the network, its batch, and the batches of one epoch.
NETWORKS: dict[str, tuple[Callable[[Any], tuple[Any, Shape]], int, int]] = {
    "conv": (conv, 128, 50),
    "cnn": (cnn, 128, 20),
    "residual": (residual, 32, 20),
    "separable": (separable, 32, 30),
    "transformer": (transformer, 16, 30),
    "lstm": (lstm, 32, 40),
}
