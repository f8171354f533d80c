"""Gradients of pooling, put together phase by phase, are those of the definition."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import wengert as tf
from wengert.ops.strided_sums import add_apart

POOLS = [
    ((2, 9, 8, 3), 3, 2, "SAME"),
    ((1, 7, 10, 2), 2, 3, "VALID"),
    ((3, 8, 8, 2), (3, 2), (1, 3), "SAME"),
    ((2, 6, 5, 4), 3, 1, "SAME"),
    ((2, 12, 4), 3, 2, "SAME"),
    ((1, 5, 6, 7, 2), 2, (2, 1, 3), "SAME"),
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("shape", "window", "strides", "padding"), POOLS)
@pytest.mark.parametrize("kind", ["AVG", "MAX"])
def test_gradients_of_pooling(kind, shape, window, strides, padding, compiled):
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.pool(x, window, kind, strides, padding)
            z = tf.reduce_sum(y * y)
        return tape.gradient(z, x)

    rank = len(shape) - 2
    size, steps = [(1, *np.broadcast_to(n, rank).tolist(), 1) for n in (window, strides)]

    def definition(x):
        if kind == "MAX":
            y = lax.reduce_window(x, float("-inf"), lax.max, size, steps, padding)
        else:
            sums = [
                lax.reduce_window(v, 0.0, lax.add, size, steps, padding) for v in (x, x * 0 + 1)
            ]
            y = sums[0] / sums[1]
        return (y * y).sum()

    x = np.random.default_rng(0).normal(size=shape)
    with jax.enable_x64(True):
        wanted = np.asarray(jax.grad(definition)(x))
    found = (tf.function(run, jit_compile=True) if compiled else run)(tf.constant(x))
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_parts_put_apart_are_added():
    r = np.random.default_rng(0)
    starts: list[tuple[int, ...]] = [(0, 0), (1, 2), (3, 1), (4, 5)]
    strides = (2, 3)
    parts = [r.normal(size=(4, 3)).astype("float32") for _ in starts]
    wanted = np.zeros((11, 13), "float32")
    for (a, b), part in zip([(0, 0), (1, 2), (3, 1), (4, 5)], parts, strict=True):
        wanted[a : a + 7 : 2, b : b + 7 : 3] += part
    found = add_apart([*zip(starts, map(jnp.asarray, parts), strict=True)], wanted.shape, strides)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
