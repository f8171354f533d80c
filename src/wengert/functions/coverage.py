"""What runs where, and why: `f.coverage()`.

For each trace it says which engine runs it and for what reason, which nodes keep it on the host,
and whether Python control flow was converted.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import describe
from wengert.core.sites import Site, locate
from wengert.engines import engine_choice, xla
from wengert.engines.compiled_parts import needs_host
from wengert.engines.executables import EXECUTABLES, executable
from wengert.functions import tracing_state
from wengert.graph.ir import Graph
from wengert.graph.passes import optimised

if TYPE_CHECKING:
    from wengert.functions.concrete import ConcreteFunction
    from wengert.functions.function import Function
    from wengert.functions.trace import Trace


@dataclass(frozen=True)
class TraceCoverage:
    """One trace: its engine, the reason, what it holds, and what ties it to the host."""

    signature: str
    engine: str
    reason: str
    operations: dict[str, int]
    executables: int
    host_only: list[tuple[str, Site | None]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.signature}: {self.engine}, because {self.reason}"]
        lines += [
            f"    on the host: {name}" + (f" at {s}" if s else "") for name, s in self.host_only
        ]
        return "\n".join(lines)


class Coverage:
    """All traces of a function, and whether its control flow was converted."""

    def __init__(self, function: Function) -> None:
        self.name: str = function.name
        self.conversion: str = _conversion(function)
        self.traces = [_covered(self.name, trace) for trace in function._store.traces.values()]

    def __str__(self) -> str:
        head = f"{self.name}: {len(self.traces)} traces; control flow {self.conversion}"
        return "\n".join([head, *[f"  {t}" for t in self.traces]])

    __repr__ = __str__


def _conversion(function: Function) -> str:
    if not function._options.autograph:
        return "not converted (autograph=False)"
    reason = tracing_state.why_not_converted(function.python_function)
    return "converted" if reason is None else f"not converted ({reason})"


def _covered(name: str, trace: Trace) -> TraceCoverage:
    graph: Graph = trace.graph
    given = ", ".join(describe(graph.specs[v]) for v in graph.inputs)
    engine, reason = _engine(trace, graph)
    nodes = list(optimised(graph).walk())
    held = [(n.op.name, locate(n.site)) for n in nodes if needs_host(n)]
    counts = dict(Counter(n.op.name for n in nodes).most_common())
    return TraceCoverage(
        f"{name}({given})", engine, reason, counts, len(graph.cache.get(EXECUTABLES, {})), held
    )


def _engine(trace: Trace, graph: Graph) -> tuple[str, str]:
    if trace.jit:
        return "xla", "jit_compile=True demands it"
    wish = engine_choice.forced()
    if wish is not None:
        return wish, f"wengert.engine({wish!r}) is in force"
    node = engine_choice.runs_only_on_host(graph)
    if node is not None:
        return "host", f"{node.op.name} has no form in XLA, or calls Python"
    why = graph.cache.get(engine_choice.NOT_FIXED)
    if why:
        return "host", why
    known = [w for _, w in graph.cache.get(engine_choice.WORKS, [])]
    if graph.cache.get(EXECUTABLES):
        return "xla", f"its work (about {_micros(known)} on the host) is worth a compilation"
    if not known:
        if not engine_choice.is_closed(graph):
            return "undecided", "it has not been called"
        known = [engine_choice.work(graph, _shaped(graph))]
    words = f"its work (about {_micros(known)})"
    due = min(
        (c.due() for c in graph.cache.get(engine_choice.CHOICES, {}).values()), default=math.inf
    )
    if due == math.inf:
        return "host", f"{words} is too small, or it has not been called"
    return "host", f"{words} is worth a compilation from call {due:.0f} with the same shapes on"


def _micros(known: list[float]) -> str:
    """The estimates for the least and the most data."""
    if not known:
        return "an unknown time"
    ends = dict.fromkeys(f"{w:.0f}" for w in (known[0], known[-1]))
    return f"{' to '.join(ends)} µs"


def _shaped(graph: Graph) -> list[np.ndarray]:
    shapes: list[Any] = [graph.specs[v].shape for v in graph.all_inputs()]
    return [np.broadcast_to(np.zeros((), bool), s) for s in shapes]


def compiler_text(concrete: ConcreteFunction, stage: str) -> str:
    """The compiler's view of a concrete function: "stablehlo", "hlo" or "optimized_hlo"."""
    graph: Graph = concrete.graph
    xla.check_lowers(graph)
    arrays = [_zeros(graph, v) for v in graph.all_inputs()]
    result = executable(graph, arrays, ())
    if stage in ("hlo", "stablehlo", "hlo_serialized"):
        return result.lowered_text()
    return result.run.as_text()


def _zeros(graph: Graph, value: int) -> np.ndarray:
    spec = graph.specs[value]
    shape = tuple(1 if d is None else d for d in spec.shape or ())
    return np.broadcast_to(np.zeros((), spec.dtype.np), shape)
