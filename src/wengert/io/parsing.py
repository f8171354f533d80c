"""Examples from records, as tensors by name. None of this compiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ragged_tensor import ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.op import Op, ShapeDtype
from wengert.io.features import KINDS, Expected, expected

if TYPE_CHECKING:
    from wengert.core.composite import CompositeTensor
    from wengert.core.types import DType, Tensor, TensorLike


_STRING = dtypes.nums("s")
_FEW = 16  # values of an example, up to which a list of all is faster than an array for each
Named = Mapping[str, Any]  # the `Feature` messages of an example by name
Values = Sequence[Any]  # of one feature


class Wanted:
    """The features that one call asks for; two calls with equal features stay two."""

    def __init__(self, name: str, features: list[Expected], single: bool) -> None:
        self.name, self.features, self.single = name, features, single

    def __repr__(self) -> str:
        return ", ".join(one.key for one in self.features)


def messages_of(name: str, kind: str, records: Iterable[bytes]) -> list[Any]:
    """The `Example`s or `SequenceExample`s that were serialized."""
    from google.protobuf.message import DecodeError

    from wengert.io import protobuf_messages

    parse, data = protobuf_messages.PARSERS[kind], b""
    results = []
    try:
        for data in records:
            results.append(parse(data))
    except (DecodeError, TypeError) as error:
        help = "Give what SerializeToString() of a tf.train.Example returned."
        words = f"the bytes are no example ({error})"
        raise invalid(name, words, repr(data[:40]), help=help) from error
    return results


def values_of(name: str, example: Named, one: Expected, key: str) -> Values | None:
    """The values of a feature; `None` where the example does not have it."""
    feature = example.get(key)
    if feature is None:
        return None
    values = getattr(feature, one.list_name).value
    if values:
        return values
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    if kind != one.list_name:
        names = {v: k.name for k, v in KINDS.items()}
        raise invalid(
            name, f"feature {key!r} holds {names[kind]} values, but {one.dtype.name} is "
            "asked for", help="Ask for the dtype in which it was written.",
        )  # fmt: skip
    return values


def joined(rows: Iterable[Values | None], dtype: DType) -> np.ndarray:
    """The values of several examples one after the other."""
    given = [values[:] for values in rows if values]  # lists: protobuf hands out item by item
    if dtype is not dtypes.string and sum(map(len, given)) > _FEW * len(given):
        return np.concatenate([np.array(values, dtype.np) for values in given])
    values = list(chain.from_iterable(given))
    if dtype is not dtypes.string:
        return np.array(values, dtype.np)
    out = np.empty(len(values), object)
    out[:] = values
    return out


def dense(name: str, one: Expected, rows: list[Values | None], examples: list[Named]) -> np.ndarray:
    """Arrays of one shape for the values of several examples."""
    size = math.prod(one.shape)
    for i, values in enumerate(rows):
        if values is None:
            if one.default is None:
                raise _missing(name, one, examples[i])
            rows[i] = one.default.reshape(-1).tolist()
        elif len(values) != size:
            help = "Give the right shape, or use a VarLenFeature or a RaggedFeature."
            rule = f"feature {one.key!r} has {len(values)} values, but shape {list(one.shape)}"
            raise invalid(name, f"{rule} takes {size}", help=help)
    return joined(rows, one.dtype).reshape(len(rows), *one.shape)


def _missing(name: str, one: Expected, example: Named) -> Exception:
    there = ", ".join(sorted(example)) or "none"
    help = "Check the name, give FixedLenFeature a `default_value`, or use a VarLenFeature."
    rule = f"feature {one.key!r} is required, but an example does not have it; it has {there}"
    return invalid(name, rule, help=help)


def _rows(name: str, one: Expected, rows: list[Values | None]) -> np.ndarray:
    """Entries of one shape, padded to the longest example."""
    size = max(math.prod(one.shape), 1)
    lengths = _lengths(rows)
    for length in lengths:
        if length % size:
            rule = f"feature {one.key!r} has {length} values, which is no multiple of"
            raise invalid(name, f"{rule} {size}, the size of shape {list(one.shape)}")
    longest = max(lengths, default=0)
    fill = one.empty_value if one.default is None else one.default.reshape(-1)[0]
    out = np.full((len(rows), longest), fill, one.array_dtype)
    out[np.arange(longest) < np.array(lengths)[:, None]] = joined(rows, one.dtype)
    return out.reshape(len(rows), longest // size, *one.shape)


def _lengths(rows: list[Values | None]) -> list[int]:
    return [len(values or ()) for values in rows]


def _sparse(one: Expected, rows: list[Values | None]) -> tuple[np.ndarray, ...]:
    lengths = _lengths(rows)
    row = np.repeat(np.arange(len(rows)), lengths)
    starts = np.cumsum([0, *lengths])[:-1]
    indices = np.stack([row, np.arange(len(row)) - np.repeat(starts, lengths)], 1)
    return indices, joined(rows, one.dtype), np.array([len(rows), max(lengths, default=0)])


def _pairs(name: str, one: Expected, examples: list[Named]) -> tuple[np.ndarray, ...]:
    """A sparse tensor from features that hold indices and values."""
    given = one.given
    keys = [given.index_key] if isinstance(given.index_key, str) else list(given.index_key)
    sizes = [int(s) for s in np.reshape(given.size, -1)]
    results: list[tuple[list[int], Any]] = []
    index = Expected(name, one.key, type(given)(keys, "", dtypes.int64, sizes), False)
    for i, example in enumerate(examples):
        values = values_of(name, example, one, given.value_key) or []
        columns = [values_of(name, example, index, key) or [] for key in keys]
        if any(len(column) != len(values) for column in columns):
            rule = f"feature {one.key!r} needs as many indices as values"
            counts = f"{[len(c) for c in columns]} indices for {len(values)} values"
            raise invalid(name, f"{rule}; got {counts}")
        entries = [([i, *at], v) for *at, v in zip(*columns, values, strict=True)]
        results += entries if given.already_sorted else sorted(entries, key=lambda e: e[0])
    for at, _ in results:
        if any(not 0 <= a < size for a, size in zip(at[1:], sizes, strict=True)):
            raise invalid(name, f"feature {one.key!r}: index {at[1:]} is outside {sizes}")
    indices = np.array([at for at, _ in results], np.int64).reshape(-1, 1 + len(sizes))
    return indices, joined([[v for _, v in results]], one.dtype), np.array([len(examples), *sizes])


def _ragged(one: Expected, rows: list[Values | None]) -> tuple[np.ndarray, ...]:
    splits = np.cumsum([0, *_lengths(rows)])
    return joined(rows, one.dtype), splits.astype(one.splits.np)


def _kernel(serialized: np.ndarray, wanted: Wanted) -> tuple[np.ndarray, ...]:
    name = wanted.name
    if serialized.ndim > 1 or (wanted.single and serialized.ndim):
        rule = "`serialized` must be one string" + ("" if wanted.single else ", or a vector")
        help = "Use tf.io.parse_example for several." if wanted.single else ""
        raise invalid(name, rule, ShapeDtype(serialized.shape, dtypes.string), help=help)
    messages = messages_of(name, "Example", serialized.reshape(-1).tolist())
    examples: list[Named] = [message.features.feature for message in messages]
    results = [(one, answer(name, one, examples)) for one in wanted.features]
    if serialized.ndim == 0:
        return tuple(array for one, arrays in results for array in _alone(one, arrays))
    return tuple(array for _, arrays in results for array in arrays)


def answer(name: str, one: Expected, examples: list[Named]) -> tuple[np.ndarray, ...]:
    """The arrays that a feature of some examples is made of."""
    if one.kind == "pairs":
        return _pairs(name, one, examples)
    rows = [values_of(name, example, one, one.source) for example in examples]
    if one.kind == "dense":
        return (dense(name, one, rows, examples),)
    if one.kind == "rows":
        return (_rows(name, one, rows),)
    return _sparse(one, rows) if one.kind == "sparse" else _ragged(one, rows)


def _alone(one: Expected, arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The arrays for one example, without the axis of the batch."""
    if one.kind in ("dense", "rows"):
        return (np.asarray(arrays[0][0], arrays[0].dtype),)
    if one.kind == "ragged":
        return (arrays[0],)
    indices, values, shape = arrays
    return indices[:, 1:], values, shape[1:]


