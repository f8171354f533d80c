"""Nests walked as deep as another one: the functions of `tensorflow.python.util.nest` beyond `tf.nest`.

A *shallow* structure says where the walk over a deeper one ends. Paths are tuples of keys, field names
and positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wengert.core import nest
from wengert.core.composite import is_composite
from wengert.core.errors import at_site
from wengert.core.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)
from wengert.core.nest_paths import (
    Path,
    is_attrs,
    is_mapping,
    is_namedtuple,
    opens,
    walk,
    yield_sorted_items,
)

__all__ = [
    "assert_same_structure", "flatten", "is_attrs", "is_mapping", "is_namedtuple", "is_nested",
    "map_structure", "pack_sequence_as", "yield_sorted_items",
]  # fmt: skip


def same_namedtuples(nest1: Any, nest2: Any) -> bool:
    """Whether two named tuples have one name and the same fields."""
    return type(nest1).__name__ == type(nest2).__name__ and nest1._fields == nest2._fields


def is_nested_or_composite(x: Any) -> bool:
    """Whether a value is a container, or has components."""
    return is_nested(x) or is_composite(x)


def sequence_like(instance: Any, args: Any) -> Any:
    """The members `args` in a container of the kind of `instance`."""
    return nest._rebuild(instance, list(args))


def yield_value(iterable: Any) -> Iterator[Any]:
    """The members of a container."""
    return (value for _, value in yield_sorted_items(iterable))


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises where `input_tree` is not at least as deep as `shallow_tree`, in the same form."""
    if not opens(shallow_tree, expand_composites):
        return
    if not opens(input_tree, expand_composites):
        raise _differ(
            TypeError,
            f"if shallow structure is a sequence, input must also be a sequence; got "
            f"{type(input_tree).__name__}",
        )
    if check_types and not _same_kind(shallow_tree, input_tree):
        raise _differ(
            TypeError,
            f"the two structures don't have the same sequence type: the input has type "
            f"{type(input_tree).__name__}, the shallow structure {type(shallow_tree).__name__}",
        )
    shallow, deep = list(yield_sorted_items(shallow_tree)), list(yield_sorted_items(input_tree))
    if len(shallow) != len(deep):
        raise _differ(
            ValueError,
            f"the two structures don't have the same sequence length: the input has length "
            f"{len(deep)}, the shallow structure {len(shallow)}",
        )
    if is_mapping(shallow_tree) and is_mapping(input_tree) and set(shallow_tree) != set(input_tree):
        raise _differ(
            ValueError,
            f"the two structures don't have the same keys: {list(input_tree)} and "
            f"{list(shallow_tree)}",
        )
    for (_, one), (_, other) in zip(shallow, deep, strict=True):
        assert_shallow_structure(one, other, check_types, expand_composites)


def _same_kind(shallow: Any, deep: Any) -> bool:
    if isinstance(deep, type(shallow)) or (is_mapping(shallow) and is_mapping(deep)):
        return True
    if is_composite(shallow) or is_composite(deep):
        return is_composite(shallow) and is_composite(deep)
    return is_namedtuple(shallow) and is_namedtuple(deep) and same_namedtuples(shallow, deep)


def _differ(kind: type[Exception], text: str) -> Exception:
    return at_site(kind(f"nest: {text}."))


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """The parts of `input_tree` that stand where `shallow_tree` has leaves."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return [part for _, part in walk(shallow_tree, input_tree, expand_composites)]


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """`flatten_up_to` with the path of each part."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(walk(shallow_tree, input_tree, expand_composites))


def map_structure_up_to(shallow_tree: Any, func: Any, *inputs: Any, **kwargs: Any) -> Any:
    """Applies a function to the parts that stand where `shallow_tree` has leaves."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *parts: func(*parts), *inputs, **kwargs
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Any, *inputs: Any, **kwargs: Any
) -> Any:
    """`map_structure_up_to` with a function that takes the path first."""
    if not inputs:
        raise at_site(ValueError("map_structure_up_to: give at least one structure."))
    check, expand = kwargs.pop("check_types", True), kwargs.pop("expand_composites", False)
    for one in inputs:
        assert_shallow_structure(shallow_tree, one, check, expand)
    paths = [path for path, _ in walk(shallow_tree, inputs[0], expand)]
    flat = [[part for _, part in walk(shallow_tree, one, expand)] for one in inputs]
    results = [func(path, *parts, **kwargs) for path, *parts in zip(paths, *flat, strict=True)]
    return pack_sequence_as(shallow_tree, results, expand)


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """The leaves with their paths."""
    return list(walk(structure, structure, expand_composites))


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """The paths of the leaves."""
    return (path for path, _ in flatten_with_tuple_paths(nest, expand_composites))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """The leaves with their paths as texts."""
    pairs = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def map_structure_with_tuple_paths(func: Any, *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` with a function that takes the path first."""
    check, expand = kwargs.pop("check_types", True), kwargs.pop("expand_composites", False)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check, expand)
    flat = [flatten(one, expand) for one in structure]
    paths = yield_flat_paths(structure[0], expand)
    results = [func(path, *leaves, **kwargs) for path, *leaves in zip(paths, *flat, strict=True)]
    return pack_sequence_as(structure[0], results, expand)


def map_structure_with_paths(func: Any, *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` with a function that takes the path first, joined by slashes."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves, **more: func("/".join(map(str, path)), *leaves, **more),
        *structure,
        **kwargs,
    )


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """What is left of a structure if the walk goes on only where `traverse_fn` says so.

    The leaves of the result are whether the walk went on there; so a part that is not opened is
    `False`, and a leaf that may be is `True`.
    """
    answer = traverse_fn(structure)
    if not opens(structure, expand_composites):
        if not isinstance(answer, bool):
            raise _differ(TypeError, f"traverse_fn must answer a bool for a leaf; got {answer!r}")
        return answer
    members = list(yield_value(structure))
    if isinstance(answer, bool):
        if not answer:
            return False
        levels = [traverse_fn(m) if not opens(m, expand_composites) else None for m in members]
    else:
        assert_shallow_structure(answer, structure, expand_composites=expand_composites)
        levels = list(yield_value(answer))
        if not all(isinstance(level, bool) for level in levels):
            raise _differ(TypeError, f"traverse_fn must answer bools for members; got {levels!r}")
    results = []
    for level, member in zip(levels, members, strict=True):
        if level is False or (level is True and not opens(member, expand_composites)):
            results.append(level)
        else:
            results.append(get_traverse_shallow_structure(traverse_fn, member, expand_composites))
    return sequence_like(structure, results)


def list_to_tuple(structure: Any) -> Any:
    """The same structure with tuples for its lists."""
    if isinstance(structure, list):
        return tuple(map(list_to_tuple, structure))
    if not is_nested(structure):
        return structure
    return sequence_like(structure, [list_to_tuple(x) for x in yield_value(structure)])


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """A dict whose keys are structures, by the leaves of its keys and values."""
    result: dict[Any, Any] = {}
    for key, value in dictionary.items():
        for one, other in zip(flatten(key), flatten(value), strict=True):
            if one in result:
                raise _differ(ValueError, f"the key {one!r} stands twice")
            result[one] = other
    return result
