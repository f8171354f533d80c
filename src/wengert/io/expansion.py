"""Decompresses GZIP and ZLIB data: files as streams, and strings up to a limit.

A stream that ends too early is damage, also where TensorFlow takes what it got; an empty file is
one without contents. Several GZIP members one after the other are one stream.
"""

from __future__ import annotations

import io
import os
import zlib
from typing import IO, Any

from wengert.core.errors import DataLossError, ResourceExhaustedError, invalid
from wengert.io.paths import refused

_WINDOWS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}
KINDS = ("", *_WINDOWS)
_CHUNK = 1 << 18
_VARIABLE, _LIMIT = "WENGERT_DECOMPRESSION_LIMIT", 1 << 30  # bytes of one string


class _Stream(io.RawIOBase):
    """The plain bytes of a compressed stream, a bounded number at a time."""

    def __init__(self, file: IO[bytes], kind: str) -> None:
        self._file, self._kind = file, kind
        self._coder = zlib.decompressobj(_WINDOWS[kind])
        self._input, self._empty = b"", True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        result = self._next(len(buffer))
        buffer[: len(result)] = result
        return len(result)

    def _next(self, count: int) -> bytes:
        result = b""
        while not result:
            if self._coder.eof and not self._next_member():
                return b""
            if not self._input:
                self._input = self._file.read(_CHUNK)
            if not self._input and self._empty:
                return b""
            ended, self._empty = not self._input, False
            result = self._coder.decompress(self._input, count)
            self._input = self._coder.unconsumed_tail
            if ended and not result and not self._coder.eof:
                raise zlib.error("the stream is cut")
        return result

    def _next_member(self) -> bool:
        """Whether another GZIP member follows; zeros may pad a file."""
        rest = self._coder.unused_data
        while not (rest := rest.lstrip(b"\0")):
            if not (rest := self._file.read(_CHUNK)):
                return False
        if self._kind != "GZIP":
            return False
        self._coder, self._input = zlib.decompressobj(_WINDOWS["GZIP"]), rest
        return True


class _FileStream(_Stream):
    """A stream in a file, which its errors name."""

    def __init__(self, name: str, path: str, file: IO[bytes], kind: str) -> None:
        super().__init__(file, kind)
        self._name, self._path = name, path

    def _next(self, count: int) -> bytes:
        try:
            return super()._next(count)
        except zlib.error as error:
            rule = f"this file is no {self._kind} data, or is cut or damaged ({error})"
            help = f"Is it compressed with {self._kind}? Then write it again."
            raise refused(self._name, rule, self._path, help, DataLossError) from error


def opened(name: str, path: str, file: IO[bytes], kind: str) -> IO[bytes]:
    """The plain bytes of a file, to be read in pieces or by lines."""
    return io.BufferedReader(_FileStream(name, path, file, kind), _CHUNK) if kind else file


def expanded(name: str, text: bytes, kind: str) -> bytes:
    """The plain bytes of one string, not more of them than the limit."""
    limit = int(os.environ.get(_VARIABLE) or _LIMIT)
    stream, parts, size = _Stream(io.BytesIO(text), kind), [], 0
    try:
        while part := stream._next(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > limit:
                raise invalid(
                    name, f"{len(text)} bytes of {kind} data expand to more than {limit}",
                    help=f"If they are to be trusted, set {_VARIABLE} to more bytes.",
                    kind=ResourceExhaustedError,
                )  # fmt: skip
    except zlib.error as error:
        raise invalid(name, f"the bytes are no {kind} data, or cut ({error})") from error
    return b"".join(parts)
