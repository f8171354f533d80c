"""The gradient of a graph: its replay under a tape, cut into a forward and a backward graph.

`joint` computes the gradients from the inputs and the gradients of the outputs. `forward` is the
graph itself, with the values that `backward` needs as extra outputs; nothing else is kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.core import dims, dtypes
from wengert.core.context import State, restoring, using
from wengert.core.errors import require
from wengert.core.op import AGAIN
from wengert.core.symbolic import is_symbolic
from wengert.core.tensor import new_id
from wengert.core.types import Dim, IndexedSlices, ShapeDtype, SymbolicTensor, Tensor, Variable
from wengert.engines.padded_stacks import SLACK, slack
from wengert.functions.graph_replay import marked, replay
from wengert.functions.host_call_replay import split
from wengert.graph.builder import Builder
from wengert.graph.ir import CacheKey, Graph, Node, cached_on_graph, inner_graphs
from wengert.graph.passes import has_effects, rewritten
from wengert.graph.verify import checked
from wengert.ops.create import zeros_like
from wengert.ops.dims import NUMBER
from wengert.ops.nodes import HOST_CALL, LOOP, RELOAD, SWITCH
from wengert.ops.row_list import EXTENT
from wengert.tape.gradient_tape import GradientTape
from wengert.tape.gradient_values import dense


class Vjp(NamedTuple):
    """The gradient of a graph for one choice of inputs.

    `active` numbers the outputs that get a gradient, `reached` the inputs that have one; `kept`
    says where each extra input of `backward` comes from: (True, k) is input k, (False, k) is extra
    output k of `forward`. `variables` are those that only the rules of users read, when gradients
    are asked for: `joint` and `backward` take their values before the gradients of the outputs.
    `recorded` are the extra outputs of `forward` that say what Python gave; `joint` takes them
    after the inputs, since it must not ask Python again. The gradients of the inputs in `sparse`
    are two outputs each, of `joint` and of `backward`: rows and their indices."""

    joint: Graph
    forward: Graph
    backward: Graph
    active: tuple[int, ...]
    reached: tuple[int, ...]
    kept: tuple[tuple[bool, int], ...]
    variables: tuple[Any, ...] = ()
    recorded: tuple[int, ...] = ()
    sparse: frozenset[int] = frozenset()

    def answer(
        self, outs: list[Tensor], inputs: list[Tensor]
    ) -> list[Tensor | IndexedSlices | None]:
        """The gradients of all inputs, `None` where there is none, from the outputs of a graph."""
        result: list[Any] = [None] * len(inputs)
        left = iter(outs)
        for k in self.reached:
            g = next(left)
            result[k] = IndexedSlices(g, next(left), _shape(inputs[k])) if k in self.sparse else g
        return result


def _shape(x: Tensor) -> tuple[Any, ...]:
    return x._array.shape if is_symbolic(x) else tuple(x.shape)


VJPS: CacheKey[dict[tuple[Any, ...], Vjp]] = CacheKey("gradients")


def vjp(
    graph: Graph,
    wanted: tuple[bool, ...],
    again: bool = False,
    tells: bool = True,
    zeros: tuple[int, ...] = (),
    sparse: bool = False,
) -> Vjp:
    """The gradient of a graph with respect to the wanted inputs, made once.

    With `again`, what is cheap to work out from the inputs is worked out a second time and not
    kept: a loop has its inputs at hand, and would keep the value of every turn. Without `tells`,
    `joint` asks Python again. `zeros` numbers wanted inputs that get zeros of their own shape where
    no gradient reaches them. With `sparse`, gradients that are rows stay so.
    """
    kept = graph.cache.setdefault(VJPS, {})
    key = (wanted, again, tells, zeros, sparse)
    cached = kept.get(key)
    if cached is None:
        cached = kept[key] = _build(graph, wanted, again, tells, zeros, sparse)
    return cached


@restoring
def _build(
    graph: Graph, wanted: tuple[bool, ...], again: bool, tells: bool, zeros: tuple[int, ...],
    sparse: bool,
) -> Vjp:  # fmt: skip
    joint = Builder(f"{graph.name}_gradient")
    joint.site = graph.site
    with using(State((), joint)):
        params = [
            joint.parameter(graph.specs[v], graph.sites.get(v), graph.labels.get(v, ""))
            for v in graph.all_inputs()
        ]
        places = {v: k for k, v in enumerate(graph.all_inputs())}
        starts = {
            i: params[places[h.initial]] for i, h in graph.held.items() if h.initial is not None
        }
        # A rule of the user's may read variables by name; they are inputs here.
        variables = {i: h.variable for i, h in graph.held.items() if h.initial is not None}
        for i, (variable, value) in graph.variables.items():
            starts[i], variables[i] = params[places[value]], variable
        for i, variable in variables.items():
            joint.hold(variable).current = starts[i]._value
            joint.roots[i] = starts[i]._id

        def assigned(variable: Variable, value: Any) -> Tensor:
            # Later reads count towards the variable, as they do eagerly.
            start = starts.get(variable._id)
            new = marked(joint, variable, value)
            new._id = new._id if start is None else start._id
            held = joint.hold(variable)  # for Python that the graph calls later
            held.current, held.written = new._value, True
            return new

        sources = [p for p, want in zip(params, wanted, strict=True) if want]
        with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            for p in sources:
                tape._root(p)
            outs = replay(graph, params, assigned)
        active = tuple(
            k
            for k, o in enumerate(outs[: len(graph.outputs)])
            if o._id in tape._tracked and o._array.dtype.num in dtypes.INEXACT
        )
        # Rules of the user's read variables when they run, as they do eagerly.
        for held in joint.held.values():
            held.current, held.written = None, False
        seeds = [joint.parameter(joint_spec(joint, outs[k]), None, f"g{k}") for k in active]
        targets = [outs[k] for k in active]
        grads = tape._differentiate(targets, seeds, sources, release=False) if active else []
        which = [k for k, want in enumerate(wanted) if want]
        grads = [
            zeros_like(params[k]) if g is None and k in zeros else g
            for k, g in zip(which, grads or [None] * len(which), strict=True)
        ]
    joint.end_replays()
    result = tuple(k for k, g in zip(which, grads, strict=False) if g is not None)
    given = dict(zip(which, grads, strict=False))
    rows = frozenset(k for k in result if sparse and isinstance(given[k], IndexedSlices))
    with using(State((), joint)):
        values = [joint.value_of(x) for k in result for x in _parts(given[k], k in rows)]
    ends = [joint.value_of(o) for o in outs]
    joint.settle_captures()
    joint.variables = {i: (v, starts[i]._value) for i, v in variables.items()}
    _refuse_assignments(joint)
    more = _lifted(joint, len(params))
    assert not joint.captures, f"{joint.name} must not use anything from outside"
    assert not joint.held, f"{joint.name} must not use variables"
    rule = _cut(graph, joint, len(params), more, ends, values, active, result, again, tells)
    return rule._replace(sparse=rows)


def _parts(g: Any, rows: bool) -> list[Any]:
    return [g.values, g.indices] if rows else [dense(g)]


def _refuse_assignments(joint: Graph) -> None:
    """A gradient is computed when it is asked for, perhaps twice or in part: it has no effects."""
    for held in joint.held.values():
        require(
            not held.written,
            "custom_gradient",
            "a rule inside a function must not assign variables where the gradient is taken "
            "around the function, or through a branch or loop of it; got "
            f"{held.variable.name!r}",
            help="Return the value, or assign it where the gradient is.",
            kind=ValueError,
        )


def _lifted(joint: Graph, count: int) -> tuple[Variable, ...]:
    """Turns the variables that only rules of users read into inputs, after the first `count`."""
    read = {
        i: (h.variable, h.initial)
        for i, h in joint.held.items()
        if h.initial is not None and not h.written
    }
    for i in read:
        del joint.held[i]
    joint.variables = read | joint.variables
    joint.inputs[count:count] = [value for _, value in read.values()]
    return tuple([variable for variable, _ in read.values()])


def joint_spec(joint: Builder, x: SymbolicTensor | Tensor) -> ShapeDtype:
    """What is known of a tensor's shape and dtype."""
    return joint.specs[joint.value_of(x)]


