"""Datasets of the records in TFRecord files, and of files cut into pieces of one length."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from wengert.core.apply import wrap
from wengert.core.dtypes import string
from wengert.core.errors import OpError, invalid
from wengert.core.tensor_spec import TensorSpec
from wengert.data.file_datasets import file_names, scalar_text
from wengert.data.plan import static_int
from wengert.data.sources import Started
from wengert.io.expansion import opened
from wengert.io.paths import local, reporting
from wengert.io.tfrecord import compression, records

if TYPE_CHECKING:
    from wengert.core.types import Tensor, TensorLike


class _Records(Started):
    """Records; where a function must be tried out, it sees the first of them."""

    kind = "TFRecordDatasetV2"

    def sample(self) -> Any:
        try:
            return next(islice(self._begin(), 1), self._sample)
        except OpError:
            return self._sample


def tf_records(filenames: TensorLike, compression_type: str | None) -> Started:
    """The records of TFRecord files, one file after the other."""
    names = file_names(filenames, "TFRecordDataset")
    kind = compression("TFRecordDataset", compression_type)

    def begin() -> Iterator[Tensor]:
        for name in names:
            for record in records("TFRecordDataset", name, kind):
                yield wrap(scalar_text(record))

    return _Records(begin, TensorSpec([], string), wrap(scalar_text(b"")))


def pieces(
    filenames: str,
    size: TensorLike,
    header: TensorLike | None,
    footer: TensorLike | None,
    compressed: Any,
) -> Started:
    """Files cut into pieces of one length, between a header and a footer."""
    own = "FixedLengthRecordDataset"
    names = file_names(filenames, own)
    length, before, after = (
        static_int(own, what, 0 if n is None else n)
        for what, n in (("record_bytes", size), ("header_bytes", header), ("footer_bytes", footer))
    )
    if length <= 0 or before < 0 or after < 0:
        raise invalid(own, "`record_bytes` must be positive, and the others not negative")
    kind = compression(own, compressed)

    def begin() -> Iterator[Tensor]:
        for name in names:
            path = local(own, name)
            with reporting(own, path), open(path, "rb") as file:
                data = opened(own, path, file, kind).read()
            inner = len(data) - before - after
            if inner < 0 or inner % length:
                rule = f"{max(inner, 0)} bytes are no whole number of records of {length}"
                raise invalid(own, f"{rule}; got {name}", help="Check the sizes, or the file.")
            for at in range(before, before + inner, length):
                yield wrap(scalar_text(data[at : at + length]))

    return _Records(begin, TensorSpec([], string), wrap(scalar_text(b"\0" * length)))
