"""A graph: nodes from inputs to outputs, and what is known of its values.

A value is a number; a node reads values and writes new ones. Variables are functional inside a
graph: a read is an input, an assignment makes a new value, and the last one is written back when
the graph has run. What a graph uses from outside is an input too (a capture). An attribute may
hold numbers that are known only then (`Dim`). How graphs come about is the builder's affair.

What has been worked out of a finished graph is kept with it, under a `CacheKey` that the module
owns which keeps it and that says of what type it is. Copies of a graph begin with nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from wengert.core import dims, shapes
from wengert.core.errors import at_site
from wengert.core.symbolic import symbolic
from wengert.core.tensor import new_id
from wengert.core.types import Dim, Op, RawSite, ShapeDtype, Tensor, Variable
from wengert.graph.known_elements import CONTENT_TYPES

T = TypeVar("T")


class CacheKey(Generic[T]):
    """The key of a value of type `T`; no other key is equal to it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


if TYPE_CHECKING:

    class GraphCache:
        """A `dict` whose values have the types that their keys say."""

        @overload
        def get(self, key: CacheKey[T]) -> T | None: ...
        @overload
        def get(self, key: CacheKey[T], default: T) -> T: ...
        def get(self, key: CacheKey[T], default: T | None = None) -> T | None: ...
        def setdefault(self, key: CacheKey[T], default: T) -> T: ...
        def __getitem__(self, key: CacheKey[T]) -> T: ...
        def __setitem__(self, key: CacheKey[T], value: T) -> None: ...
        def __contains__(self, key: CacheKey[T]) -> bool: ...

else:
    GraphCache = dict  # it is read at every call


def cached_on_graph(
    name: str | CacheKey[Any],
) -> Callable[[Callable[[Any], T]], Callable[[Any], T]]:
    """Decorates a function of a finished graph: its result is made once and kept with the graph.

    With a key of the caller's in place of a name, another result can be put there.
    """
    key = CacheKey[Any](name) if isinstance(name, str) else name

    def decorate(make: Callable[[Any], T]) -> Callable[[Any], T]:
        @functools.wraps(make)
        def cached(graph: Graph) -> T:
            result = graph.cache.get(key, key)
            if result is key:
                result = graph.cache[key] = make(graph)
            return result

        return cached

    return decorate


