"""How both engines run calls, branches and loops.

A stack is an array with a row per turn. On the host its rows are gathered in a list and joined at
the end; in XLA it is a buffer with room for all turns where their number is known, else for as
many as were wanted so far, and a wish for more makes the step run again (see `xla.run`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import at_site, invalid
from wengert.core.lazy import jax, lax
from wengert.core.lowering import NotFixed, fail_if, gathering
from wengert.engines import choice, host, shorter, undo, xla
from wengert.engines.islands import with_islands
from wengert.engines.trips import most_turns
from wengert.graph.ir import Graph, Node
from wengert.ops.row_list import joined
from wengert.ops.rows import Blank

assert shorter, "it fills in the host engine's shorter kernels"

# Calls.


def _run_call(graph: Graph, node: Node) -> Any:
    inner: Graph = node.attrs["graph"]
    if node.attrs.get("jit") == "auto":
        return lambda *arrays: _chosen(inner, list(arrays))
    if node.attrs.get("jit"):
        return lambda *arrays: [np.asarray(x) for x in _compiled(inner, list(arrays))]
    return host.prepared(inner)


def _compiled(inner: Graph, arrays: list[Any]) -> list[Any]:
    results, failed = xla.run(inner, arrays)
    return host.run(inner, arrays) if failed else results


def _chosen(inner: Graph, arrays: list[Any]) -> list[Any]:
    """Runs a part of a host graph on the engine that suits it."""
    wish = choice.forced()
    if wish == "host" or inner.cache.get("not_fixed"):
        return host.run(inner, arrays)
    if wish == "xla" or choice.chooses_xla(inner, arrays):
        try:
            return [np.asarray(x) for x in _compiled(inner, arrays)]
        except NotFixed:
            inner.cache["not_fixed"] = True
    return host.run(inner, arrays)


def _lower_call(graph: Graph, node: Node, given: Any, attrs: Any, low: Any) -> Any:
    return xla.lower_graph(attrs["graph"], given, low)


# Branches.


def _run_switch(graph: Graph, node: Node) -> Any:
    branches = [host.prepared(b) for b in node.attrs["branches"]]
    own = node.attrs["own"]
    common = len(node.outputs) - sum(own)
    last = len(branches) - 1

    def run(index: Any, *arrays: Any) -> Any:
        i = int(index)
        i = i if 0 <= i <= last else last
        found = branches[i](*arrays)
        if common == len(node.outputs):
            return found
        # What only the others give stays open; nobody reads it on this way.
        before, after = sum(own[:i]), sum(own[i + 1 :])
        return [*found[:common], *[_NONE] * before, *found[common:], *[_NONE] * after]

    return run


_NONE = np.zeros(())


def _lower_switch(graph: Graph, node: Node, given: Any, attrs: Any, low: Any) -> Any:
    index, *arrays = given
    branches = attrs["branches"]
    last = len(branches) - 1
    own = attrs["own"]
    common = len(node.outputs) - sum(own)
    index = lax.convert_element_type(index, np.int32)
    index = lax.select((index < 0) | (index > last), np.int32(last), index)
    blanks = {k: x for k, x in enumerate(arrays) if isinstance(x, Blank)}
    parts = [_Inside(low, b, blanks) for b in branches]
    arrays = _arrays([x for x in arrays if not isinstance(x, Blank)])
    shapes = [jax.eval_shape(p.run, *arrays) for p in parts]
    if any(p.left for p in parts):
        raise NotFixed("a TensorArray is written in one branch only, before its rows have a shape")
    _same_shapes(node, [s[0][:common] for s in shapes])
    counts = [len(p.keys) for p in parts]

    def branch(k: int) -> Any:
        # Each branch also answers for the wishes of the others.
        def call(*xs: Any) -> Any:
            results, bad, wanted = parts[k].run(*xs)
            none = lax.full((), 0, np.int32)
            before, after = sum(counts[:k]), sum(counts[k + 1 :])
            filled = results[:common]
            for b, (found, _, _) in enumerate(shapes):
                mine = results[common:] if b == k else [
                    lax.full(s.shape, 0, s.dtype) for s in found[common:]
                ]
                filled += mine
            return filled, bad, [none] * before + wanted + [none] * after

        return call

    results, bad, wanted = lax.switch(index, [branch(k) for k in range(len(parts))], *arrays)
    _report(low, parts, bad, wanted)
    return results


class _Inside:
    """A branch or body: its checks and wishes for room are results that it hands out.

    Buffers that are still blank cannot pass through JAX; they are put back where they belong.
    """

    def __init__(self, low: Any, graph: Graph, blanks: dict[int, Blank] | None = None) -> None:
        self.low = low
        self.graph = graph
        self.blanks = blanks or {}
        self.keys: list[tuple[int, int]] = []
        self.checks = False
        self.left: list[int] = []  # results that are still blank

    def run(self, *given: Any) -> tuple[list[Any], Any, list[Any]]:
        arrays = list(given)
        for k, blank in sorted(self.blanks.items()):
            arrays.insert(k, blank)
        outer, self.low.wanted = self.low.wanted, []
        try:
            with gathering() as checks:
                results = xla.lower_graph(self.graph, arrays, self.low)
            wanted = self.low.wanted
        finally:
            self.low.wanted = outer
        self.keys = [(key, room) for _, key, room in wanted]
        self.checks = bool(checks)
        self.left = [k for k, x in enumerate(results) if isinstance(x, Blank)]
        results = [lax.full((), 0, x.dtype) if isinstance(x, Blank) else x for x in results]
        return _arrays(results), xla.either([xla.anywhere(c) for c in checks]), [
            w for w, _, _ in wanted
        ]


def _arrays(results: Any) -> list[Any]:
    return [jax.numpy.asarray(x) if isinstance(x, np.ndarray | np.generic) else x for x in results]


def _same_shapes(node: Node, found: list[Any]) -> None:
    for other in found[1:]:
        for k, (a, b) in enumerate(zip(found[0], other, strict=True)):
            if a.shape != b.shape or a.dtype != b.dtype:
                rule = f"under XLA all branches must give result {k} the same shape and dtype"
                raise at_site(invalid("cond", rule, a, b), node.site)


def _report(low: Any, parts: list[_Inside], bad: Any, wanted: Any) -> None:
    if any(p.checks for p in parts):
        fail_if(lambda: bad)
    keys = [k for p in parts for k in p.keys]
    low.wanted.extend((w, key, room) for w, (key, room) in zip(wanted, keys, strict=True))


# Loops.


def _parts(node: Node, given: Any) -> tuple[Any, Any, list[Any], list[Any], list[Any]]:
    count, turn, *rest = given
    n, m = node.attrs["states"], node.attrs["invariants"]
    return count, turn, rest[:n], rest[n : n + m], rest[n + m :]


def _run_loop(graph: Graph, node: Node) -> Any:
    attrs = node.attrs
    test = None if attrs["test"] is None else host.prepared(attrs["test"])
    body = host.prepared(attrs["body"])
    states, rows = attrs["states"], attrs["rows"]
    specs = [graph.specs[v] for v in node.outputs[1 + states :]]

    def run(*given: Any) -> Any:
        count, turn, state, fixed, stacks = _parts(node, given)
        most = int(count)
        made: list[list[Any]] = [[] for _ in range(rows)]
        t = first = int(turn)
        while most < 0 or t - first < most:
            now = np.asarray(t, np.int32)
            if test is not None and not test(now, *state, *fixed)[0]:
                break
            at = most - 1 - (t - first) if attrs["reverse"] else t - first
            found = body(now, *state, *fixed, *[s[at] for s in stacks])
            state = found[:states]
            for k in range(rows):
                made[k].append(found[states + k])
            t += 1
        if attrs["reverse"]:
            for rows_made in made:
                rows_made.reverse()
        stacked = [joined(m, s) for m, s in zip(made, specs, strict=True)]
        return [np.asarray(t, np.int32), *state, *stacked]

    return run


def _lower_loop(graph: Graph, node: Node, given: Any, attrs: Any, low: Any) -> Any:
    count, turn, state, fixed, stacks = _parts(node, given)
    counted = not isinstance(count, np.ndarray) or int(count) >= 0
    most = most_turns(node, given)
    states, test = attrs["states"], attrs["test"]
    inside = _Inside(low, attrs["body"])
    turn, state = jax.numpy.asarray(turn), _arrays(_filled(inside, turn, state, fixed, stacks))
    rows = [jax.ShapeDtypeStruct(s.shape[1:], s.dtype) for s in stacks]
    shapes, _, wishes = jax.eval_shape(inside.run, turn, *state, *fixed, *rows)
    _check_state(node, state, shapes)
    length = stacks[0].shape[0] if stacks else most
    key = node.outputs[0]
    room = low.room.get(key, xla.LEAST) if length is None else length
    checks = inside.checks
    buffers = [lax.full((room, *s.shape), 0, s.dtype) for s in shapes[states:]]

    def body(carry: Any) -> Any:
        t, now, made, bad, wanted = carry
        at = t - turn
        at = count - np.int32(1) - at if attrs["reverse"] else at
        read = [lax.dynamic_index_in_dim(s, at, 0, keepdims=False) for s in stacks]
        found, failed, more = inside.run(t, *now, *fixed, *read)
        made = [
            lax.dynamic_update_index_in_dim(b, r, at, 0)
            for b, r in zip(made, found[states:], strict=True)
        ]
        wanted = [lax.max(a, b) for a, b in zip(wanted, more, strict=True)]
        return t + np.int32(1), found[:states], made, bad | failed if checks else bad, wanted

    def going(carry: Any) -> Any:
        t, now, _, bad, _ = carry
        more = (t - turn) < count if counted else None
        if test is not None:
            with gathering():
                verdict = xla.lower_graph(test, [t, *now, *fixed], low)[0]
            more = verdict if more is None else lax.bitwise_and(more, verdict)
        return lax.bitwise_and(more, lax.bitwise_not(bad)) if checks else more

    none = [lax.full((), 0, np.int32) for _ in wishes]
    start = (turn, state, buffers, lax.full((), False, bool), none)
    t, last, made, bad, wanted = lax.while_loop(going, body, start)
    _report(low, [inside], bad, wanted)
    if buffers and length is None:
        low.wanted.append((t - turn, key, room))
    return [t, *last, *made]


def _filled(inside: _Inside, turn: Any, state: Any, fixed: Any, stacks: Any) -> list[Any]:
    """States with buffers in place of blank ones, of the shape that the first turn gives them."""
    blanks = {1 + k: x for k, x in enumerate(state) if isinstance(x, Blank)}
    if not blanks:
        return state
    probe = _Inside(inside.low, inside.graph, blanks)
    rows = [jax.ShapeDtypeStruct(s.shape[1:], s.dtype) for s in stacks]
    given = [x for x in state if not isinstance(x, Blank)]
    shapes = jax.eval_shape(probe.run, turn, *_arrays(given), *fixed, *rows)[0]
    if probe.left:
        raise NotFixed("a TensorArray is carried through a loop that never writes it")
    return [
        x.buffer(shapes[k].shape[1:]) if isinstance(x, Blank) else x for k, x in enumerate(state)
    ]


def _check_state(node: Node, state: list[Any], found: Any) -> None:
    for k, (old, new) in enumerate(zip(state, found, strict=False)):
        if old.shape != new.shape or old.dtype != new.dtype:
            rule = f"under XLA loop variable {k} must keep its shape and dtype from turn to turn"
            raise at_site(invalid("while_loop", rule, old, new), node.site)


# Batches.


def _run_batched(graph: Graph, node: Node) -> Any:
    inner: Graph = node.attrs["graph"]
    axes = node.attrs["axes"]
    run = host.prepared(inner)

    def batched(*arrays: Any) -> Any:
        count = next(len(x) for x, a in zip(arrays, axes, strict=True) if a == 0)
        if not count:
            specs = [inner.specs[v] for v in inner.outputs]
            return [np.zeros((0, *[d or 0 for d in s.shape or ()]), s.dtype.np) for s in specs]
        rows = [
            run(*[x[i] if a == 0 else x for x, a in zip(arrays, axes, strict=True)])
            for i in range(count)
        ]
        return [np.stack(column) for column in zip(*rows, strict=True)]

    return batched


def _lower_batched(graph: Graph, node: Node, given: Any, attrs: Any, low: Any) -> Any:
    inside = _Inside(low, attrs["graph"])
    found = jax.vmap(inside.run, attrs["axes"], 0)(*_arrays(given))
    results, bad, wanted = found
    if inside.checks:
        fail_if(lambda: bad)
    low.wanted.extend(
        (lax.reduce_max(w, (0,)), key, room)
        for w, (key, room) in zip(wanted, inside.keys, strict=True)
    )
    return results


# Host calls.


def _run_host_call(graph: Graph, node: Node) -> Any:
    return node.attrs["function"]


def _run_flush(graph: Graph, node: Node) -> Any:
    variables = node.attrs["variables"]

    def flush(*arrays: Any) -> Any:
        for variable, array in zip(variables, arrays, strict=True):
            undo.note(variable)
            variable._array = np.asarray(array)
        return ()

    return flush


def _run_reload(graph: Graph, node: Node) -> Any:
    variable = node.attrs["variable"]
    return lambda: (variable._array,)


host.RUNNERS.update(
    batched=_run_batched, flush=_run_flush, host_call=_run_host_call, reload=_run_reload
)
xla.LOWERINGS.update(batched=_lower_batched)
host.RUNNERS.update(call=_run_call, switch=_run_switch, loop=_run_loop)
xla.LOWERINGS.update(call=_lower_call, switch=_lower_switch, loop=_lower_loop)
host.PREPARE[0] = with_islands
