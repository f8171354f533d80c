"""How both engines run loops.

A stack is an array with a row per turn. On the host its rows are gathered in a list and joined at
the end; in XLA it is a buffer with a fixed capacity: the number of turns where it is known, else
what has sufficed so far. If a loop overflows its buffer, the step reports the size it needs, is
recompiled with a larger buffer, and rerun (see `xla.run`). Where the loop may make fewer turns than
the capacity, the stack is `Padded`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import describe
from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import NotFixed, is_symbol
from wengert.core.padded_stacks import Padded, rows_unknown
from wengert.core.types import JaxArray
from wengert.engines import host
from wengert.engines.buffer_overflow import FIRST_CAPACITY
from wengert.engines.empty_loops import empty_stacks
from wengert.engines.lower import LOWERINGS
from wengert.engines.padded_stacks import row_form, row_of, stack_of
from wengert.engines.subgraph_lowering import Inside, as_arrays, report
from wengert.engines.trip_counts import counters, turns
from wengert.graph.ir import Graph, Node
from wengert.ops.nodes import LOOP
from wengert.ops.row_list import joined, readable, row
from wengert.ops.rows import Blank

if TYPE_CHECKING:
    from wengert.engines.lower import Lowering
    from wengert.ops.row_list import Rows


# Room for all the turns that a loop may take is made at once only up to this many bytes.
_MOST_BYTES = 1 << 26


def _parts(node: Node, given: Any) -> tuple[Any, Any, list[Any], list[Any], list[Any]]:
    count, turn, *rest = given
    n, m = node.attrs["states"], node.attrs["invariants"]
    return count, turn, rest[:n], rest[n : n + m], rest[n + m :]


def _no_rows(
    node: Node, given: list[JaxArray | np.ndarray] | tuple[np.ndarray | Rows, ...]
) -> list[Any]:
    """Shapes and dtypes of the stacks that a loop without turns leaves."""
    attrs = node.attrs
    fixed = range(1 + attrs["states"], 1 + attrs["states"] + attrs["invariants"])
    rows = range(fixed.stop, len(given) - 1)
    return empty_stacks(attrs["body"], given[1:], rows, fixed, attrs["states"])


def _run_loop(graph: Graph, node: Node) -> Any:
    attrs = node.attrs
    test = None if attrs["test"] is None else host.prepared(attrs["test"])
    body = host.prepared(attrs["body"])
    states, rows, reverse = attrs["states"], attrs["rows"], attrs["reverse"]
    specs = [graph.specs[v] for v in node.outputs[1 + states :]]

    def run(*given: Any) -> Any:
        count, turn, state, fixed, stacks = _parts(node, given)
        stacks = [readable(s) for s in stacks]
        most = int(count)
        made: list[list[Any]] = [[] for _ in range(rows)]
        t = first = int(turn)
        while most < 0 or t - first < most:
            now = np.asarray(t, np.int32)
            if test is not None and not test(now, *state, *fixed)[0]:
                break
            at = most - 1 - (t - first) if reverse else t - first
            result = body(now, *state, *fixed, *[row(s, at) for s in stacks])
            state = result[:states]
            for k in range(rows):
                made[k].append(result[states + k])
            t += 1
        if reverse:
            for rows_made in made:
                rows_made.reverse()
        if t == first:
            stacked: list[Any] = [np.zeros(*like) for like in _no_rows(node, given)]
        else:
            stacked = [joined(m, s) for m, s in zip(made, specs, strict=True)]
        return [np.asarray(t, np.int32), *state, *stacked]

    return run


def _lower_loop(graph: Graph, node: Node, given: Any, attrs: Any, low: Lowering) -> Any:
    count, turn, state, fixed, stacks = _parts(node, given)
    states = attrs["states"]
    if any(type(x) is Padded for x in state):
        raise rows_unknown()
    room, exact = _room(node, given, attrs["length"], stacks)
    if stacks and not room:
        # No turn, and a row of these sizes may not make sense.
        empty = [lax.full(shape, 0, dtype) for shape, dtype in _no_rows(node, given)]
        return [jax.numpy.asarray(turn), *as_arrays(state), *empty]
    kept = {1 + states + k: x for k, x in enumerate(fixed)}
    inside = Inside(low, attrs["body"], kept)
    inside.ranges = counters(node, given)
    turn, stacks = jax.numpy.asarray(turn), [row_form(s) for s in stacks]
    rows = [row_of(jax.tree.map(_row, s)) for s in stacks]
    state = as_arrays(_filled(inside, turn, state, rows))
    shapes, _, wishes = inside.shapes(turn, *state, *rows)
    _check_state(state, shapes)
    key = node.outputs[0]
    if room is not None and not stacks and not exact:
        room = room if room * sum(map(_bytes, shapes[states:])) <= _MOST_BYTES else None
    asks = room is None
    room = low.capacities.get(key, FIRST_CAPACITY) if room is None else room
    new = lambda s: lax.full((room, *s.shape), 0, s.dtype)
    buffers = [jax.tree.map(new, s) for s in shapes[states:]]
    if not room and (buffers or stacks):
        return [turn, *state, *buffers]  # it has no turns, and JAX no row to write
    loop = _Turning(inside, _test(low, attrs, kept, turn, state), turn, count)

    def step(t: JaxArray, now: list[JaxArray], made: list[JaxArray]) -> Any:
        at = t - turn
        at = count - np.int32(1) - at if attrs["reverse"] else at
        cut = lambda s: lax.dynamic_index_in_dim(s, at, 0, keepdims=False)
        read = [row_of(jax.tree.map(cut, s)) for s in stacks]
        result, failed, more = inside.run(t, *now, *read)
        write = lambda b, r: lax.dynamic_update_index_in_dim(b, r, at, 0)
        made = jax.tree.map(write, made, result[states:])
        return result[:states], made, failed, more

    t, last, made, bad, wanted = loop.run(step, state, buffers, len(wishes))
    report(low, [inside, *loop.tests], bad, wanted)
    if buffers and asks:
        low.wanted.append((t - turn, key, room))
    written = None if exact else t - turn
    made = [stack_of(b, written) for b in made]
    if exact and not is_symbol(room) and isinstance(given[1], np.ndarray):
        t = np.asarray(given[1] + room, np.int32)  # known, so that the loop back has its length
    return [t, *last, *made]


def _room(node: Node, given: Any, length: Any, stacks: list[Any]) -> tuple[Any, bool]:
    """The rows that the stacks of a loop need at most, and whether it makes just so many turns.

    `length` is the count as a number or a symbol, where it is one.
    """
    if is_symbol(length) and node.attrs["test"] is None:
        return length, True
    most, exact = turns(node, given)
    if exact or not stacks:
        return most, exact
    rows = [s.array.shape[0] if type(s) is Padded else s.shape[0] for s in stacks]
    return rows[0] if any(map(is_symbol, rows)) else min(rows), False


class _Turning:
    """A loop of JAX. A test that may fail itself is worked out beside the body, not between."""

    def __init__(
        self, inside: Inside, test: Inside | None, turn: JaxArray, count: JaxArray | np.ndarray
    ) -> None:
        self.test = test
        self.turn = turn
        self.count = count
        self.counted = not isinstance(count, np.ndarray) or int(count) >= 0
        self.apart = test is not None and (test.checks or bool(test.keys))
        self.tests = [test] if test is not None and self.apart else []
        self.checks = inside.checks or self.apart

    def run(
        self, step: Any, state: list[JaxArray], buffers: list[JaxArray], wishes: int
    ) -> tuple[JaxArray | list[JaxArray], ...]:
        """Turns until the count is reached, the test says so, or a check has failed."""
        none = [lax.full((), 0, np.int32) for _ in range(wishes)]
        verdict, wrong, asked = self._ask(self.turn, state)

        def body(carry: Any) -> tuple[JaxArray | list[JaxArray], ...]:
            t, now, made, bad, wanted, _, asked = carry
            now, made, failed, more = step(t, now, made)
            bad = bad | failed if self.checks else bad
            wanted = [lax.max(a, b) for a, b in zip(wanted, more, strict=True)]
            t = t + np.int32(1)
            verdict, wrong, again = self._ask(t, now)
            asked = [lax.max(a, b) for a, b in zip(asked, again, strict=True)]
            return t, now, made, bad | wrong if self.apart else bad, wanted, verdict, asked

        def going(carry: tuple[JaxArray | list[JaxArray], ...]) -> JaxArray:
            t, now, _, bad, _, verdict, _ = carry
            more = self._within(t)
            if self.test is not None and not self.apart:
                verdict = self.test.run(t, *now)[0][0]
            more = lax.bitwise_and(more, verdict) if self.test is not None else more
            return lax.bitwise_and(more, lax.bitwise_not(bad)) if self.checks else more

        bad = wrong if self.apart else lax.full((), False, bool)
        start = (self.turn, state, buffers, bad, none, verdict, asked)
        t, last, made, bad, wanted, _, asked = lax.while_loop(going, body, start)
        return t, last, made, bad, [*wanted, *asked]

    def _within(self, t: Any) -> JaxArray:
        return (t - self.turn) < self.count if self.counted else lax.full((), True, bool)

    def _ask(self, t: JaxArray, now: list[JaxArray]) -> Any:
        """The verdict of a test that is worked out apart, and whether it failed."""
        if not self.apart:
            return lax.full((), True, bool), lax.full((), False, bool), []
        assert self.test is not None, "only a test is worked out apart"
        (verdict,), failed, wanted = self.test.run(t, *now)
        return verdict, lax.bitwise_and(failed, self._within(t)), wanted


def _test(
    low: Lowering,
    attrs: Any,
    kept: dict[int, JaxArray | np.ndarray],
    turn: JaxArray,
    state: list[JaxArray],
) -> Inside | None:
    if attrs["test"] is None:
        return None
    result = Inside(low, attrs["test"], kept)
    result.shapes(turn, *state)
    return result


def _row(stack: JaxArray | np.ndarray) -> Any:
    return jax.ShapeDtypeStruct(stack.shape[1:], stack.dtype)


def _bytes(row: Any) -> int:
    return sum(math.prod(s.shape) * s.dtype.itemsize for s in jax.tree.leaves(row))


def _filled(
    inside: Inside, turn: JaxArray, state: Any, rows: list[Any]
) -> list[JaxArray | np.ndarray]:
    """States with buffers in place of blank ones, of the shape that the first turn gives them."""
    blanks = {1 + k: x for k, x in enumerate(state) if isinstance(x, Blank)}
    if not blanks:
        return state
    probe = Inside(inside.low, inside.graph, {**inside.kept, **blanks})
    given = as_arrays([x for x in state if not isinstance(x, Blank)])
    shapes = probe.shapes(turn, *given, *rows)[0]
    if any(k < len(state) for k in probe.left):
        raise NotFixed("a TensorArray is carried through a loop that never writes it")
    return [
        x.buffer(shapes[k].shape[1:]) if isinstance(x, Blank) else x for k, x in enumerate(state)
    ]


def _check_state(state: list[JaxArray], shapes: Any) -> None:
    for k, (old, new) in enumerate(zip(state, shapes, strict=False)):
        if type(new) is Padded:
            raise rows_unknown()
        if old.shape != new.shape or old.dtype != new.dtype:
            raise NotFixed(
                f"loop variable {k} must keep its shape from turn to turn; got {describe(old)} and "
                f"{describe(new)}"
            )


host.RUNNERS.fill(__name__, {LOOP: _run_loop})
LOWERINGS.fill(__name__, {LOOP: _lower_loop})
