"""Logic and choices in expressions: Python's own where Python knows the values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from wengert.autograph import primitives, trees
from wengert.autograph.joining import join_values
from wengert.autograph.learning import inside
from wengert.autograph.undefined import Undefined
from wengert.autograph.values import symbolic
from wengert.core import dtypes
from wengert.core.symbolic import SymbolicTensor
from wengert.core.tensor import Value

Thunk = Callable[[], Any]


def and_(a: Any, rest: Thunk) -> Any:
    """`a and rest()`."""
    if not symbolic(a):
        return a and rest()
    return _either("and", a, rest, True)


def or_(a: Any, rest: Thunk) -> Any:
    """`a or rest()`."""
    if not symbolic(a):
        return a or rest()
    return _either("or", a, rest, False)


def _either(name: str, a: Any, rest: Thunk, when: bool) -> Any:
    """The rest where `a` leaves it open, else `a`; truth values where they are not alike."""
    condition = primitives.truth(a)
    mine = a if isinstance(a, SymbolicTensor) else condition

    def run() -> Any:
        with inside():
            return rest()

    side = primitives.traced_side(name, run)
    if mine.dtype is dtypes.bool_:
        if isinstance(side.value, bool) and not side.graph.nodes:
            # `x and True` is x, and `x and False` is False, whatever x is.
            return mine if side.value is when else side.value
        simple = primitives.unasked(side)
        if simple is not None and simple.dtype is dtypes.bool_:
            return condition & simple if when else condition | simple
    own, value = _alike(mine, condition, side)
    other = primitives.traced_side(name, _none)
    sides, outs = ((side, other), ([value], [own])) if when else ((other, side), ([own], [value]))
    return primitives.chosen(condition, sides, outs)[0]


def _alike(mine: Any, condition: Any, side: Any) -> tuple[Any, Any]:
    """Both operands as tensors of one dtype: as they are, or as truth values."""
    value = side.value
    if trees.is_tensor(value) and value.dtype is mine.dtype:
        return mine, value
    if trees.is_number(value) and trees.as_tensor(value, mine.dtype).dtype is mine.dtype:
        return mine, trees.as_tensor(value, mine.dtype)
    with primitives.going_on(side):
        return condition, _truth(value)


def _none() -> None:
    return None


def _truth(value: Any) -> Any:
    return primitives.truth(value if isinstance(value, Value) or symbolic(value) else bool(value))


def not_(x: Any) -> Any:
    """`not x`."""
    return ~primitives.truth(x) if symbolic(x) else not x


def choose(test: Any, then: Thunk, otherwise: Thunk) -> Any:
    """`then() if test else otherwise()`."""
    if not symbolic(test):
        return then() if test else otherwise()
    return _chosen(test, then, otherwise)


def _chosen(test: Any, then: Thunk, otherwise: Thunk) -> Any:
    recipes: list[Any] = []

    def run(side: Thunk) -> Thunk:
        def traced() -> Any:
            with inside():
                return side()

        return traced

    def join(left: Any, right: Any) -> Any:
        a, b, recipe = join_values("the conditional expression", left, right)
        recipes.append(recipe)
        return a, b

    found = primitives.conditional(primitives.truth(test), run(then), run(otherwise), join)
    return certain(recipes[0](found))


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.is_, "is not": operator.is_not,
}  # fmt: skip


def chain(left: Any, symbols: tuple[str, ...], *rest: Thunk) -> Any:
    """`left < b <= c`, where each operand is evaluated once and only as far as needed."""
    right = rest[0]()
    found = _COMPARE[symbols[0]](left, right)
    if len(symbols) == 1:
        return found
    return and_(found, lambda: chain(right, symbols[1:], *rest[1:]))


def contains(x: Any, container: Any) -> Any:
    """`x in container`."""
    if isinstance(container, SymbolicTensor):
        return _any_equal(x, container)
    if type(container) in (list, tuple) and (symbolic(x) or any(map(symbolic, container))):
        found: Any = False
        for item in container:
            found = or_(found, lambda item=item: True if item is x else _same(item, x))
        return found
    return x in container


def _same(item: Any, x: Any) -> Any:
    return item == x


def _any_equal(x: Any, container: Any) -> Any:
    from wengert.ops.reduce import reduce_any

    return reduce_any(container == x)


def lacks(x: Any, container: Any) -> Any:
    """`x not in container`."""
    return not_(contains(x, container))


_COMPARE |= {"in": contains, "not in": lacks}


def certain(x: Any) -> Any:
    """A value that must be one."""
    if type(x) is Undefined:
        raise x.fail()
    return x


def assert_(test: Any, message: Thunk | None) -> None:
    """`assert test, message()`; on a tensor, a check when the function runs."""
    if not symbolic(test):
        if not test:
            raise AssertionError(*() if message is None else (message(),))
        return
    text = "assertion failed" if message is None else str(message())
    primitives.check(primitives.truth(test), text)
