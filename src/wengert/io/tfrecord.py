"""TFRecord files: byte strings one after the other, each with its length and checksums."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from wengert.core.errors import DataLossError, PermissionDeniedError, at_site, describe, invalid
from wengert.io.expansion import KINDS, opened
from wengert.io.paths import local, refused, reporting


def masked(data: bytes) -> int:
    """The CRC-32C of some bytes in the form that records hold, so that sums of sums stay apart."""
    from google_crc32c import value

    crc = value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class TFRecordOptions:
    """How a file of records is compressed: '', 'GZIP' or 'ZLIB', and how hard."""

    def __init__(
        self, compression_type: str | None = None, flush_mode: Any = None,
        input_buffer_size: Any = None, output_buffer_size: Any = None, window_bits: Any = None,
        compression_level: int | None = None, compression_method: Any = None, mem_level: Any = None,
        compression_strategy: Any = None,
    ) -> None:  # fmt: skip
        self.compression_type = compression("TFRecordOptions", compression_type)
        self.compression_level = compression_level


def compression(name: str, kind: str | None) -> str:
    """The name of a compression, checked."""
    if kind is None or (isinstance(kind, str) and kind in KINDS):
        return kind or ""
    raise invalid(name, "`compression_type` must be one of '', 'GZIP' and 'ZLIB'", describe(kind))


class TFRecordWriter:
    """Writes byte strings to a TFRecord file.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> [x.numpy() for x in tf.data.TFRecordDataset(path)]
    [b'one']
    """

    def __init__(self, path: Any, options: TFRecordOptions | str | None = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._path = local("TFRecordWriter", path)
        self._file: Any = None
        with reporting("TFRecordWriter", self._path):
            self._file = _to_write(self._path, options)

    def write(self, record: Any) -> None:
        """Adds a record: bytes, or a string, which is written in UTF-8."""
        if self._file is None:
            words = f"TFRecordWriter.write: {self._path} was closed. Write before that."
            raise at_site(PermissionDeniedError(None, None, words))
        data = record.numpy() if hasattr(record, "numpy") else record
        data = data.encode() if isinstance(data, str) else data
        if not isinstance(data, bytes):
            help = "Use SerializeToString() of an example, or tf.io.serialize_tensor."
            words = f"TFRecordWriter.write: a record is bytes; got {describe(record)}. {help}"
            raise at_site(TypeError(words))
        length = struct.pack("<Q", len(data))
        with reporting("TFRecordWriter.write", self._path):
            self._file.write(length + struct.pack("<I", masked(length)))
            self._file.write(data + struct.pack("<I", masked(data)))

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is not None:
            with reporting("TFRecordWriter.flush", self._path):
                self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        file, self._file = self._file, None
        if file is not None:
            with reporting("TFRecordWriter.close", self._path):
                file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()


class _Deflated:
    """A file that is written through zlib."""

    def __init__(self, path: str, level: int) -> None:
        self._file, self._coder = open(path, "wb"), zlib.compressobj(level)  # noqa: SIM115  # closed in close

    def write(self, data: bytes) -> None:
        self._file.write(self._coder.compress(data))

    def flush(self) -> None:
        self._file.write(self._coder.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        self._file.write(self._coder.flush())
        self._file.close()


def _to_write(path: str, options: TFRecordOptions) -> Any:
    level = options.compression_level
    if options.compression_type == "GZIP":
        return gzip.open(path, "wb", 9 if level is None or level < 0 else level)
    if options.compression_type == "ZLIB":
        return _Deflated(path, -1 if level is None else level)
    return open(path, "wb")  # the caller closes it


def records(name: str, path: str, kind: str) -> Iterator[bytes]:
    """The records of a file, checked one by one."""
    with reporting(name, path), open(path, "rb") as file:
        plain, number = opened(name, path, file, kind), 0
        while (record := _next_record(name, path, plain, number)) is not None:
            yield record
            number += 1


def _next_record(name: str, path: str, file: Any, number: int) -> bytes | None:
    head = file.read(12)
    if not head:
        return None
    if len(head) < 12 or masked(head[:8]) != struct.unpack("<I", head[8:])[0]:
        help = "The file was cut or damaged, is compressed (give `compression_type`), or holds "
        raise _damaged(name, path, f"record {number} has no valid length", help + "no records.")
    length = struct.unpack("<Q", head[:8])[0]
    data, tail = file.read(length), file.read(4)
    if len(data) < length or len(tail) < 4 or masked(data) != struct.unpack("<I", tail)[0]:
        raise _damaged(
            name, path, f"record {number} is cut or damaged", "Write the file again, or take fewer."
        )
    return data


def _damaged(name: str, path: str, rule: str, help: str) -> Exception:
    return refused(name, rule, path, help, DataLossError)
