"""How both engines run calls, batched calls and calls of Python; branches and loops are beside.

In compiled code a call of Python sees its arguments alone, in program order, and must say the
shapes of its results. If it raises, the executable keeps the error, the step is undone by its flag,
and the error is raised when the step has ended.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.errors import at_site, require
from wengert.core.lazy_modules import jax, lax
from wengert.core.locks import lending
from wengert.core.lowering_checks import NotFixed, NotWithThese, fail_if
from wengert.core.padded_stacks import Padded, rows_unknown
from wengert.core.types import JaxArray
from wengert.engines import (
    branch_execution,
    engine_choice,
    host,
    loop_execution,
    replica_execution,
    rollback,
    specialised_kernels,
    xla,
)
from wengert.engines.compiled_parts import with_compiled_parts
from wengert.engines.empty_loops import empty_stacks
from wengert.engines.lower import LOWERINGS, cannot, lower_graph
from wengert.engines.padded_stacks import row_form, row_of, stack_of
from wengert.engines.subgraph_lowering import Inside, as_arrays
from wengert.graph.ir import Graph, Node
from wengert.graph.passes import with_pairs
from wengert.ops.nodes import BATCHED, CALL, FLUSH, HOST_CALL, RELOAD
from wengert.ops.row_list import Rows

if TYPE_CHECKING:
    from wengert.engines.lower import Lowering


host.RUNNERS.requires(branch_execution, loop_execution, replica_execution)
host.SHORTER.requires(specialised_kernels)
LOWERINGS.requires(branch_execution, loop_execution, replica_execution)

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
        return [_stacked(column) for column in zip(*results, strict=True)]

    return batched


def _stacked(rows: tuple[np.ndarray, ...]) -> np.ndarray:
    other = next((x for x in rows if x.shape != rows[0].shape), rows[0])
    require(
        other is rows[0],
        "vectorized_map",
        "all rows must give results of one shape",
        rows[0],
        other,
        help="Pad them, or use tf.map_fn with a RaggedTensorSpec.",
    )
    return np.stack(rows)


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
            rollback.note(variable)
            variable._array = np.asarray(array)
        return ()

    return flush


def _run_reload(graph: Graph, node: Node) -> Any:
    variable = node.attrs["variable"]
    return lambda before: (variable._array,)


def _lower_host_call(
    graph: Graph, node: Node, given: list[JaxArray | np.ndarray], attrs: Any, low: Lowering
) -> list[JaxArray]:
    from jax.experimental import io_callback  # the public name of calls with effects, as yet

    specs = [graph.specs[v] for v in node.outputs]
    for spec in specs:
        if spec.dtype is dtypes.string:
            raise cannot(node, "its result is a string")
        if spec.shape is None or None in spec.shape:
            raise NotFixed(
                f"the results of {attrs['name']} have no fixed shape; give `Tout` as tf.TensorSpec "
                f"with one"
            )
    shapes = [_Passed(s.shape, s.dtype.np) for s in specs]
    flag = jax.ShapeDtypeStruct((), np.dtype(bool))

    def call(*arrays: Any) -> Any:
        try:
            result = lending(attrs["function"], *[np.asarray(a) for a in arrays])
            passed = [s.down(np.asarray(x)) for x, s in zip(result, shapes, strict=True)]
            return (*passed, np.asarray(False))
        except BaseException as error:  # an interrupt, too, waits for the end of the step
            if isinstance(error, Exception) and not hasattr(error, "site"):
                at_site(error, node.site)
            low.errors.append(error)
            blank = [s.down(np.zeros(s.shape, s.dtype)) for s in shapes]
            return (*blank, np.asarray(True))

    texts = [x if x.dtype.kind == "O" else None for x in given]  # constants, which need not pass
    numbers = [x for x in given if x.dtype.kind != "O"]
    halves = [_Passed(tuple(x.shape), x.dtype) for x in numbers]
    sent = [h.halved(x) for h, x in zip(halves, numbers, strict=True)]

    def call_wide(*arrays: JaxArray) -> tuple[np.ndarray, ...]:
        passed = iter([h.up(np.asarray(a)) for h, a in zip(halves, arrays, strict=True)])
        return call(*[next(passed) if text is None else text for text in texts])

    *results, failed = io_callback(
        call_wide, (*[s.struct for s in shapes], flag), *sent, ordered=True
    )
    fail_if(lambda: failed)
    return [s.joined(x) for s, x in zip(shapes, results, strict=True)]


class _Passed:
    """An array on its way to or from Python.

    JAX converts what passes in the mode of the thread that calls back, where 64-bit numbers are
    cut short; so they pass as pairs of 32 bits.
    """

    def __init__(self, shape: Any, dtype: np.dtype) -> None:
        self.shape, self.dtype = shape, dtype
        self.wide = dtype.kind in "iuf" and dtype.itemsize == 8
        form = (*shape, 2) if self.wide else shape
        self.struct = jax.ShapeDtypeStruct(form, np.dtype(np.int32) if self.wide else dtype)

    def down(self, x: np.ndarray) -> np.ndarray:
        x = np.ascontiguousarray(x.astype(self.dtype, copy=False))
        return x.reshape(*self.shape, 1).view(np.int32) if self.wide else x.reshape(self.shape)

    def up(self, x: np.ndarray) -> np.ndarray:
        if not self.wide:
            return x
        return np.ascontiguousarray(x).view(self.dtype).reshape(self.shape)

    def halved(self, x: Any) -> JaxArray:
        return lax.bitcast_convert_type(x, np.int32) if self.wide else x

    def joined(self, x: JaxArray) -> JaxArray:
        return lax.bitcast_convert_type(x, self.dtype) if self.wide else x


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
LOWERINGS.fill(__name__, {BATCHED: _lower_batched, CALL: _lower_call, HOST_CALL: _lower_host_call})
host.PREPARE.fill(lambda graph: with_pairs(with_compiled_parts(graph)))
