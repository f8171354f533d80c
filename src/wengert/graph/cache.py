"""What has been worked out of a finished graph, kept with it and gone with it.

Each module that keeps something owns a `CacheKey`, which says of what type it is; who imports the
key may read it. A graph knows none of them. Copies of a graph begin with nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, overload

T = TypeVar("T")


class CacheKey(Generic[T]):
    """The key of a value of type `T`; no other key is equal to it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


if TYPE_CHECKING:

    class GraphCache:
        """A `dict` whose values have the types that their keys say."""

        @overload
        def get(self, key: CacheKey[T]) -> T | None: ...
        @overload
        def get(self, key: CacheKey[T], default: T) -> T: ...
        def get(self, key: CacheKey[T], default: T | None = None) -> T | None: ...
        def setdefault(self, key: CacheKey[T], default: T) -> T: ...
        def __getitem__(self, key: CacheKey[T]) -> T: ...
        def __setitem__(self, key: CacheKey[T], value: T) -> None: ...
        def __contains__(self, key: CacheKey[T]) -> bool: ...

else:
    GraphCache = dict  # it is read at every call
