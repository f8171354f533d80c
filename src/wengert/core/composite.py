"""Values made of several tensors, and the specs that take them apart and put them together.

A composite is a leaf of a nest unless `expand_composites` asks for its components, which its
`_type_spec` names in a fixed order. This module knows no particular composite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.errors import at_site, require, unexpected
from wengert.core.shapes import TensorShape
from wengert.core.tensor import ActsAsTensor, Tensor
from wengert.core.tensor_spec import TensorSpec, TypeSpec

if TYPE_CHECKING:
    from wengert.composite.optional import Optional
    from wengert.composite.ragged_tensor import RaggedTensor
    from wengert.composite.sparse_tensor import SparseTensor, SparseTensorSpec
    from wengert.core.types import DType, SymbolicTensor


def _empty(kind: Any) -> Any:
    return kind.__new__(kind)


_OWN = (__name__.partition(".")[0], "tensorflow")


class CompositeTensor(ActsAsTensor):
    """The base of values that are made of several tensors."""

    # NumPy must leave mixed expressions to us instead of looping over the elements.
    __array_ufunc__: Any = None

    @property
    def _type_spec(self) -> CompositeSpec:
        raise NotImplementedError(f"{type(self).__name__} does not say its type.")

    def _differentiable(self) -> Any:
        """The component that gradients flow through."""
        raise at_site(
            ValueError(f"gradient: a {type(self).__name__} is neither a target nor a source.")
        )

    def _with_gradient(self, gradient: Any) -> Any:
        """A gradient of that component, in the form of this value."""
        return gradient

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        from wengert.core.convert import by_program

        result = by_program(self, dtype)
        if result is not NotImplemented:
            return result
        raise at_site(
            ValueError(
                f"convert_to_tensor: a {type(self).__name__} is not one dense tensor. "
                f"{self._remedy()}"
            )
        )

    def _remedy(self) -> str:
        return "Convert its components."

    def __reduce__(self) -> Any:
        if type(self).__module__.partition(".")[0] not in _OWN:  # of a library: as any object
            return _empty, (type(self),), self.__getstate__()
        # Never by the name of its class: Keras wants some of them under TensorFlow's names, which
        # lead nowhere in a process without Keras.
        return _restore, (self._type_spec, components(self))

    # How functions take a composite apart and put it together again.

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        spec = self._type_spec
        parts: list[Any] = []
        form = _flat(spec._to_components(self), parts)
        return (spec, form), parts

    @classmethod
    def __tf_unflatten__(
        cls, rest: tuple[CompositeSpec, tuple[type | None, ...]], parts: list[Any]
    ) -> CompositeTensor:
        spec, form = rest
        return spec._from_components(_packed(form, iter(parts)))


def _flat(
    value: Tensor | list[Tensor | TensorSpec] | TensorSpec, parts: list[Tensor | TensorSpec]
) -> Any:
    """The components, which may be nested once more, as a list and the form they had."""
    if isinstance(value, list | tuple):
        return (type(value), *[_flat(v, parts) for v in value])
    if isinstance(value, CompositeTensor | CompositeSpec):
        rest, inner = value.__tf_flatten__()
        parts.extend(inner)
        return (CompositeTensor, type(value), rest, len(inner))
    parts.append(value)
    return None


def _packed(form: Any, parts: Any) -> Tensor | list[Tensor]:
    if form is None:
        return next(parts)
    if form[0] is CompositeTensor:
        _, kind, rest, count = form
        return kind.__tf_unflatten__(rest, [next(parts) for _ in range(count)])
    kind = form[0]
    items = [_packed(f, parts) for f in form[1:]]
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


class StaticSpec(TypeSpec):
    """A type that is known by a few static facts, which `_serialize` names.

    Two specs of one class are compatible where their facts are, one by one.
    """

    @property
    def value_type(self) -> type:
        raise NotImplementedError

    def _serialize(self) -> tuple[Any, ...]:
        """The arguments that make this spec again."""
        raise NotImplementedError

    @classmethod
    def from_value(cls, value: Optional | SparseTensor) -> StaticSpec:
        """The spec of a value."""
        if not hasattr(value, "_type_spec"):
            kind = cls.__name__.removesuffix("Spec")
            raise unexpected(f"{cls.__name__}.from_value", f"a value such as {kind}", value)
        return value._type_spec

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value or spec could be of this kind."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return type(other) is type(self) and _all(_compatible, self, other)

    def is_subtype_of(self, other: CompositeSpec) -> bool:
        """Whether every value of this kind is one of `other` too."""
        return type(other) is type(self) and _all(_narrower, self, other)

    def most_specific_common_supertype(self, others: list[CompositeSpec]) -> Any:
        """The narrowest spec that takes in this one and `others`; `None` where there is none."""
        facts = self._serialize()
        for other in others:
            if type(other) is not type(self):
                return None
            try:
                facts = tuple(_joined(a, b) for a, b in zip(facts, other._serialize(), strict=True))
            except ValueError:
                return None
        return type(self)(*facts)

    def most_specific_compatible_type(self, other: CompositeSpec) -> CompositeSpec:
        """The narrowest spec that takes in both."""
        result = self.most_specific_common_supertype([other])
        require(
            result is not None,
            type(self).__name__,
            f"{self} and {other} have no common type",
            kind=ValueError,
        )
        return result

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._serialize() == other._serialize()

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._serialize()))})"

    def __reduce__(self) -> Any:
        return type(self), self._serialize()


class CompositeSpec(StaticSpec):
    """The type of a composite, which also names the types of its components in their order."""

    @property
    def _component_specs(self) -> Any:
        raise NotImplementedError

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError

    def _fitted(self, value: Any) -> Any:
        """A value of this type in the form that `__tf_flatten__` says."""
        return value

    # In the signature of a function a spec stands for its values.

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        parts: list[Any] = []
        form = _flat(self._component_specs, parts)
        return (self, form), parts

    @classmethod
    def __tf_unflatten__(
        cls,
        rest: tuple[CompositeSpec, tuple[type | None, ...]],
        parts: list[SymbolicTensor] | list[Tensor],
    ) -> CompositeTensor:
        return CompositeTensor.__tf_unflatten__(rest, parts)


def _all(relation: Any, a: StaticSpec, b: StaticSpec) -> bool:
    return all(map(relation, a._serialize(), b._serialize()))


def _compatible(
    a: int | DType | TensorShape | TensorSpec | None,
    b: int | DType | TensorShape | TensorSpec | None,
) -> bool:
    if isinstance(a, TensorShape | TypeSpec):
        return a.is_compatible_with(b)  # type: ignore[attr-defined]  # every spec has it
    return a == b


def _narrower(a: int | DType | TensorShape, b: int | DType | TensorShape) -> bool:
    if isinstance(a, TensorShape | TypeSpec):
        return a.is_subtype_of(b)  # type: ignore[attr-defined]  # every spec has it
    return a == b


def _joined(
    a: int | DType | TensorShape, b: int | DType | TensorShape
) -> int | DType | TensorShape:
    if isinstance(a, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec):
        return a.most_specific_compatible_type(b)  # type: ignore[attr-defined]  # every spec has it
    if a != b:
        raise ValueError("no common type")
    return a


def is_composite(value: Any) -> bool:
    """Whether a value, or a spec, has components."""
    return isinstance(value, CompositeTensor | CompositeSpec)


def components(value: Any) -> list[Tensor | TensorSpec]:
    """The components of a composite, or their specs where it is a spec itself."""
    if isinstance(value, CompositeTensor):
        return value._type_spec._to_components(value)
    return value._component_specs


def _restore(spec: CompositeSpec, parts: list[Tensor]) -> CompositeTensor:
    return spec._from_components(parts)


def rebuilt(value: Any, parts: list[Tensor]) -> CompositeTensor:
    """A composite of the kind of `value` with other components."""
    spec = value._type_spec if isinstance(value, CompositeTensor) else value
    return spec._from_components(parts)


def differ(a: Any, b: Tensor | RaggedTensor | SparseTensor | SparseTensorSpec) -> bool:
    """Whether two composites, or a composite and something else, have no common type."""
    if not (is_composite(a) and is_composite(b)):
        return True
    one, other = getattr(a, "_type_spec", a), getattr(b, "_type_spec", b)
    return one.most_specific_common_supertype([other]) is None
