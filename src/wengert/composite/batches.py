"""Composites as elements of datasets: cut into rows, and put together to batches.

Elements have values, so NumPy does it. A row of a ragged tensor with one cut axis is a plain
tensor; its spec, a ragged one without cuts, says that it goes together with others to a ragged
batch.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core.apply import wrap
from wengert.core.errors import invalid, require
from wengert.core.tensor import Tensor

if TYPE_CHECKING:
    from wengert.core.dtypes import DType


def ragged_rows(value: Any) -> list[Tensor | RaggedTensor]:
    """The rows of a ragged tensor."""
    if isinstance(value, Tensor):
        return [wrap(row) for row in value._array]
    splits = value.row_splits._array.tolist()
    inner = value.values
    if isinstance(inner, Tensor):
        flat = inner._array
        return [wrap(flat[a:b]) for a, b in pairwise(splits)]
    return [inner[a:b] for a, b in pairwise(splits)]


def ragged_batch(values: list[Any], depth: int, splits: DType) -> RaggedTensor:
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


def sparse_rows(value: SparseTensor) -> list[SparseTensor]:
    """The rows of a sparse tensor."""
    indices, values = value.indices._array, value.values._array
    size, *rest = value.dense_shape._array.tolist()
    order = np.argsort(indices[:, 0], kind="stable")
    indices, values = indices[order], values[order]
    ends = np.searchsorted(indices[:, 0], np.arange(size + 1))
    shape = wrap(np.array(rest, np.int64))
    return [
        SparseTensor(wrap(indices[a:b, 1:]), wrap(values[a:b]), shape)
        for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]


def sparse_batch(values: list[SparseTensor]) -> SparseTensor:
    """Sparse tensors as the rows of one, as large as the largest of them."""
    rank = {len(v.dense_shape._array) for v in values}
    require(len(rank) <= 1, "batch", "the sparse tensors of a batch must have the same rank")
    counts = [len(v.values._array) for v in values]
    rows = np.repeat(np.arange(len(values), dtype=np.int64), counts)
    inner = np.concatenate([v.indices._array for v in values])
    sizes = np.max([v.dense_shape._array for v in values], 0)
    return SparseTensor(
        wrap(np.concatenate([rows[:, None], inner], 1)),
        wrap(np.concatenate([v.values._array for v in values])),
        wrap(np.concatenate([[len(values)], sizes]).astype(np.int64)),
    )
