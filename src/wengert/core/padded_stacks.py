"""Stacks in compiled code of which only some rows count.

XLA gives every array a fixed size. A loop whose number of turns is known only when it has run
writes its rows into a buffer with room for more, the capacity; `Padded` is that buffer together
with the number of rows that were written. The capacity must never show as a size: an operation
meets a `Padded` argument only if it says that it can deal with it (`Op.takes_padded`) or is
elementwise; any other makes the engine give the graph up (`rows_unknown`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, final

import numpy as np

from wengert.core.lazy_modules import lax
from wengert.core.lowering_checks import NotFixed

if TYPE_CHECKING:
    from wengert.core.types import JaxArray

# What a value of a graph is while it is lowered.
Lowered: TypeAlias = "JaxArray | np.ndarray | Padded"


@final
class Padded(NamedTuple):
    """An array whose first `counts[k]` entries along axis k count, and what the others hold is
    unknown.

    `counts[k]` is an int32 array over the axes before k: the rows of a stack may be stacks of their
    own lengths. `None` says that all entries count. A tree to JAX, as every `NamedTuple`.
    """

    array: JaxArray
    counts: tuple[JaxArray | None, ...]

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @property
    def length(self) -> JaxArray:
        """How many rows count, of a stack whose rows have one shape."""
        result = single(self).counts[0]
        if result is None:
            raise rows_unknown()
        return result

    def mapped(self, function: Callable[[Any], Any]) -> Padded:
        """What a function makes of the array; the same entries count."""
        return Padded(function(self.array), self.counts)

    def filled(self, value: complex | np.generic) -> JaxArray:
        """The array with a number in the entries that do not count."""
        array = self.array
        for axis, count in enumerate(self.counts):
            if count is not None:
                index = lax.broadcasted_iota(np.int32, array.shape, axis)
                counts = lax.lt(index, lax.broadcast_in_dim(count, array.shape, range(axis)))
                array = lax.select(counts, array, lax.full_like(array, value))
        return array


def single(x: Padded) -> Padded:
    """The same stack, if all of its rows have one shape; it is an operation's to refuse others."""
    if len(x.counts) > 1:
        raise rows_unknown()
    return x


def rows_unknown() -> NotFixed:
    """The error for code that needs the number of rows of a `Padded` as a size."""
    return NotFixed(
        "how many rows a loop writes is known only when it has run, and they make a size here"
    )


def over_rows(lower: Callable[..., Any], neutral: Callable[[np.dtype], Any]) -> Callable[..., Any]:
    """Lets the lowering of a reduction take stacks of which only some rows count.

    The others get the number that changes no result.
    """

    def reduce(x: JaxArray | Padded, axis: tuple[int, ...], **attrs: Any) -> JaxArray | Padded:
        if type(x) is not Padded:
            return lower(x, axis=axis, **attrs)
        if 0 in axis:
            return lower(x.filled(neutral(x.dtype)), axis=axis, **attrs)
        return single(x).mapped(lambda a: lower(a, axis=axis, **attrs))

    return reduce


def spread_rows(x: JaxArray | Padded, shape: tuple[Any, ...], expand: Callable[..., Any]) -> Padded:
    """An array broadcast by `expand` to a shape whose first size is a `RowCount`."""
    size, *rest = shape
    if type(size) is not RowCount or any(type(d) is RowCount for d in rest):
        raise rows_unknown()
    if type(x) is Padded:
        if not size.is_of(x) or len(x.array.shape) != len(shape):
            raise rows_unknown()
        x = x.array
    elif len(x.shape) == len(shape) and x.shape[0] != 1:
        raise rows_unknown()
    return Padded(expand(x, (size.room, *rest)), (size.count,))


@final
class RowCount:
    """The number of rows of a `Padded`, where an attribute asks for a size.

    Operations that take `Padded` know what to do with it; any arithmetic gives the graph up.
    """

    def __init__(self, stack: Padded) -> None:
        self.count = stack.length
        self.room: int = stack.array.shape[0]

    def value(self, dtype: np.dtype) -> JaxArray:
        """The number as an array of rank 0."""
        return lax.convert_element_type(self.count, dtype)

    def is_of(self, x: JaxArray | Padded) -> bool:
        """Whether a value is a stack of just this number of rows."""
        return type(x) is Padded and len(x.counts) == 1 and x.counts[0] is self.count

    def _refuse(self, *other: Any) -> NoReturn:
        raise rows_unknown()

    def __eq__(self, other: object) -> bool:
        self._refuse()

    __hash__ = object.__hash__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = _refuse
    __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
