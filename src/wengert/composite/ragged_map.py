"""Ragged tensors element by element: maps of flat values, and two operands brought to one shape.

Operands broadcast axis by axis from the outside in. For each operand a list says which of its
rows the rows of the result are made from; where that list is plain counting it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from wengert.composite.ragged_convert import cut_to_numbers, places
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition, alike, same_rows
from wengert.composite.rules import for_ragged
from wengert.core import nest
from wengert.ops import cast, dropout, losses
from wengert.ops.declare import DType, Op, Tensor, apply, describe, invalid, operand, require, tf
from wengert.ops.indexing import WHERE_INDICES


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function on the flat values of ragged arguments, which must be cut alike.

    >>> x = tf.ragged.constant([[1, 2], [3]])
    >>> tf.ragged.map_flat_values(lambda v: v * 10, x).to_list()
    [[10, 20], [30]]
    """
    require(callable(op), "map_flat_values", "`op` must be callable", op, kind=TypeError)
    results = [x for x in nest.flatten((args, kwargs)) if isinstance(x, RaggedTensor)]
    if not results:
        return op(*args, **kwargs)
    for other in results[1:]:
        require(
            _cut_alike(results[0], other),
            "map_flat_values",
            "the ragged tensors must have the same rows",
        )
    flat_args, flat_kwargs = nest.map_structure(_flat, (args, kwargs))
    whole = results[0]
    for other in results[1:]:
        parts = _joint("map_flat_values", whole, other)
        whole = whole if parts == whole._partitions else ragged_of(whole.flat_values, parts)
    result = op(*flat_args, **flat_kwargs)
    own, made = results[0].flat_values.shape, getattr(result, "shape", None)
    require(
        made is not None and made.rank != 0 and made[:1].is_compatible_with(own[:1]),
        "map_flat_values",
        lambda: (
            f"the function must keep the number of values; it made {describe(result)} of "
            f"{describe(results[0].flat_values)}"
        ),
        kind=ValueError,
    )
    return whole.with_flat_values(result)


def _flat(x: Any) -> Any:
    return x.flat_values if isinstance(x, RaggedTensor) else x


def _cut_alike(x: RaggedTensor, y: RaggedTensor) -> bool:
    ours, theirs = x._partitions, y._partitions
    return len(ours) == len(theirs) and all(
        same_rows(a, b) is not False and _single(a) == _single(b)
        for a, b in zip(ours, theirs, strict=True)
    )


def _single(rows: RowPartition) -> bool:
    """Whether the rows are known to hold one value each, which stands for any number of them."""
    return rows.static_uniform_row_length == 1


def _joint(name: str, x: RaggedTensor, y: RaggedTensor) -> list[RowPartition]:
    """The cuts that both have."""
    return [alike(name, a, b) for a, b in zip(x._partitions, y._partitions, strict=True)]


