"""`map_fn`, `scan`, `foldl` and `foldr`: loops over the rows of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.extension_type import BatchableExtensionType, BatchableExtensionTypeSpec
from wengert.composite.values import type_spec_from_value
from wengert.core import dtypes, nest
from wengert.core.apply import apply, wrap
from wengert.core.context import State, get_state, restoring, using
from wengert.core.convert import operand
from wengert.core.errors import (
    InvalidIndexError,
    InvalidTypeError,
    OutOfRangeError,
    at_site,
    invalid,
    require,
)
from wengert.core.sites import caller
from wengert.core.types import (
    CompositeSpec,
    CompositeTensor,
    Dim,
    DTypeLike,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    TensorShape,
    TensorSpec,
    Variable,
)
from wengert.functions.graph_calls import assign_all, snapshot
from wengert.functions.loop_nodes import TURN, Loop, emit_loop
from wengert.functions.subgraphs import (
    Inner,
    check_states,
    close,
    ends,
    held,
    shown,
    trace_inner,
    written,
)
from wengert.functions.trace import put_together, take_apart
from wengert.graph.builder import building
from wengert.ops.checks import assert_equal
from wengert.ops.dims import expand_dims, row_count, shape
from wengert.ops.joining import concat, stack
from wengert.ops.rows import STACK_ROWS
from wengert.ops.shape_checks import of_shape
from wengert.ops.shaping import reshape

if TYPE_CHECKING:
    from wengert.graph.ir import Graph


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: DTypeLike | None = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Applies `fn` to each row of `elems` and stacks the results.

    The structure and dtypes of the results are found by themselves; `fn_output_signature` checks
    them.

    Args:
        fn: a function of one row, or of a structure of rows.
        elems: a tensor, or several in a structure, with as many rows each.
        dtype: an older name of `fn_output_signature`.
        infer_shape: without effect.
        fn_output_signature: dtypes or specs of the results.
        parallel_iterations, swap_memory, name: without effect.
        back_prop: without effect; `tf.stop_gradient` stops gradients.

    Returns:
        Tensors in the structure of the results.

    Raises:
        TypeError: `fn` is not callable.
        ValueError: `elems` is a scalar, or the numbers of rows differ.

    >>> tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 4, 9]
    """
    wanted = dtype if fn_output_signature is None else fn_output_signature
    if _composite(elems) or _composite(wanted):
        from wengert.functions.ragged_map_fn import is_ragged, map_ragged

        if is_ragged(elems, wanted):
            return map_ragged(fn, elems, wanted)
        if _batchable(elems) or _batchable(wanted):
            return _map_batchable(fn, elems, wanted)
    rows = _rows("map_fn", fn, elems)
    if building() is not None:
        step = lambda state, row: (state, _typed(fn(row), wanted))
        return _traced("map_fn", step, [], rows, False)[1]
    results = [_typed(fn(row), wanted) for row in rows.each()]
    if results:
        return _stacked("map_fn", results)
    return _of_no_rows(fn, rows, wanted)


def _batchable(structure: Any) -> bool:
    return any(
        isinstance(x, BatchableExtensionType | BatchableExtensionTypeSpec)
        for x in nest.flatten(structure)
    )


def _map_batchable(fn: Callable[..., Any], elems: Any, wanted: Any) -> Any:
    """`map_fn` over the tensors that values of extension types are made of."""
    types = nest.map_structure(type_spec_from_value, elems)
    row_types = [t._unbatch() if _batchable(t) else t for t in nest.flatten(types)]
    made: list[Any] = []

    def on_tensors(parts: list[Tensor]) -> Any:
        rest, rows = list(parts), []
        for one in row_types:
            count = len(one.__tf_flatten__()[1]) if _batchable(one) else 1
            taken, rest = rest[:count], rest[count:]
            rows.append(one._from_components(taken) if _batchable(one) else taken[0])
        result = fn(nest.pack_sequence_as(elems, rows))
        made[:] = [nest.map_structure(type_spec_from_value, result)]
        return nest.flatten(result, expand_composites=True)

    specs = None
    if wanted is not None:
        leaves = nest.flatten(wanted)
        specs = [s for w in leaves for s in (w.__tf_flatten__()[1] if _batchable(w) else [w])]
    parts = map_fn(
        on_tensors, nest.flatten(elems, expand_composites=True), fn_output_signature=specs
    )
    rows = parts[0].shape[0] if parts else None
    whole = nest.map_structure(lambda t: t._batch(rows) if _batchable(t) else t, made[0])
    return nest.pack_sequence_as(whole, parts, expand_composites=True)