def _infer(serialized: ShapeDtype, wanted: Wanted) -> tuple[ShapeDtype, ...]:
    single = wanted.single or serialized.shape == ()
    batch: tuple[int | None, ...] = ()
    if not single:
        batch = (None,) if serialized.shape is None else tuple(serialized.shape)
    return tuple(spec for one in wanted.features for spec in specs(one, batch))


def specs(one: Expected, batch: tuple[int | None, ...]) -> list[ShapeDtype]:
    """The static specs of the arrays that make up a feature."""
    if one.kind == "dense":
        return [ShapeDtype((*batch, *one.shape), one.dtype)]
    if one.kind == "rows":
        return [ShapeDtype((*batch, None, *one.shape), one.dtype)]
    if one.kind == "ragged":
        values = ShapeDtype((None,), one.dtype)
        if not batch:
            return [values]
        ends = None if batch[0] is None else batch[0] + 1
        return [values, ShapeDtype((ends,), one.splits)]
    rank = len(batch) + (1 if one.kind == "sparse" else np.size(one.given.size))
    parts = [ShapeDtype((None, rank), dtypes.int64), ShapeDtype((None,), one.dtype)]
    return [*parts, ShapeDtype((rank,), dtypes.int64)]


PARSE_EXAMPLE = Op(
    "parse_example",
    "serialized",
    kernel=_kernel,
    infer=_infer,
    lower=None,
    grad=None,
    accepts=_STRING,
    outputs=None,
    register=False,
)


