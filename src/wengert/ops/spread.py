"""What gradients of segment reductions need: rows from segments, and products of other rows."""

from __future__ import annotations

import math

import numpy as np

from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    Tensor,
    apply,
    dtypes,
    lax,
    shapes,
    tf,
    where_ranked,
    with_fallback,
)
from wengert.ops.scan import linear_recurrence, shift


def _spread_kernel(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    drop = ids < 0
    if not drop.any():
        return np.take(x, ids, 0)
    if not x.shape[0]:
        return np.zeros((*ids.shape, *x.shape[1:]), x.dtype)
    out = np.take(x, np.where(drop, 0, ids), 0)
    out[drop] = 0
    return out


def _lower_spread(x: JaxArray, ids: JaxArray) -> JaxArray:
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(ids.ndim, ids.ndim + x.ndim - 1)),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
    )
    places = lax.expand_dims(ids, (ids.ndim,))
    return lax.gather(x, places, numbers, (1, *x.shape[1:]), mode="fill", fill_value=0)


@where_ranked
def _infer_spread(x: Ranked, ids: Ranked) -> ShapeDtype:
    return ShapeDtype((*ids.shape, *x.shape[1:]), x.dtype)


def _spread_grad(g: Tensor, ids: Tensor, x_shape: tuple[int, ...]) -> Tensor:
    from wengert.ops.segment import UNSORTED_SUM

    return apply(UNSORTED_SUM, g, ids, num=x_shape[0])


SPREAD = Op(
    "segment_spread",
    "x ids",
    kernel=_spread_kernel,
    infer=_infer_spread,
    lower=_lower_spread,
    grad=(_spread_grad, None),
    match=(),
)


def spread(x: Tensor, ids: Tensor) -> Tensor:
    """Gives each row the value of its segment, and 0 where the number is negative."""
    return apply(SPREAD, x, ids)


def _borders_kernel(ids: np.ndarray) -> tuple[np.ndarray, ...]:
    order = np.argsort(ids.ravel(), kind="stable")
    ranked = ids.ravel()[order]
    joined = np.zeros(order.size, bool)
    joined[1:] = ranked[1:] == ranked[:-1]
    place = np.empty(order.size, np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    return order.astype(np.int32), place, joined


def _infer_borders(ids: ShapeDtype) -> tuple[ShapeDtype, ...]:
    size = shapes.size(ids.shape)
    return (
        ShapeDtype((size,), dtypes.int32),
        ShapeDtype((size,), dtypes.int32),
        ShapeDtype((size,), dtypes.bool_),
    )


def _lower_borders(ids: JaxArray) -> tuple[JaxArray, JaxArray, JaxArray]:
    flat = lax.reshape(ids, (ids.size,))
    count = lax.iota(np.int32, ids.size)
    ranked, order = lax.sort((flat, count), is_stable=True, num_keys=1)
    place = lax.sort((order, count), num_keys=1)[1]
    before = lax.concatenate([ranked[:1], ranked[:-1]], 0)
    return order, place, lax.bitwise_and(lax.eq(ranked, before), lax.gt(count, np.int32(0)))


BORDERS = Op(
    "segment_borders",
    "ids",
    kernel=_borders_kernel,
    infer=_infer_borders,
    lower=_lower_borders,
    grad=None,
    accepts=dtypes.INTEGER,
    outputs=3,
)


@with_fallback
def other_rows(
    x: Tensor, ids: Tensor, x_shape: tuple[int | Dim, ...], ids_shape: tuple[int | Dim, ...]
) -> Tensor:
    """For each row the product of all other rows of its segment, without dividing by zeros."""
    order, place, joined = apply(BORDERS, ids)
    size = math.prod(ids_shape)
    rows = tf.gather(tf.reshape(x, (size, *x_shape[len(ids_shape) :])), order)
    link = tf.reshape(tf.cast(joined, x.dtype), (size,) + (1,) * (len(x_shape) - len(ids_shape)))
    after = shift(link, 0, True)
    left = linear_recurrence(
        shift(rows, 0, False) * link, tf.ones_like(rows) * (1 - link), 0, False
    )
    right = linear_recurrence(
        shift(rows, 0, True) * after, tf.ones_like(rows) * (1 - after), 0, True
    )
    return tf.reshape(tf.gather(left * right, place), x_shape)
