"""The functions that make up the block form of a function, and the variables they share.

They stand inside the user's function, so its variables are theirs; what one of them assigns is
declared as belonging to it. Flags for jumps are variables of the bundle.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert.autograph import syntax as b
from wengert.autograph.analysis import Facts
from wengert.autograph.conversion_unit import Construct, Unit
from wengert.autograph.expressions import Expressions
from wengert.autograph.name_analysis import Symbol
from wengert.autograph.statements import Nested, Statements

_NONE: Any = frozenset()


class Bundle(Statements):
    """Collects functions, the names they use and the constructs they stand for."""

    def __init__(self, facts: Facts, unit: Unit, nested: Nested) -> None:
        super().__init__(facts, unit, nested)
        self.rewrite = Expressions(facts, unit, plain=False)
        self._functions: list[Any] = []
        self._exports: dict[str, int] = {}
        self._made: dict[Any, str] = {}
        self._flags: set[str] = set()
        self._seen: set[str] = set()
        self._stores: set[str] = set()
        self._loops: list[Any] = []

    def bundle(self, ref: ast.Pass) -> ast.FunctionDef | None:
        """The function that makes all functions of the block form, or `None` if there is none."""
        if not self._exports:
            return None
        names = self.names
        body: list[Any] = [b.assign(ref, flag, b.const(ref, False)) for flag in sorted(self._flags)]
        if names.result in self._seen:
            body.append(b.assign(ref, names.result, b.member(ref, names.ops, "UNSET")))
        # All names are at hand, for the objects behind them may change in calls.
        known = self.facts.locals | self.facts.effects(self.facts.body).reads
        every = sorted((self._seen | known) - self.facts.globals)
        seen = b.several(ref, [b.load(ref, n) for n in every])
        body.append(b.function(ref, names.every, [], [b.give(ref, seen)]))
        cells = self._op(ref, "cells", b.load(ref, names.every))
        body.append(b.assign(ref, names.cells, cells))
        body += self._functions
        exported = [b.load(ref, name) for name in self._exports]
        body.append(b.give(ref, b.several(ref, exported)))
        return b.function(ref, names.forms, [], body)

    def bindings(self, ref: Any) -> list[Any]:
        """Declares names as locals of the user's function where only the bundle assigns them."""
        names = sorted((self._stores & self.facts.locals) - self.facts.parameters)
        assigned = [b.assign(ref, n, b.const(ref, None)) for n in names]
        return [b.either(ref, b.const(ref, False), assigned, [])] if names else []

    def _number(self, name: str) -> int:
        return self._exports.setdefault(name, len(self._exports))

    def _once(
        self, kind: str, ref: ast.AST, build: Callable[[], list[Any]], args: list[str], key: Any = None,
        stores: Sequence[ast.AST] = (),
    ) -> str:  # fmt: skip
        """The function of one kind for a node, made on first use."""
        key = (kind, id(ref) if key is None else key)
        if key not in self._made:
            self._made[key] = self._define(kind, ref, args, build(), self._stored(stores))
        return self._made[key]

    def _stored(self, *parts: Sequence[ast.AST]) -> set[str]:
        """The names that code assigns, with the flags that its jumps become."""
        result = self.facts.effects([n for part in parts for n in part])
        flags = set(self._flags_of(result.jumps))
        return result.stores | flags | ({self.names.result} if "return" in result.jumps else set())

    def _define(
        self, kind: str, ref: ast.AST, args: list[str], body: list[Any], stored: set[str] = _NONE
    ) -> str:
        """Adds a function to the bundle; the names it stores belong to the user's function."""
        name = self.unit.fresh(kind, ref)
        outer = sorted(stored - self.facts.globals)
        self._stores.update(outer)
        declared = sorted(stored & self.facts.globals)
        head: list[Any] = []
        if outer:
            head.append(b.declare(ast.Nonlocal, ref, outer))
        if declared:
            head.append(b.declare(ast.Global, ref, declared))
        self._functions.append(b.function(ref, name, args, head + body))
        return name

    def _op(self, ref: ast.AST, name: str, *args: Any) -> ast.Call:
        return self.rewrite.op(ref, name, *args)

    def _use(self, *names: str) -> None:
        self._seen.update(names)

    def _site(
        self, ref: Any, kind: str, symbols: Iterable[Symbol] = (), live: Iterable[str] = (),
        flags: Sequence[str] = (), after: Iterable[str] = (), loop: ast.stmt | None = None,
        appended: Iterable[Symbol] = (), at: ast.stmt | None = None, item: str = "",
    ) -> ast.Subscript:  # fmt: skip
        """A construct of the user's code, as `sites[number]`."""
        symbols = tuple(symbols)
        for s in symbols:
            self._use(s.base, *[key for step, key in s.steps if step == "n"])
        self._use(*flags)
        targets = {f: self._private(names) for f, names in self._targets(at, loop).items()}
        number = self.unit.site(
            Construct(
                kind,
                ref.lineno,
                tuple(map(self._place, symbols)),
                frozenset(map(self._place, appended)),
                self._private({s.base for s in symbols} - self.facts.locals),
                tuple(flags),
                self._private(live),
                self._private(after),
                targets,
                self.names.result,
                self.unit.private(item) if item else "",
            )
        )
        return b.item(ref, b.load(ref, self.names.sites), number)

    def _private(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(map(self.unit.private, names))

    def _place(self, symbol: Symbol) -> Symbol:
        """A symbol by the names that it has when the function runs."""
        spelled = self.unit.private
        steps = tuple([(kind, key if kind == "[" else spelled(key)) for kind, key in symbol.steps])
        return Symbol(spelled(symbol.base), steps)

    def _flag(self, kind: str, loop: ast.stmt | None = None) -> str:
        name = self._flag_name(kind, loop)
        self._flags.add(name)
        self._use(name)
        return name

    def _flag_name(self, kind: str, loop: Any) -> str:
        if kind == "return":
            return self.names.returned
        return f"{self.names.prefix}{kind}_{loop.lineno}_{loop.col_offset}"

    def _targets(self, at: ast.stmt | None, left: Any = None) -> dict[str, frozenset[str]]:
        """The names read at the target of each jump out of a statement or a loop just left.

        A `finally` on the way reads too.
        """
        last = self.facts.finally_reads.get(id(at), frozenset())
        table = {self.names.returned: last}
        for loop in (*self._loops[-1:], *([left] if left else [])):
            table[self._flag_name("break", loop)] = last | self.facts.live_after[id(loop)]
            table[self._flag_name("continue", loop)] = last | self.facts.live_head[id(loop)]
        return table

    def _flags_of(self, jumps: Iterable[str]) -> list[str]:
        loop = self._loops[-1] if self._loops else None
        return [self._flag(kind, loop) for kind in sorted(jumps)]

    def _changes(self, *parts: Sequence[ast.AST]) -> list[Symbol]:
        """The symbols that parts change, and the flags that they may raise."""
        jumps = self.facts.jumps(*[n for part in parts for n in part])
        flags = self._flags_of(jumps)
        if "return" in jumps:
            self._use(self.names.result)
            flags.append(self.names.result)
        return [*self.facts.symbols(*parts), *map(Symbol, flags)]

    def _live(self, at: ast.stmt, after: set[str], *parts: Sequence[ast.AST]) -> set[str]:
        """The names that may be read after parts, however these are left."""
        jumps = self.facts.jumps(*[n for part in parts for n in part])
        live = set(after)
        targets = self._targets(at)
        for kind in jumps:
            live |= targets[self._flags_of([kind])[0]]
        return live | set(self._flags_of(jumps)) | {self.names.result}
