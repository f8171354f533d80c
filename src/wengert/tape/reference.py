"""The reference backward loop: entry by entry, each rule through the door.

`walk` defines what a gradient is. It serves graphs, complex numbers and tapes whose gradients are
recorded themselves; `backward` computes the same faster where gradients may be plain arrays, and
`tests/test_backward.py` holds the two equal, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wengert.core.context import State, _state, executing_eagerly
from wengert.core.handlers import failures
from wengert.core.hooks import Hook
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.tensor import Tensor
from wengert.ops.gather import densify
from wengert.tape import gradient_values
from wengert.tape.entries import Entry, explain, full_form

# Puts off an entry of a trace whose rules need a rank that is not known yet; else raises the error.
PUT_OFF: Hook[Callable[..., list[tuple[int, Any]]]] = Hook(
    "put off a rule", "wengert.functions.deferred"
)


def walk(
    steps: Iterator[Entry], grads: gradient_values.Grads, sources: set[int], needed: set[int] | None,
    state: State, complex_numbers: bool,
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
    entry: Entry, grads: gradient_values.Grads, sources: set[int], needed: set[int] | None, state: State,
    complex_numbers: bool,
) -> None:  # fmt: skip
    """Takes the gradient of an entry's results and adds what its rules make of it to its inputs'."""
    op, _, in_ids, out_ids, *_, site, specs, _ = entry = full_form(entry)
    ids = [out_ids] if specs is None else out_ids
    result: Any = [grads.get(i) if i in sources else grads.pop(i, None) for i in ids]
    result = result[0] if specs is None else gradient_values.together(result, specs, op.partial)
    if result is None:
        return
    state.site = site
    pulled = pull(entry, gradient_values.tensor(result, site), needed, complex_numbers)
    _state.set(state)  # a user's rule may have opened tapes, which leaves another state
    for i, g in pulled:
        key = in_ids[i]
        grads[key] = gradient_values.accumulate(grads[key], g) if key in grads else g


def pull(
    entry: Entry,
    g: Tensor | tuple[Tensor | None, ...] | IndexedSlices,
    needed: set[int] | None = None,
    complex_numbers: bool = False,
) -> list[tuple[int, Tensor | IndexedSlices]]:
    """The gradients of one entry's tracked inputs, given that of its outputs."""
    try:
        return _pull(entry, g, needed, complex_numbers)
    except failures() as error:
        if executing_eagerly():
            raise
        again = lambda entry, g: _pull(entry, g, needed, complex_numbers)
        return PUT_OFF.call(again, entry, g, error)


def _pull(
    entry: Entry, g: Any, needed: set[int] | None, complex_numbers: bool
) -> list[tuple[int, Tensor | IndexedSlices]]:
    op, plan, in_ids, _, inputs, outs, shapes, attrs, *_ = entry
    needs = plan.needs
    if needed is not None:
        needs = tuple([n and i in needed for n, i in zip(needs, in_ids, strict=True)])
    if True not in needs:
        return []
    rows = None  # the row-sparse gradient, if it passes as it is
    if type(g) is IndexedSlices:
        rows, g = (
            (g, g.values) if gradient_values.keeps_rows(op, plan, inputs) else (None, densify(g))
        )
    conjugated = complex_numbers and op.holomorphic and gradient_values.is_complex(g)
    if conjugated:
        g = gradient_values.conjugate(g)
    kept = inputs, outs, shapes, attrs, needs
    if op.joint is not None:
        results = list(enumerate(gradient_values.checked(op, op.joint.run(g, *kept), len(in_ids))))
    else:
        results = [(i, rule.run(g, *kept)) for i, rule in plan.rules if needs[i]]
    result: list[tuple[int, Any]] = []
    for i, gi in results:
        if gi is None or not needs[i]:
            continue
        if rows is not None:
            gi = IndexedSlices(gi, rows.indices, rows._dense_shape)
        elif shapes is not None and op.broadcasts and isinstance(gi, Tensor):
            gi = gradient_values.unbroadcast(gi, shapes[i])
        result.append((i, gradient_values.conjugate(gi) if conjugated else gi))
    return result
