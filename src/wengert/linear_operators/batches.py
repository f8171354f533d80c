"""Stacks of matrices whose leading axes broadcast, where the operation below does not do it."""

from __future__ import annotations

from typing import Any

from wengert.core import dtypes
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape, broadcast
from wengert.core.types import Tensor, TensorLike, Variable
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape, get_static_value


def argument(name: str, value: TensorLike, rank: int = 0, dtype: Any = None) -> Any:
    """A tensor of at least some rank; a variable stays one, so that it is read at each use."""
    result = value if isinstance(value, Variable) else to_tensor(value, dtype)
    if result.shape.rank is not None and result.shape.rank < rank:
        words = f"`{name}` must have rank {rank} or more; got {describe(result)}"
        raise at_site(ValueError(f"LinearOperator: {words}."))
    return result


def static_number(value: Any) -> int | None:
    """A size as a number, where it is known."""
    known = get_static_value(value)
    return None if known is None else int(known)


def joined_batch(*shapes: TensorShape) -> TensorShape:
    """The leading axes that several stacks have together."""
    if any(s.rank is None for s in shapes):
        return TensorShape(None)
    return TensorShape(broadcast("LinearOperator", *[s._dims for s in shapes]))


def batch_tensor(shape: TensorShape, x: Tensor) -> Any:
    """The sizes of the leading axes of `x`: numbers where all are known, else a tensor."""
    return shape.as_list() if shape.is_fully_defined() else tf.shape(x)[:-2]


def spread(x: Tensor, batch: Any, matrix_axes: int = 2) -> Tensor:
    """The matrices repeated over the leading axes `batch`."""
    if not isinstance(batch, list):
        return tf.broadcast_to(x, tf.concat([batch, tf.shape(x)[-matrix_axes:]], 0))
    last = x.shape[-matrix_axes:]
    if x.shape[:-matrix_axes].as_list() == batch:
        return x
    if not last.is_fully_defined():
        return tf.broadcast_to(x, tf.concat([batch, tf.shape(x)[-matrix_axes:]], 0))
    return tf.broadcast_to(x, [*batch, *last.as_list()])


def together(*xs: Tensor) -> list[Tensor]:
    """Stacks of matrices with the same leading axes."""
    shapes = [x.shape[:-2] for x in xs]
    if all(s.is_fully_defined() for s in shapes):
        batch: Any = joined_batch(*shapes).as_list()
    else:
        batch = tf.shape(xs[0])[:-2]
        for x in xs[1:]:
            batch = broadcast_dynamic_shape(batch, tf.shape(x)[:-2])
    return [spread(x, batch) for x in xs]


def dense_solve(a: Tensor, b: Tensor, adjoint: bool) -> Tensor:
    """Solves systems whose leading axes broadcast."""
    a, b = together(a, b)
    return tf.solve(a, b, adjoint=adjoint)


def real(x: Tensor) -> Tensor:
    return tf.cast(x, x.dtype.real_dtype)


def conjugate(x: Any) -> Any:
    """The complex conjugate; a real tensor or variable is read, no more."""
    from wengert.ops.complex import conj

    x = to_tensor(x)
    return conj(x) if x.dtype.is_complex else x


def transposed(x: Tensor, adjoint_arg: bool) -> Tensor:
    return tf.adjoint(x) if adjoint_arg else x


def int32(value: Any) -> Tensor:
    """A size as a tensor."""
    return tf.cast(to_tensor(value), dtypes.int32)
