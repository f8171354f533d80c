"""`tf.while_loop`: eagerly plain Python, in a trace a node.

With `checkpoint=True` a loop keeps little for its gradient: about √n of n turns, the rest is
computed again. The number of turns need not be known. Turns are run in chunks that grow by one: the
first chunk has 1 turn, the next 2, and so on, so n turns make about √(2n) chunks of at most √(2n)
turns. The gradient keeps the state at the start of each chunk and recomputes a chunk when it comes
to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.context import State, get_state, restoring, using
from wengert.core.convert import operand
from wengert.core.errors import at_site, require, require_dtype
from wengert.core.shapes import as_shape
from wengert.core.sites import caller
from wengert.core.types import (
    IndexedSlices,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    TensorShape,
    TypeSpec,
    Value,
)
from wengert.functions.branch_nodes import emit_call
from wengert.functions.cond import as_scalar
from wengert.functions.graph_calls import assign_all, snapshot
from wengert.functions.loop_nodes import OPEN, TURN, Loop, emit_loop
from wengert.functions.subgraphs import (
    check_states,
    close,
    ends,
    held,
    same_structure,
    shown,
    trace_inner,
    written,
)
from wengert.functions.trace import put_together, take_apart
from wengert.graph.builder import building
from wengert.ops.cast import cast
from wengert.ops.compare import less, logical_and
from wengert.ops.select import maximum

if TYPE_CHECKING:
    from wengert.composite.optional import Optional
    from wengert.functions.tensor_array import TensorArray


_VARYING = "Give `shape_invariants` with None where sizes vary."


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: TensorLike | None = None,
    name: str | None = None,
    checkpoint: bool = False,
) -> Any:
    """Runs `body` on the loop variables as long as `cond` of them holds.

    The result has the structure of `loop_vars`: a list, a tuple, or a dict, which the functions
    take as one argument. Eagerly it is what the body returned last: a tuple, if that is one, where
    `loop_vars` are a list. `checkpoint=True` keeps only about √n of n turns for the gradient and
    computes the others again.

    Args:
        cond: a function of the loop variables that gives one truth.
        body: a function of them that gives their next values.
        loop_vars: what they begin with.
        shape_invariants: shapes in the same structure, with `None` for sizes that change.
        maximum_iterations: after how many turns to end.
        checkpoint: whether to keep less for the gradient.
        parallel_iterations, swap_memory, name: without effect.
        back_prop: without effect; `tf.stop_gradient` stops gradients.

    Returns:
        The last loop variables.

    Raises:
        TypeError: `cond` or `body` is not callable.
        ValueError: the body gives another structure, or shapes change without an invariant.

    >>> start = tf.constant(0), tf.constant(0)
    >>> i, total = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + i), start)
    >>> int(i), int(total)
    (4, 6)
    """
    for label, function in (("cond", cond), ("body", body)):
        require(
            callable(function),
            "while_loop",
            f"`{label}` must be a function",
            function,
            kind=TypeError,
        )
    require(
        isinstance(loop_vars, list | tuple | dict) and loop_vars,
        "while_loop",
        "give at least one loop variable, in a list",
        kind=ValueError,
    )
    if isinstance(parallel_iterations, Tensor) and building() is None:
        parallel_iterations = int(parallel_iterations)
    require(
        isinstance(parallel_iterations, int) and parallel_iterations >= 1,
        "while_loop",
        "`parallel_iterations` must be a positive number",
        kind=TypeError,
    )
    most = _limit(maximum_iterations)
    if building() is None:
        return _python_loop(cond, body, loop_vars, most)
    if checkpoint:
        return checkpointed(cond, body, loop_vars, shape_invariants, most)
    return traced_loop(cond, body, loop_vars, shape_invariants, most)


def _limit(most: Any) -> Tensor | None:
    """The largest number of turns as an int32 scalar, or `None`."""
    if most is None:
        return None
    x = operand(most)
    require(
        x.dtype.is_integer,
        "while_loop",
        "`maximum_iterations` must be a whole number",
        x,
        kind=TypeError,
    )
    require(
        x.shape.rank in (0, None),
        "while_loop",
        "`maximum_iterations` must be a scalar",
        x,
        kind=ValueError,
    )
    x = x if x.dtype.name == "int32" else cast(x, "int32")
    return maximum(as_scalar("while_loop", "`maximum_iterations`", x), 0)


def _python_loop(cond: Any, body: Any, loop_vars: Any, most: Tensor | None) -> Any:
    state = loop_vars  # numbers stay Python's inside, as in TensorFlow
    single = len(loop_vars) == 1
    left = None if most is None else int(most)
    while (left is None or left > 0) and bool(_with(cond, state)):
        result = _with(body, state)
        state = _like(loop_vars, result, single)
        if isinstance(result, list | tuple):
            state = nest.pack_sequence_as(result, nest.flatten(state))
        left = None if left is None else left - 1
    return nest.map_structure(_as_tensor, state)


def _with(function: Any, state: Any) -> Any:
    return function(state) if isinstance(state, Mapping) else function(*state)


def _as_tensor(x: Any) -> Tensor | Optional | TensorArray:
    if isinstance(x, bool | int | float | complex | str | bytes | np.ndarray | np.generic):
        return operand(x)
    return x


def _like(loop_vars: Any, found: Any, single: bool) -> Any:
    """What the body returned in the structure of the loop variables."""
    if single and not nest.is_nested(found) and not isinstance(loop_vars, Mapping):
        found = [found]
    require(
        same_structure(loop_vars, found, check_types=False),
        "while_loop",
        lambda: (
            "the body must return the structure of the loop variables; they are "
            f"{shown(loop_vars)}, it returned {shown(found)}"
        ),
        kind=ValueError,
    )
    return nest.pack_sequence_as(loop_vars, nest.flatten(found))


@restoring
def traced_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, most: Tensor | None
) -> Any:
    """`while_loop` in a trace."""
    state: Any = get_state()
    with using(State(state.listeners, state.graph, state.site or caller(1))):
        return _traced_loop(cond, body, loop_vars, shape_invariants, most)


def _traced_loop(cond: Any, body: Any, loop_vars: Any, invariants: Any, most: Tensor | None) -> Any:
    skeleton, starts = take_apart("while_loop", loop_vars)
    specs = _start_specs(starts, loop_vars, invariants)
    single = len(loop_vars) == 1

    def turn(*xs: Any) -> Any:
        new = _like(loop_vars, _with(body, put_together(skeleton, list(xs))), single)
        new = nest.map_structure(_as_tensor, new)
        made, tensors = take_apart("while_loop", new)
        return put_together(made, [held(x, s) for x, s in zip(tensors, specs, strict=True)])

    inner_body = trace_inner("body", turn, [TURN, *specs], True)
    check_states("while_loop: loop variable", specs, ends(inner_body), _VARYING)
    inner_test = trace_inner(
        "test",
        lambda *xs: _verdict(_with(cond, put_together(skeleton, list(xs)))),
        [TURN, *specs],
        True,
    )
    changed = written([inner_body.graph])
    closed = close([inner_test.graph, inner_body.graph], changed)
    here: Any = building()
    test, step = closed.graphs
    test.outputs = test.outputs[:1]
    inputs = [*starts, *[snapshot(here, v) for v in changed], *closed.tensors]
    loop = Loop(test, step, len(starts) + len(changed), len(closed.tensors), 0)
    count = wrap(np.asarray(OPEN, np.int32)) if most is None else most
    result = emit_loop(loop, count, wrap(np.zeros((), np.int32)), inputs)
    assign_all(changed, result.states[len(starts) :])
    return put_together(skeleton, result.states[: len(starts)])


def _start_specs(starts: list[Tensor], loop_vars: Any, invariants: Any) -> list[ShapeDtype]:
    here: Any = building()
    specs = [here.specs[here.value_of(x)] for x in starts]
    if invariants is None:
        return specs
    wide = [as_shape(getattr(s, "shape", s)) for s in _shapes(invariants)]
    require(
        len(wide) == len(specs),
        "while_loop",
        lambda: f"`shape_invariants` must match the {len(specs)} loop variables; got {len(wide)}",
        kind=ValueError,
    )
    for spec, shape in zip(specs, wide, strict=True):
        if not TensorShape(spec.shape).is_subtype_of(shape):
            raise at_site(
                ValueError(
                    f"while_loop: a start of shape {TensorShape(spec.shape)} does not fit its "
                    "shape "
                    f"invariant {TensorShape(shape)}."
                )
            )
    return [ShapeDtype(w, s.dtype) for w, s in zip(wide, specs, strict=True)]


def _shapes(invariants: Any) -> list[Any]:
    """The shapes in a nest of shapes and specs."""
    if isinstance(invariants, TensorShape | TypeSpec) or invariants is None:
        return [invariants]
    if isinstance(invariants, Mapping):
        invariants = [invariants[k] for k in sorted(invariants)]
    return [s for part in invariants for s in _shapes(part)]


def _verdict(found: Tensor | bool) -> Value | IndexedSlices:
    """What `cond` returned as one boolean."""
    require(
        not nest.is_nested(found) and isinstance(found, bool | np.bool_ | Value),
        "while_loop",
        "`cond` must return one boolean",
        found,
        kind=TypeError,
    )
    x = operand(found)
    require_dtype(
        x.dtype.is_bool, "while_loop", "`cond` must return one boolean", x, help="Compare it."
    )
    return as_scalar("while_loop", "what `cond` returns", x)


def checkpointed(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, maximum_iterations: Any
) -> tuple[SymbolicTensor, SymbolicTensor]:
    """`while_loop` in a trace, with online checkpointing."""
    single = len(loop_vars) == 1
    start = nest.map_structure(operand, loop_vars)
    zero = wrap(np.zeros((), np.int32))
    limit = None if maximum_iterations is None else operand(maximum_iterations)

    def going(done: SymbolicTensor, state: tuple[SymbolicTensor, ...]) -> Tensor:
        more = _with(cond, state)
        return more if limit is None else logical_and(more, less(done, limit))

    def chunk(size: SymbolicTensor, done: SymbolicTensor, *flat: Any) -> list[SymbolicTensor]:
        state = nest.pack_sequence_as(start, list(flat))

        _, done, state = traced_loop(
            lambda k, done, state: logical_and(less(k, size), going(done, state)),
            lambda k, done, state: (k + 1, done + 1, _like(loop_vars, _with(body, state), single)),
            (zero, done, state),
            None,
            None,
        )
        return [done, *nest.flatten(state)]

    def outer_body(
        size: SymbolicTensor, done: SymbolicTensor, state: tuple[SymbolicTensor, ...]
    ) -> Any:
        done, *flat = _recomputed(chunk, [size, done, *nest.flatten(state)])
        return size + 1, done, nest.pack_sequence_as(start, flat)

    one = wrap(np.ones((), np.int32))
    scalar = TensorShape([])
    invariants = None if shape_invariants is None else (scalar, scalar, shape_invariants)
    _, _, state = traced_loop(
        lambda size, done, state: going(done, state),
        outer_body,
        (one, zero, start),
        invariants,
        None,
    )
    return state


def _recomputed(function: Any, given: list[SymbolicTensor]) -> list[Any]:
    """Runs a part as one node, of which the gradient keeps only what goes in."""
    here: Any = building()
    specs = [here.specs[here.value_of(x)] for x in given]
    inner = trace_inner("chunk", function, specs)
    changed = written([inner.graph])
    closed = close([inner.graph], changed)
    inputs = [*given, *[snapshot(here, v) for v in changed], *closed.tensors]
    outs = emit_call(closed.graphs[0], inputs, jit=False, recompute=True)
    count = len(inner.graph.outputs)
    assign_all(changed, outs[count:])
    return outs[:count]
