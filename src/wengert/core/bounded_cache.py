"""Caches of arrays, bounded by the number of entries and by the bytes that these hold.

Such a cache never grows with the size of what a program works on: values that are too large are not
kept, and the least recently used go first. What a key stands for it does not know.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from wengert.core.locks import new_lock

R = TypeVar("R")
# All caches of this kind, by name, so that a test can ask each for its size.
CACHES: dict[str, Bounded] = {}


class Bounded:
    """At most `most` values with at most `most_bytes` bytes of arrays.

    A value that alone takes more than a quarter of them is not kept; with `keeps_newest`, the
    newest is, whatever its size.
    """

    def __init__(
        self, name: str, most: int, most_bytes: int = 1 << 24, keeps_newest: bool = False
    ) -> None:
        assert name not in CACHES, f"there is a cache {name!r}"
        self.most, self.most_bytes = most, most_bytes
        self.bytes = 0
        self._keeps_newest = keeps_newest
        self._kept: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._lock = new_lock()
        CACHES[name] = self

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Any) -> Any:
        """The value of a key, or `None`; a cache that is half empty does not note who was read."""
        cached = self._kept.get(key)
        if cached is None:
            return None
        if 2 * len(self._kept) > self.most or 2 * self.bytes > self.most_bytes:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
        return cached[0]

    def put(self, key: Any, value: Any, size: int) -> None:
        """Keeps a value that holds `size` bytes, and drops the oldest that are too many."""
        with self._lock:
            old = self._kept.pop(key, None)
            self.bytes -= 0 if old is None else old[1]
            if size > self.most_bytes // 4 and not self._keeps_newest:
                return
            self._kept[key] = value, size
            self.bytes += size
            while len(self._kept) > 1 and self._is_over():
                self.bytes -= self._kept.popitem(last=False)[1][1]

    def _is_over(self) -> bool:
        return len(self._kept) > self.most or self.bytes > self.most_bytes

    def pop(self, key: Any) -> Any:
        """Takes a value out; `None` where it is not there."""
        with self._lock:
            result, size = self._kept.pop(key, (None, 0))
            self.bytes -= size
            return result

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._kept.clear()
            self.bytes = 0


def cached_arrays(
    most: int, most_bytes: int = 1 << 24
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Remembers what a function makes of hashable arguments: an array, or a tuple of arrays."""

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        cache = Bounded(f"{function.__module__}.{function.__qualname__}", most, most_bytes)

        @functools.wraps(function)
        def cached(*args: Any) -> Any:
            entry = cache.get(args)
            if entry is None:
                entry = function(*args)
                parts: Any = entry if isinstance(entry, tuple) else (entry,)
                cache.put(args, entry, sum(a.nbytes for a in parts))
            return entry

        return cached

    return decorate
