"""Static analysis of one function, on which both of its rewritten forms are built.

It finds the local names, liveness (which names are read later on some path), what each statement
writes, the jumps that leave it, and the conditions that never depend on a tensor.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from wengert.autograph.conversion_unit import Unit
from wengert.autograph.name_analysis import (
    FUNCTIONS,
    LOOPS,
    Effects,
    Symbol,
    blocks,
    declared,
    effects,
    headers,
    parameters,
)

_ALL_NAMES = frozenset({"locals", "vars", "dir", "eval", "exec"})
_ANSWER_BOOL = frozenset({"isinstance", "issubclass", "hasattr", "callable"})


class Facts:
    """The analysis of a function from its syntax tree alone."""

    def __init__(self, node: Any, unit: Unit) -> None:
        self.node = node
        self.unit = unit
        first = [*node.args.posonlyargs, *node.args.args][:1]
        self.first: str | None = first[0].arg if first else None
        self._effects: dict[int, Effects] = {}
        self._several: dict[tuple[int, ...], Effects] = {}
        self.body: list[ast.stmt] = node.body if isinstance(node.body, list) else []
        of_body = self.effects(self.body)
        names = declared(self.body)
        self.globals = names["global"]
        self.nonlocals = names["nonlocal"]
        self.parameters = parameters(node.args)
        self.locals = self.parameters | (of_body.stores - self.globals - self.nonlocals)
        self.shared = of_body.shared
        self.always = of_body.shared | self.globals | self.nonlocals | of_body.bound
        if of_body.reads & _ALL_NAMES:
            self.always |= self.locals
        self._uncaptured = frozenset(self.always)
        self.always |= of_body.captured
        self.conditional = self._conditional()
        self.live_after: dict[int, set[str]] = {}
        self.live_head: dict[int, set[str]] = {}
        self.live_else: dict[int, set[str]] = {}
        # Names that a `finally` around reads, whichever way a statement is left.
        self.finally_reads: dict[int, frozenset[str]] = {}
        _Liveness(self).block(self.body, set(self.always))

    def read_after(self, loop: ast.stmt) -> set[str]:
        """Names that are read after a loop, or by functions that are there if it makes no turn."""
        after = self.live_after[id(loop)]
        inside = _functions(loop)
        if not inside:
            return after
        others = [n for k, n in _functions(self.node).items() if k not in inside]
        return self._plain.live_after[id(loop)] | (after & self.effects(others).captured)

    @cached_property
    def _plain(self) -> Facts:
        """The same as if functions inside this one read nothing later than where they stand."""
        result = copy.copy(self)
        result.always = set(self._uncaptured)
        result.live_after, result.live_head, result.finally_reads = {}, {}, {}
        result.live_else = {}
        _Liveness(result).block(self.body, set(result.always))
        return result

    def effects(self, statements: Sequence[ast.AST]) -> Effects:
        """The effects of statements or expressions, worked out once."""
        if len(statements) == 1:
            return self._one(statements[0])
        key = tuple(map(id, statements))
        cached = self._several.get(key)
        if cached is None:
            cached = self._several[key] = Effects()
            for node in statements:
                cached.add(self._one(node))
        return cached

    def _one(self, node: ast.AST) -> Effects:
        cached = self._effects.get(id(node))
        if cached is None:
            cached = self._effects[id(node)] = effects(node, self._effects)
        return cached

    def jumps(self, *statements: ast.AST) -> set[str]:
        """The kinds of jumps that lead out of the statements."""
        return self.effects(statements).jumps if statements else set()

    def _conditional(self) -> set[str]:
        """Names that get a value inside a branch or loop, so that they may lack one after it."""
        names: set[str] = set()
        for node in walk_statements(self.body):
            if isinstance(node, ast.If | ast.While | ast.For):
                names |= self.effects([node]).stores
        return names

    def is_static(self, test: ast.AST) -> bool:
        """Whether a condition is a Python `bool` even where its operands are tensors."""
        if isinstance(test, ast.Constant):
            return True
        if isinstance(test, ast.Compare):
            return all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops)
        if isinstance(test, ast.UnaryOp):
            return isinstance(test.op, ast.Not) and self.is_static(test.operand)
        if isinstance(test, ast.BoolOp):
            return all(map(self.is_static, test.values))
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
            return test.func.id in _ANSWER_BOOL and self.unit.is_builtin(test.func.id)
        return False

    def definite(self, block: Sequence[ast.stmt]) -> bool:
        """Whether every way through a block ends in a jump."""
        return any(map(self._definite, block))

    def _definite(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
            return True
        if isinstance(node, ast.If):
            return self.definite(node.body) and self.definite(node.orelse)
        if isinstance(node, ast.With):
            return self.definite(node.body) and all(map(lets_pass, node.items))
        if isinstance(node, ast.While):
            endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
            return endless and "break" not in self.jumps(*node.body)
        if isinstance(node, ast.Try):
            tried = self.definite(node.body) or self.definite(node.orelse)
            return self.definite(node.finalbody) or (
                tried and all(self.definite(h.body) for h in node.handlers)
            )
        return False

    def may_defer(self, node: ast.stmt) -> bool:
        """Whether a jump out of this statement may hang on a tensor.

        Then the statements after it must run under that condition.
        """
        leaving = self.jumps(node)
        if not leaving:
            return False
        if isinstance(node, ast.If | ast.While) and not self.is_static(node.test):
            return True
        if isinstance(node, ast.For):
            return True
        inner = [s for block in blocks(node) for s in block]
        if isinstance(node, ast.While):
            inner = [s for s in inner if "return" in self.jumps(s) or s in node.orelse]
        return any(map(self.may_defer, inner))

    def symbols(self, *parts: Sequence[ast.AST]) -> list[Symbol]:
        """The symbols that the parts assign, sorted, without paths into a symbol that changes."""
        result = self.effects([node for part in parts for node in part])
        names = result.stores | (self.shared if result.calls else set())
        changed = {Symbol(n) for n in names} | {s for s in result.mutated if _fixed(s, names)}
        for symbol in result.assigned:
            # Where the key changes too, any element of the container may be assigned.
            changed.add(symbol if _fixed(symbol, names) else _container(symbol, names))
        kept = [s for s in changed if not any(a in changed for a in s.above())]
        return sorted(kept, key=str)


def _functions(node: ast.AST) -> dict[int, ast.AST]:
    """The functions and classes written inside a function or statement, by their ids."""
    result = (n for n in ast.walk(node) if isinstance(n, (*FUNCTIONS, ast.ClassDef)))
    return {id(n): n for n in result if n is not node}


def _fixed(symbol: Symbol, names: set[str]) -> bool:
    return not any(kind == "n" and key in names for kind, key in symbol.steps)


def _container(symbol: Symbol, names: set[str]) -> Symbol:
    return next(s for s in reversed(symbol.above()) if _fixed(s, names))


def walk_statements(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements with those of the blocks inside them."""
    results: list[ast.stmt] = []
    stack = list(body)
    while stack:
        node = stack.pop()
        results.append(node)
        stack.extend(s for block in blocks(node) for s in block)
    return results


