"""Standing in for methods for as long as a block runs, and going again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any


@contextmanager
def replaced(owner: Any, name: str, new: Callable[..., Any]) -> Iterator[None]:
    """Calls of `owner.name` go to `new(old, self, ...)` inside the block."""
    old = vars(owner)[name]

    @wraps(old)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return new(old, self, *args, **kwargs)

    setattr(owner, name, method)
    try:
        yield
    finally:
        setattr(owner, name, old)
