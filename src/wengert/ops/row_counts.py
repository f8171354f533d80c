"""How many rows the buffer of a `TensorArray` has, where a graph tells.

Until the first write the rows have no shape, and then the spec of a buffer cannot hold its count.
The count is that of the buffer it was made from, through writes, branches and loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.dims import Dim
from wengert.graph.ir import Graph
from wengert.ops.nodes import LOOP, SWITCH
from wengert.ops.rows import NEW_ROWS, WRITE_ROW

if TYPE_CHECKING:
    from wengert.graph.ir import Node


def row_count(graph: Graph, value: int) -> int | None:
    """The number of rows of a buffer, or `None` where only the running graph knows it."""
    first = _origin(graph, value)
    shape = graph.specs[first].shape
    if shape is not None and shape[0] is not None:
        return shape[0]
    node = graph.maker(first)
    if node is None or node.op is not NEW_ROWS or node.attrs["grows"]:
        return None
    content = graph.content(node.inputs[0])
    result: Any = None if content is None else content[()]
    return None if result is None or type(result) is Dim else int(result)


def _origin(graph: Graph, value: int) -> int:
    """The value of the same graph that a buffer has its number of rows from."""
    for node in reversed(graph.nodes):
        if value in node.outputs:
            before = _before(node, node.outputs.index(value))
            if before is None:
                return value
            value = before
    return value


def _before(node: Node, k: int) -> int | None:
    """The input of a node that has as many rows as its result `k`."""
    op, attrs = node.op, node.attrs
    if op is WRITE_ROW and not attrs["grows"]:
        return node.inputs[0]
    if op is LOOP and 1 <= k <= attrs["states"]:
        body = attrs["body"]
        return node.inputs[1 + k] if _origin(body, body.outputs[k - 1]) == body.inputs[k] else None
    if op is SWITCH:
        names = {_place(branch, k) for branch in attrs["branches"]}
        place = names.pop()
        return None if names or place is None else node.inputs[1 + place]
    return None


def _place(branch: Graph, k: int) -> int | None:
    """Which input of a branch its result `k` has its rows from."""
    first = _origin(branch, branch.outputs[k])
    return branch.inputs.index(first) if first in branch.inputs else None
