"""`map_fn`, `scan`, `foldl` and `foldr`: loops over the rows of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import dtypes, nest
from wengert.core.apply import wrap
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe
from wengert.core.op import Spec
from wengert.core.spec import TensorSpec
from wengert.core.symbolic import SymbolicTensor
from wengert.functions.inner import Inner, close, snapshot, trace_inner, written
from wengert.functions.loops import TURN, Loop, emit_loop
from wengert.functions.trace import put_together, take_apart
from wengert.graph.ir import building
from wengert.ops.joining import stack


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: Any = None,
    fn_output_signature: Any = None,
) -> Any:
    """Applies `fn` to each row of `elems` and stacks the results."""
    wanted = dtype if fn_output_signature is None else fn_output_signature
    rows = _rows("map_fn", fn, elems)
    if building() is not None:
        _, made = _traced(lambda state, row: (state, _typed(fn(row), wanted)), [], rows, False)
        return made
    results = [_typed(fn(row), wanted) for row in rows.each()]
    return _stacked("map_fn", results, rows, fn, wanted)


def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: Any = None,
) -> Any:
    """All partial results of folding `fn` over the rows of `elems`, stacked."""
    rows = _rows("scan", fn, elems)
    first, rows = _begin("scan", rows, initializer, reverse)
    begun = initializer is None
    if building() is not None:
        step = lambda state, row: (lambda new: (new, new))(fn(state, row))
        _, made = _traced(step, first, rows, reverse)
        return _with_first(first, made, reverse) if begun else made
    results, state = [first] if begun else [], first
    for row in rows.each(reverse):
        state = nest.map_structure(operand, fn(state, row))
        results.append(state)
    results = results[::-1] if reverse else results
    return _stacked("scan", results, rows, None, None)


def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Any = None,
) -> Any:
    """Folds `fn` over the rows of `elems`, first row first."""
    return _fold("foldl", fn, elems, initializer, False)


def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Any = None,
) -> Any:
    """Folds `fn` over the rows of `elems`, last row first."""
    return _fold("foldr", fn, elems, initializer, True)


def _fold(name: str, fn: Any, elems: Any, initializer: Any, reverse: bool) -> Any:
    rows = _rows(name, fn, elems)
    state, rows = _begin(name, rows, initializer, reverse)
    if building() is not None:
        return _traced(lambda s, row: (fn(s, row), []), state, rows, reverse)[0]
    for row in rows.each(reverse):
        state = nest.map_structure(operand, fn(state, row))
    return state


class _Rows:
    """Tensors with a common number of rows, in their structure."""

    def __init__(self, skeleton: Any, tensors: list[Any]) -> None:
        self.skeleton = skeleton
        self.tensors = tensors

    def count(self) -> Any:
        return self.tensors[0]._array.shape[0]

    def row(self, i: Any) -> Any:
        return put_together(self.skeleton, [t[i] for t in self.tensors])

    def each(self, reverse: bool = False) -> Any:
        order = range(self.count())
        return (self.row(i) for i in (reversed(order) if reverse else order))

    def part(self, index: Any) -> _Rows:
        return _Rows(self.skeleton, [t[index] for t in self.tensors])


def _rows(name: str, fn: Any, elems: Any) -> _Rows:
    if not callable(fn):
        raise at_site(TypeError(f"{name}: `fn` must be a function; got {describe(fn)}."))
    skeleton, tensors = take_apart(name, elems)
    if not tensors:
        raise at_site(ValueError(f"{name}: `elems` holds no tensors."))
    sizes = []
    for t in tensors:
        if not t._array.shape:
            raise at_site(ValueError(f"{name}: `elems` must have rows; got {describe(t)}."))
        sizes.append(t._array.shape[0])
    fixed = {d for d in sizes if type(d) is int}
    if len(fixed) > 1:
        raise at_site(
            ValueError(
                f"{name}: all of `elems` must have the same number of rows; got "
                f"{' and '.join(map(str, sorted(fixed)))}."
            )
        )
    return _Rows(skeleton, tensors)


def _begin(name: str, rows: _Rows, initializer: Any, reverse: bool) -> tuple[Any, _Rows]:
    """The start of a fold: given, or the first row."""
    if initializer is not None:
        return nest.map_structure(operand, initializer), rows
    if type(rows.count()) is int and not rows.count():
        raise at_site(ValueError(f"{name}: without `initializer` at least one row is needed."))
    if reverse:
        return rows.row(-1), rows.part(slice(None, -1))
    return rows.row(0), rows.part(slice(1, None))


def _with_first(first: Any, made: Any, reverse: bool) -> Any:
    from wengert.ops.dims import expand_dims
    from wengert.ops.joining import concat

    def one(a: Any, rest: Any) -> Any:
        a = expand_dims(operand(a), 0)
        return concat([rest, a] if reverse else [a, rest], 0)

    return nest.map_structure(one, first, made)


def _typed(result: Any, wanted: Any) -> Any:
    """The result of `fn` as tensors, of the dtypes asked for."""
    if wanted is None:
        return nest.map_structure(operand, result)
    if nest.is_nested(wanted):
        nest.assert_same_structure(wanted, result, check_types=False)
        flat = zip(nest.flatten(result), nest.flatten(wanted), strict=True)
        return nest.pack_sequence_as(result, [_converted(x, w) for x, w in flat])
    return nest.map_structure(lambda x: _converted(x, wanted), result)


def _converted(x: Any, wanted: Any) -> Any:
    dtype = wanted.dtype if isinstance(wanted, TensorSpec) else dtypes.as_dtype(wanted)
    found = operand(x, None, dtype)
    if found.dtype is not dtype:
        raise at_site(
            TypeError(f"map_fn: `fn` gives {describe(found)}, but {dtype.name} was asked for.")
        )
    return found


def _stacked(name: str, results: list[Any], rows: _Rows, fn: Any, wanted: Any) -> Any:
    if results:
        flat = [nest.flatten(r) for r in results]
        for r in results[1:]:
            nest.assert_same_structure(results[0], r)
        return nest.pack_sequence_as(results[0], [stack(list(c)) for c in zip(*flat, strict=True)])
    if fn is None:
        raise at_site(ValueError(f"{name}: there are no rows."))
    return _of_no_rows(fn, rows, wanted)


def _of_no_rows(fn: Any, rows: _Rows, wanted: Any) -> Any:
    """What stacking nothing gives: shapes found by tracing `fn` on a row that is not there."""
    specs = [Spec(t._array.shape[1:], t.dtype) for t in rows.tensors]
    inner = trace_inner(
        "fn", lambda *xs: _typed(fn(put_together(rows.skeleton, list(xs))), wanted), specs
    )
    ends = [inner.graph.specs[v] for v in inner.graph.outputs]
    made = [wrap(np.zeros((0, *[d or 0 for d in s.shape or ()]), s.dtype.np)) for s in ends]
    return put_together(inner.skeleton, made)


def _traced(step: Any, start: Any, rows: _Rows, reverse: bool) -> tuple[Any, Any]:
    """A loop over rows in a trace: `step(state, row)` gives a new state and a row of results."""
    here: Any = building()
    start_skeleton, starts = take_apart("scan", start)
    states = [here.specs[here.value_of(x)] for x in starts]
    specs = [here.specs[here.value_of(x)] for x in rows.tensors]
    fresh = [Spec(None if s.shape is None else s.shape[1:], s.dtype) for s in specs]

    def body(*xs: Any) -> Any:
        state = put_together(start_skeleton, list(xs[: len(starts)]))
        row = put_together(rows.skeleton, list(xs[len(starts) :]))
        return step(state, row)

    inner = trace_inner("body", body, [TURN, *states, *fresh], True)
    new_state, made = inner.skeleton
    _check_state(inner, len(starts), states)
    changed = written([inner.graph])
    graph = _rows_last(inner, len(starts), len(fresh), changed)
    inputs = [*starts, *[snapshot(here, v) for v in changed], *graph[1], *rows.tensors]
    ends = len(inner.graph.outputs)
    loop = Loop(None, graph[0], len(starts) + len(changed), len(graph[1]), ends - len(starts), reverse)
    count = operand(rows.count())
    found = emit_loop(loop, count, wrap(np.zeros((), np.int32)), inputs)
    for variable, new in zip(changed, found.states[len(starts) :], strict=True):
        variable.assign(new)
    everything = [*found.states[: len(starts)], *found.stacks]
    return put_together(new_state, everything), put_together(made, everything)


def _check_state(inner: Inner, count: int, states: list[Spec]) -> None:
    ends = [inner.graph.specs[v] for v in inner.graph.outputs[:count]]
    if len(ends) < count:
        raise at_site(ValueError("scan: `fn` must return the structure of the initializer."))
    for k, (old, new) in enumerate(zip(states, ends, strict=True)):
        if old.dtype is not new.dtype:
            raise at_site(
                TypeError(
                    f"scan: state {k} changes its dtype: before {describe(old)}, after "
                    f"{describe(new)}. Give the initializer in that dtype."
                )
            )


def _rows_last(
    inner: Inner, states: int, rows: int, changed: list[Any]
) -> tuple[Any, list[Any]]:
    """The body closed over what it uses, with its inputs in the order that loops have."""
    closed = close([inner.graph], changed)
    graph = closed.graphs[0]
    turn, rest = graph.inputs[0], graph.inputs[1:]
    state, row, more = rest[:states], rest[states : states + rows], rest[states + rows :]
    graph.inputs = [turn, *state, *more, *row]
    ends = len(inner.graph.outputs)
    news, made, variables = (
        graph.outputs[:states],
        graph.outputs[states:ends],
        graph.outputs[ends:],
    )
    graph.outputs = [*news, *variables, *made]
    return graph, closed.tensors


def is_traced(x: Any) -> bool:
    """Whether a tensor has no value yet."""
    return isinstance(x, SymbolicTensor)
