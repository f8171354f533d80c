"""Shapes with unknown dimensions.

Inside Wengert a shape is a tuple of sizes, where `None` is an unknown size, or `None` for an
unknown rank; the functions here compute with those. `TensorShape` is what users see.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from wengert.core.errors import (
    at_site,
    invalid,
    invalid_dtype,
    shown,
    unexpected,
)

if TYPE_CHECKING:
    from wengert.core.types import Dim, DType


Shape = tuple[int | None, ...] | None


class Dimension:
    """One size of a shape, as TensorFlow 1 knew it."""

    def __init__(self, value: Any) -> None:
        self.value = None if value is None else int(value)

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Dimension) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __index__(self) -> int:
        if self.value is None:
            text = "Dimension: an unknown size is not a number. Use tf.shape(x)."
            raise at_site(TypeError(text))
        return self.value

    __int__ = __index__

    def _with(self, other: Any, function: Callable[[int, int], Any]) -> Any:
        """What a function of two numbers gives; `None` where one is unknown."""
        value = other.value if isinstance(other, Dimension) else other
        return None if self.value is None or value is None else function(self.value, int(value))

    def __add__(self, other: Any) -> Dimension:
        return Dimension(self._with(other, operator.add))

    def __sub__(self, other: Any) -> Dimension:
        return Dimension(self._with(other, operator.sub))

    def __rsub__(self, other: Any) -> Dimension:
        return Dimension(self._with(other, lambda x, y: y - x))

    def __mul__(self, other: Any) -> Dimension:
        return Dimension(self._with(other, operator.mul))

    def __floordiv__(self, other: Any) -> Dimension:
        return Dimension(self._with(other, operator.floordiv))

    def __mod__(self, other: Any) -> Dimension:
        return Dimension(self._with(other, operator.mod))

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> bool | None:
        return self._with(other, operator.lt)

    def __le__(self, other: Any) -> bool | None:
        return self._with(other, operator.le)

    def __gt__(self, other: Any) -> bool | None:
        return self._with(other, operator.gt)

    def __ge__(self, other: Any) -> bool | None:
        return self._with(other, operator.ge)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)


def _size(value: Any) -> int | None:
    if value is None or type(value) is int:
        size = value
    elif isinstance(value, Dimension):
        size = value.value
    else:
        try:
            size = value.__index__()
        except (AttributeError, TypeError):
            text = f"TensorShape: a size must be a whole number or None; got {shown(value)}."
            raise at_site(TypeError(text)) from None
    if size is not None and size < 0:
        raise at_site(ValueError(f"TensorShape: a size must not be negative; got {size}."))
    return size


_MOST_AXES = 254  # of TensorFlow's tensors


def _rank(method: str, rank: Any) -> int:
    result = rank.__index__() if hasattr(type(rank), "__index__") else -1
    if not 0 <= result <= _MOST_AXES:
        raise unexpected(f"TensorShape.{method}", f"a rank from 0 to {_MOST_AXES}", rank)
    return result


def as_shape(value: Any) -> Shape:
    """The internal form of a TensorShape, list of sizes, single size or `None`."""
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value._dims
    if isinstance(value, str):
        raise _no_shape(value)
    if getattr(value, "rank", 0) is None:  # a shape of TensorFlow's, which is no list then
        return None
    if hasattr(value, "numpy"):
        value = value.numpy()
        if isinstance(value, bytes):  # whose letters would pass for sizes
            raise _no_shape(value)
    if isinstance(value, Iterable) and getattr(value, "ndim", 1):
        return tuple(_size(d) for d in value)
    return (_size(value),)


def _no_shape(value: Any) -> Exception:
    return at_site(TypeError(f"TensorShape: a shape is a list of sizes; got {value!r}."))


if TYPE_CHECKING:  # NumPy takes a shape for a sequence of sizes
    _Sizes = Sequence[Any]
else:
    _Sizes = object


class TensorShape(_Sizes):
    """The shape of a tensor: sizes, some or all of which may be unknown."""

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        self._dims: Shape = as_shape(dims)

    @property
    def rank(self) -> int | None:
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        return self.rank

    @property
    def dims(self) -> list[Dimension] | None:
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | None]:
        return list(self._known("as_list"))

    def _known(self, what: str) -> tuple[int | None, ...]:
        if self._dims is None:
            text = f"{what}: the rank of this shape is unknown. Use tf.shape(x)."
            raise at_site(ValueError(text))
        return self._dims

    def num_elements(self) -> int | None:
        if not self.is_fully_defined():
            return None
        total = 1
        for d in self._known("num_elements"):
            total *= d  # type: ignore[operator]  # fully defined: no None
        return total

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        return compatible(self._dims, as_shape(other))

    def is_subtype_of(self, other: tuple[int | None, ...] | TensorShape | None) -> bool:
        """Whether every shape that fits this one fits `other` too."""
        dims, general = self._dims, as_shape(other)
        if general is None:
            return True
        return (
            dims is not None
            and len(dims) == len(general)
            and all(g is None or d == g for d, g in zip(dims, general, strict=True))
        )

    def most_specific_compatible_shape(self, other: TensorShape | int | DType) -> TensorShape:
        """The narrowest shape that both fit."""
        return TensorShape(join(self._dims, as_shape(other)))

    def merge_with(self, other: Any) -> TensorShape:
        """What is known from either; an error where they contradict."""
        return TensorShape(merge(self._dims, as_shape(other)))

    def concatenate(self, other: TensorShape | Sequence[int | None] | int | None) -> TensorShape:
        other_dims = as_shape(other)
        if self._dims is None or other_dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other_dims)

    def with_rank(self, rank: int) -> TensorShape:
        if self._dims is not None and len(self._dims) != _rank("with_rank", rank):
            raise at_site(ValueError(f"TensorShape: {self} must have rank {rank}."))
        return self if self._dims is not None else TensorShape((None,) * _rank("with_rank", rank))

    def with_rank_at_least(self, rank: int) -> TensorShape:
        rank = _rank("with_rank_at_least", rank)
        if self._dims is not None and len(self._dims) < rank:
            raise at_site(ValueError(f"TensorShape: {self} must have rank at least {rank}."))
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        rank = _rank("with_rank_at_most", rank)
        if self._dims is not None and len(self._dims) > rank:
            raise at_site(ValueError(f"TensorShape: {self} must have rank at most {rank}."))
        return self

    def assert_has_rank(self, rank: int) -> None:
        if self.rank not in (None, rank):
            raise at_site(ValueError(f"TensorShape: {self} must have rank {rank}."))

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            text = f"TensorShape: {self} and {TensorShape(other)} are incompatible."
            raise at_site(ValueError(text))

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise at_site(ValueError(f"TensorShape: {self} is not fully defined."))

    def __len__(self) -> int:
        return len(self._known("len"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._known("iteration"))

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        result = self._dims[key]
        return TensorShape(result) if isinstance(key, slice) else result

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self._dims) if self._dims is not None else None})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        inner = ", ".join(str(d) for d in self._dims)
        return f"({inner},)" if len(self._dims) == 1 else f"({inner})"

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)


def compatible(a: Shape, b: Shape) -> bool:
    """Whether one closed shape could fit both."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )


