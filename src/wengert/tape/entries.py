"""The entries of a tape, and the two forms that they have.

The long form is a tuple (op, plan, in_ids, out_ids, inputs, outs, shapes, attrs, site, specs,
None), where `inputs` and `outs` hold only what the rules read; `out_ids` is one id where `specs`,
those of several results, is `None`. An operation on two tensors without attributes has the short
form (op, plan, x_id, y_id, out_id, x, y, out, shapes, site), and so has one on a single tensor,
with `NO_ID` for `y_id` and its attributes for `y`; if `plan.one` names the only input with a rule,
`shapes` is the shape of that input."""

from __future__ import annotations

from typing import Any

from wengert.core.context import NO_ATTRS
from wengert.core.errors import at_site, exhausted

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


def explain(error: Exception, entry: Entry) -> None:
    """Names the user's line of the operation whose gradient failed.

    Memory that ran out outside of a kernel, of which NumPy alone speaks, is raised in words.
    """
    if getattr(error, "_in_gradient", False):
        return
    entry = full_form(entry)
    result = exhausted(entry[0].name, error) if isinstance(error, MemoryError) else error
    result._in_gradient = True  # type: ignore[attr-defined]  # marks that the note is there
    result.add_note(f"  in the gradient of {entry[0].name}, recorded at:")
    at_site(result, entry[8])
    if result is not error:
        raise result from None
