"""Reading the user's source: what an expression was made from, name by name.

A slice backwards through assignments finds what records cannot show, such as a `.numpy()` between
two operations. It follows names, not values, so what it finds is likely and never certain.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from wengert.core.sites import Site

_LEAVES = {"numpy", "item", "tolist"}
_ANSWERS = {"predict", "predict_on_batch", "get_weights", "as_numpy_iterator"}  # of NumPy arrays
# What calling a method means for the value it is made of.
_KINDS = dict.fromkeys((*_LEAVES, *_ANSWERS), "left") | {
    "stop_gradient": "stop", "Variable": "assign",
}  # fmt: skip
_NUMBERS = {"float", "int", "bool"}
_ARRAYS = {"array", "asarray", "float32", "float64", "ascontiguousarray"}
_ASSIGNS = {"assign", "assign_add", "assign_sub", "scatter_add", "scatter_sub", "scatter_update"}
_ASSIGNS |= {"scatter_nd_add", "scatter_nd_sub", "scatter_nd_update"}
_GRADIENTS = {"gradient", "jacobian", "batch_jacobian"}
_STARTERS = {"Thread", "submit", "map", "to_thread", "run_in_executor"}
_MOST = 300


class Found(NamedTuple):
    """A suspicious expression: what kind of cut it is, where, and how it is written."""

    kind: str
    site: Site
    text: str


def tree(file: str) -> ast.Module | None:
    """The syntax tree of a file, or `None` where Python no longer has its text."""
    return _parsed("".join(linecache.getlines(file)))


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError):
        return None


def _scope(module: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line, or the module."""
    best: Any = module
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _holds(node, line):
            best = node
    return best


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _expression(scope: ast.AST, site: Site) -> ast.expr | None:
    """The expression at a place: the one with its columns, or the widest on its line."""
    results = [
        n
        for n in ast.walk(scope)
        if isinstance(n, ast.expr) and n.lineno == site.line and n.col_offset == site.column
    ]
    exact = [n for n in results if n.end_col_offset == site.end_column]
    return max(exact or results, key=lambda n: n.end_col_offset or 0, default=None)


class Slice:
    """The expressions that a value was made from, nearest first."""

    def __init__(self, site: Site) -> None:
        self._file = site.file
        self._module = tree(site.file)
        self.names: list[tuple[str, Any]] = []  # met on the way, each with its scope
        self._seen: set[Any] = set()
        self.found: list[Found] = []
        if self._module is not None:
            scope = _scope(self._module, site.line)
            start = _expression(scope, site)
            if start is not None:
                self._follow(start, scope)

    def _follow(self, expr: ast.AST, scope: ast.AST) -> None:
        queue = [(expr, scope)]
        for node, where in queue:
            if node in self._seen or len(self._seen) > _MOST:
                continue
            self._seen.add(node)
            self.found += [f for f in map(self._judge, ast.walk(node)) if f is not None]
            for inner in ast.walk(node):
                queue += self._origins(inner, where)

    def _origins(self, node: ast.AST, scope: ast.AST) -> list[tuple[ast.AST, Any]]:
        if isinstance(node, ast.Name):
            if (node.id, scope) not in self.names:
                self.names.append((node.id, scope))
            return self._assignments(node.id, scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return [
                (r.value, f)
                for f in self._functions(node.func.id)
                for r in ast.walk(f)
                if isinstance(r, ast.Return) and r.value is not None
            ]
        return []

    def _functions(self, name: str) -> list[ast.FunctionDef]:
        assert self._module is not None, "a slice begins with a tree"
        return [
            n for n in ast.walk(self._module) if isinstance(n, ast.FunctionDef) and n.name == name
        ]

    def _assignments(self, name: str, scope: Any) -> list[tuple[ast.AST, Any]]:
        results: list[tuple[ast.AST, Any]] = []
        for node in _own(scope):
            value = _bound(node, name)
            if value is not None:
                results.append((value, scope))
            elif isinstance(node, ast.Call) and _is_assign(node, name):
                if not _by_gradient(node, scope):
                    self.found.append(self._as("assign", node))
                    results += [(a, scope) for a in node.args]
            elif isinstance(node, ast.Call) and _is_growing(node, name):
                results += [(a, scope) for a in node.args]
        if not results and scope is not self._module:
            return self._assignments(name, self._module)
        return results

    def _judge(self, node: ast.AST) -> Found | None:
        if not isinstance(node, ast.Call):
            return None
        f = node.func
        if isinstance(f, ast.Name):
            return self._as("left", node) if f.id in _NUMBERS else None
        if not isinstance(f, ast.Attribute):
            return None
        kind = _KINDS.get(f.attr)
        if getattr(f.value, "id", "") in ("np", "numpy") and f.attr in _ARRAYS:
            kind = "left"
        needless = (f.attr in _LEAVES and node.keywords) or (kind == "assign" and not node.args)
        return None if kind is None or needless else self._as(kind, node)

    def _as(self, kind: str, node: ast.Call) -> Found:
        return Found(kind, _site(self._file, node), ast.unparse(node))

    def mentions(self, name: str | None) -> bool:
        """Whether the slice meets this name."""
        return name is not None and any(n == name.partition(".")[0] for n, _ in self.names)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of functions inside it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _own(child)


def _binds(target: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(target))


def _bound(node: ast.AST, name: str) -> ast.expr | None:
    """What a statement binds a name to, if it does."""
    if isinstance(node, ast.Assign):
        return node.value if any(_binds(t, name) for t in node.targets) else None
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For) and _binds(node.target, name):
        return node.iter if isinstance(node, ast.For) else node.value
    return None


