"""`RowPartition`: how a sequence of values is cut into rows.

The row splits are always there: row i holds the values from splits[i] to splits[i + 1]. What a
program gave instead of them (lengths, row numbers) is kept, since asking for it again is cheap
then. Nothing is worked out later and kept: a partition may be used inside a trace and outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.composite.values import Requirement, demand, index_tensor, known, unequal
from wengert.ops.declare import (
    DType,
    DTypeLike,
    IndexedSlices,
    Tensor,
    TensorLike,
    Value,
    dtypes,
    require,
    static_int,
    tf,
    to_tensor,
)

_SPLITS = Requirement(
    (lambda s: s.shape[0] == 0, "`row_splits` must not be empty"),
    (lambda s: s[:1] != 0, lambda s: f"the first row must start at 0; got {s[0]}"),
    (
        lambda s: s[1:] < s[:-1],
        "the splits must not decrease. Each row ends where one begins",
    ),
)
# Of starts and the end: without a start there is no row whose start could be wrong.
_STARTS = Requirement(
    (
        lambda s: s.shape[0] != 1 and s[:1] != 0,
        lambda s: f"the first row must start at 0; got {s[0]}",
    ),
    (
        lambda s: s.shape[0] != 1 and s[1:] < s[:-1],
        "the splits must not decrease. Each row ends where one begins",
    ),
)
_LENGTHS = Requirement((lambda n: n < 0, lambda n: f"lengths must not be negative; got {n.min()}"))
_DISORDER = "row numbers must not be negative and not decrease"
_ROWIDS = Requirement((lambda ids: ids < 0, _DISORDER), (lambda ids: ids[1:] < ids[:-1], _DISORDER))
_ROWIDS_IN = Requirement(
    (lambda ids, rows: ids < 0, _DISORDER),
    (lambda ids, rows: ids[1:] < ids[:-1], _DISORDER),
    (lambda ids, rows: rows < 0, lambda ids, rows: f"the row numbers do not fit {rows} rows"),
    (lambda ids, rows: ids >= rows, lambda ids, rows: f"the row numbers do not fit {rows} rows"),
)
_UNIFORM = Requirement(
    (
        lambda splits, rows, size, values=None: size < 0,
        lambda splits, rows, size, values=None: (
            f"`uniform_row_length` must not be negative; got {size}"
        ),
    ),
    (
        lambda splits, rows, size, values=None: values is not None and rows * size != values,
        lambda splits, rows, size, values=None: (
            f"{rows} rows of {size} do not make {values} values"
        ),
    ),
)
_END = Requirement(
    (
        lambda part, splits, size: splits[-1:] != size,
        lambda part, splits, size: f"the rows take {splits[-1]} values; got {size}",
    )
)


class RowPartition:
    """A partition of a sequence of values into rows; made by one of the `from_` methods."""

    __slots__ = ("__weakref__", "_lengths", "_rowids", "_splits", "_uniform")

    def __init__(
        self,
        splits: Tensor,
        lengths: Tensor | None = None,
        rowids: Tensor | None = None,
        uniform: int | None = None,
    ) -> None:
        self._splits = splits
        self._lengths = lengths
        self._rowids = rowids
        self._uniform = uniform

    @classmethod
    def from_row_splits(
        cls,
        row_splits: TensorLike,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Rows between one split and the next; the first split is 0."""
        splits = _vector("from_row_splits", "row_splits", row_splits, dtype, dtype_hint)
        require(splits.shape[0] != 0, "from_row_splits", "`row_splits` must not be empty")
        if validate:
            splits = demand("from_row_splits", _SPLITS, splits)
        return cls(splits)

    @classmethod
    def from_row_lengths(
        cls,
        row_lengths: Tensor | list[int] | Tensor | IndexedSlices,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Rows of the given lengths, one after the other."""
        lengths = _vector("from_row_lengths", "row_lengths", row_lengths, dtype, dtype_hint)
        if validate:
            lengths = demand("from_row_lengths", _LENGTHS, lengths)
        return cls(_ends(lengths), lengths)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: TensorLike,
        nrows: Any = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """The row of each value, in increasing order; rows without values may be left out."""
        ids = _vector("from_value_rowids", "value_rowids", value_rowids, dtype, dtype_hint)
        if validate:
            count = () if nrows is None else (_number("from_value_rowids", nrows, "nrows"),)
            ids = demand("from_value_rowids", _ROWIDS_IN if count else _ROWIDS, ids, *count)
        least = tf.fill([1], to_tensor(-1, ids.dtype))
        rows = tf.reduce_max(tf.concat([least, ids], 0)) + 1 if nrows is None else nrows
        lengths = tf.unsorted_segment_sum(tf.ones_like(ids), ids, rows)
        return cls(_ends(lengths), lengths, ids)

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Tensor | list[int],
        nvals: Any,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Rows from one start to the next, the last one to the end."""
        starts = _vector("from_row_starts", "row_starts", row_starts, dtype, dtype_hint)
        end = tf.cast(to_tensor(nvals, None, dtypes.int64), starts.dtype)
        splits = tf.concat([starts, end[None]], 0)
        if validate and splits.shape[0] != 1:
            splits = demand("from_row_starts", _STARTS, splits)
        return cls(splits)

    @classmethod
    def from_row_limits(
        cls,
        row_limits: Tensor | list[int],
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Rows from one limit to the next, the first one from 0."""
        limits = _vector("from_row_limits", "row_limits", row_limits, dtype, dtype_hint)
        splits = tf.concat([tf.zeros([1], limits.dtype), limits], 0)
        if validate:
            splits = demand("from_row_limits", _SPLITS, splits)
        return cls(splits)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Tensor | int | IndexedSlices | None = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ) -> RowPartition:
        """Rows of one length; give how many values or how many rows there are."""
        name = "from_uniform_row_length"
        require(nvals is not None or nrows is not None, name, "`nvals` or `nrows` must be given")
        kind = dtypes.as_dtype(dtype or dtype_hint or _own_type(uniform_row_length, nvals, nrows))
        if isinstance(uniform_row_length, Value) and known(uniform_row_length) is None:
            return cls(_equal_splits(tf.cast(uniform_row_length, kind), nvals, nrows, validate))
        size = static_int(name, uniform_row_length, "uniform_row_length")
        require(size >= 0, name, f"`uniform_row_length` must not be negative; got {size}")
        values = None if nvals is None else to_tensor(nvals, None, dtypes.int64)
        rows = _number_of_rows(size, values, nrows)
        splits = tf.range(tf.cast(rows + 1, kind)) * size
        if validate and values is not None:
            splits = _vouched(splits, rows, to_tensor(size, dtypes.int64), values)
        return cls(splits, uniform=size)

    @property
    def dtype(self) -> DType:
        """The type of the row splits: int32 or int64."""
        return self._splits.dtype

    @property
    def static_nrows(self) -> int | None:
        size = self._splits.shape[0]
        return None if size is None else size - 1

    @property
    def static_nvals(self) -> int | None:
        if self._rowids is not None:
            return self._rowids.shape[0]
        rows = self.static_nrows
        return None if self._uniform is None or rows is None else rows * self._uniform

    @property
    def static_uniform_row_length(self) -> int | None:
        return self._uniform

    def is_uniform(self) -> bool:
        """Whether all rows are known to have one length from how the partition was made."""
        return self._uniform is not None

    def uniform_row_length(self) -> Tensor | None:
        """The one length of all rows as a tensor; `None` where they may differ."""
        return None if self._uniform is None else to_tensor(self._uniform, self.dtype)

    def row_splits(self) -> Any:
        return self._splits

    def row_starts(self) -> Tensor:
        return self._splits[:-1]

    def row_limits(self) -> Tensor:
        return self._splits[1:]

    def row_lengths(self) -> Any:
        if self._lengths is not None:
            return self._lengths
        return tf.subtract(self._splits[1:], self._splits[:-1])

    def nrows(self) -> Any:
        """How many rows there are, as a scalar."""
        return tf.shape(self._splits, self.dtype)[0] - 1

    def nvals(self) -> Tensor:
        """How many values there are, as a scalar."""
        return self._splits[-1]

    def value_rowids(self) -> Tensor:
        """For each value the number of its row."""
        if self._rowids is not None:
            return self._rowids
        return tf.searchsorted(
            self._splits[1:], tf.range(self.nvals()), side="right", out_type=self.dtype
        )

    def offsets_in_rows(self) -> Tensor:
        """For each value its place in its row."""
        return tf.subtract(tf.range(self.nvals()), tf.gather(self._splits, self.value_rowids()))

    def with_dtype(self, dtype: DTypeLike) -> RowPartition:
        """The same rows with row splits of int32 or int64."""
        kind = dtypes.as_dtype(dtype)
        require(
            kind in (dtypes.int32, dtypes.int64),
            "with_dtype",
            lambda: f"row splits are int32 or int64; got {kind.name}",
        )
        if kind is self.dtype:
            return self
        lengths, ids = (
            None if p is None else tf.cast(p, kind) for p in (self._lengths, self._rowids)
        )
        return RowPartition(tf.cast(self._splits, kind), lengths, ids, self._uniform)

    def __repr__(self) -> str:
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._uniform})"
        result = known(self._splits)
        return f"tf.RowPartition(row_splits={self._splits.shape if result is None else result})"


def _vector(
    name: str,
    what: str,
    value: Any,
    dtype: DType | DTypeLike | None,
    hint: DType | DTypeLike | None,
) -> Tensor:
    """Row positions as a vector of int32 or int64."""
    tensor = index_tensor(name, value, dtype, hint)
    require(tensor.shape.rank in (None, 1), name, f"`{what}` must be a vector", tensor)
    return tensor


def _own_type(*values: Any) -> DType:
    """int32 where a number came as an int32 tensor, else int64."""
    for value in values:
        if getattr(value, "dtype", None) in (dtypes.int32, np.int32):
            return dtypes.int32
    return dtypes.int64


def _ends(lengths: Tensor) -> Tensor:
    return tf.concat([tf.zeros([1], lengths.dtype), tf.cumsum(lengths)], 0)


def _number(name: str, value: TensorLike, what: str) -> Value:
    """One whole number as a tensor."""
    if isinstance(value, Value) and value.dtype.is_integer:
        return value
    return to_tensor(static_int(name, value, what), dtypes.int64)


def _equal_splits(size: Any, nvals: Any, nrows: Any, validate: bool) -> Any:
    """The splits of equal rows whose length is known only when the function runs."""
    values = None if nvals is None else tf.cast(to_tensor(nvals), size.dtype)
    rows = tf.floordiv(values, tf.maximum(size, 1)) if nrows is None else to_tensor(nrows)
    splits = tf.multiply(tf.range(tf.cast(rows, size.dtype) + 1), size)
    return _vouched(splits, rows, size, values) if validate else splits


def _vouched(
    splits: Tensor, rows: Tensor, size: Tensor, values: Tensor | IndexedSlices | None
) -> Tensor:
    """The splits of equal rows that make up the number of values, where that is given."""
    given = (rows, size) if values is None else (rows, size, values)
    return demand("from_uniform_row_length", _UNIFORM, splits, *given)


def _number_of_rows(
    size: int, values: Tensor | None, nrows: Tensor | int | IndexedSlices | None
) -> Tensor:
    """How many rows of `size` there are."""
    if nrows is not None:
        return to_tensor(nrows, None, dtypes.int64)
    assert values is not None, "the caller has looked"
    return values // max(size, 1) if size else tf.zeros_like(values)


def demanding(
    name: str, rule: Requirement, rows: RowPartition, *others: TensorLike
) -> RowPartition:
    """A partition that passes a check as `demand` makes it; whatever is read of it has done so."""
    splits = demand(name, rule, rows._splits, *others)
    if splits is rows._splits:
        return rows
    lengths, ids = (
        None if part is None else demand(name, rule, part, *others)
        for part in (rows._lengths, rows._rowids)
    )
    return RowPartition(splits, lengths, ids, rows._uniform)


def ending_at(rows: RowPartition, size: Tensor) -> RowPartition:
    """A partition that takes `size` values (a tensor)."""
    return demanding("RaggedTensor", _END, rows, rows._splits, size)


def alike(name: str, rows: RowPartition, other: RowPartition) -> RowPartition:
    """A partition that cuts as another does, where a trace cannot tell with a check of that."""
    if same_rows(rows, other) is not None:
        return rows
    splits = tf.cast(other._splits, rows.dtype)
    return demanding(name, _ALIKE, rows, rows._splits, splits)


_ALIKE = Requirement(
    (unequal, "rows of different lengths do not broadcast"),
    help="Only axes of size 1 are stretched.",
)


def same_rows(a: RowPartition, b: RowPartition) -> bool | None:
    """Whether two partitions cut alike; `None` inside a trace, where it may not be known."""
    if a._splits is b._splits or a is b:
        return True
    one, other = known(a._splits), known(b._splits)
    if one is None or other is None:
        return None
    return bool(np.array_equal(one, other))
