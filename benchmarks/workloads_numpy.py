"""The floor: the same arithmetic written by hand in NumPy, gradients included."""

from __future__ import annotations

import numpy

from benchmarks import arrays
from benchmarks.arrays import RATE


def chain(np, shape, count, backward):
    x, a, b = arrays.chain(shape)

    def step():
        y = x
        for _ in range(count // 2):
            y = y * a + b
        if not backward:
            return y
        g = np.ones_like(y)
        for _ in range(count // 2):
            g = g * a
        return g

    return step


def mlp(np, widths, batch):
    parameters = arrays.layers(widths)
    x, labels = arrays.classes(batch, widths[0])
    rows = numpy.arange(batch)

    def step():
        kept = [x]
        for w, b in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            kept.append(np.maximum(kept[-1] @ w + b, 0))
        logits = kept[-1] @ parameters[-2] + parameters[-1]
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[rows, labels]).mean()
        g = p
        g[rows, labels] -= 1
        g /= batch
        for i in range(len(parameters) - 2, -1, -2):
            w, b, inputs = parameters[i], parameters[i + 1], kept[i // 2]
            to_inputs = (g @ w.T) * (inputs > 0) if i else None
            w -= RATE * (inputs.T @ g)
            b -= RATE * g.sum(0)
            g = to_inputs
        return loss

    return step


def embedding(np, rows):
    table, indices = arrays.embedding(rows)

    def step():
        picked = table[indices]
        loss = np.square(picked).sum()
        np.subtract.at(table, indices, RATE * 2 * picked)
        return loss

    return step
