"""Fingerprints of strings, the same numbers as TensorFlow's: FarmHash's, and SipHash with a key."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid, invalid_dtype
from wengert.core.op import Op, Spec
from wengert.ops.declare import static_int, static_tuple

_M = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _word(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 8], "little")


def _half(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 4], "little")


def _right(v: int, by: int) -> int:
    return (v >> by | v << (64 - by)) & _M


def _left(v: int, by: int) -> int:
    return (v << by | v >> (64 - by)) & _M


def _mix(v: int) -> int:
    return v ^ v >> 47


def _pair(u: int, v: int, by: int) -> int:
    """Two words as one."""
    a = _mix((u ^ v) * by & _M)
    return _mix((v ^ a) * by & _M) * by & _M


def _short(s: bytes) -> int:
    """Up to 16 bytes."""
    n = len(s)
    by = _K2 + n * 2 & _M
    if n >= 8:
        a, b = _word(s, 0) + _K2 & _M, _word(s, n - 8)
        return _pair(_right(b, 37) * by + a & _M, (_right(a, 25) + b) * by & _M, by)
    if n >= 4:
        return _pair(n + (_half(s, 0) << 3) & _M, _half(s, n - 4), by)
    if n:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[-1] << 2)
        return _mix((y * _K2 ^ z * _K0) & _M) * _K2 & _M
    return _K2


def _middle(s: bytes) -> int:
    """17 to 64 bytes."""
    n = len(s)
    by = _K2 + n * 2 & _M
    a = _word(s, 0) * (_K1 if n <= 32 else _K2) & _M
    b, c, d = _word(s, 8), _word(s, n - 8) * by & _M, _word(s, n - 16) * _K2 & _M
    y = _right(a + b & _M, 43) + _right(c, 30) + d & _M
    z = _pair(y, a + _right(b + _K2 & _M, 18) + c & _M, by)
    if n <= 32:
        return z
    e, f = _word(s, 16) * by & _M, _word(s, 24)
    g, h = (y + _word(s, n - 32)) * by & _M, (z + _word(s, n - 24)) * by & _M
    first = _right(e + f & _M, 43) + _right(g, 30) + h & _M
    return _pair(first, e + _right(f + a & _M, 18) + g & _M, by)


def _block(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes and two words as two words."""
    w, x, y, z = (_word(s, at + 8 * k) for k in range(4))
    a = a + w & _M
    b = _right(b + a + z & _M, 21)
    c = a
    a = a + x + y & _M
    return a + z & _M, b + _right(a, 44) + c & _M


def _long(s: bytes) -> int:
    """More than 64 bytes."""
    x, y = 81, 81 * _K1 + 113 & _M
    z = _mix(y * _K2 + 113 & _M) * _K2 & _M
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _word(s, 0) & _M
    for at in range(0, (len(s) - 1) // 64 * 64, 64):
        x, y, z, v, w = _turn(s, at, x, y, z, v, w, _K1, 1)
    by = _K1 + ((z & 0xFF) << 1) & _M
    w = w[0] + ((len(s) - 1) & 63) & _M, w[1]
    v = v[0] + w[0] & _M, v[1]
    w = w[0] + v[0] & _M, w[1]
    x, y, z, v, w = _turn(s, len(s) - 64, x, y, z, v, w, by, 9)
    first = _pair(v[0], w[0], by) + _mix(y) * _K0 + z & _M
    return _pair(first, _pair(v[1], w[1], by) + x & _M, by)


def _turn(
    s: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], by: int,
    times: int,
) -> Any:  # fmt: skip
    """64 bytes more."""
    x = _right(x + y + v[0] + _word(s, at + 8) & _M, 37) * by & _M
    y = _right(y + v[1] + _word(s, at + 48) & _M, 42) * by & _M
    x = (x ^ w[1] * times) & _M
    y = y + v[0] * times + _word(s, at + 40) & _M
    z = _right(z + w[0] & _M, 33) * by & _M
    v = _block(s, at, v[1] * by & _M, x + w[0] & _M)
    w = _block(s, at + 32, z + w[1] & _M, y + _word(s, at + 16) & _M)
    return z, y, x, v, w


def fingerprint(s: bytes) -> int:
    """FarmHash's fingerprint of a string, as an unsigned 64-bit number."""
    if len(s) <= 16:
        return _short(s)
    return _middle(s) if len(s) <= 64 else _long(s)


def _round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    a, c = a + b & _M, c + d & _M
    b, d = _left(b, 13) ^ a, _left(d, 16) ^ c
    a = _left(a, 32)
    a, c = a + d & _M, c + b & _M
    b, d = _left(b, 17) ^ c, _left(d, 21) ^ a
    return a, b, _left(c, 32), d


def keyed(s: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 of a string."""
    k, m = key[0] & _M, key[1] & _M
    state = (
        k ^ 0x736F6D6570736575, m ^ 0x646F72616E646F6D, k ^ 0x6C7967656E657261,
        m ^ 0x7465646279746573,
    )  # fmt: skip
    padded = s + bytes(-(len(s) + 1) % 8) + bytes([len(s) & 255])
    for at in range(0, len(padded), 8):
        word = _word(padded, at)
        a, b, c, d = _round(*_round(*state[:3], state[3] ^ word))
        state = a ^ word, b, c, d
    a, b, c, d = state
    state = a, b, c ^ 255, d
    for _ in range(4):
        state = _round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _kernel(x: np.ndarray, buckets: int, key: Any) -> np.ndarray:
    number = fingerprint if key is None else lambda s: keyed(s, key)
    found = np.array([number(s) % buckets for s in x.ravel()], np.int64)
    return found.reshape(x.shape)


STRING_HASH = Op(
    "string_hash",
    "x",
    kernel=_kernel,
    infer=lambda x, buckets, key: Spec(x.shape, dtypes.int64),
    lower=None,
    grad=None,
    accepts=dtypes.nums("s"),
)


def _hashed(name: str, input: Any, num_buckets: Any, key: Any) -> Any:
    x = operand(input)
    if x.dtype is not dtypes.string:
        raise invalid_dtype(name, "strings are needed", x)
    buckets = static_int(name, num_buckets, "num_buckets")
    if buckets < 1:
        raise invalid(name, f"`num_buckets` must be positive; got {buckets}")
    return apply(STRING_HASH, x, buckets=buckets, key=key)


def to_hash_bucket_fast(input: Any, num_buckets: Any, name: Any = None) -> Any:
    """A number below `num_buckets` for each string, by its fingerprint; fixed for all time."""
    return _hashed("to_hash_bucket_fast", input, num_buckets, None)


def to_hash_bucket_strong(input: Any, num_buckets: Any, key: Any, name: Any = None) -> Any:
    """A number below `num_buckets` for each string that nobody can foresee without the key."""
    words = static_tuple("to_hash_bucket_strong", key, "key")
    if len(words) != 2:
        raise invalid("to_hash_bucket_strong", f"`key` must have two numbers; got {len(words)}")
    return _hashed("to_hash_bucket_strong", input, num_buckets, words)
