"""The workloads in JAX's words, operation by operation (no `jit`: the rows are about eager work)."""

from __future__ import annotations

from benchmarks import arrays
from benchmarks.arrays import RATE
from benchmarks.functions_jax import (  # noqa: F401  # the worker finds them here
    collatz,
    mlp_function,
    plain_recurrent,
    recurrent,
    scalars,
    trivial,
)


def chain(jax, shape, count, backward):
    x, a, b = (jax.numpy.asarray(v) for v in arrays.chain(shape))
    ones = jax.numpy.ones(shape)

    def forward(y):
        for _ in range(count // 2):
            y = y * a + b
        return y

    def gradient():
        _, pull = jax.vjp(forward, x)
        return pull(ones)[0].block_until_ready()

    return gradient if backward else lambda: forward(x).block_until_ready()


def _dense(jax, parameters, x):
    for w, b in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        x = jax.nn.relu(x @ w + b)
    return x @ parameters[-2] + parameters[-1]


def _classifier(jax, model, start, x, labels):
    x, labels = jax.numpy.asarray(x), jax.numpy.asarray(labels)
    parameters = [jax.numpy.asarray(v) for v in start]

    def loss_of(parameters):
        log_p = jax.nn.log_softmax(model(jax, parameters, x))
        return -jax.numpy.take_along_axis(log_p, labels[:, None], axis=1).mean()

    def step():
        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        parameters[:] = [p - RATE * g for p, g in zip(parameters, gradients, strict=True)]
        jax.block_until_ready(parameters)
        return loss

    return step


def mlp(jax, widths, batch):
    return _classifier(jax, _dense, arrays.layers(widths), *arrays.classes(batch, widths[0]))


def _convolutions(jax, parameters, x):
    layout = ("NHWC", "HWIO", "NHWC")
    for w, b in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout) + b
        x = jax.nn.relu(x)
        window = (1, 2, 2, 1)
        x = jax.lax.reduce_window(x, -float("inf"), jax.lax.max, window, window, "VALID")
    return x.reshape(x.shape[0], -1) @ parameters[-2] + parameters[-1]


def conv(jax):
    return _classifier(jax, _convolutions, arrays.conv(), *arrays.classes(32, 28, 28, 1))


def embedding(jax, rows):
    """The gradient is taken of the rows picked (JAX has no sparse one); `.at` copies the table."""
    start, indices = arrays.embedding(rows)
    table, indices = [jax.numpy.asarray(start)], jax.numpy.asarray(indices)

    def step():
        loss, g = jax.value_and_grad(lambda picked: (picked**2).sum())(table[0][indices])
        table[0] = table[0].at[indices].add(-RATE * g).block_until_ready()
        return loss

    return step


def deep(jax, layers, batch, width):
    start = arrays.layers([width] * (layers + 1))
    return _gradient(jax, lambda p, x: _dense(jax, p, x), start, arrays.classes(batch, width)[0])


def _gradient(jax, model, start, x):
    parameters = [jax.numpy.asarray(v) for v in start]

    def step():
        inputs = jax.numpy.asarray(x)
        loss, g = jax.value_and_grad(lambda p: (model(p, inputs) ** 2).sum())(parameters)
        jax.block_until_ready(g)
        return loss

    return step
