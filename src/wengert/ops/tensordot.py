"""Products over chosen axes, cross products, and matrices turned over."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import FailedPreconditionError
from wengert.ops.costs import product
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    apply2,
    dtypes,
    function_of,
    in_float32,
    invalid,
    lax,
    must_fit,
    operand,
    operands,
    require,
    require_dtype,
    shapes,
    tf,
    where_ranked,
    with_fallback,
)
from wengert.ops.matmul import dot_general
from wengert.ops.sizes import fixed

Axes = tuple[int, ...]


def _free(rank: int, axes: Axes) -> Axes:
    return tuple(i for i in range(rank) if i not in axes)


@where_ranked
def _infer(x: Ranked, y: Ranked, x_axes: Axes, y_axes: Axes) -> ShapeDtype:
    for i, j in zip(x_axes, y_axes, strict=True):
        require(
            shapes.compatible((x.shape[i],), (y.shape[j],)),
            "tensordot",
            f"axes {i} and {j} that are summed over must have the same size",
            x,
            y,
        )
    x_free, y_free = _free(len(x.shape), x_axes), _free(len(y.shape), y_axes)
    return ShapeDtype((*(x.shape[i] for i in x_free), *(y.shape[j] for j in y_free)), x.dtype)


def _left(
    g: Tensor, y: Tensor, x_shape: tuple[int | Dim, ...], x_axes: Axes, y_axes: Axes
) -> Tensor:
    rank, n = len(x_shape), len(x_shape) - len(x_axes)
    y_free = _free(len(y.shape), y_axes)
    out = _apply(g, y, tuple(range(n, n + len(y_free))), y_free)
    # The axes of `out` are the free ones of x, then the summed ones in the order they have in y.
    order = (*_free(rank, x_axes), *(x_axes[k] for k in _order(y_axes)))
    return _arranged(out, order)


def _right(
    g: Tensor, x: Tensor, y_shape: tuple[int | Dim, ...], x_axes: Axes, y_axes: Axes
) -> Tensor:
    x_free = _free(len(x.shape), x_axes)
    out = _apply(x, g, x_free, tuple(range(len(x_free))))
    order = (*(y_axes[k] for k in _order(x_axes)), *_free(len(y_shape), y_axes))
    return _arranged(out, order)


def _order(axes: Axes) -> list[int]:
    return sorted(range(len(axes)), key=axes.__getitem__)


def _arranged(x: Tensor, order: Axes) -> Tensor:
    """`x`, whose axis k belongs at place `order[k]`, with its axes in their places."""
    if order == tuple(range(len(order))):
        return x
    return tf.transpose(x, _order(order))


TENSORDOT = Op(
    "tensordot",
    "x y",
    kernel=in_float32(lambda x, y, x_axes, y_axes: np.tensordot(x, y, (x_axes, y_axes))),
    infer=_infer,
    lower=lambda x, y, x_axes, y_axes: dot_general(x, y, (x_axes, y_axes)),
    grad=(_left, _right),
    accepts=dtypes.NUMERIC,
    cost=product,
)


def _apply(x: TensorLike, y: TensorLike, x_axes: Axes, y_axes: Axes) -> Tensor:
    return apply(TENSORDOT, x, y, x_axes=x_axes, y_axes=y_axes)


@with_fallback
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sums products over pairs of axes: the last n of `a` with the first n of `b` for a number n.

    A pair of axes, or of lists of axes, names them one by one; 0 gives the outer product.

    Args:
        a, b: tensors of one dtype.
        axes: a number, or the axes of `a` and those of `b`.
        name: without effect.

    Returns:
        A tensor with the axes that are left, those of `a` first.

    Raises:
        InvalidArgumentError: the sizes of a pair differ.

    >>> tf.tensordot([[1.0, 2.0]], [[3.0], [4.0]], axes=1).numpy().tolist()
    [[11.0]]
    """
    a, b = operands("tensordot", a, b)
    rank = len(a.shape)
    x_axes, y_axes = _axes(fixed("tensordot", "axes", axes), rank, len(b.shape))
    if x_axes == (rank - 1,) and y_axes == (0,) and len(b.shape) == 2 and rank >= 2:
        return tf.matmul(a, b)
    return _apply(a, b, x_axes, y_axes)


