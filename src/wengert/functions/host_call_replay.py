"""Records the results of host calls so that recomputing a graph replays them.

Gradients of gradients compute a graph a second time. Python must not be called again then: an
iterator would give other elements, a counter other numbers. So a graph has two forms: the recording
one gives the results of host calls as further outputs, the replaying one takes them as further
inputs. A call through which gradients pass (`py_function` of floats) is made again, since its
gradient comes from its own tape.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.core.dtypes import INEXACT, int32
from wengert.core.tensor import new_id
from wengert.core.types import Op, ShapeDtype
from wengert.graph.ir import CacheKey, Graph, Node, cached_on_graph, inner_graphs
from wengert.ops.arithmetic import SUBTRACT
from wengert.ops.nodes import BATCHED, CALL, HOST_CALL, LOOP, REPLICATED, SWITCH

Specs = dict[int, ShapeDtype]


class Replayable(NamedTuple):
    """The recording and the replaying form of a graph.

    `recorded` are the places of the results of host calls among the outputs of the first form; the
    second takes them after its other inputs.
    """

    recording: Graph
    replaying: Graph
    recorded: tuple[int, ...]


class Split(NamedTuple):
    """Nodes that record, nodes that replay, and the recorded values."""

    recording: list[Node]
    replaying: list[Node]
    recorded: list[int]


FORMS: CacheKey[dict[int, Replayable]] = CacheKey(
    "recording and replaying forms, by the first output"
)


def replayable(graph: Graph, first: int = 0) -> Replayable:
    """The two forms of a graph without variables of its own, made once.

    Only outputs from `first` on may serve as recorded values.
    """
    forms = graph.cache.setdefault(FORMS, {})
    cached = forms.get(first)
    if cached is None:
        cached = forms[first] = _forms(graph, first)
    return cached


def _forms(graph: Graph, first: int) -> Replayable:
    parts = split_nodes(graph.nodes, graph.specs)
    recorded = list(dict.fromkeys(parts.recorded))
    if not recorded:
        return Replayable(graph, graph, ())
    recording, replaying = graph.copy(), graph.copy()
    shown = graph.outputs[first:]
    recording.nodes, replaying.nodes = parts.recording, parts.replaying
    recording.outputs = [*graph.outputs, *[v for v in recorded if v not in shown]]
    replaying.inputs = [*graph.inputs, *recorded]
    places = [recording.outputs.index(v, first) for v in recorded]
    return Replayable(recording, replaying, tuple(places))


def split_nodes(nodes: list[Node], specs: Specs) -> Split:
    """Nodes in their two forms; the specs of new values are added."""
    parts = [split(node, specs) for node in nodes]
    return Split(
        [n for p in parts for n in p.recording],
        [n for p in parts for n in p.replaying],
        [v for p in parts for v in p.recorded],
    )


def split(node: Node, specs: Specs) -> Split:
    """One node in its two forms."""
    if node.op is HOST_CALL and _is_recorded(node, specs):
        return Split([node], [], list(node.outputs))
    kind = _KINDS.get(node.op)
    inside = inner_graphs(node) if kind is not None else []
    if kind is None or any(g.held or g.captures for g in inside) or not any(map(asks, inside)):
        return Split([node], [node], [])
    return kind(node, specs)


def _is_recorded(node: Node, specs: Specs) -> bool:
    """Whether no gradient passes through the results of a host call, so that they are recorded."""
    call = node.attrs.get("call")
    if call is None or not node.outputs:
        return False
    floats = [
        any(specs[v].dtype.np.num in INEXACT for v in vs) for vs in (node.inputs, node.outputs)
    ]
    return call.arrays or not all(floats)


@cached_on_graph("has host calls")
def asks(graph: Graph) -> bool:
    """Whether there are host calls in a graph."""
    return any(n.op is HOST_CALL for n in graph.walk())


def _new(specs: Specs, made: list[ShapeDtype]) -> list[int]:
    values = [new_id() for _ in made]
    specs.update(zip(values, made, strict=True))
    return values


def _more(before: Graph, after: Graph) -> list[ShapeDtype]:
    """The specs of the further outputs of a recording graph."""
    return [after.specs[v] for v in after.outputs[len(before.outputs) :]]


def _changed(node: Node, inputs: Any, outputs: list[int], **attrs: Any) -> Node:
    return Node(node.op, tuple(inputs), tuple(outputs), {**node.attrs, **attrs}, node.site)


def _replaying(node: Node, inputs: Any, recorded: list[int], specs: Specs, **attrs: Any) -> Node:
    """The replaying node; recorded values are no results of it."""
    outs = [_new(specs, [specs[v]])[0] if v in recorded else v for v in node.outputs]
    return _changed(node, (*inputs, *recorded), outs, **attrs)


def _call(node: Node, specs: Specs) -> Split:
    graph: Graph = node.attrs["graph"]
    pair = replayable(graph)
    outs = [*node.outputs, *_new(specs, _more(graph, pair.recording))]
    recorded = [outs[k] for k in pair.recorded]
    return Split(
        [_changed(node, node.inputs, outs, graph=pair.recording)],
        [_replaying(node, node.inputs, recorded, specs, graph=pair.replaying)],
        recorded,
    )


def _batched(node: Node, specs: Specs) -> Split:
    graph: Graph = node.attrs["graph"]
    pair = replayable(graph)
    outs = [
        *node.outputs,
        *_new(specs, list(map(ShapeDtype.stacked, _more(graph, pair.recording)))),
    ]
    recorded = [outs[k] for k in pair.recorded]
    axes = (*node.attrs["axes"], *(0,) * len(recorded))
    return Split(
        [_changed(node, node.inputs, outs, graph=pair.recording)],
        [_replaying(node, node.inputs, recorded, specs, graph=pair.replaying, axes=axes)],
        recorded,
    )


def _replicated(node: Node, specs: Specs) -> Split:
    graph: Graph = node.attrs["graph"]
    pair = replayable(graph)
    count = node.attrs["replicas"]
    made = [s.stacked(count) for s in _more(graph, pair.recording)]
    outs = [*node.outputs, *_new(specs, made)]
    recorded = [outs[k] for k in pair.recorded]
    axes = (*node.attrs["axes"], *(0,) * len(recorded))
    ends = (*node.attrs["ends"], *(0,) * len(made))
    return Split(
        [_changed(node, node.inputs, outs, graph=pair.recording, ends=ends)],
        [_replaying(node, node.inputs, recorded, specs, graph=pair.replaying, axes=axes)],
        recorded,
    )


def _switch(node: Node, specs: Specs) -> Split:
    branches, own = node.attrs["branches"], node.attrs["own"]
    common = len(node.outputs) - sum(own)
    pairs = [replayable(b) for b in branches]
    outs, recorded, left = list(node.outputs[:common]), [], list(node.outputs[common:])
    each: list[list[int]] = []  # what each branch records
    for b, pair, count in zip(branches, pairs, own, strict=True):
        mine = [left.pop(0) for _ in range(count)] + _new(specs, _more(b, pair.recording))
        each.append([[*node.outputs[:common], *mine][k] for k in pair.recorded])
        outs += mine
        recorded += each[-1]
    more = tuple([len(p.recording.outputs) - common for p in pairs])
    replaying = [_among(p.replaying, each, b, specs) for b, p in enumerate(pairs)]
    return Split(
        [_changed(node, node.inputs, outs, branches=tuple([p.recording for p in pairs]), own=more)],
        [_replaying(node, node.inputs, recorded, specs, branches=tuple(replaying))],
        recorded,
    )


def _among(graph: Graph, each: list[list[int]], b: int, specs: Specs) -> Graph:
    """A branch that replays its own values, and takes those of the others without use."""
    new = graph.copy()
    count = len(graph.inputs) - len(each[b])
    blank = [[new.add_input(specs[v]) for v in values] for values in each]
    blank[b] = graph.inputs[count:]
    new.inputs = [*graph.inputs[:count], *[v for values in blank for v in values]]
    return new


def _loop(node: Node, specs: Specs) -> Split:
    body, test, states = node.attrs["body"], node.attrs["test"], node.attrs["states"]
    pair = replayable(body, states)
    new = _new(specs, list(map(ShapeDtype.stacked, _more(body, pair.recording))))
    outs = [*node.outputs, *new]
    recorded = [outs[1 + k] for k in pair.recorded]
    count, more = node.inputs[0], []
    if test is not None and asks(test):  # the number of turns is recorded
        test = None
        (count,) = turns = _new(specs, [ShapeDtype((), int32)])
        more = [Node(SUBTRACT, (outs[0], node.inputs[1]), tuple(turns), {}, node.site)]
    rows = node.attrs["rows"] + len(new)
    given = (count, *node.inputs[1:])
    return Split(
        [_changed(node, node.inputs, outs, body=pair.recording, rows=rows), *more],
        [_replaying(node, given, recorded, specs, body=pair.replaying, test=test)],
        [*recorded, count] if more else recorded,
    )


_KINDS: dict[Op, Any] = {
    BATCHED: _batched,
    CALL: _call,
    LOOP: _loop,
    REPLICATED: _replicated,
    SWITCH: _switch,
}
