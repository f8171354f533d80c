"""Repeating elements: tile and repeat.

Where a tensor says how often each element is repeated, the size of the result depends on the data,
so XLA has no counterpart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    Axis,
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    invalid,
    is_dynamic,
    lax,
    negative,
    operand,
    require,
    shapes,
    static_int,
    static_tuple,
    tf,
    with_fallback,
    with_length,
    wrap,
)
from wengert.ops.gather import GATHER, GATHER_GRAD, integer_tensor


def _infer_tile(x: ShapeDtype, multiples: tuple[int, ...]) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype((None,) * len(multiples), x.dtype)
    return ShapeDtype(tuple(map(_times, x.shape, multiples)), x.dtype)


def _times(size: int | None, count: int | None) -> int | None:
    """The size of so many copies; none of a size that is unknown have none."""
    if 0 in (size, count):
        return 0
    return None if size is None or count is None else size * count


def _interleaved(shape: Any, multiples: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for pair in zip(multiples, shape, strict=True) for n in pair)


def _lower_tile(x: JaxArray, multiples: tuple[int, ...]) -> JaxArray:
    spread = lax.broadcast_in_dim(x, _interleaved(x.shape, multiples), range(1, 2 * x.ndim, 2))
    return lax.reshape(spread, [d * m for d, m in zip(x.shape, multiples, strict=True)])


def _tile_grad(g: Tensor, x_shape: tuple[int | Dim, ...], multiples: tuple[int, ...]) -> Tensor:
    parts = tf.reshape(g, _interleaved(x_shape, multiples))
    return tf.reduce_sum(parts, list(range(0, 2 * len(multiples), 2)))


def _tile_kernel(x: np.ndarray, multiples: tuple[int, ...]) -> np.ndarray:
    if min(multiples, default=0) < 0:
        raise _bad_multiples(multiples, x.ndim)
    return np.tile(x, multiples)


def _bad_multiples(counts: tuple[int, ...], rank: int, *got: Value) -> Exception:
    return invalid("tile", f"`multiples` {list(counts)} must be {rank} numbers from 0 on", *got)


TILE = Op(
    "tile",
    "x",
    kernel=_tile_kernel,
    infer=_infer_tile,
    lower=_lower_tile,
    grad=_tile_grad,
)


@with_fallback
def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """Lays copies of a tensor side by side, `multiples[i]` along axis i.

    Args:
        input: a tensor.
        multiples: for each axis how many copies.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: there are not as many numbers as axes, or one is negative.

    >>> tf.tile([[1, 2]], [2, 2]).numpy().tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = operand(input)
    counts = static_tuple("tile", with_length(multiples, x._array.ndim), "multiples")
    if len(counts) != x._array.ndim or any(map(negative, counts)):
        raise _bad_multiples(counts, x._array.ndim, x)
    return apply(TILE, x, multiples=counts)


def _sources(size: int, counts: tuple[int, ...]) -> np.ndarray:
    """Which element each repeated one is a copy of."""
    return np.repeat(np.arange(size), counts)


def _infer_repeat(x: ShapeDtype, counts: int | tuple[int, ...] | None, axis: int) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype(None, x.dtype)
    size = x.shape[axis]
    if isinstance(counts, tuple):
        require(
            size in (None, len(counts)),
            "repeat",
            f"{len(counts)} `repeats` do not fit axis {axis} of size {size}",
            x,
        )
        total: int | None = sum(counts)
    else:
        total = _times(size, counts)
    return ShapeDtype((*x.shape[:axis], total, *x.shape[axis + 1 :]), x.dtype)


def _lower_repeat(x: JaxArray, counts: int | tuple[int, ...], axis: int) -> JaxArray:
    if not isinstance(counts, tuple):
        shape = (*x.shape[: axis + 1], counts, *x.shape[axis + 1 :])
        places = [k for k in range(x.ndim + 1) if k != axis + 1]
        spread = lax.broadcast_in_dim(x, shape, places)
        return lax.reshape(spread, (*x.shape[:axis], x.shape[axis] * counts, *x.shape[axis + 1 :]))
    assert GATHER.lower is not None, "gather has a lowering"
    places = lax.convert_element_type(_sources(x.shape[axis], counts), np.int64)
    return GATHER.lower(x, places, axis=axis, batch_dims=0)


