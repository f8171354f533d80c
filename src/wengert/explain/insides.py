"""Looks inside a traced function: runs its graph one node at a time on the host's kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import nest
from wengert.core.context import executing_eagerly
from wengert.core.observers import Observer
from wengert.core.tensor import Tensor, Value
from wengert.engines import call_execution, host
from wengert.explain.numerics import Numerics, finite
from wengert.graph.ir import Graph, Node
from wengert.ops.nodes import CALL

if TYPE_CHECKING:
    from wengert.core.sites import RawSite
    from wengert.functions.trace import Trace
    from wengert.graph.builder import Builder


host.RUNNERS.requires(call_execution)

Walked = tuple[Node, list[Any], list[Any]]


def walk(graph: Graph, arrays: list[np.ndarray]) -> Iterator[Walked]:
    """Each node with the arrays it reads and those it makes; calls of graphs are entered.

    Ends early at a node whose effect must not happen a second time.
    """
    env: dict[int, Any] = dict(graph.constants)
    env.update(zip(graph.all_inputs(), arrays, strict=True))
    for node in graph.nodes:
        given = [env[v] for v in node.inputs]
        if node.op.effect:
            if node.outputs:
                return
            continue
        if node.op is CALL:
            yield from walk(node.attrs["graph"], given)
        with np.errstate(all="ignore"):
            made = run_node(graph, node, given, env)
        env.update(zip(node.outputs, made, strict=True))
        yield node, given, made


def run_node(
    graph: Graph, node: Node, given: list[np.ndarray], env: dict[int, np.ndarray]
) -> list[np.ndarray]:
    """The arrays that one node makes."""
    attrs = node.attrs
    leaves = node.reads()[len(node.inputs) :]
    if node.open:
        attrs = host.resolver(node)(*[env[v] for v in leaves])
    runner = host.RUNNERS.get(node.op)
    if runner is not None:
        run = runner(graph, node)
        return [np.asarray(a) for a in (run(attrs, *given) if node.open else run(*given))]
    result = node.op.kernel(*given, **attrs)
    return [np.asarray(a) for a in ((result,) if node.op.outputs == 1 else result)]


def first_bad(
    numerics: Numerics, graph: Graph, arrays: list[np.ndarray], results: list[np.ndarray]
) -> None:
    """Tells where inside a graph the first number that is not finite was made."""
    bad = [a for a in results if not finite(a)]
    if not bad:
        return
    backward = graph.name.endswith(("_backward", "_gradient"))
    for node, given, made in walk(graph, [np.asarray(a) for a in arrays]):
        if not all(map(finite, made)):
            numerics.blame(node.op, given, made, node.site, bad, backward)
            return


class Inspector(Observer):
    """Looks into graphs that have run, forward and backward, if their results are not finite.

    `numerics` says what is known of numbers here, `None` where nobody wants to know.
    """

    def __init__(self, numerics: Callable[[], Numerics | None]) -> None:
        self.numerics = numerics

    def run(self, proceed: Any, trace: Trace, leaves: list[Tensor], site: RawSite) -> Tensor:
        value = self.numerics() if executing_eagerly() else None
        if value is None:
            return proceed(trace, leaves, site)
        arrays = [*[x._array for x in leaves], *[x._array for x in trace._given()]]
        arrays += [v._array for v in trace.reads]
        result = proceed(trace, leaves, site)
        outs = [y._array for y in nest.flatten(result) if isinstance(y, Value)]
        first_bad(value, trace.graph, arrays, outs)
        return result

    def execute(
        self, proceed: Any, graph: Builder, arrays: list[np.ndarray], jit: Any
    ) -> list[np.ndarray]:
        results = proceed(graph, arrays, jit)
        result = self.numerics()
        if result is not None:
            # What a compiled program returns is no NumPy array yet; it is made one here, once.
            results = [np.asarray(r) for r in results]
            first_bad(result, graph, arrays, results)
        return results
