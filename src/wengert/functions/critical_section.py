"""Names that say in which order, or how, TensorFlow's graphs are worked through.

Eager code needs a lock between threads; functions are transactions as they are, and gradients are
added as they come.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Any, ClassVar

from wengert.core import nest
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, require
from wengert.core.locks import new_lock
from wengert.core.types import CompositeTensor


class AggregationMethod:
    """How TensorFlow adds gradients up; here all of these come to the same."""

    ADD_N: ClassVar[int] = 0
    DEFAULT: ClassVar[int] = ADD_N
    EXPERIMENTAL_TREE: ClassVar[int] = 1
    EXPERIMENTAL_ACCUMULATE_N: ClassVar[int] = 2


class _Section:
    """A lock, and which thread is inside; a forked child has none of its parent's other threads."""

    def __init__(self) -> None:
        self.lock = new_lock()
        self.inside: int | None = None


# Sections that share a name are one.
_shared: weakref.WeakValueDictionary[str, _Section] = weakref.WeakValueDictionary()


class CriticalSection:
    """Code that one thread at a time runs: `tf.CriticalSection().execute(lambda: v.assign_add(1))`.

    Inside a function it is run in its place: what a call does to variables happens all at once.
    """

    def __init__(self, name: str | None = None, shared_name: Any = None) -> None:
        new = _Section()
        self._section = _shared.setdefault(shared_name, new) if shared_name else new

    def execute(
        self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None
    ) -> Any:
        """What `fn()` returns, as tensors; nobody else is in this section meanwhile."""
        here = self._section
        with here.lock:
            if here.inside == get_ident():
                text = "CriticalSection.execute: this thread is in the section already."
                raise at_site(ValueError(text))
            try:
                here.inside = get_ident()
                return nest.map_structure(_as_tensor, fn())
            finally:
                here.inside = None


def _as_tensor(value: Any) -> Any:
    return value if value is None or isinstance(value, CompositeTensor) else to_tensor(value)


def no_gradient(op_type: str) -> None:
    """Says that an operation of TensorFlow's has no gradient; Wengert's say so themselves."""
    require(isinstance(op_type, str), "no_gradient", "a name was expected", op_type, kind=TypeError)
