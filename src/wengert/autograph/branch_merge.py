"""Merges the states of a function after the two sides of a branch.

A value that is the same on both sides is kept, numbers and tensors become outputs of the branch,
and values that cannot be merged become undefined. A side that ends in a jump contributes only the
names that are read at the jump's target; zeros stand in for the rest.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from wengert.autograph import value_trees
from wengert.autograph.lists import TracedList, is_array
from wengert.autograph.retrace import Growing, Learn, Owner, Read
from wengert.autograph.undefined import EMPTY, UNSET, MixedError, Undefined
from wengert.core.errors import at_site, require_dtype
from wengert.core.failures import failures

if TYPE_CHECKING:
    from wengert.autograph.undefined import _Nothing
    from wengert.core.tensor import Tensor


Recipe: TypeAlias = "Callable[[list[Tensor]], object]"


class Dead:
    """The result of a branch that ends in a `raise` of the user's: its state is not used."""


class Joint:
    """The merge of two states of the same symbols."""

    def __init__(
        self, state: Any, lenient: frozenset[int], skips: bool, owner: Owner | None = None
    ) -> None:
        self.state = state
        self.owner = owner or Owner()
        self.lenient = lenient
        self.skips = skips
        self.left: list[Any] = []
        self.right: list[Any] = []
        self.hints: dict[Any, Any] = {}
        self.index = -1  # of the symbol that is being joined
        self.read_names: tuple[Any, Any] = (None, None)

    def states(self, left: Any, right: Any) -> list[Recipe]:
        if isinstance(left, Dead) or isinstance(right, Dead):
            return self._one_side(left, right)
        self.read_names = self._read_names(left), self._read_names(right)
        if self.skips:
            site = self.state.site
            results = [site.targets[f] for f in site.flags]
            self.read_names = self.read_names[0], frozenset().union(*results)
        results = [self._symbol(k, a, b) for k, (a, b) in enumerate(zip(left, right, strict=True))]
        if self.hints:
            raise Learn(self.owner, self.hints)
        return results

    def _read_names(self, values: list[Any]) -> frozenset[str] | None:
        """The names that are read at the target of a side's jump; `None` if it does not jump."""
        targets = self.state.site.targets
        up = [
            targets[s.base]
            for s, v in zip(self.state.symbols, values, strict=True)
            if v is True and s.base in targets
        ]
        return frozenset().union(*up) if up else None

    def _one_side(self, left: Any, right: Any) -> list[Recipe]:
        """A branch that raises contributes nothing: the state is that of the other."""
        if isinstance(left, Dead) and isinstance(right, Dead):
            return [_same(v) for v in self.state.before]
        alive = right if isinstance(left, Dead) else left
        pairs = zip(alive, self.state.before, strict=True)
        return [self._passed(v, old, isinstance(left, Dead)) for v, old in pairs]

    def _passed(self, value: Any, before: Any, dead_left: bool) -> Recipe:
        if value is before:
            return _same(value)
        if is_array(value) and is_array(before):
            return self._pick(*((before, value) if dead_left else (value, before)))
        if value_trees.has_tensors(value) and value_trees.can_stand_in(value):
            return self._filled(value, dead_left)
        return _same(value)

    def _symbol(self, k: int, a: Any, b: Any) -> Recipe:
        symbol, site = self.state.symbols[k], self.state.site
        before = self.state.before[k]
        self.index = k
        if a is b:
            return _same(a)
        if value_trees.is_stale(before):  # an attribute that an earlier trace has left behind
            a, b = (EMPTY if value_trees.is_same(x, before) else x for x in (a, b))
            before = EMPTY
        if site.is_local(symbol):
            return _same(Undefined(f"`{symbol}` belongs to the `if` at line {site.line}.", True))
        added = self._effects(k, a, b)
        if added is not None:
            return _same([*self.state.before[k], *added])
        blank = [self._is_blank(k, v, w) for v, w in zip((a, b), self.read_names, strict=True)]
        if any(blank) and not (is_array(a) and is_array(b)):
            return self._standing_in(a, b, *blank)
        name = f"`{symbol}`"
        if symbol.base == site.result:
            name = "the returned value"
        elif "ag__chosen" in name:
            name = "the conditional expression"
        return self.values(name, k, a, b, before)

    def _effects(self, k: int, a: Any, b: Any) -> list[Any] | None:
        """The elements that both sides appended to a list as Python side effects."""
        before = self.state.before[k]
        if not all(type(x) is list for x in (before, a, b)):
            return None
        n = len(before)
        same = all(len(x) >= n and all(map(operator.is_, x, before)) for x in (a, b))
        added = [*a[n:], *b[n:]] if same else []
        return added if added and self.state.is_effect(k, added) else None

    def _is_blank(self, k: int, value: Any, read_names: frozenset[str] | None) -> bool:
        """Whether zeros may replace a value because it is dead."""
        symbol, site = self.state.symbols[k], self.state.site
        if symbol.base == site.result:
            return value is UNSET
        if symbol.base in site.targets:
            return False
        if isinstance(value, Undefined) and value.dead:
            return True
        read = read_names is None or symbol.base in read_names or symbol.base in site.outside
        if not read and not symbol.steps:
            return True
        return k in self.lenient and (value is None or value is EMPTY)

    def _standing_in(
        self,
        a: Tensor | tuple[Tensor, ...] | _Nothing,
        b: Tensor | tuple[Tensor, ...] | _Nothing,
        left: bool,
        right: bool,
    ) -> Recipe:
        if left and right:
            return _same(Undefined("both branches of the `if` have left it.", True))
        given = b if left else a
        return self._filled(given, left) if value_trees.can_stand_in(given) else _same(given)

    def _filled(self, value: Any, blank_left: bool) -> Recipe:
        if isinstance(value, list | tuple | dict):
            inner = [self._filled(p, blank_left) for p in value_trees.parts(value)]
            return _tree(value, inner)
        if isinstance(value, TracedList):
            other = value_trees.zeros(value_trees.specs(value))
            return self._lists(*((other, value) if blank_left else (value, other)))
        value = value_trees.as_tensor(value)
        blank = value_trees.zeros(value_trees.specs(value))
        return self._pick(*((blank, value) if blank_left else (value, blank)))

    def values(self, name: str, k: int, a: Any, b: Any, before: Any) -> Recipe:
        """How to make one value of two."""
        if a is b:
            return _same(a)
        if isinstance(a, Undefined) or isinstance(b, Undefined):
            return _same(a if isinstance(a, Undefined) else b)
        if a is EMPTY or b is EMPTY:
            return _same(Undefined(self._only_one(name)))
        if isinstance(a, TracedList) or isinstance(b, TracedList):
            return self._growing(name, k, a, b)
        if isinstance(a, list) and isinstance(b, list) and len(a) != len(b):
            return self._lengths(name, k, a, b, before)
        if value_trees.is_tree(a) and value_trees.is_tree(b) and value_trees.same_kind(a, b):
            pairs = zip(value_trees.parts(a), value_trees.parts(b), strict=True)
            return _tree(a, [self.values(name, -1, x, y, None) for x, y in pairs])
        if is_array(a) and is_array(b):
            return self._pick(a, b)
        return self._leaves(name, a, b)

    def _leaves(self, name: str, a: Any, b: Any) -> Recipe:
        numbers = value_trees.is_constant(a), value_trees.is_constant(b)
        if all(numbers) and type(a) is type(b) and _equal(a, b):
            return _same(a)
        if not all(n or value_trees.is_tensor(x) for n, x in zip(numbers, (a, b), strict=True)):
            if all(map(value_trees.has_value, (a, b))):
                self.hints["read", self.index] = Read()
                return _same(None)
            return _same(a) if _equal(a, b) else self._apart(name, a, b)
        if all(numbers):
            # An integer and a fraction meet as fractions.
            kinds = [value_trees.as_tensor(x).dtype for x in (a, b)]
            dtype = next((k for k in kinds if k.kind == "f"), None)
        else:
            dtype = (b if numbers[0] else a).dtype
        x, y = value_trees.as_tensor(a, dtype), value_trees.as_tensor(b, dtype)
        require_dtype(
            x.dtype is y.dtype,
            "if",
            f"{name} must have one dtype after both branches",
            x,
            y,
            help="Cast it with tf.cast in one branch.",
        )
        return self._pick(x, y)

    def _apart(self, name: str, a: Any, b: Any) -> Recipe:
        text = (
            f"if: {name} is {value_trees.described(a)} in one branch and {value_trees.described(b)} in the "
            f"other, and which one depends on a tensor. Make both tensors of one dtype."
        )
        if name == "the returned value":
            kind = ValueError if a is None or b is None else MixedError
            raise at_site(kind(text.replace("if:", "return:", 1)))
        return _same(Undefined(text, kind=MixedError))

    def _only_one(self, name: str) -> str:
        return (
            f"if: {name} has a value in one branch only of the `if` at line {self.state.site.line}, "
            f"and is used after it. Give it a value in both branches, or before."
        )

    def _lengths(
        self, name: str, k: int, a: list[Any], b: list[Any], before: list[Tensor | int]
    ) -> Recipe:
        """Lists of different lengths: both become lists that grow, if they began as one."""
        example = (a if len(a) > len(b) else b)[-1]
        if k < 0 or not isinstance(before, list) or not value_trees.can_stand_in(example):
            return self._apart(name, a, b)
        self.hints[k] = Growing(value_trees.specs(example))
        return _same(None)

    def _growing(self, name: str, k: int, a: Any, b: Any) -> Recipe:
        grown = a if isinstance(a, TracedList) else b
        if not isinstance(a, TracedList) or not isinstance(b, TracedList):
            if k < 0 or not isinstance(self.state.before[k], list):
                return self._apart(name, a, b)
            self.hints[k] = Growing(grown.element)
            return _same(None)
        return self._lists(a, b)

    def _lists(self, a: TracedList, b: TracedList) -> Recipe:
        picks = [self._pick(x, y) for x, y in zip(a.arrays, b.arrays, strict=True)]
        return lambda outs: TracedList(a.element, [p(outs) for p in picks])

    def _pick(self, a: Any, b: Any) -> Recipe:
        number = len(self.left)
        self.left.append(a)
        self.right.append(b)
        return lambda outs: outs[number]


def _same(value: Any) -> Recipe:
    return lambda _: value


def _tree(value: Any, inner: list[Recipe]) -> Recipe:
    return lambda outs: value_trees.with_parts(value, [r(outs) for r in inner])


def _equal(a: Any, b: Any) -> bool:
    """Whether two Python values can be taken for one."""
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b)
    except failures():
        return False


def join_values(name: str, a: Any, b: Any) -> tuple[list[Any], list[Any], Recipe]:
    """The tensors to choose from, and the value they make, for two results of an expression."""
    joint = Joint(None, frozenset(), False)
    recipe = joint.values(name, -1, a, b, None)
    return joint.left, joint.right, recipe
