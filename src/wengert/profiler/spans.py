"""The records of a profile: spans of time, each in its thread, and samples of memory.

A span is also an annotation of JAX's profiler, so that it stands in JAX's own timeline beside the
events of XLA.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from threading import current_thread, get_native_id
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from wengert.core.types import JaxArray, Tensor
    from wengert.functions.trace import Trace


MOST = 1_000_000
# In JAX's timeline our spans are told from its own events by how their names begin.
PREFIX = "wengert/"


class Span(NamedTuple):
    """Something that took time, from `start` to `end` on the clock of `perf_counter_ns`."""

    kind: str
    name: str
    start: int
    end: int
    thread: int
    details: Any


class Sample(NamedTuple):
    """How many bytes were in use at a time, by what holds them."""

    time: int
    used: dict[str, int]


class Recorder:
    """Gathers spans and samples up to a bound."""

    def __init__(self, annotate: Callable[..., Any] | None) -> None:
        self.spans: list[Span] = []
        self.samples: list[Sample] = []
        self.threads: dict[int, str] = {}
        self.left_out = 0
        self.began = perf_counter_ns()
        self._annotate = annotate

    def timed(
        self, kind: str, name: str, run: Callable[[], Any], details: Any = None
    ) -> Tensor | tuple[Tensor | JaxArray, ...] | Trace | None:
        """Runs `run` as a span; `details` is a function of what it gives."""
        start = perf_counter_ns()
        result = None
        try:
            with self.annotation(f"{kind}/{name}"):
                result = run()
            return result
        finally:
            self.add(kind, name, start, details and details(result))

    def annotation(self, name: str, **details: Any) -> Any:
        """A context manager that names a block in JAX's timeline."""
        return nullcontext() if self._annotate is None else self._annotate(PREFIX + name, **details)

    def add(self, kind: str, name: str, start: int, details: Any = None) -> None:
        """Notes a span that ends now."""
        if len(self.spans) >= MOST:
            self.left_out += 1
            return
        end, thread = perf_counter_ns(), get_native_id()
        if thread not in self.threads:
            self.threads[thread] = current_thread().name
        self.spans.append(Span(kind, name, start, end, thread, details))
