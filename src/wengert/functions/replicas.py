"""The node `replicated`: a graph that runs in several replicas at once, and its gradient.

What is the same in all replicas is computed once and given once. The gradient is the replicated run
of the gradient graph, in which collectives have the collectives that belong to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wengert.core.types import ShapeDtype, SymbolicTensor, Tensor
from wengert.functions.graph_calls import (
    all_seeds,
    at_places,
    emit,
    followed,
    followers,
    read_now,
    tell,
    wanted_inputs,
)
from wengert.functions.graph_replay import REPLAYS
from wengert.functions.replica_analysis import differing
from wengert.functions.vjp import vjp
from wengert.graph.builder import building
from wengert.ops import public as tf
from wengert.ops.nodes import REPLICATED

if TYPE_CHECKING:
    from wengert.graph.ir import Graph, Node

Axes = tuple[int | None, ...]
Places = tuple[str, ...]


def ends_of(graph: Graph, axes: Axes) -> Axes:
    """The axes of the results: 0 where they may differ by replica."""
    return tuple([0 if own else None for own in differing(graph, [a == 0 for a in axes])])


def emit_replicated(
    graph: Graph, axes: Axes, ends: Axes, places: Places, inputs: Sequence[Any]
) -> list[SymbolicTensor]:
    """Adds a replicated run of a graph and tells the tapes; `places` are the replicas' devices."""
    replicas = len(places)
    listeners = followers([*inputs])
    wanted = wanted_inputs(listeners, [*inputs]) if listeners else ()
    rule = vjp(graph, wanted) if any(wanted) else None
    if rule is None or not rule.active:
        return _node(graph, axes, ends, places, inputs)
    count = len(graph.outputs)
    more = ends_of(rule.forward, axes)[count:]
    result = _node(rule.forward, axes, (*ends, *more), places, inputs)
    outs, extra = result[:count], result[count:]
    shown = tuple([outs[k] for k in rule.active])

    def gradients(g: Tensor | tuple[Tensor, ...]) -> list[Any]:
        now = read_now(rule.variables)
        seeds = [
            s if ends[k] == 0 else _first(s, replicas)
            for k, s in zip(rule.active, all_seeds(g), strict=True)
        ]
        tail = (None,) * len(now) + (0,) * len(seeds)
        if followed([*inputs, *now, *seeds]):
            pull, given = rule.joint, [*inputs, *[extra[k] for k in rule.recorded]]
            sides = (*axes, *[more[k] for k in rule.recorded])
        else:
            pull = rule.backward
            given = [inputs[k] if is_input else extra[k] for is_input, k in rule.kept]
            sides = tuple([axes[k] if is_input else more[k] for is_input, k in rule.kept])
        rows = (0,) * len(rule.reached)
        grads: list[Any] = emit_replicated(
            pull, (*sides, *tail), rows, places, [*given, *now, *seeds]
        )
        pairs = zip(rule.reached, grads, strict=True)
        grads = [g if axes[k] == 0 else tf.reduce_sum(g, 0) for k, g in pairs]
        return at_places(rule.reached, grads, len(inputs))

    tell(listeners, "replicated", [*inputs], shown, gradients)
    return outs


def _first(seed: Tensor, replicas: int) -> Tensor:
    """The gradient of a result that all replicas share, as one of the first replica's."""
    row = tf.expand_dims(seed, 0)
    return tf.concat([row, *[tf.zeros_like(row)] * (replicas - 1)], 0)


def _node(
    graph: Graph, axes: Axes, ends: Axes, places: Places, inputs: Sequence[Any]
) -> list[SymbolicTensor]:
    replicas = len(places)
    here: Any = building()
    assert here is not None, "replicas run in a graph"
    made: list[ShapeDtype] = [graph.specs[v] for v in graph.outputs]
    specs = [s if e is None else s.stacked(replicas) for s, e in zip(made, ends, strict=True)]
    attrs = {"graph": graph, "axes": axes, "ends": ends, "replicas": replicas, "places": places}
    return emit(REPLICATED, [*inputs], attrs, specs)


def _replay(node: Node, given: list[Tensor], attrs: dict[str, Any]) -> list[SymbolicTensor]:
    return emit_replicated(attrs["graph"], attrs["axes"], attrs["ends"], attrs["places"], given)


REPLAYS.fill(__name__, {REPLICATED: _replay})
