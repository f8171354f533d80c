"""When the array of a variable may be written over, and the updates that do it.

It may if nobody else holds it: then an update costs no memory. How many references that is depends
on the version of Python, so it is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.context import get_state
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.locks import ALONGSIDE, HOST_CALLS, while_holding
from wengert.core.tensor import Tensor

if TYPE_CHECKING:
    from wengert.core.variable import Variable


class _Probe:
    def __init__(self) -> None:
        self._array: np.ndarray = np.empty(1)

    def count(self) -> int:
        array = self._array
        return sys.getrefcount(array)


# How many references an array has that only its variable holds; Python versions count differently.
SOLE = _Probe().count()


def has_company(array: np.ndarray) -> bool:
    """Whether other arrays may use the memory of a view: it is not the only one, or overlaps."""
    base: Any = array.base
    alone = type(base) is np.ndarray and base.flags.owndata and sys.getrefcount(base) <= SOLE
    return not (alone and array.flags.c_contiguous)


def updating(method: str, ufunc: np.ufunc, text: str) -> Callable[..., Any]:
    """A method of variables that changes the value by as much as it is given."""

    def update(
        self: Variable,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | None:
        state = get_state()
        if state is not None and state.graph is not None:
            return self._update(method, delta)
        plain = type(delta) is Tensor
        if plain:
            array = delta._array
        elif isinstance(delta, IndexedSlices):  # costs its rows, not the whole
            (self.scatter_add if ufunc is np.add else self.scatter_sub)(delta)
            return self if read_value else None
        else:  # not under the lock, since it may wait for that of another variable
            array = self._incoming(method, delta, self._array.shape)
        if HOST_CALLS:
            while_holding((self._lock,), ALONGSIDE, change, self, delta, array, plain)
        else:
            with self._lock:
                change(self, delta, array, plain)
        return self if read_value else None

    def change(self: Any, delta: Any, array: np.ndarray, plain: bool) -> None:
        old = self._host
        if old is None:
            old = self._fetch()
        if plain and (array.dtype is not old.dtype or array.shape != old.shape):
            array = self._incoming(method, delta, old.shape)
        shared = sys.getrefcount(old) > SOLE or (old.base is not None and has_company(old))
        new = np.empty_like(old) if shared else old
        try:
            ufunc(old, array, new)
        except (RuntimeWarning, FloatingPointError):
            pass  # where a program wants exceptions, NumPy raises when all is computed
        except ValueError:  # the array cannot be written to
            with np.errstate(all="ignore"):
                new = np.asarray(ufunc(old, array))
        self._host, self._device = new, None

    update.__name__, update.__qualname__, update.__doc__ = method, f"Variable.{method}", text
    return update
