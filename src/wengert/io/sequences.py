"""Examples with rows of features, from records. None of this compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ragged_tensor import ragged
from wengert.composite.row_partition import RowPartition
from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.op import Op, ShapeDtype
from wengert.io import protobuf_wire
from wengert.io.features import Expected, expected
from wengert.io.parsing import (
    PARSE_EXAMPLE,
    Wanted,
    answer,
    dense,
    entries_of,
    no_example,
    packed,
    specs,
    values_of,
)

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor
    from wengert.core.types import Tensor, TensorLike
    from wengert.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature


Lists = dict[str, list[bytes]]
_STRING = dtypes.nums("s")


def _lists(name: str, data: bytes | np.ndarray) -> Lists:
    """The rows of features by name, each row still as bytes."""
    try:
        joined = b"".join(part for n, part in protobuf_wire.parts(bytes(data)) if n == 2)
        return {
            key: [part for n, part in protobuf_wire.parts(rows) if n == 1]
            for key, rows in entries_of(joined).items()
        }
    except (protobuf_wire.DecodeError, UnicodeDecodeError) as error:
        raise no_example(name, data, error) from error


def _steps(name: str, one: Expected, lists: Lists) -> list[dict[str, bytes]]:
    if one.source not in lists and one.kind == "rows" and not one.given.allow_missing:
        there = ", ".join(sorted(lists)) or "none"
        help = "Check the name, or give FixedLenSequenceFeature allow_missing=True."
        rule = f"feature list {one.key!r} is required, but an example does not have it"
        raise invalid(name, f"{rule}; it has {there}", help=help)
    return [{one.source: part} for part in lists.get(one.source, ())]


def _sequence(name: str, one: Expected, lists: Lists) -> tuple[np.ndarray, ...]:
    """The arrays of a feature list: an entry of a dense one must have its shape."""
    steps = _steps(name, one, lists)
    if one.kind != "rows":
        return answer(name, one, steps)
    rows: list[Any] = [values_of(name, step, one, one.source) or [] for step in steps]
    return (dense(name, one, rows, steps),)


def _single(serialized: np.ndarray, wanted: Wanted) -> tuple[np.ndarray, ...]:
    if serialized.ndim:
        given = ShapeDtype(serialized.shape, dtypes.string)
        raise invalid(wanted.name, "`serialized` must be one string", given)
    lists = _lists(wanted.name, serialized[()])
    return tuple(a for one in wanted.features for a in _sequence(wanted.name, one, lists))


def _infer_single(serialized: ShapeDtype, wanted: Wanted) -> tuple[ShapeDtype, ...]:
    out: list[ShapeDtype] = []
    for one in wanted.features:
        rows = one.kind == "rows"
        out += [ShapeDtype((None, *one.shape), one.dtype)] if rows else specs(one, (None,))
    return tuple(out)


PARSE_SEQUENCE = Op(
    "parse_single_sequence_example",
    "serialized",
    kernel=_single,
    infer=_infer_single,
    lower=None,
    grad=None,
    accepts=_STRING,
    outputs=None,
    register=False,
)


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: dict[str, FixedLenFeature] | None = None,
    sequence_features: dict[str, FixedLenSequenceFeature | RaggedFeature] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Tensor], dict[str, Tensor | RaggedTensor]]:
    """The context and the rows of features of one serialized `tf.train.SequenceExample`."""
    own, x = "parse_single_sequence_example", operand(serialized, dtypes.string)
    context: dict[str, Any] = {}
    rows: dict[str, Any] = {}
    if context_features:
        result = expected(own, context_features)
        context = packed(result, apply(PARSE_EXAMPLE, x, wanted=Wanted(own, result, True)), True)
    if sequence_features:
        result = expected(own, sequence_features, sequence=True)
        rows = packed(result, apply(PARSE_SEQUENCE, x, wanted=Wanted(own, result, True)), False)
    return context, rows


def _batch(serialized: np.ndarray, wanted: Wanted) -> tuple[np.ndarray, ...]:
    name, out = wanted.name, []
    if serialized.ndim != 1:
        given = ShapeDtype(serialized.shape, dtypes.string)
        raise invalid(name, "`serialized` must be a vector of strings", given)
    lists = [_lists(name, data) for data in serialized]
    for one in wanted.features:
        results = [_sequence(name, one, each) for each in lists]
        out += _JOIN[one.kind](one, results)
    return tuple(out)


def _padded(one: Expected, found: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Rows filled up to the longest example, and how many each example has."""
    lengths = np.array([len(rows) for (rows,) in found], np.int64)
    fill = b"" if one.dtype is dtypes.string else 0
    kind = object if one.dtype is dtypes.string else one.dtype.np
    out = np.full((len(found), int(lengths.max(initial=0)), *one.shape), fill, kind)
    for i, (rows,) in enumerate(found):
        out[i, : len(rows)] = rows
    return [out, lengths]


