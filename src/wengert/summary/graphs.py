"""The graphs of functions for TensorBoard: which ones ran, written as its messages want them.

`trace_on` notes the functions that are called from then on, and `trace_export` writes their
graphs; with `profiler=True` a profile is taken between the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import at_site, describe
from wengert.core.locks import new_lock
from wengert.core.observers import Observer, subscribe, unsubscribe
from wengert.core.sites import RawSite, locate, warn
from wengert.core.types import ShapeDtype, Tensor, TensorLike
from wengert.graph.ir import Graph, Node, inner_graphs
from wengert.summary.events import load
from wengert.summary.record import write
from wengert.summary.writer import summary_scope, target

if TYPE_CHECKING:
    from wengert.functions.trace import Trace


_PLUGIN = "graph_run_metadata_graph"  # TensorBoard's name for graphs of functions that ran
_lock = new_lock()


class _Tracing(Observer):
    """The functions that were called since `trace_on`."""

    def __init__(self, graph: bool, profiler: bool) -> None:
        self.graphs: dict[int, Graph] = {}
        self.profiler = profiler
        if graph:
            subscribe(self)

    def run(
        self, proceed: Any, trace: Trace, leaves: list[Tensor], site: RawSite
    ) -> tuple[Tensor, Tensor]:
        self.graphs[id(trace.graph)] = trace.graph
        return proceed(trace, leaves, site)


class _Process:
    """The tracing that `trace_on` began, if any; at most one per process."""

    tracing: _Tracing | None = None

    @classmethod
    def take(cls) -> _Tracing | None:
        """Ends the state, and says what it was."""
        with _lock:
            result, cls.tracing = cls.tracing, None
        return result


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Notes the functions that run from here on, for `trace_export`.

    With `profiler` a profile is taken too, which goes to `profiler_outdir`.
    """
    with _lock:
        if _Process.tracing is not None:
            warn("trace_on: it is on already. Call trace_off() or trace_export() first.")
            return
        if profiler:
            if profiler_outdir is None:
                raise at_site(ValueError("trace_on: with `profiler` give `profiler_outdir`."))
            from wengert.profiler.session import start

            start(profiler_outdir)
        _Process.tracing = _Tracing(graph, profiler)


def trace_off() -> None:
    """Stops noting functions, and forgets them."""
    result = _Process.take()
    if result is not None:
        unsubscribe(result)
        if result.profiler:
            from wengert.profiler.session import stop

            stop(save=False)


def trace_export(name: str, step: TensorLike | None = None, profiler_outdir: Any = None) -> None:
    """Stops noting functions, and writes the graphs of those that ran as one summary."""
    result = _Process.take()
    if result is None:
        raise at_site(
            ValueError("trace_export: nothing was traced. Call tf.summary.trace_on() first.")
        )
    unsubscribe(result)
    if result.profiler:
        from wengert.profiler.session import stop

        stop()
    if target(step) is None:
        return
    message = load("compat.proto.config_pb2").RunMetadata()
    for one in result.graphs.values():
        message.function_graphs.add().pre_optimization_graph.CopyFrom(graph_def(one))
    shown = load("compat.proto.summary_pb2").SummaryMetadata()
    shown.plugin_data.plugin_name, shown.plugin_data.content = _PLUGIN, b"1"
    with summary_scope(name, "graph_run_metadata_summary") as (tag, _):
        write(tag, np.array(message.SerializeToString(), object), step, shown)


def graph(graph_data: Any) -> bool:
    """Writes the graph of a function: `tf.summary.graph(f.get_concrete_function(...).graph)`."""
    destination = target(0)
    if destination is None:
        return False
    if isinstance(graph_data, Graph):
        graph_data = graph_def(graph_data)
    if not hasattr(graph_data, "SerializeToString"):
        raise at_site(
            TypeError(f"graph: `graph_data` must be the graph of a function; got "
                      f"{describe(graph_data)}.")
        )  # fmt: skip
    destination[0].file.add_graph(graph_data.SerializeToString())
    return True


def graph_def(graph: Graph) -> Any:
    """A graph as TensorBoard's message."""
    message = load("compat.proto.graph_pb2").GraphDef()
    _Writing(message).all(graph, graph.name.strip("<>") + "/", {})
    return message


class _Writing:
    """Adds the nodes of a graph, and of those inside it, under names that are scopes."""

    def __init__(self, message: Any) -> None:
        self._message = message
        self._taken: set[str] = set()

    def all(self, graph: Graph, scope: str, outer: dict[int, str]) -> None:
        names = dict(outer)
        for value in graph.all_inputs():
            if value not in names:
                names[value] = self._input(graph, value, scope)
        for value, array in graph.constants.items():
            spec = ShapeDtype(array.shape, graph.specs[value].dtype)
            names[value] = self._add(f"{scope}constant_{value}", "Const", (), spec)
        for node in graph.nodes:
            self._node(graph, node, scope, names)

    def _input(self, graph: Graph, value: int, scope: str) -> str:
        held = next((h for h in graph.held.values() if h.initial == value), None)
        label = graph.label(value) if held is None else held.variable.name.partition(":")[0]
        kind = "Placeholder" if held is None else "Variable"
        return self._add(f"{scope}{label}", kind, (), graph.specs[value])

    def _node(self, graph: Graph, node: Node, scope: str, names: dict[int, str]) -> None:
        number = node.outputs[0] if node.outputs else len(self._message.node)
        kind = "".join(word.capitalize() for word in node.op.name.split("_"))
        given = [names[v] for v in node.reads() if v in names]
        specs = [graph.specs[v] for v in node.outputs]
        name = self._add(f"{scope}{node.op.name}_{number}", kind, given, *specs, site=node.site)
        for k, value in enumerate(node.outputs):
            names[value] = name if not k else f"{name}:{k}"
        for k, inner in enumerate(inner_graphs(node)):
            self.all(inner, f"{name}/{k}/", {})

    def _add(
        self, name: str, kind: str, given: Any, *specs: ShapeDtype, site: RawSite | None = None
    ) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        node = self._message.node.add(name=name, op=kind, input=given)
        if specs:
            node.attr["dtype"].type = specs[0].dtype.as_datatype_enum
        for spec in specs:
            _shape(node.attr["_output_shapes"].list.shape.add(), spec)
        where = locate(site)
        if where is not None:
            node.attr["line"].s = str(where).encode()
        return name


def _shape(message: Any, spec: ShapeDtype) -> None:
    message.unknown_rank = spec.shape is None
    for size in spec.shape or ():
        message.dim.add(size=-1 if size is None else size)
