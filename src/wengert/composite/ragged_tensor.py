"""`RaggedTensor`: a tensor whose rows differ in length.

It is a sequence of values cut into rows by a `RowPartition`; the values may be ragged themselves,
down to the flat values, one dense tensor. Gradients flow through the flat values.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ragged_factories import Factories, fitted, values_of
from wengert.composite.ragged_operators import Operators
from wengert.composite.row_partition import RowPartition
from wengert.composite.values import known
from wengert.core.composite_operands import CompositeOperand
from wengert.core.errors import valueless
from wengert.ops.declare import (
    DType,
    DTypeLike,
    IndexedSlices,
    Tensor,
    TensorShape,
    at_site,
    invalid,
    require,
    shapes,
    tf,
)
from wengert.ops.text import rows_text

if TYPE_CHECKING:
    from wengert.composite.ragged_spec import RaggedTensorSpec
    from wengert.composite.sparse_tensor import SparseTensor


class RaggedTensor(Factories, Operators, CompositeOperand):
    """A tensor whose rows differ in length; made by `tf.ragged.constant` or a `from_` method.

    Args:
        values: the elements of all rows.
        row_partition: how they are cut into rows.
        internal: what only Wengert's own code sets.

    Raises:
        ValueError: it is called by a program.

    >>> x = tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], [2, 0, 1])
    >>> x.to_list()
    [[1.0, 2.0], [], [3.0]]
    """

    def __init__(
        self, values: Tensor | RaggedTensor, row_partition: RowPartition, internal: bool = False
    ) -> None:
        require(
            internal,
            "RaggedTensor",
            "make one with tf.ragged.constant or a method such as RaggedTensor.from_row_lengths",
            kind=ValueError,
        )
        self._values = values
        self._partition = row_partition

    @property
    def values(self) -> Any:
        """The rows put one after the other: a tensor, or a ragged one of one rank less."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values as one dense tensor."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def ragged_rank(self) -> int:
        """How many axes are cut into rows, one less than the number of the innermost such axis."""
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape; ragged axes have no size."""
        rows = self._partition
        outer = [rows.static_nrows, rows.static_uniform_row_length]
        return TensorShape(outer).concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The one length of all rows as a tensor where it is known to be one; else `None`."""
        return self._partition.uniform_row_length()

    @property
    def row_splits(self) -> Any:
        return self._partition.row_splits()

    def row_starts(self, name: str | None = None) -> Tensor:
        return self._partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        return self._partition.row_limits()

    def value_rowids(self, name: str | None = None) -> Tensor:
        """For each of the values the number of its row."""
        return self._partition.value_rowids()

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Any:
        """How many rows there are, as a scalar tensor."""
        return _cast(self._partition.nrows(), out_type)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows along `axis`, ragged themselves for inner axes."""
        place = check_axis("row_lengths", axis, self.shape.rank)
        if place == 0:
            return self.nrows()
        if place == 1:
            return self._partition.row_lengths()
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.row_lengths(place - 1))
        from wengert.composite.ragged_convert import uniform_lengths

        return self.with_values(uniform_lengths(inner, place - 1, self._partition.dtype))

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        return tuple(p.row_splits() for p in self._partitions)

    def nested_row_lengths(
        self, name: str | None = None
    ) -> tuple[Tensor, ...] | tuple[Tensor | IndexedSlices, ...]:
        return tuple(p.row_lengths() for p in self._partitions)

    def nested_value_rowids(
        self, name: str | None = None
    ) -> tuple[Tensor, Tensor] | tuple[Tensor, ...] | tuple[Tensor | IndexedSlices, ...]:
        return tuple(p.value_rowids() for p in self._partitions)

    @property
    def _partitions(self) -> list[RowPartition]:
        """The partitions of all axes that are cut, outermost first."""
        result, values = [], self
        while isinstance(values, RaggedTensor):
            result.append(values._partition)
            values = values._values
        return result

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> Tensor:
        """The sizes of the smallest dense tensor that holds this one."""
        from wengert.composite.ragged_convert import bounding_shape

        return _cast(bounding_shape(self, axis), out_type)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other values."""
        values = values_of(new_values)
        require(
            shapes.compatible(self._values.shape[:1]._dims, values.shape[:1]._dims),
            "with_values",
            "there must be as many values as before",
            self._values,
            values,
        )
        rows = self._partition
        if _may_differ(self._values, values):
            rows = fitted(values, rows)
        return RaggedTensor(values, rows, internal=True)

    def with_flat_values(
        self, new_values: Tensor | list[int] | IndexedSlices | RaggedTensor
    ) -> RaggedTensor:
        """The same rows with other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """The same tensor with row splits of int32 or int64."""
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(values, self._partition.with_dtype(dtype), internal=True)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Makes one axis of those from `outer_axis` to `inner_axis`."""
        from wengert.composite.ragged_shaping import merge_dims

        return merge_dims(self, outer_axis, inner_axis)

    def to_tensor(
        self,
        default_value: Tensor | float | list[float] | str | None = None,
        name: str | None = None,
        shape: Any = None,
    ) -> Any:
        """A dense tensor with short rows filled up; `shape` may cut rows or make them longer."""
        from wengert.composite.ragged_convert import to_tensor as to_dense

        return to_dense(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """A sparse tensor with the values at their places."""
        from wengert.composite.ragged_convert import to_sparse

        return to_sparse(self)

    def to_list(self) -> list[Any]:
        """The value as nested Python lists."""
        splits = self._host("to_list", self.row_splits)
        inner = self._values
        rows: Any = (
            inner.to_list()
            if isinstance(inner, RaggedTensor)
            else self._host("to_list", inner).tolist()
        )
        return [rows[a:b] for a, b in pairwise(splits)]

    def numpy(self) -> np.ndarray:
        """An array where all rows have one length, else an object array of the rows."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            values = inner.numpy()
        else:
            values = np.array(self._host("numpy", inner))
        rows = np.split(values, self._host("numpy", self.row_splits)[1:-1])
        if len(self) and any(len(row) != len(rows[0]) for row in rows):
            result = np.empty(len(rows), object)
            result[:] = rows
            return result
        return np.array(rows) if len(self) else np.zeros((0, *values[:0].shape), values.dtype)

    @staticmethod
    def _host(what: str, tensor: Tensor) -> np.ndarray:
        result = known(tensor)
        if result is None:
            raise valueless(
                at_site(ValueError(f"{what}: inside a function a ragged tensor has no value yet."))
            )
        return result

    def consumers(self) -> list[Any]:
        """Nothing: eager values have no consumers."""
        return []

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        from wengert.composite.ragged_spec import RaggedTensorSpec

        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._partition.dtype)

    def _differentiable(self) -> Tensor:
        return self.flat_values

    def _with_gradient(self, gradient: Tensor | IndexedSlices | None) -> RaggedTensor | None:
        return None if gradient is None else self.with_flat_values(gradient)

    def _as_text(self, summarize: int) -> str:
        return rows_text(self.to_list(), summarize)

    def _remedy(self) -> str:
        return "Use x.to_tensor() to fill short rows up, or x.flat_values."

    def __len__(self) -> int:
        rows = self._partition.static_nrows
        if rows is None:
            raise at_site(TypeError("len: the number of rows is not known yet. Use x.nrows()."))
        return rows

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Tensor | RaggedTensor:
        from wengert.composite.ragged_getitem import getitem

        return getitem(self, key)

    def __bool__(self) -> bool:
        raise at_site(TypeError("bool: a RaggedTensor has no one truth value."))

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __repr__(self) -> str:
        if known(self.flat_values) is None:
            return f"<tf.RaggedTensor shape={self.shape} dtype={self.dtype.name}>"
        return f"<tf.RaggedTensor {_show(self.numpy())}>"


def _show(value: Any) -> str:
    """Rows in brackets with commas, as Python lists are shown."""
    if not isinstance(value, np.ndarray):
        return repr(value) if isinstance(value, bytes) else str(value)
    if not value.size:  # NumPy would show empty rows as nothing at all
        return repr(value.tolist())
    return np.array2string(value, separator=", ", formatter={"all": _show})


def check_axis(name: str, axis: Any, rank: int | None, what: str = "axis") -> int:
    """An axis as a non-negative number; a negative one needs to know the rank."""
    if rank is None:
        if axis >= 0:
            return axis
        raise invalid(name, f"a negative `{what}` needs a known rank")
    return shapes.check_axis(name, axis, rank)


def _cast(x: Tensor, out_type: DType | DTypeLike | None) -> Tensor:
    return x if out_type is None else tf.cast(x, out_type)


def _may_differ(old: Any, new: Any) -> bool:
    """Whether a trace cannot tell that there are as many new values as old ones."""
    if isinstance(old, RaggedTensor) or isinstance(new, RaggedTensor):
        return False  # cut by partitions of their own, which say how many values they take
    if None in (old.shape.rank, new.shape.rank):
        return False
    if None not in (old.shape[0], new.shape[0]):
        return False
    return old._array.shape[0] != new._array.shape[0]


def ragged(values: Tensor | RaggedTensor, rows: RowPartition) -> RaggedTensor:
    """Values cut into rows that are known to fit."""
    return RaggedTensor(values, rows, internal=True)
