"""The nearest numbers that never rise, by pooling neighbours that do.

Where a run of numbers is pooled depends on all of them, so XLA has no counterpart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    check_axis,
    dtypes,
    in_float32,
    operand,
    require_dtype,
    static_int,
    tf,
    with_fallback,
)


def _pools(row: np.ndarray) -> list[tuple[float, int]]:
    """The sum and the length of each run; a run never has a greater mean than the one before."""
    results: list[tuple[float, int]] = []
    for value in row.tolist():
        total, count = value, 1
        while results and total / count > results[-1][0] / results[-1][1]:
            before = results.pop()
            total, count = before[0] + total, before[1] + count
        results.append((total, count))
    return results


@in_float32
def _kernel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    out, runs = np.empty_like(x), np.empty(x.shape, np.int32)
    for i in np.ndindex(x.shape[:-1]):
        pools = _pools(x[i])
        counts = [count for _, count in pools]
        out[i] = np.repeat([total / count for total, count in pools], counts)
        runs[i] = np.repeat(np.arange(len(pools)), counts)
    return out, runs


def _grad(g: tuple[Tensor, ...], outs: tuple[Tensor, ...]) -> Tensor:
    """Each number of a run moves its mean alike."""
    runs = outs[1]
    *lead, n = runs._array.shape
    rows = 1
    for d in lead:
        rows = rows * d
    flat = tf.reshape(
        tf.reshape(runs, (rows, n)) + tf.reshape(tf.range(rows) * n, (rows, 1)), (-1,)
    )
    means = tf.unsorted_segment_mean(tf.reshape(g[0], (-1,)), flat, rows * n)
    return tf.reshape(tf.gather(means, flat), runs._array.shape)


ISOTONIC_REGRESSION = Op(
    "isotonic_regression",
    "x",
    kernel=_kernel,
    infer=lambda x: (x, ShapeDtype(x.shape, dtypes.int32)),
    lower=None,
    grad=_grad,
    accepts=dtypes.FLOAT,
    outputs=2,
)


@with_fallback
def isotonic_regression(
    inputs: TensorLike, decreasing: bool = True, axis: Any = -1, name: str | None = None
) -> tuple[Any, Any]:
    """The nearest numbers, by squares, that never rise along an axis (or never fall).

    The second result says which run of equal numbers each one belongs to. Whole numbers of 32 bits
    or more give float64.

    >>> tf.nn.isotonic_regression([3.0, 1.0, 2.0])[0].numpy().tolist()
    [3.0, 1.5, 1.5]
    """
    x = operand(inputs)
    if x.dtype.is_integer:
        x = tf.cast(x, dtypes.float64 if x.dtype.size > 2 else dtypes.float32)
    require_dtype(x.dtype.is_floating, "isotonic_regression", "real numbers are needed", x)
    rank = x._array.ndim
    if not rank:
        return x, tf.zeros(tf.shape(x), dtypes.int32)
    dim = check_axis("isotonic_regression", static_int("isotonic_regression", axis), rank)
    order = [k for k in range(rank) if k != dim] + [dim]
    rows = tf.transpose(x, order) if dim != rank - 1 else x
    out, runs = apply(ISOTONIC_REGRESSION, rows if decreasing else -rows)
    out = out if decreasing else -out
    if dim == rank - 1:
        return out, runs
    back = [*range(dim), rank - 1, *range(dim, rank - 1)]
    return tf.transpose(out, back), tf.transpose(runs, back)