def _by_gradient(node: ast.Call, scope: Any) -> bool:
    """Whether what is assigned was made from a gradient: an update, which comes after the tape."""
    queue: list[ast.expr] = list(node.args)
    seen: set[str] = set()
    for expr in queue:
        for inner in ast.walk(expr):
            if isinstance(inner, ast.Call) and getattr(inner.func, "attr", "") in _GRADIENTS:
                return True
            if isinstance(inner, ast.Name) and inner.id not in seen:
                seen.add(inner.id)
                queue += [b for n in _own(scope) if (b := _bound(n, inner.id)) is not None]
    return False


def _is_assign(node: ast.Call, name: str) -> bool:
    f = node.func
    owner = f.value if isinstance(f, ast.Attribute) and f.attr in _ASSIGNS else None
    while isinstance(owner, ast.Subscript):  # `rows[0].assign(...)`
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id == name


def _is_growing(node: ast.Call, name: str) -> bool:
    """Whether a call puts something into a list: `values.append(x)`."""
    f = node.func
    return (
        isinstance(f, ast.Attribute)
        and f.attr in ("append", "extend", "insert", "add")
        and isinstance(f.value, ast.Name)
        and f.value.id == name
    )


def made(file: str, name: str, line: int) -> Site | None:
    """Where a name that is seen at a line got its value, or an attribute such as `self.w`."""
    module = tree(file)
    if module is None:
        return None
    scope = _scope(module, line)
    places = [module] if "." in name else [scope, module]
    result = next(filter(None, ([*_given(place, name)] for place in places)), [])
    before = [v for v in result if v.lineno < line] or result
    return _site(file, before[-1]) if before else None


def _given(place: ast.AST, name: str) -> Iterator[ast.expr]:
    """What is assigned to a name in a scope, or to an attribute anywhere below."""
    owner, _, last = name.rpartition(".")
    kind, field = (ast.Attribute, "attr") if owner else (ast.Name, "id")
    for node in ast.walk(place) if owner else _own(place):
        for target, value in _pairs(node):
            if isinstance(target, kind) and getattr(target, field) == last:
                yield value
                break