class Node:
    """One operation of a graph. `open` says that attributes hold unknown numbers."""

    __slots__ = ("attrs", "inputs", "op", "open", "outputs", "site")

    def __init__(
        self,
        op: Op,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        attrs: dict[str, Any],
        site: RawSite | None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self.site = site
        self.open = any(map(dims.is_open, attrs.values())) if attrs else False

    def reads(self) -> tuple[int, ...]:
        """All values the node needs, those in its attributes too."""
        if not self.open:
            return self.inputs
        results = [leaf.args[1] for a in self.attrs.values() for leaf in dims.leaves(a)]
        return (*self.inputs, *dict.fromkeys(results))


class Held:
    """A variable inside a graph: its value at the start, if read, and now."""

    __slots__ = ("current", "initial", "variable", "written")

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.initial: int | None = None
        self.current: int | None = None
        self.written = False

    def copy(self) -> Held:
        new = Held(self.variable)
        new.initial, new.current, new.written = self.initial, self.current, self.written
        return new


class Outer:
    """A value of an enclosing graph that an inner one uses."""

    __slots__ = ("graph", "number", "value")

    def __init__(self, graph: Graph, value: int, number: int) -> None:
        self.graph = graph
        self.value = value
        self.number = number

    def tensor(self) -> Tensor:
        """The value as a tensor of its own graph, under the id that tapes know it by."""
        result = self.graph.tensor(self.value)
        result._id = self.number
        return result


class Draw:
    """A random state that is drawn anew for each run."""

    __slots__ = ("kind", "seed")

    def __init__(self, kind: str, seed: int | None) -> None:
        self.kind = kind
        self.seed = seed


class Graph:
    """A list of nodes from inputs to outputs."""

    def __init__(self, name: str, parent: Graph | None = None, site: RawSite | None = None) -> None:
        self.name = name
        self.parent = parent
        self.site = site
        self.start: int = parent.start if parent is not None else new_id()
        self.begin: int = self.start if parent is None else new_id()  # of this one, not its parents
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.nodes: list[Node] = []
        self.specs: dict[int, ShapeDtype] = {}
        self.constants: dict[int, np.ndarray] = {}
        self.captures: dict[Any, tuple[Any, int]] = {}
        self.held: dict[int, Held] = {}
        self.labels: dict[int, str] = {}
        self.sites: dict[int, RawSite | None] = {}
        self.variables: dict[int, tuple[Any, int]] = {}  # of a closed graph: which inputs they are
        self.origin: Graph = self  # what it is a copy of
        self.origins: list[tuple[Graph, dict[int, Any]]] = []  # and its values in earlier graphs
        self._sizes: dict[int, tuple[Any, ...]] = {}
        self._contents: dict[int, np.ndarray] = {}
        self.cache = GraphCache()  # what engines and gradients make of the finished graph

    def copy(self) -> Graph:
        """A graph with the same values and nodes, to be changed by passes."""
        new = Graph(self.name, self.parent, self.site)
        new.start, new.begin = self.start, self.begin
        new.inputs, new.outputs = list(self.inputs), list(self.outputs)
        new.nodes = list(self.nodes)
        new.specs, new.constants = self.specs, dict(self.constants)
        new.captures = dict(self.captures)
        new.held = {i: h.copy() for i, h in self.held.items()}
        new.labels, new.sites, new._contents = self.labels, self.sites, self._contents
        new.variables = dict(self.variables)
        new.origin, new.origins = self.origin, self.origins
        return new

    @cached_on_graph("the graph as an inner graph")
    def closed(self) -> Graph:
        """An inner graph with captures and variables turned into plain inputs and outputs."""
        new = self.copy()
        new.parent = None
        new.inputs = self.all_inputs()
        new.outputs = self.all_outputs()
        new.captures, new.held = {}, {}
        return new

    def seal(self, outputs: list[int]) -> Graph:
        """Fixes the outputs; numbers that are known only then no longer refer to the builder."""
        self.outputs = outputs
        for k, node in enumerate(self.nodes):
            if node.open:
                attrs = {name: dims.moved(a, _anonymous) for name, a in node.attrs.items()}
                self.nodes[k] = Node(node.op, node.inputs, node.outputs, attrs, node.site)
        return self

    # Values.

    def add_input(self, spec: ShapeDtype, site: RawSite | None = None, label: str = "") -> int:
        """A new value that comes from outside."""
        value = new_id()
        self.specs[value] = spec
        self.sites[value] = site
        if label:
            self.labels[value] = label
        return value

    def tensor(self, value: int, site: RawSite | None = None) -> Tensor:
        """A tensor that stands for a value of this graph."""
        return symbolic(self, self.specs[value], site or self.sites.get(value), value)

    def sizes(self, value: int) -> tuple[Any, ...] | None:
        """The shape of a value with a `Dim` for each unknown size; `None` for unknown rank."""
        cached = self._sizes.get(value)
        if cached is None:
            shape = self.specs[value].shape
            if shape is None or None not in shape:
                return shape
            cached = tuple(
                [Dim("size", self, value, i) if d is None else d for i, d in enumerate(shape)]
            )
            self._sizes[value] = cached
        return cached

    def content(self, value: int) -> np.ndarray | None:
        """The elements of a small integer value as numbers and `Dim`s, where they are known."""
        cached = self._contents.get(value)
        if cached is None and value in self.constants:
            array = self.constants[value]
            if array.dtype.num in CONTENT_TYPES and array.size <= 64:
                cached = array.astype(object)
        return cached

    def narrow(self, value: int, shape: tuple[int | None, ...]) -> None:
        """Adds what is known about the shape of a value."""
        spec = self.specs[value]
        self.specs[value] = ShapeDtype(shapes.merge(spec.shape, shape), spec.dtype)
        self._sizes.pop(value, None)

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
        cached = self.labels.get(value)
        if cached is None:
            node = self.maker(value)
            cached = f"{node.op.name}_{value}" if node is not None else f"v{value}"
        return cached

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
