"""`TensorSpec`: the shape and dtype of a tensor that is yet to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import dtypes
from wengert.core.dtypes import DType
from wengert.core.errors import (
    at_site,
    describe,
    unexpected,
)
from wengert.core.shapes import TensorShape

if TYPE_CHECKING:
    from wengert.core.types import DTypeLike, Tensor


class TypeSpec:
    """The base of all descriptions of values."""

    __slots__ = ()


class TensorSpec(TypeSpec):
    """Describes a tensor by shape, dtype and, if you like, a name.

    Args:
        shape: the sizes, with `None` for unknown ones, or `None` for an unknown rank.
        dtype: the dtype.
        name: the name of the argument.

    Raises:
        TypeError: a size is no number, or there is no such dtype.

    >>> tf.TensorSpec([None, 3]).is_compatible_with(tf.ones([2, 3]))
    True
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(
        self, shape: Any, dtype: DTypeLike = dtypes.float32, name: str | None = None
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        _demand("from_tensor", "a tensor", tensor)
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        _demand("from_spec", "a spec", spec)
        own = spec.name if isinstance(spec, TensorSpec) else None
        return cls(spec.shape, spec.dtype, name or own)

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def _array(self) -> Any:
        raise at_site(
            ValueError(
                f"TensorSpec: {describe(self)} only describes a tensor; a tensor was expected "
                f"here. Pass a tensor; specs go to get_concrete_function."
            )
        )

    _id = _array

    @property
    def value_type(self) -> type:
        from wengert.core.tensor import Tensor

        return Tensor

    def is_compatible_with(self, spec_or_tensor: Tensor | TensorSpec) -> bool:
        """Whether a tensor or spec could be of this kind."""
        if not hasattr(spec_or_tensor, "dtype") or not hasattr(spec_or_tensor, "shape"):
            return False
        same = self._dtype == spec_or_tensor.dtype
        return same and self._shape.is_compatible_with(spec_or_tensor.shape)

    def is_subtype_of(self, other: Any) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._dtype == other.dtype
            and self._shape.is_subtype_of(other.shape)
            and self._name in (None, other.name)
        )

    def most_specific_compatible_type(self, other: TensorSpec) -> TensorSpec:
        _demand("most_specific_compatible_type", "a spec", other)
        if self._dtype != other.dtype:
            raise ValueError(f"TensorSpec: {self} and {other} have no common type.")
        return TensorSpec(self._shape.most_specific_compatible_shape(other.shape), self._dtype)

    def _with_tensor_ranks_only(self) -> TensorSpec:
        """The spec with every size unknown; Keras 2 asks for it."""
        rank = self._shape.rank
        return TensorSpec(None if rank is None else [None] * rank, self._dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self._shape, self._dtype, self._name) == (
            other.shape,
            other.dtype,
            other.name,
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> Any:
        return TensorSpec, (self._shape, self._dtype, self._name)


def _demand(method: str, wanted: str, value: Any) -> None:
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise unexpected(f"TensorSpec.{method}", wanted, value)
