"""The lowering of a graph: its nodes, one by one, as operations of JAX.

Shape arithmetic is worked out on the way, so what is left is free of unknown sizes. What is made of
the result, a compiled program or a file, is not its business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np

from wengert.core import dims, dtypes
from wengert.core.apply import explain_failure
from wengert.core.errors import InvalidArgumentError, NotCompiledError, at_site, require
from wengert.core.failures import failures
from wengert.core.hooks import HookTable
from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import NotFixed, as_value, is_symbol
from wengert.core.padded_stacks import Padded, rows_unknown
from wengert.core.shapes import Shape, size
from wengert.core.types import Dim, JaxArray, Op, ShapeDtype
from wengert.engines import padded_stacks, static_inputs
from wengert.engines.host import known
from wengert.engines.memory_errors import Largest
from wengert.engines.rollback import Keeper
from wengert.graph.folding import SMALL
from wengert.graph.ir import Graph, Node
from wengert.graph.passes import optimised
from wengert.ops.nodes import LOOP
from wengert.ops.rows import NEW_ROWS

# How a node that holds graphs is lowered; the file of each kind fills in its own.
LOWERINGS: HookTable[Op, Callable[..., Any]] = HookTable(
    "lowerings",
    "wengert.engines.call_execution",
    "wengert.engines.branch_execution",
    "wengert.engines.loop_execution",
    "wengert.engines.replica_execution",
    "wengert.functions.deferred",
)


class Lowering:
    """One lowering under way: the room for stacks of unknown length, by loop.

    `wanted` gathers (number of rows wanted, loop, room that there is); `follow` hears of each
    node when it is lowered; `errors` is where Python that the program calls puts its own;
    `largest` knows the largest result, should memory run out.
    """

    def __init__(
        self,
        room: dict[int, int],
        follow: Callable[[Node], None] | None = None,
        errors: list[BaseException] | None = None,
    ) -> None:
        self.capacities = room
        self.follow = follow
        self.errors: list[BaseException] = [] if errors is None else errors
        self.wanted: list[tuple[Any, int, int]] = []
        self.keeper: Keeper | None = None
        self.mesh: Any = None  # of the devices of replicas, where each has its own
        self.largest = Largest()


def lower_graph(graph: Graph, arrays: Any, low: Lowering) -> list[JaxArray | np.ndarray]:
    """The outputs of a graph for JAX arrays (or known NumPy arrays) as inputs."""
    graph = optimised(graph)
    env: dict[int, Any] = dict(graph.constants)
    env.update(zip(graph.all_inputs(), arrays, strict=True))
    keeper, low.keeper = low.keeper, None  # for the outermost graph
    often = read_often(graph)
    fixed = set(graph.constants)
    for node in graph.nodes:
        given = [env[v] for v in node.inputs]
        if often and node.op.broadcasts:
            given = named_once(node, given, often)
        if node.op.fill is not None:
            fixed.update(node.outputs)
        elif fixed.issuperset(node.inputs) and not node.op.effect:
            given = _hidden(graph, node, given, fixed)
        try:
            results = _lower_node(graph, node, given, env, low)
            low.largest.see(node, results)
        except failures() as error:
            if isinstance(error, NotFixed):
                static_inputs.note_sources(error, graph, node, env)
            raise _explained(error, node, given, env) from error.__cause__
        env.update(zip(node.outputs, results, strict=True))
        if keeper is not None:
            keeper.choose(node, env)
        if low.follow is not None:
            low.follow(node)
    return [env[v] for v in graph.all_outputs()]


def _hidden(
    graph: Graph, node: Node, given: list[JaxArray | np.ndarray], fixed: set[int]
) -> list[JaxArray | np.ndarray]:
    """The arguments of a node that knows them all; `fixed` are the values that XLA knows, too.

    XLA works out what is known while it compiles, and takes minutes for a running sum of ones
    that has a million places. Elementwise work it leaves for later.
    """
    if node.op.elementwise or node.op.moves or not node.inputs:
        fixed.update(node.outputs)
        return given
    many = any((size(graph.specs[v].shape) or 0) > SMALL for v in node.inputs)
    traced = many and not any(isinstance(x, np.ndarray) or type(x) is Padded for x in given)
    return list(lax.optimization_barrier(tuple(given))) if traced else given


def _explained(
    error: Exception,
    node: Node,
    given: list[JaxArray | np.ndarray],
    env: dict[int, JaxArray | np.ndarray],
) -> Exception:
    """The error of a node that does not lower, in the words and at the line of its operation."""
    if getattr(error, "_placed", False):
        return error
    result: Any = error
    if hasattr(error, "site"):
        result.__notes__ = [n for n in result.__notes__ if not n.startswith("  --> ")]
        at_site(result, node.site)
    elif isinstance(error, NotFixed) or node.op in LOWERINGS:
        result.add_note(f"  in {node.op.name}, while compiling")
        at_site(result, node.site)
    else:
        specs = [ShapeDtype(tuple(x.shape), dtypes.as_dtype(x.dtype)) for x in given]
        try:
            attrs = {
                k: dims.moved(a, lambda leaf: _number(leaf, env)) for k, a in node.attrs.items()
            }
            result = explain_failure(node.op, specs, attrs, error, node.site)
        except InvalidArgumentError as unknown:  # a size that is not there
            result = at_site(unknown, node.site)
    result._placed = True  # outer nodes leave it
    return result


def _lower_node(
    graph: Graph,
    node: Node,
    given: list[JaxArray | np.ndarray],
    env: dict[int, JaxArray | np.ndarray],
    low: Lowering,
) -> list[JaxArray | np.ndarray] | tuple[JaxArray | np.ndarray, ...]:
    attrs, symbolic = node.attrs, False
    counted = any(type(x) is Padded for x in given)
    if node.open:
        attrs = {k: dims.moved(a, lambda leaf: _number(leaf, env)) for k, a in attrs.items()}
        result = [leaf for a in node.attrs.values() for leaf in dims.leaves(a)]
        symbolic = any(is_symbol(_number(leaf, env)) for leaf in result)
        counted = counted or any(map(padded_stacks.has_count, attrs.values()))
    special = LOWERINGS.get(node.op)
    if special is not None:
        if counted and not node.op.takes_padded:
            raise rows_unknown()
        if node.op is LOOP:
            attrs = {**attrs, "length": _counted(graph, node.inputs[0], env)}
        return special(graph, node, given, attrs, low)
    if node.op.sizes is not None and type(given[0]) is Padded:
        return (padded_stacks.sizes(node, given[0], attrs["dtype"].np),)
    if counted:
        result = padded_stacks.lowered(node, given, attrs)
        return (result,) if node.op.outputs == 1 else result
    if node.op.sizes is not None:
        if any(map(is_symbol, given[0].shape)):
            return (as_value(node.op.sizes(given[0].shape), attrs["dtype"].np),)
        like = given[0] if isinstance(given[0], np.ndarray) else _Sized(given[0].shape)
        return (np.asarray(node.op.kernel(like, **attrs)),)
    if not symbolic and (node.open or any(_is_open(graph.specs[v].shape) for v in node.inputs)):
        _check_sizes(node, given, attrs)
    if node.op is NEW_ROWS:
        given = [_counted(graph, node.inputs[0], env)]
    known_now = all(isinstance(x, np.ndarray) for x in given) and node.op.row_lists != "makes"
    if known_now and not symbolic and _is_small(graph, node):
        # Some kernels are programs of XLA, which run by themselves and are no part of this one.
        with np.errstate(all="ignore"), jax.ensure_compile_time_eval():
            result = node.op.kernel(*given, **attrs)
        return tuple(np.asarray(x) for x in ((result,) if node.op.outputs == 1 else result))
    if node.op.lower is None:
        raise cannot(node, "it has no form in XLA (data-dependent shapes, strings)")
    result = node.op.lower(*given, **attrs)
    return (result,) if node.op.outputs == 1 else result


def _is_open(shape: Shape) -> bool:
    return shape is None or any(type(d) is not int for d in shape)


def _check_sizes(node: Node, given: list[JaxArray | np.ndarray], attrs: dict[str, Any]) -> None:
    """Refuses sizes and positions that were open while tracing, in the words of the shape rule.

    The forms for XLA rely on it: many of them broadcast what must not be.
    """
    if any(is_symbol(d) for x in given for d in x.shape):
        return
    specs = [ShapeDtype(tuple(x.shape), dtypes.as_dtype(x.dtype)) for x in given]
    result = node.op.infer(*specs, **attrs)
    for out in (result,) if isinstance(result, ShapeDtype) else result:
        sizes = list(out.shape or ())
        require(
            not any(isinstance(d, int) and d < 0 for d in sizes),
            node.op.name,
            f"a size must not be negative; got {sizes}",
        )


class _Sized:
    """Answers for the shape of a JAX array."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = int(np.prod(shape, dtype=np.int64))


