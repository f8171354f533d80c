"""The shape of a ragged tensor as a value, and its axes: added, dropped, merged, sized."""

from __future__ import annotations

from typing import Any

from wengert.composite.ragged_tensor import RaggedTensor, check_axis, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.rules import for_ragged
from wengert.composite.values import Requirement, demand, known
from wengert.core.errors import unexpected
from wengert.ops import dims, indexing, shaping
from wengert.ops.declare import (
    Axis,
    DTypeLike,
    IndexedSlices,
    ShapeLike,
    Tensor,
    TensorLike,
    dtypes,
    operand,
    require,
    static,
    static_int,
    tf,
    to_tensor,
)
from wengert.ops.sizes import listed

_SINGLE = Requirement((lambda x, sizes: sizes != 1, "the axis does not have size 1"))


class DynamicRaggedShape:
    """The sizes of uniform axes and the row lengths of ragged ones, from the outside in."""

    __slots__ = ("_inner", "_rows")

    def __init__(self, row_partitions: list[RowPartition], inner_shape: Tensor) -> None:
        self._rows = listed("DynamicRaggedShape", "row_partitions", row_partitions)
        for rows in self._rows:
            if not isinstance(rows, RowPartition):
                raise unexpected("DynamicRaggedShape", "a list of RowPartition", row_partitions)
        sizes = operand(inner_shape)
        if sizes.shape.rank != 1 or not sizes.dtype.is_integer:
            raise unexpected("DynamicRaggedShape", "a vector of sizes", sizes)
        self._inner = sizes

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
        require(
            self.is_uniform(place),
            "shape",
            f"axis {place} has rows of different lengths, so no one size",
            kind=ValueError,
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


@for_ragged(dims.expand_dims)
def expand_dims(input: Any, axis: Any, name: str | None = None) -> RaggedTensor | Tensor:
    """Inserts an axis of size 1."""
    rank = input.shape.rank
    whole = None if rank is None else rank + 1
    place = check_axis("expand_dims", static_int("expand_dims", axis), whole)
    return _expanded(input, place)


def _expanded(x: Any, place: int) -> Tensor | RaggedTensor:
    if not isinstance(x, RaggedTensor):
        return tf.expand_dims(x, place)
    kind = x._partition.dtype
    if place == 0:
        size = x._partition.static_nrows
        if size is None:
            return ragged(x, RowPartition.from_row_lengths(x.nrows()[None], validate=False))
        return ragged(x, RowPartition.from_uniform_row_length(size, nrows=1, dtype=kind))
    if place == 1:
        return ragged(x, RowPartition.from_uniform_row_length(1, nrows=x.nrows(), dtype=kind))
    return x.with_values(_expanded(x.values, place - 1))


@for_ragged(dims.squeeze)
def squeeze(input: Any, axis: Axis = None, name: str | None = None) -> TensorLike:
    """Drops the given axes, which must have size 1."""
    require(
        axis is not None, "squeeze", "`axis` must be given for a ragged tensor", kind=ValueError
    )
    wanted = static("squeeze", axis)
    rank = input.shape.rank
    axes = {
        check_axis("squeeze", a, rank) for a in ([wanted] if isinstance(wanted, int) else wanted)
    }
    result = input
    for place in sorted(axes, reverse=True):
        result = _squeezed(result, place)
    return result


def _squeezed(x: TensorLike, place: int) -> Tensor | RaggedTensor:
    if not isinstance(x, RaggedTensor):
        return tf.squeeze(x, [place])
    if place > 1:
        return x.with_values(_squeezed(x.values, place - 1))
    if place == 1 and x._partition.static_uniform_row_length == 1:
        return x.values
    sizes = x.nrows() if place == 0 else x.row_lengths()
    lengths = known(sizes)
    if lengths is not None:
        require((lengths == 1).all(), "squeeze", f"axis {place} does not have size 1", x)
        return x.values
    flat = demand("squeeze", _SINGLE, x.flat_values, sizes)
    return x.values.with_flat_values(flat) if isinstance(x.values, RaggedTensor) else flat


def merge_dims(x: RaggedTensor, outer_axis: int, inner_axis: int) -> Tensor | RaggedTensor:
    """Makes one axis of those from `outer_axis` to `inner_axis`."""
    rank = x.shape.rank
    outer = check_axis("merge_dims", static_int("merge_dims", outer_axis), rank)
    inner = check_axis("merge_dims", static_int("merge_dims", inner_axis), rank)
    require(outer <= inner, "merge_dims", f"axis {outer} lies inside axis {inner}", kind=ValueError)
    return x if outer == inner else _merged(x, outer, inner)


def _merged(x: RaggedTensor | Tensor, outer: int, inner: int) -> Tensor | RaggedTensor:
    if not isinstance(x, RaggedTensor):
        sizes = tf.shape(x)
        parts = [sizes[:outer], [-1], sizes[inner + 1 :]]
        return tf.reshape(x, tf.concat(parts, 0))
    if outer == 0:
        return x.values if inner == 1 else _merged(x.values, 0, inner - 1)
    if outer > 1:
        return x.with_values(_merged(x.values, outer - 1, inner - 1))
    values, splits = x.values, x.row_splits
    for _ in range(inner - 1):
        if isinstance(values, RaggedTensor):
            splits, values = tf.gather(values.row_splits, splits), values.values
        else:
            splits = splits * tf.shape(values, splits.dtype)[1]
            values = _merged(values, 0, 1)
    return ragged(values, RowPartition(splits))


@for_ragged(dims.size)
def size(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The number of elements."""
    return tf.size(input.flat_values, out_type or dtypes.int32)


@for_ragged(dims.rank)
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes."""
    known = input.shape.rank
    if known is None:
        return tf.rank(input.flat_values) + input.ragged_rank
    return to_tensor(known, dtypes.int32)


@for_ragged(dims.shape)
def shape(
    input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None
) -> DynamicRaggedShape:
    """The shape, with the lengths of the rows of each ragged axis."""
    return DynamicRaggedShape.from_tensor(input, out_type)


@for_ragged(shaping.RESHAPE)
def reshape(x: RaggedTensor, shape: ShapeLike) -> Any:
    """The elements of a ragged tensor under a dense shape."""
    return tf.reshape(x.flat_values, shape)


@for_ragged(shaping.RESHAPE_BY)
def reshape_by(x: RaggedTensor, shape: Any) -> Any:
    """The same for a shape that is known when the function runs."""
    return tf.reshape(x.flat_values, shape)


@for_ragged(indexing.one_hot)
def one_hot(
    indices: Any,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """Rows with `on_value` (1) at the index and `off_value` (0) elsewhere."""
    place = None if axis is None else static_int("one_hot", axis)
    if place is not None and place >= 0:
        require(
            place > indices.ragged_rank,
            "one_hot",
            f"`axis` {place} must lie inside the rows of a ragged tensor",
            kind=ValueError,
        )
        place -= indices.ragged_rank
    flat = tf.one_hot(indices.flat_values, depth, on_value, off_value, place, dtype)
    return indices.with_flat_values(flat)
