"""Detects objects, lists and dicts that a call in a branch or loop body changes.

The syntax shows `self.total = ...` and `items.append(...)`, but not what a called method does to
its object, or a function to a list that it closes over. So everything that the variables of a
function lead to is compared before and after: a symbol that then holds a tensor of the inner graph
is state of the construct too, and the construct is traced again with it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from wengert.autograph import value_trees
from wengert.autograph.closure_state import Cells, State, write
from wengert.autograph.lists import TracedList, is_array
from wengert.autograph.name_analysis import Symbol
from wengert.autograph.retrace import Learn, Owner
from wengert.autograph.undefined import EMPTY
from wengert.core.context import get_state
from wengert.core.errors import at_site
from wengert.core.types import SymbolicTensor, Value

OBJECTS = "objects"
_PLAIN = (Value, ModuleType, FunctionType, MethodType, type, str, bytes, int, float, complex)
_DEEPEST = 3
_MOST = 64

Left = Callable[[SymbolicTensor], bool]


class Watched(NamedTuple):
    """An object, list or dict, the path that leads to it, and what it held."""

    path: Symbol
    object: Any
    before: dict[Any, Any]


class Watch(NamedTuple):
    """The objects that the variables of a function lead to, and the lists and dicts among these."""

    cells: Cells
    objects: list[Watched]
    names: dict[str, Any]


def watch(cells: Cells) -> Watch:
    """Records the objects that the variables of a function lead to."""
    results: list[Watched] = []
    seen: set[int] = set()
    level = [(Symbol(name), cells.get(name)) for name in cells.names()]
    names = {path.base: v for path, v in level if isinstance(v, list | dict | TracedList)}
    for _ in range(_DEEPEST):
        following = []
        for path, value in level:
            held = None if id(value) in seen else _held(value)
            if held is None:
                continue
            seen.add(id(value))
            if len(results) >= _MOST:
                return Watch(cells, results, names)
            results.append(Watched(path, value, held))
            if len(held) <= _MOST:
                following += [(_part(path, value, k), v) for k, v in held.items()]
        level = following
    return Watch(cells, results, names)


def _held(value: Any) -> dict[Any, Any] | None:
    """The current contents of a list, dict or object of the user's."""
    if isinstance(value, list):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return dict(value)
    held = getattr(value, "__dict__", None)
    return dict(held) if isinstance(held, dict) and not isinstance(value, _PLAIN) else None


def _part(path: Symbol, value: Any, key: int | str) -> Symbol:
    """The path to a part; that of its container where a part has no path."""
    if not isinstance(value, list | dict):
        return Symbol(path.base, (*path.steps, (".", key)))
    if not isinstance(key, str | int):
        return path
    return Symbol(path.base, (*path.steps, ("[", key)))


def learn_of(watched: Watch, state: State, known: tuple[Symbol, ...], owner: Owner) -> None:
    """Raises `Learn` where a symbol holds a tensor of the graph that is being traced."""
    here = get_state()
    if here is None or here.graph is None:
        return
    graph = here.graph
    result = put_back(watched, lambda x: x._graph is graph)
    new = tuple([s for s in dict.fromkeys(result) if s not in state.symbols])
    if new:
        raise Learn(owner, {OBJECTS: (*known, *new)})
    if result:
        raise _behind(state, result[0])


def _behind(state: State, symbol: Symbol) -> Exception:
    kind, line = state.site.kind, state.site.line
    return at_site(
        TypeError(
            f"{kind}: `{symbol}` is changed in the `{kind}` at line {line} behind its name, as by a "
            f"method that was taken from it before (`add = items.append`). Change it by its name."
        )
    )


def put_back(watched: Watch, left: Left = lambda x: True) -> list[Symbol]:
    """Restores symbols that hold tensors which a trace has `left` behind."""
    results: list[Symbol] = []
    for name, before in watched.names.items():
        if watched.cells.get(name) is not before and _holds(watched.cells.get(name), left):
            results.append(Symbol(name))
            write(watched.cells, Symbol(name), before)
    for one in watched.objects:
        results += _put_back(one, left)
    return results


def _put_back(one: Watched, left: Left) -> list[Symbol]:
    path, holder, before = one
    now = _held(holder) or {}
    changed = [
        k for k, v in now.items() if v is not before.get(k, EMPTY) and _holds(v, left)
    ]  # fmt: skip
    if not changed:
        return []
    if isinstance(holder, list):
        holder[:] = before.values()
        # A list that is longer or shorter is state as a whole.
        return [path] if len(now) != len(before) else [_part(path, holder, k) for k in changed]
    for k in changed:
        _restore(holder, k, before.get(k, EMPTY))
    return [_part(path, holder, k) for k in changed]


def _restore(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        if value is EMPTY:
            holder.pop(key, None)
        else:
            holder[key] = value
    elif value is EMPTY:
        delattr(holder, key)
    else:
        setattr(holder, key, value)


def _holds(value: Any, left: Left) -> bool:
    if value_trees.is_tree(value):
        return any(_holds(p, left) for p in value_trees.parts(value))
    if isinstance(value, TracedList):
        return any(_holds(a, left) for a in value.arrays)
    if is_array(value):
        value = getattr(value, "_buffer", None)
    return isinstance(value, SymbolicTensor) and left(value)