def _cut(
    graph: Graph,
    joint: Graph,
    count: int,
    variables: tuple[Variable, ...],
    ends: list[int],
    values: list[int],
    active: tuple[int, ...],
    reached: tuple[int, ...],
    again: bool,
    tells: bool,
) -> Vjp:
    first = count + len(variables)
    params, lifted, seeds = joint.inputs[:count], joint.inputs[count:first], joint.inputs[first:]
    joint.seal(values)
    nodes = joint.nodes
    # What rules read is read when they run, as seeds are given then.
    ahead = _needed(nodes, ends, effects=True, avoid={*lifted, *seeds})
    late = _late(nodes, {*lifted, *seeds})
    behind = [
        n
        for n in _needed_nodes(nodes, values)
        if id(n) not in ahead and (n.op is not EXTENT or not late.isdisjoint(n.outputs))
    ]
    # All that does not wait for gradients: what a user's rule closes over may be needed again.
    front = [n for n in nodes if id(n) in ahead or late.isdisjoint(n.outputs)]
    wanted = _needed_nodes(nodes, values)
    front, wanted, recorded = _told(joint, front, wanted) if tells else (front, wanted, [])
    if again:
        behind = _repeated(front, behind, values, set(params) | set(joint.constants)) + behind
    made = {v for n in behind for v in n.outputs} | {*lifted, *seeds} | set(joint.constants)
    sizes = _sizes(joint, behind, made)
    behind = sizes + behind
    made.update(v for n in sizes for v in n.outputs)
    behind, measured = _by_extent(joint, behind, made | set(values))
    front += measured
    needed = dict.fromkeys(v for n in behind for v in n.reads())
    needed |= dict.fromkeys(values)
    residuals = [v for v in needed if v not in made]
    places = {v: k for k, v in enumerate(params)}
    extra = [v for v in residuals if v not in places]
    extra += [v for v in recorded if v not in extra]
    kept = tuple((True, places[v]) if v in places else (False, extra.index(v)) for v in residuals)
    forward = _part(joint, graph.name, front, params, [*ends, *extra])
    backward = _part(joint, f"{graph.name}_backward", behind, [*residuals, *lifted, *seeds], values)
    joint.inputs[count:count] = recorded
    joint.nodes, joint.outputs = _quieted(_needed_nodes(wanted, values), values)
    stacks = {v for n in front if n.op in (LOOP, SWITCH) for v in n.outputs}
    spared = {len(ends) + k: slack(backward, v) for k, v in enumerate(extra) if v in stacks}
    for v in stacks.intersection(recorded):  # both graphs read them
        k = len(ends) + extra.index(v)
        spared[k] = min(spared[k], slack(joint, v))
    if any(spared.values()):
        forward.cache[SLACK] = spared
    places = tuple([extra.index(v) for v in recorded])
    return Vjp(checked(joint), forward, backward, active, reached, kept, variables, places)


