"""How often a loop can turn, where its condition is a comparison with a number known by now."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.graph.ir import Graph, Node
from wengert.graph.passes import optimised
from wengert.ops.arithmetic import ADD, SUBTRACT
from wengert.ops.compare import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, LOGICAL_AND


def most_turns(node: Node, given: Any) -> int | None:
    """An upper bound of the turns of a loop, given its inputs (NumPy arrays where known)."""
    return turns(node, given)[0]


def turns(node: Node, given: Any) -> tuple[int | None, bool]:
    """The same, and whether the loop makes just so many turns."""
    bounds = []
    exact = True
    count = given[0]
    if isinstance(count, np.ndarray) and int(count) >= 0:
        bounds.append(int(count))
    if node.attrs["test"] is not None:
        test = optimised(node.attrs["test"])
        result = _by_test(node, given)
        exact = len(result) == len(_conjuncts(test, test.outputs[0]))
        bounds.extend(max(most, 0) for *_, most in result)
    if not isinstance(count, np.ndarray):
        exact = False
    return (min(bounds), exact) if bounds else (None, False)


def counters(node: Node, given: Any) -> dict[int, tuple[int, int]]:
    """By place among the inputs of the body, the least and the most that a counter can be there."""
    table = {}
    most = most_turns(node, given)
    if isinstance(given[1], np.ndarray) and most:
        table[0] = (int(given[1]), int(given[1]) + most - 1)
    if node.attrs["test"] is not None:
        for place, start, step, count in _by_test(node, given):
            if count > 0:
                ends = (start, start + step * (count - 1))
                table[place] = (min(ends), max(ends))
    return table


def _by_test(node: Node, given: Any) -> list[tuple[int, ...]]:
    test, body = optimised(node.attrs["test"]), optimised(node.attrs["body"])
    results = []
    for part in _conjuncts(test, test.outputs[0]):
        counter = None if part is None else _counter(node, test, body, part, given)
        if counter is not None:
            results.append(counter)
    return results


def _conjuncts(test: Graph, value: int) -> list[Node | None]:
    """The comparisons that must all hold; `None` for what is something else."""
    maker = test.maker(value)
    if maker is not None and maker.op is LOGICAL_AND:
        return [n for v in maker.inputs for n in _conjuncts(test, v)]
    return [maker if maker is not None and maker.op in _ORDERS else None]


# Of `i < limit`: the direction in which `i` goes, and whether its last number is the limit itself.
_ORDERS = {LESS: (1, 0), LESS_EQUAL: (1, 1), GREATER: (-1, 0), GREATER_EQUAL: (-1, 1)}


def _counter(
    node: Node, test: Graph, body: Graph, part: Node, given: Any
) -> tuple[int, int, int, int] | None:
    """A state `i` that grows by a constant each turn until `i < limit` fails.

    Its place, its start, its step, and the turns until then.
    """
    sign, equal = _ORDERS[part.op]
    for k, (i, limit) in enumerate((part.inputs, part.inputs[::-1])):
        direction = sign if k == 0 else -sign
        place = _place(test, i)
        if place is None or not 0 <= place <= node.attrs["states"]:
            continue
        start = given[1 + place]
        end = _known(node, test, limit, given)
        step = _step(body, place)
        if end is None or step is None or not isinstance(start, np.ndarray) or start.ndim:
            continue
        if start.dtype.kind not in "iu" or step * direction <= 0:
            continue
        if not _fits(start.dtype, end + step):
            continue
        span = (end - int(start)) * direction + equal
        return place, int(start), step, -(-span // abs(step))
    return None


def _fits(dtype: np.dtype, last: int) -> bool:
    """Whether a counter gets past its limit without wrapping around."""
    info = np.iinfo(dtype)
    return info.min <= last <= info.max


def _place(graph: Graph, value: int) -> int | None:
    return graph.inputs.index(value) if value in graph.inputs else None


def _known(node: Node, test: Graph, value: int, given: Any) -> int | None:
    """A limit that is a constant, or an invariant that is known."""
    array = test.constants.get(value)
    if array is None:
        place = _place(test, value)
        if place is None or place <= node.attrs["states"]:
            return None
        array = given[1 + place]
    if not isinstance(array, np.ndarray) or array.ndim or array.dtype.kind not in "iu":
        return None
    return int(array)


def _step(body: Graph, place: int) -> int | None:
    """By how much a state grows each turn, if by a constant."""
    if place == 0:
        return 1
    maker = body.maker(body.outputs[place - 1])
    if maker is None or maker.op not in (ADD, SUBTRACT):
        return None
    x, y = maker.inputs
    for i, c in ((x, y), (y, x))[: 2 if maker.op is ADD else 1]:
        array = body.constants.get(c)
        if i == body.inputs[place] and array is not None and not array.ndim:
            step = int(array) if array.dtype.kind in "iu" else 0
            return step if maker.op is ADD else -step
    return None
