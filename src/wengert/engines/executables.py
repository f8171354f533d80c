"""Executables: graphs compiled for one set of closed shapes, kept by content.

Equal graphs share them. What can fail ends in one flag; new values of variables are chosen by it,
so a failed step changes nothing. What is done about the flag is for the engine that runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.core import host_memory
from wengert.core.bounded_cache import Bounded
from wengert.core.compile_cache import CACHE
from wengert.core.compiler import begin, options
from wengert.core.context import restoring
from wengert.core.failures import failures
from wengert.core.interrupts import uninterrupted
from wengert.core.lazy_modules import jax
from wengert.core.locks import new_lock
from wengert.core.lowering_checks import NotSupported, NotWithThese, gathering
from wengert.core.observers import OBSERVERS, observed
from wengert.core.padded_stacks import Padded, rows_unknown
from wengert.core.process_settings import PROCESS
from wengert.core.types import JaxArray
from wengert.engines import devices, meshes, padded_stacks, static_inputs
from wengert.engines.buffer_overflow import enlarge, overflows
from wengert.engines.lower import Lowering, lower_graph
from wengert.engines.memory_errors import Largest, needed
from wengert.engines.rollback import Keeper, anywhere, either
from wengert.graph.fingerprint import fingerprint
from wengert.graph.folding import SMALL
from wengert.graph.ir import CacheKey, Graph, Node, all_graphs, inner_graphs
from wengert.graph.passes import needs_no_passes, optimised

if TYPE_CHECKING:
    import numpy as np


MOST = 256

# Executables outlive their functions here, with the constants of these; those that hold many bytes
# of them live as long as their graphs alone.
_cache = Bounded("executables", MOST, 1 << 26)
_WHAT = "compiled functions"


class Executable:
    """A compiled graph for one set of shapes, and of values of those inputs that make shapes."""

    def __init__(
        self, graph: Graph, arrays: list[Any], donate: tuple[int, ...], place: Any = None
    ) -> None:
        if any(a.dtype == object for a in arrays):
            raise NotWithThese("rows of different lengths are no array to XLA")
        self.capacities: dict[int, int] = {}
        self.mesh = meshes.mesh_of(graph)
        self.place = place if self.mesh is None else None
        self.graph = _bare(graph)
        self.donate = donate if self.mesh is None else ()  # the first device's copies are shared
        self.fixed = static_inputs.values(graph, arrays)
        self.given = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
        self.wide = any(a.dtype.itemsize >= 8 and a.dtype.kind in "iufc" for a in arrays)
        self.hoisted = [v for v, c in optimised(graph).constants.items() if c.size > SMALL]
        self.flagged = False
        self.errors: list[BaseException] = []
        self.slack = graph.cache.get(padded_stacks.SLACK, {})
        self.requested: list[tuple[int, int]] = []
        self.cut: list[int] = []
        self.largest = Largest()
        self.asks = 0
        self.growing = new_lock()
        self.compile()

    @property
    def settled(self) -> bool:
        """Whether its results are what the program gives, and it never asks for more room."""
        return not self.requested and not self.cut

    def call(self, arrays: list[JaxArray | np.ndarray], run: Any) -> Any:
        """Runs a program of the executable, in 64-bit mode where 64-bit arrays come in."""
        if PROCESS.lost_xla:
            begin(_WHAT)
        if self.place is not None:
            arrays = devices.moved(arrays, self.place)
        if OBSERVERS:
            return observed("launch", Executable._launch, self, arrays, run)
        return self._launch(arrays, run)

    def _launch(self, arrays: list[JaxArray | np.ndarray], run: Any) -> tuple[JaxArray, ...]:
        try:
            return self.passed(*arrays, run=run)
        except RuntimeError as error:
            self.explain(error)
            raise

    def explain(self, error: BaseException) -> None:
        """Raises an error of our own for one of XLA that says that memory ran out."""
        self.largest.explain(error)

    def direct(self) -> Callable[..., Any]:
        """The same as `passed` with less around it, of a settled one (others compile again)."""
        slowly = self.wide or self.extra or self.asks or self.mesh is not None
        return self.passed if slowly else self.run

    def passed(self, *arrays: JaxArray | np.ndarray, run: Any = None) -> tuple[JaxArray, ...]:
        """Runs on arrays that are in NumPy's memory or where the executable runs."""
        run = self.run if run is None else run
        if self.asks:
            self.largest.ask(self.asks)
        if self.mesh is not None:
            with jax.enable_x64(True):
                results = run(*meshes.spread(arrays, self.shardings), *self.extra)
                return meshes.first_copies(results)
        if self.wide:
            with jax.enable_x64(True):
                return run(*arrays, *self.extra)
        return run(*arrays, *self.extra)

    def grow(self, wants: list[tuple[int, int]], wanted: list[int]) -> bool:
        """Whether a loop overflowed its buffer; afterwards the capacities suffice.

        `wants` are those of the program that ran: another thread may have compiled another since.
        """
        more = overflows(wants, wanted)
        if not more:
            return False
        with self.growing:
            known = self.capacities
            enlarge(known, more)
            # Asked of the program, since a compilation may have failed after a wish was noted.
            if any(room < known.get(key, 0) for key, room in self.requested):
                self.compile()
        return True

    def constant_bytes(self) -> int:
        """The bytes of the constants that it keeps, here, where it runs and in its key."""
        return 3 * sum(c.nbytes for g in all_graphs(self.graph) for c in g.constants.values())

    def why_failed(self) -> BaseException | bool:
        """The first error of Python in the run that has just failed; `True` if it was no such."""
        result = self.errors[0] if self.errors else True
        self.errors.clear()
        return result

    def compile(self) -> None:
        """Compiles the program for the capacities in `capacities`."""
        if OBSERVERS:
            observed("compile", Executable._compile, self)
        else:
            self._compile()

    @restoring
    @uninterrupted  # JAX imports some of its modules here, and is lost with one half imported
    def _compile(self) -> None:
        graph, hoisted = optimised(self.graph), self.hoisted
        outputs, count = len(graph.outputs), len(graph.all_inputs())
        flagged: list[bool] = []
        wants: list[tuple[int, int]] = []
        cut: list[int] = []

        def program(*given: JaxArray) -> tuple[JaxArray | np.ndarray, ...]:
            low = Lowering(self.capacities, None, self.errors)
            low.mesh = self.mesh
            self.largest = low.largest
            lifted = needs_no_passes(graph.copy())
            lifted.constants = {v: c for v, c in graph.constants.items() if v not in hoisted}
            lifted.inputs = [*lifted.inputs]
            env_extra = dict(zip(hoisted, given[count:], strict=True))
            inputs = [self.fixed.get(k, x) for k, x in enumerate(given[:count])]
            with gathering() as checks:
                low.keeper = keeper = Keeper(graph, inputs, checks, low)
                result = _with_extra(lifted, inputs, env_extra, low)
            results, news = result[:outputs], result[outputs:]
            short = {k: x for k, x in enumerate(results) if type(x) is Padded}
            cut[:] = [k for k, x in short.items() if len(x.counts) > self.slack.get(k, 0)]
            if any(type(x) is Padded for x in news):
                raise rows_unknown()
            counts = [short[k].length for k in cut]
            results = [x.array if type(x) is Padded else x for x in results]
            flagged.append(bool(checks))
            wants[:] = [(key, room) for _, key, room in low.wanted]
            if not checks and not low.wanted:
                return (*results, *news, *counts)
            failed = either([anywhere(c) for c in checks])
            asked = [w for w, _, _ in low.wanted]
            return (*results, *keeper.kept(news), failed, *asked, *counts)

        with jax.enable_x64(True), devices.scope(self.place):
            extra = [graph.constants[v] for v in hoisted]
            jitted = self._jitted(program, len(extra))
            try:
                lowered = jitted.lower(*self.given, *extra)
                self.lowered_text = lowered.as_text
                run = lowered.compile(options(_has_half(graph)))
            except failures() as error:
                notes = getattr(error, "__notes__", [])
                notes[:] = [n for n in notes if "JAX_TRACEBACK_FILTERING" not in n]
                why = _unsupported(error)
                if why is None:
                    self.largest.explain(error)
                    raise
                raise NotSupported(why) from error
            place = self.place if self.mesh is None else self._everywhere()
            self.extra = jax.device_put(extra, place)  # once, and in 64-bit mode
        # All at once: other threads may be running the program that was here.
        # XLA takes the buffers of variables before it asks for memory, and keeps them if it fails.
        self.asks = needed(run) if self.donate and self.place is None else 0
        self.program = run, flagged[-1], wants, cut
        self.run, self.flagged, self.requested, self.cut = self.program
        CACHE.seal()
        host_memory.release()

    def _everywhere(self) -> Any:
        return jax.sharding.NamedSharding(self.mesh, jax.sharding.PartitionSpec())

    def _jitted(self, program: Callable[..., Any], extra: int) -> Any:
        """The program for JAX to compile, with the places of its inputs where it has a mesh."""
        if self.mesh is None:
            return jax.jit(program, donate_argnums=self.donate)
        given, made = meshes.shardings(self.graph, self.mesh)
        self.shardings = given
        everywhere = self._everywhere()
        jitted = jax.jit(program, in_shardings=(*given, *[everywhere] * extra))
        ends = len(jax.eval_shape(jitted, *self.given, *self._constants()))
        more = [everywhere] * (ends - len(made))
        outs = (*made, *more)
        return jax.jit(program, in_shardings=(*given, *[everywhere] * extra), out_shardings=outs)

    def _constants(self) -> list[Any]:
        return [optimised(self.graph).constants[v] for v in self.hoisted]


