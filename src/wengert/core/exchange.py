"""Other code for public functions, where they stand.

Some questions (is this a ragged tensor, is a rank unknown) concern few programs, and the rest must
not pay for them. A function learns to ask when the first program needs it: it stays the same
object, so that references taken before lead to the new code too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

Answer = Callable[[tuple[Any, ...], dict[str, Any]], Any]


def exchange(function: Any, make: Callable[[Any], Answer]) -> None:
    """Lets `make(plain)` answer for a function, where `plain` does what it did before."""
    plain = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    plain.__kwdefaults__ = function.__kwdefaults__
    function.__signature__ = plain.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # functions take attributes
    # Other threads may be inside: the code must never be there without what it needs.
    function.__kwdefaults__ = {"_answer": make(plain)}
    function.__defaults__ = None
    function.__code__ = _asking.__code__


def _asking(*args: Any, _answer: Answer, **kwargs: Any) -> Any:
    return _answer(args, kwargs)
