"""How both engines run calls, batched calls and calls of Python; branches and loops are beside."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.lazy_modules import jax, lax
from wengert.core.locks import lending
from wengert.core.lowering_checks import NotFixed, NotWithThese, fail_if
from wengert.core.padded import Padded, rows_unknown
from wengert.engines import (
    branch_execution,
    callbacks,
    engine_choice,
    host,
    loop_execution,
    specialised_kernels,
    undo_log,
    xla,
)
from wengert.engines.empty_loops import empty_stacks
from wengert.engines.islands import with_islands
from wengert.engines.lower import LOWERINGS, lower_graph
from wengert.engines.padded import row_form, row_of, stack_of
from wengert.engines.subgraph_lowering import Inside, as_arrays
from wengert.graph.gradient_sharing import with_pairs
from wengert.graph.graph_records import Node
from wengert.graph.ir import Graph
from wengert.ops.nodes import BATCHED, CALL, FLUSH, HOST_CALL, RELOAD
from wengert.ops.row_list import Rows

if TYPE_CHECKING:
    from wengert.core.types import JaxArray
    from wengert.engines.lower import Lowering


host.RUNNERS.requires(branch_execution, loop_execution)
host.SHORTER.requires(specialised_kernels)
LOWERINGS.requires(branch_execution, callbacks, loop_execution)

# Calls.


def _run_call(graph: Graph, node: Node) -> Any:
    inner: Graph = node.attrs["graph"]
    if node.attrs.get("jit") == "auto":
        return lambda *arrays: _chosen(inner, list(arrays))
    if node.attrs.get("jit"):
        return lambda *arrays: [np.asarray(x) for x in _compiled(inner, list(arrays), True)]
    return host.prepared(inner)


def _compiled(inner: Graph, arrays: list[Any], jit: bool | None = None) -> list[Any]:
    arrays = [np.asarray(a) for a in arrays]
    results, failed = xla.run(inner, arrays, (), jit)
    if isinstance(failed, BaseException):
        raise failed
    return host.run(inner, arrays) if failed else results


def _chosen(inner: Graph, arrays: list[np.ndarray | Rows]) -> list[np.ndarray | Rows]:
    """Runs a part of a host graph on the engine that suits it."""
    wish = engine_choice.forced()
    if (
        wish == "host"
        or inner.cache.get(engine_choice.NOT_FIXED)
        or any(type(a) is Rows for a in arrays)
    ):
        return host.run(inner, arrays)
    if wish == "xla" or engine_choice.chooses_xla(inner, arrays):
        try:
            return [np.asarray(x) for x in _compiled(inner, arrays)]
        except NotFixed as error:
            if not isinstance(error, NotWithThese):
                inner.cache[engine_choice.NOT_FIXED] = str(error)
    return host.run(inner, arrays)


def _lower_call(graph: Graph, node: Node, given: list[JaxArray], attrs: Any, low: Lowering) -> Any:
    return lower_graph(attrs["graph"], given, low)


# Batches.


def _run_batched(graph: Graph, node: Node) -> Any:
    inner: Graph = node.attrs["graph"]
    axes = node.attrs["axes"]
    rows, fixed = ([k for k, a in enumerate(axes) if a == axis] for axis in (0, None))
    run = host.prepared(inner)

    def batched(*arrays: np.ndarray) -> list[np.ndarray]:
        count = next(len(x) for x, a in zip(arrays, axes, strict=True) if a == 0)
        if not count:
            return [np.zeros(*like) for like in empty_stacks(inner, arrays, rows, fixed)]
        results = [
            run(*[x[i, ...] if a == 0 else x for x, a in zip(arrays, axes, strict=True)])
            for i in range(count)
        ]
        return [np.stack(column) for column in zip(*results, strict=True)]

    return batched


def _lower_batched(
    graph: Graph, node: Node, given: list[JaxArray | np.ndarray], attrs: Any, low: Lowering
) -> list[JaxArray]:
    inside = Inside(low, attrs["graph"])
    axes = attrs["axes"]
    mapped = [x for x, a in zip(given, axes, strict=True) if a == 0 and type(x) is Padded]
    if any(x.counts[0] is not None for x in mapped):
        raise rows_unknown()
    given = [row_form(x) if a == 0 else x for x, a in zip(as_arrays(given), axes, strict=True)]
    run = lambda *rows: inside.run(*map(row_of, rows))
    results, bad, wanted = jax.vmap(run, axes, 0)(*given)
    results = [stack_of(x, None) for x in results]
    if inside.checks:
        fail_if(lambda: bad)
    low.wanted.extend(
        (lax.reduce_max(w, (0,)), key, room)
        for w, (key, room) in zip(wanted, inside.keys, strict=True)
    )
    return results


# Host calls.


def _run_host_call(graph: Graph, node: Node) -> Any:
    return partial(lending, node.attrs["function"])


def _run_flush(graph: Graph, node: Node) -> Any:
    variables = node.attrs["variables"]

    def flush(*arrays: np.ndarray) -> Any:
        for variable, array in zip(variables, arrays, strict=True):
            undo_log.note(variable)
            variable._array = np.asarray(array)
        return ()

    return flush


def _run_reload(graph: Graph, node: Node) -> Any:
    variable = node.attrs["variable"]
    return lambda before: (variable._array,)


host.RUNNERS.fill(
    __name__,
    {
        BATCHED: _run_batched,
        CALL: _run_call,
        FLUSH: _run_flush,
        HOST_CALL: _run_host_call,
        RELOAD: _run_reload,
    },
)
LOWERINGS.fill(__name__, {BATCHED: _lower_batched, CALL: _lower_call})
host.PREPARE.fill(lambda graph: with_pairs(with_islands(graph)))
