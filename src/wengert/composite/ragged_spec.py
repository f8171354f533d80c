"""`RaggedTensorSpec`: the type of a ragged tensor, and its batches in datasets.

Elements of datasets have values, so NumPy cuts them into rows and puts them together. A row of a
ragged tensor with one cut axis is a plain tensor; its spec, a ragged one without cuts, says that it
goes together with others to a ragged batch.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.core.errors import unexpected
from wengert.core.types import CompositeSpec, TensorSpec
from wengert.ops.declare import (
    DType,
    DTypeLike,
    IndexedSlices,
    Tensor,
    TensorShape,
    at_site,
    dtypes,
    invalid,
    require,
    static_int,
    wrap,
)


class RaggedTensorSpec(CompositeSpec):
    """The type of a ragged tensor: shape, dtype, how many axes are cut, and type of row splits."""

    __slots__ = ("_facts", "_flat_values_spec")

    def __init__(
        self,
        shape: list[int | None] | TensorShape | None = None,
        dtype: DTypeLike = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike | DType | Tensor | IndexedSlices = dtypes.int64,
        flat_values_spec: Any = None,
    ) -> None:
        size = TensorShape(shape)
        if ragged_rank is None:
            if size.rank is None:
                raise at_site(
                    ValueError("RaggedTensorSpec: give `ragged_rank` or a shape of known rank.")
                )
            ragged_rank = max(size.rank - 1, 0)
        name = "RaggedTensorSpec"
        ragged_rank = static_int(name, ragged_rank, "ragged_rank")
        require(
            0 <= ragged_rank < 64,
            name,
            lambda: f"`ragged_rank` must be from 0 to 63; got {ragged_rank}",
            kind=ValueError,
        )
        splits = dtypes.as_dtype(row_splits_dtype)
        require(
            splits in (dtypes.int32, dtypes.int64),
            name,
            lambda: f"row splits are int32 or int64; got {splits.name}",
            kind=ValueError,
        )
        require(
            size.rank is None or ragged_rank < max(size.rank, 1),
            name,
            lambda: f"`ragged_rank` {ragged_rank} must be less than the rank {size.rank}",
            kind=ValueError,
        )
        kind = dtypes.as_dtype(dtype) if flat_values_spec is None else flat_values_spec.dtype
        self._facts = (size, kind, ragged_rank, splits)
        self._flat_values_spec = flat_values_spec

    @property
    def shape(self) -> TensorShape:
        return self._facts[0]

    @property
    def dtype(self) -> DType:
        return self._facts[1]

    @property
    def ragged_rank(self) -> int:
        return self._facts[2]

    @property
    def row_splits_dtype(self) -> DType:
        return self._facts[3]

    @property
    def flat_values_spec(self) -> Any:
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        return RaggedTensor if self.ragged_rank else Tensor

    def _serialize(self) -> tuple[TensorShape, DType, int, DType]:
        return self._facts

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor, or of a dense one as a tensor without cuts."""
        if isinstance(value, RaggedTensor):
            return value._type_spec
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            raise unexpected("RaggedTensorSpec.from_value", "a ragged or dense tensor", value)
        return cls(value.shape, value.dtype, 0)

    def is_compatible_with(self, spec_or_value: Tensor | RaggedTensor) -> bool:
        """Whether a tensor or spec could be of this kind."""
        other = spec_or_value
        if not self.ragged_rank and hasattr(other, "dtype") and not hasattr(other, "_type_spec"):
            return self.dtype == other.dtype and self.shape.is_compatible_with(other.shape)
        return super().is_compatible_with(other)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        shape, dtype, depth, splits = self._facts
        if not depth:
            return [TensorSpec(shape, dtype)]
        inner = None if shape.rank is None else [None, *shape[depth + 1 :]]
        rows = None if shape.rank is None or shape[0] is None else shape[0] + 1
        cuts = [TensorSpec([None if axis else rows], splits) for axis in range(depth)]
        return [self._flat_values_spec or TensorSpec(inner, dtype), *cuts]

    def _to_components(self, value: Any) -> list[Tensor]:
        if not isinstance(value, RaggedTensor):
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: list[Tensor]) -> Any:
        shape, _, depth, _ = self._facts
        values, splits = components[0], components[1:]
        for axis in range(depth, 0, -1):
            size = None if shape.rank is None else shape[axis]
            rows = RowPartition(splits[axis - 1], uniform=size)
            values = ragged(values, rows)
        return values

    # In datasets.

    def _batch(self, size: int | None) -> RaggedTensorSpec:
        shape, dtype, depth, splits = self._facts
        return RaggedTensorSpec(TensorShape([size]).concatenate(shape), dtype, depth + 1, splits)

    def _unbatch(self) -> Any:
        shape, dtype, depth, splits = self._facts
        if not depth:
            return TensorSpec(shape[1:], dtype)
        return RaggedTensorSpec(shape[1:], dtype, depth - 1, splits)

    def _unbatch_value(self, value: Any) -> list[Tensor | RaggedTensor]:
        return _rows(value)

    def _batch_values(self, values: list[Tensor | RaggedTensor]) -> Any:
        return _batched(values, self.ragged_rank, self.row_splits_dtype)


def _rows(value: Any) -> list[Tensor | RaggedTensor]:
    """The rows of a ragged tensor."""
    if isinstance(value, Tensor):
        return [wrap(row) for row in value._array]
    splits = value.row_splits._array.tolist()
    inner = value.values
    if isinstance(inner, Tensor):
        flat = inner._array
        return [wrap(flat[a:b]) for a, b in pairwise(splits)]
    return [inner[a:b] for a, b in pairwise(splits)]


def _batched(values: list[Any], depth: int, splits: DType) -> RaggedTensor:
    """Elements with `depth` cut axes as the rows of a ragged tensor with one more."""
    flat = [v.flat_values._array if depth else v._array for v in values]
    if len({a.shape[1:] for a in flat}) > 1:
        shapes = " and ".join(sorted({str(list(a.shape)) for a in flat})[:2])
        raise invalid(
            "batch",
            f"the elements of a ragged batch may differ in their first size only; there are "
            f"{shapes}",
            help="Make ragged tensors of them with map first.",
        )
    cuts = [[s._array for s in v.nested_row_splits] for v in values] if depth else []
    outer = [len(c[0]) - 1 for c in cuts] if depth else [len(a) for a in flat]
    levels = [outer, *[np.concatenate([np.diff(c[k]) for c in cuts]) for k in range(depth)]]
    result: Any = wrap(np.concatenate(flat))
    for lengths in reversed(levels):
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(splits.np)
        result = ragged(result, RowPartition(wrap(ends)))
    return result
