"""Values as trees: lists, tuples, dicts and composites, with tensors, numbers and others as leaves.

`form` is a hashable description of a value by kinds, dtypes and shapes; `specs` is a tree of the
same structure that says what tensors would be needed in its place, and `zeros` makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograph.lists import FillingList, TracedList, is_array
from wengert.composite.optional import Optional
from wengert.core import dtypes, nest
from wengert.core.apply import wrap
from wengert.core.composite import CompositeTensor, components, rebuilt
from wengert.core.convert import to_array, to_tensor
from wengert.core.errors import describe
from wengert.core.types import DType, SymbolicTensor, Tensor, TensorSpec, Variable
from wengert.functions.mutated_arguments import replaced
from wengert.graph.builder import building

_NUMBERS = (bool, int, float, complex)


def is_tree(value: Any) -> bool:
    """Whether a value has parts that may be tensors."""
    return isinstance(value, list | tuple | dict | CompositeTensor | Optional)


def parts(value: Any) -> list[Any]:
    """The parts of a tree in a fixed order."""
    if isinstance(value, CompositeTensor):
        return nest.flatten(components(value))
    if isinstance(value, Optional):
        return value.__tf_flatten__()[1]
    if isinstance(value, dict):
        return [value[k] for k in _keys(value)]
    return list(value)


def _keys(value: dict[Any, Any]) -> list[str]:
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def with_parts(value: Any, new: list[Any]) -> Any:
    """A tree of the kind of `value` with other parts."""
    if isinstance(value, CompositeTensor):
        return rebuilt(value, nest.pack_sequence_as(components(value), new))
    if isinstance(value, Optional):
        return Optional.__tf_unflatten__(value._type_spec, new)
    if isinstance(value, dict):
        table = dict(zip(_keys(value), new, strict=True))
        copy = value.copy()
        copy.update({k: table[k] for k in value})
        return copy
    kind: Any = type(value)
    return kind(*new) if hasattr(kind, "_fields") else kind(new)


def same_kind(a: Any, b: Any) -> bool:
    """Whether two trees differ in their parts only."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys()
    return len(parts(a)) == len(parts(b))


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A tree with `change` applied to its leaves."""
    if is_tree(value):
        return with_parts(value, [mapped(p, change) for p in parts(value)])
    return change(value)


def copied(value: Any) -> Any:
    """A tree of new lists and dicts with the same leaves, for a branch to change."""
    if isinstance(value, list | dict):
        return with_parts(value, [copied(p) for p in parts(value)])
    if isinstance(value, tuple):
        new = [copied(p) for p in value]
        same = all(a is b for a, b in zip(new, value, strict=True))
        return value if same else with_parts(value, new)
    if isinstance(value, FillingList):
        value.used()
    return value.copy() if isinstance(value, TracedList) else value


def put_back(old: Any, new: Any) -> Any:
    """Copies a changed container back into the original object, which others may refer to."""
    if type(old) is not type(new):
        if isinstance(old, list):
            replaced(old)
        return new
    if isinstance(old, list):
        old[:] = [put_back(old[i], v) if i < len(old) else v for i, v in enumerate(new)]
        return old
    if isinstance(old, dict):
        table = {k: put_back(old[k], v) if k in old else v for k, v in new.items()}
        old.clear()
        old.update(table)
        return old
    return new


def is_tensor(value: Any) -> bool:
    """Whether a leaf is a tensor (a variable is an object, not a value)."""
    return isinstance(value, Tensor)


def is_variable(value: Any) -> bool:
    """Whether a leaf is no tensor but has the value of one: a variable, Keras's too."""
    return isinstance(value, Variable) or (hasattr(value, "__tf_tensor__") and not is_tree(value))


def has_value(value: Any) -> bool:
    """Whether a leaf is one tensor, or can be."""
    return is_tensor(value) or is_constant(value) or is_variable(value)


def values_of_variables(value: Any) -> Any:
    """A tree with the variables in it read."""
    return mapped(value, lambda leaf: to_tensor(leaf) if is_variable(leaf) else leaf)