def _axes(
    axes: int | tuple[int | tuple[int, ...], ...], x_rank: int, y_rank: int
) -> tuple[Axes, Axes]:
    if isinstance(axes, int):
        require(
            0 <= axes <= min(x_rank, y_rank),
            "tensordot",
            f"`axes` {axes} does not fit tensors of rank {x_rank} and {y_rank}",
        )
        return tuple(range(x_rank - axes, x_rank)), tuple(range(axes))
    if axes is None or len(axes) != 2:
        got = axes if axes is None else list(axes)
        raise invalid("tensordot", f"`axes` must be a number or a pair; got {got}")
    ours, theirs = ((a,) if isinstance(a, int) else a for a in axes)
    require_dtype(
        all(f is not None and all(isinstance(i, int) for i in f) for f in (ours, theirs)),
        "tensordot",
        f"`axes` must be made of whole numbers; got {axes}",
    )
    require(
        len(ours) == len(theirs),
        "tensordot",
        f"`axes` names {len(ours)} axes of `a` and {len(theirs)} of `b`",
    )
    result = (
        tuple(shapes.check_axis("tensordot", i, x_rank) for i in ours),
        tuple(shapes.check_axis("tensordot", i, y_rank) for i in theirs),
    )
    require(
        all(len(set(f)) >= len(f) for f in result),
        "tensordot",
        f"`axes` names an axis twice; got {axes}",
    )
    return result


def _infer_cross(x: ShapeDtype, y: ShapeDtype) -> ShapeDtype:
    require(
        shapes.compatible(x.shape, y.shape),
        "cross",
        "both arguments must have the same shape",
        x,
        y,
    )
    shape = shapes.merge(x.shape, y.shape)
    require(shape is None or shape, "cross", "rank 1 or more was expected", x, y)
    require(
        shape is None or shape[-1] in (3, None),
        "cross",
        "cross products are only defined for vectors of 3 elements",
        x,
        y,
        kind=FailedPreconditionError,
    )
    return ShapeDtype(shape, x.dtype)


def _cross_kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    must_fit(x.shape == y.shape and x.shape[-1] == 3, "the shapes do not fit")
    return np.roll(x * np.roll(y, -1, -1) - np.roll(x, -1, -1) * y, -1, -1)


def _lower_cross(x: JaxArray, y: JaxArray) -> JaxArray:
    def rolled(z: JaxArray | np.ndarray) -> JaxArray:
        last = z.ndim - 1
        return lax.concatenate(
            [lax.slice_in_dim(z, 1, 3, axis=last), lax.slice_in_dim(z, 0, 1, axis=last)], last
        )

    return rolled(x * rolled(y) - rolled(x) * y)


CROSS = Op(
    "cross",
    "x y",
    kernel=_cross_kernel,
    infer=_infer_cross,
    lower=_lower_cross,
    grad=(lambda g, y: apply2(CROSS, y, g), lambda g, x: apply2(CROSS, g, x)),
    accepts=dtypes.NUMERIC,
)


@function_of(CROSS)
def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Any:
    """The cross product of vectors of 3 elements, which lie along the last axis."""


@with_fallback
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Swaps the last two axes."""
    a = operand(a)
    rank = len(a.shape)
    require(
        rank >= 2,
        "matrix_transpose",
        f"rank 2 or more was expected; got rank {rank}",
        kind=ValueError,
    )
    return tf.transpose(a, (*range(rank - 2), rank - 1, rank - 2), conjugate=conjugate)


@with_fallback
def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Swaps the last two axes and takes the complex conjugate."""
    return matrix_transpose(matrix, conjugate=True)
