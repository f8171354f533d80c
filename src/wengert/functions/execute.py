"""Runs finished graphs on an engine, with the variables as a transaction.

The variables of a call are locked in the order of their ids, taken, and get their new values when
all has gone well; a failed call leaves every one as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.core.compiler import FORKED
from wengert.core.interrupts import uninterrupted
from wengert.core.tensor import DeviceTensor
from wengert.core.variable import TAKEN, Variable
from wengert.engines import callbacks, choice, control, devices, host, undo, xla
from wengert.graph.ir import Graph
from wengert.graph.records import Draw

assert callbacks, "the engines know calls of Python from there"
assert control, "… and calls of functions, branches and loops"


def use_xla(graph: Graph, arrays: list[Any], jit: bool | None) -> bool:
    """Whether XLA runs this call."""
    if jit:
        xla.check_lowers(graph)
        return True
    wish = choice.forced()
    if wish is not None:
        return wish == "xla" and choice.runs_only_on_host(graph) is None
    return not graph.cache.get("not_fixed") and choice.chooses_xla(graph, arrays)


def execute(graph: Graph, arrays: list[Any], jit: bool | None) -> list[Any]:
    """The arrays of all outputs of a graph that changes no variables."""
    if use_xla(graph, arrays, jit):
        try:
            results, failed = xla.run(graph, arrays, (), jit)
        except xla.NotFixed as error:
            _not_fixed(graph, error, jit)
        else:
            return _failed(graph, arrays, failed) if failed else results
    with undo.logging():
        return host.run(graph, _near(arrays))


def _near(arrays: list[Any]) -> list[Any]:
    """Arrays that NumPy can compute with."""
    return [np.asarray(a) for a in arrays] if devices.far() else arrays


def _not_fixed(graph: Graph, error: xla.NotFixed, jit: bool | None) -> None:
    if jit:
        raise xla.cannot_fix(graph, error) from None
    graph.cache["not_fixed"] = True


def _failed(graph: Graph, arrays: list[Any], why: BaseException | bool) -> list[Any]:
    """Lets the host engine say what went wrong in compiled code.

    Where rounding decides (a matrix that is all but singular), the host may find nothing wrong;
    then its results are the answer. What Python called from the step has raised is raised as it is.
    """
    if isinstance(why, BaseException):
        raise why
    return host.run(graph, [np.asarray(a) for a in arrays])


def arrays_of(inputs: list[Any]) -> list[Any]:
    """The arrays of tensors, where they are."""
    return [devices.given(x) for x in inputs] if devices.far() else [x._array for x in inputs]


def tensors(arrays: list[Any], site: Any) -> list[Any]:
    """Tensors of an engine's results."""
    return [devices.tensor(a, site) for a in arrays]


def snapshots(trace: Any) -> list[Any]:
    """The present values of the variables that a trace reads, where its work will be done."""
    if devices.far() and (trace.jit or not _is_small(trace.graph)):
        for v in trace.reads:
            devices.home(v, False)
    return [v._snapshot() for v in trace.reads]


def _is_small(graph: Graph) -> bool:
    found = graph.cache.get("small")
    if found is None:
        found = choice.is_closed(graph) and choice.stays_on_host(graph)
        graph.cache["small"] = found
    return found


def give(variable: Variable, new: Any) -> None:
    """Makes a tensor the value of a variable, where it is."""
    if type(new) is DeviceTensor:
        variable._place(new._device)
    else:
        variable._array = new._array


def run_tensors(jit: bool | None, site: Any) -> Any:
    """A function that runs graphs on tensors, as `calls.call` wants it."""

    def run(graph: Graph, inputs: list[Any]) -> list[Any]:
        return tensors(execute(graph, arrays_of(inputs), jit), site)

    return run


def quick_call(trace: Any) -> Any:
    """A lean way to run a trace again and again when nobody listens, once its engine is settled.

    It gives the arrays of the explicit outputs, or `None` where the full way is needed: another
    engine, an error to be explained. The result is `None` itself as long as nothing is settled.
    """
    graph: Graph = trace.graph
    if any(isinstance(s, Draw) for s in trace.sources) or choice.effects(graph):
        return _never
    if graph.cache.get("fixed"):  # another program for other values
        return _never
    if devices.accelerators():
        return _settled_far(trace, graph)
    if not choice.is_closed(graph):
        return by_shapes
    if not trace.jit and choice.stays_on_host(graph):
        return _on_host(trace, graph)
    compiled = [e for e in graph.cache.get("xla", {}).values() if e.settled]
    if compiled:
        return _on_xla(trace, graph, compiled[-1])
    return None if trace.jit else _waiting(trace, graph)


def _waiting(trace: Any, graph: Graph) -> Any:
    """The lean way on the host up to the call that is to be compiled."""
    choices = list(graph.cache.get("choices", {}).values())
    if len(choices) != 1 or graph.cache.get("not_fixed"):
        return None
    (found,) = choices
    run, last = _on_host(trace, graph), found.due() - 1

    def step(leaves: list[Any]) -> Any:
        if found.calls >= last:
            trace._quick = None
            return None
        found.calls += 1
        return run(leaves)

    return step if found.calls < last else None


