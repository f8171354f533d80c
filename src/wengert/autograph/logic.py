"""The operators of expressions: `and`, `or`, `not`, comparisons, `in`, `if else`, `assert`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from wengert.autograph import primitives, value_trees
from wengert.autograph.branch_merge import join_values
from wengert.autograph.retrace import inside
from wengert.autograph.traced_values import symbolic
from wengert.autograph.undefined import Undefined
from wengert.core import dtypes
from wengert.core.errors import invalid_dtype
from wengert.core.types import IndexedSlices, SymbolicTensor, Tensor, Value, Variable

Thunk = Callable[[], object]


def and_(a: Any, rest: Thunk) -> Any:
    """`a and rest()`, as a value."""
    return a and rest() if not symbolic(a) else _either("and", a, rest, True)


def or_(a: Any, rest: Thunk) -> Any:
    """`a or rest()`, as a value."""
    return a or rest() if not symbolic(a) else _either("or", a, rest, False)


def and_test(a: Any, rest: Thunk) -> Any:
    """`a and rest()` where only its truth matters."""
    return (
        a and rest() if not symbolic(a) else _either("and", primitives.truth(a), rest, True, True)
    )


def or_test(a: Any, rest: Thunk) -> Any:
    """`a or rest()` where only its truth matters."""
    return a or rest() if not symbolic(a) else _either("or", primitives.truth(a), rest, False, True)


def _either(name: str, a: Any, rest: Thunk, when: bool, test: bool = False) -> Any:
    """`rest()` where `a` does not decide the result, else `a`."""
    condition = primitives.truth(a)
    mine = a if isinstance(a, SymbolicTensor) else condition

    def run() -> Any:
        with inside():
            result = rest()
            return _truth(result) if test and not isinstance(result, bool) else result

    side = primitives.traced_side(name, run)
    if mine.dtype is dtypes.bool_:
        if isinstance(side.value, bool) and not side.graph.nodes:
            # `x and True` is x, and `x and False` is False, whatever x is.
            return mine if side.value is when else side.value
        simple = primitives.unasked(side)
        if simple is not None and simple.dtype is dtypes.bool_:
            return condition & simple if when else condition | simple
    value = _alike(name, mine, side.value)
    other = primitives.traced_side(name, _none)
    sides, outs = ((side, other), ([value], [mine])) if when else ((other, side), ([mine], [value]))
    return primitives.chosen(condition, sides, outs)[0]


def _alike(name: str, mine: Any, value: Any) -> Tensor:
    """The second operand as a tensor of the dtype of the first."""
    if value_trees.is_tensor(value) or value_trees.is_constant(value):
        result = value_trees.as_tensor(value, mine.dtype)
        if result.dtype is mine.dtype:
            return result
    raise invalid_dtype(
        name,
        "which operand is the value depends on a tensor, so both must be tensors of one dtype",
        mine,
        value,
        help="As a condition, compare each of them first.",
    )


def _none() -> None:
    return None


def _truth(value: Any) -> Value | bool | IndexedSlices:
    return primitives.truth(value if isinstance(value, Value) or symbolic(value) else bool(value))


def not_(x: Any) -> Any:
    """`not x`."""
    return ~primitives.truth(x) if symbolic(x) else not x


def choose(test: Tensor | bool, then: Thunk, otherwise: Thunk) -> Any:
    """`then() if test else otherwise()`."""
    if not symbolic(test):
        return then() if test else otherwise()
    return _chosen(test, then, otherwise)


def _chosen(test: Tensor | bool, then: Thunk, otherwise: Thunk) -> Tensor:
    recipes: list[Any] = []

    def run(side: Thunk) -> Thunk:
        def traced() -> Any:
            with inside():
                return value_trees.values_of_variables(side())

        return traced

    def join(left: Any, right: Any) -> tuple[list[Tensor], list[Tensor]]:
        a, b, recipe = join_values("the conditional expression", left, right)
        recipes.append(recipe)
        return a, b

    result = primitives.conditional(primitives.truth(test), run(then), run(otherwise), join)
    return certain(recipes[0](result))


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.is_, "is not": operator.is_not,
}  # fmt: skip


def chain(left: Any, symbols: tuple[str, ...], *rest: Thunk) -> Any:
    """`left < b <= c`, where each operand is evaluated once and only as far as needed."""
    right = rest[0]()
    result = _COMPARE[symbols[0]](left, right)
    if len(symbols) == 1:
        return result
    return and_(result, lambda: chain(right, symbols[1:], *rest[1:]))


def contains(x: Any, container: Any) -> Any:
    """`x in container`."""
    if isinstance(container, SymbolicTensor):
        return _any_equal(x, container)
    if type(container) in (list, tuple) and (symbolic(x) or any(map(symbolic, container))):
        result: Any = False
        for item in container:
            result = or_(result, lambda item=item: True if item is x else _same(item, x))
        return result
    return x in container


def _same(item: Any, x: Any) -> Any:
    return item == x


def _any_equal(x: Any, container: SymbolicTensor) -> Tensor:
    from wengert.ops.reduce import reduce_any

    return reduce_any(container == x)


def lacks(x: Any, container: dict[str, Variable] | tuple[Tensor | int, ...]) -> Any:
    """`x not in container`."""
    return not_(contains(x, container))


_COMPARE |= {"in": contains, "not in": lacks}


def certain(x: Any) -> Any:
    """A value that must be one."""
    if type(x) is Undefined:
        raise x.fail()
    return x


def assert_(test: SymbolicTensor | bool, message: Thunk | None) -> None:
    """`assert test, message()`; on a tensor, a check when the function runs."""
    if not symbolic(test):
        if not test:
            raise AssertionError(*() if message is None else (message(),))
        return
    text = "assertion failed" if message is None else str(message())
    primitives.check(primitives.truth(test), text)
