"""Cases for activation functions and softmax."""

from __future__ import annotations

import numpy as np
from scipy import special

import wengert as tf
from tests.cases import Case, normal, whole

ALL = ("float16", "bfloat16", "float32", "float64")
X = normal(3, 4, seed=3) * 2.0


def softmax(x, axis=-1):
    return special.softmax(x, axis)


CASES = [
    Case("relu", tf.nn.relu, (X,), lambda x: np.maximum(x, 0), dtypes=ALL),
    Case("relu_scalar", tf.nn.relu, (np.float64(-1.5),), lambda x: np.maximum(x, 0)),
    Case("relu_empty", tf.nn.relu, (normal(0, 3),), lambda x: x),
    Case("relu_int", tf.nn.relu, (whole(5, low=-5, high=5),), lambda x: np.maximum(x, 0), order=0),
    Case("relu6", lambda x: tf.nn.relu6(4.0 * x), (X,), lambda x: np.clip(4.0 * x, 0, 6), dtypes=ALL),
    Case("crelu", tf.nn.crelu, (X,), lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
    Case("crelu_axis", lambda x: tf.nn.crelu(x, 0), (X,),
         lambda x: np.maximum(np.concatenate([x, -x], 0), 0)),
    Case("leaky_relu", tf.nn.leaky_relu, (X,), lambda x: np.where(x > 0, x, 0.2 * x), dtypes=ALL),
    Case("leaky_relu_steep", lambda x: tf.nn.leaky_relu(x, 1.5), (X,),
         lambda x: np.where(x > 0, x, 1.5 * x)),
    Case("elu", tf.nn.elu, (X,), lambda x: np.where(x > 0, x, np.expm1(x)), dtypes=ALL),
    Case("selu", tf.nn.selu, (X,), dtypes=ALL,
         ref=lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    Case("gelu", tf.nn.gelu, (X,), lambda x: x * special.ndtr(x), dtypes=ALL, order=3),
    Case("gelu_approximate", lambda x: tf.nn.gelu(x, True), (X,), dtypes=ALL, order=3,
         ref=lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    Case("silu", tf.nn.silu, (X,), lambda x: x * special.expit(x), dtypes=ALL, order=3),
    Case("silu_beta", lambda x: tf.nn.swish(x, 0.6), (X,), lambda x: x * special.expit(0.6 * x)),
    Case("silu_trained_beta", tf.nn.silu, (X, np.float64(0.7)), lambda x, b: x * special.expit(b * x)),
    Case("softsign", tf.nn.softsign, (X,), lambda x: x / (1 + np.abs(x)), dtypes=ALL),
    Case("softmax", tf.nn.softmax, (X,), softmax, dtypes=ALL),
    Case("softmax_axis", lambda x: tf.nn.softmax(x, 1), (normal(2, 3, 4),), lambda x: softmax(x, 1)),
    Case("softmax_empty", tf.nn.softmax, (normal(2, 0),), lambda x: x),
    Case("softmax_large", lambda x: tf.nn.softmax(1000.0 * x), (X,), lambda x: softmax(1000.0 * x),
         order=0, dtypes=("float64",)),
    Case("log_softmax", tf.nn.log_softmax, (X,), lambda x: special.log_softmax(x, -1), dtypes=ALL),
    Case("log_softmax_axis", lambda x: tf.nn.log_softmax(x, 0), (normal(2, 3, 4),),
         lambda x: special.log_softmax(x, 0)),
]  # fmt: skip
