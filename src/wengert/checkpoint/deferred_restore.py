"""Deferred restoration of variables that are created after `restore` and put into lists and dicts.

Lists and dicts do not notify anybody when an element is added. So while a restored checkpoint still
has values for elements of one, every new variable is a `DeferredVariable`: it looks for its value
when it is first used, by when it is in its container.
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
    """A variable that looks for its value on first use, and becomes an ordinary one."""

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
    """Restores a deferred variable from the newest checkpoint that has a value for it."""
    if type(variable) is not DeferredVariable:
        return
    variable.__class__ = Variable  # type: ignore[assignment]  # one has the slots of the other
    for result in [ref() for ref in reversed(_waiting)]:
        if result is not None and result.look_again(variable):
            return


def expect(restoration: Restoration) -> None:
    """Makes new variables look for their values in a checkpoint."""
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
        variable.__class__ = DeferredVariable  # type: ignore[assignment]  # as in `resolve`
