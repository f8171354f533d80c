"""The lean ways to run a trace again and again, once its engine is settled and nobody listens.

They do what `execute` does for a step, with everything found out beforehand: a small step has no
time to look twice. Where something is out of the ordinary they give `None`, and the full way runs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.handlers import failures
from wengert.core.interrupts import uninterrupted
from wengert.core.locks import while_holding
from wengert.core.process import PROCESS
from wengert.core.variable import TAKEN, put_values
from wengert.engines import choice, devices, host, xla
from wengert.engines.executables import EXECUTABLES
from wengert.engines.fixing import FIXED
from wengert.functions.execute import NOWHERE, is_small
from wengert.graph.ir import Graph
from wengert.graph.records import Draw

if TYPE_CHECKING:
    from wengert.core.types import JaxArray, Tensor, TensorSpec
    from wengert.engines.executables import Executable
    from wengert.functions.trace import Trace


def quick_call(trace: Trace) -> Any:
    """A lean way to run a trace again and again when nobody listens, once its engine is settled.

    It gives the arrays of the explicit outputs, or `None` where the full way is needed: another
    engine, an error to be explained. The result is `None` itself as long as nothing is settled.
    """
    graph: Graph = trace.graph
    if any(isinstance(s, Draw) for s in trace.sources) or choice.effects(graph):
        return _never
    if graph.cache.get(FIXED):  # another program for other values
        return _never
    if devices.accelerators():
        return _settled_far(trace, graph)
    if not choice.is_closed(graph):
        return by_shapes
    if not trace.jit and choice.stays_on_host(graph):
        return _on_host(trace, graph)
    compiled = [e for e in graph.cache.get(EXECUTABLES, {}).values() if e.settled]
    if compiled:
        return _on_xla(trace, graph, compiled[-1])
    return None if trace.jit else _waiting(trace, graph)


def _waiting(trace: Trace, graph: Graph) -> Any:
    """The lean way on the host up to the call that is to be compiled."""
    choices = list(graph.cache.get(choice.CHOICES, {}).values())
    if len(choices) != 1 or graph.cache.get(choice.NOT_FIXED):
        return None
    (found,) = choices
    run, last = _on_host(trace, graph), found.due() - 1

    def step(leaves: list[Tensor]) -> list[np.ndarray] | None:
        if found.calls >= last:
            trace._quick = None
            return None
        found.calls += 1
        return run(leaves)

    return step if found.calls < last else None


def _settled_far(trace: Any, graph: Graph) -> Any:
    if not choice.is_closed(graph) or (is_small(graph) and not trace.jit):
        return _never
    compiled = [e for e in graph.cache.get(EXECUTABLES, {}).values() if e.settled]
    return _on_far(trace, graph, compiled[-1]) if compiled else None


def quick_open(trace: Trace, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """The same for one set of shapes of a trace whose sizes are open."""
    graph: Graph = trace.graph
    if graph.cache.get(FIXED) or any(v._open for v in trace.reads):  # not by these shapes alone
        return None
    for key, found in graph.cache.get(EXECUTABLES, {}).items():
        if found.settled and tuple([s for s, _ in key[0][: len(shapes)]]) == shapes:
            return _on_xla(trace, graph, found)
    return None


def _never(leaves: list[Tensor]) -> None:
    return None


def by_shapes(leaves: list[Any]) -> None:
    """Stands for a lean way that is another for each set of shapes."""
    return


def _holding(trace: Any, step: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """A step that runs with the locks of its variables taken."""
    locks, reads = trace.locks, not trace.writes
    return lambda leaves: while_holding(locks, step, leaves, alongside=reads)


def _on_host(trace: Trace, graph: Graph) -> Any:
    run = host.prepared(graph).plain  # type: ignore[attr-defined]  # set beside it
    fixed = [s._array for s in trace.sources]
    reads, writes = trace.reads, trace.writes
    count = len(graph.outputs)
    forced = choice.forced

    def simple(leaves: list[Tensor | TensorSpec]) -> list[np.ndarray] | None:
        if forced() is not None:
            return None
        try:
            return run(*[x._array for x in leaves], *fixed)
        except failures():
            return None

    def step(leaves: list[Tensor]) -> list[np.ndarray] | None:
        if forced() is not None:
            return None
        try:
            now = [v._host if v._host is not None else v._array for v in reads]
            results = run(*[x._array for x in leaves], *fixed, *now)
        except failures():
            return None
        put_values(writes, results[count:], NOWHERE)
        return results[:count]

    return _holding(trace, step) if reads or writes else simple


def _on_xla(trace: Trace, graph: Graph, compiled: Executable) -> Any:
    if trace.fixed is None:  # one copy for all shapes
        trace.fixed = [devices.put(s._array, None) for s in trace.sources]
    fixed = trace.fixed
    reads, writes = trace.reads, trace.writes
    count, flagged = len(graph.outputs), compiled.flagged
    ends = count + len(writes)
    forced = choice.forced
    direct = compiled.direct()
    # A variable that is written without being read is not given back by a step that fails.
    kept = [h.initial is not None for h in graph.written()]
    places = {v._id: k for k, v in enumerate(reads)}
    blind = [v for v in writes if v._id not in places]

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

    def give_back(given: list[Any], before: list[Any]) -> None:
        """Gives back what was taken for a step that did not run."""
        for v, found in zip(blind, before, strict=True):
            v._host, v._device = found
        for v in writes:
            if v._id in places:
                found = given[places[v._id]]
                near = type(found) is np.ndarray
                v._host, v._device = (found, None) if near else (None, found)

    def step(leaves: list[Tensor]) -> tuple[JaxArray, ...] | None:
        if forced() == "host" or PROCESS.lost_xla:
            return None
        given = [v._host if v._device is None else v._device for v in reads]
        before = [(v._host, v._device) for v in blind] if blind else blind
        arrays = [x._array for x in leaves] if leaves else leaves
        results = None
        try:
            put_values(writes, NOWHERE, repeat(TAKEN))
            results = direct(*arrays, *fixed, *given)
            failed = flagged and xla.truth(results[-1])
        except BaseException as error:
            give_back(given, before)
            if results is not None:  # a second interrupt, when the memory is used already
                put_values(writes, NOWHERE, results[count:ends])
            compiled.explain(error)
            raise
        news = results[count:ends]
        if failed:
            give_back(given, before)
            for v, new, restored in zip(writes, news, kept, strict=True):
                if restored:
                    v._host, v._device = None, new
            return None
        put_values(writes, NOWHERE, news)
        return results[:count]

    return uninterrupted(_holding(trace, step)) if reads or writes else simple


# Results up to this size are fetched along with the flag of the step.
_FETCHED = 1 << 12


def _on_far(trace: Any, graph: Graph, compiled: Any) -> Any:
    """The lean way on an accelerator: everything is there, and nobody else holds what is taken."""
    place, direct = compiled.place, compiled.direct()
    reads, writes = trace.reads, trace.writes
    count = len(graph.outputs)
    forced = choice.forced
    changed = {v._id for v in writes}
    taken = [v._id in changed for v in reads]
    kept = [h.initial is not None for h in graph.written()]
    fixed = [devices.put(s._array, place) for s in trace.sources]

    def step(leaves: list[Any]) -> Any:
        if forced() == "host" or PROCESS.lost_xla or devices.target() is not place:
            return None
        before = None
        try:
            given = devices.ready(reads, taken, place)
            if given is None:
                return None
            before = [(v, v._host, v._device) for v in writes]
            for v in writes:
                v._host, v._device = None, TAKEN
            here = devices.moved([devices.given(x) for x in leaves], place)
            try:
                results = direct(*here, *fixed, *given)
            except RuntimeError as error:
                compiled.explain(error)
                raise
            failed = compiled.flagged and _fetch(results, count)
            for (v, old, old_device), new, restored in zip(
                before, results[count : count + len(writes)], kept, strict=True
            ):
                if failed and not restored:
                    v._host, v._device = old, old_device
                else:
                    v._device = new
            before = None
            return None if failed else results[:count]
        finally:
            for v, old, old_device in before or ():
                v._host, v._device = old, old_device

    return uninterrupted(_holding(trace, step))


def _fetch(results: list[Any], count: int) -> bool:
    """Whether a check failed; small results come along."""
    for x in (results[-1], *results[:count]):
        if x.nbytes <= _FETCHED:
            x.copy_to_host_async()
    return xla.truth(results[-1])
