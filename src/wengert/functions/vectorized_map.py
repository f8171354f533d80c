"""`vectorized_map`, and Jacobians by it: one graph for all rows at once.

In XLA a batched graph is vectorised by the compiler's own rules, on the host it is run row by row.
Its gradient is the batched run of its gradient graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.core import dtypes, nest, random_replay
from wengert.core.apply import wrap
from wengert.core.context import State, restoring, using
from wengert.core.dims import broadcast
from wengert.core.errors import require
from wengert.core.sites import caller
from wengert.core.types import CompositeTensor, ShapeDtype, SymbolicTensor, Tensor, TensorLike
from wengert.engines import engine_choice
from wengert.functions import execute
from wengert.functions.graph_calls import (
    all_seeds,
    at_places,
    call,
    emit,
    followed,
    followers,
    read_now,
    tell,
    wanted_inputs,
)
from wengert.functions.graph_replay import REPLAYS
from wengert.functions.subgraphs import close, trace_inner
from wengert.functions.trace import creator, put_together, take_apart
from wengert.functions.vjp import vjp
from wengert.graph.builder import Builder, building
from wengert.graph.ir import Draw, Graph
from wengert.ops import create
from wengert.ops.dims import row_count
from wengert.ops.nodes import BATCHED
from wengert.ops.reduce import reduce_sum
from wengert.ops.seeds import draw
from wengert.tape import gradient_values
from wengert.tape.jacobian import GRADIENT_ROWS

if TYPE_CHECKING:
    from wengert.functions.trace import Slot
    from wengert.graph.ir import Node
    from wengert.tape.gradient_tape import GradientTape


@restoring
def vectorized_map(
    fn: Callable[..., Any],
    elems: TensorLike,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Tensor:
    """Applies `fn` to all rows of `elems` at once and stacks the results.

    Gradients pass through it, and tapes inside `fn` give gradients for each row.

    Args:
        fn: a function of one row, or of a structure of rows.
        elems: a tensor, or several in a structure, with as many rows each.
        fallback_to_while_loop: with `False` what cannot be vectorised is an error.
        warn: without effect.

    Returns:
        Tensors in the structure of the results.

    Raises:
        ValueError: the numbers of rows differ.

    >>> rows = tf.constant([[1, 2], [3, 4]])
    >>> tf.vectorized_map(lambda x: tf.reduce_sum(x * x), rows).numpy().tolist()
    [5, 25]
    """
    require(callable(fn), "vectorized_map", "`fn` must be a function", fn, kind=TypeError)
    for x in nest.flatten(elems):
        require(
            not isinstance(x, CompositeTensor),
            "vectorized_map",
            "`elems` must be tensors",
            x,
            help="Use tf.map_fn, with its fn_output_signature.",
            kind=TypeError,
        )
    skeleton, tensors = take_apart("vectorized_map", elems)
    _check_rows(tensors)
    if building() is not None:
        return _emit(fn, skeleton, tensors)
    site = caller(1)
    graph = Builder("vectorized_map", None, site)
    graph.on_create = creator(graph, {}, [])
    with using(State((), graph)), random_replay.apart():
        params = [graph.parameter(ShapeDtype(t.shape._dims, t.dtype), t._site) for t in tensors]
        made, ends = take_apart("vectorized_map", _emit(fn, skeleton, params))
        values = [graph.value_of(x) for x in ends]
    return put_together(made, _run_once(graph, values, tensors, site))


def _run_once(graph: Builder, outputs: list[int], inputs: list[Any], site: Any) -> list[Any]:
    """Ends a graph that is made for one call, and runs it."""
    graph.seal(outputs)
    graph.end_replays()
    graph.cache[engine_choice.TRANSIENT] = True
    captured = [_now(source) for source, _ in graph.captures.values()]
    full = [*inputs, *captured, *[h.variable for h in graph.read_variables()]]
    return call(graph, full, execute.run_tensors(None, site), site)


def _now(source: Tensor | Draw) -> Tensor:
    """What a graph that is run once takes from outside; a random state is drawn."""
    if not isinstance(source, Draw):
        return source
    return wrap(random_replay.draw(lambda: draw(source.kind, source.seed)))


def _check_rows(tensors: list[Tensor]) -> None:
    sizes = set()
    for t in tensors:
        require(t.shape.rank != 0, "vectorized_map", "`elems` must have rows", t, kind=ValueError)
        if type(size := row_count(t)) is int:
            sizes.add(size)
    sizes.discard(1 if len(sizes) > 1 else None)
    require(
        len(sizes) <= 1 and tensors,
        "vectorized_map",
        lambda: (
            "all of `elems` must have the same number of rows; got "
            f"{' and '.join(map(str, sorted(sizes))) or 'no tensors'}"
        ),
        kind=ValueError,
    )


def _emit(fn: Callable[..., Any], skeleton: Slot, tensors: list[Any]) -> Tensor:
    """Adds the batched graph of `fn` to the one being built."""
    here: Any = building()
    tensors = _one_size(tensors)
    specs = [here.specs[here.value_of(t)] for t in tensors]
    rows = [s.row() for s in specs]
    one = lambda *xs: fn(put_together(skeleton, list(xs)))
    # A row is a turn: each draws its own random numbers.
    inner = trace_inner("fn", one, [ShapeDtype((), dtypes.int64), *rows], turn=True)
    require(
        not any(h.written for h in inner.graph.held.values()),
        "vectorized_map",
        "`fn` must not assign variables, for all rows run at once",
        help="Use tf.map_fn, or assign outside.",
        kind=ValueError,
    )
    closed = close([inner.graph], [])
    numbers = create.range(row_count(tensors[0]), dtype=dtypes.int64)
    axes = (0,) * (1 + len(tensors)) + (None,) * len(closed.tensors)
    outs = emit_batched(closed.graphs[0], axes, [numbers, *tensors, *closed.tensors])
    return put_together(inner.skeleton, outs)


def _one_size(tensors: list[SymbolicTensor]) -> list[SymbolicTensor] | list[Tensor]:
    """A single row is repeated for all, as TensorFlow does."""
    from wengert.ops.shaping import broadcast_to

    sizes = [row_count(t) for t in tensors]
    (most,) = broadcast("vectorized_map", *[(d,) for d in sizes])
    return [
        t if d == most else broadcast_to(t, (most, *t._array.shape[1:]))
        for t, d in zip(tensors, sizes, strict=True)
    ]


def emit_batched(graph: Graph, axes: tuple[Any, ...], inputs: list[Tensor]) -> list[SymbolicTensor]:
    """Adds a batched run of a graph and tells the tapes; inputs with axis `None` serve all rows."""
    listeners = followers(inputs)
    wanted = wanted_inputs(listeners, inputs) if listeners else ()
    rule = vjp(graph, wanted) if any(wanted) else None
    if rule is None or not rule.active:
        return _node(graph, axes, inputs)
    result = _node(rule.forward, axes, inputs)
    count = len(graph.outputs)
    outs, extra = result[:count], result[count:]
    shown = tuple([outs[k] for k in rule.active])

    def gradients(g: Tensor | tuple[Tensor, ...]) -> list[SymbolicTensor | None]:
        seeds, now = all_seeds(g), read_now(rule.variables)
        ends = (None,) * len(now) + (0,) * len(seeds)
        if followed([*inputs, *now, *seeds]):
            recorded = [extra[k] for k in rule.recorded]
            places = (*axes, *(0,) * len(recorded), *ends)
            grads = emit_batched(rule.joint, places, [*inputs, *recorded, *now, *seeds])
        else:
            kept = [inputs[k] if is_input else extra[k] for is_input, k in rule.kept]
            places = tuple([axes[k] if is_input else 0 for is_input, k in rule.kept])
            grads = emit_batched(rule.backward, (*places, *ends), [*kept, *now, *seeds])
        pairs = zip(rule.reached, grads, strict=True)
        grads = [g if axes[k] == 0 else reduce_sum(g, 0) for k, g in pairs]
        return at_places(rule.reached, grads, len(inputs))

    tell(listeners, "vectorized_map", inputs, shown, gradients)
    return outs


def _node(graph: Graph, axes: tuple[int | None, ...], inputs: list[Tensor]) -> list[SymbolicTensor]:
    here: Any = building()
    first = next((x for x, a in zip(inputs, axes, strict=True) if a == 0), None)
    known = None if first is None else here.specs[here.value_of(first)].shape
    count = known[0] if known else None
    specs = [graph.specs[v] for v in graph.outputs]
    shapes = [s.stacked(count) for s in specs]
    attrs = {"graph": graph, "axes": axes}
    return emit(BATCHED, inputs, attrs, shapes)


def _replay(node: Node, given: list[Tensor], attrs: dict[str, Any]) -> list[SymbolicTensor]:
    return emit_batched(attrs["graph"], attrs["axes"], given)


REPLAYS.fill(__name__, {BATCHED: _replay})


# Rows of Jacobians.

_MOST_BYTES = 1 << 28


def gradient_rows(
    tape: GradientTape, target: SymbolicTensor, seeds: Tensor, sources: list[SymbolicTensor]
) -> list[SymbolicTensor] | list[Tensor | None]:
    """The gradients of `target` for each row of `seeds`, stacked; `None` where there is no path."""
    if building() is not None:
        return _emit_rows(tape, target, seeds, sources)
    chunk = _rows_at_once(seeds, sources)
    if chunk < seeds._array.shape[0]:
        from wengert.ops.joining import concat

        parts = [
            _rows_now(tape, target, seeds[k : k + chunk], sources)
            for k in range(0, seeds._array.shape[0], chunk)
        ]
        return [None if c[0] is None else concat(list(c), 0) for c in zip(*parts, strict=True)]
    return _rows_now(tape, target, seeds, sources)


def _rows_at_once(seeds: Any, sources: list[Any]) -> int:
    """How many rows fit into memory without pain."""
    largest = max([seeds._array.nbytes // max(1, len(seeds._array))]
                  + [s._array.nbytes for s in sources])  # fmt: skip
    return max(1, _MOST_BYTES // max(1, 4 * largest))


@restoring
def _rows_now(tape: Any, target: Any, seeds: Any, sources: list[Any]) -> list[Any]:
    site = caller(1)
    graph = Builder("jacobian", None, site)
    with using(State((), graph)):
        param = graph.parameter(ShapeDtype(seeds.shape._dims, seeds.dtype))
        result = _emit_rows(tape, target, param, sources)
        values = [graph.value_of(g) for g in result if g is not None]
    outs = iter(_run_once(graph, values, [seeds], site))
    return [None if g is None else next(outs) for g in result]


def _emit_rows(
    tape: GradientTape, target: SymbolicTensor, seeds: Tensor, sources: list[SymbolicTensor]
) -> list[SymbolicTensor]:
    here: Any = building()
    shape = here.specs[here.value_of(seeds)].shape

    def row(seed: SymbolicTensor) -> list[SymbolicTensor] | list[Tensor | None]:
        result = tape._differentiate([target], [seed], sources, release=False)
        return [None if g is None else gradient_values.dense(g) for g in result]

    inner = trace_inner("row", row, [ShapeDtype(shape[1:], seeds.dtype)])
    closed = close([inner.graph], [])
    axes = (0,) + (None,) * len(closed.tensors)
    outs = emit_batched(closed.graphs[0], axes, [seeds, *closed.tensors])
    return put_together(inner.skeleton, outs)


GRADIENT_ROWS.fill(gradient_rows)
