"""Eager against compiled: the first operation whose results differ between the engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import sites
from wengert.core.context import Listener, State, restoring, using
from wengert.core.errors import OpError
from wengert.engines import engine_choice, xla
from wengert.explain import findings
from wengert.explain.checking import run_eagerly
from wengert.explain.explanation import Explanation, reason
from wengert.explain.insides import walk
from wengert.explain.places import known, place
from wengert.functions.function import Function, function
from wengert.graph.ir import Graph, Node

if TYPE_CHECKING:
    from wengert.core.types import Op, RawSite, Tensor, TensorLike, Value


def parity(
    f: Callable[..., Any], *args: TensorLike, rtol: float = 1e-4, atol: float = 1e-5, **kwargs: Any
) -> Explanation | None:
    """Runs `f` eagerly, on the host engine and on XLA, and explains the first difference.

    Every operation is compared. `None` if they agree within the tolerances; what XLA cannot run is
    compared without it.
    """
    result = _compared(f, args, kwargs, rtol, atol, sites.caller(0))
    findings.add([] if result is None else [result])
    return result


def _compared(
    f: Any,
    args: tuple[Tensor, ...] | tuple[TensorLike, ...],
    kwargs: Any,
    rtol: float,
    atol: float,
    asked: Any,
) -> Explanation | None:
    traced: Function[..., Any] = f if isinstance(f, Function) else function(f)
    concrete = traced.get_concrete_function(*args, **kwargs)
    trace = concrete._trace
    leaves = concrete._arguments(args, kwargs)
    arrays = [x._array for x in leaves] + [x._array for x in trace._given()]
    arrays += [v._array for v in trace.reads]
    steps: list[tuple[Node, list[Any]]] = []
    walk(trace.graph, arrays, lambda node, given, made: steps.append((node, made)))
    outermost = set(trace.graph.nodes)
    steps = [(node, made) for node, made in steps if node in outermost]
    if engine_choice.runs_only_on_host(trace.graph) is None:
        result = _engines(trace.graph, steps, arrays, rtol, atol, asked)
        if result is not None:
            return result
    return _eagerly(traced, steps, args, kwargs, rtol, atol, asked)


def _engines(
    graph: Graph,
    steps: list[Any],
    arrays: list[np.ndarray],
    rtol: float,
    atol: float,
    asked: RawSite,
) -> Explanation | None:
    """The first node whose results differ between host and XLA."""
    whole = graph.copy()
    whole.held = {i: h.copy() for i, h in graph.held.items()}
    for held in whole.held.values():
        held.written = False
    values = [v for node, _ in steps for v in node.outputs]
    whole.seal(values)
    try:
        results, failed = xla.run(whole, arrays)
    except (OpError, xla.NotFixed):
        return None
    if failed:
        return None
    table = dict(zip(values, results, strict=True))
    for node, made in steps:
        for value, array in zip(node.outputs, made, strict=True):
            other = np.asarray(table[value])
            if not close(array, other, rtol, atol):
                return _differs(node, ("host", array), ("XLA", other), asked)
    return None


class _Heard(Listener):
    """A listener that keeps the results of operations by the place they were asked at."""

    def __init__(self) -> None:
        self.found: dict[Any, list[Any]] = {}

    def record(
        self,
        op: Op,
        inputs: tuple[Value, ...],
        outputs: tuple[Tensor, ...],
        attrs: dict[str, bool | tuple[int, ...]],
        site: RawSite,
    ) -> None:
        self.found.setdefault(_key(op, site), []).append([o._array for o in outputs])


def _key(op: Op, site: RawSite) -> Any:
    """The operation and its place; converted code is another object at the same place."""
    where = sites.locate(site)
    return op.name, where and (where.file, where.line, where.column)


@restoring
def _eagerly(
    traced: Function,
    steps: list[Any],
    args: Any,
    kwargs: Any,
    rtol: float,
    atol: float,
    asked: RawSite,
) -> Explanation | None:
    """The first operation whose results differ between plain Python and the graph."""
    heard = _Heard()
    with using(State((heard,))), run_eagerly():
        traced.python_function(*args, **kwargs)
    for node, made in steps:
        turns = heard.found.get(_key(node.op, node.site))
        for array, other in zip(turns.pop(0), made, strict=False) if turns else ():
            if not close(array, other, rtol, atol):
                return _differs(node, ("eager", array), ("host", other), asked)
    return None


def close(a: np.ndarray, b: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether two arrays agree: shapes, NaN and infinities too."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == "V":
        a, b = a.astype(np.float32), b.astype(np.float32)
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol, atol, equal_nan=True))


def _differs(
    node: Node, one: tuple[str, np.ndarray], two: tuple[str, np.ndarray], asked: RawSite
) -> Explanation:
    (first, a), (second, b) = one, two
    if np.shape(a) != np.shape(b):
        words = f"shapes {np.shape(a)} and {np.shape(b)}"
    else:
        gap = np.abs(np.asarray(a, np.complex128) - np.asarray(b, np.complex128))
        place_ = np.unravel_index(int(np.nanargmax(gap)) if gap.size else 0, gap.shape or (1,))
        at = [int(i) for i in place_] if np.ndim(a) else []
        words = f"{np.asarray(a)[tuple(at)]} and {np.asarray(b)[tuple(at)]} at {at}"
    return reason(
        "WG601",
        f"{node.op.name} gives different results on {first} and {second}: {words}",
        *known(place(node.site, f"{node.op.name} differs"), place(asked, "compared here")),
        remedy="Compare in float64 (a small difference may have grown), or pin the engine with "
        "wengert.engine('host').",
        details={"operation": node.op.name, "engines": [first, second]},
    )
