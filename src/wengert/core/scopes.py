"""What a `with` sets for the code inside it: for this context only, in whatever order blocks end.

Asynchronous tasks inherit it, new threads start without. This module does not know what the values
mean: the engine, the device, the prefix of names, the strategy, the graph being built.

The handler of a signal may raise where a Python function begins, so also where `__exit__` does. A
block of ours therefore stands in a function that is `restoring` the context, itself or further out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Generic, ParamSpec, TypeVar

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

_set, _get = ContextVar.set, ContextVar.get
_own: list[ContextVar[Any]] = []


def own_variable(name: str, default: T) -> ContextVar[T]:
    """A context variable that only blocks of our own set, and `restoring` restores."""
    variable = ContextVar(name, default=default)
    _own.append(variable)
    return variable


def restoring(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, which leaves our context variables as they were, however it ends."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        before = [*map(_get, _own)]
        try:
            return function(*args, **kwargs)
        finally:
            [*map(_set, _own, before)]

    return run


class Setting(Generic[T, R]):
    """A block in which a context variable has a value; `as` names another.

    No generator: one that was not ended would set the variable at some later time.
    """

    __slots__ = ("_before", "_named", "_value", "_variable")

    def __init__(self, variable: ContextVar[T], value: T, named: R = None) -> None:
        self._variable, self._value, self._named = variable, value, named
        self._before = variable.get()

    def __enter__(self) -> R:
        try:
            self._variable.set(self._value)
        except BaseException:
            self._variable.set(self._before)
            raise
        return self._named

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._variable.set(self._before)


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
        self._put((*self._blocks.get(), (owner, value)))

    def leave(self, owner: object) -> None:
        """Ends the last block that `owner` began in this context, if there is one."""
        blocks = self._blocks.get()
        for k in range(len(blocks) - 1, 0, -1):
            if blocks[k][0] is owner:
                self._put((*blocks[:k], *blocks[k + 1 :]))
                return

    def put(self, value: T) -> None:
        """Sets the value from here on, in a block until it ends."""
        *outer, (owner, _) = self._blocks.get()
        self._put((*outer, (owner, value)))

    def _put(self, blocks: tuple[tuple[object, T], ...]) -> None:
        """Sets both variables at once."""
        [*map(_set, (self._blocks, self._value), (blocks, blocks[-1][1]))]