def is_stale(value: Any) -> bool:
    """Whether a value holds tensors of a trace that has ended: it says nothing any more."""
    if is_tree(value):
        return any(map(is_stale, parts(value)))
    here = building()
    return (
        isinstance(value, SymbolicTensor)
        and here is not None
        and not here.is_inside(value._graph)
        and here.own(value) is value
    )


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are one, or trees with the very same leaves."""
    if a is b or not (is_tree(a) and is_tree(b) and same_kind(a, b)):
        return a is b
    return all(map(is_same, parts(a), parts(b)))


def is_number(value: Any) -> bool:
    """Whether a leaf is a number or an array that can become a tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biufc"
    return isinstance(value, _NUMBERS)


def is_constant(value: Any) -> bool:
    """Whether a leaf of Python's can become a tensor: a number, an array, or a text."""
    return is_number(value) or isinstance(value, str | bytes)


def as_tensor(value: Any, dtype: DType | None = None) -> Tensor:
    """A leaf as a tensor; a number takes the dtype where it fits."""
    if isinstance(value, Tensor):
        return value
    return wrap(to_array(value, None, dtype)) if is_constant(value) else to_tensor(value)


def shape_of(value: Any) -> tuple[int | None, ...] | None:
    """The sizes of a tensor as far as they are known."""
    shape = value.shape
    return None if shape.rank is None else tuple(shape.as_list())


def form(value: Any) -> Any:
    """The structure and types of a value, without the values of tensors and numbers."""
    if isinstance(value, Tensor):
        return (value.dtype.name, shape_of(value))
    if isinstance(value, TracedList):
        return ("growing", repr(value))
    if is_tree(value):
        keys = tuple(map(repr, _keys(value))) if isinstance(value, dict) else ()
        return (type(value), keys, tuple([form(p) for p in parts(value)]))
    return type(value)


def has_tensors(value: Any) -> bool:
    """Whether there is a tensor in a value."""
    if is_tree(value):
        return any(map(has_tensors, parts(value)))
    return isinstance(value, Tensor | TracedList)


def can_stand_in(value: Any) -> bool:
    """Whether zeros of the same specs can replace a value."""
    if isinstance(value, list | tuple | dict):
        return all(map(can_stand_in, parts(value)))
    return is_tensor(value) or is_constant(value) or isinstance(value, TracedList)


def specs(value: Any) -> Any:
    """The tensors that a value would need, as a tree of specs."""
    return mapped(value, _spec)


def _spec(leaf: Any) -> Any:
    if isinstance(leaf, TensorSpec):
        return leaf
    if isinstance(leaf, TracedList):
        return GrowingSpec(leaf.element)
    leaf = as_tensor(leaf)
    return TensorSpec(shape_of(leaf), leaf.dtype)


class GrowingSpec:
    """The spec of a list that grows, by that of its elements."""

    def __init__(self, element: Any) -> None:
        self.element = element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingSpec) and self.element == other.element

    def __hash__(self) -> int:
        return hash(repr(self.element))


def zeros(needed: Any) -> Any:
    """Zeros for a tree of specs; unknown sizes are 0."""
    return mapped(needed, _zeros)


def _zeros(spec: TensorSpec) -> Any:
    if isinstance(spec, GrowingSpec):
        return TracedList.start(spec.element, [])
    sizes = [d or 0 for d in shape_of(spec) or ()]
    if spec.dtype is dtypes.string:
        return wrap(np.full(sizes, b"", object))
    return wrap(np.zeros(sizes, spec.dtype.np))


def described(value: Any) -> str:
    """A value as messages show it."""
    if isinstance(value, list | tuple | dict):
        inner = [described(p) for p in parts(value)]
        if isinstance(value, dict):
            pairs = zip(_keys(value), inner, strict=True)
            return "{" + ", ".join(f"{k!r}: {t}" for k, t in pairs) + "}"
        text = ", ".join(inner) + ("," if isinstance(value, tuple) and len(inner) == 1 else "")
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    if isinstance(value, Variable):
        return f"the variable {value.name!r}, {describe(value)},"
    shown_as_it_is = isinstance(value, TracedList | str) or is_array(value)
    return repr(value) if shown_as_it_is else describe(value)