def _composite(structure: Any) -> bool:
    return any(isinstance(x, CompositeTensor | CompositeSpec) for x in nest.flatten(structure))


def scan(
    fn: Callable[..., Any],
    elems: TensorLike,
    initializer: Tensor | dict[str, Tensor] | float | tuple[Tensor, ...] | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All partial results of folding `fn` over the rows of `elems`, stacked.

    Args:
        fn: a function of the result so far and a row.
        elems: a tensor, or several in a structure.
        initializer: the result to begin with; the first row by default.
        infer_shape: without effect.
        reverse: whether to begin with the last row.
        parallel_iterations, swap_memory, name: without effect.
        back_prop: without effect; `tf.stop_gradient` stops gradients.

    Returns:
        Tensors in the structure of the results, one row for each of `elems`.

    Raises:
        TypeError: `fn` is not callable.

    >>> tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 3, 6]
    """
    rows = _rows("scan", fn, elems)
    first, rows = _begin("scan", rows, initializer, reverse)
    if building() is not None:
        step = lambda state, row: (lambda new: (new, new))(_next("scan", fn, state, row))
        made = _traced("scan", step, first, rows, reverse)[1]
        return made if initializer is not None else _with_first(first, made, reverse)
    results, state = [first] if initializer is None else [], first
    for row in rows.each(reverse):
        state = _next("scan", fn, state, row)
        _check_next("scan", first, state)
        results.append(state)
    if not results:
        return nest.map_structure(lambda x: wrap(np.zeros((0, *x.shape), x.dtype.np)), first)
    return _stacked("scan", results[::-1] if reverse else results)


def foldl(
    fn: Callable[..., Any],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Folds `fn` over the rows of `elems`, first row first."""
    return _fold("foldl", fn, elems, initializer, False)