def _stacked(one: Expected, found: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Sparse matrices as one sparse tensor."""
    indices = [np.insert(at, 0, i, axis=1) for i, (at, _, _) in enumerate(found)]
    shapes = np.array([shape for _, _, shape in found], np.int64).reshape(len(found), -1)
    whole = [len(found), *shapes.max(0).tolist()] if found else [0, 0, 0]
    parts = [values for _, values, _ in found]
    values = np.concatenate(parts) if parts else np.zeros(0, one.dtype.np)
    at = np.concatenate(indices) if indices else np.zeros((0, 3))
    return [at.astype(np.int64), values, np.array(whole, np.int64)]


def _nested(one: Expected, found: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Values, the rows they are in, and the examples that those are in."""
    kind = dtypes.as_dtype(one.given.row_splits_dtype).np
    lengths = np.concatenate([np.zeros(1), *(np.diff(splits) for _, splits in found)])
    outer = np.cumsum([0, *(len(splits) - 1 for _, splits in found)])
    parts = [values for values, _ in found] or [np.zeros(0, one.dtype.np)]
    return [np.concatenate(parts), np.cumsum(lengths).astype(kind), outer.astype(kind)]


_JOIN: dict[str, Any] = {"rows": _padded, "sparse": _stacked, "ragged": _nested}


def _infer_batch(serialized: ShapeDtype, wanted: Wanted) -> tuple[ShapeDtype, ...]:
    count = None if not serialized.shape else serialized.shape[0]
    out: list[ShapeDtype] = []
    for one in wanted.features:
        if one.kind == "rows":
            out += [
                ShapeDtype((count, None, *one.shape), one.dtype),
                ShapeDtype((count,), dtypes.int64),
            ]
        elif one.kind == "sparse":
            parts = [ShapeDtype((None, 3), dtypes.int64), ShapeDtype((None,), one.dtype)]
            out += [*parts, ShapeDtype((3,), dtypes.int64)]
        else:
            splits = dtypes.as_dtype(one.given.row_splits_dtype)
            out += [ShapeDtype((None,), one.dtype), ShapeDtype((None,), splits)]
            out += [ShapeDtype((None if count is None else count + 1,), splits)]
    return tuple(out)


PARSE_SEQUENCES = Op(
    "parse_sequence_example",
    "serialized",
    kernel=_batch,
    infer=_infer_batch,
    lower=None,
    grad=None,
    accepts=_STRING,
    outputs=None,
    register=False,
)


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The contexts and the rows of features of several serialized `tf.train.SequenceExample`s.

    Rows of one shape are filled up to the longest example; the last result says how many each
    example has.
    """
    own, x = "parse_sequence_example", operand(serialized, dtypes.string)
    context: dict[str, Any] = {}
    rows: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    if context_features:
        result = expected(own, context_features)
        context = packed(result, apply(PARSE_EXAMPLE, x, wanted=Wanted(own, result, False)), False)
    if sequence_features:
        result = expected(own, sequence_features, sequence=True)
        rest = list(apply(PARSE_SEQUENCES, x, wanted=Wanted(own, result, False)))
        for one in result:
            if one.kind == "ragged":
                rows[one.key] = _rows_of_rows(rest.pop(0), rest.pop(0), rest.pop(0))
                continue
            parts = [rest.pop(0)] if one.kind == "rows" else [rest.pop(0) for _ in range(3)]
            rows |= packed([one], parts, False)
            if one.kind == "rows":
                lengths[one.key] = rest.pop(0)
    return context, rows, lengths


def _rows_of_rows(values: Tensor, inner: Tensor, outer: Tensor) -> RaggedTensor:
    rows = RowPartition.from_row_splits(inner, validate=False)
    return ragged(ragged(values, rows), RowPartition.from_row_splits(outer, validate=False))
