"""What a `with` sets for the code inside it: for this context only, in whatever order blocks end.

Asynchronous tasks inherit it, new threads start without. This module does not know what the values
mean: the engine, the device, the prefix of names, the strategy.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")


class Scoped(Generic[T]):
    """A value with a default, which blocks set; `get` is one read of a `ContextVar`.

    A block is known by its owner, so one object may open blocks in many threads, and a generator
    that ends its block late takes away its own value and no other's.
    """

    __slots__ = ("_blocks", "_value", "get")

    def __init__(self, name: str, default: T) -> None:
        self._value: ContextVar[T] = ContextVar(name, default=default)
        self._blocks: ContextVar[tuple[tuple[object, T], ...]] = ContextVar(
            f"{name}_blocks", default=((None, default),)
        )
        self.get = self._value.get

    def enter(self, owner: object, value: T) -> None:
        """Begins a block of `owner`."""
        self._blocks.set((*self._blocks.get(), (owner, value)))
        self._value.set(value)

    def leave(self, owner: object) -> None:
        """Ends the last block that `owner` began in this context, if there is one."""
        blocks = self._blocks.get()
        for k in range(len(blocks) - 1, 0, -1):
            if blocks[k][0] is owner:
                blocks = (*blocks[:k], *blocks[k + 1 :])
                self._blocks.set(blocks)
                self._value.set(blocks[-1][1])
                return

    def put(self, value: T) -> None:
        """Sets the value from here on, in a block until it ends."""
        *outer, (owner, _) = self._blocks.get()
        self._blocks.set((*outer, (owner, value)))
        self._value.set(value)
