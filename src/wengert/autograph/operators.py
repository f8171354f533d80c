"""What rewritten functions find in their closure: the operators that control flow became."""

from __future__ import annotations

import builtins
from types import SimpleNamespace
from typing import Any

from wengert.autograph import branches, logic, loops, rows, trees, values
from wengert.autograph.builtin_forms import source_of
from wengert.autograph.calls import call
from wengert.autograph.handlers import Passing, caught, pending, swallowed
from wengert.autograph.learning import raising
from wengert.autograph.state import Cells
from wengert.autograph.undefined import UNSET
from wengert.autograph.unit import Construct, Unit
from wengert.core.errors import at_site


def result(site: Construct, cells: Cells) -> Any:
    """What the user's function returns, at its end."""
    returned, name = site.flags
    flag, value = cells.get(returned), cells.get(name)
    if flag is False or value is UNSET:  # no path returns; perhaps each ends in a `raise`
        return None
    if flag is True:
        return value
    raise at_site(
        ValueError(
            f"return: the function returns {trees.described(value)} on one path and "
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
    if_=branches.if_,
    unless=branches.unless,
    while_=loops.while_,
    for_=loops.for_,
    comprehend=loops.comprehend,
    comprehend_all=loops.comprehend_all,
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
    RESUME=loops.RESUME,
    UNSET=UNSET,
)


def tools(unit: Unit) -> dict[str, Any]:
    """The values behind the names that a rewritten function uses for what is ours."""
    names = unit.names
    return {
        names.ops: OPERATORS,
        names.call: call,
        names.symbolic: values.symbolic,
        names.looping: values.looping,
        names.source: rows.source,
        names.sourced: values.sourced,
        names.sites: unit.sites,
    }
