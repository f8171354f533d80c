"""Fingerprints of strings, the same numbers as TensorFlow's.

They are FarmHash's, those of SipHash with a key, and those of MurmurHash, which came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    operand_or_empty,
    require,
    require_dtype,
    static_int,
    static_tuple,
)

_M = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


class _Text:
    """One string of `n` bytes, as numbers of Python."""

    def __init__(self, s: bytes) -> None:
        self._bytes, self.n = s, len(s)

    def read(self, at: int, count: int) -> int:
        return int.from_bytes(self._bytes[at : at + count], "little")


class _Texts:
    """Many strings of `n` bytes each, as arrays of numbers, which wrap around by themselves."""

    def __init__(self, strings: np.ndarray, n: int) -> None:
        self._bytes = np.frombuffer(b"".join(strings), np.uint8).reshape(len(strings), n)
        self.n = n

    def read(self, at: int, count: int) -> np.ndarray:
        array = np.zeros((len(self._bytes), 8), np.uint8)
        array[:, :count] = self._bytes[:, at : at + count]
        return array.view("<u8")[:, 0].astype(np.uint64, copy=False)


def _right(v: int | np.ndarray, by: int) -> int | np.ndarray:
    return (v >> by | v << (64 - by)) & _M


def _left(v: int | np.ndarray, by: int) -> int | np.ndarray:
    return (v << by | v >> (64 - by)) & _M


def _mix(v: int | np.ndarray) -> int | np.ndarray:
    return v ^ v >> 47


def _pair(u: int | np.ndarray, v: int | np.ndarray, by: Any) -> int | np.ndarray:
    """Two words as one."""
    a = _mix((u ^ v) * by & _M)
    return _mix((v ^ a) * by & _M) * by & _M


def _short(s: Any) -> int | np.ndarray:
    """Up to 16 bytes."""
    n = s.n
    by = _K2 + n * 2 & _M
    if n >= 8:
        a, b = s.read(0, 8) + _K2 & _M, s.read(n - 8, 8)
        return _pair(_right(b, 37) * by + a & _M, (_right(a, 25) + b) * by & _M, by)
    if n >= 4:
        return _pair(n + (s.read(0, 4) << 3) & _M, s.read(n - 4, 4), by)
    if n:
        y, z = s.read(0, 1) + (s.read(n >> 1, 1) << 8), n + (s.read(n - 1, 1) << 2)
        return _mix((y * _K2 ^ z * _K0) & _M) * _K2 & _M
    return _K2


def _middle(s: Any) -> int | np.ndarray:
    """17 to 64 bytes."""
    n = s.n
    by = _K2 + n * 2 & _M
    a = s.read(0, 8) * (_K1 if n <= 32 else _K2) & _M
    b, c, d = s.read(8, 8), s.read(n - 8, 8) * by & _M, s.read(n - 16, 8) * _K2 & _M
    y = _right(a + b & _M, 43) + _right(c, 30) + d & _M
    z = _pair(y, a + _right(b + _K2 & _M, 18) + c & _M, by)
    if n <= 32:
        return z
    e, f = s.read(16, 8) * by & _M, s.read(24, 8)
    g, h = (y + s.read(n - 32, 8)) * by & _M, (z + s.read(n - 24, 8)) * by & _M
    first = _right(e + f & _M, 43) + _right(g, 30) + h & _M
    return _pair(first, e + _right(f + a & _M, 18) + g & _M, by)


def _block(
    s: Any, at: int, a: int | np.ndarray, b: int | np.ndarray
) -> tuple[int | np.ndarray, int | np.ndarray]:
    """32 bytes and two words as two words."""
    w, x, y, z = (s.read(at + 8 * k, 8) for k in range(4))
    a = a + w & _M
    b = _right(b + a + z & _M, 21)
    c = a
    a = a + x + y & _M
    return a + z & _M, b + _right(a, 44) + c & _M


def _long(s: Any) -> int | np.ndarray:
    """More than 64 bytes."""
    x, y = 81, 81 * _K1 + 113 & _M
    z = _mix(y * _K2 + 113 & _M) * _K2 & _M
    v, w = (0, 0), (0, 0)
    x = (x * _K2 & _M) + s.read(0, 8) & _M
    for at in range(0, (s.n - 1) // 64 * 64, 64):
        x, y, z, v, w = _turn(s, at, x, y, z, v, w, _K1, 1)
    by = _K1 + ((z & 0xFF) << 1) & _M
    w = w[0] + ((s.n - 1) & 63) & _M, w[1]
    v = v[0] + w[0] & _M, v[1]
    w = w[0] + v[0] & _M, w[1]
    x, y, z, v, w = _turn(s, s.n - 64, x, y, z, v, w, by, 9)
    first = _pair(v[0], w[0], by) + _mix(y) * _K0 + z & _M
    return _pair(first, _pair(v[1], w[1], by) + x & _M, by)


def _turn(
    s: Any,
    at: int,
    x: int | np.ndarray,
    y: int | np.ndarray,
    z: int | np.ndarray,
    v: tuple[int | np.ndarray, ...],
    w: tuple[int | np.ndarray, ...],
    by: int | np.ndarray,
    times: int,
) -> Any:
    """64 bytes more."""
    x = _right(x + y + v[0] + s.read(at + 8, 8) & _M, 37) * by & _M
    y = _right(y + v[1] + s.read(at + 48, 8) & _M, 42) * by & _M
    x = (x ^ w[1] * times) & _M
    y = y + v[0] * times + s.read(at + 40, 8) & _M
    z = _right(z + w[0] & _M, 33) * by & _M
    v = _block(s, at, v[1] * by & _M, x + w[0] & _M)
    w = _block(s, at + 32, z + w[1] & _M, y + s.read(at + 16, 8) & _M)
    return z, y, x, v, w


def _farm(s: Any) -> Any:
    if s.n <= 16:
        return _short(s)
    return _middle(s) if s.n <= 64 else _long(s)


def fingerprint(s: bytes) -> int:
    """FarmHash's fingerprint of a string, as an unsigned 64-bit number."""
    return _farm(_Text(s))


