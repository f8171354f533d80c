"""Divisions that round, and their remainders: towards minus infinity or towards zero.

Integers divided by 0 are an error; floats follow IEEE. Quotients have no gradient.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert.graph import known_elements
from wengert.ops.declare import (
    Hazards,
    JaxArray,
    TensorLike,
    binary,
    dtypes,
    fail_if,
    function_of,
    lax,
    require,
)
from wengert.ops.threads import in_parts


def _whole(name: str, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether these are integers; refuses a divisor of 0 if so."""
    if x.dtype.kind not in "iu":
        return False
    require(
        y.all(),
        name,
        "integer division by zero",
        x,
        y,
        help="Replace the zeros with tf.where, or divide floats.",
    )
    return True


def _fail_by_zero(x: JaxArray, y: JaxArray | np.ndarray) -> None:
    """Notes the failure of an integer divided by 0."""
    if y.dtype.kind in "iu" and not (isinstance(y, np.ndarray) and y.all()):
        fail_if(lambda: y == 0)


def _rounds_up(r: JaxArray, y: JaxArray | np.ndarray) -> JaxArray:
    """Where truncation gave one more than floor: the remainder has not the divisor's sign."""
    zero = lax.full_like(y, 0)
    return lax.bitwise_and(lax.ne(r, zero), lax.ne(lax.lt(r, zero), lax.lt(y, zero)))


def _lower_floordiv(x: JaxArray, y: JaxArray) -> JaxArray:
    q = lax.div(x, y)
    if x.dtype.kind not in "iu":
        return lax.floor(q)
    down = lax.sub(q, lax.full_like(q, 1))
    return lax.select(_rounds_up(lax.rem(x, y), y), down, q)


_floor_quotient = in_parts(lambda x, y: np.floor(np.true_divide(x, y)))


def _floordiv(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if _whole("floordiv", x, y):
        return np.floor_divide(x, y)
    return _floor_quotient(x, y)


FLOORDIV = binary(
    "floordiv",
    _floordiv,
    _lower_floordiv,
    grad=None,
    accepts=dtypes.REAL,
    fails=_fail_by_zero,
    hazards=Hazards(divides=True),
    contents=known_elements.of_each(operator.floordiv),
)


@function_of(FLOORDIV)
def floordiv(x: Any, y: TensorLike, name: str | None = None) -> Any:
    """The quotient rounded down; an integer divided by 0 is an error."""


# Quotients from here on have products that float64 cannot hold.
_MOST = 2.0**28


def _fmod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`np.fmod`, which takes the bits of a quotient one by one; for many float32 in float64."""
    if x.dtype != np.float32 or x.size < _MANY or x.shape != y.shape:
        return np.fmod(x, y)
    wide, by = x.astype(np.float64), y.astype(np.float64)
    quotient = np.trunc(wide / by)
    if not np.abs(quotient).max() < _MOST:
        return np.fmod(x, y)
    rest = wide - quotient * by  # exact; the quotient may have been rounded up to a whole number
    rest = np.where((rest != 0) & ((rest < 0) != (wide < 0)), rest + np.copysign(by, wide), rest)
    return np.copysign(rest, wide).astype(np.float32)


_MANY = 1024


def _plain_remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    r = np.asarray(_fmod(x, y))
    np.add(r, y, out=r, where=(r != 0) & ((r < 0) != (y < 0)))
    return r


def _lower_remainder(x: JaxArray, y: JaxArray) -> JaxArray:
    r = lax.rem(x, y)
    return lax.select(_rounds_up(r, y), lax.add(r, y), r)


_float_remainder = in_parts(_plain_remainder)


def _floormod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if _whole("floormod", x, y):
        return np.remainder(x, y)
    return _float_remainder(x, y)


FLOORMOD = binary(
    "floormod",
    _floormod,
    _lower_remainder,
    grad=(lambda g: g, lambda g, x, y: -g * floordiv(x, y)),
    accepts=dtypes.REAL,
    fails=_fail_by_zero,
    hazards=Hazards(divides=True),
    contents=known_elements.of_each(operator.mod),
)


@function_of(FLOORMOD)
def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The remainder with the sign of `y`; an integer divided by 0 is an error."""


mod = floormod


_cut_quotient = in_parts(lambda x, y: np.trunc(np.true_divide(x, y)))
_cut_remainder = in_parts(_fmod)


def _truncatediv(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if _whole("truncatediv", x, y):
        return np.floor_divide(x - np.fmod(x, y), y)
    return _cut_quotient(x, y)


def _lower_truncatediv(x: JaxArray, y: JaxArray) -> JaxArray:
    q = lax.div(x, y)
    if q.dtype.kind in "iu":
        return q
    return lax.select(lax.lt(q, lax.full_like(q, 0)), lax.ceil(q), lax.floor(q))


@function_of(
    binary(
        "truncatediv",
        _truncatediv,
        _lower_truncatediv,
        grad=None,
        accepts=dtypes.REAL,
        fails=_fail_by_zero,
        hazards=Hazards(divides=True),
    )
)
def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The quotient rounded towards 0; an integer divided by 0 is an error."""


def _truncatemod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if _whole("truncatemod", x, y):
        return np.fmod(x, y)
    return _cut_remainder(x, y)


@function_of(
    binary(
        "truncatemod",
        _truncatemod,
        lambda x, y: lax.rem(x, y),
        grad=(lambda g: g, lambda g, x, y: -g * truncatediv(x, y)),
        accepts=dtypes.REAL,
        fails=_fail_by_zero,
        hazards=Hazards(divides=True),
    )
)
def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The remainder with the sign of `x`; an integer divided by 0 is an error."""
