"""The builder of a graph, to which `apply` hands operations while tracing.

It gives tensors, constants and variables their values in the graph, and appends a node for each
operation that cannot be worked out at once. What is done with a finished graph it does not know.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dims, dtypes, shapes
from wengert.core.apply import answer_refused, apply, refuses, wrap
from wengert.core.context import State, get_state, using
from wengert.core.errors import (
    at_site,
    invalid,
)
from wengert.core.sites import find
from wengert.core.symbolic import Shadow, escaped, symbolic
from wengert.core.tensor import new_id
from wengert.core.types import (
    Dim,
    DType,
    Listener,
    Op,
    RawSite,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    Value,
    Variable,
)
from wengert.core.user_code import USER
from wengert.core.variable_aliases import Alias
from wengert.graph.folding import SMALL, Folded, differentiable, is_known, is_small
from wengert.graph.ir import Graph, Held, Node, Outer
from wengert.graph.known_elements import CONTENT_TYPES, carried_sizes, work_out
from wengert.graph.origins import Seen, carried, replayed, settled
from wengert.graph.random_states import drawn

if TYPE_CHECKING:
    from wengert.graph.ir import Draw


_frame = sys._getframe


class Builder(Graph):
    """A graph that is being traced."""

    parent: Builder | None

    def __init__(
        self, name: str, parent: Builder | None = None, site: RawSite | None = None
    ) -> None:
        super().__init__(name, parent, site)
        self.watching = _listeners(parent)  # tapes outside, which may follow what is used here
        self.turn: Any = None  # the number of the turn, in the body of a loop
        self.replays: list[tuple[Graph, dict[int, Any]]] = []  # graphs run again in this one
        self.seen: list[Seen] = []  # what rules see that were brought along from them
        self.frames: list[tuple[Graph, dict[int, Any]]] = []  # what the rule sees that runs now
        self.for_replica: Any = None  # what it knows of its values, where replicas run it
        self.jit = False  # whether it is to be compiled as a whole
        self.on_create: Any = None  # what to do when a variable is created, set by functions
        self.roots: dict[int, int] = {}  # the ids that tapes know variables by, if not their own
        self.reread: Any = None  # how to read variables that Python may have changed by now
        self.folded: list[Folded] = []  # the operations on constants that became no nodes
        self.identities: dict[int, int] = {}  # the tensor that each constant is, by its id
        self._constants: dict[Any, int] = {}

    # Values.

    def parameter(self, spec: ShapeDtype, site: RawSite | None = None, label: str = "") -> Any:
        """A new explicit input, as a tensor."""
        value = self.add_input(spec, site, label)
        self.inputs.append(value)
        return self.tensor(value)

    def constant(self, array: np.ndarray) -> int:
        """A value that never changes; equal small ones are one."""
        key: Any = None
        if array.size <= 16 and array.dtype.kind != "O":
            key = (array.dtype.num, array.shape, array.tobytes())
            cached = self._constants.get(key)
            if cached is not None:
                return cached
        value = new_id()
        self.constants[value] = array
        self.specs[value] = ShapeDtype(array.shape, dtypes.of(array))
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

    def _eager(self, x: Tensor) -> int:
        """A constant; of those that may be differentiated, each made in this graph is its own."""
        if 0 < x._id <= self.begin:
            captured = self.captures.get(("tensor", x._id))
            if captured is not None:
                return captured[1]
        inexact = x._id and x._array.dtype.num in dtypes.INEXACT
        made_here = x._id == 0 or (x._id > self.begin and not self.follows(x))
        if made_here or (not inexact and x._array.size <= SMALL):
            cached = self._constants.get(x._id) if x._id else None
            if cached is None:
                cached = self._own_constant(x) if inexact else self.constant(x._array)
                if x._id:
                    self._constants[x._id] = cached
            return cached
        return self.capture(("tensor", x._id), x, ShapeDtype(x._array.shape, x.dtype), x._site)

    def _own_constant(self, x: Tensor) -> int:
        """A constant that is the value of one tensor only."""
        value = new_id()
        self.constants[value] = x._array
        self.specs[value] = ShapeDtype(x._array.shape, x.dtype)
        self.identities[value] = x._id
        return value

    def follows(self, x: Tensor) -> bool:
        """Whether a tape outside follows a constant that is used here."""
        return any(one.follows((x,)) for one in self.watching)

    def capture(
        self,
        key: tuple[int | str, ...],
        source: Tensor | Draw | Outer,
        spec: ShapeDtype,
        site: RawSite | None,
    ) -> int:
        """The input that stands for something from outside; one for each key."""
        cached = self.captures.get(key)
        if cached is None:
            cached = self.captures[key] = (source, self.add_input(spec, site))
        return cached[1]

    def import_value(self, graph: Graph, value: int, number: int | None = None) -> int:
        """A value of an enclosing graph as an input of this one."""
        if graph is self:
            return value
        result = replayed(self, graph, value)
        if result is not None:
            return self.value_of(result)
        if value in graph.constants:
            return self.constant(graph.constants[value])
        if not self.is_inside(graph):
            raise escaped(Shadow(graph, value, graph.specs[value].dtype.np))
        number = value if number is None else number
        source = Outer(graph, value, number)
        return self.capture(
            ("value", value, number), source, graph.specs[value], graph.sites.get(value)
        )

    def own(self, x: Any) -> Value | Alias:
        """A tensor as it is known here: what it became, if its graph was run again in this one."""
        if type(x) is not SymbolicTensor or x._graph is self:
            return x
        result = replayed(self, x._graph, x._value)
        return x if result is None else result

    def root(self) -> Builder:
        """The outermost graph that this one is being built in."""
        graph: Builder = self
        while graph.parent is not None:
            graph = graph.parent
        return graph

    def is_inside(self, other: Graph) -> bool:
        """Whether this graph is being built within another."""
        graph: Builder | None = self
        while graph is not None:
            if graph is other:
                return True
            graph = graph.parent
        return False

    def localised(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Attributes whose unknown numbers refer to values of this graph."""

        def here(leaf: Dim) -> Dim:
            graph, value, place = leaf.args
            return Dim(leaf.kind, self, self.import_value(graph, value), place)

        return {k: dims.moved(a, here) for k, a in attrs.items()}

    # Variables and random states.

    def hold(self, variable: Variable) -> Held:
        """The record of a variable in this graph."""
        cached = self.held.get(variable._id)
        if cached is None:
            cached = self.held[variable._id] = Held(variable)
        elif type(cached.variable) is Alias and type(variable) is not Alias:
            cached.variable = variable  # it is known by itself too
        return cached

    def in_replica(self) -> bool:
        """Whether this is built for a replica."""
        graph: Builder | None = self
        while graph is not None and graph.for_replica is None:
            graph = graph.parent
        return graph is not None

    def read(self, variable: Variable) -> int:
        """The present value of a variable; of one that replicas have copies of, what they make."""
        if variable._copies is not None and not self.in_replica():
            return self.value_of(variable.read_value())
        held = self.hold(variable)
        if held.current is None:
            shape = variable.shape._dims
            spec = ShapeDtype(shape, variable.dtype)
            held.initial = now = self.add_input(spec, label=variable._name)
            held.current = now if self.reread is None else int(self.reread(self, variable, now))
        return held.current

    def write(self, variable: Variable, x: SymbolicTensor) -> None:
        """Gives a variable a new value."""
        held = self.hold(variable)
        held.current = self.value_of(x)
        held.written = True

    def snapshot(self, variable: Variable) -> Tensor:
        """The present value of a variable under the variable's own id, for a tape to keep."""
        tensor = self.tensor(self.read(variable))
        tensor._id = self.roots.get(variable._id, variable._id)
        return tensor

    def create(self, variable: Variable, initial: Any, dtype: DType | None) -> Tensor:
        """Asks the function being traced whether a variable may be created, and its start."""
        graph: Builder = self
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
        """A random state: drawn for each run, and in a loop derived for each turn."""
        return drawn(self, kind, seed)

    # Nodes.

    def add(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> Tensor | tuple[Tensor, ...]:
        """Records an operation (called by `apply`) and returns its results as tensors."""
        if refuses(op, inputs):
            return answer_refused(op, inputs, attrs)
        state = get_state()
        if op.folds and is_known(self, inputs) and is_small(self, op, inputs, attrs):
            assert state is not None, "a graph is built under a state"
            site = state.site or find(_frame(2))
            with using(State(state.listeners, None, site)):
                result = apply(op, *inputs, **attrs)
            if differentiable(inputs):
                outs = (result,) if op.outputs == 1 else tuple(result)
                self.folded.append(Folded(op, inputs, outs, attrs, site))
            return result
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
        result = op.infer(*specs, **given)
        if op.fill is not None and (shapes.size(result.shape) or SMALL + 1) <= SMALL:
            number = op.fill if result.dtype is not dtypes.string else b""
            return wrap(np.full(result.shape, number, result.dtype.np), find(_frame(2)))
        if state is None or state.site is None:
            frame = _frame(2)
            code = frame.f_code
            site = (code, frame.f_lasti) if USER.get(code.co_filename) else find(frame)
        else:
            site = state.site
        single = op.outputs == 1
        made = (result,) if single else tuple(result)
        outs = []
        for spec in made:
            out = symbolic(self, spec, site)
            self.specs[out._value] = spec
            outs.append(out)
        outs = tuple(outs)
        node = Node(op, values, tuple([o._value for o in outs]), attrs, site)
        self.nodes.append(node)
        if single:
            known = self._note(op, node, result)
            if known is not None:
                return known
        if state is not None:
            for listener in state.listeners:
                listener.record(op, inputs, outs, attrs, site)
        return outs[0] if single else outs

    def emit(
        self,
        op: Op,
        values: tuple[int, ...],
        attrs: dict[str, Any],
        specs: list[ShapeDtype],
        site: RawSite | None,
    ) -> tuple[int, ...]:
        """Appends a node as it is and returns its new values."""
        outs = []
        for spec in specs:
            value = new_id()
            self.specs[value] = spec
            outs.append(value)
        self.nodes.append(Node(op, values, tuple(outs), attrs, site))
        return tuple(outs)

    def _note(self, op: Op, node: Node, spec: ShapeDtype) -> Tensor | None:
        """Notes sizes that carry over, and contents; returns a constant where all is known."""
        out = node.outputs[0]
        if op.pointwise and spec.shape is not None and None in spec.shape:
            self._sizes[out] = carried_sizes(self, node, spec.shape)
        if spec.dtype.np.num in CONTENT_TYPES and not op.effect:
            content = work_out(self, node)
            if content is not None:
                if all(type(d) is not Dim for d in content.flat):
                    self.nodes.pop()
                    return wrap(_constant(content, spec.dtype), node.site)
                self._contents[out] = content
        return None

    # The end of a trace.

    def seal(self, outputs: list[int]) -> Graph:
        """Ends the trace: fixes the outputs and lets go of the builder's own references."""
        self.watching = ()
        self.folded = []
        self.on_create = None  # it knows the arguments of the call that is traced
        return super().seal(outputs)

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


def _listeners(parent: Builder | None) -> tuple[Listener, ...]:
    state = get_state()
    if parent is None or state is None:
        return ()
    return (*parent.watching, *state.listeners)


def building() -> Builder | None:
    """The graph being built here, or `None` in eager code."""
    state = get_state()
    return None if state is None else state.graph


def _constant(content: np.ndarray, dtype: DType) -> np.ndarray:
    """Known whole numbers in the dtype of the result that they are."""
    try:
        return content.astype(dtype.np)
    except OverflowError:
        words = f"the size {max(content.flat)} does not fit {dtype.name}"
        raise invalid("shape", words, help="Ask for out_type=tf.int64.") from None
