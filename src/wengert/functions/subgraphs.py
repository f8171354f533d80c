"""Graphs inside graphs: tracing branches and bodies, checking their results, and closing them.

Results are held against what is expected in structure, dtypes and shapes. A closed graph takes what
it used from outside as inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from wengert.core import nest
from wengert.core.context import State, restoring, using
from wengert.core.errors import at_site, describe
from wengert.core.shapes import compatible
from wengert.core.types import ShapeDtype, Tensor, TensorShape, Variable
from wengert.functions.graph_calls import snapshot
from wengert.functions.signature import Apart, frozen
from wengert.functions.trace import take_apart
from wengert.graph.builder import Builder, building
from wengert.graph.ir import Graph, Node, Outer
from wengert.graph.verify import checked
from wengert.ops.cast import ensure_shape
from wengert.ops.nodes import FLUSH, HOST_CALL


class Inner(NamedTuple):
    """A traced branch or body: its graph, and the structure of its result."""

    graph: Graph
    skeleton: Any


@restoring
def trace_inner(
    name: str, function: Callable[..., Any], specs: list[ShapeDtype], turn: bool = False
) -> Inner:
    """Traces a function of tensors as a graph inside the one being built.

    With `turn`, the first parameter is the number of the turn, which the function does not see.
    """
    graph = Builder(name, building())
    with using(State((), graph)):
        params = [graph.parameter(s) for s in specs]
        if turn:
            graph.turn = params[0]
        skeleton, tensors = take_apart(name, function(*(params[1:] if turn else params)))
        values = [graph.value_of(x) for x in tensors]
    graph.outputs = values
    graph.watching = ()
    graph.end_replays()
    return Inner(graph, skeleton)


@restoring
def make_graph(name: str, specs: list[ShapeDtype], function: Callable[..., list[Any]]) -> Graph:
    """A graph that stands alone: all that the function uses comes by its parameters."""
    graph = Builder(name)
    with using(State((), graph)):
        result = function(*[graph.parameter(s) for s in specs])
        values = [graph.value_of(x) for x in result]
    graph.seal(values)
    graph.variables = _variables(graph)
    graph.end_replays()
    graph.settle_captures()
    assert not graph.captures, f"{name} must not use anything from outside"
    assert not graph.held, f"{name} must not use variables"
    return checked(graph)


def _variables(graph: Builder) -> dict[int, tuple[Variable, int]]:
    """The variables among the inputs, as the graphs know them that were run again in this one.

    What one of them assigns counts towards the variable in the gradients of this one, too.
    """
    inputs = set(graph.inputs)
    table: dict[int, tuple[Any, int]] = {}
    for again, env in graph.replays:
        for i, (variable, start) in again.variables.items():
            value = getattr(env.get(start), "_value", None)
            if value in inputs:
                table.setdefault(i, (variable, value))
    return table


class Closed(NamedTuple):
    """Graphs over a common list of inputs, and the tensors that these inputs are here."""

    graphs: list[Graph]
    tensors: list[Any]
    variables: list[Any]


def close(graphs: list[Graph], carried: list[Variable]) -> Closed:
    """Turns what inner graphs use from outside into inputs, the same for all of them.

    The inputs of each are its explicit ones, the `carried` variables, then everything else. The
    values of carried variables are outputs too, after the explicit ones.
    """
    here: Any = building()
    sources: dict[Any, Any] = {}
    read: dict[int, Any] = {}
    for graph in graphs:
        sources.update({k: s for k, (s, _) in graph.captures.items()})
        read.update({i: h.variable for i, h in graph.held.items()})
    chosen = {v._id for v in carried}
    fixed = [v for i, v in read.items() if i not in chosen]
    tensors = [(s.tensor() if isinstance(s, Outer) else s) for s in sources.values()] + [
        snapshot(here, v) for v in fixed
    ]
    specs = [here.specs[here.value_of(x)] for x in tensors]
    keys = [*sources, *[("variable", v._id) for v in fixed]]
    return Closed([_closed(g, keys, specs, carried) for g in graphs], tensors, fixed)


def _closed(
    graph: Graph, keys: list[Any], specs: list[ShapeDtype], carried: list[Variable]
) -> Graph:
    outputs = list(graph.outputs)
    new = graph.copy()
    new.parent = None
    inputs = list(graph.inputs)
    for v in carried:
        held = graph.held.get(v._id)
        start = None if held is None else held.initial
        if start is None:
            start = new.add_input(ShapeDtype(v.shape._dims, v.dtype))
        inputs.append(start)
        current = None if held is None else held.current
        outputs.append(start if current is None else current)
    for key, spec in zip(keys, specs, strict=True):
        if key[0] == "variable":
            held = graph.held.get(key[1])
            value = None if held is None else held.initial
        else:
            value = graph.captures[key][1] if key in graph.captures else None
        inputs.append(new.add_input(spec) if value is None else value)
    known = {i: h.initial for i, h in graph.held.items() if h.initial is not None}
    new.variables = {i: (graph.held[i].variable, v) for i, v in known.items()}
    # What a user's rule inside closes over in the outer graph is an input here.
    outer: dict[Graph, dict[int, int]] = {}
    for source, value in graph.captures.values():
        if isinstance(source, Outer):
            outer.setdefault(source.graph.origin, {})[source.value] = value
    new.origins = [*graph.origins, *outer.items()]
    new.inputs, new.captures, new.held = inputs, {}, {}
    if carried and _calls_python(graph):
        # Python may look at variables that the body has not read yet when it calls.
        values = tuple(inputs[len(graph.inputs) : len(graph.inputs) + len(carried)])
        new.nodes.insert(0, Node(FLUSH, values, (), {"variables": tuple(carried)}, None))
    new.seal(outputs)
    return checked(new)


def _calls_python(graph: Any) -> bool:
    """Whether Python that may see variables is called in the turns of a loop."""
    if graph.turn is None or graph.root().jit:
        return False
    return any(n.op is HOST_CALL and n.attrs.get("variables") for n in graph.walk())


def written(graphs: list[Graph]) -> list[Variable]:
    """The variables that inner graphs give new values, lowest id first."""
    table = {i: h.variable for g in graphs for i, h in g.held.items() if h.written}
    return [v for _, v in sorted(table.items())]


def same_structure(a: Any, b: Any, check_types: bool = True) -> bool:
    """Whether two results have the same structure; `None` is a part of it."""
    try:
        nest.assert_same_structure(a, b, check_types=check_types)
    except (TypeError, ValueError):
        return False
    flat = zip(nest.flatten(a), nest.flatten(b), strict=True)
    return all((x is None) == (y is None) and _same_kind(x, y) for x, y in flat)


def _same_kind(a: Any, b: Any) -> bool:
    """Whether two of the user's own containers, if these are some, have one kind and metadata."""
    own = [x for x in (a, b) if isinstance(x, Apart) and nest.takes_itself_apart(x.kind)]
    if not own:
        return True
    if len(own) == 1 or a.kind is not b.kind or frozen(a.rest) != frozen(b.rest):
        return False
    return same_structure(a.parts, b.parts)