def _unsupported(error: Exception) -> str | None:
    """What JAX or XLA does not know how to compute on this device, if an error is about that."""
    missing = isinstance(error, NotImplementedError) and not hasattr(error, "_placed")
    if missing or (isinstance(error, jax.errors.JaxRuntimeError) and "UNIMPLEMENTED" in str(error)):
        lines = str(error).replace("UNIMPLEMENTED:", "").strip().splitlines()
        return lines[0].rstrip(".") if lines else type(error).__name__
    return None


def _has_half(graph: Graph) -> bool:
    """Whether numbers of half precision take part."""
    result = (s.dtype for g in all_graphs(graph) for s in g.specs.values())
    return any(kind.size == 2 and kind.is_floating for kind in result)


def _bare(graph: Graph) -> Graph:
    """The graph without its variables and captures, which a kept executable must not keep alive."""
    new = optimised(graph).copy()
    new.parent = None
    new.origin, new.origins, new.variables = new, [], {}
    new.captures = {k: (None, v) for k, (_, v) in new.captures.items()}
    for held in new.held.values():
        held.variable = None  # type: ignore[assignment]  # only the values matter here
    new.nodes = [_bare_node(node) for node in new.nodes]
    return needs_no_passes(new)


def _bare_node(node: Node) -> Node:
    if not inner_graphs(node):
        return node

    def bare(attr: int | tuple[int | Graph | None, ...] | Graph | None) -> Any:
        if isinstance(attr, Graph):
            return _bare(attr)
        return tuple(map(bare, attr)) if type(attr) is tuple else attr

    attrs = {k: bare(a) for k, a in node.attrs.items()}
    return Node(node.op, node.inputs, node.outputs, attrs, node.site)