def _is_small(graph: Graph, node: Node) -> bool:
    if not node.inputs or node.op.effect or node.op.replicas:
        return False
    return all((size(graph.specs[v].shape) or 0) <= SMALL for v in node.outputs)


def _number(leaf: Dim, env: dict[int, JaxArray | np.ndarray]) -> int:
    _, value, place = leaf.args
    if leaf.kind == "size":
        return padded_stacks.size_of(env[value], place)
    if not isinstance(env[value], np.ndarray):
        raise NotFixed("a shape or index depends on the values of tensors")
    return known(leaf, env)


def _counted(graph: Graph, value: int, env: dict[int, JaxArray | np.ndarray]) -> Any:
    """A number of rows as a symbol, where it was worked out from sizes that are symbols."""
    content = None if isinstance(env[value], np.ndarray) else graph.content(value)
    count: Any = None if content is None else content[()]
    if type(count) is dims.Dim and all(
        leaf.kind == "size" and type(env.get(leaf.args[1])) not in (NoneType, Padded)
        for leaf in count.leaves()
    ):
        return count.moved(lambda leaf: _number(leaf, env))
    return env[value]


def cannot(node: Node, why: str) -> Exception:
    """The error for a node that XLA cannot run."""
    text = f"{node.op.name}: XLA cannot run this operation: {why}. Leave out jit_compile=True, or "
    return at_site(NotCompiledError(None, None, text + "move it out of the function."), node.site)


# How many operations read a number before it gets a name of its own.
_OFTEN = 8


def read_often(graph: Graph) -> dict[int, Any]:
    """The numbers that many elementwise operations read, as unrolled loops have them."""
    uses = Counter([v for n in graph.nodes if n.op.broadcasts for v in n.inputs])
    return {
        v: None
        for v, c in graph.constants.items()
        if uses[v] > _OFTEN and not c.ndim and c.dtype.num in dtypes.INEXACT
    }


def named_once(
    node: Node, given: list[JaxArray | np.ndarray], often: dict[int, Any]
) -> list[JaxArray | np.ndarray]:
    """The same arguments, where a number that is read often is one value of the program.

    JAX writes a scalar down anew wherever it is used, which takes as long as the operation. Of a
    vector of one it makes a constant; XLA sees the number through the reshape.
    """
    if all(isinstance(x, np.ndarray) for x in given):
        return given  # worked out at once
    results = [*given]
    for k, v in enumerate(node.inputs):
        if v in often:
            if often[v] is None:
                often[v] = lax.reshape(given[k].reshape(1), ())
            results[k] = often[v]
    return results
