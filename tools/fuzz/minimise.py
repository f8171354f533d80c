"""Cuts a program down while its difference stays: statements first, then expressions.

Candidates are made from the syntax tree, so every one of them is a text that parses.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Callable, Iterator
from typing import Any

_SIMPLE = ("s", "x", "m", "r", "n", "1", "tf.constant(2)", "tf.constant(0.5, F)")


def minimise(text: str, fails: Callable[[str], bool], most: int = 600) -> str:
    """The shortest text found within `most` runs for which `fails` holds; it holds for `text`."""
    best, left = ast.unparse(ast.parse(text)), [most]
    tried = {best}

    def shorter(candidate: str) -> bool:
        if candidate in tried or len(candidate) >= len(best) or left[0] <= 0:
            return False
        tried.add(candidate)
        left[0] -= 1
        return fails(candidate)

    while left[0] > 0:
        before = best
        for candidates in (_one_result, _without_statements, _hoisted, _simpler):
            best = _pass(best, candidates, shorter)
        if best == before:
            break
    return best


def _pass(
    text: str, candidates: Callable[[str], Iterator[str]], shorter: Callable[[str], bool]
) -> str:
    """Takes every candidate that still fails, and goes on behind it in the shorter text."""
    at = 0
    while True:
        for k, candidate in enumerate(candidates(text)):
            if k >= at and shorter(candidate):
                text, at = candidate, k
                break
        else:
            return text


def _one_result(text: str) -> Iterator[str]:
    """The program with one of its results only."""
    tree = ast.parse(text)
    last: Any = next(n for n in _inside(tree) if isinstance(n, ast.FunctionDef)).body[-1]
    returned = getattr(last, "value", None)  # the statement may be cut away
    for name in returned.elts if isinstance(returned, ast.List) else ():
        yield text[: text.rindex("    return [")] + f"    return [{ast.unparse(name)}]"


def _bodies(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    names = ("body", "orelse", "finalbody")
    return [
        (node, name)
        for node in _inside(tree)
        for name in names
        if isinstance(getattr(node, name, None), list) and getattr(node, name)
    ]


def _inside(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of `program`; what stands before it stays."""
    assert isinstance(tree, ast.Module)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            yield from ast.walk(statement)


def _edit(tree: ast.AST, at: int, change: Callable[[list[ast.stmt]], list[ast.stmt]]) -> str:
    """The text of a copy whose body number `at` is changed; an empty body becomes `pass`."""
    clone = copy.deepcopy(tree)
    node, name = _bodies(clone)[at]
    body = change(getattr(node, name))
    if not body and name == "body":
        body = [ast.Pass()]
    setattr(node, name, body)
    try:
        return ast.unparse(ast.fix_missing_locations(clone))
    except (ValueError, AttributeError):
        return ""


def _without_statements(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    for at, (node, name) in enumerate(_bodies(tree)):
        length = len(getattr(node, name))
        size = length
        while size:
            for start in range(length - size, -1, -size):
                yield _valid(_edit(tree, at, lambda b, s=start, n=size: b[:s] + b[s + n :]))
            size //= 2


def _hoisted(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    for at, (node, name) in enumerate(_bodies(tree)):
        for k, statement in enumerate(getattr(node, name)):
            if isinstance(statement, ast.If | ast.For | ast.While | ast.Try | ast.With):
                for part in ("body", "orelse", "finalbody"):
                    if getattr(statement, part, None):
                        yield _valid(_edit(
                            tree, at, lambda b, k=k, p=part: b[:k] + getattr(b[k], p) + b[k + 1 :]
                        ))  # fmt: skip
            if isinstance(statement, ast.FunctionDef) and statement.decorator_list:
                yield _valid(_edit(tree, at, lambda b, k=k: b[:k] + [_plain(b[k])] + b[k + 1 :]))


def _plain(statement: ast.stmt) -> ast.stmt:
    assert isinstance(statement, ast.FunctionDef)
    statement.decorator_list = []
    return statement


def _simpler(text: str) -> Iterator[str]:
    """Each expression replaced by a part of it, or by a name or number."""
    tree = ast.parse(text)
    count = sum(1 for _ in _slots(tree))
    for at in range(count):
        parent, name, index = list(_slots(tree))[at]
        old = _get(parent, name, index)
        if isinstance(old, ast.Name | ast.Constant | ast.Attribute):
            continue
        parts = [n for n in ast.walk(old) if isinstance(n, ast.expr) and n is not old]
        parts = [n for n in parts if not isinstance(n, ast.Attribute | ast.keyword | ast.Slice)]
        parts = [n.body if isinstance(n, ast.Lambda) else n for n in parts]
        for new in [*parts[:12], *(ast.parse(t, mode="eval").body for t in _SIMPLE)]:
            clone = copy.deepcopy(tree)
            p, field, i = list(_slots(clone))[at]
            _set(p, field, i, copy.deepcopy(new))
            yield _valid(ast.unparse(ast.fix_missing_locations(clone)))
        if isinstance(old, ast.List) and len(old.elts) > 1:
            for k in range(len(old.elts)):
                clone = copy.deepcopy(tree)
                p, field, i = list(_slots(clone))[at]
                del _get(p, field, i).elts[k]
                yield _valid(ast.unparse(clone))


def _slots(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """The places of expressions, outermost first: a node, its field, and a position in a list."""
    for node in _inside(tree):
        for name, value in ast.iter_fields(node):
            if name in ("func", "targets", "target", "ctx", "decorator_list", "slice", "type"):
                continue
            if isinstance(value, ast.expr):
                yield node, name, None
            elif isinstance(value, list):
                for k, v in enumerate(value):
                    if isinstance(v, ast.expr):
                        yield node, name, k


def _get(node: ast.AST, name: str, index: int | None) -> Any:
    value = getattr(node, name)
    return value if index is None else value[index]


def _set(node: ast.AST, name: str, index: int | None, new: ast.AST) -> None:
    if index is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[index] = new


def _valid(text: str) -> str:
    """The text, or one that is never taken, if the tree was not a program any more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<candidate>", "exec")
    except (SyntaxError, ValueError):
        return " " * 100_000
    return text