def merge(a: Shape, b: Shape) -> Shape:
    """What is known from either shape."""
    if a is None or b is None:
        return b if a is None else a
    if not compatible(a, b):
        text = f"shapes: {TensorShape(a)} and {TensorShape(b)} are not compatible."
        raise at_site(ValueError(text))
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def join(a: Shape, b: Shape) -> Shape:
    """The narrowest shape that contains both."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def without_leading_ones(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A shape cut to `rank` sizes, if those in front are 1: what a slice of that rank takes."""
    extra = len(shape) - rank
    return shape[extra:] if extra > 0 and all(d == 1 for d in shape[:extra]) else shape


def broadcast(name: str, *shapes: Shape) -> Shape:
    """The shape that NumPy's broadcasting gives, with unknown sizes staying unknown."""
    if len(shapes) == 2:
        first, second = shapes
        if first is not None and second is not None and None not in first and None not in second:
            if first == second or not second:
                return first
            if not first:
                return second
    if any(s is None for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    rank = max((len(s) for s in known), default=0)
    out: list[int | None] = []
    for i in range(rank):
        sizes = [s[i - rank + len(s)] for s in known if i - rank + len(s) >= 0]
        fixed = {d for d in sizes if d is not None and d != 1}
        if len(fixed) > 1:
            raise invalid(
                name,
                f"shapes {' and '.join(map(brief, known))} do not broadcast: "
                f"sizes {' and '.join(str(d) for d in sorted(fixed))} meet in dimension {i}",
                help="Reshape one argument, or check which of them has the wrong shape.",
            )
        out.append(fixed.pop() if fixed else (None if None in sizes else 1))
    return tuple(out)


def brief(shape: Shape) -> str:
    """A shape as error messages show it: `[2,?]`."""
    if shape is None:
        return "[...]"
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def size(shape: Shape) -> int | None:
    """The number of elements, or `None` where a size is unknown."""
    if shape is None:
        return None
    total = 1
    for d in shape:
        if d is None:
            return None
        total *= d
    return total


def axes(name: str, axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Axes as non-negative numbers in the order given; all of them for `None`."""
    if axis is None:
        return tuple(range(rank))
    if not isinstance(axis, int | Iterable):
        raise _open_axis(name)
    wanted = (axis,) if isinstance(axis, int) else tuple(axis)
    return tuple(check_axis(name, a, rank) for a in wanted)


def _open_axis(name: str) -> Exception:
    return at_site(
        TypeError(
            f"{name}: `axis` must be known while tracing; it comes from a tensor whose value is "
            f"known only when the function runs. Give it as a Python number."
        )
    )


def _need_number(name: str, axis: Dim | int) -> None:
    if hasattr(axis, "leaves"):  # a number of the running function; see `dims`
        raise _open_axis(name)
    if axis is None or isinstance(axis, str | bytes | Iterable):
        raise invalid_dtype(name, f"`axis` must be one whole number or several; got {axis!r}")


def check_axis(name: str, axis: int, rank: int) -> int:
    """One axis as a non-negative number, or an error that gives the range."""
    if type(axis) is not int:
        _need_number(name, axis)
    if not -rank <= axis < rank:
        raise invalid(
            name,
            f"`axis` {axis} is out of range for a tensor of rank {rank}",
            help=f"Use a value from {-rank} to {rank - 1}." if rank else "A scalar has no axes.",
        )
    return axis % rank
