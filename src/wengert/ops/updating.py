"""Blocks of a tensor at a place that is a tensor: cut out, and replaced.

A block that would reach outside is moved inside, as XLA does, so nothing here can fail when run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    Value,
    apply,
    dtypes,
    invalid,
    lax,
    operand,
    operands,
    shapes,
    tf,
)


def _corner(start: np.ndarray, shape: tuple[int, ...], block: tuple[int, ...]) -> tuple[slice, ...]:
    room = np.subtract(shape, block).astype(np.int64)
    first = np.clip(start.astype(np.int64), 0, np.maximum(room, 0))
    return tuple(slice(int(i), int(i) + d) for i, d in zip(first, block, strict=True))


def _numbers(start: JaxArray) -> list[JaxArray]:
    return [lax.index_in_dim(start, k, 0, keepdims=False) for k in range(start.shape[0])]


def _check(name: str, x: ShapeDtype, block: shapes.Shape, start: ShapeDtype) -> None:
    if x.shape is None or block is None:
        return
    fits = len(block) == len(x.shape) and all(
        b is None or d is None or b <= d for b, d in zip(block, x.shape, strict=True)
    )
    if not fits or not shapes.compatible(start.shape, (len(block),)):
        raise invalid(
            name,
            "the block must fit into the tensor and have a start for each axis",
            x,
            ShapeDtype(block, x.dtype),
            start,
        )


def _update_kernel(x: np.ndarray, update: np.ndarray, start: np.ndarray) -> np.ndarray:
    out = x.copy()
    out[_corner(start, x.shape, update.shape)] = update
    return out


def _infer_update(x: ShapeDtype, update: ShapeDtype, start: ShapeDtype) -> ShapeDtype:
    _check("update_block", x, update.shape, start)
    return x


def _zeros(shape: tuple[int | Dim, ...], like: Tensor) -> Tensor:
    return tf.zeros(shape, like.dtype)


BLOCK = Op(
    "block",
    "x start",
    kernel=lambda x, start, shape: x[_corner(start, x.shape, shape)].copy(),
    infer=lambda x, start, shape: (_check("block", x, shape, start), ShapeDtype(shape, x.dtype))[1],
    lower=lambda x, start, shape: lax.dynamic_slice(
        x, _numbers(start), shape, allow_negative_indices=False
    ),
    grad=(
        lambda g, start, x_shape: apply(UPDATE_BLOCK, _zeros(x_shape, g), g, start),
        None,
    ),
    accepts=dtypes.ANY,
    match=(),
)


UPDATE_BLOCK = Op(
    "update_block",
    "x update start",
    kernel=_update_kernel,
    infer=_infer_update,
    lower=lambda x, update, start: lax.dynamic_update_slice(
        x, update, _numbers(start), allow_negative_indices=False
    ),
    grad=(
        lambda g, update_shape, start: apply(UPDATE_BLOCK, g, _zeros(update_shape, g), start),
        lambda g, start, update_shape: apply(BLOCK, g, start, shape=tuple(update_shape)),
        None,
    ),
    accepts=dtypes.ANY,
    match=(0, 1),
)


def update_block(x: Any, update: Value, start: Tensor) -> Tensor:
    """`x` with the block at `start` replaced by `update`; a block reaching out is moved inside."""
    x, update = operands("update_block", x, update)
    return apply(UPDATE_BLOCK, x, update, operand(start))


def block(x: Tensor, start: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The block of `shape` at `start`; one that would reach out is moved inside."""
    return apply(BLOCK, operand(x), operand(start), shape=tuple(shape))
