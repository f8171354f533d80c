"""Keys of the random number generators of datasets, from the global seed or those of steps.

A step takes its key when it is made, in the program's own order, and never while a background
thread runs, so the same program shuffles the same way whatever the threads do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from wengert.core import random_replay
from wengert.data.plan import static_int
from wengert.ops import philox, seeds

_BLOCK = 1024


def step_key(name: str, seed: int | str | None) -> int:
    """The key of a random step: the same for the same seeds, else a new one each time."""
    if seed is not None:
        return seeds._streams._key(name, static_int(name, "seed", seed))
    low, number, key = (int(w) for w in random_replay.draw(lambda: seeds.draw(name, None)))
    return philox.mix(key, number, low)[0]


def seeded() -> bool:
    """Whether a global seed is set."""
    return seeds._streams.seed is not None


class Epochs:
    """Numbers for the iterations over a random step: 0, 1, 2, …, or always the same one."""

    __slots__ = ("_step", "number")

    def __init__(self, moving: bool = True) -> None:
        self.number = 0
        self._step = int(moving)

    def __next__(self) -> int:
        result = self.number
        self.number += self._step
        return result


class Draws:
    """States for the random operations in one call of a user's function, without end."""

    __slots__ = ("_key", "_number")

    def __init__(self, key: int, call: int) -> None:
        self._key = key
        self._number = call << 24

    def __iter__(self) -> Draws:
        return self

    def __next__(self) -> np.ndarray:
        self._number += 1
        return np.array([0, self._number, self._key], np.uint64)


class Words:
    """Random words under a key; the same whether asked for one by one or in bulk."""

    def __init__(self, key: int, number: int) -> None:
        self._state = np.array([0, number, key], np.uint64)

    def _take(self, count: int) -> np.ndarray:
        result = philox.words(self._state, count)
        self._state = philox.advance(self._state, (count + 3) // 4)
        return result

    def below(self, bound: int) -> Iterator[int]:
        """Numbers from 0 to `bound - 1`, without end."""
        while True:
            wide = self._take(_BLOCK).astype(np.uint64) * np.uint64(bound)
            yield from (wide >> np.uint64(32)).tolist()

    def fractions(self) -> Iterator[float]:
        """Numbers in [0, 1), without end."""
        while True:
            yield from (self._take(_BLOCK) / 2.0**32).tolist()

    def permutation(self, count: int) -> np.ndarray:
        """The numbers below `count` in random order."""
        return np.argsort(self._take(2 * count).view(np.uint64), kind="stable")


def some(numbers: Iterator[int], count: int) -> list[int]:
    """The next few of an endless iterator."""
    return list(islice(numbers, count))
