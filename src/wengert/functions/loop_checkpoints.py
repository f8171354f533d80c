"""Loops that keep little for their gradient: about √n of n turns, the rest is computed again.

The number of turns need not be known. Turns are run in chunks that grow by one: the first chunk
has 1 turn, the next 2, and so on, so n turns make about √(2n) chunks of at most √(2n) turns. The
gradient keeps the state at the start of each chunk and recomputes a chunk when it comes to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.convert import operand
from wengert.functions.call_nodes import emit_call
from wengert.functions.graph_calls import snapshot
from wengert.functions.subgraphs import close, trace_inner, written
from wengert.graph.builder import building
from wengert.ops.compare import less
from wengert.ops.logical import logical_and

if TYPE_CHECKING:
    from wengert.core.types import SymbolicTensor, Tensor


def checkpointed(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, maximum_iterations: Any
) -> tuple[SymbolicTensor, SymbolicTensor]:
    """`while_loop` in a trace, with online checkpointing."""
    from wengert.functions.while_loop import _like, _with, traced_loop

    single = len(loop_vars) == 1
    start = nest.map_structure(operand, loop_vars)
    zero = wrap(np.zeros((), np.int32))
    limit = None if maximum_iterations is None else operand(maximum_iterations)

    def going(done: SymbolicTensor, state: tuple[SymbolicTensor, ...]) -> Tensor:
        more = _with(cond, state)
        return more if limit is None else logical_and(more, less(done, limit))

    def chunk(size: SymbolicTensor, done: SymbolicTensor, *flat: Any) -> list[SymbolicTensor]:
        state = nest.pack_sequence_as(start, list(flat))

        def inner_test(
            k: SymbolicTensor, done: SymbolicTensor, state: tuple[SymbolicTensor, ...]
        ) -> Tensor:
            return logical_and(less(k, size), going(done, state))

        def inner_body(
            k: SymbolicTensor, done: SymbolicTensor, state: tuple[SymbolicTensor, ...]
        ) -> Any:
            return k + 1, done + 1, _like(loop_vars, _with(body, state), single)

        _, done, state = traced_loop(inner_test, inner_body, (zero, done, state), None, None)
        return [done, *nest.flatten(state)]

    def outer_test(
        size: SymbolicTensor, done: SymbolicTensor, state: tuple[SymbolicTensor, ...]
    ) -> Tensor:
        return going(done, state)

    def outer_body(
        size: SymbolicTensor, done: SymbolicTensor, state: tuple[SymbolicTensor, ...]
    ) -> Any:
        done, *flat = _recomputed(chunk, [size, done, *nest.flatten(state)])
        return size + 1, done, nest.pack_sequence_as(start, flat)

    one = wrap(np.ones((), np.int32))
    invariants = None
    if shape_invariants is not None:
        from wengert.core.shapes import TensorShape

        invariants = (TensorShape([]), TensorShape([]), shape_invariants)
    _, _, state = traced_loop(outer_test, outer_body, (one, zero, start), invariants, None)
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
    for variable, new in zip(changed, outs[count:], strict=True):
        variable.assign(new)
    return outs[:count]
