"""Rewriting expressions: logic, choices, comparisons, comprehensions, calls.

An expression has two forms. The plain one keeps Python's own operators and turns to ours only
when a value met is a tensor of a trace; it needs a temporary name. The other always asks ours,
with what may not be evaluated yet in lambdas; it stands wherever that has happened already.
"""

from __future__ import annotations

import ast
import types
from typing import Any

from wengert.autograph import build as b
from wengert.autograph.facts import Facts
from wengert.autograph.library import needs_no_call
from wengert.autograph.names import Symbol, walk
from wengert.autograph.unit import Construct, Unit

# Long chains repeat their last operands too often in the plain form.
_LONGEST_PLAIN = 4
_OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_FRAME_FUNCTIONS = frozenset({"super", "locals", "vars", "dir", "eval", "exec", "globals"})


class Expressions:
    """Rewrites the expressions of one function."""

    def __init__(self, facts: Facts, unit: Unit, plain: bool) -> None:
        self.facts = facts
        self.unit = unit
        self.names = unit.names
        self.plain = plain
        self._other: Expressions | None = None

    @property
    def lazy(self) -> Expressions:
        """The form without temporary names."""
        if not self.plain:
            return self
        if self._other is None:
            self._other = Expressions(self.facts, self.unit, False)
        return self._other

    def __call__(self, node: Any) -> Any:
        method = _METHODS.get(type(node))
        return b.rebuilt(node, self) if method is None else method(self, node)

    def op(self, ref: Any, name: str, *args: Any) -> Any:
        """A call of one of our operators."""
        return b.call(ref, b.member(ref, self.names.ops, name), *args)

    def check(self, ref: Any, value: Any, ask: str) -> Any:
        """Whether `value`, kept in the temporary, is for us; plain truth values cost no call."""
        temporary = self.names.temporary
        kept = b.at(ref, ast.NamedExpr(b.store(ref, temporary), value))
        tests = [
            b.compare(ref, kept, ast.IsNot(), b.const(ref, True)),
            b.compare(ref, b.load(ref, temporary), ast.IsNot(), b.const(ref, False)),
            b.call(ref, ask, b.load(ref, temporary)),
        ]
        return b.at(ref, ast.BoolOp(ast.And(), tests))

    def split(self, ref: Any, value: Any, ours: Any, theirs: Any) -> Any:
        """`ours if value is for us else theirs`; both may read the temporary."""
        return b.at(ref, ast.IfExp(self.check(ref, value, self.names.symbolic), ours, theirs))

    @property
    def kept(self) -> str:
        return self.names.temporary

    def bool_op(self, node: ast.BoolOp) -> Any:
        if all(map(self.facts.is_static, node.values[:-1])) or _binds(node.values[1:]):
            return b.rebuilt(node, self)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        if not self.plain or len(node.values) > _LONGEST_PLAIN:
            return self.chain_op(name, node, node.values)
        return self.plain_op(name, node, node.values)

    def chain_op(self, name: str, node: Any, values: list[Any]) -> Any:
        first = self.lazy(values[0])
        if len(values) == 1:
            return first
        rest = self.chain_op(name, node, values[1:])
        return self.op(values[0], name, first, b.thunk(values[1], rest))

    def plain_op(self, name: str, node: ast.BoolOp, values: list[Any]) -> Any:
        if len(values) == 1:
            return self(values[0])
        ref, rest = values[0], self.plain_op(name, node, values[1:])
        theirs = b.at(node, ast.BoolOp(node.op, [b.load(ref, self.kept), rest]))
        delayed = b.thunk(values[1], self.chain_op(name, node, values[1:]))
        return self.split(
            ref, self(ref), self.op(ref, name, b.load(ref, self.kept), delayed), theirs
        )

    def unary_op(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.Not) or self.facts.is_static(node.operand):
            return b.rebuilt(node, self)
        if not self.plain:
            return self.op(node, "not_", self(node.operand))
        ours = self.op(node, "not_", b.load(node, self.kept))
        theirs = b.changed(node, operand=b.load(node.operand, self.kept))
        return self.split(node, self(node.operand), ours, theirs)

    def if_exp(self, node: ast.IfExp) -> Any:
        if self.facts.is_static(node.test) or _binds([node.body, node.orelse]):
            return b.rebuilt(node, self)
        sides = [b.thunk(side, self.lazy(side)) for side in (node.body, node.orelse)]
        if not self.plain:
            return self.op(node, "choose", self(node.test), *sides)
        kept = b.load(node.test, self.kept)
        theirs = b.changed(node, test=kept, body=self(node.body), orelse=self(node.orelse))
        return self.split(node.test, self(node.test), self.op(node, "choose", kept, *sides), theirs)

    def compare(self, node: ast.Compare) -> Any:
        symbols = [_OPERATORS[type(op)] for op in node.ops]
        if all(s in ("is", "is not") for s in symbols):
            return b.rebuilt(node, self.certain, frozenset())
        if len(symbols) == 1:
            if symbols[0] not in ("in", "not in"):
                return b.rebuilt(node, self)
            name = "contains" if symbols[0] == "in" else "lacks"
            return self.op(node, name, self(node.left), self(node.comparators[0]))
        if _binds(node.comparators):
            return b.rebuilt(node, self)
        rest = [b.thunk(c, self.lazy(c)) for c in node.comparators]
        return self.op(node, "chain", self(node.left), b.const(node, tuple(symbols)), *rest)

    def returned(self, node: Any) -> Any:
        """What a function returns; a name that may stand for no value is asked first."""
        if isinstance(node, ast.Tuple):
            return b.rebuilt(node, self.certain, frozenset())
        return self.certain(node)

    def certain(self, node: Any) -> Any:
        """An operand of `is`: a name that may stand for no value is asked first."""
        if isinstance(node, ast.Name) and node.id in self.facts.conditional:
            return self.op(node, "certain", node)
        return self(node)

    def lambda_(self, node: ast.Lambda) -> Any:
        inner = Expressions(Facts(node, self.unit), self.unit, True)
        return b.changed(node, args=b.rebuilt(node.args, self), body=inner(node.body))

    def comprehension(self, node: Any) -> Any:
        """A comprehension whose first source may be a tensor; temporaries are not allowed inside."""
        generators = [b.rebuilt(g, self.lazy) for g in node.generators]
        if isinstance(node, ast.DictComp):
            return b.changed(
                node, key=self.lazy(node.key), value=self.lazy(node.value), generators=generators
            )
        new = b.changed(node, elt=self.lazy(node.elt), generators=generators)
        names = _simple_targets(node)
        if isinstance(node, ast.SetComp) or names is None:
            return new
        return self._over_rows(node, new, names)

    def _over_rows(self, node: Any, new: Any, names: list[str]) -> Any:
        first = node.generators[0]
        rows = self.kept if self.plain else self.names.prefix + "rows"
        generator = b.changed(new.generators[0], iter=b.load(first.iter, rows))
        theirs = b.changed(new, generators=[generator])
        parts = [b.thunk(node.elt, new.elt, names), b.const(node, None)]
        if first.ifs:
            parts[1] = b.thunk(first.ifs[0], self.chain_op("and_", node, first.ifs), names)
        parts.append(b.const(node, isinstance(first.target, ast.Tuple)))
        sites = self._sites(node)
        source = self.iterable(first.iter, self)
        if not self.plain:
            return self.op(node, "comprehend", sites, source, *parts, b.thunk(node, theirs, [rows]))
        ours = self.op(node, "comprehend", sites, b.load(node, rows), *parts, b.const(node, None))
        check = self.check(first.iter, source, self.names.sourced)
        return b.at(node, ast.IfExp(check, ours, theirs))

    def _sites(self, node: Any) -> Any:
        """The loop of a comprehension and its condition, which fill a list of ours."""
        found = [
            b.item(
                node, b.load(node, self.names.sites), self.unit.site(_filling(kind, node.lineno))
            )
            for kind in ("for", "if")
        ]
        return b.at(node, ast.Tuple(found, ast.Load()))

    def iterable(self, node: Any, rewrite: Expressions) -> Any:
        """What a loop runs over, as a source of ours if it is a tensor."""
        if isinstance(node, ast.Call) and not _looks_at_frames(node):
            function = self.op(node.func, "source_of", rewrite(node.func))
            value = rewrite.arguments(node, function)
        else:
            value = rewrite(node)
        return b.call(node, self.names.source, value)

    def call(self, node: ast.Call) -> Any:
        function: Any = node.func
        if _looks_at_frames(node) and self.unit.is_builtin(function.id):
            return self.frame_call(node, function.id)
        if needs_no_call(self.target(function)):
            return self.arguments(node, self(function))
        return self.arguments(node, b.call(function, self.names.call, self(function)))

    def arguments(self, node: ast.Call, function: Any) -> Any:
        args = [self(a) for a in node.args]
        keywords = [b.changed(k, value=self(k.value)) for k in node.keywords]
        return b.changed(node, func=function, args=args, keywords=keywords)

    def frame_call(self, node: ast.Call, name: str) -> Any:
        """A builtin that looks at the frame which calls it, so it must stay where it is."""
        if name == "super" and not node.args and not self.plain and self.facts.first:
            # Ours stands in a function of its own, where Python would not find the arguments.
            args = [b.load(node, "__class__"), b.load(node, self.facts.first)]
            return b.changed(node, args=args)
        new = self.arguments(node, node.func)
        if name in ("locals", "vars", "dir") and not node.args:
            return self.op(node, "visible", new)
        return new

    def target(self, node: Any) -> Any:
        """What a called expression means by the globals of now, or `None` where that is open."""
        if isinstance(node, ast.Name):
            return self.unit.resolve(node.id)
        if isinstance(node, ast.Attribute):
            base = self.target(node.value)
            if isinstance(base, types.ModuleType):
                return getattr(base, node.attr, None)
        return None


