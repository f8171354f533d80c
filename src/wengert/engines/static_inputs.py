"""Inputs whose values XLA must know, since shapes are made from them.

`jit_compile=True` demands a compiled program even then: it is compiled anew for each value of
these inputs, as TensorFlow does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.lowering_checks import NotFixed
from wengert.core.padded_stacks import Padded
from wengert.core.shapes import size
from wengert.core.types import JaxArray
from wengert.graph.folding import SMALL
from wengert.graph.ir import CacheKey, Graph, Node
from wengert.ops.nodes import CALL, LOOP, SWITCH

# Where the inputs of the graph inside a node begin among its own.
_FIRST = {CALL: 0, SWITCH: 1}


def note_sources(
    error: NotFixed, graph: Graph, node: Node, env: dict[int, JaxArray | np.ndarray]
) -> None:
    """Says in the error which inputs of the graph the number comes from that is not known.

    Called at the node where lowering stopped, then at each node around it, outwards.
    """
    inner, first = error.places, _FIRST.get(node.op)
    if inner is None or first is None:
        wanted = [v for v in node.reads() if graph.specs[v].dtype.is_integer]
        wanted += [v for stack in node.reads() for v in _counts(graph, stack, env)]
    else:
        wanted = [node.inputs[first + k] for k in inner]
    starts = graph.all_inputs()
    names: set[int] = set()
    for value in wanted:
        sources = _sources(graph, value, env)
        if all(v in starts and _may_be_fixed(graph, v) for v in sources):
            names |= sources
    error.places = {starts.index(v) for v in names}
    error.values = names


def _counts(graph: Graph, value: int, env: dict[int, JaxArray | np.ndarray]) -> list[int]:
    """What decides how many rows of a stack count: whole numbers that its loop has been given."""
    node = graph.maker(value) if type(env.get(value)) is Padded else None
    if node is None:
        return []
    if node.op is LOOP and node.attrs["test"] is None:
        return [node.inputs[0]]
    inner = [v for stack in node.inputs for v in _counts(graph, stack, env)]
    return inner or [v for v in node.reads() if graph.specs[v].dtype.is_integer]


def _sources(graph: Graph, value: int, env: dict[int, JaxArray | np.ndarray]) -> set[int]:
    """The values without a maker that a value is computed from, as far as they are not known."""
    makers = {v: node for node in graph.nodes for v in node.outputs}
    seen, left, result = set(), [value], set()
    while left:
        here = left.pop()
        if here in seen or isinstance(env.get(here), np.ndarray):
            continue
        seen.add(here)
        maker = makers.get(here)
        if maker is None:
            result.add(here)
        else:
            left.extend(maker.reads())
    return result


def _may_be_fixed(graph: Graph, value: int) -> bool:
    """Whether an input is small, and no variable."""
    count = size(graph.specs[value].shape)
    if count is not None and count > SMALL:
        return False
    return all(held.initial != value for held in graph.held.values())


FIXED: CacheKey[tuple[int, ...]] = CacheKey("inputs that a program is compiled for")


def fix_more(graph: Graph, error: NotFixed) -> bool:
    """Marks the inputs that an error asks for; whether there are new ones."""
    fixed = graph.cache.get(FIXED, ())
    starts = graph.all_inputs()
    new = {starts.index(v) for v in error.values if v in starts} - set(fixed)
    graph.cache[FIXED] = tuple(sorted({*fixed, *new}))
    return bool(new)


def values(graph: Graph, arrays: list[Any]) -> dict[int, np.ndarray]:
    """The values, by place, that the program is to be compiled for."""
    return {k: np.asarray(arrays[k]) for k in graph.cache.get(FIXED, ())}
