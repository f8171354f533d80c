"""Operations on stacks of which only some rows count, while lowering.

What a loop of unknown length has written travels as `Padded` through nodes that hold graphs,
through operations that declare `takes_padded`, and through elementwise ones. Everything else would
take the capacity for a size, so the graph is given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.lazy_modules import jax
from wengert.core.lowering_checks import gathering
from wengert.core.padded import Lowered, Padded, RowCount, rows_unknown, single
from wengert.graph.ir import CacheKey, Graph, Node
from wengert.ops.nodes import CALL, LOOP, SWITCH
from wengert.ops.rows import FIT_ROWS

if TYPE_CHECKING:
    from wengert.core.types import JaxArray


# By number of an output, how many of its leading axes may be longer than what counts.
SLACK: CacheKey[dict[int, int]] = CacheKey("outputs that keep the capacity of their buffers")
_ALL_AXES = 8


def slack(graph: Graph, value: int) -> int:
    """How many leading axes of a value may be longer than what counts, by what a graph does with it.

    A loop reads as many rows of a stack as it makes turns, so what saved rows hold beyond is never
    seen; what nodes that hold graphs do with a row decides about the next axis.
    """
    if value in graph.all_outputs():
        return 0
    least = _ALL_AXES
    for node in graph.nodes:
        if value in node.reads()[len(node.inputs) :]:  # for its sizes
            return 0
        places = [k for k, v in enumerate(node.inputs) if v == value]
        least = min([least, *[_slack_at(graph, node, k) for k in places]])
    return least


def _slack_at(graph: Graph, node: Node, k: int) -> int:
    attrs = node.attrs
    if node.op is FIT_ROWS and k:  # another stack gets as many rows
        return min(1, slack(graph, node.outputs[0]))
    if node.op is LOOP and k > 1 + attrs["states"]:
        of_row = slack(attrs["body"], attrs["body"].inputs[k - 1])
        if k > 1 + attrs["states"] + attrs["invariants"]:
            return 1 + of_row
        test = attrs["test"]
        return of_row if test is None else min(of_row, slack(test, test.inputs[k - 1]))
    if node.op is SWITCH and k:
        return min([slack(b, b.inputs[k - 1]) for b in attrs["branches"]])
    return slack(attrs["graph"], attrs["graph"].inputs[k]) if node.op is CALL else 0


def has_count(attr: object) -> bool:
    """Whether an attribute is or holds the number of rows of a stack."""
    return any(map(has_count, attr)) if type(attr) is tuple else type(attr) is RowCount


def size_of(x: Lowered, axis: int) -> Any:
    """A size of a value: for rows that are counted, the number of those."""
    if type(x) is not Padded:
        return x.shape[axis]
    if axis >= len(x.counts) or x.counts[axis] is None:
        return x.array.shape[axis]
    if axis:
        raise rows_unknown()
    return RowCount(x)


def sizes(node: Node, x: Padded, dtype: np.dtype) -> JaxArray:
    """The result of an operation that depends on the shape of its input alone."""
    assert node.op.sizes is not None
    result = node.op.sizes((x.length.astype(dtype), *x.array.shape[1:]))
    if isinstance(result, tuple):
        return jax.numpy.stack([jax.numpy.asarray(n, dtype) for n in result])
    return jax.numpy.asarray(result, dtype)


def lowered(node: Node, given: Sequence[Lowered], attrs: dict[str, Any]) -> Any:
    """The result of an operation where an argument is `Padded`, or an attribute its length."""
    lower = node.op.lower
    if lower is not None and node.op.takes_padded:
        return lower(*given, **attrs)
    if lower is None or not node.op.elementwise or any(map(has_count, attrs.values())):
        raise rows_unknown()
    stack = _common(given)
    arrays = [x.array if type(x) is Padded else x for x in given]
    with gathering() as checks:
        result = lower(*arrays, **attrs)
    if checks or result.shape != stack.array.shape:  # a row that does not count must not fail
        raise rows_unknown()
    return stack.mapped(lambda _: result)


def _common(given: Sequence[Lowered]) -> Padded:
    """The one length that the rows of all arguments have; others are spread over the rows."""
    stacks: list[Padded] = [single(x) for x in given if type(x) is Padded]
    first = stacks[0]
    rank = len(first.array.shape)
    for x in given:
        counted = type(x) is Padded
        shape = x.array.shape if counted else x.shape
        if counted and x.counts[0] is not first.counts[0]:
            raise rows_unknown()
        if len(shape) > rank or counted != (len(shape) == rank and shape[0] != 1):
            raise rows_unknown()
    return first


def row_form(stack: Lowered) -> Any:
    """A stack as a tree of arrays each of which has a row for each turn, for `row_of`."""
    return Padded(stack.array, stack.counts[1:]) if type(stack) is Padded else stack


def row_of(form: Lowered) -> Any:
    """The row that the arrays of a `row_form` were cut down to."""
    if type(form) is Padded and all(c is None for c in form.counts):
        return form.array
    return form


def stack_of(form: Lowered, count: JaxArray | None) -> Any:
    """The stack of rows that are arrays or `Padded`; `count` of them count, `None` for all."""
    if type(form) is Padded:
        return Padded(form.array, (count, *form.counts))
    return form if count is None else Padded(jax.numpy.asarray(form), (count,))
