"""Trigonometric functions of float32 for XLA, which would call the C library for each number.

The formulas are those of the Cephes library (S. Moshier), without branches, so that vector units
work on many numbers at once. Sine, cosine and tangent reduce their argument in four steps, which
holds up to `_FAR`; arrays with numbers beyond, and other dtypes, are left to XLA.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import JaxArray, is_symbol, lax

_FAR = 8192.0
# Fewer numbers are not worth a look at the largest of them.
_FEW = 4096
# π/4 in four parts: products of the first three with numbers of 14 bits are exact.
_PARTS = (0.78515625, 0.00024175643920898438, 1.5692785382270813e-07, 3.038550314138355e-11)

_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_TAN = (
    9.38540185543e-3, 3.11992232697e-3, 2.44301354525e-2,
    5.34112807005e-2, 1.33387994085e-1, 3.33331568548e-1,
)  # fmt: skip
_ASIN = (
    4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1,
)  # fmt: skip
_ATAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)


def _polynomial(z: JaxArray, coefficients: tuple[float, ...]) -> JaxArray:
    result = lax.full_like(z, coefficients[0])
    for c in coefficients[1:]:
        result = result * z + np.float32(c)
    return result


def _is_float32(*xs: JaxArray) -> bool:
    return all(x.dtype == np.float32 for x in xs)


def _reduced(x: JaxArray) -> tuple[JaxArray, JaxArray]:
    """An even number of eighths of a turn, and what is left of |x|, in [-π/4, π/4]."""
    size = lax.abs(x)
    eighth = lax.convert_element_type(size * np.float32(4 / math.pi), np.int32)
    eighth = (eighth + 1) & ~1
    count = lax.convert_element_type(eighth, np.float32)
    for part in _PARTS:
        size = size - count * np.float32(part)
    return eighth, size


def _sin_of(y: JaxArray, z: JaxArray) -> JaxArray:
    return _polynomial(z, _SIN) * z * y + y


def _cos_of(z: JaxArray) -> JaxArray:
    return _polynomial(z, _COS) * z * z - np.float32(0.5) * z + 1


def near_sin(x: JaxArray) -> JaxArray:
    """The sine of float32 numbers of up to `_FAR`."""
    eighth, y = _reduced(x)
    z = y * y
    out = lax.select(eighth & 2 != 0, _cos_of(z), _sin_of(y, z))
    out = lax.select(eighth & 4 != 0, -out, out)
    return _with_sign(out, x)


def near_cos(x: JaxArray) -> JaxArray:
    """The cosine of float32 numbers of up to `_FAR`."""
    eighth, y = _reduced(x)
    z = y * y
    out = lax.select(eighth & 2 != 0, _sin_of(y, z), _cos_of(z))
    return lax.select((eighth + 2) & 4 != 0, -out, out)


def _near_tan(x: JaxArray) -> JaxArray:
    eighth, y = _reduced(x)
    z = y * y
    out = _polynomial(z, _TAN) * z * y + y
    out = lax.select(eighth & 2 != 0, -1 / out, out)
    return _with_sign(out, x)


def _with_sign(out: JaxArray, x: JaxArray) -> JaxArray:
    """`out`, or its negative where `x` is below zero or the negative zero."""
    return lax.select(_is_below(x), -out, out)


def _is_below(x: JaxArray) -> JaxArray:
    return lax.bitcast_convert_type(x, np.int32) < 0


def _periodic(name: str, near: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def lower(x: JaxArray) -> JaxArray:
        usual = getattr(lax, name)
        if not _is_float32(x) or any(map(is_symbol, x.shape)) or x.size < _FEW:
            return usual(x)
        size = lax.reduce(lax.abs(x), np.float32(0), lax.max, tuple(range(x.ndim)))
        return lax.cond(size < _FAR, near, usual, x)  # a NaN is not below

    return lower


lower_sin = _periodic("sin", near_sin)
lower_cos = _periodic("cos", near_cos)
lower_tan = _periodic("tan", _near_tan)


def _half_way(size: JaxArray) -> JaxArray:
    """The arc sine of the root of (1 - size)/2, for `size` from 0.5 on; of `size` below that."""
    is_large = size > np.float32(0.5)
    z = lax.select(is_large, np.float32(0.5) * (1 - size), size * size)
    y = lax.select(is_large, lax.sqrt(z), size)
    return _polynomial(z, _ASIN) * z * y + y


def lower_asin(x: JaxArray) -> JaxArray:
    """The inverse sine; NaN outside [-1, 1]."""
    if not _is_float32(x):
        return lax.asin(x)
    size = lax.abs(x)
    part = _half_way(size)
    out = lax.select(size > np.float32(0.5), np.float32(math.pi / 2) - 2 * part, part)
    return _with_sign(out, x)


def lower_acos(x: JaxArray) -> JaxArray:
    """The inverse cosine; NaN outside [-1, 1]."""
    if not _is_float32(x):
        return lax.acos(x)
    part = _half_way(lax.abs(x))
    middle = np.float32(math.pi / 2) - lax.select(x < 0, -part, part)
    ends = lax.select(x < 0, np.float32(math.pi) - 2 * part, 2 * part)
    return lax.select(lax.abs(x) > np.float32(0.5), ends, middle)


def _near_atan(y: JaxArray) -> JaxArray:
    """The inverse tangent of numbers in [0, 1]."""
    is_steep = y > np.float32(math.tan(math.pi / 8))
    y = lax.select(is_steep, (y - 1) / (y + 1), y)
    z = y * y
    out = _polynomial(z, _ATAN) * z * y + y
    return lax.select(is_steep, out + np.float32(math.pi / 4), out)


def lower_atan(x: JaxArray) -> JaxArray:
    """The inverse tangent."""
    if not _is_float32(x):
        return lax.atan(x)
    size = lax.abs(x)
    is_far = size > 1
    out = _near_atan(lax.select(is_far, 1 / size, size))
    return _with_sign(lax.select(is_far, np.float32(math.pi / 2) - out, out), x)


def lower_atan2(y: JaxArray, x: JaxArray) -> JaxArray:
    """The angle of the point (x, y)."""
    if not _is_float32(x, y):
        return lax.atan2(y, x)
    across, up = lax.abs(x), lax.abs(y)
    least, most = lax.min(across, up), lax.max(across, up)
    ratio = lax.select(least == most, lax.full_like(x, 1), least / most)
    ratio = lax.select(most == 0, lax.full_like(x, 0), ratio)
    out = _near_atan(lax.select((x != x) | (y != y), x + y, ratio))
    out = lax.select(up > across, np.float32(math.pi / 2) - out, out)
    out = lax.select(_is_below(x), np.float32(math.pi) - out, out)
    return _with_sign(out, y)
