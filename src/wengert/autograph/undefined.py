"""Undefined values: names without a value on one of two paths. Any use raises and says which.

Python raises for a name that the branch taken has not set. A trace takes both branches, so it keeps
a placeholder in the name and raises only where the name is used.
"""

from __future__ import annotations

from typing import Any

from wengert.core.errors import at_site


class UndefinedError(ValueError, UnboundLocalError):
    """A name is used that has no value, or different things as values, depending on a tensor."""


class MixedError(UndefinedError, TypeError):
    """The type of a name's value depends on a tensor."""


class Undefined:
    """Stands for the value of a name; every use raises."""

    __slots__ = ("_kind", "_reason", "dead")

    def __init__(
        self, reason: str, dead: bool = False, kind: type[UndefinedError] = UndefinedError
    ) -> None:
        self._reason = reason
        self._kind = kind
        # Nothing reads the name on the path where it has this value, so anything may replace it.
        self.dead = dead

    def fail(self) -> UndefinedError:
        return at_site(self._kind(self._reason))

    def __repr__(self) -> str:
        return "<no value>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__tf_tensor__", "__array__", "__len__"):
            raise AttributeError(name)
        raise self.fail()


def _use(self: Undefined, *args: Any, **kwargs: Any) -> Any:
    raise self.fail()


_OPERATORS = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul "
    "rmatmul and rand or ror xor rxor lshift rshift neg pos abs invert lt le gt ge eq ne bool int "
    "float index len iter next contains getitem setitem delitem call enter exit hash tf_tensor "
    "array format str"
)
for _name in _OPERATORS.split():
    setattr(Undefined, f"__{_name}__", _use)


class _Nothing:
    """A value that is not there."""

    def __repr__(self) -> str:
        return "<nothing>"


# A name or place without a value, as the state of a function shows it.
EMPTY = _Nothing()
# The result of a function that has not returned yet.
UNSET = _Nothing()
