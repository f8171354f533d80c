"""How both engines run branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import describe
from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import NotFixed
from wengert.core.padded_stacks import Padded, rows_unknown
from wengert.core.types import JaxArray
from wengert.engines import host
from wengert.engines.lower import LOWERINGS, lower_graph
from wengert.engines.subgraph_lowering import Inside, report
from wengert.graph.ir import Graph, Node
from wengert.ops.nodes import SWITCH

if TYPE_CHECKING:
    from wengert.engines.lower import Lowering
    from wengert.ops.row_list import Rows


def _run_switch(graph: Graph, node: Node) -> Any:
    branches = [host.prepared(b) for b in node.attrs["branches"]]
    own = node.attrs["own"]
    common = len(node.outputs) - sum(own)
    last = len(branches) - 1
    # In the place of what only a branch gives that was not taken. Nobody reads it, but a loop may
    # stack it with what other turns give, so it has the dtype.
    blank = [np.zeros((), graph.specs[v].dtype.np) for v in node.outputs[common:]]

    def run(index: np.ndarray, *arrays: Any) -> list[np.ndarray | Rows]:
        i = int(index)
        i = i if 0 <= i <= last else last
        result = branches[i](*arrays)
        if common == len(node.outputs):
            return result
        before, after = sum(own[:i]), sum(own[i + 1 :])
        rest = blank[len(blank) - after :]
        return [*result[:common], *blank[:before], *result[common:], *rest]

    return run


def _lower_switch(
    graph: Graph, node: Node, given: list[JaxArray | np.ndarray], attrs: Any, low: Lowering
) -> list[JaxArray | np.ndarray]:
    index, *arrays = given
    last = len(attrs["branches"]) - 1
    common = len(node.outputs) - sum(attrs["own"])
    if isinstance(index, np.ndarray) and common == len(node.outputs):  # known by the shapes
        taken = int(index) if 0 <= int(index) <= last else last
        return lower_graph(attrs["branches"][taken], arrays, low)
    index = lax.convert_element_type(index, np.int32)
    index = lax.select((index < 0) | (index > last), np.int32(last), index)
    parts = [Inside(low, b, dict(enumerate(arrays))) for b in attrs["branches"]]
    shapes = [p.shapes() for p in parts]
    if any(p.left for p in parts):
        raise NotFixed("a TensorArray is written in one branch only, before its rows have a shape")
    rooms = _rooms([s[0][:common] for s in shapes])
    counts = [len(p.keys) for p in parts]

    def branch(k: int) -> Any:
        # Each branch also answers for what only the others give or want.
        def call() -> Any:
            results, bad, wanted = parts[k].run()
            none = lax.full((), 0, np.int32)
            before, after = sum(counts[:k]), sum(counts[k + 1 :])
            filled = [_padded_to(room, x) for room, x in zip(rooms, results[:common], strict=True)]
            for b, (result, _, _) in enumerate(shapes):
                blanks = jax.tree.map(lambda s: lax.full(s.shape, 0, s.dtype), result[common:])
                filled += results[common:] if b == k else blanks
            return filled, bad, [none] * before + wanted + [none] * after

        return call

    results, bad, wanted = lax.switch(index, [branch(k) for k in range(len(parts))])
    report(low, parts, bad, wanted)
    return results


def _rooms(results: list[Any]) -> list[tuple[int, ...] | None]:
    """The largest capacities of each result, `None` for one of which all entries count.

    Results of different shapes, capacities aside, are refused.
    """
    return [_room(k, one) for k, one in enumerate(zip(*results, strict=True))]


def _room(k: int, results: Sequence[Any]) -> tuple[int, ...] | None:
    a = results[0]
    for b in results[1:]:
        if Padded in (type(a), type(b)):
            if not _alike(a, b):
                raise rows_unknown()
        elif a.shape != b.shape or a.dtype != b.dtype:
            raise NotFixed(
                f"all branches must give result {k} the same shape; got {describe(a)} and "
                f"{describe(b)}"
            )
    if type(a) is not Padded:
        return None
    return tuple(map(max, zip(*[x.array.shape for x in results], strict=True)))


def _alike(a: Any, b: Any) -> bool:
    """Whether two results are arrays of the same shapes, of which the same may not count."""
    if jax.tree.structure(a) != jax.tree.structure(b) or a.dtype != b.dtype:
        return False
    counted = [c is not None for c in a.counts]
    sizes = enumerate(zip(a.array.shape, b.array.shape, strict=False))
    return len(a.array.shape) == len(b.array.shape) and all(
        m == n or (axis < len(counted) and counted[axis]) for axis, (m, n) in sizes
    )


def _padded_to(room: tuple[int, ...] | None, x: Any) -> Any:
    """A stack with more entries that do not count, up to the capacities of `room`."""
    if room is None or x.array.shape == room:
        return x

    def grown(array: JaxArray) -> JaxArray:
        more = [(0, n - d, 0) for n, d in zip(room, array.shape, strict=False)]
        return lax.pad(array, np.zeros((), array.dtype), more)

    return jax.tree.map(grown, x)


host.RUNNERS.fill(__name__, {SWITCH: _run_switch})
LOWERINGS.fill(__name__, {SWITCH: _lower_switch})
