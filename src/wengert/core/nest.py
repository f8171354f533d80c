"""Nested structures: lists, tuples, named tuples, dicts, dataclasses and attrs, by optree.

As in TensorFlow, dicts are walked in sorted key order and `None` is a leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import optree


def is_nested(structure: Any) -> bool:
    """Whether a value is a container rather than a leaf."""
    return not optree.tree_is_leaf(structure, none_is_leaf=True)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in a fixed order."""
    return optree.tree_leaves(structure, none_is_leaf=True)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the leaves of structures that have the same form."""
    if not structure:
        raise ValueError("map_structure: give at least one structure.")
    kwargs.pop("check_types", None)
    kwargs.pop("expand_composites", None)
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    return optree.tree_map(func, *structure, none_is_leaf=True)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Puts leaves back into the form of `structure`."""
    leaves = list(flat_sequence)
    spec = optree.tree_structure(structure, none_is_leaf=True)
    if spec.num_leaves != len(leaves):
        raise ValueError(
            f"pack_sequence_as: the structure has {spec.num_leaves} leaves; got {len(leaves)}."
        )
    return optree.tree_unflatten(spec, leaves)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises where two structures differ in form."""
    first = optree.tree_structure(nest1, none_is_leaf=True)
    second = optree.tree_structure(nest2, none_is_leaf=True)
    if first != second:
        kind = TypeError if first.num_leaves == second.num_leaves else ValueError
        raise kind(
            f"assert_same_structure: the structures differ; got {_show(first)} and {_show(second)}."
        )


def _show(spec: Any) -> str:
    text = str(spec).removeprefix("PyTreeSpec(").removesuffix(", NoneIsLeaf)")
    return text if len(text) <= 200 else text[:197] + "..."
