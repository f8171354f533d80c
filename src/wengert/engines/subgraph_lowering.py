"""Graphs inside compiled code: what branches and bodies hand out besides their results.

Checks that may fail and wishes for room (see `xla.run`) must leave a branch or a loop as results.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import fail_if, gathering, ranging
from wengert.core.types import JaxArray
from wengert.engines.lower import lower_graph
from wengert.engines.rollback import anywhere, either
from wengert.graph.ir import Graph
from wengert.ops.rows import Blank

if TYPE_CHECKING:
    from wengert.engines.lower import Lowering


Found = tuple[list[Any], Any, list[Any]]


class Inside:
    """A branch or body to be lowered.

    `kept` are inputs, by place, that do not pass through JAX but are closed over: what is known
    while lowering stays known, and buffers that are still blank stay so.
    """

    def __init__(self, low: Lowering, graph: Graph, kept: dict[int, Any] | None = None) -> None:
        self.low = low
        self.graph = graph
        self.kept = kept or {}
        self.keys: list[tuple[int, int]] = []
        self.checks = False
        self.left: list[int] = []  # results that are still blank
        self.ranges: dict[int, tuple[int, int]] = {}  # of inputs that are counters, by place

    def run(self, *given: Any) -> Found:
        """Results, whether a check failed, and the rows that loops of unknown length request."""
        rest = iter(given)
        count = len(given) + len(self.kept)
        arrays = [self.kept[k] if k in self.kept else next(rest) for k in range(count)]
        outer, self.low.wanted = self.low.wanted, []
        try:
            with gathering() as checks, ExitStack() as known:
                for place, ends in self.ranges.items():
                    known.enter_context(ranging(arrays[place], *ends))
                results = lower_graph(self.graph, arrays, self.low)
            wanted = self.low.wanted
        finally:
            self.low.wanted = outer
        self.keys = [(key, room) for _, key, room in wanted]
        self.checks = bool(checks)
        self.left = [k for k, x in enumerate(results) if isinstance(x, Blank)]
        results = [lax.full((), 0, x.dtype) if isinstance(x, Blank) else x for x in results]
        bad = either([anywhere(c) for c in checks])
        return as_arrays(results), bad, [w for w, _, _ in wanted]

    def shapes(self, *given: Any) -> Found:
        """The shapes of all that `run` gives, for arrays or their shapes."""
        return jax.eval_shape(self.run, *given)


def as_arrays(results: list[JaxArray | np.ndarray]) -> list[JaxArray]:
    """JAX arrays for what is known while lowering."""
    return [jax.numpy.asarray(x) if isinstance(x, np.ndarray | np.generic) else x for x in results]


def report(low: Lowering, parts: list[Inside], bad: Any, wanted: Any) -> None:
    """Hands on what came out of branches or bodies to the code around them."""
    if any(p.checks for p in parts):
        fail_if(lambda: bad)
    keys = [k for p in parts for k in p.keys]
    low.wanted.extend((w, key, room) for w, (key, room) in zip(wanted, keys, strict=True))
