"""The inline form of a function: the user's statements, with a test for tensors before each branch.

An `if` or a loop stays a Python statement. Where its condition or iterable turns out to be a
symbolic tensor, it calls the block form (`block_form`). So conditions on Python values cost next
to nothing, and a debugger steps through the user's statements.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, ClassVar

from wengert.autograph import syntax as b
from wengert.autograph.analysis import Facts, is_generator, walk_statements
from wengert.autograph.block_form import Forms
from wengert.autograph.conversion_unit import Unit
from wengert.autograph.expressions import Expressions
from wengert.autograph.name_analysis import blocks
from wengert.autograph.statements import Statements

# The position of a block, which decides how to leave it: at the top of the function (`return`), as
# the body of a loop (`break`), or inside another statement (by reaching its end).
TOP, BODY, INSIDE = "top", "body", "inside"


def convert_function(node: Any, unit: Unit, outer: Expressions | None = None) -> Any:
    """A function rewritten; its parameters and its source position stay as they are."""
    if outer is not None:
        if isinstance(node, ast.AsyncFunctionDef) or is_generator(node) or _opted_out(node):
            return node
        arguments = b.rebuilt(node.args, outer)
        decorators = [outer(d) for d in node.decorator_list]
        node = b.changed(node, args=arguments, decorator_list=decorators)
    return b.changed(node, body=Plain(Facts(node, unit), unit).function())


def _opted_out(node: ast.FunctionDef) -> bool:
    names = [getattr(d, "attr", getattr(d, "id", None)) for d in node.decorator_list]
    return "do_not_convert" in names


class Plain(Statements):
    """Rewrites the statements of one function in place."""

    methods: ClassVar[dict[type, str]] = {
        **Statements.methods,
        ast.If: "if_",
        ast.While: "while_",
        ast.For: "for_",
        ast.Try: "try_",
        ast.TryStar: "try_",
        ast.Assert: "assert_",
        ast.Return: "return_",
        ast.Global: "unchanged",
        ast.Nonlocal: "unchanged",
    }

    def __init__(self, facts: Facts, unit: Unit) -> None:
        super().__init__(facts, unit, self._nested)
        self.forms = Forms(facts, unit, self._nested)
        self.rewrite = Expressions(facts, unit, plain=True, forms=self.forms)
        self.loops: list[Any] = []
        self._keeps_form = False

    def _nested(self, node: ast.FunctionDef, rewrite: Expressions) -> ast.FunctionDef:
        return convert_function(node, self.unit, rewrite)

    def function(self) -> list[ast.stmt]:
        """The body of the function, preceded by its block form where that is needed."""
        body = self.facts.body
        start = 1 if _is_docstring(body[0]) else 0
        out = self.block(body[start:], TOP)
        silent = (ast.Global, ast.Nonlocal)
        ref = next((s for s in body[start:] if not isinstance(s, silent)), body[-1])
        first = b.start(ref)
        bundle = self.forms.bundle(first)
        head = [] if bundle is None else [*self.forms.bindings(first), bundle]
        if self._keeps_form:
            head.append(b.assign(first, self.names.form, b.const(first, None)))
        return [*body[:start], *head, *out]

    # Blocks, and how they are left.

    def block(self, statements: Sequence[ast.stmt], position: str) -> list[ast.stmt]:
        out: list[Any] = []
        for i, node in enumerate(statements):
            if not self.facts.may_defer(node):
                out += self.statement(node)
                continue
            rest = list(statements[i + 1 :])
            if isinstance(node, ast.If) and not self.facts.is_static(node.test):
                out += self.leaving_if(node, rest, position)
            else:
                out += self.statement(node)
                out += self.going_on(node, rest, position)
            if position == INSIDE:
                return out
        return out

    def leaving_if(self, node: ast.If, rest: list[ast.stmt], position: str) -> list[ast.If]:
        """An `if` whose jumps may depend on a tensor."""
        ref = node.test
        number = self.forms.branch(node, rest, self.loops)
        ours = self.leave(ref, number, position, b.load(ref, self.names.temporary), None)
        check = self.rewrite.check(ref, self.rewrite.test(node.test), self.names.symbolic)
        theirs = [self.fast_if(node)]
        inner = any(map(self.facts.may_defer, (*node.body, *node.orelse)))
        if position == INSIDE:
            theirs += self.going_on(node, rest, position) if inner else self.block(rest, position)
            return [b.either(ref, check, ours, theirs)]
        after = self.going_on(node, rest, position) if inner else []
        return [b.either(ref, check, ours, theirs), *after]

    def fast_if(self, node: ast.If) -> Any:
        return b.changed(
            node,
            test=b.load(node.test, self.names.temporary),
            body=self.filled(node.body),
            orelse=self.inner(node.orelse),
        )

    def going_on(self, node: ast.stmt, rest: list[ast.stmt], position: str) -> list[ast.If]:
        """The statements after one that may have switched to the block form."""
        self._keeps_form = True
        if rest:
            ref = b.start(rest[0])
        else:
            # After the last statement of a turn Python goes back to the line of the loop.
            ref = b.start(self.loops[-1] if position == BODY else _end(node))
        if position == INSIDE and not rest:
            return []
        number = self.forms.rest(node, rest, self.loops)
        ours = self.leave(ref, number, position, b.const(ref, None), self.names.form)
        if position == INSIDE:
            theirs = self.block(rest, position)
            return [b.either(ref, b.is_none(ref, self.names.form), theirs, ours)]
        gone = b.is_not(ref, b.load(ref, self.names.form), None)
        return [b.either(ref, gone, ours, [])]

    def leave(
        self, ref: ast.AST, number: int, position: str, given: ast.expr, form: str | None
    ) -> list[ast.stmt]:
        """Runs function `number` of the block form, and leaves the block by its position."""
        made = b.load(ref, form) if form else b.call(ref, self.names.forms)
        if position == TOP:
            finish = self.forms.finish(number, ref)
            return [b.give(ref, b.call(ref, b.item(ref, made, finish), given))]
        out: list[Any] = []
        if not form:
            self._keeps_form = True
            out.append(b.assign(ref, self.names.form, made))
        held = b.load(ref, self.names.form)
        out.append(b.do(ref, b.call(ref, b.item(ref, held, number), given)))
        return out if position == INSIDE else out + self.resume(ref)

    def resume(self, ref: ast.AST) -> list[Any]:
        """Runs the remaining iterations of the innermost loop in the block form."""
        loop = self.loops[-1]
        number = self.forms.loop(loop, self.loops[:-1])
        if isinstance(loop, ast.While):
            source = b.member(ref, self.names.ops, "RESUME")
        else:
            source = b.load(ref, self.iterator(loop))
        function = b.item(ref, b.load(ref, self.names.form), number)
        out = [b.do(ref, b.call(ref, function, source, b.const(ref, False)))]
        if not self.facts.jumps(loop):
            out.append(b.assign(ref, self.names.form, b.const(ref, None)))
        return [*out, b.make(ast.Break, ref)]

    def iterator(self, loop: ast.For) -> str:
        return f"{self.names.prefix}rows_{loop.lineno}_{loop.col_offset}"

    def start(self, ref: ast.expr, node: ast.stmt, number: int, *args: Any) -> list[Any]:
        """Runs a function of the block form; the form is kept if the function may jump."""
        made = b.call(ref, self.names.forms)
        if not self.facts.jumps(node):
            return [b.do(ref, b.call(ref, b.item(ref, made, number), *args))]
        self._keeps_form = True
        held = b.load(ref, self.names.form)
        run = b.call(ref, b.item(ref, held, number), *args)
        return [b.assign(ref, self.names.form, made), b.do(ref, run)]

    # Statements.

    def inner(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return self.block(statements, INSIDE)

    def if_(self, node: ast.If) -> list[ast.If]:
        if self.facts.is_static(node.test):
            new = self.fast_if(node)
            new.test = self.rewrite.test(node.test)
            return [new]
        ref = node.test
        number = self.forms.branch(node, [], self.loops)
        ours = self.start(ref, node, number, b.load(ref, self.names.temporary))
        check = self.rewrite.check(ref, self.rewrite.test(node.test), self.names.symbolic)
        return [b.either(ref, check, ours, [self.fast_if(node)])]

    def while_(self, node: ast.While) -> list[Any]:
        body = self.loop_body(node)
        orelse = self.inner(node.orelse)
        if self.facts.is_static(node.test):
            test = self.rewrite.test(node.test)
            return [b.changed(node, test=test, body=body, orelse=orelse)]
        ref, t = node.test, self.names.temporary
        number = self.forms.loop(node, self.loops)
        ours = self.start(ref, node, number, b.load(ref, t), b.const(ref, True))
        check = self.rewrite.check(ref, self.rewrite.test(node.test), self.names.looping)
        go_on = [b.negated(ref, check), b.load(ref, t)]
        # The loop ends when the condition fails or is for us; Python's `else` tells which.
        again = b.call(ref, self.names.looping, b.load(ref, t))
        done = [b.either(ref, again, ours, orelse)]
        test = b.joined(ref, b.AND, go_on)
        return [b.changed(node, test=test, body=body, orelse=done)]

    def for_(self, node: ast.For) -> list[ast.If]:
        ref, t = node.iter, self.names.temporary
        body = self.loop_body(node)
        number = self.forms.loop(node, self.loops)
        ours = self.start(ref, node, number, b.load(ref, t), b.const(ref, True))
        check = self.rewrite.check(
            ref, self.rewrite.iterable(node.iter, self.rewrite), self.names.sourced
        )
        rows = b.load(ref, t)
        if any(map(self.facts.may_defer, node.body)):
            rows = self.rewrite.op(ref, "iter", rows)
            rows = b.keep(ref, self.iterator(node), rows)
        orelse = self.inner(node.orelse)
        target = self.rewrite(node.target)
        theirs = b.changed(node, target=target, iter=rows, body=body, orelse=orelse)
        return [b.either(ref, check, ours, [theirs])]

    def loop_body(self, node: Any) -> list[ast.stmt]:
        self.loops.append(node)
        try:
            return self.block(node.body, BODY) or [b.nothing(node.body[0])]
        finally:
            self.loops.pop()

    def try_(self, node: Any) -> list[Any]:
        deferred = any(map(self.facts.may_defer, node.body))
        jumping = self.facts.jumps(*node.finalbody)
        last = jumping or any(map(self.facts.may_defer, walk_statements(node.finalbody)))
        if (node.orelse and deferred) or (last and self.facts.may_defer(node)):
            # A jump out of the body would be lost, or another part would run after it.
            return self.start(b.start(node), node, self.forms.tried(node, self.loops))
        handlers = self.handlers(node, lambda here: self.reset(here) if deferred else [])
        parts = {f: self.inner(getattr(node, f)) for f in ("body", "orelse", "finalbody")}
        if jumping:
            parts["finalbody"].insert(0, self.caught(node.finalbody[0]))
        return [b.changed(node, handlers=handlers, **parts)]

    def reset(self, here: ast.Pass) -> list[Any]:
        """An exception cancels a pending jump."""
        return [b.assign(here, self.names.form, b.const(here, None))]

    def assert_(self, node: ast.Assert) -> list[Any]:
        if not __debug__:
            return [node]
        t, lazy = self.names.temporary, self.rewrite.lazy
        ref = node.test
        message = b.const(node, None) if node.msg is None else b.thunk(node.msg, lazy(node.msg))
        ours = b.do(node, self.rewrite.op(node, "assert_", b.load(ref, t), message))
        theirs = b.changed(node, test=b.load(ref, t), msg=node.msg and self.rewrite(node.msg))
        check = self.rewrite.check(ref, self.rewrite.test(node.test), self.names.symbolic)
        return [b.either(ref, check, [ours], [theirs])]

    def return_(self, node: ast.Return) -> list[Any]:
        if node.value is None:
            return [node]
        return [b.changed(node, value=self.rewrite.returned(node.value))]


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _end(node: ast.stmt) -> ast.stmt:
    """The last statement inside a statement."""
    inner = blocks(node)
    return _end(inner[-1][-1]) if inner else node
