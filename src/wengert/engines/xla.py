"""The XLA engine: lowers a graph through JAX to one executable for each set of closed shapes.

Shape arithmetic is worked out while lowering, so what is left is free of unknown sizes. What can
fail ends in one flag; new values of variables are chosen by it, so a failed step changes nothing.
Executables are kept by content: equal graphs share them.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import dims, dtypes
from wengert.core.apply import explain_failure
from wengert.core.compiler import FORKED, begin, options
from wengert.core.errors import NotCompiledError, at_site, invalid
from wengert.core.interrupts import uninterrupted
from wengert.core.lazy import jax
from wengert.core.lowering import (
    NotFixed,
    NotSupported,
    NotWithThese,
    as_value,
    gathering,
    is_symbol,
)
from wengert.core.op import Spec
from wengert.core.shapes import size
from wengert.engines import devices, fixing
from wengert.engines.host import known
from wengert.engines.keeping import Keeper, anywhere, either
from wengert.engines.repeated import named_once, read_often
from wengert.graph.fingerprint import fingerprint
from wengert.graph.ir import SMALL, Graph, inner_graphs
from wengert.graph.passes import optimised
from wengert.graph.records import Node

# How a node that holds graphs is lowered; the file of each kind fills in its own.
LOWERINGS: dict[str, Callable[..., Any]] = {}
MOST = 256

_cache: OrderedDict[Any, Executable] = OrderedDict()
_lock = threading.Lock()
_WHAT = "compiled functions"
# Whether all calls go through `Executable.passed`, for a profile to see them.
WATCHED = [False]


class Lowering:
    """One lowering under way: the room for stacks of unknown length, by loop.

    `wanted` gathers (number of rows wanted, loop, room that there is); `follow` hears of each
    node when it is lowered; `errors` is where Python that the program calls puts its own.
    """

    def __init__(
        self,
        room: dict[int, int],
        follow: Callable[[Node], None] | None = None,
        errors: list[BaseException] | None = None,
    ) -> None:
        self.room = room
        self.follow = follow
        self.errors: list[BaseException] = [] if errors is None else errors
        self.wanted: list[tuple[Any, int, int]] = []
        self.keeper: Keeper | None = None


def lower_graph(graph: Graph, arrays: Any, low: Lowering) -> list[Any]:
    """The outputs of a graph for JAX arrays (or known NumPy arrays) as inputs."""
    graph = optimised(graph)
    env: dict[int, Any] = dict(graph.constants)
    env.update(zip(graph.all_inputs(), arrays, strict=True))
    keeper, low.keeper = low.keeper, None  # for the outermost graph
    often = read_often(graph)
    for node in graph.nodes:
        given = [env[v] for v in node.inputs]
        if often and node.op.broadcasts:
            given = named_once(node, given, often)
        try:
            results = _lower_node(graph, node, given, env, low)
        except Exception as error:
            if isinstance(error, NotFixed):
                fixing.note_sources(error, graph, node, env)
            raise _explained(error, node, given, env) from error.__cause__
        env.update(zip(node.outputs, results, strict=True))
        if keeper is not None:
            keeper.choose(node, env)
        if low.follow is not None:
            low.follow(node)
    return [env[v] for v in graph.all_outputs()]


def _explained(error: Exception, node: Node, given: list[Any], env: dict[int, Any]) -> Exception:
    """The error of a node that does not lower, in the words and at the line of its operation."""
    if getattr(error, "_placed", False):
        return error
    found: Any = error
    if hasattr(error, "site"):
        found.__notes__ = [n for n in found.__notes__ if not n.startswith("  --> ")]
        at_site(found, node.site)
    elif isinstance(error, NotFixed) or node.op.name in LOWERINGS:
        found.add_note(f"  in {node.op.name}, while compiling")
        at_site(found, node.site)
    else:
        specs = [Spec(tuple(x.shape), dtypes.as_dtype(x.dtype)) for x in given]
        attrs = {k: dims.moved(a, lambda leaf: _number(leaf, env)) for k, a in node.attrs.items()}
        found = explain_failure(node.op, specs, attrs, error, node.site)
    found._placed = True  # outer nodes leave it
    return found


def _lower_node(
    graph: Graph, node: Node, given: list[Any], env: dict[int, Any], low: Lowering
) -> Any:
    attrs, symbolic = node.attrs, False
    if node.open:
        attrs = {k: dims.moved(a, lambda leaf: _number(leaf, env)) for k, a in attrs.items()}
        found = [leaf for a in node.attrs.values() for leaf in dims.leaves(a)]
        symbolic = any(is_symbol(_number(leaf, env)) for leaf in found)
    special = LOWERINGS.get(node.op.name)
    if special is not None:
        return special(graph, node, given, attrs, low)
    if node.op.name in ("shape", "size"):
        if any(map(is_symbol, given[0].shape)):
            sizes = given[0].shape if node.op.name == "shape" else math.prod(given[0].shape)
            return (as_value(sizes, attrs["dtype"].np),)
        like = given[0] if isinstance(given[0], np.ndarray) else _Sized(given[0].shape)
        return (np.asarray(node.op.kernel(like, **attrs)),)
    if node.open and not symbolic:
        _check_numbers(node, given, attrs)
    if node.op.name == "new_rows":
        given = [_counted(graph, node.inputs[0], env)]
    known_now = all(isinstance(x, np.ndarray) for x in given) and node.op.name not in _AS_ROWS
    if known_now and not symbolic and _is_small(graph, node):
        with np.errstate(all="ignore"):
            found = node.op.kernel(*given, **attrs)
        return tuple(np.asarray(x) for x in ((found,) if node.op.outputs == 1 else found))
    if node.op.lower is None:
        raise cannot(node, "it has no form in XLA (data-dependent shapes, strings)")
    found = node.op.lower(*given, **attrs)
    return (found,) if node.op.outputs == 1 else found


def _check_numbers(node: Node, given: list[Any], attrs: dict[str, Any]) -> None:
    """Refuses sizes and positions that were open while tracing, in the words of the shape rule."""
    if any(is_symbol(d) for x in given for d in x.shape):
        return
    specs = [Spec(tuple(x.shape), dtypes.as_dtype(x.dtype)) for x in given]
    found = node.op.infer(*specs, **attrs)
    for out in (found,) if isinstance(found, Spec) else found:
        sizes = list(out.shape or ())
        if any(isinstance(d, int) and d < 0 for d in sizes):
            raise invalid(node.op.name, f"a size must not be negative; got {sizes}")


# On the host these make lists of rows, which XLA does not know.
_AS_ROWS = ("new_rows", "write_row", "put_row", "add_row", "cut_rows", "as_rows", "drop_row",
            "insert_row")  # fmt: skip


class _Sized:
    """Answers for the shape of a JAX array."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = int(np.prod(shape, dtype=np.int64))


