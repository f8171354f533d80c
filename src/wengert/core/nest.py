"""Nested structures: lists, tuples, named tuples, mappings, attrs classes, and what is like them.

As in TensorFlow, mappings are walked in sorted key order and rebuilt in their own, subclasses of
containers are containers, and `None`, strings, arrays and dataclasses are leaves. A composite
tensor is a leaf too, or with `expand_composites` a container of its components.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, MappingView, Sequence
from functools import lru_cache
from typing import Any

from wengert.core.composite import components, differ, is_composite, rebuilt
from wengert.core.errors import at_site

_LEAF_SEQUENCES = (str, bytes, bytearray, memoryview)


@lru_cache(maxsize=1024)
def _is_container(kind: type) -> bool:
    if issubclass(kind, Sequence):
        return not issubclass(kind, _LEAF_SEQUENCES)
    return issubclass(kind, Mapping | MappingView) or hasattr(kind, "__attrs_attrs__")


def is_nested(seq: Any) -> bool:
    """Whether a value is a container rather than a leaf."""
    return _is_container(type(seq))


def _opens(structure: Any, expand: bool) -> bool:
    """Whether a walk goes on inside a value."""
    return _is_container(type(structure)) or (expand and is_composite(structure))


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def _sorted_keys(mapping: Any) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        error = TypeError(
            f"nest: the keys of a dict must be sortable; got {list(mapping)!r}. Use keys of one type."
        )
        raise at_site(error) from None


def _children(structure: Any) -> list[Any]:
    """The members of a container in their fixed order."""
    if is_composite(structure):
        return [components(structure)]
    if isinstance(structure, Mapping):
        return [structure[k] for k in _sorted_keys(structure)]
    if _is_attrs(structure):
        return [getattr(structure, a.name) for a in type(structure).__attrs_attrs__]
    return list(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in a fixed order."""
    if not _opens(structure, expand_composites):
        return [structure]
    leaves: list[Any] = []
    _collect(structure, leaves, expand_composites)
    return leaves


def _collect(structure: Any, leaves: list[Any], expand: bool) -> None:
    for child in _children(structure):
        if _opens(child, expand):
            _collect(child, leaves, expand)
        else:
            leaves.append(child)


def _rebuild(structure: Any, children: list[Any]) -> Any:
    """A container of the kind of `structure` with other members."""
    kind: Any = type(structure)
    if is_composite(structure):
        return rebuilt(structure, children[0])
    if isinstance(structure, Mapping):
        found = dict(zip(_sorted_keys(structure), children, strict=True))
        pairs = [(k, found[k]) for k in structure]
        if isinstance(structure, defaultdict):
            return kind(structure.default_factory, pairs)
        return dict(pairs) if kind.__name__ == "mappingproxy" else kind(pairs)
    if hasattr(kind, "_fields") or _is_attrs(structure):
        return kind(*children)
    if isinstance(structure, MappingView | range):
        return children
    return kind(children)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the leaves of structures that have the same form."""
    if not callable(func):
        raise at_site(TypeError(f"map_structure: `func` must be callable; got {func!r}."))
    if not structure:
        raise at_site(ValueError("map_structure: give at least one structure."))
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise at_site(
            ValueError(
                f"map_structure: only `check_types` and `expand_composites` are keywords; got "
                f"`{next(iter(kwargs))}`."
            )
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    flat = [flatten(one, expand) for one in structure]
    results = [func(*leaves) for leaves in zip(*flat, strict=True)]
    return pack_sequence_as(structure[0], results, expand)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Puts leaves back into the form of `structure`."""
    if not is_nested(flat_sequence):
        raise at_site(
            TypeError(
                f"pack_sequence_as: `flat_sequence` must be a list of leaves; got "
                f"{_short(flat_sequence)}."
            )
        )
    leaves = list(flat_sequence)
    count = len(flatten(structure, expand_composites))
    if count != len(leaves):
        raise at_site(
            ValueError(f"pack_sequence_as: the structure has {count} leaves; got {len(leaves)}.")
        )
    return _pack(structure, iter(leaves), expand_composites)


def _pack(structure: Any, leaves: Any, expand: bool) -> Any:
    if not _opens(structure, expand):
        return next(leaves)
    return _rebuild(structure, [_pack(child, leaves, expand) for child in _children(structure)])


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises where two structures differ in form: `TypeError` for kinds, `ValueError` else."""
    problem = _difference(nest1, nest2, check_types, expand_composites)
    if problem is not None:
        kind, text = problem
        raise at_site(kind(f"assert_same_structure: the structures differ: {text}."))


def _difference(
    a: Any, b: Any, check_types: bool, expand: bool
) -> tuple[type[Exception], str] | None:
    if expand and (is_composite(a) or is_composite(b)):
        return (ValueError, f"{_short(a)} and {_short(b)}") if differ(a, b) else None
    if is_nested(a) != is_nested(b):
        inner, leaf = (a, b) if is_nested(a) else (b, a)
        return ValueError, f"{_short(inner)} is nested, but {_short(leaf)} is a leaf"
    if not is_nested(a):
        return None
    if check_types and not _same_kind(a, b):
        return TypeError, f"one is a {type(a).__name__}, the other a {type(b).__name__}"
    if isinstance(a, Mapping) and isinstance(b, Mapping) and set(a) != set(b):
        return ValueError, f"the keys {_short(list(a))} and {_short(list(b))} are not the same"
    ours, theirs = _children(a), _children(b)
    if len(ours) != len(theirs):
        return ValueError, f"{_short(a)} and {_short(b)} have different lengths"
    for x, y in zip(ours, theirs, strict=True):
        found = _difference(x, y, check_types, expand)
        if found is not None:
            return found
    return None


def _same_kind(a: Any, b: Any) -> bool:
    one, other = type(a), type(b)
    if one is other or (isinstance(a, Mapping) and isinstance(b, Mapping)):
        return True
    fields = getattr(one, "_fields", None), getattr(other, "_fields", None)
    if fields != (None, None):
        return one.__name__ == other.__name__ and fields[0] == fields[1]
    return issubclass(one, other) or issubclass(other, one)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
