"""What a graph that is run for each row gives where there are no rows: its results have sizes.

Shapes that were unknown while tracing are known now, so the graph is followed once more, for its
shapes alone. Sizes that depend on the numbers in a row stay unknown; they are taken for 0.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.errors import OpError
from wengert.core.hooks import Hook
from wengert.core.padded_stacks import Padded
from wengert.core.shapes import size
from wengert.core.types import JaxArray, ShapeDtype
from wengert.graph.ir import CacheKey, Graph
from wengert.graph.known_elements import CONTENT_TYPES
from wengert.ops.row_list import Rows
from wengert.ops.rows import Blank

if TYPE_CHECKING:
    from wengert.core.padded_stacks import Lowered


# What is known of an input: a spec, or an array of a few whole numbers, which may make sizes.
Known = ShapeDtype | np.ndarray
# How the specs of a graph's outputs follow from that; the room of functions fills it in.
FOLLOW: Hook[Callable[[Graph, list[Known]], list[ShapeDtype]]] = Hook(
    "follow", "wengert.functions.shape_inference"
)
_FEW = 64
# So many answers are kept for a graph.
_KEPT = 64


def empty_stacks(
    graph: Graph,
    given: list[JaxArray | np.ndarray] | tuple[np.ndarray | Rows, ...],
    rows: Container[int],
    fixed: Container[int],
    first: int = 0,
) -> list[Any]:
    """Shapes and dtypes of stacks without rows, for the outputs of `graph` from `first` on.

    `given` are arrays for its inputs. By place, of some it takes `rows`; others are `fixed`, the
    same for all rows.
    """
    made = [graph.specs[v] for v in graph.outputs]
    if any(size(s.shape) is None for s in made[first:]):
        own = [graph.specs[v] for v in graph.all_inputs()]
        known = [
            _known(s, x, k in rows, k in fixed)
            for k, (s, x) in enumerate(zip(own, given, strict=True))
        ]
        made = _followed(graph, known)
    return [((0, *[d or 0 for d in s.shape or ()]), s.dtype.np) for s in made[first:]]


def _known(own: ShapeDtype, x: Lowered | Rows, has_rows: bool, is_fixed: bool) -> Known:
    if type(x) is Rows or type(x) is Blank or type(x) is Padded or x.dtype != own.dtype.np:
        return own  # rows of different shapes, of none yet, or of an unknown number
    if is_fixed and type(x) is np.ndarray:
        return known_of(x)
    return ShapeDtype(tuple(x.shape[1:] if has_rows else x.shape), own.dtype)


def known_of(array: np.ndarray) -> Known:
    """What is known of an array that is there."""
    few = array.dtype.num in CONTENT_TYPES and array.size <= _FEW
    return array if few else ShapeDtype(array.shape, dtypes.of(array))


NO_ROWS: CacheKey[dict[tuple[Any, ...], list[ShapeDtype]]] = CacheKey(
    "specs of results without rows"
)


def _followed(graph: Graph, known: list[Known]) -> list[ShapeDtype]:
    answers = graph.cache.setdefault(NO_ROWS, {})
    key = tuple([(x.shape, x.tobytes()) if type(x) is np.ndarray else x for x in known])
    cached = answers.get(key)
    if cached is None:
        if len(answers) >= _KEPT:
            answers.clear()
        cached = answers[key] = _follow(graph, known)
    return cached


def _follow(graph: Graph, known: list[Known]) -> list[ShapeDtype]:
    try:
        return FOLLOW.call(graph, known)
    except (OpError, TypeError, ValueError, LookupError):
        # Rows of these sizes would be refused, but there are none.
        return [graph.specs[v] for v in graph.outputs]
