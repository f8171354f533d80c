"""Steps that choose and order elements without looking into them.

Where the input is rows of arrays, so is the output: take, skip, shard, repeat and shuffle then
work on row numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from wengert.core.errors import InvalidArgumentError, invalid, require
from wengert.data import keys
from wengert.data.array_rows import Chunk, Rows, cut
from wengert.data.dataset_options import UNSET, Options, merge
from wengert.data.iterators import pulling
from wengert.data.keys import Words
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run


class Reordering(Plan):
    """A step on rows of arrays that changes which rows come, and when."""

    def rows(self) -> Rows | None:
        rows = self.input.rows()
        return None if rows is None else replace(rows, order=lambda: self.reordered(rows))

    def reordered(self, rows: Rows) -> Iterator[Chunk]:
        """The row numbers of one iteration."""
        raise NotImplementedError


class Cut(Reordering):
    """The elements at positions start, start + step, … before stop: take, skip and shard."""

    def __init__(
        self, kind: str, source: Plan, start: int, stop: int | None, step: int = 1
    ) -> None:
        super().__init__(source)
        self.kind = kind
        self._start, self._stop, self._step = start, stop, step

    def reordered(self, rows: Rows) -> Iterator[Chunk]:
        return cut(rows.chunks(), self._start, self._stop, self._step)

    def elements(self, run: Run) -> Iterator[Any]:
        """`itertools.islice`, but an error of the source does not end it."""
        source, position, wanted = self.input.start(run), 0, self._start
        stop, step = self._stop, self._step

        def following() -> Any:
            nonlocal source, position, wanted
            if stop is not None and wanted >= stop:
                # Drops the source, which may hold threads and files, before the iterator goes.
                source = iter(())
                raise StopIteration
            while position < wanted:
                position += 1
                next(source)
            position += 1
            wanted += step
            return next(source)

        return pulling(following)

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


def nothing(source: Plan) -> Plan:
    """No element at all."""
    return Cut("_SkipDataset", source, 0, 0)


class Repeat(Reordering):
    """The elements again and again; `count` of -1 is without end."""

    kind = "_RepeatDataset"

    def __init__(self, source: Plan, count: int) -> None:
        super().__init__(source)
        self._count = max(-1, count)

    def _rounds(self) -> Iterator[Any]:
        return itertools.count() if self._count < 0 else iter(range(self._count))

    def reordered(self, rows: Rows) -> Iterator[Chunk]:
        for _ in self._rounds():
            empty = True
            for chunk in rows.chunks():
                empty = empty and not len(chunk)
                yield chunk
            if empty:
                return

    def elements(self, run: Run) -> Iterator[Any]:
        rounds, source, empty = self._rounds(), iter(()), False

        def following() -> Any:
            nonlocal source, empty
            while True:
                try:
                    element = next(source)
                except StopIteration:
                    if empty or next(rounds, None) is None:
                        raise
                    source, empty = self.input.start(run), True
                else:
                    empty = False
                    return element

        return pulling(following)

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if self._count == 0 or count == 0:
            return 0
        if self._count < 0:
            return INFINITE_CARDINALITY
        return count if count < 0 else count * self._count


class Shuffle(Reordering):
    """The elements in random order, as far as a buffer of `size` elements allows."""

    kind = "_ShuffleDataset"

    def __init__(self, source: Plan, size: int, seed: int | str | None, reshuffle: bool) -> None:
        super().__init__(source)
        require(
            size != UNKNOWN_CARDINALITY or source.cardinality() != INFINITE_CARDINALITY,
            "shuffle",
            "an endless dataset needs a `buffer_size`",
        )
        self._size = size
        self._key = keys.step_key("shuffle", seed)
        self._epochs = keys.Epochs(reshuffle)

    def _words(self) -> tuple[Words, Words]:
        """For the draws from the full buffer, and for emptying it at the end."""
        epoch = next(self._epochs)
        return Words(self._key, 2 * epoch), Words(self._key, 2 * epoch + 1)

    def reordered(self, rows: Rows) -> Iterator[Chunk]:
        return _shuffled(rows.chunks(), self._size, *self._words())

    def elements(self, run: Run) -> Iterator[Any]:
        """Fills the buffer, then swaps each new element for a random one of the buffer."""
        source, size = self.input.start(run), self._size
        words, rest = self._words()
        numbers, buffer, more = words.below(size) if size > 0 else iter(()), [], True

        def following() -> Any:
            nonlocal buffer, more
            while more:
                try:
                    element = next(source)
                except StopIteration:
                    more = False
                    order = rest.permutation(len(buffer)).tolist()
                    buffer = [buffer[i] for i in reversed(order)]
                    break
                if len(buffer) == size:
                    position = next(numbers)
                    chosen, buffer[position] = buffer[position], element
                    return chosen
                buffer.append(element)
            if not buffer:
                raise StopIteration
            return buffer.pop()

        return pulling(following)


def _shuffled(chunks: Iterator[Chunk], size: int, draws: Words, rest: Words) -> Iterator[Chunk]:
    """`Shuffle.elements` on row numbers, with the same answer."""
    buffer: list[int] = []
    numbers = draws.below(size) if size > 0 else iter(())
    for chunk in chunks:
        missing = len(chunk) if size < 0 else size - len(buffer)
        buffer.extend(np.asarray(chunk[:missing]).tolist())
        left = np.asarray(chunk[missing:]).tolist()
        if left:
            yield _swapped(buffer, left, keys.some(numbers, len(left)))
    yield np.array(buffer, np.int64)[rest.permutation(len(buffer))]


def _swapped(buffer: list[int], coming: list[int], slots: list[int]) -> np.ndarray:
    """Each new number replaces one in the buffer, which is emitted."""
    out = []
    for position, number in zip(slots, coming, strict=True):
        out.append(buffer[position])
        buffer[position] = number
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

    def elements(self, run: Run) -> Iterator[Any]:
        if self.kept is not None:
            return iter(self.kept)
        source, seen = self.input.start(run), []

        def following() -> Any:
            try:
                element = next(source)
            except StopIteration:
                if self.kept is None:
                    self.kept = seen
                raise
            seen.append(element)
            return element

        return pulling(following)


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
    require(num_shards > 0, "shard", "`num_shards` must be greater than zero", str(num_shards))
    if not 0 <= index < num_shards:
        raise invalid(
            "shard",
            f"`index` must be from 0 to {num_shards - 1}",
            str(index),
            kind=InvalidArgumentError,
        )
    return Cut("_ShardDataset", source, index, None, num_shards)
