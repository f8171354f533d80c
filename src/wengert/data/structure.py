"""Elements: nests of tensors as datasets see them, and the specs that describe them.

Tuples, named tuples, mappings and attrs classes are containers; a list is a tensor. `None` and
whatever names its own `_type_spec` (datasets, optionals, composite tensors) are leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe, require
from wengert.core.tensorflow_values import is_foreign
from wengert.core.types import Tensor, TensorShape, TensorSpec, TypeSpec, Value

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor
    from wengert.composite.sparse_tensor import SparseTensor
    from wengert.data.dataset import Dataset


class NoneTensorSpec(TypeSpec):
    """Describes `None`, which stands for a missing tensor."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return type(None)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def most_specific_compatible_type(self, other: Any) -> Any:
        if type(other) is not NoneTensorSpec:
            raise ValueError(f"NoneTensorSpec: {self} and {other} have no common type.")
        return self

    def __eq__(self, other: object) -> bool:
        return type(other) is NoneTensorSpec

    def __hash__(self) -> int:
        return hash(NoneTensorSpec)

    def __repr__(self) -> str:
        return "NoneTensorSpec()"


def normalize(value: Any) -> Any:
    """The element for a user's value: the same nest with tensors as leaves."""
    kind = type(value)
    if kind is Tensor:
        return value
    try:
        if kind is tuple:
            return tuple([normalize(v) for v in value])
        if kind is dict:
            return {k: normalize(v) for k, v in value.items()}
        if nest.is_nested(value) and not isinstance(value, list | range):
            return rebuild(value, normalize)
    except RecursionError as error:
        raise nest.too_deep("Dataset", error, value) from None
    if value is None or (
        hasattr(kind, "_type_spec") and not isinstance(value, Value) and not is_foreign(kind)
    ):
        return value
    return to_tensor(value)


def rebuild(container: Any, function: Callable[[Any], Any]) -> Any:
    """A container of the same kind with a function applied to its direct members."""
    kind: Any = type(container)
    if isinstance(container, Mapping):
        pairs = [(k, function(v)) for k, v in container.items()]
        if isinstance(container, defaultdict):
            return kind(container.default_factory, pairs)
        return kind(pairs)
    if nest.takes_itself_apart(kind):
        rest, parts = container.__tf_flatten__()
        return kind.__tf_unflatten__(rest, tuple(map(function, parts)))
    if hasattr(kind, "__attrs_attrs__"):
        return kind(*[function(getattr(container, a.name)) for a in kind.__attrs_attrs__])
    members = [function(v) for v in container]
    return kind(*members) if hasattr(kind, "_fields") else kind(members)


def packer(structure: Any) -> Callable[[list[Any]], Any]:
    """A function that packs leaves into `structure`, with fast paths for the usual ones."""
    if not nest.is_nested(structure):
        return itemgetter(0)
    if type(structure) is tuple and not any(map(nest.is_nested, structure)):
        return tuple
    if type(structure) is dict and not any(map(nest.is_nested, structure.values())):
        order = [(k, i) for k in structure for i in [sorted(structure).index(k)]]
        return lambda leaves: {k: leaves[i] for k, i in order}
    return partial(nest.pack_sequence_as, structure)


def columns(elements: list[Any]) -> list[Any]:
    """The leaves of many elements of one form, leaf by leaf rather than element by element."""
    first = elements[0]
    if not nest.is_nested(first):
        return [elements]
    if type(first) is tuple and not any(map(nest.is_nested, first)):
        return list(zip(*elements, strict=True))
    return list(zip(*map(nest.flatten, elements), strict=True))


def leaf_spec(value: Tensor | RaggedTensor | SparseTensor | Dataset | None) -> TypeSpec:
    """The spec of one leaf."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if value is None:
        return NoneTensorSpec()
    result = getattr(value, "_type_spec", None)
    if result is None:
        raise at_site(
            TypeError(f"Dataset: {describe(value)} cannot be part of an element. Use a tensor.")
        )
    return result


def spec_of(element: Any) -> Any:
    """The spec of an element: the same nest with specs as leaves."""
    return nest.map_structure(leaf_spec, element)


def map_spec(function: Callable[[Any], Any], spec: Any) -> Any:
    """Applies a function to the leaves of a spec."""
    return nest.map_structure(function, spec)


def join(a: Any, b: Any) -> dict[str, TensorSpec] | tuple[TensorSpec, TensorSpec] | TensorSpec:
    """The narrowest spec that takes in both; `TypeError` where the elements are of other kinds."""
    try:
        return nest.map_structure(lambda x, y: x.most_specific_compatible_type(y), a, b)
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"the elements {_show(a)} and {_show(b)} are not of one kind") from None


def show_spec(spec: Any) -> str:
    """A spec as messages show it: `float32[2,?]` instead of the long form."""
    return _show(spec)


def _show(spec: Any) -> str:
    if isinstance(spec, TensorSpec):
        return describe(spec)
    if isinstance(spec, Mapping):
        return "{" + ", ".join(f"{k!r}: {_show(v)}" for k, v in spec.items()) + "}"
    if isinstance(spec, tuple):
        inner = ", ".join(map(_show, spec))
        return f"({inner},)" if len(spec) == 1 else f"({inner})"
    return repr(spec)


def batched(spec: Any, size: int | None) -> Any:
    """The spec of a batch of elements."""

    def leaf(one: Any) -> TypeSpec:
        if isinstance(one, TensorSpec):
            return TensorSpec(TensorShape([size]).concatenate(one.shape), one.dtype)
        return one._batch(size) if hasattr(one, "_batch") else one

    return map_spec(leaf, spec)


def unbatched(name: str, spec: Any) -> Any:
    """The spec of the rows of an element."""

    def leaf(one: Any) -> TypeSpec:
        if isinstance(one, TensorSpec):
            require(
                one.shape.rank != 0,
                name,
                "a scalar has no rows",
                one,
                help="Give tensors of rank 1 or more.",
                kind=ValueError,
            )
            return TensorSpec(one.shape[1:], one.dtype)
        return one._unbatch() if hasattr(one, "_unbatch") else one

    return map_spec(leaf, spec)


def example(spec: Any) -> Any:
    """An element that fits a spec: zeros, with 1 for every size that is not known."""

    def leaf(one: Any) -> Any:
        if not isinstance(one, TensorSpec):
            return None
        shape = [1 if d is None else d for d in (one.shape if one.shape.rank else ())]
        return wrap(blank(shape, one.dtype.np))

    return map_spec(leaf, spec)


def blank(shape: Any, dtype: np.dtype) -> np.ndarray:
    """Zeros, or empty strings."""
    return np.full(shape, b"", object) if dtype.kind == "O" else np.zeros(shape, dtype)