def shown(structure: Any) -> str:
    """A structure with its tensors as `float32[2,3]`."""
    return str(nest.map_structure(lambda x: Text(describe(x)), structure))


class Text(str):
    """What stands for a tensor where a structure is shown: a text without quotes."""

    def __repr__(self) -> str:
        return str(self)


def ends(inner: Inner) -> list[ShapeDtype]:
    """What is known of the results of a traced branch or body."""
    return [inner.graph.specs[v] for v in inner.graph.outputs]


def held(x: Tensor, spec: ShapeDtype) -> Tensor:
    """A new state with the shape of the old one, where only the running loop tells."""
    new = x.shape._dims
    if new is None or TensorShape(new).is_subtype_of(spec.shape) or not compatible(spec.shape, new):
        return x
    return ensure_shape(x, spec.shape)


def check_states(name: str, olds: list[ShapeDtype], news: list[ShapeDtype], help: str) -> None:
    """Refuses a body whose states do not keep their dtypes and shapes from turn to turn."""
    for k, (old, new) in enumerate(zip(olds, news, strict=True)):
        if old.dtype is not new.dtype:
            raise at_site(
                TypeError(
                    f"{name} {k} changes its dtype: before {describe(old)}, after "
                    f"{describe(new)}. Cast it in the body."
                )
            )
        if not TensorShape(new.shape).is_subtype_of(old.shape):
            raise at_site(
                ValueError(
                    f"{name} {k} changes its shape: before {describe(old)}, after "
                    f"{describe(new)}. {help}"
                )
            )
