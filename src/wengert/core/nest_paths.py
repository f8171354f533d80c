"""Nests with the ways to their leaves: keys, field names and positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wengert.core.composite import components, is_composite
from wengert.core.nest import _children, _sorted_keys, is_nested

Path = tuple[Any, ...]


def is_mapping(x: Any) -> bool:
    """Whether a value is a mapping."""
    return isinstance(x, Mapping)


def is_attrs(x: Any) -> bool:
    """Whether a value is of an attrs class."""
    return hasattr(type(x), "__attrs_attrs__")


def is_namedtuple(x: Any, strict: bool = False) -> bool:
    """Whether a value is a named tuple; with `strict`, of no class derived from one."""
    if not isinstance(x, tuple) or not hasattr(x, "_fields"):
        return False
    return not strict or type(x).__base__ is tuple


def opens(x: Any, expand_composites: bool) -> bool:
    """Whether a walk goes on inside a value."""
    return is_nested(x) or (expand_composites and is_composite(x))


def yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    """The members of a container with their keys, field names or positions."""
    if is_composite(iterable):
        spec = getattr(iterable, "_type_spec", iterable)
        return iter([(spec.value_type.__name__, components(iterable))])
    members = _children(iterable)
    if isinstance(iterable, Mapping):
        return zip(_sorted_keys(iterable), members, strict=True)
    if is_attrs(iterable):
        return zip([a.name for a in type(iterable).__attrs_attrs__], members, strict=True)
    if is_namedtuple(iterable):
        return zip(iterable._fields, members, strict=True)
    return iter(enumerate(members))


def walk(shallow: Any, deep: Any, expand: bool, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The parts of `deep` that stand where `shallow` has leaves, with their paths."""
    if not opens(shallow, expand):
        yield path, deep
        return
    pairs = zip(yield_sorted_items(shallow), yield_sorted_items(deep), strict=True)
    for (key, child), (_, part) in pairs:
        yield from walk(child, part, expand, (*path, key))