def _is_small(graph: Graph, node: Node) -> bool:
    if not node.inputs or node.op.effect:
        return False
    return all((size(graph.specs[v].shape) or 0) <= SMALL for v in node.outputs)


def _number(leaf: Any, env: dict[int, Any]) -> int:
    _, value, place = leaf.args
    if leaf.kind == "size":
        return env[value].shape[place]
    if not isinstance(env[value], np.ndarray):
        raise NotFixed("a shape or index depends on the values of tensors")
    return known(leaf, env)


def _counted(graph: Graph, value: int, env: dict[int, Any]) -> Any:
    """A number of rows as a symbol, where it was worked out from sizes that are symbols."""
    content = None if isinstance(env[value], np.ndarray) else graph.content(value)
    count: Any = None if content is None else content[()]
    if type(count) is dims.Dim and all(
        leaf.kind == "size" and leaf.args[1] in env for leaf in count.leaves()
    ):
        return count.moved(lambda leaf: _number(leaf, env))
    return env[value]


def cannot(node: Node, why: str) -> Exception:
    """The error for a node that XLA cannot run."""
    text = f"{node.op.name}: XLA cannot run this operation: {why}. Leave out jit_compile=True, or "
    return at_site(NotCompiledError(None, None, text + "move it out of the function."), node.site)


