"""Which of TensorFlow's names a program uses: its imports and renamings are followed, not run.

So are methods: of what `tf.constant(1.0)` or `tf.data.Dataset.range(3).map(f)` gives, as far as
annotations say what that is. A name that is bound to something else is not followed any further.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from wengert.cli.names import ROOTS, is_kind, kind_of_result, members, public_name
from wengert.cli.programs import CommandError

DENSE = ("tf.Tensor", "tf.Variable")


class Use(NamedTuple):
    """A name and the line where it stands; a `member` is asked of an object, not of a module."""

    name: str
    line: int
    member: bool = False


class Known(NamedTuple):
    """What an expression is: a name of TensorFlow's, or an object of a kind."""

    name: str
    is_object: bool = False
    member: bool = False


def uses(text: str, file: str = "<program>") -> list[Use]:
    """The `tf.` names in a program, each at its first line, in the order of lines."""
    reader = _Reader()
    try:
        reader.visit(ast.parse(text, file))
    except SyntaxError as error:
        raise CommandError(f"{file}:{error.lineno}: {error.msg}") from None
    first: dict[str, Use] = {}
    for use in sorted(reader.found, key=lambda u: u.line):
        first.setdefault(use.name, use)
    return list(first.values())


class _Reader(ast.NodeVisitor):
    """Follows what names are bound to, and collects what is asked of TensorFlow's."""

    def __init__(self) -> None:
        self._bound: dict[str, Known] = {}
        self.found: list[Use] = []

    def _use(self, known: Known, node: ast.stmt | ast.expr) -> None:
        self.found.append(Use(known.name, node.lineno, known.member))

    # Statements that bind names.

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.split(".")[0]
            if root in ROOTS:
                known = Known(public_name(alias.name))
                self._bound[alias.asname or root] = known if alias.asname else Known("tf")
                if known.name != "tf":
                    self._use(known, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or (node.module or "").split(".")[0] not in ROOTS:
            return
        for alias in node.names:
            if alias.name == "*":
                full = public_name(node.module or "")
                self._bound |= {name: Known(f"{full}.{name}") for name in members(full)}
                continue
            known = Known(public_name(f"{node.module}.{alias.name}"))
            self._bound[alias.asname or alias.name] = known
            self._use(known, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        known = self._known(node.value)
        for target in node.targets:
            self._bind(target, known)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        self._bind(node.target, self._object(node.annotation))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self._bind(node.target, self._known(node.value))

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self._bind(node.target, None)
        self.generic_visit(node)

    visit_AsyncFor = visit_For

    def visit_withitem(self, node: ast.withitem) -> None:
        self.generic_visit(node)
        if node.optional_vars is not None:
            self._bind(node.optional_vars, self._known(node.context_expr))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bound.pop(node.name, None)
        with self._scope(node.args):
            self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self._scope(node.args):
            self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._bind(node.target, None)
        self.generic_visit(node)

    def _bind(self, target: ast.expr, known: Known | None) -> None:
        if known is not None and isinstance(target, ast.Name):
            self._bound[target.id] = known
            return
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bound.pop(node.id, None)

    @contextmanager
    def _scope(self, arguments: ast.arguments) -> Iterator[None]:
        """The names inside a function: its parameters are what their annotations say."""
        before = self._bound
        self._bound = dict(before)
        positional = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for one in [*positional, *filter(None, [arguments.vararg, arguments.kwarg])]:
            known = None if one.annotation is None else self._object(one.annotation)
            self._bind(ast.Name(one.arg, ast.Store()), known)
        yield
        self._bound = before

    # Expressions.

    def visit_Attribute(self, node: ast.Attribute) -> None:
        known = self._named(node)
        if known is None:
            self.generic_visit(node)
            return
        if isinstance(node.ctx, ast.Load):
            self._use(known, node)
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        self.visit(inner)

    def visit_Name(self, node: ast.Name) -> None:
        known = self._bound.get(node.id)
        if known is not None and not known.is_object and known.name.count("."):
            self._use(known, node)

    def _object(self, annotation: ast.expr) -> Known | None:
        known = self._known(annotation)
        return (
            Known(known.name, is_object=True) if known is not None and is_kind(known.name) else None
        )

    def _named(self, node: ast.Attribute) -> Known | None:
        """What an attribute is called, as one of a module or of an object."""
        inner = self._known(node.value)
        if inner is None:
            return None
        return Known(
            public_name(f"{inner.name}.{node.attr}"), member=inner.is_object or inner.member
        )

    def _known(self, node: ast.expr) -> Known | None:
        if isinstance(node, ast.Name):
            return self._bound.get(node.id)
        if isinstance(node, ast.Attribute):
            named = self._named(node)
            kind = kind_of_result(named.name, called=False) if named and named.member else None
            return named if kind is None else Known(kind, is_object=True)
        if isinstance(node, ast.Call):
            return self._result(node)
        if isinstance(node, ast.BinOp) and all(map(self._is_number, (node.left, node.right))):
            return Known("tf.Tensor", is_object=True)
        return None

    def _is_number(self, node: ast.expr) -> bool:
        """Whether an operand is a dense tensor, a variable or a constant."""
        known = self._known(node)
        is_dense = known is not None and known.is_object and known.name in DENSE
        return is_dense or isinstance(node, ast.Constant)

    def _result(self, node: ast.Call) -> Known | None:
        function = self._known(node.func)
        if function is None and isinstance(node.func, ast.Name) and node.func.id == "iter":
            given = self._known(node.args[0]) if node.args else None
            is_dataset = given is not None and given.name == "tf.data.Dataset" and given.is_object
            return Known("tf.data.Iterator", is_object=True) if is_dataset else None
        kind = None if function is None or function.is_object else kind_of_result(function.name)
        return None if kind is None else Known(kind, is_object=True)
