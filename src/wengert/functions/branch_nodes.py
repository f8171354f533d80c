"""Branches and calls as nodes.

`switch` runs one of several graphs, and so does its gradient. Calls are nodes where compilation is
demanded, and where a part is computed twice: with `recompute` it keeps only its inputs for the
gradient. Other calls are inlined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.context import State, get_state, restoring, using
from wengert.core.shapes import join
from wengert.core.types import IndexedSlices, ShapeDtype, SymbolicTensor, Tensor, Value
from wengert.functions.graph_calls import (
    all_seeds,
    at_places,
    call,
    emit,
    followed,
    followers,
    inline,
    read_now,
    tell,
    wanted_inputs,
)
from wengert.functions.graph_replay import REPLAYS
from wengert.functions.subgraphs import make_graph
from wengert.functions.vjp import Vjp, vjp
from wengert.graph.builder import building
from wengert.graph.ir import Graph
from wengert.ops.create import zeros_like
from wengert.ops.nodes import CALL, SWITCH
from wengert.tape.custom import barrier

if TYPE_CHECKING:
    from wengert.graph.ir import Node


def emit_switch(
    index: Value | bool | IndexedSlices,
    branches: list[Graph],
    inputs: list[Tensor],
    own: tuple[int, ...] = (),
) -> list[SymbolicTensor]:
    """Adds a switch to the graph being built and tells the tapes; the tensors of its outputs.

    Branch b has `own[b]` outputs after the common ones that only it gives; the node has them all.
    """
    own = own or (0,) * len(branches)
    here: Any = building()
    inputs = [here.own(x) for x in inputs]
    listeners = followers(inputs)
    wanted = wanted_inputs(listeners, inputs) if listeners else ()
    rules = [vjp(b, wanted) for b in branches] if any(wanted) else []
    common = len(branches[0].outputs) - own[0]
    places = [_places(b, common, own) for b in range(len(branches))]
    active = sorted({places[b][k] for b, r in enumerate(rules) for k in r.active})
    if not active:
        return _node(index, branches, inputs, own)
    extras = [len(r.forward.outputs) - len(b.outputs) for r, b in zip(rules, branches, strict=True)]
    full = tuple(o + e for o, e in zip(own, extras, strict=True))
    result = _node(index, [r.forward for r in rules], inputs, full)
    wide = [_places(b, common, full) for b in range(len(branches))]
    outs = [*result[:common]]
    saved = []
    for b in range(len(branches)):
        mine = [result[p] for p in wide[b][common:]]
        outs += mine[: own[b]]
        saved.append(mine[own[b] :])
    shown = tuple([outs[k] for k in active])

    def gradients(g: Tensor | tuple[Tensor | None, ...]) -> list[SymbolicTensor | None]:
        seeds = [
            zeros_like(y) if x is None else x for x, y in zip(all_seeds(g), shown, strict=True)
        ]
        return _pull(index, rules, places, inputs, saved, active, seeds)

    tell(listeners, "cond", inputs, shown, gradients, partial=True)
    return outs


def _places(branch: int, common: int, own: tuple[int, ...]) -> list[int]:
    """Where the outputs of one branch stand among those of the node."""
    start = common + sum(own[:branch])
    return [*range(common), *range(start, start + own[branch])]


def _node(
    index: Value | bool | IndexedSlices,
    branches: list[Graph],
    inputs: list[Tensor],
    extras: tuple[int, ...],
) -> list[SymbolicTensor]:
    attrs = {"branches": tuple(branches), "own": tuple(extras)}
    return emit(SWITCH, [index, *inputs], attrs, _specs(branches, extras))


def _specs(branches: list[Graph], extras: tuple[int, ...]) -> list[ShapeDtype]:
    count = len(branches[0].outputs) - extras[0]
    results = []
    for k in range(count):
        specs = [b.specs[b.outputs[k]] for b in branches]
        shape = specs[0].shape
        for other in specs[1:]:
            shape = join(shape, other.shape)
        results.append(ShapeDtype(shape, specs[0].dtype))
    for b in branches:
        results.extend(b.specs[v] for v in b.outputs[count:])
    return results


def _pull(
    index: SymbolicTensor | Value | bool | IndexedSlices,
    rules: list[Vjp],
    places: list[list[int]],
    inputs: list[Tensor],
    saved: list[list[SymbolicTensor]],
    active: list[int],
    seeds: list[Tensor],
) -> list[SymbolicTensor | None]:
    """The gradients of the inputs: a switch over the backward graphs of the branches."""
    results = sorted({k for r in rules for k in r.reached})
    if not results:
        return [None] * len(inputs)
    variables = {v._id: v for r in rules for v in r.variables}
    now = read_now(tuple(variables.values()))
    read = {i: len(inputs) + k for k, i in enumerate(variables)}
    again = followed([*inputs, *now, *seeds])
    if again:  # of what was saved, it needs only what Python said
        saved = [[mine[k] for k in r.recorded] for r, mine in zip(rules, saved, strict=True)]
    given = [*inputs, *now, *seeds, *[x for part in saved for x in part]]
    here: Any = building()
    specs = [here.specs[here.value_of(x)] for x in given]
    n = len(inputs) + len(now)
    m = len(seeds)

    def branch(b: int) -> Graph:
        rule = rules[b]

        def run(*xs: Any) -> list[Tensor]:
            mine = [xs[n + active.index(places[b][k])] for k in rule.active]
            mine[:0] = [xs[read[v._id]] for v in rule.variables]
            start = n + m + sum(map(len, saved[:b]))
            extra = xs[start : start + len(saved[b])]
            if again:
                grads = inline(rule.joint, [*xs[: len(inputs)], *extra, *mine])
            else:
                kept = [xs[k] if is_input else extra[k] for is_input, k in rule.kept]
                grads = inline(rule.backward, [*kept, *mine])
            known = dict(zip(rule.reached, grads, strict=True))
            return [known[k] if k in known else zeros_like(xs[k]) for k in results]

        return make_graph(rule.backward.name, specs, run)

    grads = emit_switch(index, [branch(b) for b in range(len(rules))], given)
    return at_places(results, grads, len(inputs))


def _replay(node: Node, given: list[Tensor], attrs: dict[str, Any]) -> list[SymbolicTensor]:
    return emit_switch(given[0], list(attrs["branches"]), given[1:], attrs["own"])


REPLAYS.fill(__name__, {SWITCH: _replay})


def emit_call(
    graph: Graph, inputs: list[Any], jit: bool, recompute: bool
) -> list[SymbolicTensor] | list[Tensor]:
    """Adds a call to the graph being built and tells the tapes."""
    state: Any = get_state()
    if recompute:
        return _emit_recomputed(graph, inputs, state.site)
    return call(graph, inputs, lambda g, xs: _call_node(g, xs, jit, False), state.site)


def _call_node(graph: Graph, inputs: list[Any], jit: bool, recompute: bool) -> list[Any]:
    specs = [graph.specs[v] for v in graph.all_outputs()]
    return emit(CALL, inputs, {"graph": graph, "jit": jit, "recompute": recompute}, specs)


def _emit_recomputed(
    graph: Graph, inputs: list[SymbolicTensor] | list[Tensor], site: Any
) -> list[SymbolicTensor]:
    listeners = followers(inputs)
    wanted = wanted_inputs(listeners, inputs) if listeners else ()
    rule = vjp(graph, wanted, tells=False) if any(wanted) else None
    outs = _call_node(graph, inputs, False, True)
    if rule is None or not rule.active:
        return outs
    shown = tuple([outs[k] for k in rule.active])

    def gradients(g: SymbolicTensor) -> list[SymbolicTensor | None]:
        seeds = all_seeds(g)
        # In compiled code the second computation must wait for the gradient.
        fresh = [barrier(x, seeds) for x in inputs]
        grads = inline(rule.joint, [*fresh, *read_now(rule.variables), *seeds])
        return at_places(rule.reached, grads, len(inputs))

    tell(listeners, graph.name, inputs, shown, gradients, site=site)
    return outs


@restoring
def _replay_call(
    node: Node, given: list[SymbolicTensor], attrs: dict[str, Any]
) -> list[SymbolicTensor] | list[Tensor]:
    if building() is None:
        with using(State()):
            return inline(attrs["graph"], given)
    return emit_call(attrs["graph"], given, attrs.get("jit", False), attrs.get("recompute", False))


REPLAYS.fill(__name__, {CALL: _replay_call})
