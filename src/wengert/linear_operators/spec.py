"""The type of an operator: its class, the types of its tensors, and its other arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.composite.values import type_spec_from_value
from wengert.core.composite import CompositeSpec
from wengert.core.shapes import TensorShape
from wengert.core.types import DType, Value

if TYPE_CHECKING:
    from wengert.linear_operators.base import LinearOperator


class LinearOperatorSpec(CompositeSpec):
    """Takes an operator apart into the tensors and operators among its arguments, by their names.

    What is neither (a flag, a size, a dtype, a name) belongs to the type itself.
    """

    def __init__(
        self, kind: type, names: tuple[str, ...], specs: tuple[Any, ...], rest: tuple[Any, ...]
    ) -> None:
        self._kind, self._names, self._specs, self._rest = kind, names, specs, rest

    @classmethod
    def of(cls, operator: LinearOperator) -> LinearOperatorSpec:
        """The type of an operator."""
        parts = tensors_of(operator)
        # What follows from how the operator was made (A times its adjoint) is promised of the copy.
        given = {**operator.parameters}
        given.update((k, v) for k, v in operator._self_hints._asdict().items() if k in given)
        rest = [(k, _frozen(v)) for k, v in given.items() if k not in parts]
        specs = tuple(_spec(v) for v in parts.values())
        return cls(type(operator), tuple(parts), specs, tuple(rest))

    @property
    def value_type(self) -> type:
        return self._kind

    @property
    def _component_specs(self) -> Any:
        return [_listed(s) for s in self._specs]

    def _to_components(self, value: Any) -> Any:
        return [*tensors_of(value).values()]

    def _from_components(self, components: Any) -> Any:
        return self._kind(**dict(zip(self._names, components, strict=True)), **dict(self._rest))

    def _serialize(self) -> tuple[Any, ...]:
        return self._kind, self._names, self._specs, self._rest

    @property
    def shape(self) -> TensorShape:
        """The static shape of the operators of this type."""
        from wengert.ops.create import zeros

        def example(spec: Any) -> Any:
            if isinstance(spec, tuple):
                return [example(s) for s in spec]
            if isinstance(spec, LinearOperatorSpec):
                return spec._from_components([example(s) for s in spec._specs])
            return zeros([1 if d is None else d for d in spec.shape], spec.dtype)

        return self._from_components([example(s) for s in self._specs]).shape


def tensors_of(operator: LinearOperator) -> dict[str, Any]:
    """The arguments of an operator that are tensors, variables, operators, or lists of operators.

    Numbers and arrays that the operator made a tensor of count as that tensor.
    """
    results: dict[str, Any] = {}
    for name, value in operator.parameters.items():
        kept = value
        if not _is_part(value) and not isinstance(value, bool | int | str | DType | None):
            kept = getattr(operator, f"_{name}", None)
            kept = getattr(operator, name, None) if kept is None else kept
        if _is_part(kept):
            results[name] = kept
    return results


def _is_part(value: Any) -> bool:
    from wengert.linear_operators.base import LinearOperator

    if isinstance(value, list | tuple):
        return bool(value) and all(_is_part(v) for v in value)
    return isinstance(value, Value | LinearOperator)


def _spec(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_spec(v) for v in value)
    return type_spec_from_value(value)


def _listed(spec: Any) -> Any:
    return [_listed(s) for s in spec] if isinstance(spec, tuple) else spec


def _frozen(value: Any) -> Any:
    """An argument in a form that can be compared and hashed."""
    if isinstance(value, list | tuple):
        return tuple(_frozen(v) for v in value)
    return value.item() if hasattr(value, "item") and not getattr(value, "shape", ()) else value
