"""Constructors of syntax tree nodes, each with the source position of a node of the user's.

Nodes are made without their constructors, which cost more than all the rest of a conversion.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from wengert.autograph.name_analysis import FIELDS

LOAD, STORE, AND, NOT = ast.Load(), ast.Store(), ast.And(), ast.Not()
_IS, _IS_NOT = ast.Is(), ast.IsNot()
_new = ast.AST.__new__


def make(kind: type, ref: Any, /, **fields: Any) -> ast.AST:
    """A node with these fields and the source position of another."""
    node: Any = _new(kind)
    fields["lineno"] = ref.lineno
    fields["col_offset"] = ref.col_offset
    fields["end_lineno"] = ref.end_lineno
    fields["end_col_offset"] = ref.end_col_offset
    node.__dict__ = fields
    return node


def load(ref: ast.AST, name: str) -> Any:
    """A name that is read."""
    return make(ast.Name, ref, id=name, ctx=LOAD)


def store(ref: ast.AST, name: str) -> Any:
    """A name that is written."""
    return make(ast.Name, ref, id=name, ctx=STORE)


def const(ref: ast.AST, value: Any) -> Any:
    """A constant."""
    return make(ast.Constant, ref, value=value, kind=None)


def member(ref: ast.AST, name: str, attribute: str) -> Any:
    """`name.attribute`."""
    return make(ast.Attribute, ref, value=load(ref, name), attr=attribute, ctx=LOAD)


def call(ref: ast.AST, function: str | ast.expr, *args: Any) -> Any:
    """A call; the function is a node or a name."""
    if isinstance(function, str):
        function = load(ref, function)
    return make(ast.Call, ref, func=function, args=list(args), keywords=[])


def item(ref: ast.AST, value: ast.expr, index: int) -> Any:
    """`value[index]`."""
    return make(ast.Subscript, ref, value=value, slice=const(ref, index), ctx=LOAD)


def several(ref: ast.AST, values: list[Any]) -> Any:
    """A tuple."""
    return make(ast.Tuple, ref, elts=values, ctx=LOAD)


def thunk(ref: ast.expr, body: Any, args: Sequence[str] = ()) -> Any:
    """`lambda args: body`."""
    return make(ast.Lambda, ref, args=arguments(ref, args), body=body)


def arguments(ref: ast.AST, names: Sequence[str] = ()) -> ast.arguments:
    """Plain positional parameters."""
    given: Any = [make(ast.arg, ref, arg=n, annotation=None, type_comment=None) for n in names]
    return ast.arguments([], given, None, [], [], None, [])


def assign(ref: ast.AST, name: str, value: ast.expr) -> Any:
    """`name = value`."""
    return assign_to(ref, store(ref, name), value)


def assign_to(ref: ast.AST, target: Any, value: Any) -> Any:
    """`target = value`."""
    return make(ast.Assign, ref, targets=[target], value=value, type_comment=None)


def keep(ref: ast.expr, name: str, value: ast.expr) -> Any:
    """`(name := value)`."""
    return make(ast.NamedExpr, ref, target=store(ref, name), value=value)


def do(ref: ast.AST, expression: Any) -> Any:
    """An expression as a statement."""
    return make(ast.Expr, ref, value=expression)


def fail(ref: Any, expression: Any) -> Any:
    """`raise expression`."""
    return make(ast.Raise, ref, exc=expression, cause=None)


def tried(ref: Any, body: list[Any], handler: Any) -> Any:
    """`try: body` with one handler."""
    return make(ast.Try, ref, body=body, handlers=[handler], orelse=[], finalbody=[])


def handler(ref: Any, body: list[Any]) -> Any:
    """`except: body`."""
    return make(ast.ExceptHandler, ref, type=None, name=None, body=body)


def context(expression: Any, target: Any) -> Any:
    """One item of a `with`: `expression as target`."""
    return ast.withitem(expression, target)


def give(ref: ast.AST, expression: ast.expr) -> Any:
    """`return expression`."""
    return make(ast.Return, ref, value=expression)


def nothing(ref: Any) -> Any:
    """`pass`."""
    return make(ast.Pass, ref)


def either(ref: ast.AST, test: ast.expr, then: list[Any], otherwise: list[Any]) -> Any:
    """An `if` statement."""
    return make(ast.If, ref, test=test, body=then or [nothing(ref)], orelse=otherwise)


def pick(ref: ast.expr, test: ast.BoolOp, then: ast.Call, otherwise: Any) -> Any:
    """`then if test else otherwise`."""
    return make(ast.IfExp, ref, test=test, body=then, orelse=otherwise)


def joined(ref: ast.expr, op: ast.boolop, values: list[ast.expr]) -> Any:
    """Operands of `and` or `or`."""
    return make(ast.BoolOp, ref, op=op, values=values)


def negated(ref: ast.expr, operand: ast.BoolOp) -> Any:
    """`not operand`."""
    return make(ast.UnaryOp, ref, op=NOT, operand=operand)


def is_not(ref: ast.AST, left: ast.expr, value: Any) -> Any:
    """`left is not value`."""
    right = const(ref, value)
    return make(ast.Compare, ref, left=left, ops=[_IS_NOT], comparators=[right])


def is_none(ref: ast.Pass, name: str) -> Any:
    """`name is None`."""
    right = const(ref, None)
    return make(ast.Compare, ref, left=load(ref, name), ops=[_IS], comparators=[right])


def declare(kind: type, ref: ast.AST, names: list[str]) -> Any:
    """A `global` or `nonlocal` statement."""
    return make(kind, ref, names=names)


def function(ref: ast.AST, name: str, args: Sequence[str], body: list[ast.stmt]) -> Any:
    """A `def`."""
    return make(
        ast.FunctionDef,
        ref,
        name=name,
        args=arguments(ref, args),
        body=body or [nothing(ref)],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )


def class_(ref: ast.AST, name: str, body: list[ast.stmt]) -> Any:
    """A `class`."""
    empty: dict[str, Any] = {"bases": [], "keywords": [], "decorator_list": [], "type_params": []}
    return make(ast.ClassDef, ref, name=name, body=body, **empty)


def start(node: Any) -> Any:
    """A `pass` with the position of the first line of a statement."""
    new = nothing(node)
    if node.end_lineno != node.lineno:
        new.end_lineno, new.end_col_offset = node.lineno, node.col_offset + 1
    return new


def changed(node: ast.AST, **fields: Any) -> Any:
    """A node like another, with some fields replaced; the other stays as it is."""
    new: Any = _new(type(node))
    new.__dict__ = node.__dict__ | fields
    return new


# What has nothing inside to rewrite.
_LEAVES = frozenset({ast.Name, ast.Constant})


def rebuilt(
    node: ast.AST, rewrite: Callable[[Any], Any], leaves: frozenset[type] = _LEAVES
) -> ast.AST:
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
