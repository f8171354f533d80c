"""`Dim`: a whole number that is known only when a graph runs.

It stands for the size of an axis of a graph's value, an element of an integer value, or a formula
of such numbers. Shapes inside a trace hold one wherever a size is unknown, so code that computes
with sizes works on as usual; what must decide by the size gets an error that says so. Two unknown
sizes are equal only if they are the same by construction.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from wengert.core import shapes
from wengert.core.errors import InvalidArgumentError, at_site, invalid, valueless


def _dividing(name: str, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def divide(a: int, b: int) -> int:
        if not b:
            raise invalid(name, f"integer division by zero; got {a} and 0")
        return function(a, b)

    return divide


_FORMULAS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": _dividing("floordiv", operator.floordiv),
    "%": _dividing("floormod", operator.mod),
    "max": max,
    "min": min,
}


def size_of(shape: tuple[Any, ...], axis: int) -> Any:
    """The size of an axis that a trace expected; what compares shapes that do not meet has none."""
    if axis >= len(shape):
        raise InvalidArgumentError(
            f"size: dimension {axis} is asked of a tensor of shape {shapes.TensorShape(shape)}, for "
            "it compares shapes that do not broadcast. Compare the shapes before."
        )
    return shape[axis]


# Functions of whole numbers that were given to `formula`, by name.
_FUNCTIONS: dict[str, Callable[..., int]] = {}


_Operator = Callable[[Any, Any], Any]


def _operators(kind: str) -> tuple[_Operator, _Operator]:
    """An infix operator of unknown numbers, and the same with the operands exchanged."""
    return (lambda x, y: _formula(kind, x, y)), (lambda x, y: _formula(kind, y, x))


class Dim:
    """One unknown whole number: `kind` says what `args` mean.

    A leaf is ("size", graph, value, axis) or ("element", graph, value, place in row order); the
    rest are formulas over numbers.
    """

    __slots__ = ("args", "kind")

    def __init__(self, kind: str, *args: Any) -> None:
        self.kind = kind
        self.args = args

    @property
    def is_leaf(self) -> bool:
        return self.kind in ("size", "element")

    def leaves(self) -> list[Dim]:
        """The sizes and elements that it is made of."""
        if self.is_leaf:
            return [self]
        return [leaf for a in self.args if type(a) is Dim for leaf in a.leaves()]

    def moved(self, place: Callable[[Dim], Any]) -> int | Dim | None:
        """The same formula over other leaves, or a number where all of them are."""
        if self.is_leaf:
            return place(self)
        args = [x.moved(place) if type(x) is Dim else x for x in self.args]
        if self.kind in _FORMULAS:
            return _formula(self.kind, *args)
        return _call(self.kind, *args)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is Dim and self.kind == other.kind and self.args == other.args
        )

    def __hash__(self) -> int:
        return hash((self.kind, *[a if type(a) in _PLAIN else id(a) for a in self.args]))

    __add__, __radd__ = _operators("+")
    __sub__, __rsub__ = _operators("-")
    __mul__, __rmul__ = _operators("*")
    __floordiv__, __rfloordiv__ = _operators("//")
    __mod__, __rmod__ = _operators("%")

    def __neg__(self) -> Dim | int | None:
        return _formula("-", 0, self)

    def __pos__(self) -> Dim:
        return self

    # A size is never negative; every other comparison would be a guess.

    def __lt__(self, other: Any) -> bool:
        if self.kind == "size" and type(other) is int and other <= 0:
            return False
        raise self.unknown("a comparison")

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __gt__(self, other: Any) -> bool:
        if self.kind == "size" and type(other) is int and other < 0:
            return True
        raise self.unknown("a comparison")

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __bool__(self) -> bool:
        raise self.unknown("a decision")

    def __index__(self) -> int:
        raise self.unknown("a plain number")

    __int__ = __index__

    def __float__(self) -> float:
        raise self.unknown("a plain number")

    def unknown(self, what: str) -> Exception:
        """The error for code that needs the number now."""
        return valueless(
            at_site(
                TypeError(
                    f"size: {what} needs a size that is known only when the function runs "
                    f"({self!r}). Fix it in `input_signature`, or compute with tf.shape(x)."
                )
            )
        )

    def __repr__(self) -> str:
        if self.is_leaf:
            _, value, place = self.args
            return f"{self.kind}(v{value}, {place})"
        if self.kind in _SIGNS:
            return f"({self.args[0]} {self.kind} {self.args[1]})"
        return f"{self.kind.split('.')[-1].strip('_')}({', '.join(map(repr, self.args))})"


_PLAIN = (int, float, str, Dim)
_SIGNS = ("+", "-", "*", "//", "%")


def _formula(kind: str, a: Any, b: Any) -> int | Dim | None:
    if type(a) is not Dim and type(b) is not Dim:
        return _FORMULAS[kind](_number(a), _number(b))
    if not _is_number(a) or not _is_number(b):
        return NotImplemented
    a, b = (x if type(x) is Dim else int(x) for x in (a, b))
    if (kind in "+-" and b == 0) or (kind in ("*", "//") and b == 1):
        return a
    if (kind == "+" and a == 0) or (kind == "*" and a == 1):
        return b
    if kind == "*" and (a == 0 or b == 0):
        return 0
    if a == b and kind in ("max", "min", "-"):
        return 0 if kind == "-" else a
    if kind == "-" and a == 0 and type(b) is Dim and b.kind == "-" and b.args[0] == 0:
        return b.args[1]
    if kind == "max" and (_is_least(a, b) or _is_least(b, a)):
        return b if _is_least(a, b) else a
    return Dim(kind, a, b)


def _number(x: int | Dim) -> Any:
    """A plain number; a symbol that an engine computes with when it exports stays as it is."""
    return int(x) if hasattr(x, "__index__") else x


def _is_least(a: int | Dim, b: int | Dim) -> bool:
    """Whether `a` is a number that the size `b` never falls below."""
    return type(a) is int and a <= 0 and type(b) is Dim and b.kind == "size"


def _call(name: str, *args: Any) -> int | Dim:
    if any(type(a) is Dim for a in args):
        return Dim(name, *args)
    return _FUNCTIONS[name](*args)


def formula(function: Callable[..., int]) -> Callable[..., Any]:
    """Lets a function of numbers that gives a whole one take unknown numbers, too."""
    name = f"{function.__module__}.{function.__qualname__}"
    _FUNCTIONS[name] = function
    return functools.wraps(function)(functools.partial(_call, name))


def _is_number(x: int | Dim) -> bool:
    return type(x) is Dim or (hasattr(x, "__index__") and not getattr(x, "shape", ()))


def larger(a: Any, b: int | Dim) -> Any:
    """The larger of two numbers, either of which may be unknown."""
    return _formula("max", a, b)


def smaller(a: int | Dim, b: int | Dim) -> Any:
    """The smaller of two numbers, either of which may be unknown."""
    return _formula("min", a, b)


def negative(d: int | Dim | None) -> bool:
    """Whether a number is known to be negative."""
    return type(d) is not Dim and d is not None and d < 0


def known_unequal(a: Any, b: int | tuple[int | Dim | None, ...] | Dim | None) -> bool:
    """Whether two numbers, or two tuples of them, are known to differ; `None` is unknown too."""
    if type(a) is tuple and type(b) is tuple:
        return a != b and (len(a) != len(b) or any(map(known_unequal, a, b)))
    return a != b and a is not None and b is not None and Dim not in (type(a), type(b))


def _broadcast(a: int, b: int) -> int:
    return b if a == 1 else a


_joint = formula(_broadcast)


def broadcast(name: str, *given: tuple[int | Dim, ...]) -> tuple[int | Dim, ...]:
    """The shape that shapes with unknown numbers broadcast to, for the operation `name`."""
    shape: Any = shapes.broadcast(name, *[opened(s) for s in given])
    rank = len(shape)
    full = [(1,) * (rank - len(s)) + s for s in given]
    return tuple(
        [
            functools.reduce(_joint, dict.fromkeys([s[i] for s in full if s[i] != 1]))
            if d is None
            else d
            for i, d in enumerate(shape)
        ]
    )


def is_open(attr: Any) -> bool:
    """Whether an attribute is or holds an unknown number."""
    if type(attr) is tuple:
        return any(map(is_open, attr))
    return type(attr) is Dim


def opened(attr: Any) -> Any:
    """An attribute as shape rules see it: `None` for each unknown number."""
    if type(attr) is tuple:
        return tuple(map(opened, attr))
    return None if type(attr) is Dim else attr


def moved(attr: Any, place: Callable[[Dim], Any]) -> Any:
    """An attribute with the leaves of its unknown numbers replaced."""
    if type(attr) is tuple:
        return tuple([moved(a, place) for a in attr])
    return attr.moved(place) if type(attr) is Dim else attr


def leaves(attr: Any) -> list[Dim]:
    """All leaves inside an attribute."""
    if type(attr) is tuple:
        return [leaf for a in attr for leaf in leaves(a)]
    return attr.leaves() if type(attr) is Dim else []
