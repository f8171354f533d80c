"""A graph, and the builder that `apply` hands operations to while tracing.

A value is a number; a node reads values and writes new ones. Variables are functional inside a
graph: a read is an input, an assignment makes a new value, and the last one is written back when
the graph has run. What a graph uses from outside is an input too (a capture). An attribute may
hold numbers that are known only then (`Dim`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.core import dims, dtypes, shapes
from wengert.core import replay as drawing
from wengert.core.aliases import Alias
from wengert.core.apply import apply, check_dtypes, wrap
from wengert.core.context import State, get_state, using
from wengert.core.convert import Hooks
from wengert.core.dims import Dim
from wengert.core.errors import at_site, describe
from wengert.core.op import Op, Spec
from wengert.core.sites import USER, RawSite, find
from wengert.core.symbolic import Shadow, SymbolicTensor, escaped, symbolic
from wengert.core.tensor import Tensor, new_id
from wengert.core.variable import Variable
from wengert.graph.contents import CONTENT_TYPES, work_out
from wengert.graph.records import Draw, Held, Node, Outer, Seen, carried, settled

_frame = sys._getframe
# Constants up to this many elements are worked out while tracing; larger ones are made when run.
SMALL = 4096


# What depends only on a shape that is known is known too.
_FILLS = {"zeros_like": 0, "ones_like": 1}


class Graph:
    """A list of nodes from inputs to outputs; also the builder while it is being traced."""

    def __init__(self, name: str, parent: Graph | None = None, site: RawSite | None = None) -> None:
        self.name = name
        self.parent = parent
        self.site = site
        self.start: int = parent.start if parent is not None else new_id()
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.nodes: list[Node] = []
        self.specs: dict[int, Spec] = {}
        self.constants: dict[int, np.ndarray] = {}
        self.captures: dict[Any, tuple[Any, int]] = {}
        self.held: dict[int, Held] = {}
        self.labels: dict[int, str] = {}
        self.sites: dict[int, RawSite | None] = {}
        self.watching = _listeners(parent)  # tapes outside, which may follow what is used here
        self.turn: Any = None  # the number of the turn, in the body of a loop
        self.variables: dict[int, tuple[Any, int]] = {}  # of a closed graph: which inputs they are
        self.replays: list[tuple[Graph, dict[int, Any]]] = []  # graphs run again in this one
        self.seen: list[Seen] = []  # what rules see that were brought along from them
        self.frames: list[tuple[Graph, dict[int, Any]]] = []  # what the rule sees that runs now
        self.origin: Graph = self  # what it is a copy of
        self.origins: list[tuple[Graph, dict[int, Any]]] = []  # and its values in earlier graphs
        self.jit = False  # whether it is to be compiled as a whole
        self.on_create: Any = None  # what to do when a variable is created, set by functions
        self.roots: dict[int, int] = {}  # the ids that tapes know variables by, if not their own
        self.reread: Any = None  # how to read variables that Python may have changed by now
        self._constants: dict[Any, int] = {}
        self._sizes: dict[int, tuple[Any, ...]] = {}
        self._contents: dict[int, np.ndarray] = {}
        self.cache: dict[Any, Any] = {}  # what engines and gradients make of the finished graph

    def copy(self) -> Graph:
        """A graph with the same values and nodes, to be changed by passes."""
        new = Graph(self.name, self.parent, self.site)
        new.start, new.watching = self.start, ()
        new.inputs, new.outputs = list(self.inputs), list(self.outputs)
        new.nodes = list(self.nodes)
        new.specs, new.constants = self.specs, dict(self.constants)
        new.captures = dict(self.captures)
        new.held = {i: h.copy() for i, h in self.held.items()}
        new.labels, new.sites, new._contents = self.labels, self.sites, self._contents
        new.variables = dict(self.variables)
        new.origin, new.origins = self.origin, self.origins
        return new

    def end_replays(self) -> None:
        """Remembers only which values of earlier graphs became which of this one."""
        for graph, env in self.replays:
            mine = settled(env, self)
            self.origins.append((graph.origin, mine))
            self.origins.extend((older, carried(table, mine)) for older, table in graph.origins)
        for seen in self.seen:
            seen.settle(self)
        self.replays.clear()
        self.seen.clear()

    def settle_captures(self) -> None:
        """Makes eager tensors that a gradient rule brought along constants of this graph."""
        for key, (source, value) in list(self.captures.items()):
            if isinstance(source, Tensor) and not isinstance(source, SymbolicTensor):
                self.constants[value] = source._array
                del self.captures[key]
        for i, held in list(self.held.items()):
            if held.initial is None:
                del self.held[i]

    # Values.

    def add_input(self, spec: Spec, site: RawSite | None = None, label: str = "") -> int:
        """A new value that comes from outside."""
        value = new_id()
        self.specs[value] = spec
        self.sites[value] = site
        if label:
            self.labels[value] = label
        return value

    def parameter(self, spec: Spec, site: RawSite | None = None, label: str = "") -> Any:
        """A new explicit input, as a tensor."""
        value = self.add_input(spec, site, label)
        self.inputs.append(value)
        return self.tensor(value)

    def tensor(self, value: int, site: RawSite | None = None) -> Any:
        """A tensor that stands for a value of this graph."""
        return symbolic(self, self.specs[value], site or self.sites.get(value), value)

    def constant(self, array: np.ndarray) -> int:
        """A value that never changes; equal small ones are one."""
        key: Any = None
        if array.size <= 16 and array.dtype.kind != "O":
            key = (array.dtype.num, array.shape, array.tobytes())
            found = self._constants.get(key)
            if found is not None:
                return found
        value = new_id()
        self.constants[value] = array
        self.specs[value] = Spec(array.shape, dtypes.of(array))
        if key is not None:
            self._constants[key] = value
        return value

    def value_of(self, x: Any) -> int:
        """The value that a tensor or variable has in this graph, captured if need be."""
        if isinstance(x, SymbolicTensor):
            if x._graph is self:
                return x._value
            return self.import_value(x._graph, x._value, x._id)
        if isinstance(x, Variable):
            return self.read(x)
        return self._eager(x)

    def value_of_known(self, x: Any) -> int:
        """The number of a tensor's value, which a copy of its graph has too."""
        return x._value

    def _eager(self, x: Tensor) -> int:
        made_here = x._id == 0 or (x._id > self.start and not self._follows(x))
        if made_here or (x._array.dtype.num not in dtypes.INEXACT and x._array.size <= SMALL):
            found = self._constants.get(x._id) if x._id else None
            if found is None:
                found = self.constant(x._array)
                if x._id:
                    self._constants[x._id] = found
            return found
        return self._capture(("tensor", x._id), x, Spec(x._array.shape, x.dtype), x._site)

    def _follows(self, x: Tensor) -> bool:
        """Whether a tape outside follows a constant that is used here."""
        return any(one.follows((x,)) for one in self.watching)

    def _capture(self, key: Any, source: Any, spec: Spec, site: RawSite | None) -> int:
        found = self.captures.get(key)
        if found is None:
            found = self.captures[key] = (source, self.add_input(spec, site))
        return found[1]

    def import_value(self, graph: Graph, value: int, number: int | None = None) -> int:
        """A value of an enclosing graph as an input of this one."""
        if graph is self:
            return value
        replayed = self._replayed(graph, value)
        if replayed is not None:
            return self.value_of(replayed)
        if value in graph.constants:
            return self.constant(graph.constants[value])
        if not self.is_inside(graph):
            raise escaped(Shadow(graph, value, graph.specs[value].dtype.np))
        number = value if number is None else number
        source = Outer(graph, value, number)
        return self._capture(
            ("value", value, number), source, graph.specs[value], graph.sites.get(value)
        )

    def own(self, x: Any) -> Any:
        """A tensor as it is known here: what it became, if its graph was run again in this one."""
        if type(x) is not SymbolicTensor or x._graph is self:
            return x
        found = self._replayed(x._graph, x._value)
        return x if found is None else found

    def _replayed(self, graph: Graph, value: int) -> Any:
        """What a value of another graph became when that graph was run again in this one."""
        here: Graph | None = self
        while here is not None:
            for origin, table in here.frames:
                if origin is graph.origin and value in table:
                    return table[value]
            for source, env in here.replays:
                if source.origin is graph.origin and value in env:
                    return env[value]
                for older, table in source.origins:
                    if older is graph.origin and value in table:
                        found = carried({value: table[value]}, env)
                        if found:
                            return found[value]
            here = here.parent
        return None

    def root(self) -> Graph:
        """The outermost graph that this one is being built in."""
        graph: Graph = self
        while graph.parent is not None:
            graph = graph.parent
        return graph

    def is_inside(self, other: Graph) -> bool:
        """Whether this graph is being built within another."""
        graph: Graph | None = self
        while graph is not None:
            if graph is other:
                return True
            graph = graph.parent
        return False

    # Sizes and numbers that are known in part.

    def sizes(self, value: int) -> tuple[Any, ...] | None:
        """The shape of a value with a `Dim` for each unknown size; `None` for unknown rank."""
        found = self._sizes.get(value)
        if found is None:
            shape = self.specs[value].shape
            if shape is None or None not in shape:
                return shape
            found = tuple(
                [Dim("size", self, value, i) if d is None else d for i, d in enumerate(shape)]
            )
            self._sizes[value] = found
        return found

    def content(self, value: int) -> np.ndarray | None:
        """The elements of a small integer value as numbers and `Dim`s, where they are known."""
        found = self._contents.get(value)
        if found is None and value in self.constants:
            array = self.constants[value]
            if array.dtype.num in CONTENT_TYPES and array.size <= 64:
                found = array.astype(object)
        return found

    def narrow(self, value: int, shape: Any) -> None:
        """Adds what is known about the shape of a value."""
        spec = self.specs[value]
        self.specs[value] = Spec(shapes.merge(spec.shape, shape), spec.dtype)
        self._sizes.pop(value, None)

    def localised(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Attributes whose unknown numbers refer to values of this graph."""

        def here(leaf: Dim) -> Dim:
            graph, value, place = leaf.args
            return Dim(leaf.kind, self, self.import_value(graph, value), place)

        return {k: dims.moved(a, here) for k, a in attrs.items()}

    # Variables.

    def hold(self, variable: Variable) -> Held:
        """The record of a variable in this graph."""
        found = self.held.get(variable._id)
        if found is None:
            found = self.held[variable._id] = Held(variable)
        elif type(found.variable) is Alias and type(variable) is not Alias:
            found.variable = variable  # it is known by itself too
        return found

    def read(self, variable: Variable) -> int:
        """The present value of a variable."""
        held = self.hold(variable)
        if held.current is None:
            shape = variable.shape._dims
            spec = Spec(shape, variable.dtype)
            held.initial = now = self.add_input(spec, label=variable._name)
            held.current = now if self.reread is None else int(self.reread(self, variable, now))
        return held.current

    def write(self, variable: Variable, x: Any) -> None:
        """Gives a variable a new value."""
        held = self.hold(variable)
        held.current = self.value_of(x)
        held.written = True

    def snapshot(self, variable: Variable) -> Any:
        """The present value of a variable under the variable's own id, for a tape to keep."""
        tensor = self.tensor(self.read(variable))
        tensor._id = self.roots.get(variable._id, variable._id)
        return tensor

    def create(self, variable: Variable, initial: Any, dtype: Any) -> Any:
        """Asks the function being traced whether a variable may be created, and its start."""
        graph: Graph = self
        while graph.on_create is None and graph.parent is not None:
            graph = graph.parent
        if graph.on_create is None:
            raise at_site(
                ValueError(
                    "Variable: a variable cannot be created here, inside a graph. Create it "
                    "outside, or under tf.init_scope()."
                )
            )
        return graph.on_create(variable, initial, dtype)

    def draw(self, kind: str, seed: int | None) -> Any:
        """A random state: drawn for each run, and in a loop derived for each turn.

        A function draws for itself, also where its trace began inside another's: it may be called
        twice there.
        """
        home, parent = drawing.home(), self.parent
        if parent is None or home is None or home is self or not self.is_inside(home):
            return drawing.draw(lambda: self._drawn(kind, seed))
        return self.derive(self.tensor(self.value_of(parent.draw(kind, seed))))

    def _drawn(self, kind: str, seed: int | None) -> Any:
        if self.parent is None or self.on_create is not None:
            key = ("draw", len(self.captures))
            return self.tensor(
                self._capture(key, Draw(kind, seed), Spec((3,), dtypes.uint64), None)
            )
        outer = self.parent._drawn(kind, seed)
        return self.derive(self.tensor(self.value_of(outer)))

    def derive(self, state: Any) -> Any:
        """A random state for this turn of a loop."""
        if self.turn is None:
            return state
        return Hooks.derive(state, self.turn)

    # Nodes.

    def add(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Records an operation (called by `apply`) and returns its results as tensors."""
        check_dtypes(op, inputs)
        state = get_state()
        if op.folds and self._known(inputs) and self._is_small(op, inputs, attrs):
            assert state is not None, "a graph is built under a state"
            site = state.site or find(_frame(2))
            with using(State(state.listeners, None, site)):
                return apply(op, *inputs, **attrs)
        if state is not None and state.listeners:
            inputs = tuple([self.own(x) for x in inputs])
        values = tuple(
            [
                x._value if type(x) is SymbolicTensor and x._graph is self else self.value_of(x)
                for x in inputs
            ]
        )
        specs = [self.specs[v] for v in values]
        given = attrs
        if attrs:
            for a in attrs.values():
                if dims.is_open(a):
                    attrs = self.localised(attrs)
                    given = {k: dims.opened(v) for k, v in attrs.items()}
                    break
        found = op.infer(*specs, **given)
        if op.name in _FILLS and (shapes.size(found.shape) or SMALL + 1) <= SMALL:
            return wrap(np.full(found.shape, _FILLS[op.name], found.dtype.np), find(_frame(2)))
        if state is None or state.site is None:
            frame = _frame(2)
            code = frame.f_code
            site = (code, frame.f_lasti) if USER.get(code.co_filename) else find(frame)
        else:
            site = state.site
        single = op.outputs == 1
        made = (found,) if single else tuple(found)
        outs = []
        for spec in made:
            out = symbolic(self, spec, site)
            self.specs[out._value] = spec
            outs.append(out)
        outs = tuple(outs)
        node = Node(op, values, tuple([o._value for o in outs]), attrs, site)
        self.nodes.append(node)
        if single:
            known = self._note(op, node, found)
            if known is not None:
                return known
        if state is not None:
            for listener in state.listeners:
                listener.record(op, inputs, outs, attrs, site)
        return outs[0] if single else outs

    def emit(
        self, op: Op, values: tuple[int, ...], attrs: dict[str, Any], specs: Any, site: Any
    ) -> tuple[int, ...]:
        """Appends a node as it is and returns its new values."""
        outs = []
        for spec in specs:
            value = new_id()
            self.specs[value] = spec
            outs.append(value)
        self.nodes.append(Node(op, values, tuple(outs), attrs, site))
        return tuple(outs)

    def _known(self, inputs: tuple[Any, ...]) -> bool:
        """Whether all inputs are constants made during this trace."""
        for x in inputs:
            if type(x) is not Tensor:
                return False
            differentiable = x._id and x._array.dtype.num in dtypes.INEXACT
            if differentiable and (x._id <= self.start or self._follows(x)):
                return False
        return True

    def _is_small(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        if any(x._array.size > SMALL for x in inputs) or any(map(dims.is_open, attrs.values())):
            return False
        found = op.infer(*[Spec(x._array.shape, x.dtype) for x in inputs], **attrs)
        for spec in (found,) if op.outputs == 1 else found:
            count = shapes.size(spec.shape)
            if count is not None and count > SMALL:
                return False
        return True

    def _note(self, op: Op, node: Node, spec: Spec) -> Any:
        """Notes sizes that carry over, and contents; returns a constant where all is known."""
        out = node.outputs[0]
        if op.pointwise and spec.shape is not None and None in spec.shape:
            self._sizes[out] = _carried(self, node, spec.shape)
        if spec.dtype.np.num in CONTENT_TYPES and not op.effect:
            content = work_out(self, node, spec)
            if content is not None:
                if all(type(d) is not Dim for d in content.flat):
                    self.nodes.pop()
                    return wrap(content.astype(spec.dtype.np), node.site)
                self._contents[out] = content
        return None

    def seal(self, outputs: list[int]) -> Graph:
        """Ends the trace: fixes the outputs and lets go of the builder's own references."""
        self.outputs = outputs
        self.watching = ()
        for k, node in enumerate(self.nodes):
            if node.open:
                attrs = {name: dims.moved(a, _anonymous) for name, a in node.attrs.items()}
                self.nodes[k] = Node(node.op, node.inputs, node.outputs, attrs, node.site)
        return self

    def closed(self) -> Graph:
        """An inner graph with captures and variables turned into plain inputs and outputs."""
        new = self.copy()
        new.parent = None
        new.inputs = self.all_inputs()
        new.outputs = self.all_outputs()
        new.captures, new.held = {}, {}
        return new

    # What is asked of a graph.

    def all_inputs(self) -> list[int]:
        """Explicit inputs, captures, then variables that are read."""
        return [
            *self.inputs,
            *[v for _, v in self.captures.values()],
            *[h.initial for h in self.held.values() if h.initial is not None],
        ]

    def written(self) -> list[Held]:
        """The variables that get new values."""
        return [h for h in self.held.values() if h.written]

    def read_variables(self) -> list[Held]:
        """The variables whose value at the start is an input."""
        return [h for h in self.held.values() if h.initial is not None]

    def all_outputs(self) -> list[int]:
        """Explicit outputs, then new values of variables."""
        return [*self.outputs, *[h.current for h in self.written() if h.current is not None]]

    def maker(self, value: int) -> Node | None:
        """The node that writes a value."""
        return next((n for n in self.nodes if value in n.outputs), None)

    def site_of(self, value: int) -> RawSite | None:
        node = self.maker(value)
        return self.sites.get(value) if node is None else node.site

    def label(self, value: int) -> str:
        """A name for a value, for people."""
        found = self.labels.get(value)
        if found is None:
            node = self.maker(value)
            found = f"{node.op.name}_{value}" if node is not None else f"v{value}"
        return found

    def walk(self) -> Iterator[Node]:
        """All nodes, also those of graphs inside nodes."""
        for node in self.nodes:
            yield node
            for inner in inner_graphs(node):
                yield from inner.walk()

    def as_graph_def(self, *args: Any, **kwargs: Any) -> Any:
        raise at_site(
            AttributeError("Graph.as_graph_def: there are no GraphDefs here. Use print(graph).")
        )

    def __str__(self) -> str:
        from wengert.graph.printer import show

        return show(self)

    def __repr__(self) -> str:
        return f"<graph {self.name!r}: {len(self.nodes)} nodes>"


def _listeners(parent: Graph | None) -> tuple[Any, ...]:
    state = get_state()
    if parent is None or state is None:
        return ()
    return (*parent.watching, *state.listeners)


def _anonymous(leaf: Dim) -> Dim:
    return Dim(leaf.kind, None, *leaf.args[1:])


def inner_graphs(node: Node) -> list[Graph]:
    """The graphs that a node holds: branches, bodies, calls."""
    if not node.attrs:
        return []
    return [a for a in node.attrs.values() if isinstance(a, Graph)] + [
        g for a in node.attrs.values() if type(a) is tuple for g in a if isinstance(g, Graph)
    ]


def all_graphs(graph: Graph) -> list[Graph]:
    """A graph and those within it."""
    return [graph, *[g for node in graph.walk() for g in inner_graphs(node)]]


def _carried(graph: Graph, node: Node, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sizes of an elementwise result: where one input decides, its unknown size is carried on."""
    given = [graph.sizes(v) or () for v in node.inputs]
    out = []
    for i, d in enumerate(shape):
        if d is None:
            places = [s[i - len(shape) + len(s)] for s in given if i - len(shape) + len(s) >= 0]
            others = {p for p in places if p != 1}
            d = others.pop() if len(others) == 1 else Dim("size", graph, node.outputs[0], i)
        out.append(d)
    return tuple(out)


def building() -> Graph | None:
    """The graph being built here, or `None` in eager code."""
    state = get_state()
    return None if state is None else state.graph


def need_inside(x: Any, graph: Any) -> Any:
    """A tensor that may be used in `graph`; an error for one of a foreign trace."""
    if isinstance(x, SymbolicTensor) and (graph is None or not graph.is_inside(x._graph)):
        raise escaped(Shadow(x._graph, x._value, x._graph.specs[x._value].dtype.np))
    return x


def describe_value(graph: Graph, value: int) -> str:
    """A value as error messages show it."""
    return describe(graph.specs[value])
