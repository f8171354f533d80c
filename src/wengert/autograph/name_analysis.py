"""The effects of statements: the names and paths that they read and write, and their jumps.

A symbol is a name, or a path from a name such as `self.h` or `d["k"]`, that a statement gives a
new value. Nothing here runs code or knows what a tensor is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, NamedTuple

# Methods that change a list, dict or set in place.
MUTATORS = frozenset({
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse",
    "setdefault", "sort", "update",
})  # fmt: skip
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.While, ast.For)


# The fields that hold no nodes to look into: names, operators, contexts.
_NO_NODES = frozenset({
    "arg", "asname", "attr", "cls", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs",
    "level", "module", "name", "names", "op", "ops", "rest", "simple", "type_comment",
    "type_ignores",
})  # fmt: skip


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of each kind of node that hold nodes."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        skipped = _NO_NODES
        if kind is ast.MatchClass:
            skipped = skipped - {"cls"}
        elif kind in (ast.Import, ast.ImportFrom):
            skipped = skipped - {"names"}
        elif kind in (ast.Constant, ast.MatchSingleton):
            skipped = skipped | {"value"}
        fields = tuple([f for f in kind._fields if f not in skipped])  # type: ignore[attr-defined]
        self[kind] = fields
        return fields


FIELDS = _Fields()


class Symbol(NamedTuple):
    """A name, or a path of attributes (`.`), constant keys (`[`) and named keys (`n`) from it."""

    base: str
    steps: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        text = self.base
        for kind, key in self.steps:
            text += f".{key}" if kind == "." else f"[{key}]" if kind == "n" else f"[{key!r}]"
        return text

    def above(self) -> list[Symbol]:
        """The proper prefixes of a path."""
        return [Symbol(self.base, self.steps[:k]) for k in range(len(self.steps))]


def path(node: ast.AST) -> Symbol | None:
    """The symbol that an expression names, where it is a simple path."""
    if isinstance(node, ast.Name):
        return Symbol(node.id)
    if isinstance(node, ast.Attribute):
        inner = path(node.value)
        return inner and Symbol(inner.base, (*inner.steps, (".", node.attr)))
    if isinstance(node, ast.Subscript):
        inner = path(node.value)
        key = _key(node.slice)
        return inner and key and Symbol(inner.base, (*inner.steps, key))
    return None


def _key(node: ast.AST) -> tuple[str, int | str] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return "[", node.value
    if isinstance(node, ast.Name):
        return "n", node.id
    return None


class Effects:
    """The names and paths that a piece of code reads and writes, and its jumps."""

    __slots__ = (
        "appended", "assigned", "bound", "calls", "captured", "jumps", "memo", "mutated", "reads", "shared",
        "stores",
    )  # fmt: skip

    def __init__(self, memo: dict[int, Effects] | None = None) -> None:
        self.memo = memo
        self.reads: set[str] = set()
        self.stores: set[str] = set()
        # Paths that are given a value, and containers that are changed in place.
        self.assigned: set[Symbol] = set()
        self.mutated: set[Symbol] = set()
        self.appended: set[Symbol] = set()
        # Names that inner functions see, and those that they change by `nonlocal`.
        self.captured: set[str] = set()
        self.shared: set[str] = set()
        # Names that `:=` binds, perhaps in an operand that is not evaluated.
        self.bound: set[str] = set()
        self.jumps: set[str] = set()
        self.calls = False

    def add(self, other: Effects) -> None:
        self.reads |= other.reads
        self.stores |= other.stores
        self.assigned |= other.assigned
        self.mutated |= other.mutated
        self.appended |= other.appended
        self.captured |= other.captured
        self.shared |= other.shared
        self.bound |= other.bound
        self.jumps |= other.jumps
        self.calls = self.calls or other.calls


Memo = dict[int, Effects]


def effects(nodes: ast.AST | Iterable[ast.AST | None] | None, memo: Memo | None = None) -> Effects:
    """The effects of code, with those of the blocks inside it; `memo` keeps those of statements."""
    result = Effects(memo)
    if isinstance(nodes, ast.AST):
        _visit(nodes, result)
    else:
        for node in nodes or ():
            if node is not None:
                _visit(node, result)
    return result


def _visit(node: ast.AST, out: Effects) -> None:
    if isinstance(node, ast.stmt) and out.memo is not None:
        one = out.memo.get(id(node))
        if one is None:
            one = out.memo[id(node)] = Effects(out.memo)
            _HANDLERS.get(type(node), _inside)(node, one)
        out.add(one)
    else:
        _HANDLERS.get(type(node), _inside)(node, out)


def _inside(node: ast.AST, out: Effects) -> None:
    for name in FIELDS[type(node)]:
        child = getattr(node, name, None)
        if child.__class__ is list:
            for one in child:  # type: ignore[union-attr]  # it is a list
                if one is not None:
                    _visit(one, out)
        elif child is not None and child.__class__ is not ast.Constant:
            _visit(child, out)


def _name(node: ast.Name, out: Effects) -> None:
    (out.reads if isinstance(node.ctx, ast.Load) else out.stores).add(node.id)


def _path_target(node: ast.Attribute | ast.Subscript, out: Effects) -> None:
    if not isinstance(node.ctx, ast.Load):
        symbol = path(node)
        if symbol is not None:
            out.assigned.add(symbol)
        elif isinstance(node, ast.Subscript):
            base = path(node.value)
            if base is not None:
                out.mutated.add(base)
    _inside(node, out)


def _named_expr(node: ast.NamedExpr, out: Effects) -> None:
    out.bound.add(node.target.id)
    _inside(node, out)


def _aug_assign(node: ast.AugAssign, out: Effects) -> None:
    if isinstance(node.target, ast.Name):
        out.reads.add(node.target.id)
    _inside(node, out)


def _call(node: ast.Call, out: Effects) -> None:
    out.calls = True
    if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        base = path(node.func.value)
        if base is not None:
            out.mutated.add(base)
            if node.func.attr in ("append", "extend"):
                out.appended.add(base)
    _inside(node, out)


def _function(node: Any, out: Effects) -> None:
    if not isinstance(node, ast.Lambda):
        out.stores.add(node.name)
        for decorator in node.decorator_list:
            _visit(decorator, out)
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            _visit(default, out)
    body = inner_effects(node)
    out.reads |= body.reads
    out.captured |= body.reads | body.shared
    out.shared |= body.shared


def _class(node: ast.ClassDef, out: Effects) -> None:
    out.stores.add(node.name)
    for part in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
        _visit(part, out)
    body = effects(node.body)
    out.reads |= body.reads
    out.captured |= body.reads | body.shared
    out.shared |= body.shared


def inner_effects(node: Any) -> Effects:
    """The effects of an inner function on the names around it: `reads` and `shared`."""
    body = effects(node.body)
    own = declared(node.body)
    local = parameters(node.args) | (body.stores - own["nonlocal"] - own["global"])
    result = Effects()
    result.reads = (body.reads | body.captured | own["nonlocal"]) - local - own["global"]
    result.shared = (body.shared - local) | (own["nonlocal"] & body.stores)
    return result


def parameters(args: ast.arguments) -> set[str]:
    """The names of the parameters of a function."""
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {a.arg for a in every if a is not None}


def declared(body: list[ast.stmt] | ast.expr) -> dict[str, set[str]]:
    """The names that a function body declares `global` and `nonlocal`."""
    table: dict[str, set[str]] = {"global": set(), "nonlocal": set()}
    stack = list(body) if isinstance(body, list) else []
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            table["global" if isinstance(node, ast.Global) else "nonlocal"].update(node.names)
        elif isinstance(node, ast.stmt) and not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack.extend(s for block in blocks(node) for s in block)
    return table


def _comprehension(node: Any, out: Effects) -> None:
    inner = Effects(out.memo)
    _inside(node, inner)
    bound = effects(g.target for g in node.generators).stores
    inner.reads -= bound
    inner.captured -= bound
    inner.stores = set(inner.bound)
    inner.mutated = {s for s in inner.mutated if s.base not in bound}
    out.add(inner)


def _loop(node: Any, out: Effects) -> None:
    inner = effects(node.body, out.memo)
    inner.jumps &= {"return"}
    out.add(inner)
    for child in (*node.orelse, *headers(node)):
        _visit(child, out)


def _handler(node: ast.ExceptHandler, out: Effects) -> None:
    if node.name:
        out.stores.add(node.name)
    _inside(node, out)


def _match_name(node: Any, out: Effects) -> None:
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name:
        out.stores.add(name)
    _inside(node, out)


def _import(node: Any, out: Effects) -> None:
    out.stores |= {a.asname or a.name.partition(".")[0] for a in node.names}


def _jump(kind: str) -> Any:
    def visit(node: ast.AST, out: Effects) -> None:
        out.jumps.add(kind)
        _inside(node, out)

    return visit


_HANDLERS: dict[type, Any] = {
    ast.Name: _name,
    ast.Attribute: _path_target,
    ast.Subscript: _path_target,
    ast.AugAssign: _aug_assign,
    ast.NamedExpr: _named_expr,
    ast.Call: _call,
    ast.ClassDef: _class,
    ast.While: _loop,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.ExceptHandler: _handler,
    ast.MatchAs: _match_name,
    ast.MatchStar: _match_name,
    ast.MatchMapping: _match_name,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Break: _jump("break"),
    ast.Continue: _jump("continue"),
    ast.Return: _jump("return"),
    **dict.fromkeys(FUNCTIONS, _function),
    **dict.fromkeys(COMPREHENSIONS, _comprehension),
}


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all nodes inside it, without those that only name an operator or a context."""
    results = [node]
    for one in results:
        for name in FIELDS[type(one)]:
            child = getattr(one, name, None)
            if child.__class__ is list:
                results += [c for c in child if c is not None]  # type: ignore[union-attr]  # a list
            elif child is not None:
                results.append(child)
    return results


def blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of statements directly inside a statement; none for functions and classes."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return []
    results = [getattr(node, field, None) for field in ("body", "orelse", "finalbody")]
    inner = [n.body for n in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    return [b for b in (*results, *inner) if b and isinstance(b, list)]


def headers(node: ast.AST) -> list[ast.AST]:
    """The expressions of a compound statement that stand outside its blocks."""
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For | ast.AsyncFor):
        return [node.target, node.iter]
    if isinstance(node, ast.With | ast.AsyncWith):
        return list(node.items)
    if isinstance(node, ast.Match):
        return [node.subject]
    return []
