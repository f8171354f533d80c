"""Datasets of lines and records in files: `tf.data.TextLineDataset` and its relatives."""

from __future__ import annotations

from typing import Any

from wengert.data.dataset import Dataset
from wengert.data.file_datasets import text_lines
from wengert.data.record_datasets import pieces, tf_records


def TextLineDataset(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: Any = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """The lines of text files."""
    return Dataset(text_lines(filenames, compression_type))


def TFRecordDataset(
    filenames: Any,
    compression_type: str | None = None,
    buffer_size: Any = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """The records of TFRecord files, as strings; `tf.io.parse_example` reads examples in them."""
    return Dataset(tf_records(filenames, compression_type))


def FixedLengthRecordDataset(
    filenames: Any,
    record_bytes: Any,
    header_bytes: Any = None,
    footer_bytes: Any = None,
    buffer_size: Any = None,
    compression_type: str | None = None,
    num_parallel_reads: Any = None,
    name: str | None = None,
) -> Dataset:
    """Files cut into strings of `record_bytes` bytes, between a header and a footer."""
    return Dataset(pieces(filenames, record_bytes, header_bytes, footer_bytes, compression_type))