def _settled_far(trace: Any, graph: Graph) -> Any:
    if not choice.is_closed(graph) or (_is_small(graph) and not trace.jit):
        return _never
    compiled = [e for e in graph.cache.get("xla", {}).values() if e.settled]
    return _on_far(trace, graph, compiled[-1]) if compiled else None


def quick_open(trace: Any, shapes: tuple[Any, ...]) -> Any:
    """The same for one set of shapes of a trace whose sizes are open."""
    graph: Graph = trace.graph
    if graph.cache.get("fixed") or any(v._open for v in trace.reads):  # not by these shapes alone
        return None
    for key, found in graph.cache.get("xla", {}).items():
        if found.settled and tuple([s for s, _ in key[0][: len(shapes)]]) == shapes:
            return _on_xla(trace, graph, found)
    return None


def _never(leaves: list[Any]) -> None:
    return None


def by_shapes(leaves: list[Any]) -> None:
    """Stands for a lean way that is another for each set of shapes."""
    return


def _locks(trace: Any) -> list[Any]:
    variables = {v._id: v for v in (*trace.reads, *trace.writes)}
    return [v._lock for _, v in sorted(variables.items())]


def _on_host(trace: Any, graph: Graph) -> Any:
    run = host.prepared(graph).plain  # type: ignore[attr-defined]  # set beside it
    fixed = [s._array for s in trace.sources]
    reads, writes, locks = trace.reads, trace.writes, _locks(trace)
    count = len(graph.outputs)
    forced = choice._forced

    def simple(leaves: list[Any]) -> Any:
        if forced[0] is not None:
            return None
        try:
            return run(*[x._array for x in leaves], *fixed)
        except Exception:
            return None

    def step(leaves: list[Any]) -> Any:
        if forced[0] is not None:
            return None
        for lock in locks:
            lock.acquire()
        try:
            now = [v._host if v._host is not None else v._array for v in reads]
            results = run(*[x._array for x in leaves], *fixed, *now)
            _put_back(writes, results[count:])
            return results[:count]
        except Exception:
            return None
        finally:
            for lock in locks:
                lock.release()

    return uninterrupted(step) if reads or writes else simple


def _on_xla(trace: Any, graph: Graph, compiled: Any) -> Any:
    if trace.fixed is None:  # one copy for all shapes
        trace.fixed = [devices.put(s._array, None) for s in trace.sources]
    fixed = trace.fixed
    reads, writes, locks = trace.reads, trace.writes, _locks(trace)
    count, flagged = len(graph.outputs), compiled.flagged
    ends = count + len(writes)
    forced = choice._forced
    direct, watched = compiled.direct(), xla.WATCHED
    # A variable that is written without being read is not given back by a step that fails.
    kept = [h.initial is not None for h in graph.written()]
    places = {v._id: k for k, v in enumerate(reads)}
    blind = [v for v in writes if v._id not in places]

    def simple(leaves: list[Any]) -> Any:
        if forced[0] == "host" or FORKED[0]:
            return None
        run = compiled.passed if watched[0] else direct
        results = run(*[x._array for x in leaves], *fixed)
        if flagged and xla.truth(results[-1]):
            return None
        return results if len(results) == count else results[:count]

    def put_back(given: list[Any], before: list[Any]) -> None:
        """Gives back what was taken for a step that did not run."""
        for v, found in zip(blind, before, strict=True):
            v._host, v._device = found
        for v in writes:
            if v._id in places:
                found = given[places[v._id]]
                near = type(found) is np.ndarray
                v._host, v._device = (found, None) if near else (None, found)

    def step(leaves: list[Any]) -> Any:
        if forced[0] == "host" or FORKED[0]:
            return None
        for lock in locks:
            lock.acquire()
        try:
            run = compiled.passed if watched[0] else direct
            given = [v._host if v._device is None else v._device for v in reads]
            before = [(v._host, v._device) for v in blind] if blind else blind
            arrays = [x._array for x in leaves] if leaves else leaves
            results = None
            try:
                for v in writes:
                    v._host, v._device = None, TAKEN
                results = run(*arrays, *fixed, *given)
                failed = flagged and xla.truth(results[-1])
            except BaseException:
                put_back(given, before)
                if results is not None:  # a second interrupt, when the memory is used already
                    for v, new in zip(writes, results[count:ends], strict=True):
                        v._host, v._device = None, new
                raise
            news = results[count:ends]
            if failed:
                put_back(given, before)
                for v, new, restored in zip(writes, news, kept, strict=True):
                    if restored:
                        v._host, v._device = None, new
                return None
            for v, new in zip(writes, news, strict=True):
                v._device = new
            return results[:count]
        finally:
            for lock in locks:
                lock.release()

    return uninterrupted(step) if reads or writes else simple


# Results up to this size are fetched along with the flag of the step.
_FETCHED = 1 << 12


