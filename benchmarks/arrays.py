"""The numbers that every framework starts from, so that all can be checked against each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

RATE = 0.01


def rng():
    return np.random.default_rng(1964)


def normal(r, *shape, scale=1.0):
    return (scale * r.standard_normal(shape)).astype(np.float32)


def chain(shape):
    """x, a and b of `x * a + b`; a stays just below 1 so that long chains neither die nor blow up."""
    r = rng()
    return (
        normal(r, *shape),
        1 - np.abs(normal(r, *shape, scale=1e-5)),
        normal(r, *shape, scale=1e-3),
    )


def layers(widths, r=None):
    """Weights [n, m] and biases [m], alternating."""
    r = r or rng()
    return [
        array
        for n, m in pairwise(widths)
        for array in (normal(r, n, m, scale=n**-0.5), np.zeros(m, np.float32))
    ]


def classes(batch, *shape):
    """A batch of inputs and labels below ten."""
    r = np.random.default_rng(7)
    return normal(r, batch, *shape), r.integers(0, 10, batch).astype(np.int32)


def conv():
    """Filters [height, width, in, out] and biases of two layers, then those of the dense one."""
    r = rng()
    return [
        normal(r, 3, 3, 1, 16, scale=0.3),
        np.zeros(16, np.float32),
        normal(r, 3, 3, 16, 32, scale=0.08),
        np.zeros(32, np.float32),
        normal(r, 7 * 7 * 32, 10, scale=0.02),
        np.zeros(10, np.float32),
    ]


def embedding(rows, width=64, used=256):
    """A table and the rows of it that are used; only those differ from zero."""
    r = rng()
    table = np.zeros((rows, width), np.float32)
    indices = r.integers(0, rows, used).astype(np.int32)
    table[indices] = normal(r, used, width)
    return table, indices


def recurrent(steps):
    """A sequence [steps, 32, 64] and two square weights."""
    r = rng()
    w, u = normal(r, 64, 64, scale=0.1), normal(r, 64, 64, scale=0.1)
    return normal(r, steps, 32, 64), w, u
