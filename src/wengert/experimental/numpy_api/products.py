"""Products of vectors, matrices and arrays."""

from __future__ import annotations

from typing import Any

from wengert.core.errors import at_site
from wengert.core.types import Tensor, TensorLike
from wengert.experimental.numpy_api.arrays import flat, promoted, ranked
from wengert.ops import public as tf


def matmul(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Products of matrices; a vector counts as a row on the left and as a column on the right."""
    x, y = promoted(x1, x2)
    if 0 in (ranked(x), ranked(y)):
        raise at_site(ValueError("matmul: arrays with axes are needed. Use multiply."))
    row, column = ranked(x) == 1, ranked(y) == 1
    x = tf.expand_dims(x, 0) if row else x
    y = tf.expand_dims(y, -1) if column else y
    result = tf.matmul(x, y)
    result = tf.squeeze(result, -2) if row else result
    return tf.squeeze(result, -1) if column else result


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Products summed over the last axis of one and the last but one of the other."""
    x, y = promoted(a, b)
    if 0 in (ranked(x), ranked(y)):
        return x * y
    if x.dtype.kind == "b":
        x, y = promoted(tf.cast(x, "int32"), tf.cast(y, "int32"))
        return tf.cast(tf.tensordot(x, y, [[-1], [_inner(y)]]), "bool")
    return tf.tensordot(x, y, [[ranked(x) - 1], [_inner(y)]])


def _inner(y: Any) -> int:
    return max(ranked(y) - 2, 0)


def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """Products summed over the last axes."""
    x, y = promoted(a, b)
    if 0 in (ranked(x), ranked(y)):
        return x * y
    return tf.tensordot(x, y, [[ranked(x) - 1], [ranked(y) - 1]])


def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """All products of a number of one and a number of the other."""
    x, y = promoted(a, b)
    return tf.expand_dims(flat(x), -1) * flat(y)


def vdot(a: TensorLike, b: TensorLike) -> Tensor:
    """The product of all numbers of two arrays, the first conjugated."""
    x, y = promoted(a, b)
    x = tf.conj(x) if x.dtype.is_complex else x
    return dot(flat(x), flat(y))


def tensordot(a: TensorLike, b: TensorLike, axes: Any = 2) -> Tensor:
    """Products summed over axes."""
    x, y = promoted(a, b)
    return tf.tensordot(x, y, axes)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """Products and sums by letters."""
    from wengert.ops.einsum import einsum as summed

    return summed(subscripts, *promoted(*operands))


def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """The Kronecker product."""
    x, y = promoted(a, b)
    rank = max(ranked(x), ranked(y))
    x, y = (_of_rank(v, rank) for v in (x, y))
    sizes = tf.shape(x) * tf.shape(y)
    for axis in range(rank):
        x, y = tf.expand_dims(x, 2 * axis + 1), tf.expand_dims(y, 2 * axis)
    return tf.reshape(x * y, sizes)


def _of_rank(x: Any, rank: int) -> Tensor:
    missing = rank - ranked(x)
    return tf.reshape(x, tf.concat([[1] * missing, tf.shape(x)], 0)) if missing else x


def cross(
    a: TensorLike, b: TensorLike, axisa: int = -1, axisb: int = -1, axisc: int = -1,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """Cross products of vectors with 2 or 3 numbers."""
    from wengert.experimental.numpy_api.shaping import moveaxis

    x, y = promoted(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    sizes = x.shape[-1], y.shape[-1]
    if not set(sizes) <= {2, 3}:
        raise at_site(ValueError(f"cross: vectors must have 2 or 3 numbers; got {sizes}."))
    third = lambda v: v[..., 2] if v.shape[-1] == 3 else tf.zeros_like(v[..., 0])
    (x0, x1, x2), (y0, y1, y2) = ((v[..., 0], v[..., 1], third(v)) for v in (x, y))
    last = x0 * y1 - x1 * y0
    if sizes == (2, 2):
        return last
    return moveaxis(tf.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, last], -1), -1, axisc)


def polyval(p: TensorLike, x: TensorLike) -> Tensor:
    """A polynomial, the highest power first, at numbers."""
    p, x = promoted(p, x)
    result = tf.zeros_like(x)
    for coefficient in tf.unstack(p):
        result = result * x + coefficient
    return result
