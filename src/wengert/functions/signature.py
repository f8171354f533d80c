"""What identifies a trace: tensors by dtype and shape, Python values by value, objects by identity.

`encode` turns arguments into a hashable key and the list of their tensors; `rebuild` puts other
tensors in their places. Containers, named tuples, dataclasses and attrs classes are walked.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Iterable, Mapping, MutableSequence
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes, nest
from wengert.core.apply import wrap
from wengert.core.convert import to_array
from wengert.core.errors import at_site, describe
from wengert.core.symbolic import escaped
from wengert.core.tensor import DeviceTensor
from wengert.core.tensorflow_values import adopted, is_foreign
from wengert.core.types import (
    CompositeSpec,
    CompositeTensor,
    DType,
    IndexedSlices,
    SymbolicTensor,
    Tensor,
    TensorShape,
    TensorSpec,
    TypeSpec,
    Value,
    Variable,
)

if TYPE_CHECKING:
    from wengert.ops.numpy_arrays import LinkedArray


_BY_VALUE = (
    bool, int, float, complex, str, bytes, range, type(None), type(Ellipsis), DType, TensorShape,
)  # fmt: skip


class Same:
    """A key that stands for one object, and those it says it equals, as long as it lives."""

    __slots__ = ("number", "ref", "strong")

    def __init__(self, value: Any) -> None:
        self.number = _hash(value)
        self.strong: Any = None
        try:
            self.ref: Any = weakref.ref(value)
        except TypeError:
            self.strong = value
            self.ref = lambda: self.strong

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Same) or self.number != other.number:
            return False
        mine, theirs = self.ref(), other.ref()
        if mine is theirs:
            return mine is not None
        return type(mine) is type(theirs) and _has_equality(type(mine)) and (mine == theirs) is True

    def is_dead(self) -> bool:
        return self.ref() is None

    def __repr__(self) -> str:
        value = self.ref()
        return "a dead object" if value is None else f"<{type(value).__name__}>"


def _has_equality(kind: type) -> bool:
    return kind.__eq__ is not object.__eq__ and kind.__hash__ not in (None, object.__hash__)


def _hash(value: Any) -> int:
    """The hash of a value that has an equality of its own, else its identity."""
    if not _has_equality(type(value)):
        return id(value)
    try:
        return hash(value)
    except TypeError:
        return id(value)


def objects_in(key: Any) -> list[Same]:
    """The objects that a key names; when one is gone, it never fits again."""
    if isinstance(key, Same):
        return [key]
    return [o for k in key for o in objects_in(k)] if isinstance(key, tuple) else []


def encode(value: Any, leaves: list[Tensor | TensorSpec] | list[Tensor]) -> Any:
    """The key of a value; its tensors are appended to `leaves`."""
    kind = type(value)
    if kind is Tensor:
        leaves.append(value)
        array = value._array
        return array.dtype.num, array.shape
    walker = _WALKERS.get(kind)
    if walker is None:
        walker = _walker(value, kind)
    return walker(value, leaves)


def encode_all(arguments: Iterable[Any], leaves: list[Tensor | TensorSpec]) -> list[Any]:
    """The keys of several arguments."""
    values = list(arguments)
    try:
        return [encode(v, leaves) for v in values]
    except RecursionError as error:
        raise nest.too_deep("function", error, *values) from None


def _walker(value: Any, kind: type) -> Callable[[Any, list[Any]], Any]:
    for test, walker in _KINDS:
        if test(value, kind):
            if len(_WALKERS) > 1000:
                _WALKERS.clear()
            if walker is not _object:
                _WALKERS[kind] = walker
            return walker
    return _object


def _number(value: Any, leaves: list[Tensor | TensorSpec]) -> Any:
    # 1, 1.0 and True are equal but not the same; nor are 0.0 and -0.0.
    return type(value), repr(value) if type(value) in (float, complex) else value


def _symbolic(value: SymbolicTensor, leaves: list[SymbolicTensor]) -> tuple[int, tuple[int, ...]]:
    if not value._is_at_home():
        raise escaped(value._array)
    leaves.append(value)
    return value.dtype.np.num, value._graph.specs[value._value].shape


def _tensor(value: Tensor, leaves: list[Any]) -> tuple[int, tuple[int, ...]]:
    leaves.append(value)
    return value._array.dtype.num, value._array.shape


def _on_device(value: Any, leaves: list[Any]) -> Any:
    leaves.append(value)
    return value._device.dtype.num, value._device.shape


def _array(
    value: np.generic | np.ndarray | LinkedArray, leaves: list[Tensor]
) -> tuple[int, tuple[int, ...]]:
    link = getattr(value, "_as_operand", None)  # of an array that NumPy made of tensors
    return encode(wrap(to_array(value)) if link is None else link(None, None), leaves)


def _spec(value: TensorSpec, leaves: list[TensorSpec]) -> tuple[int, tuple[int | None, ...] | None]:
    leaves.append(value)
    return value.dtype.np.num, value.shape._dims


def in_order(mapping: Any) -> list[Any]:
    """The keys of a mapping, sorted where they can be: the order of insertion does not matter."""
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _composite(value: Any, leaves: list[Tensor]) -> Any:
    rest, parts = value.__tf_flatten__()
    keys = [encode(p, leaves) for p in parts]
    if isinstance(value, CompositeSpec):
        return value.value_type, rest
    if isinstance(value, CompositeTensor):  # its spec says what matters, not the sizes of its parts
        variables = [k for p, k in zip(parts, keys, strict=True) if isinstance(p, Variable)]
        return (type(value), rest, *variables)
    return (type(value), frozen(rest), *keys)


def frozen(metadata: Any) -> Any:
    """A key that equals that of equal metadata; what has no equality stands for itself."""
    try:
        hash(metadata)
        return metadata
    except TypeError:
        pass
    kind = type(metadata)
    if isinstance(metadata, list | tuple):
        return (kind, *map(frozen, metadata))
    if isinstance(metadata, Mapping):
        return (kind, frozenset([(k, frozen(v)) for k, v in metadata.items()]))
    if isinstance(metadata, set):
        return kind, frozenset(metadata)
    if isinstance(metadata, np.ndarray) and metadata.dtype.kind != "O":
        return kind, metadata.dtype.str, metadata.shape, metadata.tobytes()
    if is_fields(metadata, kind):
        return (kind, *[frozen(v) for v in members(metadata).values()])
    return Same(metadata)


def _apart(value: Apart, leaves: list[Any]) -> Any:
    return (value.kind, frozen(value.rest), *[encode(p, leaves) for p in value.parts])


def _foreign(value: Any, leaves: list[Any]) -> Any:
    result = adopted(value)
    return Same(value) if result is value else encode(result, leaves)


def _with_type(value: Any, leaves: list[Any]) -> Any:
    kind = value.__tf_tracing_type__(None)
    return (kind, *[encode(x, leaves) for x in kind.to_tensors(value)])


def _changing(value: Any, leaves: list[Any]) -> Any:
    raise at_site(
        TypeError(
            f"function: an argument that can change and is no list has no key for its traces; got "
            f"{describe(value)}. Pass a list or a tuple."
        )
    )


def _object(value: Any, leaves: list[Tensor]) -> Same:
    return Same(value)


def members(value: Any) -> dict[str, Any]:
    """The fields of a dataclass or attrs object, by name."""
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return {a.name: getattr(value, a.name) for a in type(value).__attrs_attrs__}


def is_fields(value: Any, kind: type) -> bool:
    """Whether an object of this kind is a dataclass or one of attrs."""
    if isinstance(value, type):
        return False
    return dataclasses.is_dataclass(kind) or hasattr(kind, "__attrs_attrs__")


_WALKERS: dict[type, Callable[[Any, list[Any]], Any]] = {}
_KINDS: list[tuple[Callable[[Any, type], bool], Callable[[Any, list[Any]], Any]]] = [
    (lambda v, k: k in _BY_VALUE, _number),
    (lambda v, k: k is SymbolicTensor, _symbolic),
    (lambda v, k: isinstance(v, Variable), lambda v, leaves: (Variable, Same(v))),
    (lambda v, k: k is DeviceTensor, _on_device),
    (lambda v, k: isinstance(v, Tensor), _tensor),
    (lambda v, k: isinstance(v, np.ndarray | np.generic), _array),
    (lambda v, k: isinstance(v, TensorSpec), _spec),
    (
        lambda v, k: isinstance(v, IndexedSlices),
        lambda v, leaves: (IndexedSlices, *[encode(x, leaves) for x in v._parts]),
    ),
    (lambda v, k: hasattr(k, "__tf_flatten__") and not isinstance(v, type), _composite),
    (lambda v, k: k is Apart, _apart),
    (
        lambda v, k: isinstance(v, list | tuple),
        lambda v, leaves: (type(v), *[encode(x, leaves) for x in v]),
    ),
    (
        lambda v, k: isinstance(v, Mapping),
        lambda v, leaves: (type(v), *[(k, encode(v[k], leaves)) for k in in_order(v)]),
    ),
    (lambda v, k: isinstance(v, set | frozenset), lambda v, leaves: (type(v), frozenset(v))),
    (
        lambda v, k: k is slice,
        lambda v, leaves: (slice, *[encode(x, leaves) for x in (v.start, v.stop, v.step)]),
    ),
    (
        lambda v, k: k is MethodType,
        lambda v, leaves: (MethodType, Same(v.__func__), Same(v.__self__)),
    ),  # made anew at every look
    (lambda v, k: is_foreign(k), _foreign),
    (lambda v, k: hasattr(k, "__tf_tracing_type__"), _with_type),
    (lambda v, k: hasattr(k, "__trace_key__"), lambda v, leaves: v.__trace_key__()),
    (is_fields, lambda v, leaves: (type(v), *[encode(x, leaves) for x in members(v).values()])),
    (lambda v, k: isinstance(v, MutableSequence | memoryview), _changing),
    (lambda v, k: isinstance(v, TypeSpec), lambda v, leaves: (type(v), v)),
    (lambda v, k: True, _object),
]


TENSORS = (Value, np.ndarray, np.generic, TensorSpec)


class Apart:
    """A composite taken apart: the places of its components, and what makes it whole again."""

    __slots__ = ("kind", "parts", "rest")

    def __init__(self, kind: type, rest: Any, parts: list[Any]) -> None:
        self.kind = kind
        self.rest = rest
        self.parts = parts

    def __repr__(self) -> str:
        return f"{self.kind.__name__}(metadata={self.rest!r}, members={list(self.parts)!r})"


def rebuild(
    value: Any,
    leaf: Callable[[Any, str], Any],
    path: str = "",
    kinds: tuple[type, ...] | type = TENSORS,
    other: Callable[[Any], Any] | None = None,
) -> Any:
    """The same structure with each tensor (instance of `kinds`) replaced by `leaf(tensor, path)`.

    Variables stay what they are; what else is no container goes through `other`. Composites stay
    apart where what replaces their tensors are no tensors.
    """

    strange = other is not None

    def replaced(value: Any, path: str) -> Any:
        nonlocal strange
        new = leaf(value, path)
        strange |= not isinstance(new, Value)
        return new

    def unflattened(kind: type, rest: Any, parts: list[Any]) -> Any:
        return Apart(kind, rest, parts) if strange else kind.__tf_unflatten__(rest, parts)

    def walk(value: Any, path: str) -> Any:
        if isinstance(value, kinds) and not isinstance(value, Variable):
            return replaced(value, path)
        if isinstance(value, IndexedSlices):
            return IndexedSlices._of(*[None if p is None else walk(p, path) for p in value._parts])
        if isinstance(value, Apart):
            return unflattened(value.kind, value.rest, [walk(p, path) for p in value.parts])
        flatten = getattr(type(value), "__tf_flatten__", None)
        if flatten is not None:
            rest, parts = flatten(value)
            return unflattened(type(value), rest, [walk(p, path) for p in parts])
        if isinstance(value, list | tuple):
            new = [walk(v, f"{path}[{i}]") for i, v in enumerate(value)]
            kind: Any = type(value)
            return kind(*new) if hasattr(value, "_fields") else kind(new)
        if isinstance(value, Mapping):
            result = {k: walk(value[k], f"{path}[{k!r}]") for k in in_order(value)}
            return _like(value, {k: result[k] for k in value})
        if is_foreign(type(value)):
            result = adopted(value)
            return result if result is value else walk(result, path)
        if hasattr(type(value), "__tf_tracing_type__"):
            tracing: Any = getattr(value, "__tf_tracing_type__")(None)  # noqa: B009  # asked above
            parts = [walk(x, path) for x in tracing.to_tensors(value)]
            return tracing.from_tensors(iter(parts)) if parts else tracing.placeholder_value(None)
        if is_fields(value, type(value)):
            result = {k: walk(v, f"{path}.{k}") for k, v in members(value).items()}
            return _with_fields(value, result)
        return value if other is None else other(value)

    try:
        return walk(value, path)
    except RecursionError as error:
        raise nest.too_deep("function", error, value) from None


def _like(value: Any, pairs: dict[Any, Any]) -> Any:
    kind = type(value)
    if kind is dict:
        return pairs
    if hasattr(value, "default_factory"):
        return kind(value.default_factory, pairs)
    return kind(pairs) if kind.__name__ != "mappingproxy" else pairs


def _with_fields(value: Any, fields: dict[str, Any]) -> Any:
    """A copy of a dataclass or attrs object with other members, without running its constructor."""
    new = object.__new__(type(value))
    if hasattr(value, "__dict__"):
        new.__dict__.update(value.__dict__)
    for name, member in fields.items():
        object.__setattr__(new, name, member)
    return new


def specs_in(values: Iterable[Any]) -> list[TensorSpec]:
    """What the tensors in arguments look like; parts of composites, as their specs say."""
    results: list[TensorSpec] = []

    def leaf(x: Any, path: str) -> Any:
        if isinstance(x, CompositeTensor | CompositeSpec):
            spec = x if isinstance(x, CompositeSpec) else x._type_spec
            pairs = zip(x.__tf_flatten__()[1], spec.__tf_flatten__()[1], strict=True)
            results.extend([s for part, s in pairs if not isinstance(part, Variable)])
        else:
            results.append(spec_of(x))
        return x

    for value in values:
        rebuild(value, leaf, "", (*TENSORS, CompositeTensor, CompositeSpec))
    return results


def spec_of(leaf: Tensor | np.ndarray | TensorSpec | LinkedArray) -> TensorSpec:
    """What a tensor argument looks like."""
    if isinstance(leaf, TensorSpec):
        return leaf
    return TensorSpec(leaf.shape, dtypes.as_dtype(leaf.dtype))
