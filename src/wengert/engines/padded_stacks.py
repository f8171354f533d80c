"""Operations on stacks of which only some rows count, while lowering.

What a loop of unknown length has written travels as `Padded` through nodes that hold graphs,
through operations that declare `takes_padded`, and through elementwise ones. Everything else would
take the capacity for a size, so the graph is given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dims
from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import fail_if, gathering
from wengert.core.padded_stacks import Lowered, Padded, RowCount, rows_unknown
from wengert.core.types import JaxArray
from wengert.graph.ir import CacheKey, Graph, Node
from wengert.ops.nodes import CALL, LOOP, SWITCH
from wengert.ops.rows import FIT_ROWS

# By number of an output, how many of its leading axes may be longer than what counts.
SLACK: CacheKey[dict[int, int]] = CacheKey("outputs that keep the capacity of their buffers")
_ALL_AXES = 8


def slack(graph: Graph, value: int) -> int:
    """How many leading axes of a value may be longer than what counts, by how a graph reads it.

    A loop reads as many rows of a stack as it makes turns, so what saved rows hold beyond is never
    seen; what nodes that hold graphs do with a row decides about the next axis.
    """
    return _slack(_Uses(graph, {}), value, False)


class _Uses(NamedTuple):
    """A graph, and how many leading axes of its outputs may be longer than what counts."""

    graph: Graph
    of_outputs: dict[int, int]


def _slack(uses: _Uses, value: int, exact: bool) -> int:
    """`slack` of a value, whose first axis is as long as it should be if `exact`."""
    least = _ALL_AXES
    for k, output in enumerate(uses.graph.all_outputs()):
        if output == value:
            least = min(least, uses.of_outputs.get(k, 0))
    for node in uses.graph.nodes:
        if value in node.reads()[len(node.inputs) :]:  # for its sizes
            return 0
        numbers = [k for k, v in enumerate(node.inputs) if v == value]
        least = min([least, *[_slack_at(uses, node, k, exact) for k in numbers]])
    return least


def _slack_at(uses: _Uses, node: Node, k: int, exact: bool) -> int:
    attrs = node.attrs
    if node.op is FIT_ROWS:  # the first stack gets the sizes of the second, filled up with zeros
        return _slack(uses, node.outputs[0], exact) if k or exact else 0
    if node.op is LOOP and k > 1 + attrs["states"]:
        first = 1 + attrs["states"]
        stacks = node.outputs[first:]
        of_rows = [max(0, _slack(uses, stack, True) - 1) for stack in stacks]
        body = _Uses(attrs["body"], dict(enumerate(of_rows, attrs["states"])))
        of_row = _slack(body, body.graph.inputs[k - 1], False)
        if k > first + attrs["invariants"]:
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
        return dims.size_of(x.shape, axis)
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
    counts, arrays = _aligned(given)
    with gathering() as checks:
        result = lower(*arrays, **attrs)
    if checks or len(result.shape) < len(counts):  # a row that does not count must not fail
        raise rows_unknown()
    return Padded(result, counts)


def _aligned(given: Sequence[Lowered]) -> tuple[tuple[JaxArray | None, ...], list[Any]]:
    """The counts that all stacks share, and the arrays, of one capacity; others are spread.

    Stacks of different loops may turn out to have different numbers of rows, which fails the step.
    """
    stacks: list[Padded] = [x for x in given if type(x) is Padded]
    first = max(stacks, key=lambda x: len(x.counts))
    rank = len(first.array.shape)
    capacity = list(first.array.shape)
    for x in given:
        shape = x.array.shape if type(x) is Padded else x.shape
        if type(x) is Padded:
            if len(shape) != rank:
                raise rows_unknown()
            _check_counts(first, x)
        elif len(shape) > rank:
            raise rows_unknown()
        for axis, size in enumerate(shape, rank - len(shape)):
            if axis < len(first.counts) and first.counts[axis] is not None:
                if type(x) is not Padded and size != 1:
                    raise rows_unknown()
                capacity[axis] = max(capacity[axis], size)
    return first.counts, [_enlarged(x, capacity) if type(x) is Padded else x for x in given]


def _check_counts(x: Padded, y: Padded) -> None:
    for axis, (m, n) in enumerate(zip_longest(x.counts, y.counts)):
        if m is n:
            continue
        if m is None or n is None:
            raise rows_unknown()
        m, n = [Padded(count, x.counts[:axis]).filled(0) for count in (m, n)]
        fail_if(lambda m=m, n=n: lax.ne(m, n))


def _enlarged(x: Padded, capacity: list[int]) -> JaxArray:
    """The array of a stack with the capacity of others on the axes that are counted."""
    more = [
        capacity[k] - size if k < len(x.counts) and x.counts[k] is not None else 0
        for k, size in enumerate(x.array.shape)
    ]
    if not any(more):
        return x.array
    return lax.pad(x.array, np.zeros((), x.dtype), [(0, n, 0) for n in more])


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
