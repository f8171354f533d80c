"""The workloads in PyTorch's words."""

from __future__ import annotations

import numpy as np

from benchmarks import arrays
from benchmarks.arrays import RATE
from benchmarks.sweep_torch import operation  # noqa: F401  # the worker finds it here


def chain(torch, shape, count, backward):
    x, a, b = (torch.tensor(v) for v in arrays.chain(shape))
    x.requires_grad_(backward)
    ones = torch.ones(shape)

    def forward():
        y = x
        for _ in range(count // 2):
            y = y * a + b
        return y

    return (lambda: torch.autograd.grad(forward(), x, ones)[0]) if backward else forward


def _parameters(torch, start):
    return [torch.tensor(v, requires_grad=True) for v in start]


def _dense(torch, parameters, x):
    for w, b in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        x = torch.relu(torch.addmm(b, x, w))
    return torch.addmm(parameters[-1], x, parameters[-2])


def _classifier(torch, model, start, x, labels):
    parameters = _parameters(torch, start)
    x, labels = torch.tensor(x), torch.tensor(labels, dtype=torch.int64)

    def step():
        loss = torch.nn.functional.cross_entropy(model(torch, parameters, x), labels)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p.sub_(g, alpha=RATE)
        return loss.detach()

    return step


def mlp(torch, widths, batch):
    return _classifier(torch, _dense, arrays.layers(widths), *arrays.classes(batch, widths[0]))


def _convolutions(torch, parameters, x):
    for w, b in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        x = torch.relu(torch.nn.functional.conv2d(x, w, b, padding="same"))
        x = torch.nn.functional.max_pool2d(x, 2)
    return torch.addmm(parameters[-1], x.flatten(1), parameters[-2])


def conv(torch):
    """PyTorch keeps channels first, and filters as [out, in, height, width]."""
    w1, b1, w2, b2, w3, b3 = arrays.conv()
    w1, w2 = (np.ascontiguousarray(w.transpose(3, 2, 0, 1)) for w in (w1, w2))
    w3 = np.ascontiguousarray(w3.reshape(7, 7, 32, 10).transpose(2, 0, 1, 3)).reshape(-1, 10)
    x, labels = arrays.classes(32, 28, 28, 1)
    x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    return _classifier(torch, _convolutions, [w1, b1, w2, b2, w3, b3], x, labels)


def embedding(torch, rows):
    start, indices = arrays.embedding(rows)
    table = torch.from_numpy(start).requires_grad_()
    indices = torch.tensor(indices, dtype=torch.int64)

    def step():
        picked = torch.nn.functional.embedding(indices, table, sparse=True)
        loss = picked.square().sum()
        (g,) = torch.autograd.grad(loss, table)
        with torch.no_grad():
            table.index_add_(0, g._indices()[0], g._values(), alpha=-RATE)
        return loss.detach()

    return step


def _gradient(torch, model, start, x):
    parameters = _parameters(torch, start)

    def step():
        loss = model(parameters, torch.from_numpy(x)).square().sum()
        torch.autograd.grad(loss, parameters)
        return loss.detach()

    return step


def deep(torch, layers, batch, width):
    def model(parameters, x):
        return _dense(torch, parameters, x)

    start = arrays.layers([width] * (layers + 1))
    return _gradient(torch, model, start, arrays.classes(batch, width)[0])


def blocks(torch, blocks, layers, batch, width, recompute):
    from torch.utils.checkpoint import checkpoint

    def model(parameters, x):
        for i in range(0, len(parameters), 2 * layers):

            def block(x, part=parameters[i : i + 2 * layers]):
                for w, b in zip(part[::2], part[1::2], strict=True):
                    x = torch.tanh(torch.addmm(b, x, w))
                return x

            x = checkpoint(block, x, use_reentrant=False) if recompute else block(x)
        return x

    start = arrays.layers([width] * (blocks * layers + 1))
    return _gradient(torch, model, start, arrays.classes(batch, width)[0])