def _pairs(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What an assignment binds to what; `a, b = 1, 2` piece by piece."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    for target in node.targets if isinstance(node, ast.Assign) else ():
        assert isinstance(node, ast.Assign), "only assignments have several targets"
        inner, outer = getattr(target, "elts", ()), getattr(node.value, "elts", ())
        if inner and len(inner) == len(outer):
            yield from zip(inner, outer, strict=True)
        else:
            yield target, node.value


def _site(file: str, node: ast.expr) -> Site:
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    return Site(file, node.lineno, "", node.col_offset, end)


def definition(file: str, line: int, name: str) -> Site:
    """The `def` or `lambda` whose code, with its decorators, begins at a line."""
    module = tree(file)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first = node.decorator_list[0] if node.decorator_list else node
            if first.lineno == line:
                return Site(file, node.lineno, name, node.col_offset)
        if isinstance(node, ast.Lambda) and node.lineno == line:
            return _site(file, node)
    return Site(file, line, name)


_CONDITIONAL = (ast.If, ast.For, ast.While, ast.IfExp)


def only_in_branches(file: str, name: str, asked: Site | None) -> Site | None:
    """The branch or loop that uses a name, if nothing outside of such does.

    Branches and loops around the place where the gradient was asked for were taken.
    """
    module = tree(file)
    if module is None or "[" in name:
        return None
    last = name.rpartition(".")[2]
    start: Any = module
    if "." not in name and asked is not None:
        scope = _scope(module, asked.line)
        start = scope if file == asked.file and _binds_in(scope, name) else module
    results = []
    for node, around in _with_branches(start, ()):
        if not (_is_read(node, last, "." in name)) or _asks(node, file, asked):
            continue
        outside = [
            b for b in around if asked is None or file != asked.file or not _holds(b, asked.line)
        ]
        if not outside:
            return None
        results.append(outside[-1])
    return None if not results else _header(file, results[0])


def _binds_in(scope: Any, name: str) -> bool:
    """Whether a name is a function's own."""
    stored = (n for n in _own(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    given = ast.walk(getattr(scope, "args", ast.Pass()))
    names = [n.id for n in stored] + [n.arg for n in given if isinstance(n, ast.arg)]
    return name in names


def _with_branches(node: ast.AST, around: tuple[Any, ...]) -> Iterator[tuple[ast.AST, Any]]:
    """All nodes, each with the branches and loops whose body it stands in."""
    for name, value in ast.iter_fields(node):
        inside = isinstance(node, _CONDITIONAL) and name in ("body", "orelse")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child, (*around, node) if inside else around
                yield from _with_branches(child, (*around, node) if inside else around)


def _is_read(node: Any, name: str, attribute: bool) -> bool:
    kind, field = (ast.Attribute, "attr") if attribute else (ast.Name, "id")
    is_named = isinstance(node, kind) and getattr(node, field) == name
    return is_named and isinstance(node.ctx, ast.Load)


def _asks(node: Any, file: str, asked: Site | None) -> bool:
    """Whether a name stands in the line that asked."""
    return asked is not None and file == asked.file and node.lineno == asked.line


def _header(file: str, node: Any) -> Site:
    """The first line of a branch or loop."""
    if isinstance(node, ast.IfExp):
        return _site(file, node)
    end = node.iter if isinstance(node, ast.For) else node.test
    same = end.end_lineno == node.lineno
    return Site(file, node.lineno, "", node.col_offset, end.end_col_offset if same else None)


def runs_in_a_thread(site: Site) -> Site | None:
    """Where the function around a place is handed to a thread, if the file does so."""
    module = tree(site.file)
    scope = None if module is None else _scope(module, site.line)
    if module is None or isinstance(scope, ast.Module):
        return None
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _called(node) in _STARTERS:
            given = [*node.args, *(k.value for k in node.keywords)]
            if any(isinstance(a, ast.Name) and a.id == getattr(scope, "name", "") for a in given):
                return _site(site.file, node)
    return None


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
