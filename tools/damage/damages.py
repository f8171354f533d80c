"""Damaged forms of a byte string: cut, flipped, overwritten, moved, doubled and added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Damage(NamedTuple):
    """What was done, in words, and the bytes after it."""

    what: str
    data: bytes


def damages(data: bytes, seed: int, count: int) -> Iterator[Damage]:
    """At most `count` damaged forms of `data`; half of them are cut, at every length if that fits."""
    rng = np.random.default_rng(seed)
    size = len(data)
    cuts = range(size)
    if size > count // 2:
        near = {*range(min(16, size)), *range(max(size - 16, 0), size)}
        wanted = max(count // 2 - len(near), 0)
        cuts = sorted({*near, *rng.integers(0, size, wanted).tolist()})
    for length in cuts[: max(count // 2, 1)]:
        yield Damage(f"cut to {length} of {size} bytes", data[:length])
    changes = [_flip, _flip, _flip, _byte, _extreme, _block, _swap, _drop, _double, _append]
    for number in range(count - min(len(cuts), count // 2)):
        result = changes[number % len(changes)](data, rng)
        if result.data != data:
            yield result


def _place(data: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(0, max(len(data), 1)))


def _flip(data: bytes, rng: np.random.Generator) -> Damage:
    at, bit = _place(data, rng), int(rng.integers(0, 8))
    changed = bytes([data[at] ^ (1 << bit)]) if data else b"\x01"
    return Damage(f"bit {bit} of byte {at} flipped", data[:at] + changed + data[at + 1 :])


def _byte(data: bytes, rng: np.random.Generator) -> Damage:
    at, value = _place(data, rng), int(rng.integers(0, 256))
    return Damage(f"byte {at} set to {value}", data[:at] + bytes([value]) + data[at + 1 :])


def _extreme(data: bytes, rng: np.random.Generator) -> Damage:
    at, width = _place(data, rng), int(rng.choice([1, 2, 4, 8]))
    value = bytes([int(rng.choice([0x00, 0x7F, 0x80, 0xFF]))])
    return Damage(
        f"{width} bytes at {at} set to {value!r}", data[:at] + value * width + data[at + width :]
    )


def _block(data: bytes, rng: np.random.Generator) -> Damage:
    at, width = _place(data, rng), int(rng.integers(1, 65))
    noise = rng.bytes(min(width, len(data) - at))
    return Damage(f"{width} random bytes at {at}", data[:at] + noise + data[at + len(noise) :])


def _swap(data: bytes, rng: np.random.Generator) -> Damage:
    width = int(rng.choice([1, 4, 16, 64]))
    a, b = sorted(int(x) for x in rng.integers(0, max(len(data) - width, 1), 2))
    b = max(b, min(a + width, len(data)))
    moved = data[:a] + data[b : b + width] + data[a + width : b] + data[a : a + width]
    return Damage(f"{width} bytes at {a} and {b} swapped", moved + data[b + width :])


def _drop(data: bytes, rng: np.random.Generator) -> Damage:
    at, width = _place(data, rng), int(rng.choice([1, 4, 16, 64]))
    return Damage(f"{width} bytes at {at} removed", data[:at] + data[at + width :])


def _double(data: bytes, rng: np.random.Generator) -> Damage:
    at, width = _place(data, rng), int(rng.choice([1, 4, 16, 64]))
    return Damage(f"{width} bytes at {at} doubled", data[: at + width] + data[at:])


def _append(data: bytes, rng: np.random.Generator) -> Damage:
    width = int(rng.integers(1, 65))
    return Damage(f"{width} random bytes added", data + rng.bytes(width))
