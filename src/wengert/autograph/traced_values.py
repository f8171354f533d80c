"""What our operators ask about values: which belong to a trace, and which can become tensors."""

from __future__ import annotations

from types import NoneType
from typing import Any

from wengert.autograph.iteration import Source
from wengert.autograph.lists import TracedList
from wengert.core.context import get_state
from wengert.core.symbolic import SymbolicTensor
from wengert.core.tensor import Value
from wengert.core.variable import Variable

_PLAIN = frozenset({NoneType, bool, int, float, str, bytes, list, tuple, dict, set})
# Tuples, since Python would make the union of two classes anew at each test.
_WITHOUT_VALUE = (SymbolicTensor, TracedList)
_LOOPED_ON = (Value, TracedList)


def building() -> bool:
    """Whether a graph is being built here."""
    state = get_state()
    return state is not None and state.graph is not None


def symbolic(x: Any) -> bool:
    """Whether Python cannot know the truth of a value yet."""
    if type(x) in _PLAIN:
        return False
    if isinstance(x, _WITHOUT_VALUE):
        return True
    return isinstance(x, Variable) and building()


def looping(x: Any) -> bool:
    """Whether a loop on this condition belongs into the graph; so does one on a constant tensor."""
    if type(x) in _PLAIN:
        return False
    return isinstance(x, _LOOPED_ON) and building()


def sourced(x: Any) -> bool:
    """Whether a loop over this belongs into the graph."""
    return isinstance(x, Source)
