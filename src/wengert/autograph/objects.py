"""Attributes of the user's objects that get tensors of a branch or loop body by way of a call.

The syntax shows `self.total = ...`, but not what a method called in a branch does to its object.
So the objects that a function names are looked at before and after: an attribute that holds a
tensor of the inner graph then is state of the construct too, which is learned.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from wengert.autograph import trees
from wengert.autograph.learning import Learn, Owner
from wengert.autograph.names import Symbol
from wengert.autograph.state import Cells
from wengert.autograph.undefined import EMPTY
from wengert.core.context import get_state
from wengert.core.symbolic import SymbolicTensor
from wengert.core.tensor import Value

OBJECTS = "objects"
_PLAIN = (Value, ModuleType, FunctionType, MethodType, type, str, bytes, int, float, complex)
_DEEPEST = 3
_MOST = 64


class Watched(NamedTuple):
    """An object, the path that leads to it, and its attributes as they were."""

    path: Symbol
    object: Any
    before: dict[str, Any]


def watch(cells: Cells) -> list[Watched]:
    """The objects that the variables of a function lead to."""
    found: list[Watched] = []
    seen: set[int] = set()
    level = [(Symbol(name), cells.get(name)) for name in cells.names()]
    for _ in range(_DEEPEST):
        following = []
        for path, value in level:
            held = getattr(value, "__dict__", None)
            if not isinstance(held, dict) or isinstance(value, _PLAIN) or id(value) in seen:
                continue
            seen.add(id(value))
            if len(found) >= _MOST:
                return found
            found.append(Watched(path, value, dict(held)))
            following += [(Symbol(path.base, (*path.steps, (".", k))), v) for k, v in held.items()]
        level = following
    return found


def learn_of(watched: list[Watched], known: tuple[Symbol, ...], owner: Owner) -> None:
    """Raises `Learn` where an attribute has got a tensor of the graph that is being traced."""
    state = get_state()
    if state is None or state.graph is None:
        return
    graph = state.graph
    new = put_back(watched, lambda x: x._graph is graph)
    if new:
        raise Learn(owner, {OBJECTS: (*known, *new)})


def put_back(
    watched: list[Watched], left: Callable[[SymbolicTensor], bool] = lambda x: True
) -> list[Symbol]:
    """Gives attributes that hold tensors which a trace has `left` behind their earlier values."""
    found: list[Symbol] = []
    for one in watched:
        for name, value in list(vars(one.object).items()):
            before = one.before.get(name, EMPTY)
            if value is before or not _holds(value, left):
                continue
            found.append(Symbol(one.path.base, (*one.path.steps, (".", name))))
            if before is EMPTY:
                delattr(one.object, name)
            else:
                setattr(one.object, name, before)
    return found


def _holds(value: Any, left: Callable[[SymbolicTensor], bool]) -> bool:
    if trees.is_tree(value):
        return any(_holds(p, left) for p in trees.parts(value))
    return isinstance(value, SymbolicTensor) and left(value)
