"""Numbers that a program reads again and again, written down once in what XLA compiles."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.lazy_modules import lax
from wengert.graph.graph_records import Node
from wengert.graph.ir import Graph

if TYPE_CHECKING:
    from wengert.core.types import JaxArray


# How many operations read a number before it gets a name of its own.
_OFTEN = 8


def read_often(graph: Graph) -> dict[int, Any]:
    """The numbers that many elementwise operations read, as unrolled loops have them."""
    uses = Counter([v for n in graph.nodes if n.op.broadcasts for v in n.inputs])
    return {
        v: None
        for v, c in graph.constants.items()
        if uses[v] > _OFTEN and not c.ndim and c.dtype.num in dtypes.INEXACT
    }


def named_once(
    node: Node, given: list[JaxArray | np.ndarray], often: dict[int, Any]
) -> list[JaxArray | np.ndarray]:
    """The same arguments, where a number that is read often is one value of the program.

    JAX writes a scalar down anew wherever it is used, which takes as long as the operation. Of a
    vector of one it makes a constant; XLA sees the number through the reshape.
    """
    if all(isinstance(x, np.ndarray) for x in given):
        return given  # worked out at once
    results = [*given]
    for k, v in enumerate(node.inputs):
        if v in often:
            if often[v] is None:
                often[v] = lax.reshape(given[k].reshape(1), ())
            results[k] = often[v]
    return results