def _repeat_grad(
    g: Tensor, x_shape: tuple[int | Dim, ...], counts: int | tuple[int, ...], axis: int
) -> Tensor:
    if isinstance(counts, tuple):
        places = wrap(_sources(len(counts), counts))
        return apply(GATHER_GRAD, g, places, shape=tuple(x_shape), axis=axis, batch_dims=0)
    parts = tf.reshape(g, (*x_shape[: axis + 1], counts, *x_shape[axis + 1 :]))
    return tf.reduce_sum(parts, axis + 1)


REPEAT = Op(
    "repeat",
    "x",
    kernel=lambda x, counts, axis: x.repeat(counts, axis),
    infer=_infer_repeat,
    lower=_lower_repeat,
    grad=_repeat_grad,
)


def _repeat_by_kernel(x: np.ndarray, counts: np.ndarray, axis: int) -> np.ndarray:
    flat = counts.ravel()
    require(
        flat.size != 1 or flat[0] >= 0,
        "repeat",
        lambda: f"`repeats` must not be negative; got {flat[0]}",
    )
    require(
        flat.size in (1, x.shape[axis]),
        "repeat",
        lambda: f"{flat.size} `repeats` do not fit axis {axis} of size {x.shape[axis]}",
    )
    return x.repeat(np.maximum(flat, 0), axis)


def _unknown_along(x: ShapeDtype, axis: int) -> ShapeDtype:
    if x.shape is None:
        return x
    return ShapeDtype((*x.shape[:axis], None, *x.shape[axis + 1 :]), x.dtype)


# Which element each repeated one is a copy of, as an index tensor.
SOURCES = Op(
    "repeat_sources",
    "counts",
    kernel=lambda counts, size: np.repeat(np.arange(size), np.maximum(counts.ravel(), 0)),
    infer=lambda counts, size: ShapeDtype((None,), dtypes.int64),
    lower=None,
    grad=None,
    register=False,
)


def _repeat_by_grad(
    g: SymbolicTensor, counts: SymbolicTensor, x_shape: tuple[int | Dim, ...], axis: int
) -> Tensor:
    places = apply(SOURCES, counts, size=x_shape[axis])
    return apply(GATHER_GRAD, g, places, shape=tuple(x_shape), axis=axis, batch_dims=0)


# `repeat` by numbers that only the running function knows.
REPEAT_BY = Op(
    "repeat_by",
    "x counts",
    kernel=_repeat_by_kernel,
    infer=lambda x, counts, axis: _unknown_along(x, axis),
    lower=None,
    grad=(_repeat_by_grad, None),
    match=(),
    register=False,
)


@with_fallback
def repeat(
    input: TensorLike, repeats: TensorLike, axis: Axis = None, name: str | None = None
) -> Tensor:
    """Repeats each element along `axis` (of the flattened tensor without one).

    `repeats` is one number, or one per element; of those, negative ones count as 0.

    Args:
        input: a tensor.
        repeats: how often, one number or one for each element along `axis`.
        axis: the axis.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: there are not as many numbers as elements.

    >>> tf.repeat([1, 2], [2, 3]).numpy().tolist()
    [1, 1, 2, 2, 2]
    """
    x = operand(input)
    if axis is None:
        x, axis = tf.reshape(x, (-1,)), 0
    elif not x._array.ndim:
        x = tf.reshape(x, (1,))
    dim = shapes.check_axis("repeat", static_int("repeat", axis), x._array.ndim)
    if _one_by_one(repeats):
        return apply(REPEAT_BY, x, integer_tensor("repeat", repeats, "repeats"), axis=dim)
    counts: Any = static_tuple("repeat", repeats, "repeats")
    if len(counts) != 1:
        counts = tuple(max(n, 0) for n in counts)
    elif negative(counts[0]):
        raise invalid("repeat", f"`repeats` must not be negative; got {counts[0]}", x)
    else:
        counts = counts[0]
    return apply(REPEAT, x, counts=counts, axis=dim)


def _one_by_one(repeats: Any) -> bool:
    """Whether there are several numbers of repetitions that only the running function knows."""
    if isinstance(repeats, list | tuple):
        return len(repeats) > 1 and any(type(r) is Dim or is_dynamic(r) for r in repeats)
    return is_dynamic(repeats) and repeats.shape._dims not in ((), (1,))
