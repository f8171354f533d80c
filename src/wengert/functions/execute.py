"""Runs finished graphs on an engine, with the variables as a `transaction`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.interrupts import uninterrupted
from wengert.core.lowering_checks import NotWithThese
from wengert.core.observers import OBSERVERS, observed
from wengert.core.types import JaxArray, RawSite, Tensor, TensorSpec
from wengert.engines import call_execution, devices, engine_choice, host, rollback, xla
from wengert.engines.lower import LOWERINGS
from wengert.functions.transaction import Transaction, transaction
from wengert.graph.ir import Graph, cached_on_graph

if TYPE_CHECKING:
    from wengert.functions.trace import Trace
    from wengert.ops.row_list import Rows


LOWERINGS.requires(call_execution)


def use_xla(graph: Graph, arrays: list[Any], jit: bool | None) -> bool:
    """Whether XLA runs this call."""
    if jit:
        xla.check_lowers(graph)
        return True
    wish = engine_choice.forced()
    if wish is not None:
        return wish == "xla" and engine_choice.runs_only_on_host(graph) is None
    return not graph.cache.get(engine_choice.NOT_FIXED) and engine_choice.chooses_xla(graph, arrays)


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
    return rollback.undoing(host.run, graph, _near(arrays))


def _near(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays that NumPy can compute with."""
    return [np.asarray(a) for a in arrays] if devices.far() else arrays


def _not_fixed(graph: Graph, error: xla.NotFixed, jit: bool | None) -> None:
    if jit:
        raise xla.cannot_fix(graph, error) from None
    if not isinstance(error, NotWithThese):
        graph.cache[engine_choice.NOT_FIXED] = str(error)


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


@cached_on_graph("always runs on the host")
def is_small(graph: Graph) -> bool:
    """Whether a graph of closed shapes always runs on the host."""
    return engine_choice.is_closed(graph) and engine_choice.stays_on_host(graph)


def run_tensors(jit: bool | None, site: Any) -> Any:
    """A function that runs graphs on tensors, as `calls.call` wants it."""

    def run(graph: Graph, inputs: list[Tensor | TensorSpec]) -> list[Tensor]:
        return tensors(execute(graph, arrays_of(inputs), jit), site)

    return run


def execute_step(graph: Graph, plain: list[np.ndarray], jit: bool | None) -> list[Any]:
    """Runs a graph whose variables change; `plain` are the inputs before the variables.

    The variables must be held. Returns the arrays of the explicit outputs.
    """
    held = transaction(graph)
    arrays = [*plain, *[v._host if v._host is not None else v._device for v in held.reads]]
    compiles = use_xla(graph, arrays, jit)
    del arrays  # whoever else holds a buffer keeps the step from using it again
    if compiles:
        try:
            results, failed = _compiled_step(graph, held, plain, jit)
        except xla.NotFixed as error:
            _not_fixed(graph, error, jit)
        else:
            if isinstance(failed, BaseException):
                raise failed
            if not failed:
                return results
    return held.commit(rollback.undoing(host.run, graph, [*_near(plain), *held.arrays()]))


def _compiled_step(
    graph: Graph, held: Transaction, plain: list[np.ndarray], jit: bool | None
) -> tuple[list[Any], BaseException | bool]:
    donate = held.donated(len(plain))
    given = [*plain, *held.there()]
    xla.prepare(graph, given, donate, jit)
    return _launched(graph, held, given, donate, jit)


@uninterrupted
def _launched(
    graph: Graph, held: Transaction, given: list[Any], donate: tuple[int, ...], jit: bool | None
) -> tuple[list[Any], BaseException | bool]:
    failed: BaseException | bool = False

    def program() -> list[Any]:
        nonlocal failed
        results, failed = xla.run(graph, given, donate, jit)
        return results

    results, olds = held.launch(program)
    if failed:
        held.rollback(olds)
    return results[: len(graph.outputs)], failed
