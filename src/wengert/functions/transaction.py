"""The transaction of a call over its variables: locked, read, given to a program, put back.

All ways of a call go through it. Code on the host computes new arrays beside the old ones, which
`commit` puts in their place. Compiled code works in the memory of the variables: `launch` takes
them, and puts its results in their place before anyone has read whether a check failed, since then
it has given back what it read; `rollback` sees to the rest. Between the two a caller may do other
things, as one who does not wait for a device. Where a value is, in NumPy's memory, on a device or
on many, matters to nobody here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import repeat
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from wengert.core.locks import ALONE, ALONGSIDE, in_step, while_holding
from wengert.core.tensor import DeviceTensor
from wengert.core.types import Tensor, Variable
from wengert.core.variable import TAKEN, put_values
from wengert.engines import devices
from wengert.graph.ir import Graph, cached_on_graph

R = TypeVar("R")
T = TypeVar("T")
_NOWHERE = repeat(None)


def locks_of(variables: Iterable[Variable]) -> list[RLock]:
    """The locks of variables, lowest id first, so that two calls never wait for each other."""
    return [v._lock for _, v in sorted({v._id: v for v in variables}.items())]


class Transaction:
    """The variables that a graph reads and writes, and what is known of them beforehand."""

    def __init__(self, graph: Graph) -> None:
        reads, writes = graph.read_variables(), graph.written()
        self.reads = [h.variable for h in reads]
        self.writes = [h.variable for h in writes]
        self.locks = locks_of([*self.reads, *self.writes])
        changed = {v._id for v in self.writes}
        self.changes = [v._id in changed for v in self.reads]
        # What a graph writes without reading it, compiled code cannot give back.
        self._blind = [h.initial is None for h in writes]
        self._forgets = any(self._blind)
        self._outputs = len(graph.outputs)
        self._ends = self._outputs + len(writes)

    def holding(self, step: Callable[[T], R]) -> Callable[[T], R]:
        """A step with the locks taken; one that only reads goes alongside Python of another."""
        return partial(while_holding, self.locks, ALONE if self.writes else ALONGSIDE, step)

    def hold_calling(self, step: Callable[..., R], *given: object) -> R:
        """The same for a step that may call Python."""
        return in_step(self.locks, step, *given)

    # Where the values are.

    def arrays(self) -> list[np.ndarray]:
        """What the graph reads, in NumPy's memory."""
        return [v._host if v._host is not None else v._array for v in self.reads]

    def nearest(self) -> list[Any]:
        """What the graph reads, where it is."""
        return [v._host if v._device is None else v._device for v in self.reads]

    def there(self) -> list[Any]:
        """What the graph reads, where functions run, and what it changes in memory of its own."""
        if not devices.far():
            return self.nearest()
        return [devices.home(v, c) for v, c in zip(self.reads, self.changes, strict=True)]

    def donated(self, start: int) -> tuple[int, ...]:
        """Which inputs compiled code may overwrite, the variables beginning at `start`.

        What grows or shrinks cannot be put where it was.
        """
        pairs = zip(self.reads, self.changes, strict=True)
        return tuple([start + k for k, (v, changes) in enumerate(pairs) if changes and not v._open])

    # New values.

    def commit(self, results: list[Any]) -> list[Any]:
        """Puts arrays of the host in place; those of the outputs."""
        put_values(self.writes, results[self._outputs :], _NOWHERE)
        return results[: self._outputs]

    def commit_tensors(self, results: list[Tensor]) -> list[Tensor]:
        """Puts tensors in place, where they are; those of the outputs."""
        news = results[self._outputs :]
        far = [type(x) is DeviceTensor for x in news]
        hosts = [None if there else x._array for x, there in zip(news, far, strict=True)]
        there = [x._device if type(x) is DeviceTensor else None for x in news]
        put_values(self.writes, hosts, there)
        return results[: self._outputs]

    def launch(self, program: Callable[..., Sequence[Any]], *given: Any) -> tuple[Any, list[Any]]:
        """Runs a program that works in the memory of the variables; its results, for `rollback`."""
        olds = [v._host if v._device is None else v._device for v in self.writes]
        results: Sequence[Any] | None = None
        try:
            for v in self.writes:
                v._host, v._device = None, TAKEN  # a view would keep the buffer from being used
            results = program(*given)
            for v, new in zip(self.writes, results[self._outputs : self._ends], strict=True):
                v._device = new
        except BaseException:
            if results is None:
                self._put(olds)
            else:  # of another signal, when the memory is used already
                put_values(self.writes, _NOWHERE, results[self._outputs : self._ends])
            raise
        return results, olds

    def rollback(self, olds: list[Any]) -> None:
        """Undoes what was put in place of values that compiled code did not read."""
        if self._forgets:
            pairs = zip(self.writes, olds, self._blind, strict=True)
            self._put([old if blind else v._device for v, old, blind in pairs])

    def _put(self, values: list[Any]) -> None:
        near = [type(x) is np.ndarray for x in values]
        hosts = [x if here else None for x, here in zip(values, near, strict=True)]
        there = [None if here else x for x, here in zip(values, near, strict=True)]
        put_values(self.writes, hosts, there)


@cached_on_graph("the transaction over its variables")
def transaction(graph: Graph) -> Transaction:
    """The transaction of a finished graph."""
    return Transaction(graph)
