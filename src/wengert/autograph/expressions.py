"""Rewriting expressions: logic, choices, comparisons, comprehensions, calls.

An expression has two forms. The plain form keeps Python's operators and calls autograph's only when
an operand is a symbolic tensor; it needs a temporary variable. The lazy form always calls
autograph's operators and passes operands that may stay unevaluated as lambdas; the block form of
a function uses it.
"""

from __future__ import annotations

import ast
import types
from typing import TYPE_CHECKING, Any

from wengert.autograph import syntax as b
from wengert.autograph.analysis import Facts
from wengert.autograph.conversion_unit import Construct, Unit
from wengert.autograph.library import needs_no_call
from wengert.autograph.name_analysis import Symbol, walk

if TYPE_CHECKING:
    from wengert.autograph.block_form import Forms


# Long chains repeat their last operands too often in the plain form.
_LONGEST_PLAIN = 4
_OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_FRAME_FUNCTIONS = frozenset({"super", "locals", "vars", "dir", "eval", "exec", "globals"})


class Expressions:
    """Rewrites the expressions of one function."""

    def __init__(self, facts: Facts, unit: Unit, plain: bool, forms: Forms | None = None) -> None:
        self.facts = facts
        self.unit = unit
        self.names = unit.names
        self.plain = plain
        # The block form of the function, for operands that bind names; none where an inner scope
        # hides the variables of the function.
        self.forms = forms
        self._other: Expressions | None = None

    @property
    def lazy(self) -> Expressions:
        """The form without temporary names."""
        if not self.plain:
            return self
        if self._other is None:
            self._other = Expressions(self.facts, self.unit, False, self.forms)
        return self._other

    @property
    def scoped(self) -> Expressions:
        """The form for an inner scope, where temporary names are not allowed."""
        return Expressions(self.facts, self.unit, False)

    def __call__(self, node: ast.AST) -> ast.AST:
        method = _METHODS.get(type(node))
        return b.rebuilt(node, self) if method is None else method(self, node)

    def op(self, ref: ast.AST, name: str, *args: Any) -> ast.Call:
        """A call of one of our operators."""
        return b.call(ref, b.member(ref, self.names.ops, name), *args)

    def check(self, ref: ast.expr, value: ast.expr, ask: str) -> ast.BoolOp:
        """Whether `value`, stored in the temporary, is symbolic; truth values cost no call."""
        temporary = self.names.temporary
        kept = b.keep(ref, temporary, value)
        tests = [
            b.is_not(ref, kept, True),
            b.is_not(ref, b.load(ref, temporary), False),
            b.call(ref, ask, b.load(ref, temporary)),
        ]
        return b.joined(ref, b.AND, tests)

    def split(self, ref: ast.expr, value: ast.expr, ours: ast.Call, theirs: Any) -> ast.IfExp:
        """`ours if value is symbolic else theirs`; both may read the temporary."""
        return b.pick(ref, self.check(ref, value, self.names.symbolic), ours, theirs)

    @property
    def kept(self) -> str:
        return self.names.temporary

    def test(self, node: ast.expr) -> Any:
        """An expression of which only the truth matters."""
        return self.bool_op(node, "_test") if isinstance(node, ast.BoolOp) else self(node)

    def bool_op(self, node: ast.BoolOp, kind: str = "") -> Any:
        if all(map(self.facts.is_static, node.values[:-1])):
            return b.rebuilt(node, self)
        name = ("and" if isinstance(node.op, ast.And) else "or") + (kind or "_")
        if _binds(node.values[1:]):
            return self.binding_op(node)
        if not self.plain or len(node.values) > _LONGEST_PLAIN:
            return self.chain_op(name, node, node.values)
        return self.plain_op(name, node, node.values)

    def binding_op(self, node: ast.BoolOp) -> ast.IfExp:
        """`a and (x := b)`: an `if` that gives the value of one or the other."""
        first, rest = node.values[0], node.values[1:]
        other = rest[0] if len(rest) == 1 else b.joined(node, node.op, rest)
        kept = b.load(first, self.kept)
        sides = (other, kept) if isinstance(node.op, ast.And) else (kept, other)
        theirs = None
        if self.plain:
            theirs = b.changed(node, values=[kept, self(other)])
        return self.binding(node, first, sides, theirs)

    def binding(self, node: Any, test: Any, sides: tuple[Any, Any], theirs: Any) -> Any:
        """A choice between operands that bind names, as an `if` of the block form."""
        if self.forms is None:
            return b.rebuilt(node, self)
        if theirs is None:
            return b.call(test, self.forms.choice(node, sides), self.test(test))
        number = self.forms.number(self.forms.choice(node, sides))
        function = b.item(test, b.call(test, self.names.forms), number)
        ours = b.call(test, function, b.load(test, self.kept))
        return self.split(test, self.test(test), ours, theirs)

    def operand(self, name: str, node: ast.expr) -> Any:
        """An operand of `name`, of which only the truth may matter."""
        return self.test(node) if name.endswith("_test") else self(node)

    def chain_op(self, name: str, node: Any, values: list[ast.expr]) -> ast.expr:
        first = self.lazy.operand(name, values[0])
        if len(values) == 1:
            return first
        rest = self.chain_op(name, node, values[1:])
        return self.op(values[0], name, first, b.thunk(values[1], rest))

    def plain_op(self, name: str, node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
        if len(values) == 1:
            return self.operand(name, values[0])
        ref, rest = values[0], self.plain_op(name, node, values[1:])
        theirs = b.joined(node, node.op, [b.load(ref, self.kept), rest])
        delayed = b.thunk(values[1], self.chain_op(name, node, values[1:]))
        ours = self.op(ref, name, b.load(ref, self.kept), delayed)
        return self.split(ref, self.operand(name, ref), ours, theirs)

    def unary_op(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.Not) or self.facts.is_static(node.operand):
            return b.rebuilt(node, self)
        if not self.plain:
            return self.op(node, "not_", self.test(node.operand))
        ours = self.op(node, "not_", b.load(node, self.kept))
        theirs = b.changed(node, operand=b.load(node.operand, self.kept))
        return self.split(node, self.test(node.operand), ours, theirs)

    def if_exp(self, node: ast.IfExp) -> Any:
        if self.facts.is_static(node.test):
            return b.rebuilt(node, self)
        kept = b.load(node.test, self.kept)
        theirs = None
        if self.plain:
            theirs = b.changed(node, test=kept, body=self(node.body), orelse=self(node.orelse))
        if _binds([node.body, node.orelse]):
            return self.binding(node, node.test, (node.body, node.orelse), theirs)
        sides = [b.thunk(side, self.lazy(side)) for side in (node.body, node.orelse)]
        if theirs is None:
            return self.op(node, "choose", self.test(node.test), *sides)
        ours = self.op(node, "choose", kept, *sides)
        return self.split(node.test, self.test(node.test), ours, theirs)

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

    def returned(self, node: ast.expr) -> Any:
        """A returned expression; a name that may be undefined is checked first."""
        if isinstance(node, ast.Tuple):
            return b.rebuilt(node, self.certain, frozenset())
        return self.certain(node)

    def certain(self, node: ast.expr) -> Any:
        """An operand of `is`: a name that may stand for no value is asked first."""
        if isinstance(node, ast.Name) and node.id in self.facts.conditional:
            return self.op(node, "certain", node)
        return self(node)

    def lambda_(self, node: ast.Lambda) -> Any:
        inner = Expressions(Facts(node, self.unit), self.unit, True)
        return b.changed(node, args=b.rebuilt(node.args, self), body=inner(node.body))

    def comprehension(self, node: Any) -> Any:
        """A comprehension whose first iterable may be a tensor; it allows no temporaries inside."""
        inner = self.scoped
        generators = [b.rebuilt(g, inner) for g in node.generators]
        if isinstance(node, ast.DictComp):
            return b.changed(
                node, key=inner(node.key), value=inner(node.value), generators=generators
            )
        new = b.changed(node, elt=inner(node.elt), generators=generators)
        targets: list[Any] = [_target(g.target) for g in node.generators]
        if isinstance(node, ast.SetComp) or None in targets or _binds([node]):
            return new
        if any(g.is_async for g in node.generators):
            return new
        first = node.generators[0]
        decides = isinstance(node, ast.ListComp) and not all(map(self.facts.is_static, first.ifs))
        if len(targets) > 1 or decides:
            return self._over_many(node, new, targets)
        return self._over_rows(node, new, *targets[0])

    def _over_many(self, node: Any, new: Any, targets: list[Any]) -> ast.Call:
        """Several sources, or a condition: a loop inside a loop, which may all be the graph's."""
        clauses, known = [], []
        for g, (names, form) in zip(node.generators, targets, strict=True):
            source = b.thunk(g.iter, self.scoped.iterable(g.iter, self.scoped), known)
            known = [*[n for n in known if n not in names], *names]
            test = b.const(node, None)
            if g.ifs:
                test = b.thunk(g.ifs[0], self.scoped.chain_op("and_test", node, g.ifs), known)
            sites = self._sites(node)
            clauses.append(b.several(node, [sites, source, test, b.const(node, form)]))
        python = b.const(node, None)
        if not isinstance(node, ast.ListComp):
            rows = self.names.prefix + "rows"
            first = b.changed(new.generators[0], iter=b.load(node, rows))
            theirs = b.changed(new, generators=[first, *new.generators[1:]])
            python = b.thunk(node, theirs, [rows])
        element = b.thunk(node.elt, new.elt, known)
        return self.op(node, "comprehend_all", b.several(node, clauses), element, python)

    def _over_rows(self, node: Any, new: Any, names: list[str], form: Any) -> ast.expr:
        first = node.generators[0]
        rows = self.kept if self.plain else self.names.prefix + "rows"
        generator = b.changed(new.generators[0], iter=b.load(first.iter, rows))
        theirs = b.changed(new, generators=[generator])
        parts = [b.thunk(node.elt, new.elt, names), b.const(node, None)]
        if first.ifs:
            parts[1] = b.thunk(
                first.ifs[0], self.scoped.chain_op("and_test", node, first.ifs), names
            )
        parts.append(b.const(node, form))
        sites = self._sites(node)
        source = self.iterable(first.iter, self)
        if not self.plain:
            return self.op(node, "comprehend", sites, source, *parts, b.thunk(node, theirs, [rows]))
        ours = self.op(node, "comprehend", sites, b.load(node, rows), *parts, b.const(node, None))
        check = self.check(first.iter, source, self.names.sourced)
        return b.pick(node, check, ours, theirs)

    def _sites(self, node: ast.expr) -> ast.Tuple:
        """The loop of a comprehension and its condition, which fill a list of ours."""
        results = [
            b.item(
                node, b.load(node, self.names.sites), self.unit.site(_filling(kind, node.lineno))
            )
            for kind in ("for", "if")
        ]
        return b.several(node, results)

    def iterable(self, node: ast.expr, rewrite: Expressions) -> ast.Call:
        """The iterable of a loop, as a `Source` if it is a tensor."""
        if isinstance(node, ast.Call) and not _looks_at_frames(node):
            function = self.op(node.func, "source_of", rewrite(node.func))
            value = rewrite.arguments(node, function)
        else:
            value = rewrite(node)
        return b.call(node, self.names.source, value)

    def call(self, node: ast.Call) -> ast.Call:
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

    def target(self, node: ast.expr) -> Any:
        """The current value of a called expression by the globals, or `None` if unknown."""
        if isinstance(node, ast.Name):
            return self.unit.resolve(node.id)
        if isinstance(node, ast.Attribute):
            base = self.target(node.value)
            if isinstance(base, types.ModuleType):
                return getattr(base, node.attr, None)
        return None


def _filling(kind: str, line: int) -> Construct:
    # `results` is the name of the list in the operator.
    name = Symbol("results")
    alive = frozenset({"results"})
    return Construct(kind, line, (name,), frozenset({name}), live=alive, after=alive)


def _binds(nodes: list[ast.expr]) -> bool:
    """Whether an operand that may stay unevaluated binds a name, which a lambda cannot do."""
    return any(isinstance(n, ast.NamedExpr) for node in nodes for n in walk(node))


def _looks_at_frames(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in _FRAME_FUNCTIONS


def _target(target: ast.expr) -> tuple[list[str], Any] | None:
    """The names of the target of a clause and how they are nested, if a lambda can take them."""
    if isinstance(target, ast.Name):
        return [target.id], None
    if not isinstance(target, ast.Tuple | ast.List):
        return None
    inner = [_target(t) for t in target.elts]
    results = [x for x in inner if x is not None]
    names = [n for one, _ in results for n in one]
    if len(results) < len(inner) or len(set(names)) < len(names):
        return None
    return names, tuple([form for _, form in results])


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
