"""The fields of extension types: which annotations there are, and how values are made to fit them."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from wengert.core import dtypes
from wengert.core.composite import CompositeTensor
from wengert.core.convert import to_tensor
from wengert.core.types import DType, Tensor, TensorShape, TensorSpec, TypeSpec, Value

MISSING: Any = object()
_PLAIN = (int, float, bool, str, bytes)


class Field(NamedTuple):
    """A field: its name, its annotation, and its default, if it has one."""

    name: str
    kind: Any
    default: Any = MISSING


class ImmutableDict(Mapping[Any, Any]):
    """A mapping that cannot change: what fields annotated `Mapping` hold."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items})"


def _arguments(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind)


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Union, types.UnionType)


def check(kind: Any) -> None:
    """Raises for an annotation that no field can have."""
    origin = typing.get_origin(kind)
    if kind is None or kind is type(None):
        return
    if _is_union(kind):
        for k in _arguments(kind):
            check(k)
        return
    if origin is tuple:
        for k in _arguments(kind):
            if k is not Ellipsis:
                check(k)
        return
    if origin is not None and issubclass(origin, Mapping):
        for k in _arguments(kind):
            check(k)
        return
    known = (Value, CompositeTensor, TensorShape, DType)
    if isinstance(kind, type) and (kind in _PLAIN or issubclass(kind, known)):
        return
    name = kind.__name__ if isinstance(kind, type) else repr(kind)
    choices = "tf.Tensor, composites, int, float, bool, str, bytes, None, DType, TensorShape"
    raise TypeError(
        f"unsupported type annotation {name}. Choose among {choices}, and Union, Tuple and Mapping"
        " of these"
    )


def fitted(value: Any, kind: Any, path: str, as_spec: bool = False) -> Any:
    """A value in the form that an annotation says; with `as_spec`, specs in the place of tensors."""
    for matches, convert in _CONVERSIONS:
        if matches(kind):
            return convert(value, kind, path, as_spec)
    return _plain(value, kind, path, as_spec)


def _plain(value: Any, kind: Any, path: str, as_spec: bool) -> Any:
    if isinstance(value, kind):
        return value
    raise _wrong(path, kind.__name__, value)


def _wrong(path: str, wanted: str, value: Any) -> TypeError:
    return TypeError(f"{path}: expected {wanted!r}, got {type(value).__name__!r}")


def _none(value: Any, kind: Any, path: str, as_spec: bool) -> None:
    if value is not None:
        raise _wrong(path, "None", value)


def _tensor(value: Any, kind: Any, path: str, as_spec: bool) -> Any:
    if as_spec and isinstance(value, TypeSpec):
        return value
    if isinstance(value, Value):
        return value
    if value is None or isinstance(value, CompositeTensor):
        raise TypeError(f"{path}: expected a Tensor, got {type(value).__name__!r}")
    try:
        return to_tensor(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{path}: expected a Tensor, got {type(value).__name__!r}") from error


def _composite(value: Any, kind: Any, path: str, as_spec: bool) -> Any:
    if isinstance(value, kind):
        return value
    if as_spec and isinstance(value, TypeSpec):
        return value
    raise _wrong(path, kind.__name__, value)


def _shape(value: Any, kind: Any, path: str, as_spec: bool) -> TensorShape:
    try:
        return TensorShape(value)
    except (TypeError, ValueError) as error:
        raise _wrong(path, "TensorShape", value) from error


def _dtype(value: Any, kind: Any, path: str, as_spec: bool) -> DType:
    try:
        return dtypes.as_dtype(value)
    except (TypeError, ValueError) as error:
        raise _wrong(path, "DType", value) from error


def _tuple(value: Any, kind: Any, path: str, as_spec: bool) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong(path, "tuple", value)
    kinds = _arguments(kind)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise TypeError(f"{path}: expected a tuple of {len(kinds)}, got one of {len(value)}")
    pairs = enumerate(zip(value, kinds, strict=True))
    return tuple(fitted(v, k, f"{path}[{i}]", as_spec) for i, (v, k) in pairs)


def _mapping(value: Any, kind: Any, path: str, as_spec: bool) -> ImmutableDict:
    if not isinstance(value, Mapping):
        raise _wrong(path, "Mapping", value)
    keys, values = _arguments(kind) or (str, Tensor)
    return ImmutableDict(
        {
            fitted(k, keys, f"{path}.<key>", False): fitted(v, values, f"{path}[{k!r}]", as_spec)
            for k, v in value.items()
        }
    )


def _union(value: Any, kind: Any, path: str, as_spec: bool) -> Any:
    """The first of the kinds that the value is of as it is, else the first that it can be made."""
    for exact in (True, False):
        for one in _arguments(kind):
            if exact and isinstance(one, type) and not isinstance(value, one):
                continue
            try:
                return fitted(value, one, path, as_spec)
            except TypeError:
                continue
    names = ", ".join(getattr(k, "__name__", str(k)) for k in _arguments(kind))
    raise _wrong(path, f"one of {names}", value)


def _is(*classes: type) -> Callable[[Any], bool]:
    return lambda kind: isinstance(kind, type) and issubclass(kind, classes)


_CONVERSIONS: list[tuple[Callable[[Any], bool], Callable[[Any, Any, str, bool], Any]]] = [
    (_is_union, _union),
    (lambda kind: kind is None or kind is type(None), _none),
    (lambda kind: typing.get_origin(kind) is tuple, _tuple),
    (lambda kind: _is(Mapping)(typing.get_origin(kind)), _mapping),
    (_is(CompositeTensor), _composite),
    (_is(Value), _tensor),
    (_is(TensorShape), _shape),
    (_is(DType), _dtype),
]


def leaves(value: Any) -> list[Any]:
    """The tensors, composites and specs in a field, in their order."""
    if isinstance(value, Value | CompositeTensor | TypeSpec):
        return [value]
    if isinstance(value, tuple):
        return [x for v in value for x in leaves(v)]
    if isinstance(value, ImmutableDict):
        return [x for v in value.values() for x in leaves(v)]
    return []


def replaced(value: Any, new: Iterator[Any]) -> Any:
    """A field with other tensors, composites or specs, taken one after the other."""
    if isinstance(value, Value | CompositeTensor | TypeSpec):
        return next(new)
    if isinstance(value, tuple):
        return tuple(replaced(v, new) for v in value)
    if isinstance(value, ImmutableDict):
        return ImmutableDict({k: replaced(v, new) for k, v in value.items()})
    return value


def spec_of(leaf: Any) -> TypeSpec:
    """What a tensor or composite in a field looks like."""
    if isinstance(leaf, TypeSpec):
        return leaf
    if isinstance(leaf, CompositeTensor):
        return leaf._type_spec
    return TensorSpec(leaf.shape, leaf.dtype)
