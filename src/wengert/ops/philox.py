"""Philox4x32-10, the one source of random bits: a bijection of a counter under a key.

Written three times with the same bits: for one block in Python integers, for many in NumPy, and
for many in JAX. A state is `uint64[3]`: the counter's low and high half, then the key. Nothing
here knows about distributions or seeds.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from wengert.core.lazy_modules import lax
from wengert.core.types import JaxArray

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF
_WIDE = 0xFFFFFFFFFFFFFFFF
_ROUNDS = 10

_MULTIPLIERS = np.array([[_M0], [_M1]], np.uint64)
_STEPS = (
    np.arange(_ROUNDS, dtype=np.uint64)[:, None, None]
    * np.array([[_W0], [_W1]], np.uint64)
)  # fmt: skip
_MASK = np.uint64(_LOW)
_UPPER = int(sys.byteorder == "little")  # which half of 64 bits is the upper one
_HALF = np.uint64(32)
# Ten rounds over this many blocks stay in the second-level cache.
_CHUNK = 8192
# So few blocks are quicker one by one.
_FEW = 8


def block(key: int, low: int, high: int) -> tuple[int, int, int, int]:
    """The four words of one block, for a 64-bit key and the halves of a 128-bit counter."""
    a, b, c, d = low & _LOW, low >> 32 & _LOW, high & _LOW, high >> 32 & _LOW
    k0, k1 = key & _LOW, key >> 32 & _LOW
    for _ in range(_ROUNDS):
        p, q = _M0 * a, _M1 * c
        a, b, c, d = q >> 32 ^ b ^ k0, q & _LOW, p >> 32 ^ d ^ k1, p & _LOW
        k0, k1 = k0 + _W0 & _LOW, k1 + _W1 & _LOW
    return a, b, c, d


def mix(key: int, low: int, high: int = 0) -> tuple[int, int]:
    """Two 64-bit numbers that depend on every bit of the arguments: how seeds become keys."""
    a, b, c, d = block(key & _WIDE, low & _WIDE, high & _WIDE)
    return a | b << 32, c | d << 32


def blocks(key: int, low: np.ndarray, high: Any) -> np.ndarray:
    """The blocks at many counters (halves as `uint64[n]`, the high one perhaps a scalar)."""
    count = len(low)
    if count <= _FEW:
        tops = [int(high)] * count if np.ndim(high) == 0 else high.tolist()
        results = [block(key, a, b) for a, b in zip(low.tolist(), tops, strict=True)]
        return np.array(results, np.uint32).reshape(count, 4)
    out = np.empty((count, 4), np.uint32)
    keys = _STEPS + np.array([[key & _LOW], [key >> 32]], np.uint64)
    keys &= _MASK
    for start in range(0, count, _CHUNK):
        part = slice(start, min(start + _CHUNK, count))
        _rounds(keys, low[part], high if np.ndim(high) == 0 else high[part], out[part])
    return out


def _rounds(keys: np.ndarray, low: np.ndarray, high: Any, out: np.ndarray) -> None:
    """Ten rounds: words (0, 2) of the counter in `x`, 64 bits wide, (1, 3) in `y`.

    The upper and lower halves of products are views, reversed to cross over: no element moves, and
    none is cast, since `w` is the lower halves of `x`, whose upper ones are zero.
    """
    x = np.zeros((2, len(low)), np.uint64)
    w = x.view(np.uint32)[:, 1 - _UPPER :: 2]
    y = np.empty((2, len(low)), np.uint32)
    w[0], y[0] = low & _MASK, low >> _HALF
    w[1], y[1] = high & _MASK, high >> _HALF
    products = np.empty_like(x), np.empty_like(x)
    halves = [p.view(np.uint32)[::-1] for p in products]
    for i, k in enumerate(keys):
        p, h = products[i % 2], halves[i % 2]
        np.multiply(x, _MULTIPLIERS, p)
        np.bitwise_xor(h[:, _UPPER::2], y, w)
        np.bitwise_xor(x, k, x)
        y = h[:, 1 - _UPPER :: 2]
    out[:, 0], out[:, 1], out[:, 2], out[:, 3] = w[0], y[0], w[1], y[1]


def words(state: np.ndarray, count: int) -> np.ndarray:
    """The first `count` 32-bit words of the stream that starts at a state."""
    low, high, key = (int(s) for s in state)
    needed = (count + 3) // 4
    counters = np.arange(needed, dtype=np.uint64)
    tops: Any = np.uint64(high)
    if low:
        counters += np.uint64(low)
        if low + needed > _WIDE:
            tops = np.where(counters < np.uint64(low), np.uint64(high + 1 & _WIDE), tops)
    return blocks(key, counters, tops).reshape(-1)[:count]


def advance(state: np.ndarray, steps: int) -> np.ndarray:
    """The state `steps` blocks further on."""
    low, high, key = (int(s) for s in state)
    total = (low | high << 64) + steps
    return np.array([total & _WIDE, total >> 64 & _WIDE, key], np.uint64)


# The lowerings use operators on JAX arrays: integer formulas in `lax` calls are unreadable.


def lower_blocks(
    key: JaxArray | np.generic, low: JaxArray, high: JaxArray
) -> tuple[JaxArray, JaxArray, JaxArray, JaxArray]:
    """`blocks` in JAX: four `uint32` arrays of the shape of `low`.

    Words stay 32 bits wide but for the products, so that XLA knows them for products of 32 bits.
    """
    high = lax.broadcast(high, low.shape) if not high.shape else high
    a, b, c, d = _lower(low), _upper(low), _lower(high), _upper(high)
    k0, k1 = _lower(key), _upper(key)
    for _ in range(_ROUNDS):
        p, q = (lax.convert_element_type(w, np.uint64) for w in (a, c))
        p, q = p * np.uint64(_M0), q * np.uint64(_M1)
        a, b, c, d = _upper(q) ^ b ^ k0, _lower(q), _upper(p) ^ d ^ k1, _lower(p)
        k0, k1 = k0 + np.uint32(_W0), k1 + np.uint32(_W1)
    return a, b, c, d


def _lower(x: JaxArray | np.generic) -> JaxArray:
    return lax.convert_element_type(x, np.uint32)


def _upper(x: Any) -> JaxArray:
    return lax.convert_element_type(x >> np.uint64(32), np.uint32)


def lower_words(state: JaxArray, count: int) -> JaxArray:
    """`words` in JAX."""
    needed = (count + 3) // 4
    low, high, key = state[0], state[1], state[2]
    counters = lax.iota(np.uint64, needed) + low
    tops = lax.convert_element_type(counters < low, np.uint64) + high
    return lax.slice_in_dim(_interleaved(lower_blocks(key, counters, tops)), 0, count)


def _interleaved(words: tuple[JaxArray, ...]) -> JaxArray:
    """The words of all blocks, block by block.

    A choice by position is a loop that XLA turns into vector code and joins with what reads it; a
    concatenation along an axis this short is a loop of branches. The barrier keeps the ten rounds
    out of it, which would run once for each word.
    """
    words = lax.optimization_barrier(words)
    shape = (*words[0].shape, len(words))
    place = lax.broadcasted_iota(np.int32, shape, 1)
    result = lax.broadcast_in_dim(words[-1], shape, (0,))
    for k, word in enumerate(words[:-1]):
        result = lax.select(place == k, lax.broadcast_in_dim(word, shape, (0,)), result)
    return lax.reshape(result, (math.prod(shape),))
