"""The names of `tf.data`: datasets that feed a program, made and mixed in plain Python and NumPy."""

from __future__ import annotations

from typing import Any as _Any

from wengert.core.missing_names import missing as _missing
from wengert.data import experimental
from wengert.data.dataset import Dataset
from wengert.data.dataset_options import Options, ThreadingOptions
from wengert.data.file_datasets import text_lines as _text_lines
from wengert.data.iterator import Iterator, NumpyIterator
from wengert.data.iterator_specs import DatasetSpec, IteratorSpec
from wengert.data.plan import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from wengert.data.record_datasets import pieces as _pieces
from wengert.data.record_datasets import tf_records as _tf_records

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY", "Iterator", "IteratorSpec",
    "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
    "UNKNOWN_CARDINALITY", "experimental",
]  # fmt: skip


def TextLineDataset(
    filenames: _Any,
    compression_type: str | None = None,
    buffer_size: _Any = None,
    num_parallel_reads: _Any = None,
    name: str | None = None,
) -> Dataset:
    """The lines of text files."""
    return Dataset(_text_lines(filenames, compression_type))


def TFRecordDataset(
    filenames: _Any,
    compression_type: str | None = None,
    buffer_size: _Any = None,
    num_parallel_reads: _Any = None,
    name: str | None = None,
) -> Dataset:
    """The records of TFRecord files, as strings; `tf.io.parse_example` reads examples in them."""
    return Dataset(_tf_records(filenames, compression_type))


def FixedLengthRecordDataset(
    filenames: _Any,
    record_bytes: _Any,
    header_bytes: _Any = None,
    footer_bytes: _Any = None,
    buffer_size: _Any = None,
    compression_type: str | None = None,
    num_parallel_reads: _Any = None,
    name: str | None = None,
) -> Dataset:
    """Files cut into strings of `record_bytes` bytes, between a header and a footer."""
    return Dataset(_pieces(filenames, record_bytes, header_bytes, footer_bytes, compression_type))


__getattr__ = _missing("tf.data", globals(), hidden=[n for n in globals() if n not in __all__])


def __dir__() -> list[str]:
    return sorted(__all__)
