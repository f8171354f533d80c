"""The shape of a ragged tensor as a value: what `tf.shape` answers for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.composite.values import known
from wengert.core import dtypes
from wengert.core.errors import at_site
from wengert.ops import public as tf

if TYPE_CHECKING:
    from wengert.composite.row_partition import RowPartition
    from wengert.core.types import DTypeLike, IndexedSlices, Tensor


class DynamicRaggedShape:
    """The sizes of uniform axes and the row lengths of ragged ones, from the outside in."""

    __slots__ = ("_inner", "_rows")

    def __init__(self, row_partitions: list[RowPartition], inner_shape: Tensor) -> None:
        self._rows = list(row_partitions)
        self._inner = inner_shape

    @classmethod
    def from_tensor(cls, t: Any, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """The shape of a dense or ragged tensor."""
        kind = dtypes.as_dtype(dtype or dtypes.int32)
        if not hasattr(t, "row_splits"):
            return cls([], tf.shape(t, kind))
        rows = [p.with_dtype(kind) for p in t._partitions]
        return cls(rows, tf.shape(t.flat_values, kind))

    @property
    def rank(self) -> int | None:
        inner = self._inner.shape[0]
        return None if inner is None else len(self._rows) + inner

    @property
    def dtype(self) -> Any:
        return self._inner.dtype

    @property
    def row_partitions(self) -> tuple[Any, ...]:
        return tuple(self._rows)

    @property
    def num_row_partitions(self) -> int:
        return len(self._rows)

    @property
    def inner_shape(self) -> Any:
        """The shape of the flat values."""
        return self._inner

    def is_uniform(self, axis: int) -> bool:
        """Whether the rows along an axis all have one length."""
        return not 0 < axis <= len(self._rows) or self._rows[axis - 1].is_uniform()

    def __getitem__(self, index: int) -> Tensor | IndexedSlices | None:
        """The size of a uniform axis, as a scalar tensor."""
        place = index + (self.rank or 0) if index < 0 else index
        if not self.is_uniform(place):
            raise at_site(
                ValueError(f"shape: axis {place} has rows of different lengths, so no one size.")
            )
        if self._rows and place == 0:
            return tf.cast(self._rows[0].nrows(), self.dtype)
        if self._rows and place <= len(self._rows):
            return self._rows[place - 1].uniform_row_length()
        return self._inner[place - len(self._rows)]

    def static_lengths(
        self, ragged_lengths: bool = True
    ) -> list[int | tuple[int, ...]] | list[int]:
        """What is known: sizes, and for ragged axes the lengths of their rows."""
        if not self._rows:
            return self._listed(self._inner)
        results: list[Any] = [self._rows[0].static_nrows]
        for rows in self._rows:
            lengths = known(rows.row_lengths()) if ragged_lengths else None
            if rows.is_uniform():
                results.append(rows.static_uniform_row_length)
            else:
                results.append(None if lengths is None else tuple(lengths.tolist()))
        return results + self._listed(self._inner)[1:]

    @staticmethod
    def _listed(sizes: Tensor) -> list[Any]:
        result = known(sizes)
        return [None] * (sizes.shape[0] or 0) if result is None else result.tolist()

    def __repr__(self) -> str:
        lengths = ", ".join(map(str, self.static_lengths()))
        return (
            f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={self.num_row_partitions}>"
        )
