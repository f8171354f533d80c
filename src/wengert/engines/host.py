"""The host engine: runs a graph with NumPy kernels.

A graph becomes one Python function with a line per node, so that a step costs little more than
its kernels: values are local variables, dropped after their last use. It starts at once and can
do everything: strings, shapes that depend on data, Python callbacks.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dims, dtypes
from wengert.core.apply import explain_failure
from wengert.core.context import State, restoring, using
from wengert.core.errors import InvalidArgumentError, OpError, at_site
from wengert.core.failures import failures
from wengert.core.hooks import Hook, HookTable
from wengert.core.sites import locate
from wengert.core.types import Dim, Op, ShapeDtype
from wengert.graph.ir import CacheKey, Graph, Node, cached_on_graph
from wengert.graph.passes import optimised
from wengert.ops.nodes import HOST_CALL
from wengert.ops.row_list import readable

if TYPE_CHECKING:
    from wengert.ops.row_list import Rows


# How a node that holds graphs is run; the file of each kind fills in its own.
RUNNERS: HookTable[Op, Callable[[Graph, Node], Callable[..., Any]]] = HookTable(
    "runners",
    "wengert.engines.call_execution",
    "wengert.engines.branch_execution",
    "wengert.engines.loop_execution",
    "wengert.engines.replica_execution",
)
# What is done to a graph before it runs here.
PREPARE: Hook[Callable[[Graph], Graph]] = Hook("prepare", "wengert.engines.call_execution")
# Kernels for special cases, by operation: a function from input specs to a kernel or `None`.
SHORTER: HookTable[Op, Callable[..., Callable[..., Any] | None]] = HookTable(
    "specialised kernels", "wengert.engines.specialised_kernels"
)
_FILE = "<wengert host graph>"
FUNCTION: CacheKey[Callable[..., list[Any]]] = CacheKey("the Python function of the graph")


def run(graph: Graph, arrays: list[np.ndarray | Rows]) -> list[np.ndarray | Rows]:
    """The values of all outputs for the values of all inputs."""
    uneven = _may_be_uneven(graph)
    if uneven:
        arrays = [readable(a) if k in uneven else a for k, a in enumerate(arrays)]
    with np.errstate(all="ignore"):
        return prepared(graph)(*arrays)


@cached_on_graph("inputs that may be rows of different shapes")
def _may_be_uneven(graph: Graph) -> frozenset[int]:
    """The inputs that may be stacks of rows of different shapes, which are arrays of objects."""
    results = [graph.specs[v] for v in graph.all_inputs()]
    return frozenset(
        k
        for k, s in enumerate(results)
        if s.dtype is not dtypes.string and (s.shape is None or None in s.shape[1:])
    )


@cached_on_graph(FUNCTION)
def prepared(graph: Graph) -> Callable[..., list[Any]]:
    """The Python function of a graph, made once."""
    return _compile(PREPARE.call(optimised(graph)))


def _compile(graph: Graph) -> Callable[..., list[Any]]:
    space: dict[str, Any] = {"__name__": "wengert.engines.host_graph", "asarray": _array}
    lines = [f"def run({', '.join(f'v{v}' for v in graph.all_inputs())}):"]
    for value, array in graph.constants.items():
        space[f"v{value}"] = array
    last = _last_uses(graph)
    kernels = [None if n.op in RUNNERS else _chosen_kernel(graph, n) for n in graph.nodes]
    own = _owned(graph, kernels)
    for k, node in enumerate(graph.nodes):
        out = _reused(graph, node, kernels[k], own.intersection(last[k]))
        lines.append(f"    {_call(graph, node, k, kernels[k], out, space)}{_drops(last[k])}")
    lines.append(f"    return [{', '.join(f'v{v}' for v in graph.all_outputs())}]")
    exec(_code("\n".join(lines)), space)
    return _guarded(space["run"], graph)


def _code(text: str) -> CodeType:
    return compile(text, _FILE, "exec")


def _last_uses(graph: Graph) -> list[list[int]]:
    """Per node, the values that nobody needs after it."""
    final = set(graph.all_outputs()) | set(graph.constants)
    seen: set[int] = set(final)
    last: list[list[int]] = [[] for _ in graph.nodes]
    for k in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[k]
        for value in dict.fromkeys((*node.reads(), *node.outputs)):
            if value not in seen:
                seen.add(value)
                last[k].append(value)
    return last


def _owned(graph: Graph, kernels: list[Any]) -> set[int]:
    """The values that nothing but themselves refers to: no view of them is made."""
    made, shown = set(), set()
    for node, kernel in zip(graph.nodes, kernels, strict=True):
        if _is_plain(kernel):
            made.update(node.outputs)
        else:
            shown.update(node.reads())
    return made - shown


def _is_plain(kernel: Any) -> bool:
    """Whether a kernel computes new arrays and keeps nothing of those that it is given."""
    return type(kernel) is np.ufunc or kernel is np.dot or hasattr(kernel, "into")


def _reused(graph: Graph, node: Node, kernel: Any, dying: set[int]) -> int | None:
    """An input in whose memory the result can be put, since this is its last use."""
    if not dying or not (type(kernel) is np.ufunc or getattr(kernel, "into", None)):
        return None
    spec = graph.specs[node.outputs[0]]
    if len(node.outputs) != 1 or not spec.shape or None in spec.shape:
        return None
    return next((v for v in node.inputs if v in dying and graph.specs[v] == spec), None)


def _drops(values: list[int]) -> str:
    return f"; del {', '.join(f'v{v}' for v in values)}" if values else ""


def _call(
    graph: Graph, node: Node, k: int, kernel: Any, out: int | None, space: dict[str, Any]
) -> str:
    """The line of one node: `v7 = k3(v5, v6, axis=a3_axis)`."""
    given = [f"v{v}" for v in node.inputs]
    runner = RUNNERS.get(node.op)
    if runner is not None:
        space[f"k{k}"] = runner(graph, node)
        if node.open:
            space[f"r{k}"] = resolver(node)
            given.insert(0, f"r{k}({', '.join(_leaf_values(node))})")
    else:
        space[f"k{k}"] = kernel if out is None else getattr(kernel, "into", kernel)
        if out is not None:
            given.append(f"out=v{out}")
        if node.open:
            space[f"r{k}"] = resolver(node)
            given.append(f"**r{k}({', '.join(_leaf_values(node))})")
        else:
            for name, attr in node.attrs.items():
                space[f"a{k}_{name}"] = attr
                given.append(f"{name}=a{k}_{name}")
    call = f"k{k}({', '.join(given)})"
    outs = ", ".join(f"v{v}" for v in node.outputs)
    if not outs:
        return call
    if node.op.outputs != 1 or runner is not None:
        return f"{outs}, = {call}"
    # NumPy gives numbers instead of arrays of rank 0.
    shape = graph.specs[node.outputs[0]].shape
    return f"{outs} = asarray({call})" if not shape else f"{outs} = {call}"


def _array(x: np.generic | np.ndarray | Rows) -> np.ndarray | Rows:
    return np.asarray(x) if isinstance(x, np.generic) else x


def _chosen_kernel(graph: Graph, node: Node) -> Callable[..., Any]:
    """The kernel, or a shorter one that these very shapes and dtypes allow."""
    shorter = SHORTER.get(node.op)
    result = None
    if shorter is not None and not node.open:
        result = shorter([graph.specs[v] for v in node.inputs], **node.attrs)
    return node.op.kernel if result is None else result


def _leaf_values(node: Node) -> list[str]:
    return [f"v{v}" for v in node.reads()[len(node.inputs) :]]


def resolver(node: Node) -> Callable[..., dict[str, Any]]:
    """A function from the arrays that a node's attributes refer to, to plain attributes."""
    values = node.reads()[len(node.inputs) :]

    def attributes(*arrays: np.ndarray) -> dict[str, Any]:
        env = dict(zip(values, arrays, strict=True))
        return {k: dims.moved(a, lambda leaf: known(leaf, env)) for k, a in node.attrs.items()}

    return attributes