def elementwise(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """An elementwise operation of which some inputs are ragged; they broadcast where it does."""
    if op.broadcasts and len(inputs) == 2:
        return binary(partial(apply, op, **attrs), *inputs, name=op.name)
    if op.broadcasts:
        inputs = aligned(inputs)
    return map_flat_values(partial(apply, op, **attrs), *inputs)


def binary(function: Callable[[Any, Any], Any], x: Any, y: Any, name: str = "") -> Any:
    """A function of two elements, which broadcast."""
    x, y, rows = broadcast(name or function.__name__, x, y)
    return ragged_of(function(x, y), rows)


def ragged_of(values: Any, rows: Sequence[RowPartition]) -> Any:
    """Values cut by partitions, the outermost first."""
    for part in reversed(rows):
        values = ragged(values, part)
    return values


def aligned(inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Operands of which some are ragged, broadcast to common rows; scalars go with any."""
    whole = next(x for x in inputs if isinstance(x, RaggedTensor))
    for part in inputs:
        whole = binary(left, whole, part)
    return tuple([_along(whole, part) for part in inputs])


def broadcast(name: str, x: Any, y: Any) -> tuple[Any, Any, list[RowPartition]]:
    """The flat values of both operands where they meet, and how the result is cut."""
    both = isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor)
    if both and x.shape.rank == y.shape.rank and _cut_alike(x, y):
        return x.flat_values, y.flat_values, _joint(name, x, y)
    model: RaggedTensor = x if isinstance(x, RaggedTensor) else y
    x, y = (v if isinstance(v, RaggedTensor) else operand(v, None, model.dtype) for v in (x, y))
    if x.shape.rank == 0 or y.shape.rank == 0:
        return _flat(x), _flat(y), model._partitions
    return _meet(name, _Cuts(x, y.shape.rank), _Cuts(y, x.shape.rank), model._partition.dtype)


class _Cuts:
    """An operand as it takes part in broadcasting: its cuts from the outside in, and its values."""

    def __init__(self, x: Any, other_rank: int) -> None:
        self.name = describe(x)
        if None in (x.shape.rank, other_rank):
            words = "beside a ragged tensor the rank of a tensor must be known"
            raise invalid("broadcast", words, x, help="Say it with tf.ensure_shape.")
        missing = max(other_rank - x.shape.rank, 0)
        while missing and not isinstance(x, RaggedTensor):
            x = tf.expand_dims(x, 0)
            missing -= 1
        self.cuts: list[RowPartition] = x._partitions if isinstance(x, RaggedTensor) else []
        self.values = _flat(x)
        # So many rows stand at the outside; which of them the result takes, where it is not all.
        self.size: Any = x.shape[0]
        self.rows: Any = None
        for _ in range(missing):
            self.cuts = [RowPartition.from_uniform_row_length(self.size, nrows=1), *self.cuts]
            self.size = 1

    def deepen(self, depth: int, dtype: Any) -> None:
        """Cuts the values along uniform axes until there are `depth` cuts."""
        while len(self.cuts) < depth:
            known, now = self.values.shape, tf.shape(self.values, dtype)
            count, size = (now[k] if known[k] is None else known[k] for k in (0, 1))
            cut = RowPartition.from_uniform_row_length(size, nrows=count, validate=False)
            self.cuts.append(cut)
            self.values = tf.reshape(self.values, tf.concat([[-1], now[2:]], 0))
        self.cuts = [c.with_dtype(dtype) for c in self.cuts]

    def count(self, dtype: DType) -> Tensor:
        """How many rows stand at the outside, as a tensor."""
        return self.cuts[0].nrows() if self.cuts else tf.shape(self.values, dtype)[0]

    def stretch(self, wanted: Tensor, dtype: DType) -> None:
        """Lets the only outer row stand for `wanted` rows."""
        self.rows = tf.zeros(wanted[None], dtype)

    def descend(self, axis: int, single: bool, rows: RowPartition) -> None:
        """Follows the rows of the result one axis inwards; a single row stands for all."""
        own = self.cuts[axis]
        if self.rows is None and not single:
            return
        starts = own.row_starts() if self.rows is None else tf.gather(own.row_starts(), self.rows)
        begin = tf.gather(starts, rows.value_rowids())
        self.rows = begin if single else tf.add(begin, rows.offsets_in_rows())

    def lengths(self, axis: int) -> RowPartition:
        """How the rows of the result are cut along an axis if this operand has its way."""
        own = self.cuts[axis]
        if self.rows is None:
            return own
        if own.static_uniform_row_length is not None:
            return RowPartition.from_uniform_row_length(
                own.static_uniform_row_length, nrows=tf.shape(self.rows)[0], dtype=own.dtype
            )
        return RowPartition.from_row_lengths(
            tf.gather(own.row_lengths(), self.rows), validate=False
        )

    def in_result(self) -> Any:
        """The values where the result needs them."""
        return self.values if self.rows is None else tf.gather(self.values, self.rows)


def _meet(name: str, x: _Cuts, y: _Cuts, dtype: DType) -> tuple[Any, Any, list[RowPartition]]:
    depth = max(len(x.cuts), len(y.cuts))
    x.deepen(depth, dtype)
    y.deepen(depth, dtype)
    if x.size != y.size and 1 in (x.size, y.size):
        short, long = (x, y) if x.size == 1 else (y, x)
        short.stretch(long.count(dtype), dtype)
    elif x.size != y.size and None not in (x.size, y.size):
        raise _mismatch(name, x, y)
    cuts = []
    for axis in range(depth):
        ours, theirs = x.lengths(axis), y.lengths(axis)
        one, other = ours.static_uniform_row_length, theirs.static_uniform_row_length
        single_x, single_y = one == 1 != other, other == 1 != one
        if not (single_x or single_y) and not (same_rows(ours, theirs) is not False):
            raise _mismatch(name, x, y)
        # Of a ragged and a uniform axis that agree, the ragged one says how the result is cut.
        rows = theirs if single_x or (other is None and not single_y) else ours
        if not (single_x or single_y):
            rows = alike(name, rows, ours if rows is theirs else theirs)
        x.descend(axis, single_x, rows)
        y.descend(axis, single_y, rows)
        cuts.append(rows)
    return x.in_result(), y.in_result(), cuts


def _mismatch(name: str, x: _Cuts, y: _Cuts) -> Exception:
    return invalid(
        name,
        f"rows of different lengths do not broadcast; got {x.name} and {y.name}",
        help="Only axes of size 1 are stretched.",
    )


for plain in (
    dropout.dropout, dropout.stateless_dropout, losses.sigmoid_cross_entropy_with_logits
):  # fmt: skip
    for_ragged(plain)(partial(map_flat_values, plain))


@for_ragged(cast.BITCAST)
def bitcast(x: RaggedTensor, dtype: DType) -> Tensor | RaggedTensor:
    """The bits of the values as another type."""
    return x.with_flat_values(tf.bitcast(x.flat_values, dtype))


@for_ragged(WHERE_INDICES)
def where_indices(condition: RaggedTensor) -> Any:
    """The index tuples where a condition is true."""
    cut = cut_to_numbers(condition)
    return tf.boolean_mask(places(cut), cut.flat_values)


def left(a: Tensor, b: Tensor) -> Tensor:
    """The first of two operands, where they meet."""
    return a


def right(a: Tensor, b: Tensor) -> Tensor:
    """The second of two operands, where they meet."""
    return b


def _along(
    whole: RaggedTensor, part: Tensor | float | RaggedTensor
) -> Tensor | float | RaggedTensor:
    """An operand with the rows of the whole; a scalar goes with any."""
    if not isinstance(part, RaggedTensor) and not operand(part).shape.rank:
        return part
    return binary(right, whole, part)
