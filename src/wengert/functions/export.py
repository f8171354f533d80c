"""A trace as a program that needs no Python: StableHLO, made by `jax.export`.

Captured tensors, large constants and variables stay outside, as inputs, so that they are kept
once and variables can change. Unknown sizes become symbols. How programs are kept in files is the
business of `saved_model`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.context import restoring
from wengert.core.errors import UnimplementedError, at_site, describe
from wengert.core.failures import failures
from wengert.core.hooks import Hook
from wengert.core.interrupts import uninterrupted
from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import gathering
from wengert.core.padded_stacks import Padded, rows_unknown
from wengert.core.sites import locate
from wengert.core.types import JaxArray, Variable
from wengert.engines import call_execution, engine_choice
from wengert.engines.executables import EXECUTABLES
from wengert.engines.lower import LOWERINGS, Lowering, lower_graph
from wengert.engines.rollback import anywhere
from wengert.functions.trace import Trace
from wengert.graph.folding import SMALL
from wengert.graph.ir import Draw, Graph, Node, Outer
from wengert.graph.passes import needs_no_passes, optimised

if TYPE_CHECKING:
    from types import ModuleType

    from wengert.functions.concrete import ConcreteFunction


LOWERINGS.requires(call_execution)

# Writes a concrete function to a folder.
SAVE: Hook[Callable[[Any, Any], None]] = Hook("save_concrete", "wengert.saved_model.saving")
# A program runs where it was not made, too; what cannot be written for all of them is written
# for the present one.
_PLATFORMS = ("cpu", "cuda", "tpu")


class Check(NamedTuple):
    """Something that may fail while a program runs: the operation, and the user's line."""

    operation: str
    line: str


class Room(NamedTuple):
    """How many rows a loop of unknown length has room for, and the user's line."""

    rows: int
    line: str


class Program(NamedTuple):
    """A program and how to call it.

    It takes the arguments, then `given`: constants as arrays, random states as (kind, seed), and
    variables. It gives the results, the new values of `written`, one flag for each check, and
    the number of rows wanted for each room.
    """

    blob: bytes
    shapes: list[tuple[Any, ...]]  # of the arguments; a size is a number or the name of a symbol
    dtypes: list[dtypes.DType]
    given: list[np.ndarray | Draw | Variable]
    results: list[tuple[tuple[int | None, ...], dtypes.DType]]
    written: list[Variable]
    checks: list[Check]
    rooms: list[Room]


_UNKNOWN = re.compile("traced array|symbolic dimension", re.IGNORECASE)


def export(concrete: ConcreteFunction, path: Any) -> None:
    """Writes a concrete function to a folder from which `tf.saved_model.load` takes it."""
    SAVE.call(concrete, path)


def program_of(name: str, trace: Trace) -> Program:
    """The program of a trace; an error at the user's line for what XLA cannot run."""
    _check(name, trace)
    first: Exception | None = None
    for shapes in _symbols(trace.graph):
        try:
            return _export(trace, shapes)
        except failures() as error:
            first = first or error
    raise _cannot(name, trace, first) from first


def _check(name: str, trace: Trace) -> None:
    graph = trace.graph
    node = engine_choice.runs_only_on_host(graph)
    if node is not None:
        rule = f"{node.op.name} has no form in XLA, or calls Python"
        raise _refused(name, rule, "Leave it out of the exported function.", node.site)
    if any(isinstance(source, Outer) for source in trace.sources):
        rule = "it uses tensors of the function that it was defined in"
        raise _refused(name, rule, "Pass them as arguments.", graph.site)
    for value in graph.all_inputs():
        spec = graph.specs[value]
        if spec.shape is None or spec.dtype is dtypes.string:
            what = f"`{graph.label(value)}` is {describe(spec)}"
            help = "Give it a rank and a numeric dtype in `input_signature`."
            raise _refused(name, f"{what}, which XLA cannot take", help, graph.site)


def _cannot(name: str, trace: Trace, error: Exception | None) -> Exception:
    rule = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    if _UNKNOWN.search(rule):  # JAX in its own words
        operation = rule.partition(":")[0]
        known_name = operation if operation.isidentifier() else "an operation"
        rule = f"{known_name} needs sizes that are known"
    known = engine_choice.is_closed(trace.graph)
    help = "" if known else "Fix the sizes that are unknown in `input_signature`."
    result = _refused(name, rule, help, trace.graph.site)
    where = getattr(error, "site", None)
    if where is not None:
        result.site = where
        result.__notes__ = [f"  --> {where}"]
    return result