def known(leaf: Dim, env: dict[int, Any]) -> int:
    """The number that a leaf stands for, given the arrays."""
    _, value, place = leaf.args
    array = env[value]
    if leaf.kind != "size":
        return int(array.reshape(-1)[place])
    return dims.size_of(array.shape, place)


def _guarded(function: Callable[..., list[Any]], graph: Graph) -> Callable[..., list[Any]]:
    """Runs the function so that an error names the user's line."""

    def guarded(*arrays: Any) -> list[np.ndarray | Rows]:
        try:
            return function(*arrays)
        except failures() as error:
            raise _explained(error, graph) from (error.__cause__ or None)

    guarded.plain = function  # type: ignore[attr-defined]  # for callers that guard themselves
    return guarded


def _explained(error: Exception, graph: Graph) -> Exception:
    node = _failed(error, graph)
    if node is None or getattr(error, "_placed", False):
        return error
    if node.op is HOST_CALL:  # at a line of what was called
        result = error if hasattr(error, "site") else at_site(error, node.site)
        result.add_note(f"  in {node.attrs['name']}, called at {locate(node.site)}")
    elif hasattr(error, "site") or isinstance(error, OpError):
        result = error
        notes = getattr(result, "__notes__", [])
        notes[:] = [n for n in notes if not n.startswith("  --> ")]
        at_site(result, node.site)
    else:
        result = _by_rule(error, node)
    result._placed = True  # type: ignore[attr-defined]  # outer graphs leave it as it is
    return result


def _failed(error: Exception, graph: Graph) -> Node | None:
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == _FILE:
            return graph.nodes[line - 2] if 0 <= line - 2 < len(graph.nodes) else None
    return None


@restoring
def _by_rule(error: Exception, node: Node) -> Exception:
    """The message that the same operation gives eagerly: from its shape rule, if that objects."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != _FILE:
        tb = tb.tb_next
    result = {} if tb is None else tb.tb_frame.f_locals | tb.tb_frame.f_globals
    arrays = [result.get(f"v{v}") for v in node.inputs]
    specs = [ShapeDtype(a.shape, dtypes.of(a)) for a in arrays if a is not None]
    attrs = node.attrs
    if node.open:
        env = {v: result.get(f"v{v}") for v in node.reads()}
        try:
            attrs = {k: dims.moved(a, lambda leaf: known(leaf, env)) for k, a in attrs.items()}
        except InvalidArgumentError as unknown:
            return at_site(unknown, node.site)
    with using(State((), None, node.site)):
        return explain_failure(node.op, specs, attrs, error, node.site)
