"""The ways to make a ragged tensor: values, and one description of how they are cut into rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from wengert.composite.row_partition import RowPartition, ending_at
from wengert.composite.values import known, length
from wengert.ops.declare import DType, Tensor, TensorLike, dtypes, require, to_tensor

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor
    from wengert.composite.sparse_tensor import SparseTensor


class Factories:
    """The `from_` methods of ragged tensors."""

    _partition: RowPartition
    shape: Any

    @classmethod
    def from_row_splits(
        cls,
        values: Tensor | int | list[int | list[int]] | RaggedTensor,
        row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i holds the values from `row_splits[i]` to `row_splits[i + 1]`."""
        return _cut(cls, RowPartition.from_row_splits, values, validate, row_splits)

    @classmethod
    def from_row_lengths(
        cls,
        values: Any,
        row_lengths: Tensor | list[int],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i holds the next `row_lengths[i]` values."""
        return _cut(cls, RowPartition.from_row_lengths, values, validate, row_lengths)

    @classmethod
    def from_value_rowids(
        cls,
        values: Tensor | list[int] | RaggedTensor,
        value_rowids: Tensor | list[int],
        nrows: Tensor | int | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Value i goes to row `value_rowids[i]`; the row numbers increase."""
        return _cut(cls, RowPartition.from_value_rowids, values, validate, value_rowids, nrows)

    @classmethod
    def from_row_starts(
        cls,
        values: Tensor | list[int] | Tensor | RaggedTensor,
        row_starts: Tensor | list[int],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i begins at `row_starts[i]` and ends where the next begins."""
        values = values_of(values)
        return _cut(cls, RowPartition.from_row_starts, values, validate, row_starts, length(values))

    @classmethod
    def from_row_limits(
        cls,
        values: Tensor | list[int] | Tensor | RaggedTensor,
        row_limits: Tensor | list[int],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Row i ends before `row_limits[i]` and begins where the one before ends."""
        return _cut(cls, RowPartition.from_row_limits, values, validate, row_limits)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Tensor | list[float] | RaggedTensor,
        uniform_row_length: int,
        nrows: int | None = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Rows of one length; the axis counts as uniform, not as ragged."""
        kind: Any = cls
        values, hint = _values_and_hint("from_uniform_row_length", values)
        rows = RowPartition.from_uniform_row_length(
            uniform_row_length, length(values), nrows, validate, None, hint
        )
        return kind(values, rows, internal=True)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: list[int],
        nested_row_splits: Tensor | list[list[int]],
        name: str | None = None,
        validate: bool = True,
    ) -> list[int] | RaggedTensor:
        """Several ragged axes by their row splits, outermost first."""
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: TensorLike,
        nested_row_lengths: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged axes by their row lengths, outermost first."""
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: list[int],
        nested_value_rowids: list[list[int]],
        nested_nrows: list[int] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged axes by the row numbers of their values, outermost first."""
        _check_list("nested_value_rowids", nested_value_rowids)
        counts = nested_nrows or [None] * len(nested_value_rowids)
        require(
            len(counts) == len(nested_value_rowids),
            "from_nested_value_rowids",
            "one `nested_nrows` per axis",
            kind=ValueError,
        )
        result = flat_values
        for ids, rows in reversed(list(zip(nested_value_rowids, counts, strict=True))):
            result = cls.from_value_rowids(result, ids, rows, validate=validate)
        return result

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Tensor | list[int] | tuple[list[int], ...] | None = None,
        padding: float | list[int] | str | None = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DType = dtypes.int64,
    ) -> RaggedTensor:
        """A ragged tensor from a dense one: of `lengths`, or without `padding` at row ends."""
        from wengert.composite.ragged_convert import from_tensor

        return from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    def from_sparse(
        cls,
        st_input: int | SparseTensor,
        name: str | None = None,
        row_splits_dtype: DType = dtypes.int64,
    ) -> RaggedTensor:
        """A ragged tensor from a sparse matrix whose values begin each row without gaps."""
        from wengert.composite.ragged_convert import from_sparse

        return from_sparse(st_input, row_splits_dtype)


def values_of(value: Any) -> Any:
    """Values as a tensor, or ragged as they are."""
    return value if isinstance(value, Factories) else to_tensor(value)


def _values_and_hint(name: str, values: Any) -> tuple[Tensor | RaggedTensor, DType | None]:
    """The values, and the type of row splits that goes with theirs."""
    result = values_of(values)
    require(result.shape.rank != 0, name, "`values` must have rows", result)
    return result, result._partition.dtype if isinstance(result, Factories) else None


def _cut(
    kind: type, make: Callable[..., RowPartition], values: Any, validate: bool, *given: Any
) -> RaggedTensor:
    """Values cut into the rows that a method of partitions makes, checked to fit."""
    values, hint = _values_and_hint(make.__name__, values)
    rows = make(*given, validate=validate, dtype_hint=hint)
    require(
        not isinstance(values, Factories) or values._partition.dtype is rows.dtype,
        "RaggedTensor",
        lambda: (
            f"row splits must have one type; got {rows.dtype.name} over "
            f"{values._partition.dtype.name}"
        ),
        help="Use x.with_row_splits_dtype.",
        kind=ValueError,
    )
    if validate:
        rows = fitted(values, rows)
    return kind(values, rows, internal=True)


def fitted(values: Any, rows: RowPartition) -> RowPartition:
    """The rows, which must take all values: now, or when the function runs."""
    end, size = known(rows.row_splits()), values.shape[0]
    if end is None or size is None:
        count = values._partition.nrows() if isinstance(values, Factories) else length(values)
        return ending_at(rows, to_tensor(count, None, dtypes.int64))
    require(end[-1] == size, "RaggedTensor", lambda: f"the rows take {end[-1]} values", values)
    return rows


def _nested(make: Any, flat_values: TensorLike, parts: Any, validate: bool) -> Any:
    _check_list("nested rows", parts)
    result = flat_values
    for part in reversed(parts):
        result = make(result, part, validate=validate)
    return result


def _check_list(what: str, value: Tensor | list[Tensor | list[int]] | list[list[int]]) -> None:
    require(
        isinstance(value, list | tuple),
        "RaggedTensor",
        f"`{what}` must be a list",
        value,
        kind=TypeError,
    )
