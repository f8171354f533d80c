"""The index tuples of sparse tensors as single numbers: for sorting, reshaping and merging."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from wengert.composite.sparse_tensor import SparseTensor, shaped
from wengert.composite.values import known, pick
from wengert.ops.declare import ShapeLike, Tensor, TensorLike, dtypes, invalid, tf


def strides(name: str, dense_shape: Any) -> Tensor:
    """How far apart neighbours along each axis lie when the tensor is written out in row order."""
    sizes = known(dense_shape)
    if sizes is not None and math.prod(sizes.tolist()) >= 2**63:
        raise invalid(name, f"a dense shape of {sizes.tolist()} has too many places to number")
    return tf.cumprod(dense_shape, 0, exclusive=True, reverse=True)


def numbered(name: str, x: SparseTensor) -> Tensor:
    """The place of each value when the whole tensor is written out in row order."""
    return tf.reduce_sum(tf.multiply(x.indices, strides(name, x.dense_shape)), axis=1)


def tuples(name: str, places: TensorLike, dense_shape: ShapeLike) -> Tensor:
    """Index tuples from places in row order; the inverse of `numbered`."""
    columns = []
    for stride in tf.unstack(strides(name, dense_shape)):
        columns.append(tf.floordiv(places, stride))
        places = tf.floormod(places, stride)
    if not columns:
        return tf.zeros(tf.concat([tf.shape(places), [0]], 0), dtypes.int64)
    return tf.stack(columns, axis=1)


def sorted_by(places: Tensor, x: SparseTensor) -> SparseTensor:
    """A sparse tensor with its values in the order of `places`."""
    order = tf.argsort(places, stable=True)
    return shaped(
        SparseTensor(tf.gather(x.indices, order), pick(x.values, order), x.dense_shape), x.shape
    )


class Union(NamedTuple):
    """The places of two sparse tensors in row order, and the values of each, zero where none."""

    indices: Any
    ours: Any
    theirs: Any
    shared: Any  # whether both tensors have a value there


def union(name: str, a: SparseTensor, b: SparseTensor) -> Union:
    """Brings two sparse tensors to the same places."""
    places = tf.concat([numbered(name, a), numbered(name, b)], 0)
    order = tf.argsort(places, stable=True)
    placed = tf.gather(places, order)
    first = tf.concat([tf.equal(placed[:1], placed[:1]), tf.not_equal(placed[1:], placed[:-1])], 0)
    segments = tf.cumsum(tf.cast(first, dtypes.int64)) - 1
    ours = tf.concat([a.values, tf.zeros_like(b.values)], 0)
    theirs = tf.concat([tf.zeros_like(a.values), b.values], 0)
    indices = tf.boolean_mask(tf.gather(tf.concat([a.indices, b.indices], 0), order), first)
    results = [tf.segment_sum(tf.gather(v, order), segments) for v in (ours, theirs)]
    count = tf.segment_sum(tf.ones_like(segments), segments)
    return Union(indices, results[0], results[1], tf.greater(count, 1))


def check_order(name: str, x: SparseTensor) -> None:
    """Refuses index tuples that repeat, go backwards or lie outside, where they are known."""
    indices, sizes = known(x.indices), known(x.dense_shape)
    if indices is None or sizes is None:
        return
    outside = (indices < 0) | (indices >= sizes)
    if outside.any():
        bad = indices[outside.any(1)][0].tolist()
        raise invalid(name, f"the index {bad} lies outside a tensor of shape {sizes.tolist()}")
    places = indices @ np.cumprod(np.append(sizes[1:], 1)[::-1])[::-1][: len(sizes)]
    steps = places[1:] - places[:-1]
    if (steps <= 0).any():
        at = int((steps <= 0).argmax())
        how = "is there twice" if steps[at] == 0 else "is out of order"
        raise invalid(
            name,
            f"the index {indices[at + 1].tolist()} {how}",
            help="Use tf.sparse.reorder(x), or validate_indices=False.",
        )
