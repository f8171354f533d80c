"""What a lowering may ask of the engine that runs it: failure checks inside compiled code.

A compiled program cannot raise. A lowering that meets a bad index or a failed assertion says so
with `fail_if`; the engine gathers these conditions into one flag, undoes the step and lets the
host engine find the words.

Where a function is exported for unknown sizes, its lowerings meet symbols in the place of sizes;
what they need for that is here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.context import Setting, own_variable
from wengert.core.lazy_modules import jnp, lax

if TYPE_CHECKING:
    from wengert.core.types import JaxArray


class NotFixed(Exception):
    """XLA needs a number that only running the program would tell.

    `values` are the inputs of the graph that it is made from, and `places` where they stand.
    """

    rule = "XLA needs fixed shapes"
    remedy = "Leave out jit_compile=True, or fix the size."
    places: set[int] | None = None
    values: frozenset[int] | set[int] = frozenset()


class NotSupported(NotFixed):
    """XLA knows no way to compute something on this device."""

    rule = "XLA cannot compile this for the device at hand"
    remedy = "Leave out jit_compile=True, and NumPy runs it."


def must_be_fixed(fixed: bool, reason: str) -> None:
    """Ends a lowering that needs to know more than XLA knows before the program runs."""
    if not fixed:
        raise NotFixed(reason)


class NotWithThese(NotFixed):
    """With these shapes a part of the program makes no sense: the host tells if it is reached."""


_checks: ContextVar[list[Any] | None] = own_variable("wengert_lowering_checks", None)


def checking() -> bool:
    """Whether an engine gathers failure checks here."""
    return _checks.get() is not None


def fail_if(bad: Callable[[], Any]) -> None:
    """Notes a condition (a function that gives a boolean of any shape) under which a step fails."""
    cached = _checks.get()
    if cached is None:
        return
    flag = bad()
    if not isinstance(flag, np.ndarray | np.generic | bool) or np.any(flag):
        cached.append(flag)  # anything but what is known to be fine


# Whole numbers whose range is known while lowering, by identity: (number, least, most).
_Ranges = dict[int, tuple[Any, int, int]]
_ranges: ContextVar[_Ranges | None] = own_variable("wengert_ranges", None)


def ranging(number: JaxArray, least: int, most: int) -> Setting[_Ranges | None, None]:
    """Says that a number lies in a range, for the lowerings of a block."""
    return Setting(_ranges, {**(_ranges.get() or {}), id(number): (number, least, most)})


def lies_within(number: JaxArray, least: int, most: int) -> bool:
    """Whether a number is known to lie in a range."""
    cached = (_ranges.get() or {}).get(id(number))
    return cached is not None and cached[0] is number and least <= cached[1] and cached[2] <= most


def gathering() -> Setting[list[Any] | None, list[Any]]:
    """Gathers the checks of a block."""
    results: list[Any] = []
    return Setting(_checks, results, results)


def as_numbers(mask: JaxArray, dtype: np.dtype) -> JaxArray:
    """A mask as ones and zeros.

    XLA takes `x * convert(mask)` for `select(mask, x, 0)`, which hides infinities and NaN in `x`;
    written as a choice between numbers, the product stays a product.
    """
    return lax.select(mask, lax.full_like(mask, 1, dtype), lax.full_like(mask, 0, dtype))


def is_symbol(size: Any) -> bool:
    """Whether a size is a symbol."""
    return not hasattr(size, "__index__")


def as_value(number: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """A number or a symbol for one as an array of rank 0; several as an array of rank 1."""
    if isinstance(number, tuple):
        if any(map(is_symbol, number)):
            return jnp.stack([as_value(n, dtype) for n in number])
    elif is_symbol(number):
        return jnp.asarray(number).astype(dtype)
    return np.asarray(number, dtype)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have in common."""
    try:
        return np.broadcast_shapes(*shapes)
    except TypeError:
        rank = max(map(len, shapes))
        rows = [(1,) * (rank - len(s)) + s for s in shapes]
        return tuple([_common(sizes) for sizes in zip(*rows, strict=True)])


def _common(sizes: tuple[int, ...]) -> int:
    result: Any = 1
    for d in sizes:
        if isinstance(d, int) and d == 1:
            continue
        if not (isinstance(result, int) and result == 1) and d != result:
            raise ValueError(f"sizes {result} and {d} are not known to be equal")
        result = d
    return result
