"""Steps that choose and order elements without looking into them.

Where the input is rows of arrays, so is the output: take, skip, shard, repeat and shuffle then
work on row numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import InvalidArgumentError, invalid
from wengert.data import keys
from wengert.data.array_rows import Chunk, RowIterator, Rows, cut
from wengert.data.dataset_options import UNSET, Options, merge
from wengert.data.keys import Words
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


class Cut(Plan):
    """The elements at places start, start + step, … before stop: take, skip and shard."""

    def __init__(
        self, kind: str, source: Plan, start: int, stop: int | None, step: int = 1
    ) -> None:
        super().__init__(source)
        self.kind = kind
        self._start, self._stop, self._step = start, stop, step

    def rows(self) -> Rows | None:
        rows = self.input.rows()
        if rows is None:
            return None
        return rows.reordered(lambda chunks: cut(chunks, self._start, self._stop, self._step))

    def start(self, run: Run) -> Iterator[Any]:
        rows = self.rows()
        if rows is not None:
            return RowIterator(rows)
        return _Places(self.input.start(run), self._start, self._stop, self._step)

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if self._stop is not None:
            known = count >= 0 or self._stop == 0
            if count == UNKNOWN_CARDINALITY and not known:
                return count
            return self._stop if count < 0 else min(count, self._stop)
        if count < 0:
            return count
        return len(range(self._start, count, self._step))


class _Places(Iterator[Any]):
    """`itertools.islice`, but an error of the source does not end it."""

    def __init__(self, source: Iterator[Any], start: int, stop: int | None, step: int) -> None:
        self._source, self._stop, self._step = source, stop, step
        self._place, self._next = 0, start

    def __next__(self) -> Any:
        if self._stop is not None and self._next >= self._stop:
            # What feeds this may go before the iterator does.
            self._source = iter(())
            raise StopIteration
        while True:
            place = self._place
            self._place += 1
            if place < self._next:
                next(self._source)
                continue
            self._next += self._step
            return next(self._source)


def nothing(source: Plan) -> Plan:
    """No element at all."""
    return Cut("_SkipDataset", source, 0, 0)


class Repeat(Plan):
    """The elements again and again; `count` of -1 is without end."""

    kind = "_RepeatDataset"

    def __init__(self, source: Plan, count: int) -> None:
        super().__init__(source)
        self._count = max(-1, count)

    def _rounds(self) -> Iterator[Any]:
        return itertools.count() if self._count < 0 else iter(range(self._count))

    def rows(self) -> Rows | None:
        rows = self.input.rows()
        if rows is None:
            return None

        def order() -> Iterator[Chunk]:
            for _ in self._rounds():
                empty = True
                for chunk in rows.chunks():
                    empty = empty and not len(chunk)
                    yield chunk
                if empty:
                    return

        return Rows(rows.columns, rows.pack, rows.length, rows.site, order)

    def start(self, run: Run) -> Iterator[Any]:
        rows = self.rows()
        if rows is not None:
            return RowIterator(rows)
        return _Repeated(self.input, run, self._rounds())

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if self._count == 0 or count == 0:
            return 0
        if self._count < 0:
            return INFINITE_CARDINALITY
        return count if count < 0 else count * self._count


class _Repeated(Iterator[Any]):
    def __init__(self, plan: Plan, run: Run, rounds: Iterator[Any]) -> None:
        self._plan, self._run, self._rounds = plan, run, rounds
        self._source: Iterator[Any] | None = None
        self._empty = False

    def __next__(self) -> Any:
        while True:
            if self._source is None:
                if self._empty or next(self._rounds, None) is None:
                    raise StopIteration
                self._source, self._empty = self._plan.start(self._run), True
            try:
                element = next(self._source)
            except StopIteration:
                self._source = None
            else:
                self._empty = False
                return element


class Shuffle(Plan):
    """The elements in random order, as far as a buffer of `size` elements allows."""

    kind = "_ShuffleDataset"

    def __init__(self, source: Plan, size: int, seed: int | str | None, reshuffle: bool) -> None:
        super().__init__(source)
        if size == UNKNOWN_CARDINALITY and source.cardinality() == INFINITE_CARDINALITY:
            raise invalid("shuffle", "an endless dataset needs a `buffer_size`")
        self._size = size
        self._key = keys.step_key("shuffle", seed)
        self._epochs = keys.Epochs(reshuffle)

    def _words(self) -> tuple[Words, Words]:
        """For the draws from the full buffer, and for emptying it at the end."""
        epoch = next(self._epochs)
        return Words(self._key, 2 * epoch), Words(self._key, 2 * epoch + 1)

    def rows(self) -> Rows | None:
        rows = self.input.rows()
        if rows is None:
            return None
        return rows.reordered(lambda chunks: _shuffled(chunks, self._size, *self._words()))

    def start(self, run: Run) -> Iterator[Any]:
        rows = self.rows()
        if rows is not None:
            return RowIterator(rows)
        return _Shuffling(self.input.start(run), self._size, *self._words())


class _Shuffling(Iterator[Any]):
    """Fills the buffer, then swaps each new element for a random one of the buffer."""

    def __init__(self, source: Iterator[Any], size: int, draws: Words, rest: Words) -> None:
        self._source: Iterator[Any] | None = source
        self._size, self._rest = size, rest
        self._draws = draws.below(size) if size > 0 else iter(())
        self._buffer: list[Any] = []

    def __next__(self) -> Tensor:
        while self._source is not None:
            try:
                element = next(self._source)
            except StopIteration:
                self._source = None
                order = self._rest.permutation(len(self._buffer)).tolist()
                self._buffer = [self._buffer[i] for i in reversed(order)]
                break
            if len(self._buffer) == self._size:
                place = next(self._draws)
                chosen, self._buffer[place] = self._buffer[place], element
                return chosen
            self._buffer.append(element)
        if not self._buffer:
            raise StopIteration
        return self._buffer.pop()


def _shuffled(chunks: Iterator[Chunk], size: int, draws: Words, rest: Words) -> Iterator[Chunk]:
    """`_Shuffling` on row numbers, with the same answer."""
    buffer: list[int] = []
    numbers = draws.below(size) if size > 0 else iter(())
    for chunk in chunks:
        missing = len(chunk) if size < 0 else size - len(buffer)
        buffer.extend(np.asarray(chunk[:missing]).tolist())
        left = np.asarray(chunk[missing:]).tolist()
        if left:
            yield _swapped(buffer, left, keys.some(numbers, len(left)))
    yield np.array(buffer, np.int64)[rest.permutation(len(buffer))]


def _swapped(buffer: list[int], coming: list[int], places: list[int]) -> np.ndarray:
    """Each number that comes takes the place of one in the buffer, which goes out."""
    out = []
    for place, number in zip(places, coming, strict=True):
        out.append(buffer[place])
        buffer[place] = number
    return np.array(out, np.int64)


class Cache(Plan):
    """Keeps the elements of the first complete iteration in memory."""

    kind = "CacheDataset"

    def __init__(self, source: Plan) -> None:
        super().__init__(source)
        self.kept: list[Any] | None = None

    def rows(self) -> Rows | None:
        rows = self.input.rows()
        return rows if rows is not None and rows.order is None else None

    def start(self, run: Run) -> Iterator[Any]:
        rows = self.rows()
        if rows is not None:
            return RowIterator(rows)
        return iter(self.kept) if self.kept is not None else _Keeping(self, self.input.start(run))


class _Keeping(Iterator[Any]):
    def __init__(self, cache: Cache, source: Iterator[Any]) -> None:
        self._cache, self._source = cache, source
        self._seen: list[Any] = []

    def __next__(self) -> Any:
        try:
            element = next(self._source)
        except StopIteration:
            if self._cache.kept is None:
                self._cache.kept = self._seen
            raise
        self._seen.append(element)
        return element


class WithOptions(Plan):
    """Settings for the whole dataset."""

    kind = "_OptionsDataset"

    def __init__(self, source: Plan, options: Options) -> None:
        super().__init__(source)
        self._given = merge([UNSET, options])  # a copy: the program may change its own

    def start(self, run: Run) -> Iterator[Any]:
        return self.input.start(run)

    def rows(self) -> Rows | None:
        return self.input.rows()

    def find_options(self) -> Options:
        return merge([self.input.options, self._given])


def shard(source: Plan, num_shards: int, index: int) -> Plan:
    """Every `num_shards`-th element from `index` on."""
    if num_shards <= 0:
        raise invalid("shard", "`num_shards` must be greater than zero", str(num_shards))
    if not 0 <= index < num_shards:
        raise invalid(
            "shard",
            f"`index` must be from 0 to {num_shards - 1}",
            str(index),
            kind=InvalidArgumentError,
        )
    return Cut("_ShardDataset", source, index, None, num_shards)
