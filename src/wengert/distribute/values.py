"""Values of several replicas: one for each, held as one stacked array where they look alike.

`PerReplica` is what `Strategy.run` takes apart and gives back, and what distributed datasets yield.
How replicas run it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wengert.composite.values import type_spec_from_value
from wengert.core import nest
from wengert.core.context import State, executing_eagerly, run_under
from wengert.core.types import (
    CompositeSpec,
    CompositeTensor,
    SymbolicTensor,
    Tensor,
    TensorSpec,
    Value,
    Variable,
)
from wengert.functions.signature import encode
from wengert.functions.trace import Slot, put_together, take_apart
from wengert.ops import public as tf


class DistributedValues:
    """A value for each replica; `tf.distribute.Strategy.experimental_local_results` lists them."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, by the number of the replica."""
        raise NotImplementedError


class Stacked(NamedTuple):
    """Values that look alike: their structure, and each of their tensors, stacked."""

    skeleton: Any
    parts: list[Any]
    replicas: int


class PerReplica(DistributedValues, CompositeTensor):
    """A value for each replica: tensors, sparse or ragged tensors, `IndexedSlices`, or objects.

    It is a leaf of a nest. Made of a sequence of values, or by `of_rows` of tensors whose rows are
    the replicas.

    >>> from wengert.distribute.values import PerReplica
    >>> [float(x) for x in PerReplica.of_rows(tf.constant([1.0, 2.0])).values]
    [1.0, 2.0]
    """

    __slots__ = ("_stacked", "_values")

    def __init__(self, values: Sequence[Any]) -> None:
        self._values: tuple[Any, ...] | None = tuple(values)
        self._stacked: Stacked | bool | None = None  # `False`: they cannot be stacked

    @classmethod
    def of_rows(cls, rows: Value, count: int | None = None) -> PerReplica:
        """The rows of a tensor; `count` says how many replicas there are, if its shape does not."""
        skeleton, parts = take_apart("PerReplica", rows)
        size = rows.shape[0] if count is None else count
        return cls.of_parts(skeleton, parts, size)

    @classmethod
    def of_parts(cls, skeleton: Any, parts: list[Any], count: int) -> PerReplica:
        """Values of one structure, whose tensors are rows of `parts`."""
        new = cls.__new__(cls)
        new._values, new._stacked = None, Stacked(skeleton, parts, count)
        return new

    @classmethod
    def apart(cls, values: Sequence[Any]) -> PerReplica:
        """Values that stay apart although they look alike."""
        new = cls(values)
        new._stacked = False
        return new

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, by the number of the replica."""
        if self._values is None:
            assert isinstance(self._stacked, Stacked), "a value is stacked or a tuple"
            skeleton, parts, count = self._stacked
            rows = zip(*_outside(parts, _unstacked, parts, count), strict=True)
            self._values = tuple([put_together(skeleton, list(row)) for row in rows])
        return self._values

    def __len__(self) -> int:
        return self._stacked.replicas if isinstance(self._stacked, Stacked) else len(self.values)

    def stacked(self) -> Stacked | None:
        """The values as one, stacked; `None` where replicas differ in shape, dtype or structure."""
        if self._stacked is None:
            self._stacked = _stacked(self.values) or False
        return self._stacked if isinstance(self._stacked, Stacked) else None

    @property
    def _primary(self) -> Any:
        return self.values[0]

    @property
    def _type_spec(self) -> PerReplicaSpec:
        stacked = self.stacked()
        if stacked is not None and type(stacked.skeleton) is Slot:
            rows = stacked.parts[0]
            spec = PerReplicaSpec(*[TensorSpec(rows.shape[1:], rows.dtype)] * stacked.replicas)
        else:
            spec = PerReplicaSpec(*map(type_spec_from_value, self.values))
        spec._stacked = stacked
        return spec

    def _remedy(self) -> str:
        return (
            "It has a value for each replica: use strategy.reduce(op, value, axis=None), "
            "strategy.gather(value, axis), or strategy.experimental_local_results(value)."
        )

    def __repr__(self) -> str:
        return self._shown(repr)

    def __str__(self) -> str:
        return self._shown(str)

    def _shown(self, show: Callable[[Any], str]) -> str:
        lines = [f"  {k}: {show(v)}" for k, v in enumerate(self.values)]
        return "PerReplica:{\n" + ",\n".join(lines) + "\n}"

    # As an argument of a function: stacked where that goes, so that the number of replicas costs
    # nothing.

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        stacked = self.stacked()
        if stacked is None:
            return super().__tf_flatten__()
        return Rows(stacked), list(stacked.parts)

    @classmethod
    def __tf_unflatten__(cls, rest: Any, parts: list[Any]) -> Any:
        if isinstance(rest, Rows):
            return cls.of_parts(rest.skeleton, parts, rest.count)
        return super().__tf_unflatten__(rest, parts)


class Rows:
    """What makes stacked values whole again; equal for those that look alike."""

    __slots__ = ("_key", "count", "skeleton")

    def __init__(self, stacked: Stacked) -> None:
        self.skeleton, parts, self.count = stacked
        one = put_together(self.skeleton, [0] * len(parts)) if parts else self.skeleton
        shapes = tuple([(p.dtype, p.shape._dims) for p in parts])
        self._key = (self.count, encode(one, []), shapes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class PerReplicaSpec(CompositeSpec):
    """The type of a per-replica value: the types of the values."""

    def __init__(self, *value_specs: Any) -> None:
        self._value_specs = tuple(value_specs)
        self._stacked = _stacked_specs(self._value_specs)

    @property
    def value_type(self) -> type:
        return PerReplica

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    @property
    def _component_specs(self) -> Any:
        return self._value_specs

    def _to_components(self, value: PerReplica) -> Any:
        return value.values

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(components)

    def _fitted(self, value: PerReplica) -> PerReplica:
        return value if self._stacked is not None else PerReplica.apart(value.values)

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        if self._stacked is None:
            return super().__tf_flatten__()
        rows = Rows(self._stacked)
        return rows, [TensorSpec(p.shape, p.dtype) for p in self._stacked.parts]

    @classmethod
    def __tf_unflatten__(cls, rest: Any, parts: list[Any]) -> Any:
        return PerReplica.__tf_unflatten__(rest, parts)


def _stacked_specs(specs: tuple[Any, ...]) -> Stacked | None:
    """Equal specs of tensors as one, stacked; values of open sizes may differ in each replica."""
    first = specs[0] if specs else None
    if not isinstance(first, TensorSpec) or not first.shape.is_fully_defined():
        return None
    if any(s is not first and s != first for s in specs):
        return None
    whole = TensorSpec([len(specs), *first.shape.as_list()], first.dtype)
    return Stacked(Slot(0), [whole], len(specs))


def _stacked(values: tuple[Any, ...]) -> Stacked | None:
    """The values as one, where each looks like the first."""
    if not values or any(isinstance(v, Variable) or not _has_tensors(v) for v in values):
        return None
    taken = [take_apart("PerReplica", v) for v in values]
    looks = [_look(v, tensors) for v, (_, tensors) in zip(values, taken, strict=True)]
    if looks[0] is None or any(look != looks[0] for look in looks):
        return None
    columns = [list(c) for c in zip(*[tensors for _, tensors in taken], strict=True)]
    parts = _outside([x for c in columns for x in c], _stacks, columns)
    return Stacked(taken[0][0], parts, len(values))


def _stacks(columns: list[list[Any]]) -> list[Any]:
    return [tf.stack(c) for c in columns]


def _unstacked(parts: list[Any], count: int) -> list[list[Any]]:
    return [tf.unstack(p, num=count) for p in parts]


def _outside(tensors: list[Any], make: Callable[..., Any], *given: Any) -> Any:
    """What is made of tensors, outside of the trace here where none of them is of a trace."""
    if executing_eagerly() or any(isinstance(x, SymbolicTensor) for x in tensors):
        return make(*given)
    return run_under(State(), make, *given)


def _has_tensors(value: Any) -> bool:
    return isinstance(value, Value | CompositeTensor)


def _look(value: Any, tensors: list[Tensor]) -> Any:
    """What must be equal for values to be stacked; `None` where a size is unknown."""
    shapes = [t.shape._dims for t in tensors]
    if any(s is None or None in s for s in shapes):
        return None
    return encode(value, []), shapes, [t.dtype for t in tensors]


def select(value: Any, number: int) -> Any:
    """What replica `number` has of a value: its own of per-replica values, any other itself."""
    return value.values[number] if isinstance(value, DistributedValues) else value


def regroup(values: Sequence[Any]) -> Any:
    """The nests of several replicas as one nest of per-replica values."""
    first = values[0]
    for other in values[1:]:
        nest.assert_same_structure(first, other)
    columns = zip(*map(nest.flatten, values), strict=True)
    return nest.pack_sequence_as(first, [PerReplica(c) for c in columns])
