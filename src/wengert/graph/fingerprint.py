"""A key for the content of a graph: equal for graphs that do the same to their inputs."""

from __future__ import annotations

from typing import Any

from wengert.core.types import Dim
from wengert.graph.ir import Graph, cached_on_graph
from wengert.graph.passes import exact, optimised


@cached_on_graph("fingerprint")
def fingerprint(graph: Graph) -> _Key:
    """A hashable key of operations, attributes, constants and how values flow."""
    return _Key(_describe(optimised(graph)))


class _Key:
    """A large key that is hashed once."""

    __slots__ = ("content", "number")

    def __init__(self, content: Any) -> None:
        self.content = content
        self.number = hash(content)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Key) and self.content == other.content)


def _describe(graph: Graph) -> Any:
    order: dict[int, int] = {}
    for value in graph.all_inputs():
        order[value] = len(order)
    constants = []
    for value, array in graph.constants.items():
        order[value] = len(order)
        content = tuple(array.ravel().tolist()) if array.dtype.kind == "O" else array.tobytes()
        constants.append((array.dtype.str, array.shape, content))
    nodes = []
    for node in graph.nodes:
        for value in node.outputs:
            order[value] = len(order)
        attrs = tuple([(k, _attr(a, order)) for k, a in sorted(node.attrs.items())])
        nodes.append((node.op, tuple([order[v] for v in node.inputs]), attrs))
    inputs = tuple([(graph.specs[v].shape, graph.specs[v].dtype.name) for v in graph.all_inputs()])
    kept = tuple([h.initial is not None and order[h.initial] for h in graph.written()])
    ends = tuple([order[v] for v in graph.all_outputs()])
    return inputs, tuple(constants), tuple(nodes), ends, len(graph.outputs), kept


def _attr(attr: Any, order: dict[int, int]) -> Any:
    if isinstance(attr, Graph):
        return fingerprint(attr)
    if type(attr) is tuple:
        return tuple([_attr(a, order) for a in attr])
    if isinstance(attr, Dim):
        if attr.is_leaf:
            return (attr.kind, order[attr.args[1]], attr.args[2])
        return (attr.kind, *[_attr(a, order) for a in attr.args])
    try:
        hash(attr)
    except TypeError:
        return _ById(attr)
    return exact(attr)


class _ById:
    """An attribute that is known only by being the same object."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.value is self.value
