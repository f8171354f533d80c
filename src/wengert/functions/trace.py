"""One trace of a function: its graph, what it captured, how its results are put together."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core import random_replay as drawing
from wengert.core.apply import wrap
from wengert.core.context import State, get_state, restoring, using
from wengert.core.convert import operand
from wengert.core.errors import at_site, coded, describe
from wengert.core.failures import failures
from wengert.core.observers import OBSERVERS, observed
from wengert.core.sites import locate
from wengert.core.types import (
    DType,
    RawSite,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorShape,
    TensorSpec,
    Value,
    Variable,
)
from wengert.engines import devices, host
from wengert.functions import execute, fast_call, graph_calls
from wengert.functions.graph_calls import assign_all
from wengert.functions.graph_replay import replay
from wengert.functions.mutated_arguments import unchanged
from wengert.functions.signature import rebuild
from wengert.functions.transaction import Transaction, transaction
from wengert.graph.builder import Builder, building
from wengert.graph.ir import Draw, Graph, Outer
from wengert.graph.verify import checked
from wengert.ops.seeds import Places, draw

if TYPE_CHECKING:
    from wengert.ops.numpy_arrays import LinkedArray


_MOST_SHAPES = 256


class Slot:
    """The place of a tensor in the structure of a result."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Trace:
    """A traced function for one signature."""

    def __init__(self, graph: Graph, skeleton: Any, jit: bool | None, site: Any) -> None:
        self.graph = graph
        self.skeleton = skeleton
        self.jit = jit
        self.site = site
        self.created: list[Variable] = []
        self.template: Any = None  # where it serves other variables than those it was traced with
        self.specs: list[Any] = []
        self.given: dict[str, Any] = {}  # the arguments of the first call, in words
        self.arguments: Any = ([], [])  # their structure, or why it cannot be written down
        sources = [source for source, _ in graph.captures.values()]
        self.sources = sources
        self.fixed: Any = None  # what is taken from outside, where XLA computes
        self.places = Places()
        self.reads = [h.variable for h in graph.read_variables()]
        self.writes = [h.variable for h in graph.written()]
        self.outer = next((weakref.ref(s.graph) for s in sources if isinstance(s, Outer)), None)
        self.plain = not sources and not self.reads and not self.writes
        self.single = type(skeleton) is Slot
        self.flat = _flat_slots(skeleton)
        self._quick: Any = None
        self._make: Any = devices.tensor if devices.accelerators() else devices.near_tensor
        self._quicks: dict[Any, Any] = {}

    @functools.cached_property
    def transaction(self) -> Transaction:
        """Made when the trace is first called: until then its variables may be exchanged."""
        return transaction(self.graph)

    def belongs_here(self) -> bool:
        """Whether the trace can be used now: one that uses values of an outer trace, only there."""
        if self.outer is None:
            return True
        outer, here = self.outer(), building()
        return outer is not None and here is not None and here.is_inside(outer)

    def call(self, leaves: list[Tensor | TensorSpec] | list[Tensor], site: Any) -> Any:
        """Runs the trace on tensors, eagerly or inside another trace."""
        if OBSERVERS:
            return observed("run", Trace._call, self, leaves, site)
        state = get_state()
        if state is not None:
            if state.graph is not None:
                return self._inline(leaves, state.graph)
            return self._call_fully(leaves, site)
        quick = self._quick
        if quick is None:
            quick = self._quick = fast_call.quick_call(self)
        if quick is fast_call.by_shapes:
            quick = self._quick_for(leaves)
        arrays = None if quick is None else quick(leaves)
        if arrays is None:
            return self._call_fully(leaves, site)
        make = self._make
        if self.single:
            return make(arrays[0], site)
        return self.pack([make(a, site) for a in arrays])

    def _call(self, leaves: list[Tensor], site: RawSite) -> Tensor | tuple[Tensor, Tensor]:
        """`call` without its quick ways."""
        state = get_state()
        if state is not None and state.graph is not None:
            return self._inline(leaves, state.graph)
        return self._call_fully(leaves, site)

    def _call_fully(self, leaves: list[Tensor | TensorSpec] | list[Tensor], site: RawSite) -> Any:
        inputs = [*leaves, *self._given()]
        if self.writes:
            outs = self.transaction.hold_calling(self._step, inputs, site)
        else:
            now = self.transaction.holding(execute.snapshots)(self)
            outs = self._reading(inputs, now, site)
        return self.pack(outs)

    def _given(self) -> list[Tensor]:
        """The values of what the trace takes from outside, besides its arguments and variables."""
        places = self.places
        return [
            wrap(places.draw(k, s.kind, s.seed)) if isinstance(s, Draw) else s
            for k, s in enumerate(self.sources)
        ]

    def _quick_for(self, leaves: list[Any]) -> Any:
        """The fast call for these shapes, of a trace with unknown sizes."""
        shapes = tuple([x._array.shape for x in leaves])
        cached = self._quicks.get(shapes)
        if cached is None:
            cached = fast_call.quick_open(self, shapes)
            if cached is not None:
                if len(self._quicks) >= _MOST_SHAPES:
                    self._quicks.clear()
                self._quicks[shapes] = cached
        return cached

    def _reading(
        self, inputs: list[Tensor | TensorSpec], now: list[Tensor], site: RawSite
    ) -> list[Tensor]:
        run = execute.run_tensors(self.jit, site)
        full = [*inputs, *self.reads]
        if not graph_calls.followers(full):
            return run(self.graph, [*inputs, *now])
        return graph_calls.call(self.graph, full, run, site)

    def _step(self, inputs: list[Tensor], site: RawSite) -> list[Tensor]:
        full = [*inputs, *self.reads]
        if not graph_calls.followers(full):
            arrays = execute.execute_step(self.graph, execute.arrays_of(inputs), self.jit)
            return execute.tensors(arrays, site)
        outs = graph_calls.call(self.graph, full, execute.run_tensors(self.jit, site), site)
        return self.transaction.commit_tensors(outs)

    def _inline(self, leaves: list[Any], here: Builder) -> Any:
        """Adds the nodes of this trace to the graph being built."""
        inputs = list(leaves)
        for source in self.sources:
            if isinstance(source, Draw):
                inputs.append(here.draw(source.kind, source.seed))
            elif isinstance(source, Outer):
                inputs.append(source.tensor())
            else:
                inputs.append(source)
        state = get_state()
        for v in self.reads:
            for one in state.listeners if state is not None else ():
                one.follows((v,))
            inputs.append(here.snapshot(v))

        def assigned(variable: Variable, value: Tensor) -> Tensor:
            late.UPDATE.call(variable, "assign", value)
            return here.snapshot(variable)

        if self.jit and not here.root().jit:
            return self._call_node(inputs)
        outs = replay(self.graph, inputs, assigned)
        return self.pack(outs[: len(self.graph.outputs)])

    def _call_node(self, inputs: list[Tensor]) -> Tensor:
        """A call whose compilation was demanded, inside a graph that is not compiled as a whole."""
        from wengert.functions.branch_nodes import emit_call

        outs = emit_call(self.graph.closed(), inputs, jit=True, recompute=False)
        count = len(self.graph.outputs)
        assign_all(self.writes, outs[count:])
        return self.pack(outs[:count])

    def pack(self, outs: list[Any]) -> Any:
        """The results in the structure that the function returned."""
        if self.single:
            return outs[0]
        if self.flat is None:
            return put_together(self.skeleton, outs)
        kind, names, places = self.flat
        results = [outs[k] for k in places]
        return kind(zip(names, results, strict=True)) if kind is dict else kind(results)


