"""The iterables of graph loops: rows of a tensor, numbers of a range, and combinations.

A source names the tensors whose rows the loop reads (`stacks`), and makes an item of the number
of the turn and those rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from wengert.autograph.lists import TracedList
from wengert.core import dtypes, nest
from wengert.core.context import executing_eagerly, get_state
from wengert.core.convert import operand, to_tensor
from wengert.core.errors import at_site, require
from wengert.core.types import DType, SymbolicTensor, Tensor, Value
from wengert.ops.cast import cast
from wengert.ops.dims import shape as sizes_of
from wengert.ops.reordering import reverse
from wengert.ops.select import maximum, minimum

if TYPE_CHECKING:
    from wengert.data.graph_iterators import TracedIterator


class Source:
    """Something with a number of items that a loop can take one after the other."""

    def count(self) -> Any:
        """The number of items: an int where it is known, else a tensor."""
        raise NotImplementedError

    def stacks(self) -> list[Any]:
        """The tensors of which each turn gets a row."""
        return []

    def item(self, i: Any, rows: list[Any]) -> Any:
        """The item of a turn, by its number (an int or a tensor) and its rows."""
        raise NotImplementedError

    def first(self) -> Tensor:
        """The first item, outside the loop."""
        return self.item(0, [x[0] for x in self.stacks()])

    def rest(self) -> Source:
        """All items but the first."""
        return _Rest(self)

    def __iter__(self) -> Iterator[Any]:
        count = self.count()
        require(
            isinstance(count, int),
            "iteration",
            "how many items there are is known only when the function runs",
            help="Use them directly in a `for` statement.",
            kind=TypeError,
        )
        stacks = self.stacks()
        return (self.item(i, [x[i] for x in stacks]) for i in range(count))


class _Around(Source):
    """Items of another source, changed."""

    def __init__(self, inner: Source) -> None:
        self.inner = inner

    def count(self) -> Any:
        return self.inner.count()

    def stacks(self) -> list[Any]:
        return self.inner.stacks()


class _Rest(_Around):
    def count(self) -> Any:
        return self.inner.count() - 1

    def stacks(self) -> list[SymbolicTensor]:
        return [x[1:] for x in self.inner.stacks()]

    def item(self, i: SymbolicTensor, rows: list[SymbolicTensor]) -> Tensor:
        return self.inner.item(i + 1, rows)


class Rows(Source):
    """The rows of a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        require(
            tensor.shape.rank != 0,
            "iteration",
            "a scalar tensor has no rows",
            tensor,
            kind=TypeError,
        )
        self.tensor = tensor

    def count(self) -> Any:
        return length(self.tensor)

    def stacks(self) -> list[Tensor]:
        return [self.tensor]

    def item(self, i: SymbolicTensor | int, rows: list[SymbolicTensor]) -> Tensor:
        return rows[0]


def length(x: Any) -> Any:
    """The number of rows of a tensor: an int where it is known, else a tensor."""
    known = None if x.shape.rank is None else x.shape.as_list()[0]
    return sizes_of(x)[0] if known is None else known


class Elements(Source):
    """The elements of a list that has grown."""

    def __init__(self, grown: TracedList) -> None:
        self.list = grown

    def count(self) -> Any:
        return self.list.length()

    def stacks(self) -> list[SymbolicTensor]:
        return nest.flatten(self.list.stack())

    def item(
        self, i: SymbolicTensor, rows: list[SymbolicTensor]
    ) -> tuple[SymbolicTensor, SymbolicTensor]:
        return nest.pack_sequence_as(self.list.element, rows)


