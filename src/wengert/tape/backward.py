"""The backward loop: one walk serves eager tapes, graphs, branches and loops.

An entry is a tuple (op, plan, in_ids, out_ids, inputs, outs, shapes, attrs, site, specs, None),
where `inputs` and `outs` hold only what the rules read. An operation on two tensors without
attributes has the short form (op, plan, x_id, y_id, out_id, x, y, out, shapes, site), and so has one
on a single tensor, with `NO_ID` for `y_id` and its attributes for `y`; if `plan.one` names the only
input with a rule, `shapes` is the shape of that input. The loop owns the chores: un-broadcasting,
conjugation for complex numbers, arity checks, accumulation, and skipping what no source needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from numpy import ndarray

from wengert.core.apply import apply, wrap
from wengert.core.context import NO_ATTRS, State, _state, get_state
from wengert.core.errors import at_site
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.symbolic import SymbolicTensor, Unranked, shape_to_keep
from wengert.core.tensor import Tensor
from wengert.ops.complex import conj
from wengert.ops.gather import densify
from wengert.ops.shaping import SUM_LIKE, SUM_TO, sum_to
from wengert.tape.flow import accumulate, conjugate, dense, is_complex, tensor, zeros_of

Entry = tuple[Any, ...]
SHORT = 10  # the length of the short form
NO_ID = -1


def full_form(entry: Entry) -> Entry:
    """An entry in the long form, whichever it has."""
    if len(entry) != SHORT:
        return entry
    op, plan, i, j, out_id, x, y, out, shapes, site = entry
    ids, inputs, attrs = ((i,), (x,), y) if j == NO_ID else ((i, j), (x, y), NO_ATTRS)
    if plan.one is not None and shapes is not None:
        shapes = (shapes, shapes)
    return op, plan, ids, out_id, inputs, (out,), shapes, attrs, site, None, None


def walk(
    entries: list[Entry],
    count: int,
    grads: dict[int, Any],
    sources: set[int],
    needed: set[int] | None,
    complex_numbers: bool,
    release: bool,
) -> None:
    """Carries `grads` (by tensor id) from the targets back to the sources."""
    outer = get_state()
    state = State() if outer is None else State(outer.listeners, outer.graph, outer.site)
    state.plain = False
    token = _state.set(state)
    steps = map(list.pop, repeat(entries, count)) if release else reversed(entries[:count])
    try:
        if complex_numbers or state.listeners or state.graph is not None:
            _on_tensors(steps, grads, sources, needed, state, complex_numbers)
        else:
            _on_arrays(steps, grads, sources, needed, state)
    finally:
        _state.reset(token)


def _on_tensors(
    steps: Iterator[Entry], grads: dict[int, Any], sources: set[int], needed: set[int] | None,
    state: State, complex_numbers: bool,
) -> None:  # fmt: skip
    """The loop where somebody listens, or a graph is built: rules run through the door."""
    entry: Any = None
    try:
        for entry in steps:
            _step(entry, grads, sources, needed, state, complex_numbers)
    except Exception as error:
        explain(error, entry)
        raise


def _on_arrays(
    steps: Iterator[Entry], grads: dict[int, Any], sources: set[int], needed: set[int] | None,
    state: State,
) -> None:  # fmt: skip
    """The loop where nobody listens.

    Rules that are one operation run its kernel, and gradients are plain arrays on their way to the
    sources. Down a chain of rules that scale them, the array that one of them made is overwritten
    by the next: it is in hand.
    """
    entry: Any = None
    held = 0  # the tensor whose gradient is in hand: an array that nobody else has; 0 for none
    hand: Any = None
    mine = False  # whether nobody else has the array of the entry
    extent: Any = None  # the shape of what is in hand, if known
    try:
        for entry in steps:
            if len(entry) != SHORT:
                if held:
                    grads[held] = hand
                    held = 0
                _step(entry, grads, sources, needed, state, False)
                continue
            _, plan, x_id, y_id, out_id, x, y, out, shapes, site = entry
            if out_id == held:
                g = hand  # and it is `mine`, as it was when it came into the hand
            else:
                if held:
                    grads[held] = hand
                    held = 0
                g = grads.pop(out_id, None)
                if g is None:
                    continue
                if out_id in sources:
                    grads[out_id] = g
                if type(g) is not ndarray:
                    if type(g) is not Tensor:
                        grads[out_id] = g
                        _step(entry, grads, sources, needed, state, False)
                        continue
                    g = g._array
                mine = False
                extent = None
            one = plan.one
            if one is None:
                held = 0
                for i, direct, rule in plan.steps:
                    key = y_id if i else x_id
                    if needed is not None and key not in needed:
                        continue
                    if direct is not None:
                        try:
                            gi = direct(g, x, y, out, None)
                        except (RuntimeWarning, FloatingPointError):
                            gi = calmly(direct, g, x, y, out, None)
                        if type(gi) is not ndarray:
                            gi = np.asarray(gi)
                    elif rule.passes:
                        gi = g
                    else:
                        state.site = site
                        gi = rule.run(wrap(g, site), *full_form(entry)[4:8], plan.needs)
                        if gi is None:
                            continue
                        if type(gi) is IndexedSlices:
                            grads[key] = accumulate(grads[key], gi) if key in grads else gi
                            continue
                        gi = gi._array
                    if shapes is not None and gi.shape != shapes[i]:
                        gi = summed(gi, shapes[i])
                    if key in grads:
                        state.site = site
                        gi = accumulate(grads[key], gi)
                    if key in sources and type(gi) is ndarray:
                        gi = wrap(gi, site)
                    grads[key] = gi
                continue
            i, direct, scale = one
            key = y_id if i else x_id
            if needed is not None and key not in needed:
                held = 0
                continue
            if scale is not None:
                try:
                    if mine:
                        scale(g, (x if i else y)._array, g)
                    else:
                        g = scale(g, (x if i else y)._array)
                        mine = type(g) is ndarray
                except (RuntimeWarning, FloatingPointError):
                    if not mine:  # else the result was written before NumPy complained
                        g = calmly(direct, g, x, y, out, shapes)
                if not mine:
                    g = np.asarray(g)
            elif direct is not None:
                try:
                    g = direct(g, x, y, out, shapes)
                except (RuntimeWarning, FloatingPointError):
                    g = calmly(direct, g, x, y, out, shapes)
                if type(g) is not ndarray:
                    g = np.asarray(g)
                mine = False
                extent = None
            if shapes is not None:
                if extent is None:
                    extent = g.shape
                if shapes != extent:
                    g = summed(g, shapes)
                    mine = False
            if key in grads:
                state.site = site
                g = accumulate(grads[key], g)
                mine = False
            if key in sources:
                grads[key] = wrap(g, site) if type(g) is ndarray else g
                held = 0
            elif mine:
                held = key
                hand = g
            else:
                grads[key] = g
                held = 0
        if held:
            grads[held] = hand
    except Exception as error:
        explain(error, entry)
        raise


def _step(
    entry: Entry, grads: dict[int, Any], sources: set[int], needed: set[int] | None, state: State,
    complex_numbers: bool,
) -> None:  # fmt: skip
    """One entry of any form."""
    entry = full_form(entry)
    op, plan, in_ids, out_ids, inputs, outs, shapes, attrs, site, specs, _ = entry
    if specs is None:
        g = grads.get(out_ids) if out_ids in sources else grads.pop(out_ids, None)
    else:
        g = _collect(grads, out_ids, specs, sources, op.partial)
    if g is None:
        return
    state.site = site
    rules = plan.rules
    if (
        len(rules) == 1
        and type(g) in _DENSE
        and (shapes is None or not op.broadcasts)
        and not complex_numbers
    ):
        # One rule and no chores.
        i, rule = rules[0]
        key = in_ids[i]
        if needed is not None and key not in needed:
            return
        gi = None
        if rule.arrays is not None and not state.listeners and state.graph is None:
            gi = _kernel(rule.arrays, g, inputs, outs, shapes, attrs)
        if gi is None:
            try:
                gi = rule.run(tensor(g, site), inputs, outs, shapes, attrs, plan.needs)
            except Exception as error:
                gi = _later(error, entry, i, tensor(g, site), needed)
        pulled = () if gi is None else ((i, tensor(gi, site) if key in sources else gi),)
    else:
        pulled = pull(entry, tensor(g, site), needed, complex_numbers)
        _state.set(state)  # a user's rule may have opened tapes, which leaves another state
    for i, gi in pulled:
        old = grads.get(in_ids[i])
        grads[in_ids[i]] = gi if old is None else accumulate(old, gi)


_DENSE = {ndarray, Tensor, SymbolicTensor}


def _kernel(arrays: Any, g: Any, *kept: Any) -> ndarray | None:
    """Runs a rule that is one kernel with attributes; `None` where it fails, to be explained."""
    try:
        result = arrays(g if type(g) is ndarray else g._array, *kept)
    except Exception:
        return None
    return result if type(result) is ndarray else np.asarray(result)


def calmly(kernel: Any, *given: Any, **named: Any) -> Any:
    """A program that turns NumPy's warnings into exceptions does not mean ours."""
    with np.errstate(all="ignore"):
        return kernel(*given, **named)


