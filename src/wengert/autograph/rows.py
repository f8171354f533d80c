"""What a loop of the graph runs over: rows of a tensor, numbers of a range, and combinations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert.autograph.lists import TracedList
from wengert.core.context import get_state
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe
from wengert.core.symbolic import SymbolicTensor
from wengert.core.tensor import Tensor, Value


class Source:
    """Something with a number of items, each found by its place."""

    def count(self) -> Any:
        """The number of items: an int where it is known, else a tensor."""
        raise NotImplementedError

    def item(self, i: Any) -> Any:
        """The item at a place, which is an int or a tensor."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        count = self.count()
        if not isinstance(count, int):
            raise at_site(
                TypeError(
                    "iteration: how many items there are is known only when the function runs. "
                    "Use them directly in a `for` statement."
                )
            )
        return (self.item(i) for i in range(count))


class Rows(Source):
    """The rows of a tensor."""

    def __init__(self, tensor: Any) -> None:
        if tensor.shape.rank == 0:
            raise at_site(
                TypeError(f"iteration: a scalar tensor has no rows; got {describe(tensor)}.")
            )
        self.tensor = tensor

    def count(self) -> Any:
        shape = self.tensor.shape
        known = None if shape.rank is None else shape.as_list()[0]
        if known is not None:
            return known
        from wengert.ops.dims import shape as sizes

        return sizes(self.tensor)[0]

    def item(self, i: Any) -> Any:
        return self.tensor[i]


class Elements(Source):
    """The elements of a list that has grown."""

    def __init__(self, grown: TracedList) -> None:
        self.list = grown

    def count(self) -> Any:
        return self.list.length()

    def item(self, i: Any) -> Any:
        return self.list.read(i)


class Numbers(Source):
    """The numbers of a range."""

    def __init__(self, start: Any, limit: Any, step: Any, dtype: Any = None) -> None:
        tensors = [x for x in (start, limit, step) if isinstance(x, Value)]
        self.dtype = dtype or (tensors[0].dtype if tensors else None)
        self.start, self.limit, self.step = (_number(x) for x in (start, limit, step))

    def count(self) -> Any:
        span = self.start - self.limit
        from wengert.ops.select import maximum

        if isinstance(span, Value) or isinstance(self.step, Value):
            turns = -(span // self.step)
            if not turns.dtype.is_integer:
                from wengert.ops.cast import cast

                turns = cast(turns, "int32")
            return maximum(turns, 0)
        return max(int(-(span // self.step)), 0)

    def item(self, i: Any) -> Any:
        if isinstance(i, int):
            return operand(self.start + i * self.step, self.dtype)
        if self.dtype is not None and i.dtype is not self.dtype:
            from wengert.ops.cast import cast

            i = cast(i, self.dtype)
        steps = i if isinstance(self.step, int) and self.step == 1 else i * self.step
        return steps if isinstance(self.start, int) and self.start == 0 else self.start + steps


def _number(x: Any) -> Any:
    """A number, also where a tensor has a value by now."""
    if isinstance(x, Tensor) and not isinstance(x, SymbolicTensor):
        return x._array.item()
    return operand(x) if isinstance(x, Value) and not isinstance(x, Tensor) else x


class Numbered(Source):
    """Items with their numbers."""

    def __init__(self, inner: Source, start: Any) -> None:
        self.inner = inner
        self.start = start

    def count(self) -> Any:
        return self.inner.count()

    def item(self, i: Any) -> Any:
        plain = isinstance(self.start, int) and self.start == 0
        return (i if plain else i + self.start), self.inner.item(i)


class Side(Source):
    """Items of several sources side by side, as far as the shortest goes."""

    def __init__(self, sources: list[Source]) -> None:
        self.sources = sources

    def count(self) -> Any:
        from wengert.ops.select import minimum

        counts = [s.count() for s in self.sources]
        known = [c for c in counts if isinstance(c, int)]
        open_ = [c for c in counts if not isinstance(c, int)]
        if not open_:
            return min(known)
        least = open_[0]
        for c in open_[1:] + ([min(known)] if known else []):
            least = minimum(least, c)
        return least

    def item(self, i: Any) -> Any:
        return tuple([s.item(i) for s in self.sources])


class Backwards(Source):
    """Items from the last to the first."""

    def __init__(self, inner: Source) -> None:
        self.inner = inner

    def count(self) -> Any:
        return self.inner.count()

    def item(self, i: Any) -> Any:
        return self.inner.item(self.inner.count() - 1 - i)


def source(x: Any) -> Any:
    """What to loop over in the graph for a tensor or a list that grew; anything else as it is."""
    if isinstance(x, TracedList):
        return Elements(x)
    if isinstance(x, Value):
        state = get_state()
        if isinstance(x, SymbolicTensor) or (state is not None and state.graph is not None):
            return Rows(x)
    return x
