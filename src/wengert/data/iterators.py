"""Iterators that go on after an error of their source, which generators and `chain` do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat, starmap
from typing import Any


def pulling(pull: Callable[[], Any]) -> Iterator[Any]:
    """Asks a function for each element; it ends when the function raises `StopIteration`."""
    return starmap(pull, repeat(()))


def chained(sources: Iterator[Iterator[Any]]) -> Iterator[Any]:
    """The elements of one source after the other."""
    source: Iterator[Any] = iter(())

    def following() -> Any:
        nonlocal source
        while True:
            try:
                return next(source)
            except StopIteration:
                source = next(sources)

    return pulling(following)
