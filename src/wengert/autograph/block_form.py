"""The block form of a function: its blocks as small functions that autograph's operators call.

The inline form switches to it where a condition turns out to be a tensor. The functions share the
local variables through closure cells, so a branch or a loop body is called and its effects are
read from the cells. A jump (`break`, `continue`, `return`) sets a flag, and the statements after
it become a function that runs unless the flag is set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from wengert.autograph import syntax as b
from wengert.autograph.analysis import Facts
from wengert.autograph.block_functions import Bundle
from wengert.autograph.conversion_unit import Unit
from wengert.autograph.name_analysis import Symbol
from wengert.autograph.statements import Nested


class Forms(Bundle):
    """Builds the block form of one function, block by block, on request of the inline form."""

    methods: ClassVar[dict[type, str]] = {
        **Bundle.methods,
        ast.AnnAssign: "_annotated",
        ast.Global: "_nothing",
        ast.Nonlocal: "_nothing",
        ast.If: "_plain_or_if",
        ast.While: "_any_loop",
        ast.For: "_any_loop",
        ast.Try: "_try",
        ast.TryStar: "_try",
        ast.Assert: "_assert",
    }

    def __init__(self, facts: Facts, unit: Unit, nested: Nested) -> None:
        super().__init__(facts, unit, nested)
        self.rewrite.forms = self
        self._kept: list[Any] = []

    # Requests of the inline form; each returns the index of a function in the bundle.

    def branch(self, node: ast.If, rest: list[ast.stmt], loops: list[ast.stmt]) -> int:
        """Runs an `if`, given its condition; one that may jump runs the rest of its block too."""
        self._loops = list(loops)
        return self._number(self._if(node, rest))

    def rest(self, node: ast.stmt, rest: list[ast.stmt], loops: list[ast.stmt]) -> int:
        """Runs what follows a statement in its block, unless a jump out of it happened."""
        self._loops = list(loops)
        return self._number(
            self._once("after", node, lambda: self._guarded(node, rest), [self.names.temporary])
        )

    def loop(self, node: ast.stmt, loops: list[ast.stmt]) -> int:
        """Runs a loop, or the rest of one."""
        self._loops = list(loops)
        return self._number(self._loop(node))

    def tried(self, node: Any, loops: Sequence[Any]) -> int:
        """Runs a `try`."""
        self._loops = list(loops)
        return self._number(self._once("try", node, lambda: self._try(node), [], stores=[node]))

    def number(self, name: str) -> int:
        """The number of a function of the bundle."""
        return self._number(name)

    def choice(self, node: ast.BoolOp, sides: tuple[ast.Compare, ast.Name]) -> str:
        """The function that gives one of two operands, given the condition."""
        key = ("choice", id(node))
        if key not in self._made:
            self._made[key] = self._choice(node, sides)
        return self._made[key]

    def finish(self, number: int, node: ast.AST) -> int:
        """A function that runs function `number` and returns the user's result."""
        inner = next(name for name, n in self._exports.items() if n == number)
        t = self.names.temporary

        def body() -> list[ast.stmt]:
            flags = [self._flag("return"), self.names.result]
            site = self._site(node, "return", flags=flags)
            result = self._op(node, "result", site, b.load(node, self.names.cells))
            return [b.do(node, b.call(node, inner, b.load(node, t))), b.give(node, result)]

        return self._number(self._once("finish", node, body, [t], inner))

    # Lowering statements.

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        out: list[Any] = []
        for i, node in enumerate(statements):
            if isinstance(node, ast.Break | ast.Continue | ast.Return):
                return out + self._jump(node)
            jumps = self.facts.jumps(node)
            if not jumps:
                out += self.statement(node)
                continue
            rest = list(statements[i + 1 :])
            if isinstance(node, ast.If) and not self.facts.is_static(node.test):
                return [*out, self._ask(node, rest)]
            return out + self.statement(node) + self._guarded(node, rest)
        return out

    def _jump(self, node: Any) -> list[ast.Assign]:
        kind = type(node).__name__.lower()
        up = b.assign(node, self._flags_of([kind])[0], b.const(node, True))
        if kind != "return":
            return [up]
        self._use(self.names.result)
        value = b.const(node, None) if node.value is None else self.rewrite.returned(node.value)
        return [b.assign(node, self.names.result, value), up]

    def _ask(self, node: ast.If, rest: list[ast.stmt]) -> ast.Expr:
        """An `if` on a condition that may be a tensor, with the rest of its block if it jumps."""
        run = b.call(node.test, self._if(node, rest), self.rewrite.test(node.test))
        return b.do(node.test, run)

    def _if(self, node: ast.If, rest: list[ast.stmt]) -> str:
        return self._once("if", node, lambda: self._if_body(node, rest), [self.names.temporary])

    def _if_body(self, node: ast.If, rest: list[ast.stmt]) -> list[ast.Expr]:
        """Both branches; where one goes on after the `if`, the rest of the block goes into it."""
        then, otherwise = self._block(node.body), self._block(node.orelse)
        stops = self.facts.definite(node.body), self.facts.definite(node.orelse)
        parts: list[Any] = [node.body, node.orelse]
        after = self.facts.live_after[id(node)]
        tail: list[Any] = []
        if rest and self.facts.jumps(node) and not all(stops):
            if any(stops):
                side, branch = (otherwise, node.orelse) if stops[0] else (then, node.body)
                side += self._after(node, branch, rest)
                parts.append(rest)
                after = self._end_of(rest)
            else:
                tail = self._guarded(node, rest)
        ref = node.test
        given = [self.names.cells, self.names.temporary]
        given.append(self._define("then", ref, [], then, self._stored(node.body)))
        if otherwise:
            given.append(self._define("else", ref, [], otherwise, self._stored(node.orelse)))
        live = self._live(node, after, *parts)
        site = self._site(ref, "if", self._changes(*parts), live, at=node)
        asked = self._op(ref, "if_", site, *[b.load(ref, n) for n in given])
        return [b.do(ref, asked), *tail]

    def _choice(self, node: ast.BoolOp, sides: tuple[ast.Compare, ast.Name]) -> str:
        """A conditional expression as an `if`, for operands that contain `:=`."""
        t = self.names.temporary
        given, result = (self.unit.fresh(kind, node) for kind in ("given", "chosen"))
        self._flags |= {given, result}
        self._use(given, result)
        known = [b.load(s, given) if getattr(s, "id", None) == t else s for s in sides]
        body, orelse = ([b.assign(s, result, s)] for s in known)
        branch = b.either(node, b.load(node, t), body, orelse)
        # The analysis is keyed by the identity of nodes, so the node must stay alive.
        self._kept.append(branch)
        self.facts.live_after[id(branch)] = self.facts.locals | {result}
        keep = b.assign(node, given, b.load(node, t))
        lines = [keep, *self._if_body(branch, []), b.give(node, b.load(node, result))]
        return self._define("choice", node, [t], lines, {given})

    def _end_of(self, rest: list[ast.stmt]) -> set[str]:
        return self.facts.live_after[id(rest[-1])]

    def _tail(self, key: Any, rest: list[ast.stmt]) -> str:
        """The function of what follows a statement in its block."""
        return self._once("rest", rest[0], lambda: self._block(rest), [], key, rest)

    def _after(self, node: ast.If, branch: list[ast.stmt], rest: list[ast.stmt]) -> list[Any]:
        """The rest of a block at the end of a branch."""
        jumps = self.facts.jumps(*branch)
        if jumps:
            return self._unless(id(node), jumps, rest)
        return [b.do(rest[0], b.call(rest[0], self._tail(id(node), rest)))]

    def _guarded(self, node: ast.stmt, rest: list[ast.stmt]) -> list[ast.Expr]:
        """The rest of a block, unless a jump out of `node` has happened."""
        return self._unless(id(node), self.facts.jumps(node), rest) if rest else []

    def _unless(self, key: Any, jumps: Iterable[str], rest: list[ast.stmt]) -> list[ast.Expr]:
        ref = rest[0]
        flags = self._flags_of(jumps)
        live = self._live(ref, self._end_of(rest), rest)
        # Where the rest is skipped, it is what the jump leads to that reads on.
        live = live.union(*[self._targets(ref)[f] for f in flags])
        changes = self._changes(rest)
        if self.facts.definite(rest):  # perhaps by a `raise`: then the jump has happened
            changes += [f for f in map(Symbol, flags) if f not in changes]
        site = self._site(ref, "rest", changes, live, flags, at=ref)
        return [self._run_unless(ref, site, self._tail(key, rest))]

    def _run_unless(self, ref: ast.AST, site: ast.Subscript, function: str) -> ast.Expr:
        """Runs a function of the bundle unless a flag of the construct is up."""
        cells = b.load(ref, self.names.cells)
        return b.do(ref, self._op(ref, "unless", site, cells, b.load(ref, function)))

    def _loop(self, node: Any) -> str:
        """The function that runs a loop; its argument is the source, or the first condition."""
        key = ("loop", id(node))
        if key not in self._made:
            self._loops.append(node)
            jumps = self.facts.jumps(*node.body)
            stops = self._flags_of(jumps & {"break", "return"})
            body = self._loop_body(node, jumps)
            site = self._loop_site(node, jumps, stops)
            self._loops.pop()
            self._made[key] = self._loop_function(node, site, body, stops)
        return self._made[key]

    def _loop_body(self, node: Any, jumps: set[str]) -> list[str]:
        start: list[Any] = []
        if "continue" in jumps:
            flag = self._flags_of(["continue"])[0]
            start.append(b.assign(node.body[0], flag, b.const(node.body[0], False)))
        if isinstance(node, ast.While):
            given = [b.give(node.test, self.rewrite.test(node.test))]
            test = self._define("test", node.test, [], given, self._stored([node.test]))
            body = start + self._block(node.body)
            return [test, self._define("body", node.body[0], [], body, self._stored(node.body))]
        given = self.names.prefix + "item"
        target = self.rewrite(node.target)
        start.append(b.assign_to(node.target, target, b.load(node.target, given)))
        body = start + self._block(node.body)
        stored = self._stored(node.body, [node.target])
        return [self._define("body", node.body[0], [given], body, stored)]

    def _loop_site(self, node: Any, jumps: set[str], stops: list[str]) -> ast.Subscript:
        parts = [node.body, [node.test] if isinstance(node, ast.While) else [node.target]]
        symbols = [s for s in self._changes(*parts) if not s.base.startswith(self._flag_stem)]
        other = self._start_of_else(node)
        live = self.facts.live_head[id(node)] | self.facts.live_after[id(node)]
        live = live | other | {*stops, self.names.result}
        after = self.facts.read_after(node) | other
        ref = node.test if isinstance(node, ast.While) else node.iter
        kind = "while" if isinstance(node, ast.While) else "for"
        appended = self.facts.effects(node.body).appended
        target = getattr(node, "target", None)
        item = target.id if isinstance(target, ast.Name) else ""
        return self._site(
            ref, kind, symbols, live, stops, after, appended=appended, at=node, item=item
        )

    @property
    def _flag_stem(self) -> str:
        # Each iteration clears this flag first, so it is not part of the loop's state.
        return self.names.prefix + "continue_"

    def _start_of_else(self, node: Any) -> set[str]:
        return self.facts.live_else.get(id(node), set())

    def _loop_function(
        self, node: Any, site: ast.Subscript, parts: list[str], stops: list[str]
    ) -> str:
        t, fresh = self.names.temporary, self.names.prefix + "fresh"
        ref = node.test if isinstance(node, ast.While) else node.iter
        body: list[Any] = []
        own = [s for s in stops if s != self.names.returned]
        if own:
            down = [b.assign(ref, s, b.const(ref, False)) for s in own]
            body.append(b.either(ref, b.load(ref, fresh), down, []))
        name = "while_" if isinstance(node, ast.While) else "for_"
        functions = [b.load(ref, p) for p in parts]
        run = self._op(ref, name, site, b.load(ref, self.names.cells), b.load(ref, t), *functions)
        body.append(b.do(ref, run))
        body += self._loop_else(node, stops)
        return self._define("loop", ref, [t, fresh], body, set(own))

    def _loop_else(self, node: Any, stops: list[str]) -> list[ast.Expr]:
        if not node.orelse:
            return []
        ref = node.orelse[0]
        name = self._define("else", ref, [], self._block(node.orelse), self._stored(node.orelse))
        if not stops:
            return [b.do(ref, b.call(ref, name))]
        live = self._live(node, self.facts.live_after[id(node)], node.orelse)
        live = live.union(*[self._targets(node, node)[f] for f in stops])
        site = self._site(ref, "rest", self._changes(node.orelse), live, stops, loop=node, at=node)
        return [self._run_unless(ref, site, name)]

    def _nothing(self, node: Any) -> list[Any]:
        return []

    def _annotated(self, node: ast.AnnAssign) -> list[ast.Assign]:
        if node.value is None:
            return []
        return [b.assign_to(node, self.rewrite(node.target), self.rewrite(node.value))]

    def _plain_or_if(self, node: ast.If) -> list[Any]:
        if not self.facts.is_static(node.test):
            return [self._ask(node, [])]
        body, orelse = self.filled(node.body), self._block(node.orelse)
        return [b.changed(node, test=self.rewrite.test(node.test), body=body, orelse=orelse)]

    def inner(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return self._block(statements)

    def _any_loop(self, node: Any) -> list[ast.Expr]:
        ref = node.test if isinstance(node, ast.While) else node.iter
        if isinstance(node, ast.While):
            source = self.rewrite.test(node.test)
        else:
            source = self.rewrite.iterable(node.iter, self.rewrite)
        return [b.do(ref, b.call(ref, self._loop(node), source, b.const(ref, True)))]

    def _try(self, node: ast.Try) -> list[ast.Try]:
        if self.facts.jumps(*node.finalbody):
            inner = b.changed(node, finalbody=[])
            guarded = self._tried(inner) if node.handlers else self.filled(node.body)
            return self._finally(node, guarded)
        return self._tried(node)

    def _tried(self, node: Any) -> list[Any]:
        """A `try` whose `finally` does not jump."""
        jumps = self.facts.jumps(*node.body)
        # An exception cancels a pending jump.
        handlers = self.handlers(node, lambda here: self._down(here, jumps))
        if node.orelse and jumps:
            orelse = self._unless(("else", id(node)), jumps, node.orelse)
        else:
            orelse = self._block(node.orelse)
        blocks = {
            "body": self.filled(node.body),
            "orelse": orelse,
            "finalbody": self._block(node.finalbody),
        }
        if not handlers and not blocks["finalbody"]:
            blocks["finalbody"] = [b.nothing(node)]
        return [b.changed(node, handlers=handlers, **blocks)]

    def _down(self, ref: Any, jumps: Iterable[str]) -> list[Any]:
        """Clears the flags of jumps."""
        return [b.assign(ref, flag, b.const(ref, False)) for flag in self._flags_of(jumps)]

    def _finally(self, node: Any, tried: list[Any]) -> list[Any]:
        """A `finally` that jumps: a pending jump or exception waits until the `finally` ends."""
        before = self.facts.jumps(*node.body, *node.orelse, *node.handlers)
        ref = node.finalbody[0]
        here = b.start(ref)
        kept = {flag: self.unit.fresh("kept", here) for flag in self._flags_of(before)}
        if "return" in before:
            self._use(self.names.result)
            kept[self.names.result] = self.unit.fresh("kept", here)
        error = self.unit.fresh("error", here)
        self._flags |= {error, *kept.values()}
        self._use(error, *kept.values())
        hold = b.call(here, b.member(here, self.names.ops, "pending"))
        handler = b.handler(here, [*self._down(here, before), b.assign(here, error, hold)])
        keep = [b.assign(here, name, b.load(here, flag)) for flag, name in kept.items()]
        again = [b.assign(here, flag, b.load(here, name)) for flag, name in kept.items()]
        fail = b.fail(here, self._op(here, "raising", b.load(here, error)))
        lines = [b.either(here, b.is_none(here, error), again, [fail])]
        waiting = self._define("waiting", here, [], lines, set(kept))
        jumps = self.facts.jumps(*node.finalbody)
        flags = self._flags_of(jumps)
        changed = dict.fromkeys([*kept, *flags])
        site = self._site(here, "rest", map(Symbol, changed), changed, flags, at=node)
        body = [
            b.assign(here, error, b.const(here, None)),
            b.tried(node, tried, handler),
            *keep,
            *self._down(here, {*before, *jumps}),
            *self._block(node.finalbody),
            self._run_unless(here, site, waiting),
        ]
        name = self._define(
            "finally", here, [], body, self._stored([node]) | {error, *kept.values()}
        )
        return [b.do(here, b.call(here, name))]

    def _assert(self, node: ast.Assert) -> list[Any]:
        if not __debug__:
            return [node]
        message = b.const(node, None)
        if node.msg is not None:
            message = b.thunk(node.msg, self.rewrite(node.msg))
        return [b.do(node, self._op(node, "assert_", self.rewrite.test(node.test), message))]
