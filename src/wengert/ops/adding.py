"""Sums of a tensor and a gradient that is zero but for a few rows: XLA makes them in place.

A loop adds up the gradients of what it reads by position. Written as a sum, that would cost the
whole tensor in each turn; here it costs the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.graph.ir import Node
from wengert.graph.passes import FUSED
from wengert.ops.arithmetic import ACCUMULATE
from wengert.ops.declare import JaxArray, Op, apply, as_value, lax
from wengert.ops.gather import GATHER, GATHER_GRAD, lower_gather_sum
from wengert.ops.row_list import Rows, increased
from wengert.ops.slicing import PUT, TAKE

if TYPE_CHECKING:
    from wengert.graph.ir import Graph


def _add_at_kernel(x: Any, i: np.ndarray, g: np.ndarray, axis: int) -> np.ndarray | Rows:
    if type(x) is Rows:
        return increased(x, int(i) % len(x), g)
    out = x.copy()
    out[(slice(None),) * axis + (int(i),)] += g
    return out


def _lower_add_at(x: JaxArray, i: JaxArray, g: JaxArray, axis: int) -> JaxArray:
    i = lax.select(i < 0, i + as_value(x.shape[axis], i.dtype), i)
    old = lax.dynamic_index_in_dim(x, i, axis, keepdims=False)
    return lax.dynamic_update_index_in_dim(x, lax.add(old, g), i, axis)


# The sum of a tensor and a `put`: XLA does it in place where a loop adds up.
ADD_AT = Op(
    "add_at",
    "x i g",
    kernel=_add_at_kernel,
    infer=lambda x, i, g, axis: x,
    lower=_lower_add_at,
    grad=(lambda h: h, None, lambda h, i, axis: apply(TAKE, h, i, axis=axis)),
    match=(0, 2),
    register=False,
)


def _same_shape(graph: Graph, node: Node, other: int, made: Node) -> bool:
    """Whether the sum does not broadcast, and has elements."""
    shape = graph.specs[other].shape
    if node.op is ACCUMULATE:
        return shape is not None and 0 not in shape
    if shape is None or None in shape or 0 in shape:
        return False
    return shape == graph.specs[made.outputs[0]].shape


def _add_at(graph: Graph, node: Node, other: int, put: Node) -> Node | None:
    if not _same_shape(graph, node, other, put):
        return None
    g, i = put.inputs
    return Node(ADD_AT, (other, i, g), node.outputs, {"axis": put.attrs["axis"]}, node.site)


def _lower_gathered(x: Any, g: Any, i: Any, axis: int, batch_dims: int) -> Any:
    if x.dtype.itemsize > 2:
        return lower_gather_sum(x, g, i, axis, batch_dims)
    assert GATHER_GRAD.lower is not None  # it sums half precision in float32
    result = GATHER_GRAD.lower(g, i, shape=x.shape, axis=axis, batch_dims=batch_dims)
    return lax.add(x, result)


# The sum of a tensor and a `gather_grad`.
ADD_GATHERED = Op(
    "add_gathered",
    "x g i",
    kernel=lambda x, g, i, **attrs: x + GATHER_GRAD.kernel(g, i, shape=x.shape, **attrs),
    infer=lambda x, g, i, axis, batch_dims: x,
    lower=_lower_gathered,
    grad=(
        lambda h: h,
        lambda h, i, axis, batch_dims: apply(GATHER, h, i, axis=axis, batch_dims=batch_dims),
        None,
    ),
    match=(0, 1),
    register=False,
)


def _add_gathered(graph: Graph, node: Node, other: int, made: Node) -> Node | None:
    if not _same_shape(graph, node, other, made):
        return None
    attrs = {k: made.attrs[k] for k in ("axis", "batch_dims")}
    return Node(ADD_GATHERED, (other, *made.inputs), node.outputs, attrs, node.site)


FUSED.fill(__name__, {PUT: _add_at, GATHER_GRAD: _add_gathered})