def trace(
    name: str,
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    specs: Callable[[Any], Any],
    creating: list[Variable] | tuple[()] | None,
    jit: bool | None,
    site: Any,
) -> Trace:
    """Runs a Python function once on tensors without values, and keeps what it did.

    `specs` says what is known of each tensor argument; `creating` collects variables that the
    function creates, or is `None` if it must not, and empty for a second look at a first call.
    """
    graph = Builder(name, building(), site)
    graph.jit = bool(jit)
    feeds: dict[int, Any] = {}
    graph.on_create = creator(graph, feeds, creating)
    known: list[Any] = []

    def leaf(x: Tensor | np.ndarray | TensorSpec | LinkedArray, path: str) -> Tensor:
        spec = specs(x)
        known.append(spec)
        label = path.removeprefix(".").split("[")[0] if path else ""
        tensor = graph.parameter(ShapeDtype(spec.shape._dims, spec.dtype), None, spec.name or label)
        if isinstance(x, Value) and not isinstance(x, SymbolicTensor):
            feeds[tensor._value] = x._array
        return tensor

    with using(State((), graph)), drawing.apart():
        new_args, new_kwargs = rebuild_arguments(args, kwargs, leaf)
        with unchanged(name, function, [n for n, _ in args], new_args, new_kwargs):
            try:
                result = function(*new_args, **new_kwargs)
            except TypeError as error:
                _mind_sizes(error, known)
                raise
        skeleton, values = _results(name, graph, result)
    graph.seal(values)
    graph.end_replays()
    checked(graph)
    value = Trace(graph, skeleton, jit, site)
    value.specs = known
    value.created = list(creating or ())
    return value


def _mind_sizes(error: TypeError, specs: list[TensorSpec]) -> None:
    """Adds a word to Python's own on `None`, where it may be a size that nobody knows yet."""
    told = hasattr(error, "site") or hasattr(error, "__notes__") or "NoneType" not in str(error)
    if not told and not all(s.shape.is_fully_defined() for s in specs):
        error.add_note(
            "  A size that is not known while tracing is None: use tf.shape(x)[i] for x.shape[i], "
            "or fix it in `input_signature`."
        )


