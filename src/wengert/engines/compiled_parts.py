"""Parts of a host graph that may be compiled all the same.

Printing, Python calls, strings and shapes that depend on data keep a graph on the host. What lies
between them is put into calls of graphs of their own, and each call is run by whichever engine
suits its work.
"""

from __future__ import annotations

from wengert.engines.lower import LOWERINGS
from wengert.graph.ir import Graph, Node, inner_graphs
from wengert.graph.passes import needs_no_passes
from wengert.ops.nodes import CALL
from wengert.ops.rows import FIT_ROWS

# A part of fewer nodes is not worth a call.
_LEAST = 16


def needs_host(node: Node) -> bool:
    """Whether only the host can run a node."""
    lowers = node.op.lower is not None or node.op in LOWERINGS
    return not lowers or node.op.calls_python


def _stays(graph: Graph, node: Node) -> bool:
    # What makes lists of rows on the host must stay beside what reads them.
    if needs_host(node) or node.op.row_lists or node.op is CALL:
        return True
    if node.op is FIT_ROWS:  # of a loop's rows, which are a list where their sizes differ
        shape = graph.specs[node.inputs[1]].shape
        return shape is None or None in shape[1:]
    return any(_stays(g, n) for g in inner_graphs(node) for n in g.nodes)


def with_compiled_parts(graph: Graph) -> Graph:
    """The graph with its compilable stretches as calls; itself, if nothing keeps it on the host."""
    if len(graph.nodes) < _LEAST or not any(_stays(graph, n) for n in graph.nodes):
        return graph
    new = graph.copy()
    new.nodes = []
    stretch: list[Node] = []
    for k, node in enumerate([*graph.nodes, None]):
        if node is not None and not _stays(graph, node):
            stretch.append(node)
            continue
        new.nodes.extend(_island(graph, stretch, graph.nodes[k:]))
        stretch = []
        if node is not None:
            new.nodes.append(node)
    return needs_no_passes(new)


def _island(graph: Graph, nodes: list[Node], later: list[Node]) -> list[Node]:
    if len(nodes) < _LEAST:
        return nodes
    made = {v for n in nodes for v in n.outputs}
    given = dict.fromkeys(v for n in nodes for v in n.reads() if v not in made)
    wanted = {v for n in later for v in n.reads()} | set(graph.all_outputs())
    part = Graph(graph.name)
    part.site = graph.site
    part.nodes = list(nodes)
    part.specs, part.sites, part.labels = graph.specs, graph.sites, graph.labels
    part.constants = {v: graph.constants[v] for v in given if v in graph.constants}
    part.inputs = [v for v in given if v not in graph.constants]
    part.outputs = [v for n in nodes for v in n.outputs if v in wanted]
    attrs = {"graph": part, "jit": "auto", "recompute": False}
    return [Node(CALL, tuple(part.inputs), tuple(part.outputs), attrs, nodes[0].site)]
