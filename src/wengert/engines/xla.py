"""The XLA engine: finds the executable for the arrays of a call, and runs it.

A step that wants more room is compiled and run again. How graphs are lowered and compiled it leaves
to `lower` and `executables`; what XLA cannot run is refused here, in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.errors import NotCompiledError, invalid
from wengert.core.failures import failures
from wengert.core.lowering_checks import NotFixed, NotWithThese
from wengert.core.types import JaxArray
from wengert.engines import devices, static_inputs
from wengert.engines.executables import MOST, Executable, executable
from wengert.engines.lower import LOWERINGS, cannot
from wengert.graph.ir import CacheKey, Graph, all_graphs, cached_on_graph
from wengert.graph.passes import optimised


def demanded(graph: Graph, arrays: list[Any], donate: tuple[int, ...] = ()) -> Executable:
    """The executable where XLA must run it: inputs that make shapes are fixed at their values."""
    while True:
        try:
            return executable(graph, arrays, donate)
        except NotFixed as error:
            if not static_inputs.fix_more(graph, error):
                raise


UNFIT: CacheKey[dict[Any, str]] = CacheKey("why the host runs it, by shapes")


def prepare(
    graph: Graph, arrays: list[Any], donate: tuple[int, ...], jit: bool | None
) -> Executable:
    """The executable with which `run` begins."""
    if jit:
        return demanded(graph, arrays, donate)
    unfit = graph.cache.get(UNFIT)
    if unfit is not None:
        why = unfit.get(_shapes(arrays))
        if why is not None:
            raise NotWithThese(why)
    try:
        return executable(graph, arrays, donate)
    except NotFixed:
        raise
    except failures() as error:
        if not getattr(error, "_placed", False):
            raise
        # The words alone: the error itself would keep the arrays of this call.
        known = graph.cache.setdefault(UNFIT, {})
        if len(known) >= MOST:
            known.clear()
        known[_shapes(arrays)] = str(error)
        raise NotWithThese(str(error)) from error


def _shapes(arrays: list[Any]) -> Any:
    return tuple([a.shape for a in arrays]), devices.target()


def run(
    graph: Graph, arrays: list[Any], donate: tuple[int, ...] = (), jit: bool | None = None
) -> tuple[list[Any], BaseException | bool]:
    """Runs a graph on arrays; the results, and whether a check failed, or which error of Python.

    When a stack of unknown length overflows, the step is compiled with room enough and run again;
    the variables are as they were, since the flag kept them.
    """
    result = prepare(graph, arrays, donate, jit)
    while True:
        program, flagged, wants, cut = result.program
        try:
            results = result.call(arrays, program)
        except BaseException:
            result.errors.clear()  # what Python raised must not be told of a later run
            raise
        ends = len(results) - len(cut)
        results, counts = results[:ends], results[ends:]
        if not flagged and not wants:
            return (_shortened(results, cut, counts) if cut else results), False
        ends = len(results) - 1 - len(wants)
        wanted = [int(w) for w in results[ends + 1 :]]
        failed = truth(results[ends])
        results = results[:ends]
        if failed:
            return results, result.why_failed()
        if not result.grow(wants, wanted):
            return (_shortened(results, cut, counts) if cut else results), False
        arrays = _again(graph, arrays, results)


def _shortened(
    results: Sequence[JaxArray], cut: list[int], counts: Sequence[JaxArray]
) -> list[Any]:
    """The results, of those in the places `cut` only as many rows as count."""
    items: list[Any] = list(results)
    for k, count in zip(cut, counts, strict=True):
        rows = int(np.asarray(count))
        # A slice of JAX would be compiled for each number of rows.
        items[k] = items[k][:rows] if devices.far() else np.asarray(items[k])[:rows].copy()
    return items


def truth(flag: JaxArray) -> bool:
    """Whether an array of JAX is true; its own `bool` takes ten times as long."""
    return bool(np.asarray(flag))


def _again(graph: Graph, arrays: list[Any], results: Any) -> list[Any]:
    """The inputs for a second run: donated variables come back among the results, unchanged."""
    arrays = list(arrays)
    places = {v: k for k, v in enumerate(graph.all_inputs())}
    kept = results[len(graph.outputs) :]
    for held, value in zip(optimised(graph).written(), kept, strict=True):
        if held.initial is not None:
            arrays[places[held.initial]] = value
    return arrays


def cannot_fix(graph: Graph, error: NotFixed) -> Exception:
    """The error for what XLA cannot do with a program, under `jit_compile=True`."""
    result = invalid(
        graph.name,
        f"{error.rule}: {error}",
        help=error.remedy,
        kind=NotCompiledError,
    )
    result.__notes__ = list(getattr(error, "__notes__", []))
    return result


@cached_on_graph("XLA can run all of its nodes")
def check_lowers(graph: Graph) -> None:
    """Raises for the first node that XLA cannot run."""
    for node in graph.walk():
        if node.op.lower is None and node.op not in LOWERINGS:
            raise cannot(node, "it has no form in XLA (data-dependent shapes, strings)")
    _refuse_strings(graph)


def _refuse_strings(graph: Graph) -> None:
    """XLA knows no strings, neither to compute with nor to take and give."""
    for values, role in ((graph.inputs, "an argument"), (graph.outputs, "a result")):
        if any(graph.specs[v].dtype is dtypes.string for v in values):
            rule = f"XLA knows no strings, and {role} is one"
            help = "Leave out jit_compile=True, or keep strings out of the function."
            raise invalid(graph.name, rule, help=help, kind=NotCompiledError)
    for part in (optimised(g) for g in all_graphs(graph)):
        texts = {v for v, spec in part.specs.items() if spec.dtype is dtypes.string}
        for node in part.nodes if texts else ():
            if node.op.effect or node.op in LOWERINGS:
                continue  # they keep constant strings to themselves
            if not texts.isdisjoint((*node.inputs, *node.outputs)):
                raise cannot(node, "it works on strings")