def _round(
    a: int | np.ndarray, b: int | np.ndarray, c: int | np.ndarray, d: int | np.ndarray
) -> tuple[Any, Any, Any, Any]:
    a, c = a + b & _M, c + d & _M
    b, d = _left(b, 13) ^ a, _left(d, 16) ^ c
    a = _left(a, 32)
    a, c = a + d & _M, c + b & _M
    b, d = _left(b, 17) ^ c, _left(d, 21) ^ a
    return a, b, _left(c, 32), d


def _sip(s: Any, key: tuple[int, int]) -> int | np.ndarray:
    """SipHash-2-4 of a string."""
    k, m = key[0] & _M, key[1] & _M
    a, b = k ^ 0x736F6D6570736575, m ^ 0x646F72616E646F6D
    c, d = k ^ 0x6C7967656E657261, m ^ 0x7465646279746573
    whole = s.n // 8 * 8
    for at in range(0, whole + 8, 8):
        word = s.read(at, 8) if at < whole else s.read(whole, s.n - whole) | (s.n & 255) << 56
        a, b, c, d = _round(*_round(a, b, c, d ^ word))
        a = a ^ word
    c = c ^ 255
    for _ in range(4):
        a, b, c, d = _round(a, b, c, d)
    return a ^ b ^ c ^ d


_BY, _SEED = 0xC6A4A7935BD1E995, 0xDECAFCAFFE


def _murmur(s: Any) -> int | np.ndarray:
    """MurmurHash64A of a string."""
    h = _SEED ^ (s.n * _BY & _M)
    whole = s.n // 8 * 8
    for at in range(0, whole, 8):
        word = _mix(s.read(at, 8) * _BY & _M) * _BY & _M
        h = (h ^ word) * _BY & _M
    if s.n > whole:
        h = (h ^ s.read(whole, s.n - whole)) * _BY & _M
    return _mix(_mix(h) * _BY & _M)


# As many strings of one length as are worth arrays.
_MANY = 16


_NAMED = {"farm": _farm, "murmur": _murmur}


def _kernel(x: np.ndarray, buckets: int, key: Any) -> np.ndarray:
    strings: Any = x.ravel()
    number = _NAMED.get(key) or (lambda s: _sip(s, key))
    array = np.empty(strings.shape, np.uint64)
    for n, places in _by_length(strings):
        if len(places) < _MANY:
            array[places] = [number(_Text(strings[i])) for i in places]
        else:
            array[places] = number(_Texts(strings[places], n))
    return (array % np.uint64(buckets)).astype(np.int64).reshape(x.shape)


def _by_length(strings: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The lengths that there are, each with the places of its strings."""
    lengths = np.fromiter(map(len, strings), np.intp, len(strings))
    order = np.argsort(lengths, kind="stable")
    kinds, starts = np.unique(lengths[order], return_index=True)
    return zip(kinds.tolist(), np.split(order, starts)[1:], strict=True)


STRING_HASH = Op(
    "string_hash",
    "x",
    kernel=_kernel,
    infer=lambda x, buckets, key: ShapeDtype(x.shape, dtypes.int64),
    lower=None,
    grad=None,
    accepts=dtypes.nums("s"),
    elementwise=True,
)


def _hashed(name: str, input: Any, num_buckets: TensorLike, key: str | tuple[int, ...]) -> Tensor:
    x = operand_or_empty(input, dtypes.string)
    require_dtype(x.dtype is dtypes.string, name, "strings are needed", x)
    buckets = static_int(name, num_buckets, "num_buckets")
    require(buckets >= 1, name, f"`num_buckets` must be positive; got {buckets}")
    return apply(STRING_HASH, x, buckets=buckets, key=key)


def to_hash_bucket_fast(
    input: TensorLike, num_buckets: TensorLike, name: str | None = None
) -> Tensor:
    """A number below `num_buckets` for each string, by its fingerprint; fixed for all time."""
    return _hashed("to_hash_bucket_fast", input, num_buckets, "farm")


def to_hash_bucket(input: TensorLike, num_buckets: TensorLike, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each string, as old programs stored it."""
    return _hashed("to_hash_bucket", input, num_buckets, "murmur")


def to_hash_bucket_strong(
    input: TensorLike, num_buckets: TensorLike, key: TensorLike, name: str | None = None
) -> Tensor:
    """A number below `num_buckets` for each string that nobody can foresee without the key."""
    words = static_tuple("to_hash_bucket_strong", key, "key")
    require(
        len(words) == 2, "to_hash_bucket_strong", f"`key` must have two numbers; got {len(words)}"
    )
    return _hashed("to_hash_bucket_strong", input, num_buckets, words)
