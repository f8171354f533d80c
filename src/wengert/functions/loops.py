"""Loops as nodes. The gradient of a loop is a loop the other way, over what the first one saved.

The saved values of each turn are rows of stacks; invariants are not saved but used again. Since
the gradient is a loop of the same kind, it has gradients of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.core.apply import wrap
from wengert.core.context import get_state
from wengert.core.dtypes import INEXACT, int32
from wengert.core.op import Spec
from wengert.core.shapes import join
from wengert.core.symbolic import symbolic
from wengert.functions.calls import followers, gradient_op, inline
from wengert.functions.inner import make_graph
from wengert.functions.replay import REPLAYS
from wengert.functions.vjp import Vjp, vjp
from wengert.graph.ir import Graph, building
from wengert.ops.create import zeros_like
from wengert.ops.nodes import LOOP
from wengert.tape import backward

TURN = Spec((), int32)
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

    def parts(self, values: Any) -> tuple[Any, Any, Any]:
        """States, invariants and stacks out of one list."""
        n, m = self.states, self.invariants
        return values[:n], values[n : n + m], values[n + m :]


class Result(NamedTuple):
    """What a loop leaves: the number of the last turn, the last states, the stacks of its rows."""

    turns: Any
    states: list[Any]
    stacks: list[Any]


def emit_loop(loop: Loop, count: Any, turn: Any, inputs: list[Any]) -> Result:
    """Adds a loop to the graph being built and tells the tapes.

    `inputs` are the states at the start, the invariants, and stacks with a row for each turn.
    """
    listeners = followers(inputs)
    wanted = _wanted(loop, listeners, inputs) if listeners else ()
    rule = vjp(loop.body, (False, *wanted)) if any(wanted) else None
    if rule is None or not rule.active:
        return _node(loop, count, turn, inputs)
    saving, kept = _saving(loop, rule)
    found = _node(saving, count, turn, inputs)
    stacks, saved = found.stacks[: loop.rows], found.stacks[loop.rows :]
    outs = [*found.states, *stacks]
    shown = tuple([outs[k] for k in rule.active])

    def gradients(g: Any) -> list[Any]:
        seeds = [backward.dense(x) for x in (g if isinstance(g, tuple) else (g,))]
        return _pull(loop, saving, rule, kept, count, turn, inputs, found, saved, wanted, seeds)

    op = gradient_op("while_loop", gradients, len(shown))
    state: Any = get_state()
    for one in listeners:
        one.record(op, tuple(inputs), shown, {}, state.site)
    return Result(found.turns, found.states, stacks)


def _wanted(loop: Loop, listeners: list[Any], inputs: list[Any]) -> tuple[bool, ...]:
    """Which inputs of the body carry gradients: those followed, and states that come to depend."""
    wanted = [
        x._array.dtype.num in INEXACT and any(one.follows((x,)) for one in listeners)
        for x in inputs
    ]
    while any(wanted):
        active = vjp(loop.body, (False, *wanted)).active
        more = [k for k in active if k < loop.states and not wanted[k]]
        if not more:
            break
        for k in more:
            wanted[k] = True
    return tuple(wanted)


def _node(loop: Loop, count: Any, turn: Any, inputs: list[Any]) -> Result:
    here: Any = building()
    state: Any = get_state()
    values = tuple([here.value_of(x) for x in (count, turn, *inputs)])
    attrs = {
        "test": loop.test,
        "body": loop.body,
        "states": loop.states,
        "invariants": loop.invariants,
        "rows": loop.rows,
        "reverse": loop.reverse,
    }
    specs = [TURN, *_specs(loop, [here.specs[v] for v in values[2:]], count)]
    made = [
        symbolic(here, here.specs[v], state.site, v)
        for v in here.emit(LOOP, values, attrs, specs, state.site)
    ]
    n = 1 + loop.states
    return Result(made[0], made[1:n], made[n:])


def _specs(loop: Loop, given: list[Spec], count: Any) -> list[Spec]:
    body = loop.body
    ends = [body.specs[v] for v in body.outputs]
    starts = given[: loop.states]
    params = [body.specs[v] for v in body.inputs[1 : 1 + loop.states]]
    states = [
        Spec(e.shape if p.shape is None and e.shape is not None else join(s.shape, e.shape), s.dtype)
        for s, e, p in zip(starts, ends, params, strict=False)
    ]
    length = None
    if type(count._array) is np.ndarray and int(count._array) >= 0 and loop.test is None:
        length = int(count._array)
    rows = [
        Spec(None if e.shape is None else (length, *e.shape), e.dtype) for e in ends[loop.states :]
    ]
    return [*states, *rows]


def _saving(loop: Loop, rule: Vjp) -> tuple[Loop, list[tuple[str, int]]]:
    """The loop that also gives what the gradient needs as rows, and where each piece is.

    A piece is ("fixed", invariant), ("stack", input stack) or ("saved", new stack).
    """
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


def _pull(
    loop: Loop,
    saving: Loop,
    rule: Vjp,
    pieces: list[tuple[str, int]],
    count: Any,
    turn: Any,
    inputs: list[Any],
    found: Result,
    saved: list[Any],
    wanted: tuple[bool, ...],
    seeds: list[Any],
) -> list[Any]:
    """The gradients of the inputs of a loop, by a loop the other way."""
    if followers([*inputs, *seeds]):
        # Once more, this time as a loop whose saved rows are results that somebody follows.
        found = emit_loop(saving, count, turn, inputs)
        saved = found.stacks[loop.rows :]
    states, fixed, stacks = loop.parts(inputs)
    known = dict(zip(rule.active, seeds, strict=True))
    moving = [k for k in range(loop.states) if wanted[k]]
    summed = [k for k in range(loop.invariants) if wanted[loop.states + k]]
    start = loop.states + loop.invariants
    rows = [k for k in range(len(stacks)) if wanted[start + k]]
    starts = [known[k] if k in known else zeros_like(found.states[k]) for k in moving]
    starts += [zeros_like(fixed[k]) for k in summed]
    row_seeds = [k for k in rule.active if k >= loop.states]
    used = sorted({k for kind, k in pieces if kind == "stack"})
    reading = [*saved, *[stacks[k] for k in used], *[known[k] for k in row_seeds]]
    here: Any = building()
    plain = [here.specs[here.value_of(x)] for x in (*starts, *fixed)]
    specs = [TURN, *plain, *[_row(here.specs[here.value_of(x)]) for x in reading]]

    def body(t: Any, *xs: Any) -> list[Any]:
        carry, rest = xs[: len(starts)], xs[len(starts) :]
        consts, read = rest[: len(fixed)], rest[len(fixed) :]
        old, given, gs = (
            read[: len(saved)],
            read[len(saved) : len(saved) + len(used)],
            read[len(saved) + len(used) :],
        )
        kept = [
            consts[k] if kind == "fixed" else old[k] if kind == "saved" else given[used.index(k)]
            for kind, k in pieces
        ]
        mine = [
            carry[moving.index(k)] if k < loop.states else gs[row_seeds.index(k)]
            for k in rule.active
        ]
        grads = dict(zip(rule.found, inline(rule.backward, [*kept, *mine]), strict=True))
        news = [grads.get(1 + k) for k in moving]
        out = [zeros_like(carry[i]) if g is None else g for i, g in enumerate(news)]
        for i, k in enumerate(summed):
            g = grads.get(1 + loop.states + k)
            before = carry[len(moving) + i]
            out.append(before if g is None else backward.accumulate(before, g))
        for k in rows:
            g = grads.get(1 + start + k)
            out.append(zeros_like(given[used.index(k)]) if g is None else g)
        return out

    if any(grads is None for grads in seeds):
        raise AssertionError("a seed is missing")
    graph = make_graph(f"{loop.body.name}_backward", specs, body)
    back = Loop(None, graph, len(starts), len(fixed), len(rows), not loop.reverse)
    turns = found.turns - turn
    zero = wrap(np.zeros((), np.int32))
    result = emit_loop(back, turns, zero, [*starts, *fixed, *reading])
    answer: list[Any] = [None] * len(inputs)
    for i, k in enumerate(moving):
        answer[k] = result.states[i]
    for i, k in enumerate(summed):
        answer[loop.states + k] = result.states[len(moving) + i]
    for i, k in enumerate(rows):
        answer[start + k] = result.stacks[i]
    return answer


def _row(spec: Spec) -> Spec:
    return Spec(None if spec.shape is None else spec.shape[1:], spec.dtype)


def _replay(node: Any, given: list[Any], attrs: dict[str, Any]) -> list[Any]:
    loop = Loop(
        attrs["test"], attrs["body"], attrs["states"], attrs["invariants"], attrs["rows"],
        attrs["reverse"],
    )  # fmt: skip
    found = emit_loop(loop, given[0], given[1], given[2:])
    return [found.turns, *found.states, *found.stacks]


REPLAYS["loop"] = _replay
