"""Small pieces of syntax tree, each at the place in the user's source that it stands for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from wengert.autograph.names import FIELDS

_LOAD = ast.Load()
_STORE = ast.Store()


def at(ref: Any, node: Any) -> Any:
    """Gives a new node the place of another."""
    node.lineno = ref.lineno
    node.col_offset = ref.col_offset
    node.end_lineno = ref.end_lineno
    node.end_col_offset = ref.end_col_offset
    return node


def load(ref: Any, name: str) -> Any:
    """A name that is read."""
    return at(ref, ast.Name(name, _LOAD))


def store(ref: Any, name: str) -> Any:
    """A name that is written."""
    return at(ref, ast.Name(name, _STORE))


def const(ref: Any, value: Any) -> Any:
    """A constant."""
    return at(ref, ast.Constant(value))


def member(ref: Any, name: str, attribute: str) -> Any:
    """`name.attribute`."""
    return at(ref, ast.Attribute(load(ref, name), attribute, _LOAD))


def call(ref: Any, function: Any, *args: Any) -> Any:
    """A call; the function is a node or a name."""
    if isinstance(function, str):
        function = load(ref, function)
    return at(ref, ast.Call(function, list(args), []))


def item(ref: Any, value: Any, index: int) -> Any:
    """`value[index]`."""
    return at(ref, ast.Subscript(value, const(ref, index), _LOAD))


def thunk(ref: Any, body: Any, args: Sequence[str] = ()) -> Any:
    """`lambda args: body`."""
    return at(ref, ast.Lambda(arguments(ref, args), body))


def arguments(ref: Any, names: Sequence[str] = ()) -> ast.arguments:
    """Plain positional parameters."""
    return ast.arguments([], [at(ref, ast.arg(n)) for n in names], None, [], [], None, [])


def assign(ref: Any, name: str, value: Any) -> Any:
    """`name = value`."""
    return at(ref, ast.Assign([store(ref, name)], value))


def do(ref: Any, expression: Any) -> Any:
    """An expression as a statement."""
    return at(ref, ast.Expr(expression))


def give(ref: Any, expression: Any) -> Any:
    """`return expression`."""
    return at(ref, ast.Return(expression))


def either(ref: Any, test: Any, then: list[Any], otherwise: list[Any]) -> Any:
    """An `if` statement."""
    return at(ref, ast.If(test, then or [at(ref, ast.Pass())], otherwise))


def compare(ref: Any, left: Any, op: Any, right: Any) -> Any:
    """One comparison."""
    return at(ref, ast.Compare(left, [op], [right]))


def is_none(ref: Any, name: str) -> Any:
    """`name is None`."""
    return compare(ref, load(ref, name), ast.Is(), const(ref, None))


def function(ref: Any, name: str, args: Sequence[str], body: list[Any]) -> Any:
    """A `def`."""
    node = ast.FunctionDef(name, arguments(ref, args), body or [at(ref, ast.Pass())], [], None)
    if "type_params" in node._fields:
        node.type_params = []  # type: ignore[attr-defined]  # Python 3.12 asks for it
    return at(ref, node)


def changed(node: Any, **fields: Any) -> Any:
    """A node like another, with some fields replaced; the other stays as it is."""
    new = type(node)()
    new.__dict__.update(node.__dict__)
    new.__dict__.update(fields)
    return new


# What has nothing inside to rewrite.
_LEAVES = frozenset({ast.Name, ast.Constant})


def rebuilt(node: Any, rewrite: Callable[[Any], Any], leaves: frozenset[type] = _LEAVES) -> Any:
    """A node with `rewrite` applied to its children; itself where nothing changed.

    Children of the kinds in `leaves` are passed over.
    """
    fields: dict[str, Any] = {}
    for name in FIELDS[type(node)]:
        old: Any = getattr(node, name, None)
        if old.__class__ is list:
            new: Any = [x if x is None or x.__class__ in leaves else rewrite(x) for x in old]
            if new != old:
                fields[name] = new
        elif old is not None and old.__class__ not in leaves:
            new = rewrite(old)
            if new is not old:
                fields[name] = new
    return changed(node, **fields) if fields else node
