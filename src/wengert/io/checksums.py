"""CRC-32C, the checksum of records in files, and the masked form in which they hold it."""

from __future__ import annotations

from functools import cache

import numpy as np

_POLYNOMIAL = 0x82F63B78
_BLOCK = 1024
_SHORT = 64  # bytes that are taken one by one


@cache
def _table() -> np.ndarray:
    """What the register holds after each byte, if it was zero before."""
    rows = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        rows = (rows >> 1) ^ np.where(rows & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    return rows


@cache
def _numbers() -> list[int]:
    return _table().tolist()


@cache
def _places() -> tuple[np.ndarray, np.ndarray]:
    """The same for a byte at each place of a block, and where a place's 256 numbers begin."""
    table, rows = _table(), [_table()]
    for _ in range(_BLOCK - 1):
        rows.append(table[rows[-1] & 0xFF] ^ (rows[-1] >> 8))
    return np.concatenate(rows[::-1]), np.arange(_BLOCK) * 256


def crc32c(data: bytes) -> int:
    """The checksum of some bytes."""
    crc = 0xFFFFFFFF
    if len(data) < _SHORT:
        table = _numbers()
        for byte in data:
            crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
        return crc ^ 0xFFFFFFFF
    # Zeros in front of all bytes, to fill the first block, leave a register of zero as it is.
    fill = -len(data) % _BLOCK
    padded = np.zeros(fill + len(data), np.uint8)
    padded[fill:] = np.frombuffer(data, np.uint8)
    padded[fill : fill + 4] ^= 0xFF  # a register of ones
    return _blocks(padded.reshape(-1, _BLOCK)) ^ 0xFFFFFFFF


def _blocks(blocks: np.ndarray) -> int:
    numbers, starts = _places()
    crc = 0
    for block in blocks:
        block[:4] ^= np.frombuffer(crc.to_bytes(4, "little"), np.uint8)
        crc = int(np.bitwise_xor.reduce(numbers[starts + block]))
    return crc


def masked(data: bytes) -> int:
    """The checksum as records hold it, so that sums of sums stay apart."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