class Executable:
    """A compiled graph for one set of shapes, and of values of those inputs that make shapes."""

    def __init__(
        self, graph: Graph, arrays: list[Any], donate: tuple[int, ...], place: Any = None
    ) -> None:
        self.room: dict[int, int] = {}
        self.place = place
        self.graph = _bare(graph)
        self.donate = donate
        self.fixed = fixing.values(graph, arrays)
        self.given = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
        self.wide = any(a.dtype.itemsize >= 8 and a.dtype.kind in "iufc" for a in arrays)
        self.hoisted = [v for v, c in optimised(graph).constants.items() if c.size > SMALL]
        self.flagged = False
        self.errors: list[BaseException] = []
        self.wants: list[tuple[int, int]] = []
        self.growing = threading.Lock()
        self._compile()

    @property
    def settled(self) -> bool:
        """Whether it never asks for more room."""
        return not self.wants

    def call(self, arrays: list[Any], run: Any) -> Any:
        """Runs a program of the executable, in 64-bit mode where 64-bit arrays come in."""
        if FORKED[0]:
            begin(_WHAT)
        if self.place is not None:
            arrays = devices.moved(arrays, self.place)
        return self.passed(*arrays, run=run)

    def direct(self) -> Callable[..., Any]:
        """The same as `passed` with less around it, of a settled one (others compile again)."""
        return self.passed if self.wide or self.extra else self.run

    def passed(self, *arrays: Any, run: Any = None) -> Any:
        """Runs on arrays that are in NumPy's memory or where the executable runs."""
        run = self.run if run is None else run
        if self.wide:
            with jax.enable_x64(True):
                return run(*arrays, *self.extra)
        return run(*arrays, *self.extra)

    def grown(self, wants: list[tuple[int, int]], wanted: list[int]) -> bool:
        """Whether a run asked for more room than it had; there is room enough afterwards.

        `wants` are those of the program that ran: another thread may have made another since.
        """
        more = [(k, w) for w, (k, room) in zip(wanted, wants, strict=True) if w > room]
        if not more:
            return False
        with self.growing:
            before = dict(self.room)
            for key, rows in more:
                self.room[key] = max(self.room.get(key, 0), 1 << (rows - 1).bit_length())
            if self.room != before:
                self._compile()
        return True

    def why_failed(self) -> BaseException | bool:
        """The first error of Python in the run that has just failed; `True` if it was no such."""
        found = self.errors[0] if self.errors else True
        self.errors.clear()
        return found

    @uninterrupted  # JAX imports some of its modules here, and is lost with one half imported
    def _compile(self) -> None:
        graph, hoisted = optimised(self.graph), self.hoisted
        outputs, count = len(graph.outputs), len(graph.all_inputs())
        flagged: list[bool] = []
        wants: list[tuple[int, int]] = []

        def program(*given: Any) -> Any:
            low = Lowering(self.room, None, self.errors)
            lifted = graph.copy()
            lifted.cache["optimised"] = lifted
            lifted.constants = {v: c for v, c in graph.constants.items() if v not in hoisted}
            lifted.inputs = [*lifted.inputs]
            env_extra = dict(zip(hoisted, given[count:], strict=True))
            inputs = [self.fixed.get(k, x) for k, x in enumerate(given[:count])]
            with gathering() as checks:
                low.keeper = keeper = Keeper(graph, inputs, checks, low)
                found = _with_extra(lifted, inputs, env_extra, low)
            results, news = found[:outputs], found[outputs:]
            flagged.append(bool(checks))
            wants[:] = [(key, room) for _, key, room in low.wanted]
            if not checks and not low.wanted:
                return (*results, *news)
            failed = either([anywhere(c) for c in checks])
            return (*results, *keeper.kept(news), failed, *[w for w, _, _ in low.wanted])

        with jax.enable_x64(True), devices.scope(self.place):
            jitted = jax.jit(program, donate_argnums=self.donate)
            extra = [graph.constants[v] for v in hoisted]
            try:
                lowered = jitted.lower(*self.given, *extra)
                self.lowered_text = lowered.as_text
                run = lowered.compile(options(_has_half(graph)))
            except Exception as error:
                notes = getattr(error, "__notes__", [])
                notes[:] = [n for n in notes if "JAX_TRACEBACK_FILTERING" not in n]
                why = _unsupported(error)
                if why is None:
                    raise
                raise NotSupported(why) from error
            self.extra = jax.device_put(extra, self.place)  # once, and in 64-bit mode
        # All at once: other threads may be running the program that was here.
        self.program = run, flagged[-1], wants
        self.run, self.flagged, self.wants = self.program


