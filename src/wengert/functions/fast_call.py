"""Fast calls of a trace, for when its engine is settled and nobody listens.

They do what `execute` does for a step, with every decision made beforehand. Where one of them no
longer holds, a fast call gives `None`, and the call goes the general way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wengert.core.failures import failures
from wengert.core.interrupts import uninterrupted
from wengert.core.process_settings import PROCESS
from wengert.core.types import JaxArray, Tensor
from wengert.engines import devices, engine_choice, host, xla
from wengert.engines.executables import EXECUTABLES
from wengert.engines.static_inputs import FIXED
from wengert.functions.execute import is_small
from wengert.functions.transaction import Transaction
from wengert.graph.ir import Draw, Graph

if TYPE_CHECKING:
    import numpy as np

    from wengert.engines.executables import Executable
    from wengert.functions.trace import Trace


def quick_call(trace: Trace) -> Any:
    """The fast call of a trace, once its engine is settled; it is used while nobody listens.

    It gives the arrays of the explicit outputs, or `None` where the full way is needed: another
    engine, an error to be explained. The result is `None` itself as long as nothing is settled.
    """
    graph: Graph = trace.graph
    if any(isinstance(s, Draw) for s in trace.sources) or engine_choice.effects(graph):
        return _never
    if graph.cache.get(FIXED):  # another program for other values
        return _never
    if devices.accelerators():
        return _settled_far(trace, graph)
    if not engine_choice.is_closed(graph):
        return by_shapes
    if not trace.jit and engine_choice.stays_on_host(graph):
        return _on_host(trace, graph)
    compiled = [e for e in graph.cache.get(EXECUTABLES, {}).values() if e.settled]
    if compiled:
        return _on_xla(trace, graph, compiled[-1])
    return None if trace.jit else _waiting(trace, graph)


def _waiting(trace: Trace, graph: Graph) -> Any:
    """The fast call on the host up to the call that is to be compiled."""
    choices = list(graph.cache.get(engine_choice.CHOICES, {}).values())
    if len(choices) != 1 or graph.cache.get(engine_choice.NOT_FIXED):
        return None
    (result,) = choices
    run, last = _on_host(trace, graph), result.due() - 1

    def step(leaves: list[Tensor]) -> list[np.ndarray] | None:
        if result.calls >= last:
            trace._quick = None
            return None
        result.calls += 1
        return run(leaves)

    return step if result.calls < last else None


def _settled_far(trace: Any, graph: Graph) -> Any:
    if not engine_choice.is_closed(graph) or (is_small(graph) and not trace.jit):
        return _never
    compiled = [e for e in graph.cache.get(EXECUTABLES, {}).values() if e.settled]
    return _on_xla(trace, graph, compiled[-1]) if compiled else None


def quick_open(trace: Trace, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """The same for one set of shapes of a trace whose sizes are open."""
    graph: Graph = trace.graph
    if graph.cache.get(FIXED) or any(v._open for v in trace.reads):  # not by these shapes alone
        return None
    for key, result in graph.cache.get(EXECUTABLES, {}).items():
        if result.settled and tuple([s for s, _ in key[0][: len(shapes)]]) == shapes:
            return _on_xla(trace, graph, result)
    return None


def _never(leaves: list[Tensor]) -> None:
    return None


def by_shapes(leaves: list[Any]) -> None:
    """Stands for fast calls that differ by the shapes of the arguments."""
    return


def _on_host(trace: Trace, graph: Graph) -> Any:
    run = host.prepared(graph).plain  # type: ignore[attr-defined]  # set beside it
    fixed = [s._array for s in trace.sources]
    held: Transaction = trace.transaction
    forced = engine_choice.forced

    def computed(leaves: list[Tensor], now: Sequence[np.ndarray] = ()) -> list[np.ndarray] | None:
        if forced() is not None:
            return None
        try:
            return run(*[x._array for x in leaves], *fixed, *now)
        except failures():
            return None

    def step(leaves: list[Tensor]) -> list[np.ndarray] | None:
        results = computed(leaves, held.arrays())
        return None if results is None else held.commit(results)

    return held.holding(step) if held.locks else computed


def _on_xla(trace: Trace, graph: Graph, compiled: Executable) -> Any:
    """On an accelerator everything must be there, and nobody else hold what is taken."""
    place, direct, flagged = compiled.place, compiled.direct(), compiled.flagged
    if trace.fixed is None or place is not None:  # one copy for all shapes
        trace.fixed = [devices.put(s._array, place) for s in trace.sources]
    fixed = trace.fixed
    held: Transaction = trace.transaction
    count = len(graph.outputs)
    forced, far = engine_choice.forced, place is not None

    def simple(leaves: list[Tensor]) -> tuple[JaxArray, ...] | None:
        if forced() == "host" or PROCESS.lost_xla:
            return None
        try:
            results = direct(*[x._array for x in leaves], *fixed)
        except RuntimeError as error:
            compiled.explain(error)
            raise
        if flagged and xla.truth(results[-1]):
            return None
        return results if len(results) == count else results[:count]

    def step(leaves: list[Tensor]) -> Sequence[JaxArray] | None:
        if forced() == "host" or PROCESS.lost_xla or (far and devices.target() is not place):
            return None
        if far:
            given = devices.ready(held.reads, held.changes, place)
            if given is None:
                return None
            arrays = devices.moved([devices.given(x) for x in leaves], place)
        else:
            given, arrays = held.nearest(), [x._array for x in leaves]
        try:
            results, olds = held.launch(direct, *arrays, *fixed, *given)
        except RuntimeError as error:
            compiled.explain(error)
            raise
        if far and flagged:
            _fetch(results, count)
        if flagged and xla.truth(results[-1]):
            held.rollback(olds)
            return None
        return results[:count]

    return uninterrupted(held.holding(step)) if held.locks or far else simple


# Results up to this size are fetched along with the flag of the step.
_FETCHED = 1 << 12


def _fetch(results: list[Any], count: int) -> None:
    """Lets small results come along with the flag."""
    for x in (results[-1], *results[:count]):
        if x.nbytes <= _FETCHED:
            x.copy_to_host_async()
