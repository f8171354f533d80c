"""Datasets of the rows of files with comma-separated values."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.errors import at_site, describe
from wengert.core.types import Tensor, TensorSpec
from wengert.data.dataset import Dataset
from wengert.data.file_datasets import file_names, matching, scalar_text
from wengert.data.plan import AUTOTUNE
from wengert.data.sources import Started
from wengert.io.csv_fields import Columns
from wengert.io.expansion import opened
from wengert.io.paths import local, reporting
from wengert.io.tfrecord import compression

_GUESSES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
_MIXED = 10_000  # rows that are mixed where a program does not say


def _lines(name: str, path: str, kind: str, columns: Columns, header: bool) -> Iterator[list[str]]:
    path = local(name, path)
    with reporting(name, path), open(path, "rb") as file:
        plain = opened(name, path, file, kind)
        text = io.TextIOWrapper(plain, "utf-8", "surrogateescape", newline="")
        rows = (row for row in columns.rows(text, f" of {path}") if row)
        yield from islice(rows, 1 if header else 0, None)


def _tensor(value: Any, dtype: dtypes.DType) -> Tensor:
    return wrap(scalar_text(value) if dtype is dtypes.string else np.asarray(value, dtype.np))


def _blank(dtype: dtypes.DType) -> Tensor:
    return _tensor(b"" if dtype is dtypes.string else 0, dtype)


def CsvDataset(
    filenames: list[str] | str,
    record_defaults: Any,
    compression_type: str | None = None,
    buffer_size: Any = None,
    header: bool = False,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    exclude_cols: list[int] | None = None,
) -> Dataset:
    """The rows of files with comma-separated values, as tuples of scalars.

    An entry of `record_defaults` is a column's default value, or its dtype where a value is
    required.
    """
    if select_cols is not None and exclude_cols is not None:
        words = "CsvDataset: give `select_cols` or `exclude_cols`, not both."
        raise at_site(ValueError(words))
    if exclude_cols is not None:
        left_out = {int(i) for i in exclude_cols}
        count = len(record_defaults) + len(left_out)
        select_cols = [i for i in range(count) if i not in left_out]
    columns = Columns(
        "CsvDataset", record_defaults, field_delim, use_quote_delim, na_value, select_cols
    )
    return _dataset(
        "CsvDataset", file_names(filenames, "CsvDataset"), compression_type, columns, header
    )


def _dataset(
    name: str, names: list[str], compressed: str | None, columns: Columns, header: bool
) -> Dataset:
    kind = compression(name, compressed)

    def begin() -> Iterator[tuple[Tensor, ...] | None]:
        for path in names:
            for number, row in enumerate(_lines(name, path, kind, columns, header)):
                values = columns.values(row, f"{number} of {path}")
                yield tuple(map(_tensor, values, columns.dtypes))

    spec = tuple(TensorSpec([], d) for d in columns.dtypes)
    return Dataset(Started(begin, spec, tuple(map(_blank, columns.dtypes))))


def make_csv_dataset(
    file_pattern: str, batch_size: int, column_names: Any = None, column_defaults: Any = None,
    label_name: str | None = None, select_columns: list[str] | None = None, field_delim: str = ",",
    use_quote_delim: bool = True, na_value: str = "", header: bool = True,
    num_epochs: int | None = None, shuffle: bool = True, shuffle_buffer_size: int = _MIXED,
    shuffle_seed: int | None = None, prefetch_buffer_size: Any = None, num_parallel_reads: Any = None,
    sloppy: bool = False, num_rows_for_inference: int | None = 100,
    compression_type: str | None = None, ignore_errors: bool = False, encoding: str = "utf-8",
) -> Dataset:  # fmt: skip
    """Batches of the rows of files with comma-separated values: a dict of columns by name.

    With `label_name`, that column comes apart: `(features, label)`. Dtypes are found out from the
    first rows where `column_defaults` does not give them. Without `num_epochs` it never ends.
    """
    own = "make_csv_dataset"
    names = matching(file_pattern, own)
    plain = Columns(own, [], field_delim, use_quote_delim, na_value, None)
    kind = compression(own, compression_type)
    if column_names is None:
        if not header:
            words = f"{own}: `column_names` must be given where files have no header."
            raise at_site(ValueError(words))
        column_names = next(_lines(own, names[0], kind, plain, False), [])
    column_names = [str(n) for n in column_names]
    chosen = _chosen(own, column_names, select_columns)
    if column_defaults is None:
        rows = islice(_lines(own, names[0], kind, plain, header), num_rows_for_inference)
        column_defaults = _guessed(list(rows), chosen, na_value)
    columns = Columns(own, column_defaults, field_delim, use_quote_delim, na_value, chosen)
    keys = [column_names[i] for i in chosen]
    if label_name is not None and label_name not in keys:
        words = f"{own}: `label_name` must be one of the columns {', '.join(keys)}"
        raise at_site(ValueError(f"{words}; got {describe(label_name)}."))
    result = _dataset(own, names, compression_type, columns, header)
    result = result.ignore_errors() if ignore_errors else result
    if shuffle:
        result = result.shuffle(shuffle_buffer_size, seed=shuffle_seed)
    result = result.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None)

    def named(*values: Tensor) -> Any:
        features = OrderedDict(zip(keys, values, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    return result.map(named).prefetch(AUTOTUNE if prefetch_buffer_size is None
                                     else prefetch_buffer_size)  # fmt: skip


def _chosen(name: str, names: list[str], select: list[str] | None) -> list[int]:
    if select is None:
        return list(range(len(names)))
    results = []
    for one in select:
        if one in names:
            results.append(names.index(one))
        elif isinstance(one, int) and 0 <= one < len(names):
            results.append(one)
        else:
            words = f"{name}: there is no column {one!r}; the columns are {', '.join(names)}."
            raise at_site(ValueError(words))
    return sorted(results)


def _guessed(rows: list[list[str]], chosen: list[int], missing: str) -> list[Tensor]:
    """A default for each column: zero or an empty string, of the narrowest dtype that fits."""
    results = []
    for i in chosen:
        texts = [row[i] for row in rows if i < len(row) and row[i] not in ("", missing)]
        dtype = next((d for d in _GUESSES if all(_fits(t, d) for t in texts)), dtypes.string)
        results.append(_blank(dtype))
    return results


def _fits(text: str, dtype: dtypes.DType) -> bool:
    try:
        number: Any = float(text) if dtype.is_floating else int(text)
    except ValueError:
        return False
    if dtype.is_integer:
        return dtype.min <= number <= dtype.max
    return bool(dtype is dtypes.float64 or abs(number) <= dtype.max or not np.isfinite(number))