def _told(
    joint: Graph, front: list[Node], wanted: list[Node]
) -> tuple[list[Node], list[Node], list[int]]:
    """The first part so that it tells what Python says, the whole so that it hears it."""
    needed = {id(n) for n in wanted}
    pairs = {id(n): split(n, joint.specs) for n in front if id(n) in needed}
    front = [m for n in front for m in (pairs[id(n)].recording if id(n) in pairs else [n])]
    wanted = [m for n in wanted for m in (pairs[id(n)].replaying if id(n) in pairs else [n])]
    return front, wanted, list(dict.fromkeys(v for n in pairs.values() for v in n.recorded))


def _repeated(
    front: list[Node], behind: list[Node], values: list[int], given: set[int]
) -> list[Node]:
    """Nodes of the first part that the second runs again instead of keeping their results."""
    needed = {v for n in behind for v in n.reads()} | set(values)
    return [
        Node(AGAIN[n.op], n.inputs, n.outputs, n.attrs, n.site)
        for n in front
        if n.op in AGAIN and needed.intersection(n.outputs) and given.issuperset(n.reads())
    ]


def _late(nodes: list[Node], start: set[int]) -> set[int]:
    """The values that depend on `start`."""
    late = set(start)
    for node in nodes:
        if not late.isdisjoint(node.reads()):
            late.update(node.outputs)
    return late


def _sizes(joint: Graph, nodes: list[Node], made: set[int]) -> list[Node]:
    """Nodes that work out numbers anew which depend on sizes alone: to XLA they stay known."""
    results = []
    for value in dict.fromkeys(v for n in nodes for v in n.inputs if v not in made):
        content = joint.content(value)
        if content is None or content.ndim > 1:
            continue
        number = tuple(content.tolist()) if content.ndim else content.item()
        if all(leaf.kind == "size" for leaf in dims.leaves(number)):
            attrs = {
                "value": dims.moved(number, lambda d: Dim(d.kind, None, *d.args[1:])),
                "dtype": joint.specs[value].dtype,
            }
            results.append(Node(NUMBER, (), (value,), attrs, joint.site_of(value)))
    return results


