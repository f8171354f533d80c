"""NumPy functions that are operations in a trace alone, where there is no array to hand to NumPy.

Eagerly these give arrays, as in TensorFlow, and programs write into them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.convert import operand
from wengert.core.types import Tensor, TensorLike
from wengert.ops import public as tf
from wengert.ops.numpy_functions import all, flat, rank, sizes, tensors


def full_like(a: Any, fill_value: TensorLike) -> Tensor:
    return tf.broadcast_to(operand(fill_value, None, a.dtype), sizes(a))


def vstack(tup: Any) -> Tensor:
    return tf.concat([tf.reshape(x, [1, -1]) if rank(x) < 2 else x for x in tensors(list(tup))], 0)


def hstack(tup: Any) -> Tensor:
    xs = [x if rank(x) else tf.reshape(x, [1]) for x in tensors(list(tup))]
    return tf.concat(xs, 0 if rank(xs[0]) == 1 else 1)


def diff(a: Any, *, axis: int = -1) -> Tensor:
    lead = (slice(None),) * (axis % rank(a))
    return a[(*lead, slice(1, None))] - a[(*lead, slice(None, -1))]


def isclose(a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8) -> Tensor:
    x, y = tensors([a, b])
    return tf.abs(x - y) <= atol + rtol * tf.abs(y)


def take(a: Any, indices: TensorLike, axis: Any = None) -> Tensor:
    a, axis = flat(a, axis)
    return tf.gather(a, indices, axis=axis)


def norm(x: TensorLike, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    return tf.norm(x, "euclidean" if ord is None else ord, axis, keepdims)


TRACED: dict[Any, Callable[..., Any]] = {
    np.zeros_like: lambda a, dtype=None: tf.zeros_like(a, dtype),
    np.ones_like: lambda a, dtype=None: tf.ones_like(a, dtype),
    np.full_like: full_like,
    np.vstack: vstack,
    np.hstack: hstack,
    np.diff: diff,
    np.isclose: isclose,
    np.allclose: lambda a, b, rtol=1e-5, atol=1e-8: all(isclose(a, b, rtol, atol)),
    np.take: take,
    np.size: lambda a: a._array.size,
    np.linalg.norm: norm,
    np.linalg.inv: lambda a: tf.inv(a),
    np.linalg.det: lambda a: tf.det(a),
    np.linalg.solve: lambda a, b: tf.solve(a, b),
}