# Context managers of TensorFlow's that swallow no exception.
_LET_PASS = frozenset({
    "GradientTape", "ForwardAccumulator", "stop_recording", "name_scope", "control_dependencies",
    "device", "init_scope",
})  # fmt: skip


def lets_pass(item: ast.withitem) -> bool:
    """Whether a context manager is known to swallow no exception."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _LET_PASS


class _Liveness:
    """Liveness: walks a function backwards and notes which names are read later on some path."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.loops: list[tuple[set[str], set[str]]] = []
        # Names that an exception handler or `finally` around may read at any moment.
        self.floor: set[str] = set()
        self.last: frozenset[str] = frozenset()

    def block(self, statements: Sequence[ast.stmt], after: set[str]) -> set[str]:
        live = after | self.floor
        for node in reversed(statements):
            self.facts.live_after[id(node)] = set(live)
            if self.last:
                self.facts.finally_reads[id(node)] = self.last
            live = self.statement(node, live) | self.floor | self.facts.always
        return live

    def statement(self, node: ast.stmt, after: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            inside = self.block(node.body, after) | self.block(node.orelse, after)
            return self.through(headers(node), inside)
        if isinstance(node, LOOPS):
            return self.loop(node, after)
        if isinstance(node, ast.With):
            inside = self.block(node.body, after)
            if not all(map(lets_pass, node.items)):
                inside |= after  # it may swallow an exception raised anywhere inside
            return self.through(headers(node), inside)
        if isinstance(node, ast.Match):
            return self.match(node, after)
        if isinstance(node, ast.Break | ast.Continue):
            outer = self.loops[-1] if self.loops else (after, after)
            return set(outer[0 if isinstance(node, ast.Break) else 1])
        if isinstance(node, ast.Return | ast.Raise):
            return self.through([node], set())
        if hasattr(node, "handlers"):
            return self.tried(node, after)
        return self.through([node], after)

    def through(self, nodes: Sequence[ast.AST], after: set[str]) -> set[str]:
        result = self.facts.effects(nodes)
        killed = {name for node in nodes for name in _certain(node)}
        return (after - killed) | result.reads

    def match(self, node: ast.Match, after: set[str]) -> set[str]:
        live = set(after)
        for case in node.cases:
            inside = self.block(case.body, after)
            live |= inside | (effects(case.guard).reads if case.guard else set())
            live |= effects(case.pattern).reads
        return self.through([node.subject], live)

    def loop(self, node: Any, after: set[str]) -> set[str]:
        done = self.block(node.orelse, after)
        if node.orelse:
            self.facts.live_else[id(node)] = done
        head = set(done)
        while True:
            self.loops.append((after, head))
            inside = self.block(node.body, head)
            self.loops.pop()
            if isinstance(node, ast.While):
                new = self.through([node.test], head | inside | done)
            else:
                new = head | done | (inside - effects(node.target).stores)
                new |= effects(node.target).reads
            if new <= head:
                break
            head |= new
        self.facts.live_head[id(node)] = head
        return head if isinstance(node, ast.While) else self.through([node.iter], head)

    def tried(self, node: Any, after: set[str]) -> set[str]:
        final = self.block(node.finalbody, after)
        old = self.floor, self.last
        if node.finalbody:
            self.floor = self.floor | final
            # It may raise after a jump, or end the jump and go on where its own leads.
            self.last = self.last | self.facts.effects(node.finalbody).reads | old[0]
            if self.facts.jumps(*node.finalbody):
                self.last |= final
        caught: set[str] = set()
        for handler in node.handlers:
            inside = self.block(handler.body, final)
            caught |= inside | (effects(handler.type).reads if handler.type else set())
        done = self.block(node.orelse, final)
        self.floor = self.floor | caught
        live = self.block(node.body, done) | caught | final
        self.floor, self.last = old
        return live


def _certain(node: ast.AST) -> set[str]:
    """The names that get a new value whatever happens; an inner `:=` may be skipped."""
    if isinstance(node, ast.Assign | ast.Delete):
        return effects(node.targets).stores
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value):
        return effects(node.target).stores
    if isinstance(node, ast.withitem):
        return effects(node.optional_vars).stores
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return effects(node).stores
    return set()


def is_generator(node: Any) -> bool:
    """Whether a function yields, and so is none to rewrite."""
    stack = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        child = stack.pop()
        if isinstance(child, ast.Yield | ast.YieldFrom | ast.Await):
            return True
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(child))
    return False