def summed(g: ndarray, shape: tuple[int, ...]) -> ndarray:
    """A plain gradient summed down to the shape of its tensor."""
    try:
        return SUM_TO.kernel(g, shape)
    except (RuntimeWarning, FloatingPointError):
        return calmly(SUM_TO.kernel, g, shape)


def _unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """A gradient summed down to the shape of its tensor."""
    if type(shape) is Unranked:
        return apply(SUM_LIKE, g, shape.tensor)
    if type(shape_to_keep(g)) is Unranked:
        return sum_to(g, shape)
    return g if g._array.shape == shape else sum_to(g, shape)


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


def _later(error: Exception, entry: Entry, i: int, g: Any, needed: set[int] | None) -> Any:
    """The gradient of one input where a rule failed for want of a rank."""
    if not PUT_OFF:
        raise error
    return dict(pull(full_form(entry), g, needed)).get(i)


# What to do with an entry whose rules need a rank that is not known yet, if there is such a thing.
PUT_OFF: list[Any] = []


def pull(
    entry: Entry, g: Any, needed: set[int] | None = None, complex_numbers: bool = False
) -> list[tuple[int, Any]]:
    """The gradients of one entry's tracked inputs, given that of its outputs."""
    try:
        return _pull(entry, g, needed, complex_numbers)
    except Exception as error:
        if not PUT_OFF:
            raise
        again = lambda entry, g: _pull(entry, g, needed, complex_numbers)
        return PUT_OFF[0](again, entry, g, error)


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


def explain(error: Exception, entry: Entry) -> None:
    """Names the user's line of the operation whose gradient failed."""
    if not getattr(error, "_in_gradient", False):
        error._in_gradient = True  # type: ignore[attr-defined]  # marks that the note is there
        entry = full_form(entry)
        error.add_note(f"  in the gradient of {entry[0].name}, recorded at:")
        at_site(error, entry[8])
