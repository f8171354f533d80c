"""Indexing ragged tensors: rows by number, slices along any axis, new axes.

A number picks a row of the outermost axis, or of an inner one whose rows have one length; where
rows differ in length, a number would not exist in each of them, and is refused.
"""

from __future__ import annotations

from typing import Any

from wengert.composite.ragged_gather import pick_rows, spans, within
from wengert.composite.ragged_shaping import expand_dims
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.ops.declare import (
    Dim,
    InvalidIndexError,
    SymbolicTensor,
    Tensor,
    Value,
    invalid,
    is_dynamic,
    require,
    static_int,
    tf,
    to_tensor,
)


def getitem(x: RaggedTensor, key: Any) -> Tensor | RaggedTensor:
    """What `x[key]` gives."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for one in keys:
        require(
            _is_key(one),
            "RaggedTensor",
            "an index is a number, a slice, `...` or None",
            one,
            kind=TypeError,
        )
    return _outer(x, _without_ellipsis(keys, x.shape.rank or 0))


def _is_key(key: Any) -> bool:
    if isinstance(key, bool | str | float):
        return False
    if isinstance(key, Value):
        return key.dtype.is_integer and not key.shape.rank
    return key is None or key is Ellipsis or isinstance(key, slice) or hasattr(key, "__index__")


def _without_ellipsis(keys: list[Any], rank: int) -> list[Any]:
    """`...` written out as whole slices."""
    at = [i for i, k in enumerate(keys) if k is Ellipsis]
    if not at:
        return keys
    rest = [k for k in keys if k is not None and k is not Ellipsis]
    return [*keys[: at[0]], *[slice(None)] * (rank - len(rest)), *keys[at[0] + 1 :]]


def _outer(x: Tensor | RaggedTensor, keys: list[Any]) -> Tensor | RaggedTensor:
    """Applies keys from the outermost axis on."""
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return x[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _outer(x, rest)
        ours = isinstance(inner, RaggedTensor)
        return expand_dims(inner, 0) if ours else tf.expand_dims(inner, 0)
    if isinstance(key, slice):
        whole = key == slice(None)
        rows = x if whole else pick_rows(x, tf.range(x.nrows())[_static_slice(key)])
        return _inner(rows, rest)
    place = (
        _at_run_time(x, key) if is_dynamic(key) else _place(x, static_int("index", key, "index"))
    )
    return _outer(_row(x, place), rest)


def _place(x: RaggedTensor, number: int) -> Tensor | int:
    """A row counted from the front."""
    count = x._partition.static_nrows
    require(
        count is None or -count <= number < count,
        "index",
        f"there is no row {number} in {count} rows",
        x,
        kind=InvalidIndexError,
    )
    return number if number >= 0 else number + x.nrows()


def _at_run_time(x: RaggedTensor, key: SymbolicTensor) -> Tensor:
    """A row counted from the front, whose number is known only when the function runs."""
    number, count = tf.cast(key, x._partition.dtype), x.nrows()
    return within("index", tf.where(tf.less(number, 0), number + count, number), count)


def _row(x: RaggedTensor, place: Tensor | int) -> Tensor | RaggedTensor:
    start, limit = x.row_splits[place], x.row_splits[place + 1]
    if isinstance(x.values, RaggedTensor):
        return pick_rows(x.values, tf.range(start, limit))
    return x.values[start:limit]


def _inner(x: Tensor | RaggedTensor, keys: list[int | slice | None]) -> Tensor | RaggedTensor:
    """Applies keys from the second axis on."""
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return x[(slice(None), *keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _inner(x, rest)
        ours = isinstance(inner, RaggedTensor)
        return expand_dims(inner, 1) if ours else tf.expand_dims(inner, 1)
    if isinstance(key, slice):
        cut = x if key == slice(None) else _sliced(x, _static_slice(key))
        return cut.with_values(_inner(cut.values, rest)) if rest else cut
    return _outer_of_each(x, static_int("index", key, "index"), rest)


def _outer_of_each(x: RaggedTensor, number: int, rest: list[Any]) -> Tensor | RaggedTensor:
    """The element of that number of each row, where rows have one length."""
    size = x._partition.static_uniform_row_length
    if size is None:
        raise invalid(
            "RaggedTensor",
            "rows of different lengths are not indexed by a number",
            x,
            help="Use a slice, or tf.gather with `batch_dims=1`.",
            kind=ValueError,
        )
    place = number + size if number < 0 else number
    starts = x.row_starts()
    places = within("index", tf.zeros_like(starts) + place, x.row_lengths())
    return _inner(pick_rows(x.values, starts + places), rest)


def _static_slice(key: slice) -> slice:
    parts = (
        None if p is None else static_int("slice", p, "slice")
        for p in (key.start, key.stop, key.step)
    )
    result = slice(*parts)
    require(result.step != 0, "slice", "the step must not be 0", kind=ValueError)
    return result


def _sliced(x: RaggedTensor, key: slice) -> RaggedTensor:
    """The same slice of each row."""
    own, step = x._partition, 1 if key.step is None else key.step
    if own.static_uniform_row_length is not None:
        covered = range(own.static_uniform_row_length)[key]
        starts = own.row_starts() + (covered.start if len(covered) else 0)
        cut = RowPartition.from_uniform_row_length(len(covered), nrows=own.nrows(), dtype=own.dtype)
    else:
        starts, cut = _row_slices(own, key, step)
    if step == 1:
        return ragged(pick_rows(x.values, spans(starts, cut)), cut)
    begin = tf.gather(starts, cut.value_rowids())
    return ragged(pick_rows(x.values, tf.add(begin, cut.offsets_in_rows() * step)), cut)


def _row_slices(own: RowPartition, key: slice, step: int) -> tuple[Tensor, RowPartition]:
    """Where the slice of each row begins, and how long it is: Python's rules, row by row."""
    lengths = own.row_lengths()
    low, high = tf.zeros_like(lengths), lengths
    if step < 0:
        low, high = low - 1, high - 1
    start = (
        (low if step > 0 else high)
        if key.start is None
        else _clamped(key.start, lengths, low, high)
    )
    stop = (
        (high if step > 0 else low) if key.stop is None else _clamped(key.stop, lengths, low, high)
    )
    # Rounded up, for either direction.
    count = tf.floordiv(tf.subtract(stop, start) + (step - (1 if step > 0 else -1)), step)
    cut = RowPartition.from_row_lengths(tf.maximum(count, tf.zeros_like(count)), validate=False)
    return tf.add(own.row_starts(), start), cut


def _clamped(bound: int | Dim, lengths: Any, low: Tensor, high: Any) -> Tensor:
    """A bound counted from the front of each row and kept within it."""
    if type(bound) is Dim:
        given = to_tensor(bound, lengths.dtype)
        place = tf.where(tf.less(given, 0), lengths + given, tf.zeros_like(lengths) + given)
    else:
        place = lengths + bound if bound < 0 else tf.zeros_like(lengths) + bound
    return tf.minimum(tf.maximum(place, low), high)
