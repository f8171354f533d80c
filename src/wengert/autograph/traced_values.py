"""Predicates of autograph's operators: which values belong to a trace or to a graph loop."""

from __future__ import annotations

from types import NoneType
from typing import Any

from wengert.autograph.iteration import Source
from wengert.autograph.lists import TracedList
from wengert.core.context import get_state
from wengert.core.types import SymbolicTensor, Value, Variable

_PLAIN = frozenset({NoneType, bool, int, float, str, bytes, list, tuple, dict, set})
# Tuples, since Python would make the union of two classes anew at each test.
_WITHOUT_VALUE = (SymbolicTensor, TracedList)
_LOOPED_ON = (Value, TracedList)


def building() -> bool:
    """Whether a graph is being built here."""
    state = get_state()
    return state is not None and state.graph is not None


def symbolic(x: Any) -> bool:
    """Whether the truth of a value is unknown while tracing."""
    if type(x) in _PLAIN:
        return False
    if isinstance(x, _WITHOUT_VALUE):
        return True
    return isinstance(x, Variable) and building()


def looping(x: Any) -> bool:
    """Whether a loop on this condition becomes a graph loop; also on a constant tensor."""
    if type(x) in _PLAIN:
        return False
    return isinstance(x, _LOOPED_ON) and building()


def sourced(x: Any) -> bool:
    """Whether a loop over this becomes a graph loop."""
    return isinstance(x, Source)
