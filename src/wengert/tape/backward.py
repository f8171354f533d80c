"""The backward loop where gradients may travel as plain arrays, and the choice between the two.

It says what `reference` says, with three things done faster: gradients are arrays until they reach
a source, rules that are one operation run its kernel, and down a chain of rules that scale the
gradient the array that one of them made is overwritten by the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from numpy import ndarray

from wengert.core.apply import wrap
from wengert.core.context import State, _state, get_state
from wengert.core.failures import failures
from wengert.core.types import IndexedSlices, RawSite, Tensor
from wengert.ops.shaping import SUM_TO
from wengert.tape import reference
from wengert.tape.entries import SHORT, Entry, explain, full_form
from wengert.tape.gradient_values import Gradient, Grads, accumulate


def walk(
    entries: list[Entry],
    grads: Grads,
    sources: set[int],
    needed: set[int] | None,
    complex_numbers: bool,
    release: bool,
) -> None:
    """Carries `grads` (by tensor id) from the targets back to the sources."""
    outer = get_state()
    steps = map(list.pop, repeat(entries, len(entries))) if release else reversed(entries[:])
    try:
        if outer is None and not complex_numbers:
            _on_arrays(steps, grads, sources, needed)
            return
        state = State() if outer is None else State(outer.listeners, outer.graph, outer.site)
        state.plain = False
        _state.set(state)
        if complex_numbers or state.listeners or state.graph is not None:
            reference.walk(steps, grads, sources, needed, state, complex_numbers)
        else:
            _on_arrays(steps, grads, sources, needed)
    finally:
        _state.set(outer)


def _at(site: RawSite | None) -> State:
    """Sets the site of what rules send through the door; the state is made when first needed."""
    state = get_state()
    if state is None:
        state = State()
        _state.set(state)
    state.site = site
    return state


def _on_arrays(
    steps: Iterator[Entry], grads: Grads, sources: set[int], needed: set[int] | None
) -> None:  # fmt: skip
    """The loop where nobody listens; an array that nobody else has is in hand."""
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
                _long(entry, grads, sources, needed)
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
                        _long(entry, grads, sources, needed)
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
                            gi = without_fp_warnings(direct, g, x, y, out, None)
                        if type(gi) is not ndarray:
                            gi = np.asarray(gi)
                    elif rule.passes:
                        gi = g
                    else:
                        _at(site)
                        gi = rule.run(wrap(g, site), *full_form(entry)[4:8], plan.needs)
                        if gi is None:
                            continue
                        if type(gi) is IndexedSlices:
                            grads[key] = _sum(grads[key], gi, site) if key in grads else gi
                            continue
                        gi = gi._array
                    if shapes is not None and gi.shape != shapes[i]:
                        gi = summed(gi, shapes[i])
                    if key in grads:
                        gi = _sum(grads[key], gi, site)
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
                        g = without_fp_warnings(direct, g, x, y, out, shapes)
                if not mine:
                    g = np.asarray(g)
            elif direct is not None:
                try:
                    g = direct(g, x, y, out, shapes)
                except (RuntimeWarning, FloatingPointError):
                    g = without_fp_warnings(direct, g, x, y, out, shapes)
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
                g = _sum(grads[key], g, site)
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
    except failures() as error:
        explain(error, entry)
        raise


def _long(entry: Entry, grads: Grads, sources: set[int], needed: set[int] | None) -> None:
    """An entry of the long form, or a gradient that is no array; a rule may be one kernel."""
    op, plan, in_ids, _, inputs, outs, shapes, attrs, site, specs, _ = entry = full_form(entry)
    rules = plan.rules
    if len(rules) == 1 and specs is None and (shapes is None or not op.broadcasts):
        i, rule = rules[0]
        g = grads.get(entry[3])
        if rule.arrays is not None and type(g) in _DENSE:
            key = in_ids[i]
            if needed is None or key in needed:
                gi = _kernel(rule.arrays, g, inputs, outs, shapes, attrs)
                if gi is not None:
                    if entry[3] not in sources:
                        del grads[entry[3]]
                    gi = _sum(grads[key], gi, site) if key in grads else gi
                    if key in sources and type(gi) is ndarray:
                        gi = wrap(gi, site)
                    grads[key] = gi
                    return
    reference.step(entry, grads, sources, needed, _at(site), False)


def _sum(old: Gradient, new: Gradient, site: RawSite | None) -> Gradient:
    """The sum of two gradients, a plain array unless one of them is row-sparse."""
    if type(old) is Tensor:
        old = old._array
    if type(old) is not ndarray or type(new) is not ndarray:
        _at(site)
    return accumulate(old, new)


_DENSE = {ndarray, Tensor}
_sum_to = SUM_TO.kernel


def _kernel(arrays: Any, g: Any, *kept: Any) -> ndarray | None:
    """Runs a rule that is one kernel with attributes; `None` where it fails, to be explained."""
    try:
        result = arrays(g if type(g) is ndarray else g._array, *kept)
    except failures():
        return None
    return result if type(result) is ndarray else np.asarray(result)


def without_fp_warnings(kernel: Any, *given: Any, **named: Any) -> Any:
    """A program that turns NumPy's warnings into exceptions does not mean ours."""
    with np.errstate(all="ignore"):
        return kernel(*given, **named)


def summed(g: ndarray, shape: tuple[int, ...]) -> ndarray:
    """A plain gradient summed down to the shape of its tensor."""
    try:
        return _sum_to(g, shape)
    except (RuntimeWarning, FloatingPointError):
        return without_fp_warnings(SUM_TO.kernel, g, shape)
