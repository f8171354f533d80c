"""How a program says which of its objects share a trace.

A class with `__tf_tracing_type__` answers with a `TraceType`; objects of equal types are traced
once, and inside the function the type's placeholder stands for them.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable


class TraceType(abc.ABC):
    """What tracing needs to know of an object; equal types share a trace."""

    @abc.abstractmethod
    def is_subtype_of(self, other: Any) -> bool:
        """Whether a trace for `other` serves objects of this type."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """A type that stands for this one and the others, or `None`."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """The object that the function is traced with."""

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors of an object, which every call passes."""
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """An object of this type around tensors."""
        return self.placeholder_value(None)

    def flatten(self) -> list[Any]:
        return []

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        return value

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """Whatever has a tracing type."""

    def __tf_tracing_type__(self, context: Any) -> TraceType: ...