def _unsupported(error: Exception) -> str | None:
    """What JAX or XLA does not know how to compute on this device, if an error is about that."""
    missing = isinstance(error, NotImplementedError) and not hasattr(error, "_placed")
    if missing or (isinstance(error, jax.errors.JaxRuntimeError) and "UNIMPLEMENTED" in str(error)):
        lines = str(error).replace("UNIMPLEMENTED:", "").strip().splitlines()
        return lines[0].rstrip(".") if lines else type(error).__name__
    return None


def _has_half(graph: Graph) -> bool:
    """Whether numbers of half precision take part."""
    found = (s.dtype for g in _all_graphs(graph) for s in g.specs.values())
    return any(kind.size == 2 and kind.is_floating for kind in found)


def _all_graphs(graph: Graph) -> list[Graph]:
    """A graph and those within it."""
    return [graph, *[g for node in graph.walk() for g in inner_graphs(node)]]


def _bare(graph: Graph) -> Graph:
    """The graph without its variables and captures, which a kept executable must not keep alive."""
    new = optimised(graph).copy()
    new.parent = None
    new.origin, new.origins, new.variables = new, [], {}
    new.captures = {k: (None, v) for k, (_, v) in new.captures.items()}
    for held in new.held.values():
        held.variable = None  # type: ignore[assignment]  # only the values matter here
    new.nodes = [_bare_node(node) for node in new.nodes]
    new.cache["optimised"] = new
    return new


def _bare_node(node: Node) -> Node:
    if not inner_graphs(node):
        return node

    def bare(attr: Any) -> Any:
        if isinstance(attr, Graph):
            return _bare(attr)
        return tuple(map(bare, attr)) if type(attr) is tuple else attr

    attrs = {k: bare(a) for k, a in node.attrs.items()}
    return Node(node.op, node.inputs, node.outputs, attrs, node.site)


def _with_extra(graph: Graph, given: Any, extra: dict[int, Any], low: Lowering) -> list[Any]:
    if not extra:
        return lower_graph(graph, given, low)
    graph.captures = {**graph.captures, **{("hoisted", v): (None, v) for v in extra}}
    order = dict(zip(_plain_inputs(graph, extra), given, strict=True)) | extra
    return lower_graph(graph, [order[v] for v in graph.all_inputs()], low)


def _plain_inputs(graph: Graph, extra: dict[int, Any]) -> list[int]:
    return [v for v in graph.all_inputs() if v not in extra]


def executable(graph: Graph, arrays: list[Any], donate: tuple[int, ...]) -> Executable:
    """The executable for a graph and the shapes of these arrays, compiled at first need."""
    place = devices.target()
    key: Any = (tuple([(a.shape, a.dtype.num) for a in arrays]), donate, place)
    if "fixed" in graph.cache:
        key = (*key, *[(k, v.tobytes()) for k, v in fixing.values(graph, arrays).items()])
    mine = graph.cache.setdefault("xla", {})
    found = mine.get(key)
    if found is not None and not FORKED[0]:
        return found
    content = (fingerprint(graph), key)
    with _lock:
        found = _cache.get(content)
    if found is None or FORKED[0]:
        begin(_WHAT)
        found = Executable(graph, arrays, donate, place)
        with _lock:
            _cache[content] = found
            while len(_cache) > MOST:
                _cache.popitem(last=False)
    if len(mine) >= MOST:
        mine.clear()
    mine[key] = found
    return found


def demanded(graph: Graph, arrays: list[Any], donate: tuple[int, ...] = ()) -> Executable:
    """The same where XLA must run it: inputs that shapes are made from are fixed at their values."""
    while True:
        try:
            return executable(graph, arrays, donate)
        except NotFixed as error:
            if not fixing.fix_more(graph, error):
                raise