def _filling(kind: str, line: int) -> Construct:
    # `found` is the name of the list in the operator.
    name = Symbol("found")
    alive = frozenset({"found"})
    return Construct(kind, line, (name,), frozenset({name}), live=alive, after=alive)


def _binds(nodes: list[Any]) -> bool:
    """Whether an operand that may stay unevaluated binds a name, which a lambda cannot do."""
    return any(isinstance(n, ast.NamedExpr) for node in nodes for n in walk(node))


def _looks_at_frames(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in _FRAME_FUNCTIONS


def _simple_targets(node: Any) -> list[str] | None:
    """The names of a comprehension over one source, if a lambda can take them."""
    first = node.generators[0]
    if len(node.generators) > 1 or first.is_async or _binds([node]):
        return None
    targets: Any = first.target.elts if isinstance(first.target, ast.Tuple) else [first.target]
    if not all(isinstance(t, ast.Name) for t in targets):
        return None
    return [t.id for t in targets]


_METHODS: dict[type, Any] = {
    ast.BoolOp: Expressions.bool_op,
    ast.UnaryOp: Expressions.unary_op,
    ast.IfExp: Expressions.if_exp,
    ast.Compare: Expressions.compare,
    ast.Lambda: Expressions.lambda_,
    ast.Call: Expressions.call,
    **dict.fromkeys(
        (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), Expressions.comprehension
    ),
}
