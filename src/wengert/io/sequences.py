"""Examples with rows of features, from records. None of this compiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.composite.ragged_tensor import ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.types import CompositeTensor, Op, ShapeDtype, Tensor, TensorLike
from wengert.io.features import Expected, expected
from wengert.io.files import one_string
from wengert.io.parsing import (
    PARSE_EXAMPLE,
    Named,
    Values,
    Wanted,
    answer,
    dense,
    messages_of,
    packed,
    specs,
    values_of,
)

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor

    FeatureSpecs = dict[str, NamedTuple] | None


Lists = Mapping[str, Any]  # the `FeatureList` messages of an example by name
_STRING = dtypes.nums("s")


def _lists(name: str, data: bytes) -> Lists:
    """The rows of features by name."""
    return messages_of(name, "SequenceExample", [data])[0].feature_lists.feature_list


def _steps(name: str, one: Expected, lists: Lists) -> list[Named]:
    if one.source in lists:
        return [{one.source: feature} for feature in lists[one.source].feature]
    if one.kind == "rows" and not one.given.allow_missing:
        there = ", ".join(sorted(lists)) or "none"
        help = "Check the name, or give FixedLenSequenceFeature allow_missing=True."
        rule = f"feature list {one.key!r} is required, but an example does not have it"
        raise invalid(name, f"{rule}; it has {there}", help=help)
    return []


def _sequence(name: str, one: Expected, lists: Lists) -> tuple[np.ndarray, ...]:
    """The arrays of a feature list: an entry of a dense one must have its shape."""
    steps = _steps(name, one, lists)
    if one.kind != "rows":
        return answer(name, one, steps)
    rows: list[Values | None] = [values_of(name, step, one, one.source) or [] for step in steps]
    return (dense(name, one, rows, steps),)


def _single(serialized: np.ndarray, wanted: Wanted) -> tuple[np.ndarray, ...]:
    data = one_string(wanted.name, "serialized", serialized)
    lists = _lists(wanted.name, data)
    return tuple(a for one in wanted.features for a in _sequence(wanted.name, one, lists))


def _infer_single(serialized: ShapeDtype, wanted: Wanted) -> tuple[ShapeDtype, ...]:
    out: list[ShapeDtype] = []
    for one in wanted.features:
        rows = one.kind == "rows"
        out += [ShapeDtype((None, *one.shape), one.dtype)] if rows else specs(one, (None,))
    return tuple(out)


def _context(
    own: str, serialized: Tensor, features: FeatureSpecs, single: bool
) -> dict[str, Tensor | CompositeTensor]:
    if not features:
        return {}
    result = expected(own, features)
    parts = apply(PARSE_EXAMPLE, serialized, wanted=Wanted(own, result, single))
    return packed(result, parts, single)


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
    context_features: FeatureSpecs = None,
    sequence_features: FeatureSpecs = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The context and the rows of features of one serialized `tf.train.SequenceExample`."""
    own, x = "parse_single_sequence_example", operand(serialized, dtypes.string)
    context = _context(own, x, context_features, True)
    if not sequence_features:
        return context, {}
    result = expected(own, sequence_features, sequence=True)
    parts = apply(PARSE_SEQUENCE, x, wanted=Wanted(own, result, True))
    return context, packed(result, parts, False)


def _batch(serialized: np.ndarray, wanted: Wanted) -> tuple[np.ndarray, ...]:
    name, out = wanted.name, []
    if serialized.ndim != 1:
        given = ShapeDtype(serialized.shape, dtypes.string)
        raise invalid(name, "`serialized` must be a vector of strings", given)
    lists = [_lists(name, data) for data in serialized.tolist()]
    for one in wanted.features:
        results = [_sequence(name, one, each) for each in lists]
        out += _JOIN[one.kind](one, results)
    return tuple(out)


def _padded(one: Expected, parts: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Rows filled up to the longest example, and how many each example has."""
    lengths = np.array([len(rows) for (rows,) in parts], np.int64)
    size = (len(parts), int(lengths.max(initial=0)), *one.shape)
    out = np.full(size, one.empty_value, one.array_dtype)
    for i, (rows,) in enumerate(parts):
        out[i, : len(rows)] = rows
    return [out, lengths]


def _stacked(one: Expected, parts: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Sparse matrices as one sparse tensor."""
    indices = [np.insert(at, 0, i, axis=1) for i, (at, _, _) in enumerate(parts)]
    sizes = np.max([shape for _, _, shape in parts] or [[0, 0]], 0)
    return [
        np.concatenate([np.zeros((0, 3), np.int64), *indices]),
        np.concatenate([np.zeros(0, one.array_dtype), *(values for _, values, _ in parts)]),
        np.array([len(parts), *sizes], np.int64),
    ]


def _nested(one: Expected, parts: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Values, the rows they are in, and the examples that those are in."""
    lengths = np.concatenate([np.zeros(1), *(np.diff(splits) for _, splits in parts)])
    outer = np.cumsum([0, *(len(splits) - 1 for _, splits in parts)])
    values = np.concatenate([np.zeros(0, one.array_dtype), *(values for values, _ in parts)])
    return [values, np.cumsum(lengths).astype(one.splits.np), outer.astype(one.splits.np)]


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
            out += [ShapeDtype((None,), one.dtype), ShapeDtype((None,), one.splits)]
            out += [ShapeDtype((None if count is None else count + 1,), one.splits)]
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
    context_features: FeatureSpecs = None,
    sequence_features: FeatureSpecs = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:
    """The contexts and the rows of features of several serialized `tf.train.SequenceExample`s.

    Rows of one shape are filled up to the longest example; the last result says how many each
    example has.
    """
    own, x = "parse_sequence_example", operand(serialized, dtypes.string)
    context = _context(own, x, context_features, False)
    rows: dict[str, Tensor | CompositeTensor] = {}
    lengths: dict[str, Tensor] = {}
    if not sequence_features:
        return context, rows, lengths
    result = expected(own, sequence_features, sequence=True)
    rest = list(apply(PARSE_SEQUENCES, x, wanted=Wanted(own, result, False)))
    for one in result:
        if one.kind == "ragged":
            rows[one.key] = _rows_of_rows(rest.pop(0), rest.pop(0), rest.pop(0))
        elif one.kind == "rows":
            rows[one.key], lengths[one.key] = rest.pop(0), rest.pop(0)
        else:
            rows[one.key] = SparseTensor(rest.pop(0), rest.pop(0), rest.pop(0))
    return context, rows, lengths


def _rows_of_rows(values: Tensor, inner: Tensor, outer: Tensor) -> RaggedTensor:
    rows = RowPartition.from_row_splits(inner, validate=False)
    return ragged(ragged(values, rows), RowPartition.from_row_splits(outer, validate=False))