class Numbers(Source):
    """The numbers of a range."""

    def __init__(self, start: Any, limit: Any, step: Any, dtype: DType | None = None) -> None:
        tensors = [x for x in (start, limit, step) if isinstance(x, Value)]
        self.dtype = dtype or (tensors[0].dtype if tensors else dtypes.int32)
        self.start, self.limit, self.step = (_number(x) for x in (start, limit, step))

    def count(self) -> Any:
        span = self.start - self.limit
        if not isinstance(span, Value) and not isinstance(self.step, Value):
            return max(int(-(span // self.step)), 0)
        turns = -(span // self.step)
        if turns.dtype is not dtypes.int32:
            turns = cast(turns, dtypes.int32)
        return maximum(turns, 0)

    def item(self, i: Any, rows: list[Any]) -> Any:
        if isinstance(i, int):
            return operand(self.start + i * self.step, None, self.dtype)
        i = i if i.dtype is self.dtype else cast(i, self.dtype)
        steps = i if type(self.step) is int and self.step == 1 else i * self.step
        return steps if type(self.start) is int and self.start == 0 else self.start + steps


def _number(x: Any) -> Any:
    """A number, also where a tensor has a value by now."""
    if isinstance(x, Tensor) and not isinstance(x, SymbolicTensor):
        return x._array.item()
    return to_tensor(x) if isinstance(x, Value) else x


class Numbered(_Around):
    """Items with their numbers."""

    def __init__(self, inner: Source, start: Any) -> None:
        super().__init__(inner)
        self.start = start

    def item(self, i: SymbolicTensor, rows: list[SymbolicTensor]) -> Any:
        plain = type(self.start) is int and self.start == 0
        return (i if plain else i + self.start), self.inner.item(i, rows)


class Side(Source):
    """Items of several sources side by side, as far as the shortest goes."""

    def __init__(self, sources: list[Source]) -> None:
        self.sources = sources
        self.counts = [s.count() for s in sources]

    def count(self) -> Any:
        known = [c for c in self.counts if isinstance(c, int)]
        open_ = [c for c in self.counts if not isinstance(c, int)]
        least = min(known) if known else open_.pop()
        for c in open_:
            least = minimum(c, least)
        return least

    def stacks(self) -> list[Tensor]:
        same = len({c if isinstance(c, int) else id(c) for c in self.counts}) == 1
        parts = [s.stacks() for s in self.sources]
        self.widths = list(map(len, parts))
        if same:
            return [x for part in parts for x in part]
        count = self.count()
        return [x[:count] for part in parts for x in part]

    def item(
        self, i: SymbolicTensor, rows: list[SymbolicTensor]
    ) -> tuple[SymbolicTensor, SymbolicTensor | tuple[SymbolicTensor, ...]]:
        left = iter(rows)
        pairs = zip(self.sources, self.widths, strict=True)
        return tuple([s.item(i, list(islice(left, width))) for s, width in pairs])


class Backwards(_Around):
    """Items from the last to the first."""

    def __init__(self, inner: Source) -> None:
        super().__init__(inner)
        self.last = inner.count() - 1

    def stacks(self) -> list[Tensor]:
        return [reverse(x, [0]) for x in self.inner.stacks()]

    def item(self, i: Tensor, rows: list[Tensor]) -> Tensor:
        return self.inner.item(self.last - i, rows)


class Steps(Source):
    """The elements of a dataset, one after the other until there are no more."""

    def __init__(self, steps: TracedIterator) -> None:
        self.steps = steps

    def count(self) -> Any:
        raise at_site(
            TypeError(
                "iteration: how many elements a dataset has is known only at its end. Loop over it "
                "alone, and combine datasets with enumerate() and zip() of their own."
            )
        )


def source(x: Any) -> Any:
    """The source of a graph loop over a tensor, a growing list or a dataset; else `x`."""
    if isinstance(x, TracedList):
        return Elements(x)
    if hasattr(x, "traced_steps") and not executing_eagerly():
        return Steps(x.traced_steps())
    if isinstance(x, Value):
        state = get_state()
        if isinstance(x, SymbolicTensor) or (state is not None and state.graph is not None):
            return Rows(to_tensor(x))
    return x
