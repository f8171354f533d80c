"""`tf.sets`: the rows of two tensors as sets of numbers, or of texts, in increasing order.

Texts are worked with by their places among all texts in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.composite.sparse_elements import from_dense
from wengert.composite.sparse_order import numbered, tuples
from wengert.composite.sparse_tensor import SparseTensor
from wengert.composite.values import Requirement, demand
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    require,
    require_dtype,
    tf,
    to_tensor,
)

_LEADS = Requirement(
    (
        lambda x, other: x.shape != other.shape or x != other,
        lambda x, other: (
            f"sizes must agree but for the last; got {x.tolist()} and {other.tolist()}"
        ),
    )
)


def _ranks(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    words, places = np.unique(x, return_inverse=True)
    return places.reshape(x.shape).astype(np.int64), words


# The place of each text among all in order, and these.
RANKS = Op(
    "string_ranks",
    "x",
    kernel=_ranks,
    infer=lambda x: (ShapeDtype(x.shape, dtypes.int64), ShapeDtype((None,), dtypes.string)),
    lower=None,
    grad=None,
    accepts=dtypes.nums("s"),
    outputs=2,
    register=False,
)


def intersection(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """The numbers that are in both rows."""
    return _combine(a, b, lambda ours, twice: twice)


def union(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """The numbers that are in either row."""
    return _combine(a, b, lambda ours, twice: tf.equal(twice, twice))


def difference(
    a: TensorLike, b: TensorLike, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """The numbers of the rows of `a` that are not in those of `b`, or the other way round."""
    if not aminusb:
        a, b = b, a
    return _combine(a, b, lambda ours, twice: tf.logical_and(ours, tf.logical_not(twice)))


def size(a: TensorLike, validate_indices: bool = True) -> Tensor:
    """How many different numbers each row has."""
    group, value, lead = _rows(a, 1)
    if value.dtype is dtypes.string:
        value, _ = apply(RANKS, value)
    group, _, _ = _distinct(group, value, tf.zeros_like(group))
    total = tf.unsorted_segment_sum(tf.ones_like(group), group, tf.reduce_prod(lead))
    return tf.reshape(tf.cast(total, dtypes.int32), lead)


def _rows(x: TensorLike, least: int) -> tuple[Tensor, Tensor, Tensor]:
    """For each number its row; the numbers; and the sizes that the rows are laid out in."""
    if not isinstance(x, SparseTensor):
        dense = to_tensor(x)
        places = from_dense(tf.ones_like(dense, dtypes.bool_))
        x = SparseTensor(places.indices, tf.reshape(dense, [-1]), places.dense_shape)
    require(
        x.shape.rank is None or x.shape.rank >= least,
        "sets",
        f"tensors of rank {least} or more are needed",
        x,
    )
    require_dtype(x.dtype.kind in "ius", "sets", "whole numbers or strings are needed", x)
    lead = x.dense_shape[:-1]
    return numbered("sets", SparseTensor(x.indices[:, :-1], x.values, lead)), x.values, lead


def _sorted(*keys: Tensor) -> list[Tensor]:
    """Columns sorted by the first, within it by the second, and so on."""
    columns = list(keys)
    for i in reversed(range(len(columns))):
        order = tf.argsort(columns[i], stable=True)
        columns = [tf.gather(c, order) for c in columns]
    return columns


def _repeats(group: Tensor, value: Tensor) -> Tensor:
    """Whether a number stands in the same row just before."""
    same = tf.logical_and(tf.equal(group[1:], group[:-1]), tf.equal(value[1:], value[:-1]))
    return tf.concat([tf.logical_not(tf.equal(group[:1], group[:1])), same], 0)


def _distinct(group: Tensor, value: Tensor, side: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    group, value, side = _sorted(group, value, side)
    first = tf.logical_not(_repeats(group, value))
    return (
        tf.boolean_mask(group, first),
        tf.boolean_mask(value, first),
        tf.boolean_mask(side, first),
    )


def _combine(a: TensorLike, b: TensorLike, choose: Any) -> SparseTensor:
    group_a, value_a, lead = _rows(a, 2)
    group_b, value_b, other = _rows(b, 2)
    require(
        lead.shape.is_compatible_with(other.shape), "sets", "the tensors must have one rank", a, b
    )
    lead = demand("sets", _LEADS, lead, other)
    require_dtype(
        value_a.dtype is value_b.dtype, "sets", "both must be of one dtype", value_a, value_b
    )
    if value_a.dtype is not dtypes.string:
        return _combined(group_a, value_a, group_b, value_b, lead, choose)
    ranks, words = apply(RANKS, tf.concat([value_a, value_b], 0))
    count = tf.shape(value_a)[0]
    result = _combined(group_a, ranks[:count], group_b, ranks[count:], lead, choose)
    return SparseTensor(result.indices, tf.gather(words, result.values), result.dense_shape)


def _combined(
    group_a: Tensor, value_a: Tensor, group_b: Tensor, value_b: Tensor, lead: Tensor, choose: Any
) -> SparseTensor:
    ours = _distinct(group_a, value_a, tf.zeros_like(group_a))
    theirs = _distinct(group_b, value_b, tf.ones_like(group_b))
    group, value, side = _sorted(*[tf.concat(pair, 0) for pair in zip(ours, theirs, strict=True)])
    again = _repeats(group, value)
    twice = tf.concat([again[1:], tf.logical_not(tf.equal(group[:1], group[:1]))], 0)
    keep = tf.logical_and(tf.logical_not(again), choose(tf.equal(side, 0), twice))
    return _packed(tf.boolean_mask(group, keep), tf.boolean_mask(value, keep), lead)


def _packed(group: Tensor, value: Tensor, lead: Tensor) -> SparseTensor:
    """Numbers put side by side in their rows."""
    counts = tf.unsorted_segment_sum(tf.ones_like(group), group, tf.reduce_prod(lead))
    starts = tf.gather(tf.cumsum(counts, exclusive=True), group)
    place = tf.subtract(tf.range(tf.shape(group, dtypes.int64)[0]), starts)
    longest = tf.reduce_max(tf.concat([tf.zeros([1], dtypes.int64), counts], 0))
    indices = tf.concat([tuples("sets", group, lead), tf.expand_dims(place, 1)], 1)
    return SparseTensor(indices, value, tf.concat([lead, tf.expand_dims(longest, 0)], 0))
