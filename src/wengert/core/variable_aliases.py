"""A variable as the argument of a function that is being traced.

It is the same variable under another object, so a trace can tell what came by the argument from
what the function knew already: only then can the trace serve other variables of the same kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core.variable import Variable

if TYPE_CHECKING:
    import numpy as np


class Identity:
    """Whether Python asked which variables the arguments of a call are."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = False


class Alias(Variable):
    """Another name of a variable; `identity` hears when Python asks which variable it is."""

    __slots__ = ("_identity", "_of")

    _of: Variable
    _identity: Identity

    def __init__(self, of: Variable, identity: Identity) -> None:
        object.__setattr__(self, "_of", of)
        object.__setattr__(self, "_identity", identity)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def __setattr__(self, name: str, value: np.ndarray | None) -> None:
        setattr(self._of, name, value)

    def __reduce__(self) -> Any:
        return self._of.__reduce__()

    def __deepcopy__(self, memo: Any) -> Any:
        return self._of.__deepcopy__(memo)

    def ref(self) -> Any:
        self._identity.asked = True
        return self._of.ref()


def _delegated(name: str) -> property:
    return property(lambda self: getattr(self._of, name))


def _telling(name: str) -> property:
    def get(self: Any) -> Any:
        self._identity.asked = True
        return getattr(self._of, name)

    return property(get)


for _name in (*Variable.__slots__, "_id", "_copies", "_distribute_strategy"):
    setattr(Alias, _name, _delegated(_name))
for _name in ("name", "_shared_name", "_unique_id", "handle"):
    setattr(Alias, _name, _telling(_name))


def plain(variable: Variable) -> Variable:
    """The variable itself."""
    return variable._of if type(variable) is Alias else variable
