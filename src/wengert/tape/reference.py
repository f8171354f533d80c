"""The reference backward loop: entry by entry, each rule through the door.

`walk` defines what a gradient is. It serves graphs, complex numbers and tapes whose gradients are
recorded themselves; `backward` computes the same faster where gradients may be plain arrays, and
`tests/test_backward.py` holds the two equal, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wengert.core.context import State, _state, executing_eagerly
from wengert.core.failures import failures
from wengert.core.hooks import Hook
from wengert.core.types import IndexedSlices, Tensor
from wengert.tape.entries import Entry, explain, full_form
from wengert.tape.gradient_values import (
    Grads,
    accumulate,
    checked,
    conjugate,
    dense,
    is_complex,
    keeps_rows,
    tensor,
    together,
    unbroadcast,
)

# Puts off an entry of a trace whose rules need a rank that is not known yet; else raises the error.
PUT_OFF: Hook[Callable[..., list[tuple[int, Any]]]] = Hook(
    "put off a rule", "wengert.functions.deferred"
)


def walk(
    steps: Iterator[Entry], grads: Grads, sources: set[int], needed: set[int] | None, state: State,
    complex_numbers: bool,
) -> None:  # fmt: skip
    """Carries `grads` (by tensor id) from the targets back to the sources."""
    entry: Any = None
    try:
        for entry in steps:
            step(entry, grads, sources, needed, state, complex_numbers)
    except failures() as error:
        explain(error, entry)
        raise


def step(
    entry: Entry, grads: Grads, sources: set[int], needed: set[int] | None, state: State,
    complex_numbers: bool,
) -> None:  # fmt: skip
    """Takes the gradient of an entry's results and adds what its rules give to its inputs'."""
    op, _, in_ids, out_ids, *_, site, specs, _ = entry = full_form(entry)
    ids = [out_ids] if specs is None else out_ids
    given: Any = [grads.get(i) if i in sources else grads.pop(i, None) for i in ids]
    given = given[0] if specs is None else together(given, specs, op.partial)
    if given is None:
        return
    state.site = site
    pulled = pull(entry, tensor(given, site), needed, complex_numbers)
    _state.set(state)  # a user's rule may have opened tapes, which leaves another state
    for i, g in pulled:
        key = in_ids[i]
        grads[key] = accumulate(grads[key], g) if key in grads else g


def _pull(
    entry: Entry, g: Any, needed: set[int] | None, complex_numbers: bool
) -> list[tuple[int, Any]]:
    """Runs the rules of one entry: undoes broadcasting, keeps rows sparse, conjugates."""
    op, plan, in_ids, _, inputs, outs, shapes, attrs, *_ = entry
    needs = [n and (needed is None or i in needed) for n, i in zip(plan.needs, in_ids, strict=True)]
    if True not in needs:
        return []
    rows = g if type(g) is IndexedSlices and keeps_rows(op, plan, inputs) else None
    g = dense(g) if rows is None else rows.values
    conjugated = complex_numbers and op.holomorphic and is_complex(g)
    kept = conjugate(g) if conjugated else g, inputs, outs, shapes, attrs, tuple(needs)
    if op.joint is not None:
        results = list(enumerate(checked(op, op.joint.run(*kept), len(in_ids))))
    else:
        results = [(i, rule.run(*kept)) for i, rule in plan.rules if needs[i]]
    pulled = []
    for i, gi in results:
        if gi is not None and needs[i]:
            if rows is not None:
                gi = IndexedSlices(gi, rows.indices, rows._dense_shape)
            elif shapes is not None and op.broadcasts and isinstance(gi, Tensor):
                gi = unbroadcast(gi, shapes[i])
            pulled.append((i, conjugate(gi) if conjugated else gi))
    return pulled


def pull(
    entry: Entry, g: Any, needed: set[int] | None = None, complex_numbers: bool = False
) -> list[tuple[int, Any]]:
    """The gradients of one entry's tracked inputs, given that of its outputs.

    In a trace, rules that need a rank that is not known yet are put off until the graph runs.
    """
    try:
        return _pull(entry, g, needed, complex_numbers)
    except failures() as error:
        if executing_eagerly():
            raise
        again = lambda entry, g: _pull(entry, g, needed, complex_numbers)
        return PUT_OFF.call(again, entry, g, error)