def _refused(name: str, rule: str, help: str, site: Any) -> Any:
    text = f"export: {name} cannot be exported: {rule}. {help}".strip()
    return at_site(UnimplementedError(None, None, text), site)


def _symbols(graph: Graph) -> Iterator[list[tuple[Any, ...]]]:
    """Shapes with names for unknown sizes: all different, or else the same along each axis."""
    shapes: list[Any] = [graph.specs[v].shape for v in graph.all_inputs()]
    yield [
        tuple([f"s{k}_{i}" if d is None else d for i, d in enumerate(shape)])
        for k, shape in enumerate(shapes)
    ]
    if sum(d is None for shape in shapes for d in shape) > 1:
        yield [tuple([f"s{i}" if d is None else d for i, d in enumerate(s)]) for s in shapes]


@restoring
@uninterrupted
def _export(trace: Trace, shapes: list[tuple[int | str, ...]]) -> Program:
    from jax import export as jax_export

    graph = optimised(trace.graph)
    body = _Body(graph, _rooms(trace.graph))
    given = [
        *[(s if isinstance(s, Draw | Variable) else s._array) for s in trace.sources],
        *trace.reads,
    ]
    scope = jax_export.SymbolicScope()
    specs = [
        jax.ShapeDtypeStruct(_shape(jax_export, shape, scope), graph.specs[v].dtype.np)
        for v, shape in zip(graph.all_inputs(), shapes, strict=True)
    ]
    specs += [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in body.hoisted.values()]
    with jax.enable_x64(True):
        try:
            made = jax_export.export(jax.jit(body.run), platforms=_PLATFORMS)(*specs)
        except failures():
            made = jax_export.export(jax.jit(body.run))(*specs)
        blob = bytes(made.serialize())
    count = len(graph.inputs)
    return Program(
        blob,
        shapes[:count],
        [graph.specs[v].dtype for v in graph.inputs],
        [*given, *body.hoisted.values()],
        [(graph.specs[v].shape or (), graph.specs[v].dtype) for v in graph.outputs],
        trace.writes,
        body.checks,
        body.rooms,
    )


def _shape(jax_export: ModuleType, shape: tuple[int | str, ...], scope: Any) -> tuple[int, ...]:
    return jax_export.symbolic_shape(",".join(map(str, shape)), scope=scope) if shape else ()


class _Body:
    """The function that is exported, and what becomes known while JAX traces it."""

    def __init__(self, graph: Graph, room: dict[int, int]) -> None:
        self.graph = graph
        self.capacities = room
        self.hoisted = {v: c for v, c in graph.constants.items() if c.size > SMALL}
        self.checks: list[Check] = []
        self.rooms: list[Room] = []

    def run(self, *arrays: JaxArray) -> tuple[JaxArray, ...]:
        lifted = needs_no_passes(self.graph.copy())
        lifted.inputs = [*lifted.all_inputs(), *self.hoisted]
        lifted.outputs = lifted.all_outputs()
        lifted.captures, lifted.held = {}, {}
        lifted.constants = {v: c for v, c in lifted.constants.items() if v not in self.hoisted}
        self.checks, places = [], {}
        with gathering() as flags:
            low = Lowering(self.capacities, self._follower(flags, places))
            results = lower_graph(lifted, arrays, low)
        self.rooms = [Room(room, places.get(key, "")) for _, key, room in low.wanted]
        if any(type(r) is Padded for r in results):
            raise rows_unknown()
        given = [jax.numpy.asarray(r) for r in results]
        ended = [lax.reshape(jax.numpy.asarray(anywhere(f)), (1,)) for f in flags]
        checks = [lax.concatenate(ended, 0)] if ended else []
        return (*given, *checks, *[w for w, _, _ in low.wanted])

    def _follower(self, flags: list[Any], places: dict[int, str]) -> Any:
        def follow(node: Node) -> None:
            line = str(locate(node.site) or "")
            if node.outputs:
                places[node.outputs[0]] = line
            self.checks += [Check(node.op.name, line)] * (len(flags) - len(self.checks))

        return follow


def _rooms(graph: Graph) -> dict[int, int]:
    """The room that loops of unknown length have needed so far."""
    table: dict[int, int] = {}
    for executable in graph.cache.get(EXECUTABLES, {}).values():
        for key, rows in executable.capacities.items():
            table[key] = max(table.get(key, 0), rows)
    return table