def prepare(
    graph: Graph, arrays: list[Any], donate: tuple[int, ...], jit: bool | None
) -> Executable:
    """The executable with which `run` begins."""
    if jit:
        return demanded(graph, arrays, donate)
    unfit: dict[Any, str] | None = graph.cache.get("unfit")
    if unfit is not None:
        why = unfit.get(_shapes(arrays))
        if why is not None:
            raise NotWithThese(why)
    try:
        return executable(graph, arrays, donate)
    except NotFixed:
        raise
    except Exception as error:
        if not getattr(error, "_placed", False):
            raise
        # The words alone: the error itself would keep the arrays of this call.
        graph.cache.setdefault("unfit", {})[_shapes(arrays)] = str(error)
        raise NotWithThese(str(error)) from error


def _shapes(arrays: list[Any]) -> Any:
    return tuple([a.shape for a in arrays]), devices.target()


def run(
    graph: Graph, arrays: list[Any], donate: tuple[int, ...] = (), jit: bool | None = None
) -> tuple[list[Any], BaseException | bool]:
    """Runs a graph on arrays; the results, and whether a check failed, or which error of Python.

    When a stack of unknown length overflows, the step is compiled with room enough and run again;
    the variables are as they were, since the flag kept them.
    """
    found = prepare(graph, arrays, donate, jit)
    while True:
        program, flagged, wants = found.program
        try:
            results = found.call(arrays, program)
        except BaseException:
            found.errors.clear()  # what Python raised must not be told of a later run
            raise
        if not flagged and not wants:
            return results, False
        ends = len(results) - 1 - len(wants)
        wanted = [int(w) for w in results[ends + 1 :]]
        failed = truth(results[ends])
        results = results[:ends]
        if failed:
            return results, found.why_failed()
        if not found.grown(wants, wanted):
            return results, False
        arrays = _again(graph, arrays, results)


def truth(flag: Any) -> bool:
    """Whether an array of JAX is true; its own `bool` takes ten times as long."""
    return bool(np.asarray(flag))


LEAST = 64


def _again(graph: Graph, arrays: list[Any], results: Any) -> list[Any]:
    """The inputs for a second run: donated variables come back among the results, unchanged."""
    arrays = list(arrays)
    places = {v: k for k, v in enumerate(graph.all_inputs())}
    kept = results[len(graph.outputs) :]
    for held, value in zip(optimised(graph).written(), kept, strict=True):
        if held.initial is not None:
            arrays[places[held.initial]] = value
    return arrays


def cannot_fix(graph: Graph, error: NotFixed) -> Exception:
    """The error for what XLA cannot do with a program, under `jit_compile=True`."""
    found = invalid(
        graph.name,
        f"{error.rule}: {error}",
        help=error.remedy,
        kind=NotCompiledError,
    )
    found.__notes__ = list(getattr(error, "__notes__", []))
    return found


def check_lowers(graph: Graph) -> None:
    """Raises for the first node that XLA cannot run."""
    if "lowers" in graph.cache:
        return
    for node in graph.walk():
        if node.op.lower is None and node.op.name not in LOWERINGS:
            raise cannot(node, "it has no form in XLA (data-dependent shapes, strings)")
    _refuse_strings(graph)
    graph.cache["lowers"] = True


def _refuse_strings(graph: Graph) -> None:
    """XLA knows no strings, neither to compute with nor to take and give."""
    for values, role in ((graph.inputs, "an argument"), (graph.outputs, "a result")):
        if any(graph.specs[v].dtype is dtypes.string for v in values):
            rule = f"XLA knows no strings, and {role} is one"
            help = "Leave out jit_compile=True, or keep strings out of the function."
            raise invalid(graph.name, rule, help=help, kind=NotCompiledError)
    for part in (optimised(g) for g in _all_graphs(graph)):
        texts = {v for v, spec in part.specs.items() if spec.dtype is dtypes.string}
        for node in part.nodes if texts else ():
            if node.op.effect or node.op.name in LOWERINGS:
                continue  # they keep constant strings to themselves
            if not texts.isdisjoint((*node.inputs, *node.outputs)):
                raise cannot(node, "it works on strings")
