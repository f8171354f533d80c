"""Specs that libraries register by name, and those of variables and of `None`."""

from __future__ import annotations

from typing import Any

from wengert.core import dtypes
from wengert.core.composite import StaticSpec
from wengert.core.errors import at_site
from wengert.core.shapes import TensorShape
from wengert.core.tensor_spec import TypeSpec
from wengert.core.variable import Variable

_NAME_TO_TYPE_SPEC: dict[str, type] = {}
_TYPE_SPEC_TO_NAME: dict[type, str] = {}


def register(name: str) -> Any:
    """A decorator that registers a class of specs under a name such as `my_library.Spec`."""
    if "." not in name or not all(part.isidentifier() for part in name.split(".")):
        raise at_site(ValueError(f"register: give a name such as 'library.Spec'; got {name!r}."))

    def decorate(cls: type) -> type:
        if cls in _TYPE_SPEC_TO_NAME:
            known = _TYPE_SPEC_TO_NAME[cls]
            raise at_site(
                ValueError(f"register: {cls.__name__} is registered already, as {known}.")
            )
        if name in _NAME_TO_TYPE_SPEC:
            raise at_site(ValueError(f"register: the name {name} is taken."))
        _TYPE_SPEC_TO_NAME[cls] = name
        _NAME_TO_TYPE_SPEC[name] = cls
        return cls

    return decorate


def lookup(name: str) -> type:
    """The class of specs of a name."""
    if name not in _NAME_TO_TYPE_SPEC:
        raise at_site(ValueError(f"lookup: no spec is registered as {name!r}."))
    return _NAME_TO_TYPE_SPEC[name]


def get_name(cls: type) -> str:
    """The name of a class of specs."""
    if cls not in _TYPE_SPEC_TO_NAME:
        raise at_site(ValueError(f"get_name: {cls.__name__} is not registered."))
    return _TYPE_SPEC_TO_NAME[cls]


class NoneTensorSpec(TypeSpec):
    """The spec of `None` in the element of a dataset."""

    value_type = type(None)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a value or spec is that of `None`."""
        return other is None or isinstance(other, NoneTensorSpec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoneTensorSpec)

    def __hash__(self) -> int:
        return hash(NoneTensorSpec)


class VariableSpec(StaticSpec):
    """The spec of a variable; of `alias_id` two variables of a structure may be told to be one."""

    @property
    def value_type(self) -> type:
        return Variable

    def __init__(
        self, shape: Any, dtype: Any = dtypes.float32, trainable: bool = True, alias_id: Any = None
    ) -> None:
        self.shape, self.dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self.trainable, self.alias_id = trainable, alias_id

    @classmethod
    def from_value(cls, value: Any) -> VariableSpec:
        """The spec of a variable."""
        return cls(value.shape, value.dtype, value.trainable)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a variable, or a spec of one, is of this shape, dtype and kind."""
        if not isinstance(spec_or_value, VariableSpec | Variable):
            return False
        same = (self.dtype, self.trainable) == (spec_or_value.dtype, spec_or_value.trainable)
        return same and self.shape.is_compatible_with(spec_or_value.shape)

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.trainable, self.alias_id

    def _to_components(self, value: Any) -> list[Any]:
        return [value]

    def _from_components(self, components: list[Any]) -> Any:
        return components[0]