def foldr(
    fn: Callable[..., Any],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Folds `fn` over the rows of `elems`, last row first."""
    return _fold("foldr", fn, elems, initializer, True)


def _fold(
    name: str, fn: Any, elems: TensorLike, initializer: TensorLike | None, reverse: bool
) -> Any:
    rows = _rows(name, fn, elems)
    state, rows = _begin(name, rows, initializer, reverse)
    if building() is not None:
        step = lambda s, row: (_next(name, fn, s, row), [])
        return _traced(name, step, state, rows, reverse)[0]
    for row in rows.each(reverse):
        state = _next(name, fn, state, row)
    return state


class _Rows:
    """Tensors with a common number of rows, in their structure."""

    def __init__(self, skeleton: Any, tensors: list[Tensor]) -> None:
        self.skeleton = skeleton
        self.tensors = tensors

    def count(self) -> int | Dim:
        sizes = [row_count(t) for t in self.tensors]
        return next((d for d in sizes if type(d) is int), sizes[0])

    def row(self, i: int) -> Any:
        return put_together(self.skeleton, [t[i] for t in self.tensors])

    def each(self, reverse: bool = False) -> Any:
        order = range(self.count())
        return (self.row(i) for i in (reversed(order) if reverse else order))

    def part(self, index: slice) -> _Rows:
        return _Rows(self.skeleton, [t[index] for t in self.tensors])


def _rows(name: str, fn: Any, elems: Any) -> _Rows:
    require(callable(fn), name, "`fn` must be a function", fn, kind=TypeError)
    skeleton, tensors = take_apart(name, elems)
    require(tensors, name, "`elems` holds no tensors", kind=ValueError)
    for t in tensors:
        require(t.shape.rank != 0, name, "`elems` must have rows", t, kind=InvalidIndexError)
    counts = [row_count(t) for t in tensors]
    sizes = {d for d in counts if type(d) is int}
    rule = "all of `elems` must have the same number of rows"
    if len(sizes) > 1:
        result = " and ".join(map(str, sorted(sizes)))
        raise invalid(name, f"{rule}; there are {result}")
    for t, d in zip(tensors, counts, strict=True):
        if d != counts[0]:  # only the run knows one of them
            assert_equal(shape(t)[0], shape(tensors[0])[0], f"{name}: {rule}")
    return _Rows(skeleton, tensors)


def _begin(name: str, rows: _Rows, initializer: Any, reverse: bool) -> tuple[Any, _Rows]:
    """The start of a fold: given, or the first row."""
    if initializer is not None:
        return nest.map_structure(operand, initializer), rows
    if type(rows.count()) is int and not rows.count():
        kind = InvalidIndexError if building() is not None else OutOfRangeError
        raise invalid(name, "without `initializer` at least one row is needed", kind=kind)
    if reverse:
        return rows.row(-1), rows.part(slice(None, -1))
    return rows.row(0), rows.part(slice(1, None))


def _next(
    name: str,
    fn: Any,
    state: Tensor | dict[str, Tensor] | tuple[Tensor, ...],
    row: Tensor | tuple[Tensor, ...],
) -> Any:
    """The new state, in the structure of the old one."""
    new = fn(state, row)
    _same(name, "the state", state, new)
    return nest.map_structure(operand, new)


def _same(name: str, what: str, expected: Any, given: Any) -> None:
    try:
        nest.assert_same_structure(expected, given)
    except (TypeError, ValueError) as error:
        raise at_site(
            type(error)(
                f"{name}: `fn` must return the structure of {what}, {shown(expected)}; it returned "
                f"{shown(given)}."
            )
        ) from None


def _check_next(
    name: str,
    first: Tensor | dict[str, Tensor] | tuple[Tensor, ...],
    state: Tensor | dict[str, Tensor] | tuple[Tensor, ...],
) -> None:
    """Refuses a state that cannot be stacked on the first."""
    for old, new in zip(nest.flatten(first), nest.flatten(state), strict=True):
        if old.dtype is not new.dtype or not old.shape.is_compatible_with(new.shape):
            kind = InvalidTypeError
            help = "Give the initializer in that form."
            raise invalid(
                name, "a state must keep its shape and dtype", old, new, help=help, kind=kind
            )


def _with_first(
    first: Tensor | tuple[SymbolicTensor, ...],
    made: SymbolicTensor | tuple[SymbolicTensor, ...],
    reverse: bool,
) -> Tensor | tuple[SymbolicTensor, SymbolicTensor]:
    def one(a: Tensor, rest: SymbolicTensor | Tensor) -> Tensor:
        a = expand_dims(operand(a), 0)
        if rest.shape.rank is None or None in rest.shape[1:]:
            # Of no rows, the loop could not tell the sizes.
            rest = reshape(rest, concat([shape(rest)[:1], shape(a)[1:]], 0))
        return concat([rest, a] if reverse else [a, rest], 0)

    return nest.map_structure(one, first, made)


def _typed(result: Any, wanted: Any) -> Any:
    """The result of `fn` as tensors, of the dtypes and shapes asked for."""
    if wanted is None or not nest.is_nested(wanted):
        return nest.map_structure(lambda x: _converted(x, wanted), result)
    _same("map_fn", "`fn_output_signature`", wanted, result)
    flat = zip(nest.flatten(result), nest.flatten(wanted), strict=True)
    return nest.pack_sequence_as(result, [_converted(x, w) for x, w in flat])


def _converted(x: Any, wanted: Any) -> Tensor:
    if wanted is None:
        return operand(x)
    spec = wanted if isinstance(wanted, TensorSpec) else TensorSpec(None, dtypes.as_dtype(wanted))
    tensor = operand(x, None, spec.dtype)
    if tensor.dtype is not spec.dtype:
        rule = f"`fn_output_signature` asks for {spec.dtype.name}"
        raise invalid(
            "map_fn", rule, tensor, help="Cast it, or ask for that.", kind=InvalidTypeError
        )
    require(
        spec.shape.is_compatible_with(tensor.shape),
        "map_fn",
        lambda: f"`fn_output_signature` asks for shape {spec.shape}",
        tensor,
        kind=ValueError,
    )
    rule = "`fn_output_signature` asks for shape {wanted}; got {given}"
    return of_shape(tensor, spec.shape._dims, "map_fn", rule)


def _stacked(name: str, results: list[Any]) -> Any:
    flat = [nest.flatten(r) for r in results]
    for r in results[1:]:
        nest.assert_same_structure(results[0], r)
    columns = [list(c) for c in zip(*flat, strict=True)]
    for column in columns:
        other = next((x for x in column if x.shape != column[0].shape), None)
        if other is not None:
            raise _uneven(name, column[0], other)
    return nest.pack_sequence_as(results[0], [stack(c) for c in columns])


def _uneven(name: str, first: Tensor, other: Tensor) -> Exception:
    return invalid(name, "all results must have one shape", first, other, help="Pad them.")


def _of_no_rows(fn: Any, rows: _Rows, wanted: Any) -> Tensor:
    """What stacking nothing gives: shapes found by tracing `fn` on a row that is not there."""
    specs = [ShapeDtype(t._array.shape[1:], t.dtype) for t in rows.tensors]
    inner = trace_inner(
        "fn", lambda *xs: _typed(fn(put_together(rows.skeleton, list(xs))), wanted), specs
    )
    made = [wrap(np.zeros((0, *[d or 0 for d in s.shape or ()]), s.dtype.np)) for s in ends(inner)]
    return put_together(inner.skeleton, made)


@restoring
def _traced(name: str, step: Any, start: Any, rows: _Rows, reverse: bool) -> tuple[Any, Any]:
    """A loop over rows in a trace: `step(state, row)` gives a new state and a row of results."""
    state: Any = get_state()
    with using(State(state.listeners, state.graph, state.site or caller(2))):
        return _loop(name, step, start, rows, reverse)


def _loop(name: str, step: Any, start: Any, rows: _Rows, reverse: bool) -> tuple[Any, Any]:
    here: Any = building()
    start_skeleton, starts = take_apart(name, start)
    states = [here.specs[here.value_of(x)] for x in starts]
    specs = [here.specs[here.value_of(x)] for x in rows.tensors]
    fresh = [s.row() for s in specs]

    def body(*xs: Any) -> Any:
        old = put_together(start_skeleton, list(xs[: len(starts)]))
        new, made = step(old, put_together(rows.skeleton, list(xs[len(starts) :])))
        skeleton, tensors = take_apart(name, new)
        tensors = [held(x, s) for x, s in zip(tensors, states, strict=True)]
        return put_together(skeleton, tensors), made

    inner = trace_inner("body", body, [TURN, *states, *fresh], True)
    new_state, made = inner.skeleton
    count = len(starts)
    check_states(
        f"{name}: state", states, ends(inner)[:count], "Give the initializer in that form."
    )
    changed = written([inner.graph])
    graph, outside = _rows_last(inner, count, len(fresh), changed)
    inputs = [*starts, *[snapshot(here, v) for v in changed], *outside, *rows.tensors]
    result = emit_loop(
        Loop(None, graph, count + len(changed), len(outside), len(ends(inner)) - count, reverse),
        operand(rows.count()),
        wrap(np.zeros((), np.int32)),
        inputs,
    )
    assign_all(changed, result.states[count:])
    everything = [*result.states[:count], *[_even(name, s) for s in result.stacks]]
    return put_together(new_state, everything), put_together(made, everything)


def _even(name: str, results: Any) -> Tensor:
    """Stacked results, checked when the loop has run if their rows could differ in shape."""
    shape = results.shape
    if shape.rank is not None and TensorShape(shape._dims[1:]).is_fully_defined():
        return results
    return apply(STACK_ROWS, results, count=None, name=name)


def _rows_last(
    inner: Inner, states: int, rows: int, changed: list[Variable]
) -> tuple[Graph, list[Tensor]]:
    """The body closed over what it uses, with its inputs in the order that loops have."""
    closed = close([inner.graph], changed)
    graph = closed.graphs[0]
    turn, rest = graph.inputs[0], graph.inputs[1:]
    state, row, more = rest[:states], rest[states : states + rows], rest[states + rows :]
    graph.inputs = [turn, *state, *more, *row]
    last = len(inner.graph.outputs)
    news, made, variables = (
        graph.outputs[:states],
        graph.outputs[states:last],
        graph.outputs[last:],
    )
    graph.outputs = [*news, *variables, *made]
    return graph, closed.tensors
