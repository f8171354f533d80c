"""`SparseTensor`: values at index tuples of a larger tensor that is zero elsewhere.

The index tuples stand in row order unless a program made them otherwise; operations that need
the order say so, and `tf.sparse.reorder` restores it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.composite.values import int64_tensor, known
from wengert.core.composite_operands import CompositeOperand
from wengert.core.types import CompositeSpec, TensorSpec
from wengert.ops.declare import (
    DType,
    DTypeLike,
    ShapeLike,
    Tensor,
    TensorLike,
    TensorShape,
    at_site,
    describe,
    dtypes,
    require,
    shapes,
    to_tensor,
    wrap,
)
from wengert.ops.dims import get_static_value
from wengert.ops.text import structure_text


class SparseTensorValue(NamedTuple):
    """The three parts of a sparse tensor as plain arrays."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor(CompositeOperand):
    """Values `values[i]` at `indices[i]` of a tensor of shape `dense_shape`, zero elsewhere.

    Args:
        indices: int64 `[count, rank]`.
        values: a vector of that length.
        dense_shape: the sizes.

    Raises:
        ValueError: the three do not fit each other.

    >>> x = tf.SparseTensor([[0, 1], [2, 0]], [3.0, 4.0], [3, 2])
    >>> tf.sparse.to_dense(x).numpy().tolist()
    [[0.0, 3.0], [0.0, 0.0], [4.0, 0.0]]
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = int64_tensor(indices)
        self._values = to_tensor(values)
        self._dense_shape = int64_tensor(dense_shape)
        self._static = self._check()

    def _check(self) -> TensorShape:
        """The static shape, after a look at whether the parts fit each other."""
        i, v, s = self._indices.shape, self._values.shape, self._dense_shape.shape
        for what, result, rank in (("indices", i, 2), ("values", v, 1), ("dense_shape", s, 1)):
            require(
                result.rank in (None, rank),
                "SparseTensor",
                f"`{what}` must have rank {rank}; got shape {result}",
                kind=ValueError,
            )
        require(
            i.rank is None
            or (shapes.compatible((i[0],), v._dims) and shapes.compatible((i[1],), s._dims)),
            "SparseTensor",
            lambda: (
                "`indices` needs a row for each value and a column for each axis; got "
                f"{describe(self._indices)} for {describe(self._values)} and {s[0]} axes"
            ),
            kind=ValueError,
        )
        sizes = known(self._dense_shape)
        if sizes is not None:
            return TensorShape(sizes.tolist())
        result = get_static_value(self._dense_shape, partial=True)
        if result is not None:
            return TensorShape(result)
        return TensorShape(None if s.rank is None or s[0] is None else [None] * s[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A sparse tensor from another, or from its parts as a named tuple."""
        parts = sparse_tensor_value
        names = SparseTensorValue._fields
        require(
            isinstance(parts, SparseTensor) or getattr(parts, "_fields", None) == names,
            "SparseTensor.from_value",
            "a SparseTensor or its three parts were expected",
            parts,
            kind=TypeError,
        )
        return cls(parts.indices, parts.values, parts.dense_shape)

    @property
    def indices(self) -> Tensor:
        """The index tuples, one row per value, as int64."""
        return self._indices

    @property
    def values(self) -> Any:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole as an int64 tensor."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole as far as it is known without running anything."""
        return self._static

    def get_shape(self) -> TensorShape:
        return self._static

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds what is known about the shape."""
        self._static = self._static.merge_with(shape)

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    def with_values(self, new_values: Tensor | list[float]) -> SparseTensor:
        """The same places with other values."""
        return _like(self, SparseTensor(self._indices, new_values, self._dense_shape))

    def consumers(self) -> list[Any]:
        """Nothing: eager values have no consumers."""
        return []

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self._static, self.dtype)

    def _differentiable(self) -> Tensor:
        return self._values

    def _with_gradient(self, gradient: Tensor) -> SparseTensor | None:
        return None if gradient is None else self.with_values(gradient)

    def _as_text(self, summarize: int) -> str:
        parts = [structure_text(p, summarize) for p in (self._indices, self._values)]
        shape = structure_text(self._dense_shape, summarize)
        return f"'SparseTensor(indices={parts[0]}, values={parts[1]}, shape={shape})'"

    def _remedy(self) -> str:
        return "Use tf.sparse.to_dense(x), or a function of tf.sparse."

    def __mul__(self, other: Any) -> SparseTensor:
        from wengert.composite.sparse_elements import times

        return times(self, other)

    def __rmul__(self, other: Any) -> SparseTensor:
        return self * other

    def __truediv__(self, other: Any) -> SparseTensor:
        from wengert.composite.sparse_elements import over

        return over(self, other)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def shaped(made: SparseTensor, shape: ShapeLike) -> SparseTensor:
    """A sparse tensor that was just made, with what is known of its shape."""
    made.set_shape(shape)
    return made


def _like(x: SparseTensor, made: SparseTensor) -> SparseTensor:
    """`made` with the static shape of `x`, which may be known better than from its parts."""
    made._static = x._static
    return made


class SparseTensorSpec(CompositeSpec):
    """The type of a sparse tensor: shape and dtype."""

    __slots__ = ("_dtype", "_shape")

    def __init__(
        self, shape: list[int | None] | TensorShape | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def value_type(self) -> type:
        return SparseTensor

    def _serialize(self) -> tuple[TensorShape, DType]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: SparseTensor) -> list[Tensor]:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: list[Tensor]) -> SparseTensor:
        return shaped(SparseTensor(*components), self._shape)

    # In datasets.

    def _batch(self, size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _unbatch_value(self, value: SparseTensor) -> list[SparseTensor]:
        return _rows(value)

    def _batch_values(self, values: list[SparseTensor]) -> SparseTensor:
        return _batched(values)


def as_sparse(name: str, value: TensorLike) -> SparseTensor:
    """A sparse tensor argument, given as one or by its parts."""
    if isinstance(value, SparseTensor):
        return value
    if getattr(value, "_fields", None) == SparseTensorValue._fields:
        return SparseTensor.from_value(value)
    raise at_site(
        TypeError(
            f"{name}: a SparseTensor was expected; got {describe(value)}. "
            f"Use tf.sparse.from_dense(x)."
        )
    )


def _rows(value: SparseTensor) -> list[SparseTensor]:
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


def _batched(values: list[SparseTensor]) -> SparseTensor:
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