def _with_extra(
    graph: Graph, given: list[JaxArray | np.ndarray], extra: dict[int, JaxArray], low: Lowering
) -> list[JaxArray | np.ndarray]:
    if not extra:
        return lower_graph(graph, given, low)
    graph.captures = {**graph.captures, **{("hoisted", v): (None, v) for v in extra}}
    order = dict(zip([v for v in graph.all_inputs() if v not in extra], given, strict=True)) | extra
    return lower_graph(graph, [order[v] for v in graph.all_inputs()], low)


EXECUTABLES: CacheKey[dict[Any, Executable]] = CacheKey("executables by shapes")


def executable(
    graph: Graph, arrays: list[JaxArray | np.ndarray] | list[np.ndarray], donate: tuple[int, ...]
) -> Executable:
    """The executable for a graph and the shapes of these arrays, compiled at first need."""
    place = devices.target()
    key: Any = (tuple([(a.shape, a.dtype.num) for a in arrays]), donate, place)
    mesh = meshes.mesh_of(graph)
    if mesh is not None:
        key = (*key, mesh)
    if static_inputs.FIXED in graph.cache:
        key = (*key, *[(k, v.tobytes()) for k, v in static_inputs.values(graph, arrays).items()])
    if padded_stacks.SLACK in graph.cache:
        key = (*key, *graph.cache[padded_stacks.SLACK].items())
    mine = graph.cache.setdefault(EXECUTABLES, {})
    cached = mine.get(key)
    if cached is not None and not PROCESS.lost_xla:
        return cached
    content = (fingerprint(graph), key)
    cached = _cache.get(content)
    if cached is None or PROCESS.lost_xla:
        begin(_WHAT)
        cached = Executable(graph, arrays, donate, place)
        _cache.put(content, cached, cached.constant_bytes())
    if len(mine) >= MOST:
        mine.clear()
    mine[key] = cached
    return cached
