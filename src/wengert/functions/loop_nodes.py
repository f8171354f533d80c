"""Loops as nodes. The gradient of a loop is a loop the other way, over what the first one saved.

The saved values of each turn are rows of stacks; invariants are not saved but used again. Since
the gradient is a loop of the same kind, it has gradients of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.core.apply import wrap
from wengert.core.dtypes import INEXACT, int32
from wengert.core.shapes import join
from wengert.core.types import Listener, ShapeDtype, SymbolicTensor, Tensor
from wengert.functions.graph_calls import (
    all_seeds,
    emit,
    followed,
    followers,
    inline,
    read_now,
    tell,
)
from wengert.functions.graph_replay import REPLAYS
from wengert.functions.host_call_replay import asks, replayable
from wengert.functions.sparse_accumulation import added, put_axis
from wengert.functions.subgraphs import make_graph
from wengert.functions.vjp import Vjp, quiet, vjp
from wengert.graph.builder import building
from wengert.graph.ir import Graph
from wengert.ops.create import zeros_like
from wengert.ops.nodes import LOOP
from wengert.ops.row_list import as_axis_rows, from_axis_rows
from wengert.ops.rows import fit_rows
from wengert.tape import gradient_values

if TYPE_CHECKING:
    from wengert.graph.ir import Node


TURN = ShapeDtype((), int32)
# A loop whose test alone decides has no count.
OPEN = -1


class Loop(NamedTuple):
    """A loop to be added: its graphs, and how many states, invariants and rows there are."""

    test: Graph | None
    body: Graph
    states: int
    invariants: int
    rows: int
    reverse: bool = False

    def parts(self, values: list[Tensor]) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """States, invariants and stacks out of one list."""
        n, m = self.states, self.invariants
        return values[:n], values[n : n + m], values[n + m :]


class Result(NamedTuple):
    """What a loop leaves: the number of the last turn, the last states, the stacks of its rows."""

    turns: Any
    states: list[Any]
    stacks: list[Any]


def emit_loop(loop: Loop, count: Tensor, turn: Tensor, inputs: list[Any]) -> Result:
    """Adds a loop to the graph being built and tells the tapes.

    `inputs` are the states at the start, the invariants, and stacks with a row for each turn.
    """
    here: Any = building()
    inputs = [here.own(x) for x in inputs]
    listeners = followers(inputs)
    wanted = _wanted(loop, listeners, inputs) if listeners else ()
    if not any(wanted):
        return _node(loop, count, turn, inputs)
    rule = vjp(loop.body, (False, *wanted), True, zeros=_changing(loop, wanted))
    pullback = _Pullback(loop, rule, wanted, count, turn, inputs)
    value = _node(pullback.recording, count, turn, inputs)
    result = Result(value.turns, value.states, value.stacks[: loop.rows])
    outs = [*result.states, *result.stacks]
    shown = tuple([outs[k] for k in pullback.active])
    if not shown:
        return result
    gradients = lambda g: pullback.run(value, all_seeds(g))
    tell(listeners, "while_loop", inputs, shown, gradients, partial=True)
    return result


def _wanted(loop: Loop, listeners: list[Listener], inputs: list[Tensor]) -> tuple[bool, ...]:
    """Which inputs of the body carry gradients: those followed, and states that come to depend."""
    wanted = [
        x._array.dtype.num in INEXACT and any(one.follows((x,)) for one in listeners)
        for x in inputs
    ]
    while any(wanted):
        active = vjp(loop.body, (False, *wanted), True).active
        more = [k for k in active if k < loop.states and not wanted[k]]
        if not more:
            break
        for k in more:
            wanted[k] = True
    return tuple(wanted)


def _changing(loop: Loop, wanted: tuple[bool, ...]) -> tuple[int, ...]:
    """Inputs of the body that are states whose shape may differ from turn to turn.

    A state that its next value does not depend on has a gradient of zeros, and the gradient of the
    next value does not have its shape.
    """
    states = loop.body.inputs[1 : 1 + loop.states]
    specs = [loop.body.specs[v] for v in states]
    return tuple(
        1 + k for k, s in enumerate(specs) if wanted[k] and (s.shape is None or None in s.shape)
    )


def _node(loop: Loop, count: Tensor, turn: Tensor, inputs: list[Tensor]) -> Result:
    here: Any = building()
    specs = _specs(loop, [here.specs[here.value_of(x)] for x in inputs], count)
    made = emit(LOOP, [count, turn, *inputs], loop._asdict(), [TURN, *specs])
    n = 1 + loop.states
    return Result(made[0], made[1:n], made[n:])


def _specs(loop: Loop, given: list[ShapeDtype], count: Tensor) -> list[ShapeDtype]:
    body = loop.body
    ends = [body.specs[v] for v in body.outputs]
    starts = given[: loop.states]
    # Of a TensorArray that nobody has written, the first write tells the shape.
    states = [
        ShapeDtype(e.shape if s.shape is None else join(s.shape, e.shape), s.dtype)
        for s, e in zip(starts, ends, strict=False)
    ]
    length = None
    if type(count._array) is np.ndarray and int(count._array) >= 0 and loop.test is None:
        length = int(count._array)
    return [*states, *[e.stacked(length) for e in ends[loop.states :]]]


class _Pullback:
    """How gradients are pulled through one loop.

    `saving` is the loop that also gives what the gradient needs as rows. `pieces` says where each
    thing is that the backward graph of the body keeps: ("fixed", invariant), ("stack", input
    stack) or ("saved", new stack). `active` numbers the results that get gradients: besides those
    that depend on the inputs, states that a loop of no turns would hand on.
    """

    def __init__(
        self,
        loop: Loop,
        rule: Vjp,
        wanted: tuple[bool, ...],
        count: Tensor,
        turn: Tensor,
        inputs: list[Tensor],
    ) -> None:
        self.loop = loop
        self.rule = rule
        self.count = count
        self.turn = turn
        self.inputs = inputs
        self.saving, self.pieces = _saving(loop, rule)
        self.replayable = replayable(self.saving.body, loop.states)
        more = len(self.replayable.recording.outputs) - len(self.saving.body.outputs)
        self.recording = self.saving._replace(
            body=self.replayable.recording, rows=self.saving.rows + more
        )
        self.moving = [k for k in range(loop.states) if wanted[k]]
        self.active = sorted({*rule.active, *self.moving})
        first = 1 + loop.states
        self.summed = [k for k in range(loop.invariants) if first + k in rule.reached]
        # Those of which each turn adds to a few rows along one axis.
        ends = dict(zip(rule.reached, rule.backward.outputs, strict=True))
        self.axes = {k: put_axis(rule.backward, ends[first + k]) for k in self.summed}
        start = first + loop.invariants
        stacks = len(inputs) - loop.states - loop.invariants
        self.rows = [k for k in range(stacks) if start + k in rule.reached]

    def run(self, forward: Result, seeds: list[Tensor | None]) -> list[SymbolicTensor | None]:
        """The gradients of the inputs of the loop, by a loop the other way."""
        loop, inputs = self.loop, self.inputs
        given = [s for s in seeds if s is not None]
        now = read_now(self.rule.variables)
        if followed([*inputs, *now, *given]):
            forward = self._again(forward)
        _, fixed, stacks = loop.parts(inputs)
        known = dict(zip(self.active, seeds, strict=True))
        starts = [
            zeros_like(forward.states[k]) if known[k] is None else known[k] for k in self.moving
        ]
        starts += [self._nothing(fixed[k], self.axes[k]) for k in self.summed]
        used = sorted({k for kind, k in self.pieces if kind == "stack"})
        ends = [k for k in self.rule.active if k >= loop.states]
        # Rows that no gradient reached are read for their shape.
        over = [forward.stacks[k - loop.states] if known[k] is None else known[k] for k in ends]
        reading = [*forward.stacks[loop.rows : self.saving.rows], *[stacks[k] for k in used], *over]
        missing = [k for k in ends if known[k] is None]
        fixed = [*fixed, *now]
        graph = self._body(starts, fixed, reading, used, ends, missing)
        back = Loop(None, graph, len(starts), len(fixed), len(self.rows), not loop.reverse)
        zero = wrap(np.zeros((), np.int32))
        # A count that is given stays known where the number of the last turn would not.
        turns = self.count if loop.test is None else forward.turns - self.turn
        result = emit_loop(back, turns, zero, [*starts, *fixed, *reading])
        return self._answer(result)

    def _again(self, forward: Result) -> Result:
        """The loop once more, this time with saved rows that somebody follows.

        Python is not asked again: what it said are rows of the first run, and so is whether there
        was another turn.
        """
        test, count = self.loop.test, self.count
        if test is not None and asks(test):
            test, count = None, forward.turns - self.turn
        body = quiet(self.replayable.replaying)
        again = self.saving._replace(test=None if test is None else quiet(test), body=body)
        recorded = [forward.stacks[k - self.loop.states] for k in self.replayable.recorded]
        return emit_loop(again, count, self.turn, [*self.inputs, *recorded])

    @staticmethod
    def _nothing(x: Tensor, axis: int | None) -> Tensor:
        return zeros_like(x) if axis is None else as_axis_rows(zeros_like(x), axis)

    def _body(
        self,
        starts: list[Tensor] | list[Tensor | None],
        fixed: list[Tensor],
        reading: list[Tensor],
        used: list[int],
        ends: list[int],
        missing: list[int],
    ) -> Graph:
        loop, rule = self.loop, self.rule
        here: Any = building()
        plain = [here.specs[here.value_of(x)] for x in (*starts, *fixed)]
        specs = [TURN, *plain, *[here.specs[here.value_of(x)].row() for x in reading]]
        saved = len(reading) - len(used) - len(ends)

        def body(t: SymbolicTensor, *xs: Any) -> list[Tensor]:
            carry, rest = xs[: len(starts)], xs[len(starts) :]
            consts, read = rest[: len(fixed)], rest[len(fixed) :]
            old, given = read[:saved], read[saved : saved + len(used)]
            over = dict(zip(ends, read[saved + len(used) :], strict=True))
            over = {k: zeros_like(g) if k in missing else g for k, g in over.items()}
            kept = [
                consts[k]
                if kind == "fixed"
                else old[k]
                if kind == "saved"
                else given[used.index(k)]
                for kind, k in self.pieces
            ]
            mine = [
                carry[self.moving.index(k)] if k < loop.states else over[k] for k in rule.active
            ]
            now = consts[len(fixed) - len(rule.variables) :]
            result = inline(rule.backward, [*kept, *now, *mine])
            return self._ends(carry, dict(zip(rule.reached, result, strict=True)))

        return make_graph(f"{loop.body.name}_backward", specs, body)

    def _ends(self, carry: tuple[SymbolicTensor, ...], grads: dict[int, Any]) -> list[Tensor]:
        """What one turn back gives: gradients of states, sums so far, gradients of rows."""
        first = 1 + self.loop.states
        out = []
        for i, k in enumerate(self.moving):
            g = grads.get(1 + k)
            out.append(zeros_like(carry[i]) if g is None else g)
        for i, k in enumerate(self.summed):
            before, axis = carry[len(self.moving) + i], self.axes[k]
            g = grads[first + k]
            out.append(
                gradient_values.accumulate(before, g) if axis is None else added(before, g, axis)
            )
        start = first + self.loop.invariants
        return out + [grads[start + k] for k in self.rows]

    def _answer(self, result: Result) -> list[SymbolicTensor | None]:
        answer: list[Any] = [None] * len(self.inputs)
        for i, k in enumerate(self.moving):
            answer[k] = result.states[i]
        for i, k in enumerate(self.summed):
            g, axis = result.states[len(self.moving) + i], self.axes[k]
            answer[self.loop.states + k] = g if axis is None else from_axis_rows(g, axis)
        start = self.loop.states + self.loop.invariants
        for i, k in enumerate(self.rows):
            answer[start + k] = fit_rows(result.stacks[i], self.inputs[start + k])
        return answer


def _saving(loop: Loop, rule: Vjp) -> tuple[Loop, list[tuple[str, int]]]:
    """The loop that also gives what the gradient needs as rows, and where each piece is."""
    body = rule.forward
    extra: list[int] = []
    pieces: list[tuple[str, int]] = []
    count = len(loop.body.outputs)
    first_row = 1 + loop.states + loop.invariants
    for is_input, k in rule.kept:
        if is_input and 1 + loop.states <= k < first_row:
            pieces.append(("fixed", k - 1 - loop.states))
        elif is_input and k >= first_row:
            pieces.append(("stack", k - first_row))
        else:
            value = body.inputs[k] if is_input else body.outputs[count + k]
            if value not in extra:
                extra.append(value)
            pieces.append(("saved", extra.index(value)))
    saving = body.copy()
    saving.outputs = [*body.outputs[:count], *extra]
    new = Loop(
        loop.test, saving, loop.states, loop.invariants, loop.rows + len(extra), loop.reverse
    )
    return new, pieces


def _replay(node: Node, given: list[Tensor], attrs: dict[str, Any]) -> list[SymbolicTensor]:
    result = emit_loop(Loop(**attrs), given[0], given[1], given[2:])
    return [result.turns, *result.states, *result.stacks]


REPLAYS.fill(__name__, {LOOP: _replay})
