"""Lines of comma-separated values as tensors, one per column. None of this compiles."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe, invalid
from wengert.core.types import DType, Op, ShapeDtype, Tensor, TensorLike
from wengert.ops.strings import static_int_or, static_str

_STRING = dtypes.nums("s")
_KINDS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


class Columns:
    """The columns of a table: their dtypes and defaults, and how a line is cut into them."""

    def __init__(
        self,
        name: str,
        defaults: Any,
        delimiter: str,
        quotes: bool,
        missing: str,
        chosen: TensorLike | None,
    ) -> None:
        if isinstance(defaults, str | bytes) or not hasattr(defaults, "__iter__"):
            words = f"{name}: `record_defaults` must be a list, an entry per column"
            raise at_site(TypeError(f"{words}; got {describe(defaults)}."))
        self.name, self.missing = name, static_str(name, missing, "na_value", "")
        delimiter = static_str(name, delimiter, "field_delim", ",")
        if len(delimiter) != 1:
            raise at_site(ValueError(f"{name}: `field_delim` is one character; got {delimiter!r}."))
        self.form: dict[str, Any] = {"delimiter": delimiter, "strict": True}
        self.form["quoting"] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        results = [_default(name, i, value) for i, value in enumerate(defaults)]
        self.dtypes = [dtype for dtype, _ in results]
        self.defaults = [default for _, default in results]
        self.chosen = None if chosen is None else _columns(name, chosen)
        if self.chosen is not None and len(self.chosen) != len(results):
            words = (
                f"{len(self.chosen)} columns are selected, but there are {len(results)} defaults"
            )
            raise at_site(ValueError(f"{name}: {words}."))

    def __repr__(self) -> str:
        return ", ".join(d.name for d in self.dtypes)

    def rows(self, lines: Iterable[str], source: str = "") -> Iterator[list[str]]:
        """Lines cut at the delimiters."""
        try:
            yield from csv.reader(lines, **self.form)
        except csv.Error as error:
            help = 'Quote fields with ", and double a " in them, or give use_quote_delim=False.'
            words = f"a line{source} is not well formed ({error})"
            raise invalid(self.name, words, help=help) from error

    def values(self, row: list[str], number: int | str) -> list[Any]:
        """The values of a row, with defaults where there is none."""
        if self.chosen is not None:
            if max(self.chosen, default=0) >= len(row):
                words = f"record {number} has {len(row)} fields, but column {max(self.chosen)}"
                raise invalid(self.name, f"{words} is selected")
            row = [row[i] for i in self.chosen]
        if len(row) != len(self.dtypes):
            help = "Give a default per column, or `select_cols`."
            words = f"record {number} has {len(row)} fields, but {len(self.dtypes)} are expected"
            raise invalid(self.name, words, help=help)
        return [self._value(i, text, number) for i, text in enumerate(row)]

    def _value(self, column: int, text: str, number: int | str) -> bytes | np.generic | None:
        dtype = self.dtypes[column]
        if text in ("", self.missing):
            if self.defaults[column] is None:
                help = "Give it a default value instead of a dtype, or clean the data."
                words = f"field {column} is required, but missing in record {number}"
                raise invalid(self.name, words, help=help)
            return self.defaults[column]
        if dtype is dtypes.string:
            return text.encode("utf-8", "surrogateescape")
        try:
            kind = float if dtype.is_floating else int
            return dtype.np.type(kind(text))
        except (ValueError, OverflowError):
            words = f"field {column} in record {number} is no valid {dtype.name}"
            help = f"Clean the data, or read column {column} as text: give it the default ''."
            raise invalid(self.name, words, repr(text), help=help) from None


def _columns(name: str, chosen: Any) -> list[int]:
    """The numbers of columns, counted from 0."""
    if isinstance(chosen, str | bytes) or not hasattr(chosen, "__iter__"):
        words = f"{name}: `select_cols` must be a list of columns; got {describe(chosen)}."
        raise at_site(TypeError(words))
    results = [static_int_or(name, c, "select_cols", 0) for c in chosen]
    if min(results, default=0) < 0:
        raise at_site(ValueError(f"{name}: `select_cols` counts from 0; got {min(results)}."))
    return results


def _default(name: str, column: int, given: Any) -> tuple[DType, bytes | np.generic | None]:
    """Dtype and default of a column; a dtype alone, or an empty list, asks for a value."""
    if isinstance(given, dtypes.DType):
        dtype, array = given, None
    else:
        tensor = given if isinstance(given, Tensor) else operand(given)
        dtype, array = tensor.dtype, np.asarray(tensor.numpy(), tensor.dtype.np).reshape(-1)
    if dtype not in _KINDS:
        known = ", ".join(d.name for d in _KINDS)
        raise at_site(TypeError(f"{name}: column {column} is {dtype.name}; there are {known}."))
    if array is not None and array.size > 1:
        raise at_site(ValueError(f"{name}: column {column} has {array.size} defaults, not one."))
    return dtype, array[0] if array is not None and array.size else None


def _decode(x: np.ndarray, columns: Columns) -> tuple[np.ndarray, ...]:
    kinds = [object if d is dtypes.string else d.np for d in columns.dtypes]
    out = [np.empty(x.size, kind) for kind in kinds]
    for number, line in enumerate(x.reshape(-1)):
        text = line.decode("utf-8", "surrogateescape")
        row = next(columns.rows([text]), [])
        for column, value in enumerate(columns.values(row or [""], number)):
            out[column][number] = value
    return tuple(one.reshape(x.shape) for one in out)


DECODE_CSV = Op(
    "decode_csv",
    "x",
    kernel=_decode,
    infer=lambda x, columns: tuple(ShapeDtype(x.shape, d) for d in columns.dtypes),
    lower=None,
    grad=None,
    accepts=_STRING,
    outputs=None,
    register=False,
)


def decode_csv(
    records: TensorLike,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: TensorLike | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Lines of comma-separated values as a list of tensors, one per column.

    An entry of `record_defaults` is a column's default value, or its dtype where a value is
    required.

    >>> [x.numpy().item() for x in tf.io.decode_csv("3,", [tf.int32, 0.5])]
    [3, 0.5]
    """
    columns = Columns(
        "decode_csv", record_defaults, field_delim, use_quote_delim, na_value, select_cols
    )
    return list(apply(DECODE_CSV, operand(records, dtypes.string), columns=columns))
