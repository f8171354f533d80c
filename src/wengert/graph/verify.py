"""Checks that a graph is well formed; run after every build in the tests."""

from __future__ import annotations

from wengert.graph.ir import Graph, inner_graphs


def verify(graph: Graph) -> None:
    """Raises `AssertionError` where a graph breaks a rule of its own making."""
    known = {*graph.all_inputs(), *graph.constants}
    assert len(known) == len(graph.all_inputs()) + len(graph.constants), (
        f"{graph.name}: a value is given twice"
    )
    for k, node in enumerate(graph.nodes):
        where = f"{graph.name}, node {k} ({node.op.name})"
        for value in node.reads():
            assert value in known, f"{where} reads v{value} before it is there"
        for value in node.outputs:
            assert value not in known, f"{where} writes v{value} again"
            assert value in graph.specs, f"{where}: v{value} has no shape and dtype"
            known.add(value)
        for inner in inner_graphs(node):
            verify(inner)
    for value in graph.all_outputs():
        assert value in known, f"{graph.name} returns v{value}, which is not there"
