"""Calls that stay nodes of a graph: demanded compilations, and parts that are computed twice.

Other calls are inlined. A part with `recompute` keeps only its inputs for the gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.context import State, get_state, using
from wengert.core.scopes import restoring
from wengert.functions.graph_calls import (
    call,
    followers,
    gradient_op,
    inline,
    read_now,
    wanted_inputs,
)
from wengert.functions.graph_replay import REPLAYS
from wengert.functions.vjp import vjp
from wengert.graph.builder import building
from wengert.graph.ir import Graph
from wengert.ops.nodes import CALL
from wengert.tape import gradient_values
from wengert.tape.custom import barrier

if TYPE_CHECKING:
    from wengert.core.types import SymbolicTensor, Tensor
    from wengert.graph.graph_records import Node


def emit_call(
    graph: Graph, inputs: list[Any], jit: bool, recompute: bool
) -> list[SymbolicTensor] | list[Tensor]:
    """Adds a call to the graph being built and tells the tapes."""
    state: Any = get_state()
    if recompute:
        return _emit_recomputed(graph, inputs, state.site)
    return call(graph, inputs, lambda g, xs: _node(g, xs, jit, False), state.site)


def _node(graph: Graph, inputs: list[Any], jit: bool, recompute: bool) -> list[Any]:
    here: Any = building()
    state: Any = get_state()
    values = tuple([here.value_of(x) for x in inputs])
    specs = [graph.specs[v] for v in graph.all_outputs()]
    attrs = {"graph": graph, "jit": jit, "recompute": recompute}
    made = here.emit(CALL, values, attrs, specs, state.site)
    return [here.tensor(v, state.site) for v in made]


def _emit_recomputed(
    graph: Graph, inputs: list[SymbolicTensor] | list[Tensor], site: Any
) -> list[SymbolicTensor]:
    listeners = followers(inputs)
    wanted = wanted_inputs(listeners, inputs) if listeners else ()
    rule = vjp(graph, wanted, tells=False) if any(wanted) else None
    outs = _node(graph, inputs, False, True)
    if rule is None or not rule.active:
        return outs
    shown = tuple([outs[k] for k in rule.active])

    def gradients(g: SymbolicTensor) -> list[SymbolicTensor | None]:
        seeds = [gradient_values.dense(x) for x in (g if isinstance(g, tuple) else (g,))]
        # In compiled code the second computation must wait for the gradient.
        fresh = [barrier(x, seeds) for x in inputs]
        grads = inline(rule.joint, [*fresh, *read_now(rule.variables), *seeds])
        answer: list[Any] = [None] * len(inputs)
        for k, gk in zip(rule.found, grads, strict=True):
            answer[k] = gk
        return answer

    op = gradient_op(graph.name, gradients, len(shown))
    for one in listeners:
        one.record(op, tuple(inputs), shown, {}, site)
    return outs


@restoring
def _replay(
    node: Node, given: list[SymbolicTensor], attrs: dict[str, Any]
) -> list[SymbolicTensor] | list[Tensor]:
    if building() is None:
        with using(State()):
            return inline(attrs["graph"], given)
    return emit_call(attrs["graph"], given, attrs.get("jit", False), attrs.get("recompute", False))


REPLAYS.fill(__name__, {CALL: _replay})
