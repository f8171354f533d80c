"""Traces that serve all variables of one kind, as TensorFlow's do.

A variable that is an argument is traced under an alias. If the trace uses it by that alone, its
graph is kept as a template without the variable, and bound to other variables of the same dtype
and shape when they come. Which arguments are the same variable is a part of the kind.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.core.tensor import new_id
from wengert.core.types import Variable
from wengert.core.variable_aliases import Alias, Identity, plain
from wengert.functions.signature import encode
from wengert.functions.trace import Trace
from wengert.graph.ir import Graph, Node, inner_graphs
from wengert.ops.nodes import HOST_CALL
from wengert.tape.custom import CUSTOM

if TYPE_CHECKING:
    from wengert.functions.signature import Same


_MOST = 64
_MOST_BOUND = 8
# Nodes that hold Python which may have closed over the argument itself.
_CLOSED_OVER = (HOST_CALL, CUSTOM)


class Shared:
    """The templates of one function, by the kinds of its arguments."""

    def __init__(self) -> None:
        self.templates: OrderedDict[Any, Template] = OrderedDict()
        self.bound: OrderedDict[Any, None] = OrderedDict()

    def find(self, given: Given) -> Trace | None:
        """A trace for these arguments, bound to their variables."""
        template = self.templates.get(given.kind)
        return None if template is None else template.bound(given.variables)

    def keep(self, given: Given, trace: Trace) -> None:
        """Remembers a new trace if it can serve other variables, and lets go of the aliases."""
        if given.is_anonymous(trace.graph):
            self.templates[given.kind] = trace.template = Template(trace, given.variables)
            while len(self.templates) > _MOST:
                self.templates.popitem(last=False)
        settle(trace)

    def oldest(self, key: Any, trace: Trace) -> tuple[tuple[type, Same], ...] | None:
        """Notes a trace that is bound to variables, which it keeps alive; one too many, if so."""
        if trace.template is None:
            return None
        self.bound[key] = None
        return self.bound.popitem(last=False)[0] if len(self.bound) > _MOST_BOUND else None


class Given:
    """The arguments of a call with aliases in the place of variables, and their kind."""

    def __init__(self, pairs: Any, named: Any) -> None:
        self.identity = Identity()
        self.variables: list[Variable] = []
        self.pairs = [(name, self._walk(value)) for name, value in pairs]
        self.named = {k: self._walk(v) for k, v in named.items()}
        self.kind: Any = None
        if self.variables:
            everything = [*self.pairs, *self.named.items()]
            self.kind = tuple([(n, encode(_described(v, self), [])) for n, v in everything])

    def _walk(self, value: Any) -> Any:
        if isinstance(value, Variable):
            if type(value) is not Variable:
                return value
            if not any(value is v for v in self.variables):
                self.variables.append(value)
            return Alias(value, self.identity)
        if type(value) in (list, tuple):
            return type(value)(map(self._walk, value))
        if type(value) is dict:
            return {k: self._walk(v) for k, v in value.items()}
        return value

    def number(self, alias: Alias) -> int:
        return next(k for k, v in enumerate(self.variables) if v is alias._of)

    def is_anonymous(self, graph: Graph) -> bool:
        """Whether the graph knows the variables by the arguments alone."""
        if self.identity.asked or any(n.op in _CLOSED_OVER for n in graph.walk()):
            return False
        if any(getattr(source, "graph", None) is not None for source, _ in graph.captures.values()):
            return False
        held = [graph.held.get(v._id) for v in self.variables]
        return all(h is None or type(h.variable) is Alias for h in held)


def _described(value: Any, given: Given) -> Any:
    """An argument with what matters of its variables in their places."""
    if type(value) is Alias:
        v = value._of
        return ("variable", given.number(value), v.dtype, v.shape, v.trainable)
    if type(value) in (list, tuple):
        return type(value)([_described(v, given) for v in value])
    return {k: _described(v, given) for k, v in value.items()} if type(value) is dict else value


class Template:
    """A trace without the variables that were its arguments."""

    def __init__(self, trace: Trace, variables: list[Variable]) -> None:
        blanks = [_blank(v) for v in variables]
        self.ids = [b._id for b in blanks]
        table = {v._id: b for v, b in zip(variables, blanks, strict=True)}
        self.graph = rebound(trace.graph, table)
        self.others = {i for i in trace.graph.held if i not in table}
        self.made = (trace.skeleton, trace.jit, trace.site)
        self.noted = (trace.specs, trace.given, trace.arguments)

    def bound(self, variables: list[Variable]) -> Trace | None:
        """The trace for these variables; `None` where one of them is also used otherwise."""
        if any(v._id in self.others for v in variables):
            return None
        table = dict(zip(self.ids, variables, strict=True))
        result = Trace(rebound(self.graph, table), *self.made)
        result.specs, result.given, result.arguments = self.noted
        result.template = self
        return result


def _blank(variable: Variable) -> Variable:
    """A variable of the same kind that holds nothing."""
    new: Any = object.__new__(Variable)
    for slot in ("_declared", "_dtype", "_name", "_open", "_trainable"):
        setattr(new, slot, getattr(variable, slot))
    new._id, new._host, new._device = new_id(), None, None
    return new


def settle(trace: Trace) -> None:
    """Puts the variables themselves in the place of their aliases, in a finished trace."""
    for held in trace.graph.held.values():
        held.variable = plain(held.variable)
    _exchange_all(trace.graph, plain)
    trace.reads = [plain(v) for v in trace.reads]
    trace.writes = [plain(v) for v in trace.writes]


def rebound(graph: Graph, table: dict[int, Variable]) -> Graph:
    """A copy of a graph with other variables in the place of some."""
    new = graph.copy()
    new.held = {}
    for i, held in graph.held.items():
        mine = held.copy()
        mine.variable = table.get(i, held.variable)
        new.held[mine.variable._id] = mine
    _exchange_all(new, lambda v: table.get(v._id, v))
    _forget(new)
    return new


def _forget(graph: Graph) -> None:
    """Lets go of earlier graphs, into which only users' rules look back."""
    graph.origin, graph.origins = graph, []
    for inner in [g for n in graph.nodes for g in inner_graphs(n)]:
        _forget(inner)


def _exchange_all(graph: Graph, other: Callable[[Variable], Variable]) -> None:
    graph.variables = {other(v)._id: (other(v), value) for v, value in graph.variables.values()}
    graph.nodes = [_exchanged(n, other) for n in graph.nodes]


def _exchanged(node: Node, other: Callable[[Variable], Variable]) -> Node:
    attrs = {k: _attr(a, other) for k, a in node.attrs.items()}
    if all(attrs[k] is a for k, a in node.attrs.items()):
        return node
    return Node(node.op, node.inputs, node.outputs, attrs, node.site)


def _attr(attr: Any, other: Callable[[Variable], Variable]) -> Any:
    if isinstance(attr, Variable):
        return other(attr)
    if isinstance(attr, Graph):
        new = attr.copy()
        _exchange_all(new, other)
        return new
    if type(attr) is tuple and any(isinstance(a, Graph | Variable) for a in attr):
        return tuple([_attr(a, other) for a in attr])
    return attr
