"""The operators that converted functions find in their closure, in place of control flow."""

from __future__ import annotations

import builtins
from types import SimpleNamespace
from typing import Any

from wengert.autograph import (
    branch_operators,
    iteration,
    logic,
    loop_operators,
    traced_values,
    value_trees,
)
from wengert.autograph.builtin_forms import source_of
from wengert.autograph.call_conversion import call
from wengert.autograph.closure_state import Cells
from wengert.autograph.conversion_unit import Construct, Unit
from wengert.autograph.handlers import Passing, caught, pending, swallowed
from wengert.autograph.retrace import raising
from wengert.autograph.undefined import UNSET
from wengert.core.errors import at_site


def result(site: Construct, cells: Cells) -> Any:
    """The result of the user's function."""
    returned, name = site.flags
    flag, value = cells.get(returned), cells.get(name)
    if flag is False or value is UNSET:  # no path returns; perhaps each ends in a `raise`
        return None
    if flag is True:
        return value
    raise at_site(
        ValueError(
            f"return: the function returns {value_trees.described(value)} on one path and "
            f"nothing on another, and which one depends on a tensor. Return a value on every path."
        )
    )


def visible(names: Any) -> Any:
    """The names of a frame without ours."""
    if isinstance(names, dict):
        return {k: v for k, v in names.items() if not _is_ours(k)}
    return [n for n in names if not _is_ours(n)]


def _is_ours(name: str) -> bool:
    return name.lstrip("_").startswith("ag__")


OPERATORS = SimpleNamespace(
    if_=branch_operators.if_,
    unless=branch_operators.unless,
    while_=loop_operators.while_,
    for_=loop_operators.for_,
    comprehend=loop_operators.comprehend,
    comprehend_all=loop_operators.comprehend_all,
    and_=logic.and_,
    or_=logic.or_,
    and_test=logic.and_test,
    or_test=logic.or_test,
    not_=logic.not_,
    choose=logic.choose,
    chain=logic.chain,
    contains=logic.contains,
    lacks=logic.lacks,
    certain=logic.certain,
    assert_=logic.assert_,
    raising=raising,
    caught=caught,
    pending=pending,
    passing=Passing,
    swallowed=swallowed,
    source_of=source_of,
    cells=Cells,
    result=result,
    visible=visible,
    iter=builtins.iter,
    RESUME=loop_operators.RESUME,
    UNSET=UNSET,
)


def tools(unit: Unit) -> dict[str, Any]:
    """The values behind the names that a rewritten function uses for what is ours."""
    names = unit.names
    return {
        names.ops: OPERATORS,
        names.call: call,
        names.symbolic: traced_values.symbolic,
        names.looping: traced_values.looping,
        names.source: iteration.source,
        names.sourced: traced_values.sourced,
        names.sites: unit.sites,
    }
