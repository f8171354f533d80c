"""Gradients that are a few rows among zeros, and how a loop adds them up row by row."""

from __future__ import annotations

from typing import Any

from wengert.core.apply import apply
from wengert.core.types import SymbolicTensor, Tensor
from wengert.graph.builder import building
from wengert.graph.ir import Graph
from wengert.ops.adding import ADD_AT
from wengert.ops.row_list import as_axis_rows
from wengert.ops.slicing import PUT
from wengert.tape.gradient_values import accumulate


def put_axis(graph: Graph, value: int) -> int | None:
    """The axis of a value that is nothing but rows put among zeros; `None` for any other."""
    maker = graph.maker(value)
    if maker is None:
        return None
    if maker.op is PUT:
        return maker.attrs["axis"]
    if not maker.op.sums:
        return None
    first, second = (put_axis(graph, v) for v in maker.inputs)
    return first if first == second else None


def added(rows: SymbolicTensor | Tensor, g: SymbolicTensor, axis: int) -> Any:
    """The rows of a sum with a gradient added: only to those rows that it has."""
    here: Any = building()
    value = here.value_of(g)
    if put_axis(here, value) != axis:
        return accumulate(rows, as_axis_rows(g, axis))
    maker = here.maker(value)
    if maker.op.sums:
        first, second = (here.tensor(v) for v in maker.inputs)
        return added(added(rows, first, axis), second, axis)
    row, place = (here.tensor(v) for v in maker.inputs)
    return apply(ADD_AT, rows, place, row, axis=axis)
