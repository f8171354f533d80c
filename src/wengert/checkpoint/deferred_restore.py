"""Variables that are made while a checkpoint waits for what will be put into lists and dicts.

Python's own lists and dicts do not tell when something is put into them. So a variable that is
born while a restored checkpoint still holds values for such a place looks for its value when it is
first used: by then it is in its place.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from wengert.core.variable import BORN, Variable

if TYPE_CHECKING:
    import numpy as np

    from wengert.checkpoint.restore import Restoration


_hosts = Variable.__dict__["_host"]
_waiting: list[weakref.ref[Any]] = []  # restorations, the newest last


class DeferredVariable(Variable):
    """An ordinary variable as soon as somebody uses it."""

    __slots__ = ()

    @property
    def _host(self) -> Any:  # type: ignore[override]  # a slot of the base class
        resolve(self)
        return _hosts.__get__(self)

    @_host.setter
    def _host(self, value: np.ndarray) -> None:
        resolve(self)
        _hosts.__set__(self, value)


def resolve(variable: Variable) -> None:
    """Looks for the value of a newborn variable; the newest checkpoint that has one gives it."""
    if type(variable) is not DeferredVariable:
        return
    variable.__class__ = Variable  # type: ignore[assignment]  # one has the slots of the other
    for result in [ref() for ref in reversed(_waiting)]:
        if result is not None and result.look_again(variable):
            return


def expect(restoration: Restoration) -> None:
    """Lets variables that are born from now on look for their values in a checkpoint."""
    if not any(ref() is restoration for ref in _waiting):
        _waiting.append(weakref.ref(restoration))
    if _born not in BORN:
        BORN.append(_born)


def _born(variable: Variable) -> None:
    _waiting[:] = [ref for ref in _waiting if (result := ref()) is not None and result.open]
    if not _waiting:
        with suppress(ValueError):  # another thread was first
            BORN.remove(_born)
    elif type(variable) is Variable:
        variable.__class__ = DeferredVariable  # type: ignore[assignment]  # as in `grow`
