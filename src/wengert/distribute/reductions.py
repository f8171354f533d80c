"""Values of several replicas made one, between replicas: sums, means, joined tensors.

In `merge_call`, in the trace of a replica, they are collectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes, nest
from wengert.core.convert import operand
from wengert.core.errors import at_site, coded, describe, invalid, require
from wengert.core.types import CompositeTensor, IndexedSlices, Tensor, Value, Values, Variable
from wengert.distribute.reduce_ops import ReduceOp
from wengert.distribute.replica_context import gathered, here, reduced
from wengert.distribute.values import DistributedValues, PerReplica
from wengert.distribute.variables import copies_of
from wengert.ops import public as tf

if TYPE_CHECKING:
    from wengert.distribute.strategies import Strategy


def reduce_values(kind: ReduceOp, value: Values, strategy: Strategy) -> Tensor:
    """The sum or mean of the values of all replicas, for each in a nest."""
    return nest.map_structure(lambda x: _reduce(kind, x, strategy.num_replicas_in_sync), value)


def _reduce(kind: ReduceOp, value: Any, count: int) -> Any:
    if here().replicas:
        return reduced(kind, value, count)
    copies = copies_of(value) if isinstance(value, Variable) else None
    if copies is not None:
        return _rows(kind, copies.read_value(), count)
    if not isinstance(value, DistributedValues):
        return _single(kind, value, count)
    if not isinstance(value, PerReplica):
        value = PerReplica(value.values)
    if any(isinstance(v, CompositeTensor) for v in _some(value)):
        return _slices(kind, value.values, count)
    stacked = value.stacked()
    if stacked is not None:
        return _rows(kind, stacked.parts[0], count)
    parts = [operand(v) for v in value.values]
    _demand_one_shape(parts)
    total = tf.add_n(parts)
    return total if kind is ReduceOp.SUM else total / count


def _demand_one_shape(parts: Sequence[Value]) -> None:
    """Refuses parts of which no sum can be made, such as those of an uneven batch."""
    first = parts[0]
    other = next((p for p in parts if not p.shape.is_compatible_with(first.shape)), None)
    if other is None:
        return
    error = invalid(
        "reduce",
        "the values of all replicas must have one shape to be added",
        first,
        other,
        help=f"Parts of a batch have several where its rows do not divide among {len(parts)} "
        f"replicas: choose a multiple of {len(parts)} for the batch, or "
        f"batch(n, drop_remainder=True). Reduce with axis=0, or gather, to take rows as they are.",
    )
    raise coded(error, "WG903")


def _some(value: PerReplica) -> Sequence[Any]:
    """Values that show of what kind all are, without taking stacked ones apart if they are dense."""
    stacked = value.stacked()
    return () if stacked is not None and len(stacked.parts) == 1 else value.values


def _rows(kind: ReduceOp, rows: Any, count: int) -> Any:
    if kind is ReduceOp.MEAN and rows.dtype.is_floating:
        return tf.reduce_mean(rows, 0)
    total = tf.reduce_sum(rows, 0)
    return total if kind is ReduceOp.SUM else total / count


def _single(kind: ReduceOp, value: Values, count: int) -> Any:
    """A value that is no per-replica value: it is the mean of itself, but a sum of what?"""
    if count == 1 or kind is ReduceOp.MEAN:
        return value if isinstance(value, CompositeTensor) else operand(value)
    if not isinstance(value, Value | CompositeTensor) and np.all(value == 0):
        return operand(value)
    raise at_site(
        ValueError(
            f"reduce: the sum over {count} replicas is for values that differ by replica; got "
            f"{describe(value)}. Pass what strategy.run returned, or reduce with MEAN."
        )
    )


def _slices(kind: ReduceOp, values: Sequence[Any], count: int) -> IndexedSlices:
    require(
        all(isinstance(v, IndexedSlices) for v in values),
        "reduce",
        "values must be dense tensors or IndexedSlices",
        values[0],
        help="Reduce the parts of a sparse or ragged tensor.",
        kind=NotImplementedError,
    )
    rows = tf.concat([v.values for v in values], 0)
    if kind is ReduceOp.MEAN:
        rows = rows / tf.cast(count, rows.dtype)
    return IndexedSlices(rows, tf.concat([v.indices for v in values], 0), values[0]._dense_shape)


def reduce_axis(
    kind: ReduceOp, value: Values, axis: int | Sequence[int], strategy: Strategy
) -> Tensor:
    """The sum or mean of the elements of all replicas along an axis of each value.

    Each element counts the same for a mean, also where replicas have different numbers of them.
    """

    def one(x: Any) -> Any:
        if here().replicas:
            return _over(kind, axis, x, strategy)
        same = not isinstance(x, DistributedValues)  # a value that each replica has
        values = (x,) * strategy.num_replicas_in_sync if same else x.values
        if isinstance(x, PerReplica) and (stacked := x.stacked()) is not None:
            return _of_rows(kind, stacked.parts[0], axis)
        return _of_values(kind, [operand(v) for v in values], axis)

    return nest.map_structure(one, value)


def _axes(x: Any, axis: int | Sequence[int]) -> list[int]:
    """The axes as numbers from 0, checked."""
    rank = x.shape.rank
    given: list[Any] = list(axis) if isinstance(axis, list | tuple) else [axis]
    if rank is None:
        return [int(a) for a in given]
    for a in given:
        require(
            -rank <= int(a) < rank,
            "reduce",
            f"`axis` {a} is out of range for a value of rank {rank}",
            x,
            kind=ValueError,
        )
    return [int(a) % rank for a in given]


def _of_rows(kind: ReduceOp, rows: Any, axis: int | Sequence[int]) -> Any:
    """All replicas at once: they are one axis more."""
    if rows.shape.rank is None:
        return _of_values(kind, tf.unstack(rows), axis)
    places = [0, *[a + 1 for a in _axes(_Ranked(rows), axis)]]
    if kind is ReduceOp.SUM:
        return tf.reduce_sum(rows, places)
    if rows.dtype.is_floating:
        return tf.reduce_mean(rows, places)
    sizes = tf.gather(tf.shape(rows), places)
    total = tf.reduce_sum(rows, places)
    return total / tf.cast(tf.reduce_prod(sizes), total.dtype)


class _Ranked:
    """The shape of one row."""

    def __init__(self, rows: Any) -> None:
        self.shape = rows.shape[1:]
        self.dtype = rows.dtype


def _of_values(kind: ReduceOp, values: Sequence[Any], axis: int | Sequence[int]) -> Any:
    sums = [tf.reduce_sum(v, _axes(v, axis)) for v in values]
    total = tf.add_n(sums)
    if kind is ReduceOp.SUM:
        return total
    return total / tf.cast(tf.add_n([_size(v, axis) for v in values]), total.dtype)


def _size(value: Any, axis: int | Sequence[int]) -> Any:
    """How many elements are summed into one."""
    return tf.reduce_prod(tf.gather(tf.shape(value, dtypes.int64), _axes(value, axis)))


def _over(kind: ReduceOp, axis: int | Sequence[int], x: Any, strategy: Strategy) -> Tensor:
    """In `merge_call`: the sum of the sums of all replicas, and for a mean of their sizes."""
    x = operand(x)
    count = strategy.num_replicas_in_sync
    total = reduced(ReduceOp.SUM, tf.reduce_sum(x, _axes(x, axis)), count)
    if kind is ReduceOp.SUM:
        return total
    size = reduced(ReduceOp.SUM, _size(x, axis), count)
    return total / tf.cast(size, total.dtype)


def gather_values(value: Values, axis: int, strategy: Strategy) -> Tensor:
    """The values of all replicas, joined along an axis, for each in a nest."""

    def one(x: Any) -> Any:
        if here().replicas:
            return gathered("gather", x, axis, strategy.num_replicas_in_sync)
        values = x.values if isinstance(x, DistributedValues) else (x,)
        parts = [gathered("gather", v, axis, 0) for v in values]
        for v in parts:
            require(
                v.shape.rank != 0,
                "gather",
                "a scalar has no axis along which replicas could be joined",
                v,
                help="Use strategy.reduce or strategy.experimental_local_results.",
                kind=ValueError,
            )
        return tf.concat(parts, axis) if len(parts) > 1 else parts[0]

    return nest.map_structure(one, value)


def local_results(value: Any, strategy: Strategy) -> tuple[Any, ...]:
    """What each replica has of a value, or of a nest of values."""
    count = strategy.num_replicas_in_sync
    if isinstance(value, DistributedValues):
        return tuple(value.values)
    if here().replicas and isinstance(value, Value) and not isinstance(value, Variable):
        return tuple(tf.unstack(gathered("gather", tf.expand_dims(value, 0), 0, count), num=count))
    if isinstance(value, Variable):
        copies = copies_of(value)
        if copies is not None:
            return tuple(tf.unstack(copies.read_value(), num=count))
        return (value,) * (count if _owned(value) else 1)
    if not nest.is_nested(value):
        return (value,)
    flat = [local_results(x, strategy) for x in nest.flatten(value)]
    most = max(map(len, flat), default=1)
    return tuple(
        [nest.pack_sequence_as(value, [r[min(k, len(r) - 1)] for r in flat]) for k in range(most)]
    )


def _owned(variable: Variable) -> bool:
    return variable._distribute_strategy is not None