def rebuild_arguments(args: Any, kwargs: Any, leaf: Any) -> tuple[Any, Any]:
    """Positional and keyword arguments with their tensors replaced; paths name the parameters."""
    new_args = [rebuild(value, leaf, name) for name, value in args]
    return new_args, {k: rebuild(v, leaf, k) for k, v in kwargs.items()}


def _results(name: str, graph: Builder, result: Any) -> tuple[Any, list[int]]:
    skeleton, tensors = take_apart(name, result)
    return skeleton, [graph.value_of(x) for x in tensors]


def take_apart(name: str, result: Any) -> tuple[Any, list[Any]]:
    """The tensors of a result (numbers become tensors), and its structure with slots for them."""
    tensors: list[Any] = []

    def slot(x: Tensor) -> Slot:
        tensors.append(x)
        return Slot(len(tensors) - 1)

    def tensor(x: Tensor | np.ndarray, path: str) -> Slot:
        return slot(operand(x))

    def other(value: Any) -> Slot | None:
        if isinstance(value, Variable):
            return slot(value.read_value())
        if value is None:
            return value
        if isinstance(value, bool | int | float | complex | str | bytes):
            return slot(operand(value))
        is_shape = isinstance(value, TensorShape)
        if is_shape and value.is_fully_defined():
            return slot(operand(value))
        if not is_shape and hasattr(value, "__tf_tensor__"):
            return slot(value.__tf_tensor__())
        raise at_site(
            TypeError(
                f"function {name!r}: it must return tensors, numbers, None or nests of them; got "
                f"{describe(value)}."
            )
        )

    return rebuild(result, tensor, "", _ARRAYS, other), tensors


_ARRAYS = (Value, np.ndarray, np.generic)


def _flat_slots(skeleton: Any) -> tuple[type, tuple[str, ...], list[int]] | None:
    """Kind, names and places for a plain dict, tuple or list of tensors, the usual results."""
    kind = type(skeleton)
    if kind not in (dict, tuple, list):
        return None
    slots = list(skeleton.values() if kind is dict else skeleton)
    if any(type(s) is not Slot for s in slots):
        return None
    return kind, tuple(skeleton) if kind is dict else (), [s.number for s in slots]


def put_together(skeleton: Any, tensors: list[Any]) -> Any:
    """A result from its structure and its tensors."""
    if type(skeleton) is Slot:
        return tensors[skeleton.number]
    return rebuild(skeleton, lambda slot, _: tensors[slot.number], "", Slot)


def creator(
    graph: Graph, feeds: dict[int, Any], creating: list[Variable] | tuple[()] | None
) -> Callable[[Variable, Any, Any], Any]:
    @restoring
    def create(variable: Variable, initial: Any, dtype: DType | None) -> Tensor:
        if creating is None or isinstance(creating, tuple):
            when = "on a call that is not its first" if creating is None else "at every call"
            raise coded(
                ValueError(
                    f"function {graph.name!r}: it creates a variable {when}. Create variables "
                    f"outside, or once: keep them and test whether they are there."
                ),
                "WG406",
            )
        if callable(initial) and not isinstance(initial, Value):
            with using(State()):
                initial = initial()
        creating.append(variable)
        return _evaluated(graph, feeds, operand(initial, dtype))

    return create


@restoring
def _evaluated(graph: Graph, feeds: dict[int, np.ndarray], initial: Tensor) -> Tensor:
    """The value that a tensor of the trace has for the arguments of this first call."""
    with using(State()):
        if not isinstance(initial, SymbolicTensor):
            return initial
    inputs = graph.all_inputs()
    arrays = []
    for value in inputs:
        held = next((h for h in graph.held.values() if h.initial == value), None)
        source = next((s for s, v in graph.captures.values() if v == value), None)
        if value in feeds:
            arrays.append(feeds[value])
        elif held is not None:
            arrays.append(held.variable._host if held.variable._host is not None else None)
        elif source is not None and not isinstance(source, Outer):
            arrays.append(
                draw(source.kind, source.seed) if isinstance(source, Draw) else source._array
            )
        else:
            arrays.append(None)
    part = graph.copy()
    part.held = {i: h.copy() for i, h in graph.held.items()}
    for h in part.held.values():
        h.written = False
    part.seal([initial._value])
    try:
        return wrap(np.asarray(host.run(part, arrays)[0]))
    except failures():
        raise at_site(
            ValueError(
                f"Variable: its initial value depends on the arguments of the traced function, "
                f"made at {locate(initial._site)}, and cannot be computed now. Give a fixed value "
                f"or a function that makes one."
            )
        ) from None