def _on_far(trace: Any, graph: Graph, compiled: Any) -> Any:
    """The lean way on an accelerator: everything is there, and nobody else holds what is taken."""
    place, direct, watched = compiled.place, compiled.direct(), xla.WATCHED
    reads, writes, locks = trace.reads, trace.writes, _locks(trace)
    count = len(graph.outputs)
    forced = choice._forced
    changed = {v._id for v in writes}
    taken = [v._id in changed for v in reads]
    kept = [h.initial is not None for h in graph.written()]
    fixed = [devices.put(s._array, place) for s in trace.sources]

    def step(leaves: list[Any]) -> Any:
        if forced[0] == "host" or FORKED[0] or devices.target() is not place:
            return None
        for lock in locks:
            lock.acquire()
        before = None
        try:
            given = devices.ready(reads, taken, place)
            if given is None:
                return None
            before = [(v, v._host, v._device) for v in writes]
            for v in writes:
                v._host, v._device = None, TAKEN
            here = devices.moved([devices.given(x) for x in leaves], place)
            run = compiled.passed if watched[0] else direct
            results = run(*here, *fixed, *given)
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
            for lock in locks:
                lock.release()

    return uninterrupted(step)


def _fetch(results: list[Any], count: int) -> bool:
    """Whether a check failed; small results come along."""
    for x in (results[-1], *results[:count]):
        if x.nbytes <= _FETCHED:
            x.copy_to_host_async()
    return xla.truth(results[-1])


@contextmanager
def holding(variables: list[Variable]) -> Iterator[None]:
    """Locks variables, lowest id first, so that two calls never wait for each other."""
    taken: list[Variable] = []
    try:
        _acquire(taken, variables)
        yield
    finally:
        _release(taken)


@uninterrupted
def _acquire(taken: list[Variable], variables: list[Variable]) -> None:
    for v in sorted(variables, key=lambda v: v._id):
        v._lock.acquire()
        taken.append(v)


@uninterrupted
def _release(taken: list[Variable]) -> None:
    while taken:
        taken.pop()._lock.release()


def execute_step(graph: Graph, plain: list[Any], jit: bool | None) -> list[Any]:
    """Runs a graph whose variables change; `plain` are the inputs before the variables.

    The variables must be held. Returns the arrays of the explicit outputs.
    """
    reads = [h.variable for h in graph.read_variables()]
    writes = [h.variable for h in graph.written()]
    arrays = [*plain, *[v._host if v._host is not None else v._device for v in reads]]
    count = len(graph.outputs)
    compiles = use_xla(graph, arrays, jit)
    del arrays  # whoever else holds a buffer keeps the step from using it again
    if compiles:
        try:
            return _compiled_step(graph, plain, reads, writes, jit)
        except xla.NotFixed as error:
            _not_fixed(graph, error, jit)
    with undo.logging():
        results = host.run(graph, [*_near(plain), *[v._array for v in reads]])
    _put_back(writes, results[count:])
    return results[:count]


def _put_back(writes: list[Variable], news: list[Any]) -> None:
    """Gives variables their new values: all of them, even if an interrupt comes in between."""
    try:
        for variable, new in zip(writes, news, strict=True):
            variable._host, variable._device = new, None
    except BaseException:
        for variable, new in zip(writes, news, strict=True):
            variable._host, variable._device = new, None
        raise


def _compiled_step(
    graph: Graph,
    plain: list[Any],
    reads: list[Variable],
    writes: list[Variable],
    jit: bool | None,
) -> list[Any]:
    start = len(plain)
    changed = {id(v) for v in writes}
    # What grows or shrinks cannot be put where it was.
    donate = tuple(start + k for k, v in enumerate(reads) if id(v) in changed and not v._open)
    if devices.far():
        given = [devices.home(v, id(v) in changed) for v in reads]
    else:
        given = [v._device if v._device is not None else v._host for v in reads]
    xla.prepare(graph, [*plain, *given], donate, jit)
    return _taking_step(graph, plain, given, donate, reads, writes, jit)


@uninterrupted
def _taking_step(
    graph: Graph,
    plain: list[Any],
    given: list[Any],
    donate: tuple[int, ...],
    reads: list[Variable],
    writes: list[Variable],
    jit: bool | None,
) -> list[Any]:
    before = [(v, v._host, v._device) for v in writes]
    for v in writes:
        # A view of the buffer would keep it from being used again.
        v._host, v._device = None, TAKEN
    try:
        results, failed = xla.run(graph, [*plain, *given], donate, jit)
    except BaseException:
        for v, host_copy, device_copy in before:
            v._host, v._device = host_copy, device_copy
        raise
    count = len(graph.outputs)
    if failed:
        fresh = {h.variable._id: new for h, new in zip(graph.written(), results[count:], strict=True)
                 if h.initial is not None}  # fmt: skip
        for v, host_copy, device_copy in before:
            if v._id in fresh:
                v._place(fresh[v._id])
            else:
                v._host, v._device = host_copy, device_copy
        found = _failed(graph, [*_near(plain), *[v._array for v in reads]], failed)
        for variable, new in zip(writes, found[count:], strict=True):
            variable._array = new
        return found[:count]
    for variable, new in zip(writes, results[count:], strict=True):
        variable._place(new)
    return results[:count]
