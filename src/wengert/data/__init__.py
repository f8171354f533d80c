"""The names of `tf.data`: datasets that feed a program, made and mixed in plain Python and NumPy."""

from __future__ import annotations

from typing import Any as _Any

from wengert.core.missing import missing as _missing
from wengert.data import experimental
from wengert.data.dataset import Dataset
from wengert.data.files import text_lines as _text_lines
from wengert.data.iterator import Iterator, NumpyIterator
from wengert.data.options import Options, ThreadingOptions
from wengert.data.plan import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from wengert.data.types import DatasetSpec, IteratorSpec

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetSpec", "INFINITE_CARDINALITY", "Iterator", "IteratorSpec",
    "NumpyIterator", "Options", "TextLineDataset", "ThreadingOptions", "UNKNOWN_CARDINALITY",
    "experimental",
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


__getattr__ = _missing("tf.data", globals(), hidden=[n for n in globals() if n not in __all__])


def __dir__() -> list[str]:
    return sorted(__all__)
