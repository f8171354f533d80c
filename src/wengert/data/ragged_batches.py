"""Batches of elements that differ in size: as ragged tensors, or as sparse ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ragged_convert import from_tensor
from wengert.composite.ragged_spec import RaggedTensorSpec
from wengert.composite.sparse_tensor import SparseTensor, SparseTensorSpec
from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.errors import at_site, describe, invalid
from wengert.core.types import DType, IndexedSlices, Tensor, TensorShape, TensorSpec
from wengert.data.batching import Batching, stack
from wengert.data.plan import Plan

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor


class RaggedBatch(Batching):
    """Batches in which tensors whose sizes are not known become ragged."""

    kind = "_ParallelMapDataset"

    def __init__(
        self, source: Plan, size: int, drop_remainder: bool, splits: DType | Tensor | IndexedSlices
    ) -> None:
        super().__init__(source, size, drop_remainder)
        self._splits = splits

    def combiner(self) -> Callable[[list[Any]], Any]:
        specs = self._leaves()
        return lambda elements: stack([_cut(e, specs) for e in elements], self.site, specs)

    def _leaves(self) -> list[RaggedTensorSpec]:
        return [_open(one, self._splits) for one in nest.flatten(self.input.spec)]

    def find_spec(self) -> RaggedTensorSpec:
        spec = nest.pack_sequence_as(self.input.spec, self._leaves())
        return self.batched(spec)


def _open(one: TensorSpec, splits: DType | Tensor | IndexedSlices) -> Any:
    """The ragged spec of a tensor whose sizes vary from element to element."""
    if not isinstance(one, TensorSpec) or one.shape.rank is None or one.shape.is_fully_defined():
        return one
    depth = max(axis for axis, size in enumerate(one.shape.as_list()) if size is None)
    return RaggedTensorSpec(one.shape, one.dtype, depth, splits)


def _cut(element: Tensor, specs: list[RaggedTensorSpec]) -> Tensor | RaggedTensor:
    """An element with the tensors that become ragged cut into rows."""
    leaves = [
        from_tensor(x, ragged_rank=s.ragged_rank, row_splits_dtype=s.row_splits_dtype)
        if isinstance(s, RaggedTensorSpec) and s.ragged_rank and not hasattr(x, "_type_spec")
        else x
        for x, s in zip(nest.flatten(element), specs, strict=True)
    ]
    return nest.pack_sequence_as(element, leaves)


class SparseBatch(Batching):
    """Batches of tensors as sparse ones, with room for rows of a given shape."""

    kind = "_DenseToSparseBatchDataset"

    def __init__(self, source: Plan, size: int, row_shape: list[int]) -> None:
        super().__init__(source, size, False)
        self._row = TensorShape(row_shape)
        if not isinstance(source.spec, TensorSpec):
            raise at_site(
                TypeError(
                    f"sparse_batch: the elements must be tensors; got {describe(source.spec)}. "
                    f"Pick one with map."
                )
            )

    def combiner(self) -> Callable[[list[Any]], Any]:
        return lambda elements: _sparse(elements, self._row)

    def find_spec(self) -> Any:
        shape = TensorShape([None]).concatenate(self._row)
        return SparseTensorSpec(shape, self.input.spec.dtype)


def _sparse(elements: list[Tensor], row: TensorShape) -> SparseTensor:
    arrays = [e._array for e in elements]
    sizes = [
        max(a.shape[i] for a in arrays) if d is None else d for i, d in enumerate(row.as_list())
    ]
    for a in arrays:
        if a.ndim != len(sizes) or any(n > m for n, m in zip(a.shape, sizes, strict=True)):
            raise invalid(
                "sparse_batch",
                f"an element of shape {list(a.shape)} does not fit `row_shape` {row.as_list()}",
            )
    indices = [
        np.concatenate([np.full((a.size, 1), i), np.indices(a.shape).reshape(a.ndim, -1).T], 1)
        for i, a in enumerate(arrays)
    ]
    return SparseTensor(
        wrap(np.concatenate(indices).astype(np.int64)),
        wrap(np.concatenate([a.reshape(-1) for a in arrays])),
        wrap(np.array([len(arrays), *sizes], np.int64)),
    )