def packed(
    features: list[Expected], parts: list[Tensor] | tuple[Tensor, ...], single: bool
) -> dict[str, Tensor | CompositeTensor]:
    """Tensors by name, from the tensors that they are made of."""
    rest = list(parts)
    return {one.key: _composed(one, rest, single) for one in features}


def _composed(one: Expected, rest: list[Tensor], single: bool) -> Tensor | CompositeTensor:
    if one.kind in ("sparse", "pairs"):
        return SparseTensor(rest.pop(0), rest.pop(0), rest.pop(0))
    if one.kind == "ragged" and not single:
        values, splits = rest.pop(0), rest.pop(0)
        return ragged(values, RowPartition.from_row_splits(splits, validate=False))
    return rest.pop(0)


def parse_single_example(
    serialized: TensorLike, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized `tf.train.Example`, by name.

    Args:
        serialized: a scalar string.
        features: a dict from names to `tf.io.FixedLenFeature` and its kin.
        example_names: without effect.
        name: without effect.

    Returns:
        A dict of tensors by name.

    Raises:
        InvalidArgumentError: a feature is missing or has another type.

    >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
    >>> wanted = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    >>> tf.io.parse_single_example(example.SerializeToString(), wanted)["x"].numpy().tolist()
    [1.0, 2.0]
    """
    result = expected("parse_single_example", features)
    wanted = Wanted("parse_single_example", result, True)
    parts = apply(PARSE_EXAMPLE, operand(serialized, dtypes.string), wanted=wanted)
    return packed(result, parts, True)


def parse_example(
    serialized: TensorLike, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of a vector of serialized `tf.train.Example`s, by name."""
    result = expected("parse_example", features)
    x = operand(serialized, dtypes.string)
    parts = apply(PARSE_EXAMPLE, x, wanted=Wanted("parse_example", result, False))
    return packed(result, parts, x.shape.rank == 0)
