"""How both engines run replicas: in compiled code as rows of one program, on the host in lock step.

Replicas that share a device are rows under an axis with a name (`jax.vmap`), so that what they share
is there once. What fails in one of them fails in all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import require
from wengert.core.hooks import Hook
from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import fail_if
from wengert.core.padded_stacks import Padded, rows_unknown
from wengert.core.types import JaxArray
from wengert.engines import host
from wengert.engines.lower import LOWERINGS
from wengert.engines.padded_stacks import row_form, row_of, stack_of
from wengert.engines.replica_sums import with_joined_sums
from wengert.engines.subgraph_lowering import Inside, as_arrays
from wengert.graph.ir import Graph, Node
from wengert.ops.collectives import AXIS
from wengert.ops.nodes import REPLICATED

if TYPE_CHECKING:
    from wengert.engines.lower import Lowering

# A graph for all replicas at once, which the room of functions makes.
SIDE_BY_SIDE: Hook[Callable[[Graph, Any, Any, int], Graph]] = Hook(
    "replicas side by side", "wengert.functions.replica_steps"
)


def _run_replicated(graph: Graph, node: Node) -> Any:
    axes, ends, replicas = (node.attrs[k] for k in ("axes", "ends", "replicas"))
    inner = with_joined_sums(node.attrs["graph"], replicas)
    run = host.prepared(SIDE_BY_SIDE.call(inner, axes, ends, replicas))

    def replicated(*arrays: np.ndarray) -> list[np.ndarray]:
        given: list[Any] = []
        for x, axis in zip(arrays, axes, strict=True):
            given += [x] if axis is None else [x[k, ...] for k in range(replicas)]
        results = iter(run(*given))
        return [
            next(results) if e is None else _stacked([next(results) for _ in range(replicas)])
            for e in ends
        ]

    return replicated


def _stacked(rows: list[np.ndarray]) -> np.ndarray:
    other = next((x for x in rows if x.shape != rows[0].shape), rows[0])
    require(
        other is rows[0],
        "run",
        "the results of all replicas must have one shape where it was not known in the trace",
        rows[0],
        other,
        help="Call strategy.run outside tf.function, or reduce the result in the replica.",
    )
    return np.stack(rows)


def _lower_replicated(
    graph: Graph, node: Node, given: list[JaxArray | np.ndarray], attrs: Any, low: Lowering
) -> list[JaxArray]:
    on_mesh = low.mesh is not None and low.mesh.size == attrs["replicas"]
    inner = attrs["graph"]
    inside = Inside(low, inner if on_mesh else with_joined_sums(inner, attrs["replicas"]))
    axes, ends, replicas = attrs["axes"], attrs["ends"], attrs["replicas"]
    mapped = [x for x, a in zip(given, axes, strict=True) if a == 0 and type(x) is Padded]
    if any(x.counts[0] is not None for x in mapped):
        raise rows_unknown()
    given = [row_form(x) if a == 0 else x for x, a in zip(as_arrays(given), axes, strict=True)]
    run = lambda *rows: inside.run(*map(row_of, rows))
    if on_mesh:
        return _on_mesh(run, inside, given, attrs, low)
    mapped_run = jax.vmap(run, axes, 0, axis_name=AXIS, axis_size=replicas)
    results, bad, wanted = mapped_run(*given)
    results = [stack_of(x, None) for x in results]
    if inside.checks:
        fail_if(lambda: bad)
    low.wanted.extend(
        (lax.reduce_max(w, (0,)), key, room)
        for w, (key, room) in zip(wanted, inside.keys, strict=True)
    )
    # XLA drops the copies of what all replicas share.
    return [x if e == 0 else x[0] for x, e in zip(results, ends, strict=True)]


def _on_mesh(
    run: Callable[..., Any], inside: Inside, given: list[Any], attrs: dict[str, Any], low: Lowering
) -> list[JaxArray]:
    """Replicas on devices of their own, each with its row; all hear of a failure in one."""
    spec = jax.sharding.PartitionSpec
    axes, ends = attrs["axes"], attrs["ends"]
    apart = lambda places: tuple([spec(AXIS) if p == 0 else spec() for p in places])

    def one(*rows: JaxArray) -> tuple[Any, ...]:
        mine = [x[0] if a == 0 else x for x, a in zip(rows, axes, strict=True)]
        results, bad, wanted = run(*mine)
        results = [stack_of(x, None) for x in results]
        made = [
            lax.expand_dims(x, (0,)) if e == 0 else x for x, e in zip(results, ends, strict=True)
        ]
        flag = lax.convert_element_type(bad, np.int32)
        asked = [lax.convert_element_type(w, np.int32) for w in wanted]
        return made, lax.pmax([flag, *asked], AXIS)

    results, (bad, *wanted) = jax.shard_map(
        one,
        mesh=low.mesh,
        in_specs=apart(axes),
        out_specs=(list(apart(ends)), spec()),
        check_vma=False,
    )(*given)
    if inside.checks:
        fail_if(lambda: bad > 0)
    low.wanted.extend((w, key, room) for w, (key, room) in zip(wanted, inside.keys, strict=True))
    return results


host.RUNNERS.fill(__name__, {REPLICATED: _run_replicated})
LOWERINGS.fill(__name__, {REPLICATED: _lower_replicated})
