"""Random states in graphs: drawn for each run, derived for each turn of a loop.

Where states come from when a graph runs is known to the random operations, not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import dtypes
from wengert.core import late_operations as late
from wengert.core import random_replay as drawing
from wengert.core.types import ShapeDtype, SymbolicTensor, Tensor
from wengert.graph.ir import Draw

if TYPE_CHECKING:
    from wengert.graph.builder import Builder


def drawn(graph: Builder, kind: str, seed: int | None) -> Any:
    """A random state: drawn for each run, and in a loop derived for each turn.

    A function draws for itself, also where its trace began inside another's: it may be called
    twice there.
    """
    home, parent = drawing.home(), graph.parent
    if parent is None or home is None or home is graph or not graph.is_inside(home):
        return drawing.draw(lambda: _fresh(graph, kind, seed))
    return _derived(graph, graph.tensor(graph.value_of(drawn(parent, kind, seed))))


def _fresh(graph: Builder, kind: str, seed: int | None) -> Tensor:
    if graph.parent is None or graph.on_create is not None:
        key = ("draw", len(graph.captures))
        return graph.tensor(
            graph.capture(key, Draw(kind, seed), ShapeDtype((3,), dtypes.uint64), None)
        )
    outer = _fresh(graph.parent, kind, seed)
    return _derived(graph, graph.tensor(graph.value_of(outer)))


def _derived(graph: Builder, state: SymbolicTensor | Tensor) -> Tensor:
    """A random state for this turn of a loop."""
    if graph.turn is None:
        return state
    return late.DERIVE.call(state, graph.turn)
