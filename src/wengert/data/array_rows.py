"""Elements that are rows of whole arrays: what makes slicing, shuffling and batching arrays fast.

A step that only chooses and orders elements works on row numbers, and a batch is then one slice
or one gather per array. Row numbers travel in chunks: a `range`, or an array of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.apply import wrap

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


Chunk = range | np.ndarray


@dataclass(frozen=True)
class Rows:
    """Arrays with one row per element (`None` for a missing leaf), and the order of an iteration.

    Without `order` the elements are all rows from first to last.
    """

    columns: tuple[np.ndarray | None, ...]
    pack: Callable[[list[Any]], Any]
    length: int
    site: Any
    order: Callable[[], Iterator[Chunk]] | None = None

    def chunks(self) -> Iterator[Chunk]:
        return iter([range(self.length)]) if self.order is None else self.order()

    def element(self, index: int) -> Any:
        """The element in one row."""
        site = self.site
        return self.pack([c if c is None else wrap(c[index, ...], site) for c in self.columns])

    def batch(self, chunk: Chunk) -> Tensor | tuple[Tensor, Tensor | dict[str, Tensor]]:
        """The elements of a chunk as one."""
        return self.pack(
            [c if c is None else wrap(_pick(c, chunk), self.site) for c in self.columns]
        )


def _pick(column: np.ndarray, chunk: Chunk) -> np.ndarray:
    if isinstance(chunk, range):
        return column[chunk.start : chunk.stop : chunk.step]
    return column.take(chunk, axis=0)


class RowIterator(Iterator[Any]):
    """The elements one by one."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._chunks = rows.chunks()
        self._indices: Iterator[int] = iter(())

    def __next__(self) -> Any:
        while True:
            index = next(self._indices, None)
            if index is not None:
                return self._rows.element(index)
            chunk = next(self._chunks)
            self._indices = iter(chunk if isinstance(chunk, range) else chunk.tolist())


class RowBatches(Iterator[Any]):
    """The elements in batches, each made in one go."""

    def __init__(self, rows: Rows, size: int, drop_remainder: bool) -> None:
        self._rows = rows
        self._size = size
        self._drop = drop_remainder
        self._chunks = rows.chunks()
        self._rest: Chunk = range(0)

    def __next__(self) -> Any:
        pieces, missing = [], self._size
        while missing:
            if not len(self._rest):
                following = next(self._chunks, None)
                if following is None:
                    break
                self._rest = following
            piece, self._rest = self._rest[:missing], self._rest[missing:]
            missing -= len(piece)
            pieces.append(piece)
        if missing == self._size or (missing and self._drop):
            raise StopIteration
        return self._rows.batch(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))


def cut(chunks: Iterator[Chunk], start: int, stop: int | None, step: int = 1) -> Iterator[Chunk]:
    """The row numbers at positions start, start + step, … before stop."""
    position = 0
    for chunk in chunks:
        first = start - position if position < start else (start - position) % step
        last = len(chunk) if stop is None else min(len(chunk), stop - position)
        if first < last:
            yield chunk[first:last:step]
        position += len(chunk)
        if stop is not None and position >= stop:
            return


def zipped(parts: list[Rows], pack: Callable[[list[Any]], Any], site: Any) -> Rows | None:
    """Several tables side by side; only where each is taken from first to last."""
    if any(p.order is not None for p in parts):
        return None
    length = min(p.length for p in parts)
    result = tuple(c if c is None else c[:length] for p in parts for c in p.columns)
    return Rows(result, pack, length, site)
