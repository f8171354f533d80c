"""Lists and dicts that a function is given and changes: the caller would not see it.

A trace works on copies of them, and later calls do not run the Python function at all. So such a
function is refused, as TensorFlow refuses it, with the line that does it where that can be told.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from wengert.core.context import Setting, own_variable
from wengert.core.errors import at_site, coded
from wengert.core.sites import Site
from wengert.core.types import Tensor
from wengert.functions.signature import is_fields, members

if TYPE_CHECKING:
    from wengert.core.tensor import Reference


_METHODS = {
    "append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault",
    "sort", "update",
}  # fmt: skip


class _Given:
    """The containers among the arguments of a trace, as they were when it began."""

    def __init__(self) -> None:
        self.containers: list[tuple[str, str, Any, dict[Any, Any]]] = []
        self.lost: list[Any] = []  # those that loops have put others in the place of

    def note(self, name: str, path: str, value: Any) -> None:
        parts = _parts(value)
        if parts is None:
            return
        if not isinstance(value, tuple):
            self.containers.append((name, path, value, parts))
        for key, part in parts.items():
            self.note(name, _spelled(path, value, key), part)

    def check(self, name: str, function: Callable[..., Any]) -> None:
        for argument, path, value, before in self.containers:
            lost = any(value is x for x in self.lost)
            what = f"`{path}` grows in a loop" if lost else _change(path, value, before)
            if what is not None:
                error = ValueError(
                    f"function {name!r}: it must not change its argument `{argument}`, for the "
                    f"caller would not see it; {what}. {_remedy(argument, path, value)}"
                )
                raise coded(at_site(error, _place(function, argument)), "WG407")


_given: ContextVar[_Given | None] = own_variable("wengert_arguments", None)


class unchanged(Setting[_Given | None, None]):
    """Refuses a function that changes, in a block, a list or dict among its arguments."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        names: list[str],
        args: Any,
        kwargs: dict[str, Any],
    ) -> None:
        self._given, self._function = _Given(), (name, function)
        for argument, value in (*zip(names, args, strict=True), *kwargs.items()):
            self._given.note(argument, argument, value)
        super().__init__(_given, self._given)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        super().__exit__(kind)
        if kind is None:
            self._given.check(*self._function)


def replaced(container: list[Tensor | int]) -> None:
    """Notes that a loop goes on with another list in the place of this one."""
    given = _given.get()
    if given is not None:
        given.lost.append(container)


def _remedy(argument: str, path: str, value: Any) -> str:
    kind = {list: "list", dict: "dict"}.get(type(value))
    if path != argument or kind is None:
        return "Change a copy, and return it."
    return f"Change a copy, as in `{argument} = {kind}({argument})`, and return it."


def _parts(value: Any) -> dict[Any, Any] | None:
    """What a container holds, by keys; `None` for what is none."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(type(value), "__tf_flatten__") or hasattr(type(value), "__tf_tracing_type__"):
        return None
    return dict(members(value)) if is_fields(value, type(value)) else None


def _spelled(path: str, value: Any, key: int | str | Reference) -> str:
    return f"{path}[{key!r}]" if isinstance(value, list | tuple | Mapping) else f"{path}.{key}"


def _change(path: str, value: Any, before: dict[Any, Any]) -> str | None:
    """The first difference between a container and what it held before, in words."""
    now = _parts(value) or {}
    for key in [*before, *now]:
        where = f"`{_spelled(path, value, key)}`"
        if key not in before:
            return f"{where} is new"
        if key not in now:
            return f"{where} is gone"
        if now[key] is not before[key]:
            return f"{where} is another"
    return None


# The line.


def _place(function: Any, argument: str) -> Site | None:
    """Where a function changes an argument, as its text says; or where it begins."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if code is None:
        return None
    first = code.co_firstlineno
    last = max((line for *_, line in code.co_lines() if line is not None), default=first)
    for node in _statements(code.co_filename):
        if first <= node.lineno <= last and argument in _changed(node):
            ends = node.end_col_offset if node.end_lineno == node.lineno else None
            return Site(code.co_filename, node.lineno, code.co_qualname, node.col_offset, ends)
    return Site(code.co_filename, first, code.co_qualname)


def _statements(file: str) -> Iterator[ast.stmt | ast.Call]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return iter(())
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.Call))


def _changed(node: ast.stmt | ast.Call) -> set[str]:
    """The names of what a statement or call changes inside."""
    if isinstance(node, ast.Assign | ast.Delete):
        places = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        places = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        places = [node.func] if node.func.attr in _METHODS else []
    else:
        places = []
    inside = [p for p in places if isinstance(node, ast.AugAssign) or not isinstance(p, ast.Name)]
    return {name for place in inside for name in _owners(place)}


def _owners(place: ast.expr) -> Iterator[str]:
    if isinstance(place, ast.Tuple | ast.List):
        for part in place.elts:
            yield from () if isinstance(part, ast.Name) else _owners(part)
    while isinstance(place, ast.Subscript | ast.Attribute | ast.Starred):
        place = place.value
    if isinstance(place, ast.Name):
        yield place.id
