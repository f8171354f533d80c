"""Runs finished graphs on an engine, with the variables as a transaction.

The variables of a call are locked in the order of their ids, taken, and get their new values when
all has gone well; a failed call leaves every one as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.interrupts import uninterrupted
from wengert.core.lowering import NotWithThese
from wengert.core.observers import OBSERVERS, observed
from wengert.core.tensor import DeviceTensor, Tensor
from wengert.core.variable import TAKEN, Variable, put_values
from wengert.engines import callbacks, choice, control, devices, host, undo, xla
from wengert.engines.lower import LOWERINGS
from wengert.graph.cache import CacheKey
from wengert.graph.ir import Graph

if TYPE_CHECKING:
    from wengert.core.types import JaxArray, RawSite, TensorSpec
    from wengert.functions.trace import Trace
    from wengert.ops.row_list import Rows


LOWERINGS.requires(callbacks, control)


def use_xla(graph: Graph, arrays: list[Any], jit: bool | None) -> bool:
    """Whether XLA runs this call."""
    if jit:
        xla.check_lowers(graph)
        return True
    wish = choice.forced()
    if wish is not None:
        return wish == "xla" and choice.runs_only_on_host(graph) is None
    return not graph.cache.get(choice.NOT_FIXED) and choice.chooses_xla(graph, arrays)


def execute(
    graph: Graph, arrays: list[np.ndarray], jit: bool | None
) -> list[np.ndarray | Rows] | tuple[JaxArray, ...]:
    """The arrays of all outputs of a graph that changes no variables."""
    if OBSERVERS:
        return observed("execute", _execute, graph, arrays, jit)
    return _execute(graph, arrays, jit)


def _execute(
    graph: Graph, arrays: list[np.ndarray], jit: bool | None
) -> list[np.ndarray | Rows] | tuple[JaxArray, ...]:
    if use_xla(graph, arrays, jit):
        try:
            results, failed = xla.run(graph, arrays, (), jit)
        except xla.NotFixed as error:
            _not_fixed(graph, error, jit)
        else:
            return _failed(graph, arrays, failed) if failed else results
    return undo.undoing(host.run, graph, _near(arrays))


def _near(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays that NumPy can compute with."""
    return [np.asarray(a) for a in arrays] if devices.far() else arrays


def _not_fixed(graph: Graph, error: xla.NotFixed, jit: bool | None) -> None:
    if jit:
        raise xla.cannot_fix(graph, error) from None
    if not isinstance(error, NotWithThese):
        graph.cache[choice.NOT_FIXED] = str(error)


def _failed(graph: Graph, arrays: list[np.ndarray], why: BaseException | bool) -> list[Any]:
    """Lets the host engine say what went wrong in compiled code.

    Where rounding decides (a matrix that is all but singular), the host may find nothing wrong;
    then its results are the answer. What Python called from the step has raised is raised as it is.
    """
    if isinstance(why, BaseException):
        raise why
    return host.run(graph, [np.asarray(a) for a in arrays])


def arrays_of(inputs: list[Tensor | TensorSpec] | list[Tensor]) -> list[np.ndarray]:
    """The arrays of tensors, where they are."""
    return [devices.given(x) for x in inputs] if devices.far() else [x._array for x in inputs]


def tensors(
    arrays: list[np.ndarray | Rows] | tuple[JaxArray, ...] | list[np.ndarray], site: RawSite
) -> list[Any]:
    """Tensors of an engine's results."""
    return [devices.tensor(a, site) for a in arrays]


def snapshots(trace: Trace) -> list[Tensor]:
    """The present values of the variables that a trace reads, where its work will be done."""
    if devices.far() and (trace.jit or not is_small(trace.graph)):
        for v in trace.reads:
            devices.home(v, False)
    return [v._snapshot() for v in trace.reads]


SMALL: CacheKey[bool] = CacheKey("always runs on the host")


def is_small(graph: Graph) -> bool:
    """Whether a graph of closed shapes always runs on the host."""
    found = graph.cache.get(SMALL)
    if found is None:
        found = choice.is_closed(graph) and choice.stays_on_host(graph)
        graph.cache[SMALL] = found
    return found


def give(variables: list[Variable], news: list[Any]) -> None:
    """Makes tensors the values of variables, where they are: all of them or none."""
    far = [type(new) is DeviceTensor for new in news]
    hosts = [None if there else new._array for new, there in zip(news, far, strict=True)]
    arrays = [new._device if there else None for new, there in zip(news, far, strict=True)]
    put_values(variables, hosts, arrays)


def run_tensors(jit: bool | None, site: Any) -> Any:
    """A function that runs graphs on tensors, as `calls.call` wants it."""

    def run(graph: Graph, inputs: list[Tensor | TensorSpec]) -> list[Tensor]:
        return tensors(execute(graph, arrays_of(inputs), jit), site)

    return run


NOWHERE = repeat(None)  # for `put_values`


def locks_of(variables: Iterable[Variable]) -> list[RLock]:
    """The locks of variables, lowest id first, so that two calls never wait for each other."""
    unique = {v._id: v._lock for v in variables}
    return [lock for _, lock in sorted(unique.items())]


def execute_step(graph: Graph, plain: list[np.ndarray], jit: bool | None) -> list[Any]:
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
    now = [v._array for v in reads]
    results = undo.undoing(host.run, graph, [*_near(plain), *now])
    put_values(writes, results[count:], NOWHERE)
    return results[:count]


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
    plain: list[np.ndarray],
    given: list[Any],
    donate: tuple[int, ...],
    reads: list[Variable],
    writes: list[Variable],
    jit: bool | None,
) -> list[Any]:
    hosts, arrays = [v._host for v in writes], [v._device for v in writes]
    try:
        # A view of the buffer would keep it from being used again.
        put_values(writes, NOWHERE, repeat(TAKEN))
        results, failed = xla.run(graph, [*plain, *given], donate, jit)
    except BaseException:
        put_values(writes, hosts, arrays)
        raise
    count = len(graph.outputs)
    if failed:
        fresh = {h.variable._id: new for h, new in zip(graph.written(), results[count:], strict=True)
                 if h.initial is not None}  # fmt: skip
        for v, host_copy, device_copy in zip(writes, hosts, arrays, strict=True):
            if v._id in fresh:
                v._place(fresh[v._id])
            else:
                v._host, v._device = host_copy, device_copy
        found = _failed(graph, [*_near(plain), *[v._array for v in reads]], failed)
        put_values(writes, found[count:], NOWHERE)
        return found[:count]
    put_values(writes, NOWHERE, results[count:])
    return results[:count]
