"""Specs of values that hold elements: datasets and iterators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.types import TensorShape, TensorSpec, TypeSpec
from wengert.data.structure import join

if TYPE_CHECKING:
    from wengert.data.dataset import Dataset


class HolderSpec(TypeSpec):
    """The spec of something that holds elements of one spec."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._element_spec

    @classmethod
    def from_value(cls, value: Dataset) -> Any:
        """The spec of a value of this kind."""
        return cls(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value or spec is of this kind, with elements that fit."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        if type(other) is not type(self):
            return False
        try:
            join(self._element_spec, other._element_spec)
        except TypeError:
            return False
        return True

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value of this kind is one of `other` too."""
        return type(other) is type(self) and self.most_specific_compatible_type(other) == other

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The narrowest spec that takes in both."""
        if type(other) is not type(self):
            raise ValueError(f"{type(self).__name__}: {self} and {other} have no common type.")
        return type(self)(join(self._element_spec, other._element_spec))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._element_spec == other._element_spec

    def __hash__(self) -> int:
        return hash((type(self), repr(self._element_spec)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._element_spec!r},)"

    def __reduce__(self) -> Any:
        return type(self), (self._element_spec,)

    # In a signature it stands for the number by which a graph knows its value.

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        return self, [TensorSpec((), "int64")]

    @staticmethod
    def __tf_unflatten__(spec: HolderSpec, parts: list[Any]) -> HolderSpec:
        return spec


class DatasetSpec(HolderSpec):
    """Describes a `tf.data.Dataset` by the spec of its elements."""

    __slots__ = ("_dataset_shape",)

    def __init__(
        self, element_spec: tuple[TensorSpec, ...] | TensorSpec, dataset_shape: Any = ()
    ) -> None:
        super().__init__(element_spec)
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def value_type(self) -> type:
        from wengert.data.dataset import Dataset

        return Dataset

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


class IteratorSpec(HolderSpec):
    """Describes a `tf.data.Iterator` by the spec of its elements."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        from wengert.data.iterator import OwnedIterator

        return OwnedIterator
