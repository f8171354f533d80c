"""Cases that run gradients inside, so that the gradient operations go through every lane too."""

from __future__ import annotations

import wengert as tf
from tests.cases import Case, attention, convolution, losses, normal, pooling
from wengert.core import nest


def slope(f):
    """The gradient of a weighted sum of the results of `f` in its floating arguments."""

    def gradient(*xs):
        floats = [x for x in xs if x.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            ys = [y for y in nest.flatten(f(*xs)) if y.dtype.is_floating]
        seeds = [tf.reshape(tf.cos(tf.range(tf.size(y), dtype=y.dtype)), tf.shape(y)) for y in ys]
        return [g for g in tape.gradient(ys, floats, output_gradients=seeds) if g is not None]

    return gradient


def sloped(case):
    return Case(f"{case.name}_slope", slope(case.call), case.args, order=1)


def twice(case):
    """The second derivative of the square, for what is linear almost everywhere."""
    f = slope(slope(lambda x: tf.square(case.call(x))))
    return Case(f"{case.name}_slope", f, case.args, order=1)


def constant(case):
    """The gradient of what has no second one."""
    f = slope(case.call)
    return Case(
        f"{case.name}_slope", lambda x: [tf.stop_gradient(g) for g in f(x)], case.args, order=0
    )


def those(module, *names):
    return [c for c in module.CASES if c.name.startswith(names)]


X = normal(3, 4, seed=3) * 2.0
POINTWISE = {
    "relu": tf.nn.relu,
    "relu6": lambda x: tf.nn.relu6(4.0 * x),
    "leaky_relu": tf.nn.leaky_relu,
    "elu": tf.nn.elu,
    "selu": tf.nn.selu,
    "gelu": tf.nn.gelu,
    "gelu_approximate": lambda x: tf.nn.gelu(x, True),
    "silu": lambda x: tf.nn.silu(x, 0.7),
    "softsign": tf.nn.softsign,
    "softmax": lambda x: tf.nn.softmax(x, 0),
    "log_softmax": tf.nn.log_softmax,
}

CASES = [
    *(sloped(Case(name, f, (X,))) for name, f in POINTWISE.items()),
    *map(sloped, those(convolution, "conv2d", "depthwise", "conv1d_transpose", "conv3d_ncdhw")),
    *(twice(c) for c in those(pooling, "max_pool2d") if c.order > 1),
    *map(sloped, those(pooling, "avg_pool2d", "pool_avg")),
    *map(sloped, those(losses, "softmax_cross_entropy", "sparse_softmax", "sigmoid_cross_entropy")),
    *map(sloped, those(attention, "attention")),
    *map(constant, those(losses, "ctc_loss")),
]
# The layouts share their code beyond these two.
CASES = [
    c
    for c in CASES
    if not any(word in c.name for word in ("int", "half"))
    and ("nchw" not in c.name or c.name.startswith(("conv2d_strides_n", "conv2d_groups_n")))
]
