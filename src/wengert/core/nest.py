"""Nested structures: lists, tuples, named tuples, mappings, attrs classes, and what is like them.

As in TensorFlow, mappings are walked in sorted key order and rebuilt in their own, subclasses of
containers are containers, and `None`, strings, arrays and dataclasses are leaves. A composite
tensor is a leaf too, or with `expand_composites` a container of its components. A class of the
user's with `__tf_flatten__`, which gives metadata and members, and `__tf_unflatten__`, which takes
them, is a container.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, MappingView, Sequence
from functools import lru_cache
from typing import Any

from wengert.core.composite import components, differ, is_composite, rebuilt
from wengert.core.errors import at_site, require

_LEAF_SEQUENCES = (str, bytes, bytearray, memoryview)


@lru_cache(maxsize=1024)
def _is_container(kind: type) -> bool:
    if issubclass(kind, Sequence):
        return not issubclass(kind, _LEAF_SEQUENCES)
    if issubclass(kind, Mapping | MappingView) or hasattr(kind, "__attrs_attrs__"):
        return True
    return takes_itself_apart(kind)


@lru_cache(maxsize=1024)
def takes_itself_apart(kind: type) -> bool:
    """Whether a class has `__tf_flatten__` and `__tf_unflatten__` by the hand of a user.

    Classes of this package have them for functions alone: as composites they are leaves.
    """
    if not (hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__")):
        return False
    owner = next(k for k in kind.__mro__ if "__tf_flatten__" in vars(k))
    return owner.__module__.partition(".")[0] != __name__.partition(".")[0]


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
            f"nest: the keys of a dict must be sortable; got {list(mapping)!r}. Use keys of one "
            "type."
        )
        raise at_site(error) from None


def _children(structure: Any) -> list[Any]:
    """The members of a container in their fixed order."""
    if is_composite(structure):
        return [components(structure)]
    if isinstance(structure, Mapping):
        return [structure[k] for k in _sorted_keys(structure)]
    if takes_itself_apart(type(structure)):
        return list(structure.__tf_flatten__()[1])
    if _is_attrs(structure):
        return [getattr(structure, a.name) for a in type(structure).__attrs_attrs__]
    return list(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in a fixed order."""
    if not _opens(structure, expand_composites):
        return [structure]
    leaves: list[Any] = []
    try:
        _collect(structure, leaves, expand_composites)
    except RecursionError as error:
        raise too_deep("nest", error, structure) from None
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
        table = dict(zip(_sorted_keys(structure), children, strict=True))
        pairs = [(k, table[k]) for k in structure]
        if isinstance(structure, defaultdict):
            return kind(structure.default_factory, pairs)
        return dict(pairs) if kind.__name__ == "mappingproxy" else kind(pairs)
    if takes_itself_apart(kind):
        return kind.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(children))
    if hasattr(kind, "_fields") or _is_attrs(structure):
        return kind(*children)
    if isinstance(structure, MappingView | range):
        return children
    return kind(children)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the leaves of structures that have the same form.

    Args:
        func: takes a leaf of each structure.
        structure: nests of lists, tuples, dicts and composites, all of one form.
        kwargs: `check_types`, `expand_composites`.

    Returns:
        A nest of that form.

    Raises:
        ValueError, TypeError: the forms differ.

    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 3, "b": [4]})
    {'a': 4, 'b': [6]}
    """
    require(
        callable(func), "map_structure", f"`func` must be callable; got {func!r}", kind=TypeError
    )
    require(structure, "map_structure", "give at least one structure", kind=ValueError)
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    require(
        not kwargs,
        "map_structure",
        lambda: (
            f"only `check_types` and `expand_composites` are keywords; got `{next(iter(kwargs))}`"
        ),
        kind=ValueError,
    )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    flat = [flatten(one, expand) for one in structure]
    results = [func(*leaves) for leaves in zip(*flat, strict=True)]
    return pack_sequence_as(structure[0], results, expand)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Puts leaves back into the form of `structure`."""
    require(
        is_nested(flat_sequence),
        "pack_sequence_as",
        lambda: f"`flat_sequence` must be a list of leaves; got {_short(flat_sequence)}",
        kind=TypeError,
    )
    leaves = list(flat_sequence)
    count = len(flatten(structure, expand_composites))
    require(
        count == len(leaves),
        "pack_sequence_as",
        lambda: f"the structure has {count} leaves; got {len(leaves)}",
        kind=ValueError,
    )
    try:
        return _pack(structure, iter(leaves), expand_composites)
    except RecursionError as error:
        raise too_deep("pack_sequence_as", error, structure) from None


def _pack(structure: Any, leaves: Any, expand: bool) -> Any:
    if not _opens(structure, expand):
        return next(leaves)
    return _rebuild(structure, [_pack(child, leaves, expand) for child in _children(structure)])


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises where two structures differ in form: `TypeError` for kinds, `ValueError` else."""
    try:
        problem = _difference(nest1, nest2, check_types, expand_composites)
    except RecursionError as error:
        raise too_deep("assert_same_structure", error, nest1, nest2) from None
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
        result = _difference(x, y, check_types, expand)
        if result is not None:
            return result
    return None


def _same_kind(a: Any, b: Any) -> bool:
    one, other = type(a), type(b)
    if one is other or (isinstance(a, Mapping) and isinstance(b, Mapping)):
        return True
    if takes_itself_apart(one) or takes_itself_apart(other):
        return False
    fields = getattr(one, "_fields", None), getattr(other, "_fields", None)
    if fields != (None, None):
        return one.__name__ == other.__name__ and fields[0] == fields[1]
    return issubclass(one, other) or issubclass(other, one)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


DEEP = 100  # structures that are nested deeper than this are nobody's intention


def too_deep(name: str, error: RecursionError, *structures: Any) -> RecursionError:
    """What to raise for a `RecursionError`: it says so where these structures are its cause."""
    left = [(structure, 0) for structure in structures]
    while left:
        structure, depth = left.pop()
        if depth == DEEP:
            return at_site(
                RecursionError(
                    f"{name}: a structure is nested too deep for Python's recursion limit, or "
                    f"contains itself. Make it flat, with a list of its parts."
                )
            )
        if _is_container(type(structure)):
            left.extend((child, depth + 1) for child in _children(structure))
    return error
