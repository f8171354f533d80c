"""The workloads in TensorFlow's words; `tf` is Wengert or TensorFlow itself."""

from __future__ import annotations

from benchmarks import arrays
from benchmarks.arrays import RATE
from benchmarks.functions_tf import (  # noqa: F401  # the worker finds them here
    batch_sizes,
    collatz,
    convert,
    converted,
    first_call,
    mlp_function,
    plain_recurrent,
    recurrent,
    scalars,
    tracing,
    trivial,
    until,
)
from benchmarks.sweep_steps import operation  # noqa: F401


def chain(tf, shape, count, backward):
    x, a, b = (tf.constant(v) for v in arrays.chain(shape))

    def forward(y):
        for _ in range(count // 2):
            y = y * a + b
        return y

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = forward(x)
        return tape.gradient(y, x)

    return gradient if backward else lambda: forward(x)


def _dense(tf, variables, x):
    for w, b in zip(variables[:-2:2], variables[1:-2:2], strict=True):
        x = tf.nn.relu(tf.matmul(x, w) + b)
    return tf.matmul(x, variables[-2]) + variables[-1]


def _classifier(tf, model, start, x, labels):
    """A step of stochastic gradient descent on the cross entropy of `model(variables, x)`."""
    variables = [tf.Variable(v) for v in start]
    x, labels = tf.constant(x), tf.constant(labels)

    def step():
        with tf.GradientTape() as tape:
            logits = model(tf, variables, x)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(RATE * g)
        return loss

    return step


def mlp(tf, widths, batch):
    return _classifier(tf, _dense, arrays.layers(widths), *arrays.classes(batch, widths[0]))


def _convolutions(tf, variables, x):
    for w, b in zip(variables[:-2:2], variables[1:-2:2], strict=True):
        x = tf.nn.relu(tf.nn.conv2d(x, w, strides=1, padding="SAME") + b)
        x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="VALID")
    return tf.matmul(tf.reshape(x, (x.shape[0], -1)), variables[-2]) + variables[-1]


def conv(tf):
    return _classifier(tf, _convolutions, arrays.conv(), *arrays.classes(32, 28, 28, 1))


def embedding(tf, rows):
    start, indices = arrays.embedding(rows)
    table, indices = tf.Variable(start), tf.constant(indices)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(table, indices)))
        g = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(RATE * g.values, g.indices))
        return loss

    return step


def _gradient(tf, model, start, x):
    variables = [tf.Variable(v) for v in start]

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(variables, tf.constant(x))))
        gradients = tape.gradient(loss, variables)
        assert all(g is not None for g in gradients)
        return loss

    return step


def deep(tf, layers, batch, width):
    def model(variables, x):
        return _dense(tf, variables, x)

    start = arrays.layers([width] * (layers + 1))
    return _gradient(tf, model, start, arrays.classes(batch, width)[0])


def blocks(tf, blocks, layers, batch, width, recompute):
    def model(variables, x):
        for i in range(0, len(variables), 2 * layers):

            def block(x, part=variables[i : i + 2 * layers]):
                for w, b in zip(part[::2], part[1::2], strict=True):
                    x = tf.tanh(tf.matmul(x, w) + b)
                return x

            x = (tf.recompute_grad(block) if recompute else block)(x)
        return x

    start = arrays.layers([width] * (blocks * layers + 1))
    return _gradient(tf, model, start, arrays.classes(batch, width)[0])
