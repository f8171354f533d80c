"""Datasets of the lines, records and pieces of files: `TextLineDataset` and its relatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from wengert.core.apply import wrap
from wengert.core.dtypes import string
from wengert.core.errors import OpError, invalid
from wengert.core.types import TensorLike, TensorSpec
from wengert.data.dataset import Dataset
from wengert.data.file_datasets import file_names, scalar_text
from wengert.data.plan import static_int
from wengert.data.sources import Started
from wengert.io.expansion import opened
from wengert.io.paths import local, reporting
from wengert.io.tfrecord import compression, records


class _Records(Started):
    """Records; where a function must be tried out, it sees the first of them."""

    kind = "TFRecordDatasetV2"

    def sample(self) -> Any:
        try:
            return next(islice(self._begin(), 1), self._sample)
        except OpError:
            return self._sample


def _strings(
    own: str,
    filenames: Any,
    compression_type: str | None,
    read: Callable[[str, str], Iterator[bytes]],
    kind: type[Started] = _Records,
    sample: bytes = b"",
) -> Dataset:
    """The strings that `read(path, compression)` finds in files, one file after the other."""
    names = file_names(filenames, own)
    packing = compression(own, compression_type)
    begin = lambda: (
        wrap(scalar_text(t)) for name in names for t in read(local(own, name), packing)
    )
    return Dataset(kind(begin, TensorSpec([], string), wrap(scalar_text(sample))))


def TextLineDataset(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: Any = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """The lines of text files."""
    own = "TextLineDataset"

    def lines(path: str, packing: str) -> Iterator[bytes]:
        with reporting(own, path), open(path, "rb") as file:
            for line in opened(own, path, file, packing):
                yield line.removesuffix(b"\n").removesuffix(b"\r")

    return _strings(own, filenames, compression_type, lines, Started)


def TFRecordDataset(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: Any = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """The records of TFRecord files, as strings; `tf.io.parse_example` reads examples in them."""
    own = "TFRecordDataset"
    read = lambda path, packing: records(own, path, packing)
    return _strings(own, filenames, compression_type, read)


def FixedLengthRecordDataset(
    filenames: Any,
    record_bytes: TensorLike,
    header_bytes: TensorLike | None = None,
    footer_bytes: TensorLike | None = None,
    buffer_size: Any = None,
    compression_type: str | None = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """Files cut into strings of `record_bytes` bytes, between a header and a footer."""
    own = "FixedLengthRecordDataset"
    given = {
        "record_bytes": record_bytes, "header_bytes": header_bytes, "footer_bytes": footer_bytes
    }  # fmt: skip
    sizes = [static_int(own, what, 0 if n is None else n) for what, n in given.items()]
    if sizes[0] <= 0 or min(sizes) < 0:
        raise invalid(own, "`record_bytes` must be positive, and the others not negative")
    length, before, after = sizes

    def pieces(path: str, packing: str) -> Iterator[bytes]:
        with reporting(own, path), open(path, "rb") as file:
            data = opened(own, path, file, packing).read()
        inner = len(data) - before - after
        if inner < 0 or inner % length:
            rule = f"{max(inner, 0)} bytes are no whole number of records of {length}"
            raise invalid(own, f"{rule}; got {path}", help="Check the sizes, or the file.")
        for at in range(before, before + inner, length):
            yield data[at : at + length]

    return _strings(own, filenames, compression_type, pieces, sample=b"\0" * length)
