"""Rewriting that both forms of a function share: statements that are not branches or loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from wengert.autograph import syntax as b
from wengert.autograph.analysis import Facts, lets_pass
from wengert.autograph.conversion_unit import Unit
from wengert.autograph.expressions import Expressions

Nested = Callable[[Any, Expressions], Any]


class Statements:
    """Rewrites statements by their kind; `methods` says how, by name, in each of the forms."""

    methods: ClassVar[dict[type, str]] = {
        ast.With: "with_",
        ast.Match: "match",
        ast.Raise: "raise_",
        ast.FunctionDef: "inner_function",
        ast.AsyncFunctionDef: "unchanged",
        ast.ClassDef: "unchanged",
    }
    rewrite: Expressions

    def __init__(self, facts: Facts, unit: Unit, nested: Nested) -> None:
        self.facts = facts
        self.unit = unit
        self.names = unit.names
        self.nested = nested

    def inner(self, statements: Sequence[ast.stmt]) -> list[Any]:
        """A block inside another statement, rewritten."""
        raise NotImplementedError

    def filled(self, statements: Sequence[ast.stmt]) -> list[Any]:
        """The same, with a `pass` where nothing is left."""
        return self.inner(statements) or [b.nothing(statements[0])]

    def statement(self, node: ast.stmt) -> list[Any]:
        name = self.methods.get(type(node))
        return [b.rebuilt(node, self.rewrite)] if name is None else getattr(self, name)(node)

    def unchanged(self, node: ast.stmt) -> list[Any]:
        return [node]

    def inner_function(self, node: ast.FunctionDef) -> list[Any]:
        return [self.nested(node, self.rewrite)]

    def match(self, node: ast.Match) -> list[Any]:
        cases = [
            b.changed(c, guard=c.guard and self.rewrite(c.guard), body=self.filled(c.body))
            for c in node.cases
        ]
        return [b.changed(node, subject=self.rewrite(node.subject), cases=cases)]

    def raise_(self, node: ast.Raise) -> list[Any]:
        """A `raise`, marked as the user's own for the branch around it."""
        if node.exc is None:
            return [node]
        error = self.rewrite.op(node.exc, "raising", self.rewrite(node.exc))
        return [b.changed(node, exc=error, cause=node.cause and self.rewrite(node.cause))]

    def with_(self, node: ast.With) -> list[Any]:
        """A `with`, followed by a check if its context manager may suppress exceptions."""
        items, body = [b.rebuilt(i, self.rewrite) for i in node.items], self.filled(node.body)
        if all(map(lets_pass, node.items)):
            return [b.changed(node, items=items, body=body)]
        here = b.start(node)
        passing = self.unit.fresh("passing", here)
        items.append(b.context(self.rewrite.op(here, "passing"), b.store(here, passing)))
        ask = b.do(here, self.rewrite.op(here, "swallowed", b.load(here, passing)))
        return [b.changed(node, items=items, body=body), ask]

    def handlers(self, node: Any, first: Callable[[ast.Pass], list[Any]]) -> list[Any]:
        """The handlers of a `try`, each with `first` before its own statements."""
        return [
            b.changed(
                h,
                type=h.type and self.rewrite(h.type),
                body=[self.caught(h), *first(b.start(h)), *self.filled(h.body)],
            )
            for h in node.handlers
        ]

    def caught(self, handler: ast.AST) -> Any:
        """The check that a handler makes before its own statements."""
        here = b.start(handler)
        return b.do(here, self.rewrite.op(here, "caught"))
