"""`IndexedSlices`: a tensor of which only some rows are given; what `gather` hands back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import dtypes
from wengert.core.composite import CompositeSpec, CompositeTensor
from wengert.core.dims import is_open, opened
from wengert.core.dtypes import DType
from wengert.core.shapes import TensorShape
from wengert.core.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


class IndexedSlices(CompositeTensor):
    """Rows `values[i]` that belong at `indices[i]` of a larger tensor; rows repeat by adding."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values if hasattr(values, "dtype") else _tensor(values)
        self._indices = indices if hasattr(indices, "dtype") else _tensor(indices)
        plain = isinstance(dense_shape, list | TensorShape)
        self._dense_shape = _sizes(dense_shape) if plain else dense_shape

    @classmethod
    def _of(cls, values: Any, indices: Any, dense_shape: Any = None) -> IndexedSlices:
        """Slices of parts that stay as they are: tensors, or what stands for them in a structure."""
        result = cls.__new__(cls)
        result._values, result._indices, result._dense_shape = values, indices, dense_shape
        return result

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole, as a tensor; `None` where it is not known."""
        if isinstance(self._dense_shape, tuple):
            from wengert.core.convert import to_tensor

            return to_tensor(self._dense_shape, dtypes.int32)
        return self._dense_shape

    @property
    def _parts(self) -> tuple[Any, Any, Any]:
        """Values, indices and the shape, which is a tensor where a trace does not know it."""
        shape = self.dense_shape if is_open(self._dense_shape) else self._dense_shape
        return self._values, self._indices, shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        shape = self._dense_shape
        if shape is None or isinstance(shape, tuple) or hasattr(shape, "numpy"):
            return TensorShape(opened(shape))
        return TensorShape([None] * shape.shape[0])

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        shape = self.dense_shape
        return IndexedSlicesSpec(
            self.shape,
            self.dtype,
            self._indices.dtype,
            None if shape is None else shape.dtype,
            self._indices.shape,
        )

    def _differentiable(self) -> Any:
        return self._values

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        from wengert.core.convert import to_tensor

        return to_tensor(self, dtype)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self) -> str:
        return (
            f"IndexedSlices(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self.dense_shape!s})"
        )


class IndexedSlicesSpec(CompositeSpec):
    """The type of `IndexedSlices`; without `dense_shape_dtype` they do not know their shape."""

    __slots__ = ("_facts",)

    def __init__(
        self,
        shape: list[int] | TensorShape | None = None,
        dtype: DType = dtypes.float32,
        indices_dtype: DType = dtypes.int64,
        dense_shape_dtype: DType | None = None,
        indices_shape: TensorShape | None = None,
    ) -> None:
        self._facts = (
            TensorShape(shape),
            dtypes.as_dtype(dtype),
            dtypes.as_dtype(indices_dtype),
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype),
            TensorShape([None]) if indices_shape is None else TensorShape(indices_shape),
        )

    @property
    def value_type(self) -> type:
        return IndexedSlices

    def _serialize(self) -> tuple[DType | TensorShape | None, ...]:
        return self._facts

    @property
    def _component_specs(self) -> list[TensorSpec]:
        shape, dtype, indices_dtype, shape_dtype, indices_shape = self._facts
        rows = TensorShape(indices_shape).concatenate(shape[1:])
        specs = [TensorSpec(rows, dtype), TensorSpec(indices_shape, indices_dtype)]
        if shape_dtype is not None:
            specs.append(TensorSpec([shape.rank], shape_dtype))
        return specs

    def _to_components(self, value: IndexedSlices) -> Any:
        parts = [value.values, value.indices]
        return parts if self._facts[3] is None else [*parts, value.dense_shape]

    def _from_components(self, components: list[Tensor]) -> IndexedSlices:
        return IndexedSlices._of(*components)


def _tensor(value: Any) -> Tensor:
    from wengert.core.convert import operand

    return operand(value)


def _sizes(shape: Any) -> Any:
    sizes = tuple(shape)
    known = all(type(d) is int for d in sizes)
    return sizes if known else _tensor(list(sizes))
