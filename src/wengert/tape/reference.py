"""The backward loop as it is defined: entry by entry, rules run through the door.

`walk` is what a gradient means. It serves graphs, complex numbers and tapes whose gradients somebody
follows; `backward` does the same faster where gradients may travel as plain arrays, and the tests
hold the two equal, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wengert.core.apply import apply
from wengert.core.context import State, _state
from wengert.core.hooks import Hook
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.symbolic import Unranked, shape_to_keep
from wengert.core.tensor import Tensor
from wengert.ops.complex import conj
from wengert.ops.gather import densify
from wengert.ops.shaping import SUM_LIKE, sum_to
from wengert.tape.entries import Entry, explain, full_form
from wengert.tape.flow import accumulate, conjugate, dense, is_complex, tensor, zeros_of

# What to do with an entry whose rules need a rank that is not known yet, if there is such a thing.
PUT_OFF: Hook[Callable[..., list[tuple[int, Any]]]] = Hook(
    "put off a rule", "wengert.functions.unranked"
)


def walk(
    steps: Iterator[Entry], grads: dict[int, Any], sources: set[int], needed: set[int] | None,
    state: State, complex_numbers: bool,
) -> None:  # fmt: skip
    """Carries `grads` (by tensor id) from the targets back to the sources."""
    entry: Any = None
    try:
        for entry in steps:
            step(entry, grads, sources, needed, state, complex_numbers)
    except Exception as error:
        explain(error, entry)
        raise


def step(
    entry: Entry, grads: dict[int, Any], sources: set[int], needed: set[int] | None, state: State,
    complex_numbers: bool,
) -> None:  # fmt: skip
    """Takes the gradient of an entry's results and adds what its rules make of it to its inputs'."""
    entry = full_form(entry)
    g = incoming(entry, grads, sources)
    if g is None:
        return
    state.site = entry[8]
    pulled = pull(entry, tensor(g, state.site), needed, complex_numbers)
    _state.set(state)  # a user's rule may have opened tapes, which leaves another state
    for i, gi in pulled:
        key = entry[2][i]
        grads[key] = accumulate(grads[key], gi) if key in grads else gi


def incoming(entry: Entry, grads: dict[int, Any], sources: set[int]) -> Any:
    """The gradient of an entry's results, `None` if nothing reached any; sources keep theirs."""
    ids, specs = entry[3], entry[9]
    if specs is None:
        return grads.get(ids) if ids in sources else grads.pop(ids, None)
    return _collect(grads, ids, specs, sources, entry[0].partial)


def _collect(grads: dict[int, Any], ids: Any, specs: Any, sources: set[int], partial: bool) -> Any:
    """The gradients of all outputs of one operation, or `None` if nothing reached any."""
    found = [grads.get(i) for i in ids]
    if all(x is None for x in found):
        return None
    for i in ids:
        if i not in sources:
            grads.pop(i, None)
    if partial:
        return tuple(None if g is None else dense(g) for g in found)
    return tuple(zeros_of(s) if g is None else dense(g) for g, s in zip(found, specs, strict=True))


def pull(
    entry: Entry, g: Any, needed: set[int] | None = None, complex_numbers: bool = False
) -> list[tuple[int, Any]]:
    """The gradients of one entry's tracked inputs, given that of its outputs."""
    try:
        return _pull(entry, g, needed, complex_numbers)
    except Exception as error:
        if not PUT_OFF.is_filled():
            raise
        again = lambda entry, g: _pull(entry, g, needed, complex_numbers)
        return PUT_OFF.call(again, entry, g, error)


def _pull(
    entry: Entry, g: Any, needed: set[int] | None, complex_numbers: bool
) -> list[tuple[int, Any]]:
    op, plan, in_ids, _, inputs, outs, shapes, attrs, *_ = entry
    if type(g) is IndexedSlices and not _row_linear(op, plan, inputs):
        g = densify(g)
    complex_g = complex_numbers and op.holomorphic and is_complex(g)
    if complex_g:
        g = conjugate(g)
    needs = plan.needs
    if needed is not None:
        needs = tuple([n and i in needed for n, i in zip(needs, in_ids, strict=True)])
        if True not in needs:
            return []
    result = []
    pairs: Any
    if op.joint is not None:
        found = op.joint.run(g, inputs, outs, shapes, attrs, needs)
        pairs = enumerate(_checked(op, found, len(in_ids)))
    elif type(g) is IndexedSlices:
        pairs = [
            (i, IndexedSlices(
                rule.run(g.values, inputs, outs, shapes, attrs, needs), g.indices, g._dense_shape,
            ))
            for i, rule in plan.rules if needs[i]
        ]  # fmt: skip
    else:
        pairs = [
            (i, rule.run(g, inputs, outs, shapes, attrs, needs))
            for i, rule in plan.rules
            if needs[i]
        ]
    for i, gi in pairs:
        if gi is None or not needs[i]:
            continue
        if shapes is not None and op.broadcasts and isinstance(gi, Tensor):
            gi = _unbroadcast(gi, shapes[i])  # the chore replaces the raw gradient
        result.append((i, conj(gi) if complex_g else gi))
    return result


def _row_linear(op: Any, plan: Any, inputs: Any) -> bool:
    """Whether a row-sparse gradient can pass as it is: one input, the others kept scalars."""
    if len(plan.rules) != 1 or plan.rules[0][0] not in op.rows:
        return False
    others = [x for i, x in enumerate(inputs or ()) if i != plan.rules[0][0]]
    return all(x is not None and not x._array.ndim for x in others)


def _checked(op: Any, found: Any, count: int) -> list[Any]:
    values = list(found) if isinstance(found, list | tuple) else [found]
    if len(values) != count:
        raise ValueError(
            f"{op.name}: the gradient function must return {count} values, one for each input; "
            f"got {len(values)}."
        )
    return values


def _unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """A gradient summed down to the shape of its tensor."""
    if type(shape) is Unranked:
        return apply(SUM_LIKE, g, shape.tensor)
    if type(shape_to_keep(g)) is Unranked:
        return sum_to(g, shape)
    return g if g._array.shape == shape else sum_to(g, shape)
