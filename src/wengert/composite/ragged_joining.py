"""Ragged tensors joined, stacked, repeated, split and reversed."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from wengert.composite.ragged_convert import from_tensor
from wengert.composite.ragged_factories import values_of
from wengert.composite.ragged_gather import alike, pick_rows
from wengert.composite.ragged_shaping import expand_dims
from wengert.composite.ragged_tensor import RaggedTensor, check_axis, ragged
from wengert.composite.row_partition import RowPartition, same_rows
from wengert.composite.rules import for_ragged
from wengert.composite.values import Requirement, demand
from wengert.ops import joining, reordering, repeating
from wengert.ops.declare import (
    Axis,
    Tensor,
    TensorLike,
    Value,
    dtypes,
    invalid,
    require,
    static,
    static_int,
    static_tuple,
    tf,
    to_tensor,
)
from wengert.ops.shaping import transpose

_SAME_COUNTS = Requirement(
    (
        lambda order, first, *rest: reduce(or_, [n != first for n in rest]),
        lambda order, *counts: (
            f"there must be as many rows in each tensor; got {' and '.join(map(str, counts))}"
        ),
    )
)


@for_ragged(joining.concat)
def concat(values: TensorLike, axis: Any, name: str | None = "concat") -> Any:
    """Joins ragged (and dense) tensors along an axis."""
    xs = [values_of(v) for v in _listed("concat", values)]
    place = check_axis("concat", static_int("concat", axis), xs[0].shape.rank)
    return xs[0] if len(xs) == 1 else _join(xs, place)


def _listed(name: str, values: Any) -> list[Any]:
    single = isinstance(values, RaggedTensor | Value | np.ndarray | str | bytes)
    if single or not hasattr(values, "__iter__"):
        return [values]
    require(values, name, "at least one tensor is needed", kind=ValueError)
    return list(values)


def _join(xs: list[Any], axis: int) -> Tensor | RaggedTensor:
    if not any(isinstance(x, RaggedTensor) for x in xs):
        return joining.concat(xs, axis)
    rows = alike("concat", xs)
    if axis == 0:
        lengths = joining.concat([x.row_lengths() for x in rows], 0)
        inner = _join([x.values for x in rows], 0)
        return ragged(inner, RowPartition.from_row_lengths(lengths, validate=False))
    if axis == 1:
        return _side_by_side(rows)
    for other in rows[1:]:
        if same_rows(rows[0]._partition, other._partition) is False:
            raise invalid("concat", "the rows must agree but for the axis", rows[0], other)
    return rows[0].with_values(_join([x.values for x in rows], axis - 1))


def _side_by_side(xs: list[RaggedTensor]) -> RaggedTensor:
    """Row i of the result is row i of each tensor in turn."""
    first = xs[0]
    for other in xs[1:]:
        require(
            first.shape[:1].is_compatible_with(other.shape[:1]),
            "concat",
            "there must be as many rows in each tensor",
            first,
            other,
        )
    stacked = _join(list(xs), 0)
    known_counts = [n for n in (x._partition.static_nrows for x in xs) if n is not None]
    counts = [x.nrows() for x in xs]
    count = to_tensor(known_counts[0], counts[0].dtype) if known_counts else counts[0]
    order = tf.reshape(transpose(tf.reshape(tf.range(count * len(xs)), [len(xs), -1])), [-1])
    if len(known_counts) < len(xs):
        order = demand("concat", _SAME_COUNTS, order, *counts)
    woven = pick_rows(stacked, order)
    splits = woven.row_splits[:: len(xs)]
    return ragged(woven.values, RowPartition(splits))


@for_ragged(joining.stack)
def stack(values: TensorLike, axis: Any = 0, name: str | None = "stack") -> Any:
    """Joins ragged (and dense) tensors along a new axis."""
    xs = [values_of(v) for v in _listed("stack", values)]
    rank = xs[0].shape.rank
    place = check_axis("stack", static_int("stack", axis), None if rank is None else rank + 1)
    if any(isinstance(x, RaggedTensor) for x in xs):
        xs = list(alike("stack", xs))
    elif place == rank:
        return joining.stack(xs, place)
    else:
        wide = [joining.stack([x], 0) for x in xs] if not place else xs
        return _stack_dense(wide, place)
    return _join([expand_dims(x, place) for x in xs], place)


def _stack_dense(xs: list[Any], place: int) -> RaggedTensor | Tensor:
    """Dense tensors of one rank, cut along all axes but the last so that they may differ."""
    depth = len(xs[0].shape) - 1
    kind = dtypes.int32 if depth == 1 else dtypes.int64
    rows: list[Any] = [from_tensor(x, None, None, depth, kind) for x in xs]
    if place:
        rows = [expand_dims(x, place) for x in rows]
    return _join(rows, place)


@for_ragged(repeating.tile)
def tile(input: Any, multiples: TensorLike, name: str | None = None) -> Any:
    """Lays copies of a ragged tensor side by side, `multiples[i]` along axis i."""
    counts = static_tuple("tile", multiples, "multiples")
    require(
        input.shape.rank in (None, len(counts)) and min(counts) >= 0,
        "tile",
        lambda: f"`multiples` {list(counts)} must be one number per axis",
        input,
    )
    result = input
    for axis in reversed(range(len(counts))):
        if counts[axis] == 0:
            result = result[(slice(None),) * axis + (slice(0, 0),)]
        elif counts[axis] > 1:
            result = _join([result] * counts[axis], axis)
    return result


@for_ragged(reordering.reverse)
def reverse(tensor: Any, axis: Axis, name: str | None = None) -> TensorLike:
    """The rows in the opposite order along the given axes."""
    wanted = static("reverse", axis)
    axes = [wanted] if isinstance(wanted, int) else list(wanted)
    result = tensor
    for a in axes:
        result = _reversed(result, check_axis("reverse", a, tensor.shape.rank))
    return result


def _reversed(x: TensorLike, axis: int) -> Tensor | RaggedTensor:
    if not isinstance(x, RaggedTensor):
        return tf.reverse(x, [axis])
    if axis == 0:
        return pick_rows(x, tf.range(x.nrows())[::-1])
    if axis == 1:
        rows = x._partition
        last = tf.gather(rows.row_limits(), rows.value_rowids()) - 1
        return x.with_values(pick_rows(x.values, tf.subtract(last, rows.offsets_in_rows())))
    return x.with_values(_reversed(x.values, axis - 1))


@for_ragged(joining.split)
def split(
    value: Any,
    num_or_size_splits: TensorLike,
    axis: Any = 0,
    num: Any = None,
    name: str | None = "split",
) -> list[Any]:
    """Cuts a ragged tensor along its first axis, or along an inner one that is uniform."""
    place = check_axis("split", static_int("split", axis), value.shape.rank)
    if place > value.ragged_rank:
        parts = joining.split(value.flat_values, num_or_size_splits, place - value.ragged_rank)
        return [value.with_flat_values(part) for part in parts]
    size = value._partition.static_nrows
    if place or size is None:
        raise invalid("split", "an axis with rows of different lengths is not split", value)
    sizes = _sizes(static("split", num_or_size_splits), size, value)
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [value[end - n : end] for n, end in zip(sizes, ends, strict=True)]


def _sizes(wanted: int | tuple[int, ...], size: int, value: TensorLike) -> list[int]:
    if isinstance(wanted, int):
        even = wanted > 0 and size % wanted == 0
        sizes = [size // wanted] * wanted if even else [-1]
    else:
        sizes = list(wanted)
    require(
        min(sizes, default=0) >= 0 and sum(sizes) == size,
        "split",
        f"{size} rows do not split into {wanted}",
        value,
    )
    return sizes
