"""The wire format of protocol buffers: tagged numbers and byte strings, and nothing above that."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WHOLE = (1 << 64) - 1


class DecodeError(ValueError):
    """Bytes that are no message."""


def varint(number: int) -> bytes:
    """A whole number, seven bits at a time; negative ones as 64 bits."""
    number &= _WHOLE
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, data: bytes) -> bytes:
    """A field that holds bytes: text, a message, or packed numbers."""
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """A field that holds a whole number."""
    return varint(number << 3 | VARINT) + varint(value)


def packed(numbers: Iterable[int]) -> bytes:
    """Whole numbers one after the other."""
    return b"".join(map(varint, numbers))


def fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Number, kind and content of each field: an `int`, or bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = read_varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
            yield tag >> 3, kind, value
            continue
        if kind == BYTES:
            size, at = read_varint(data, at)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise DecodeError(f"there is no field of kind {kind}")
        if at + size > end:
            raise DecodeError("a field is longer than the message")
        yield tag >> 3, kind, data[at : at + size]
        at += size


def parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each field that holds bytes; others are unknown here, and no error."""
    return ((number, content) for number, kind, content in fields(data) if kind == BYTES)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where what follows it begins."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DecodeError("a number has no end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _WHOLE, at
        shift += 7


def signed(number: int) -> int:
    """A 64-bit number with its sign."""
    return number - (1 << 64) if number >> 63 else number


def int64s(kind: int, content: Any) -> list[int]:
    """The signed numbers of a repeated field, packed or single."""
    if kind != BYTES:
        return [signed(content)] if kind == VARINT else []
    if content.isascii():  # each number is one byte
        return list(content)
    result, at = [], 0
    while at < len(content):
        value, at = read_varint(content, at)
        result.append(signed(value))
    return result


def texts(kind: int, content: Any) -> list[bytes]:
    """The byte string of a repeated field."""
    return [content] if kind == BYTES else []


def floats(kind: int, content: bytes) -> list[float]:
    """The floats of a repeated field, packed or single."""
    if kind not in (BYTES, FIXED32):
        return []
    if len(content) % 4:
        raise DecodeError("a list of floats is cut")
    return np.frombuffer(content, "<f4").tolist()


def float_bytes(numbers: list[float]) -> bytes:
    """Floats of 32 bits one after the other."""
    return struct.pack(f"<{len(numbers)}f", *numbers)