def _by_extent(joint: Graph, nodes: list[Node], whole: set[int]) -> tuple[list[Node], list[Node]]:
    """The nodes with other tensors in the place of those that they need for their sizes alone.

    Those others have no elements, so keeping them costs nothing; the nodes that make them are the
    second answer.
    """
    leaves = [leaf for n in nodes if n.open for a in n.attrs.values() for leaf in dims.leaves(a)]
    whole = whole | {v for n in nodes for v in n.inputs}
    whole |= {leaf.args[1] for leaf in leaves if leaf.kind != "size"}
    table: dict[int, int] = {}
    made = []
    for value in dict.fromkeys(leaf.args[1] for leaf in leaves):
        if value not in whole:
            table[value] = new_id()
            spec = joint.specs[value]
            joint.specs[table[value]] = EXTENT.infer(spec)
            made.append(Node(EXTENT, (value,), (table[value],), {}, joint.site_of(value)))
    return [rewritten(n, table) for n in nodes], made


@cached_on_graph("the graph without effects")
def quiet(graph: Graph) -> Graph:
    """A graph without what has only effects: for computing once more what was computed before."""
    nodes, outputs = _quieted(
        [n for n in graph.nodes if n.outputs or not n.op.effect], graph.outputs
    )
    if nodes == graph.nodes:
        return graph
    new = graph.copy()
    new.nodes, new.outputs = nodes, outputs
    return new


def _quieted(nodes: list[Node], outputs: list[int]) -> tuple[list[Node], list[int]]:
    """Nodes without effects, and the outputs; what Python left in a variable is what it found."""
    table: dict[int, int] = {}
    kept = []
    for node in nodes:
        node = rewritten(node, table)
        if node.op is RELOAD:
            table[node.outputs[0]] = node.inputs[0]
        else:
            kept.append(_quiet_node(node))
    return kept, [table.get(v, v) for v in outputs]


def _quiet_node(node: Node) -> Node:
    """A node without effects in the graphs that it holds; Python leaves variables alone."""
    if node.op is HOST_CALL:
        attrs = {**node.attrs, "variables": False}
        return Node(node.op, node.inputs, node.outputs, attrs, node.site)
    if not inner_graphs(node) or not any(
        has_effects(n) for g in inner_graphs(node) for n in g.nodes
    ):
        return node
    attrs = {k: _quiet_attr(a) for k, a in node.attrs.items()}
    return Node(node.op, node.inputs, node.outputs, attrs, node.site)


def _quiet_attr(attr: int | tuple[int | Graph, ...] | Graph | None) -> Any:
    if type(attr) is tuple:
        return tuple([_quiet_attr(a) for a in attr])
    return quiet(attr) if isinstance(attr, Graph) else attr


def _needed_nodes(nodes: list[Node], values: list[int]) -> list[Node]:
    needed = set(values)
    results = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            needed.update(node.reads())
            results.append(node)
    results.reverse()
    return results


def _needed(nodes: list[Node], values: list[int], effects: bool, avoid: set[int]) -> set[int]:
    """The nodes (by identity) that values need, and all effects that do not depend on `avoid`."""
    late = _late(nodes, avoid)
    needed = set(values)
    names: set[int] = set()
    for node in reversed(nodes):
        wanted = not needed.isdisjoint(node.outputs)
        early = late.isdisjoint(node.outputs) and late.isdisjoint(node.reads())
        if wanted or (effects and early and has_effects(node)):
            needed.update(node.reads())
            names.add(id(node))
    return names


def _part(
    joint: Graph, name: str, nodes: list[Node], inputs: list[int], outputs: list[int]
) -> Graph:
    part = Graph(name)
    part.site = joint.site
    part.nodes, part.inputs, part.outputs = nodes, list(inputs), list(outputs)
    part.specs, part.constants = joint.specs, dict(joint.constants)
    part.labels, part.sites = joint.labels, joint.sites
    part.origin, part.origins = joint.origin, joint.origins
    part.variables = {i: (v, x) for i, (v, x) in joint.variables.items() if x in inputs}
    read = {v for n in nodes for v in n.reads()} | set(outputs)
    part.constants = {v: c for v, c in part.constants.items() if v in read}
    return checked(part)
