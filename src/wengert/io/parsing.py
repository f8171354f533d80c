"""Examples from records, as tensors by name. None of this compiles."""

from __future__ import annotations

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
from wengert.io import protobuf_wire
from wengert.io.features import KINDS, Expected, expected

if TYPE_CHECKING:
    from wengert.core.composite import CompositeTensor
    from wengert.core.types import Tensor, TensorLike


_STRING = dtypes.nums("s")
_READ: dict[int, Any] = {
    1: ("bytes_list", protobuf_wire.texts),
    2: ("float_list", protobuf_wire.floats),
    3: ("int64_list", protobuf_wire.int64s),
}
Values = tuple[str, list[Any]]


class Wanted:
    """The features that one call asks for; two calls with equal words stay two."""

    def __init__(self, name: str, features: list[Expected], single: bool) -> None:
        self.name, self.features, self.single = name, features, single

    def __repr__(self) -> str:
        return ", ".join(one.key for one in self.features)


def _feature(data: bytes) -> tuple[str, list[bytes | float]] | None:
    """The kind and the values of a feature."""
    result: Values | None = None
    for number, content in protobuf_wire.parts(data):
        if number in _READ:
            name, read = _READ[number]
            values: list[Any] = []
            for inner, kind, part in protobuf_wire.fields(content):
                if inner == 1:
                    values += read(kind, part)
            result = (name, values)
    return result


def entries_of(data: bytes) -> dict[str, bytes]:
    """The parts of a map by name, as bytes."""
    table = {}
    for number, entry in protobuf_wire.parts(data):
        if number == 1:
            parts = dict(protobuf_wire.parts(entry))
            table[bytes(parts.get(1, b"")).decode()] = parts.get(2, b"")
    return table


def _example(name: str, data: bytes) -> dict[str, bytes]:
    """The features of an example by name, still as bytes."""
    try:
        joined = b"".join(part for number, part in protobuf_wire.parts(bytes(data)) if number == 1)
        return entries_of(joined)
    except (protobuf_wire.DecodeError, UnicodeDecodeError, TypeError) as error:
        raise no_example(name, data, error) from error


def no_example(name: str, data: Any, error: Exception) -> Exception:
    help = "Give what SerializeToString() of a tf.train.Example returned."
    return invalid(name, f"the bytes are no example ({error})", repr(bytes(data)[:40]), help=help)


def values_of(
    name: str, example: dict[str, bytes], one: Expected, key: str
) -> list[bytes | float] | None:
    """The values of a feature; `None` where the example does not have it."""
    data = example.get(key)
    try:
        result = None if data is None else _feature(data)
    except protobuf_wire.DecodeError as error:
        raise no_example(name, data, error) from error
    if result is None:
        return None
    if result[0] != KINDS[one.dtype]:
        kinds = {v: k.name for k, v in KINDS.items()}
        raise invalid(
            name, f"feature {key!r} holds {kinds[result[0]]} values, but {one.dtype.name} is "
            "asked for", help="Ask for the dtype in which it was written.",
        )  # fmt: skip
    return result[1]


def array_of(values: list[bytes | float] | list[float], dtype: dtypes.DType) -> np.ndarray:
    if dtype is not dtypes.string:
        return np.array(values, dtype.np)
    out = np.empty(len(values), object)
    out[:] = values
    return out


def dense(
    name: str, one: Expected, rows: list[list[Any] | None], examples: list[dict[str, bytes]]
) -> np.ndarray:
    size = int(np.prod(one.shape))
    out = np.empty((len(rows), size), object if one.dtype is dtypes.string else one.dtype.np)
    for i, values in enumerate(rows):
        if values is None:
            if one.default is None:
                raise _missing(name, one, examples[i])
            out[i] = one.default.reshape(-1)
        elif len(values) != size:
            help = "Give the right shape, or use a VarLenFeature or a RaggedFeature."
            rule = f"feature {one.key!r} has {len(values)} values, but shape {list(one.shape)}"
            raise invalid(name, f"{rule} takes {size}", help=help)
        else:
            out[i] = array_of(values, one.dtype)
    return out.reshape(len(rows), *one.shape)


def _missing(name: str, one: Expected, example: dict[str, bytes]) -> Exception:
    there = ", ".join(sorted(example)) or "none"
    help = "Check the name, give FixedLenFeature a `default_value`, or use a VarLenFeature."
    rule = f"feature {one.key!r} is required, but an example does not have it; it has {there}"
    return invalid(name, rule, help=help)


def _rows(name: str, one: Expected, rows: list[list[Any] | None]) -> np.ndarray:
    """Entries of one shape, padded to the longest example."""
    size = max(int(np.prod(one.shape)), 1)
    for values in rows:
        if values is not None and len(values) % size:
            rule = f"feature {one.key!r} has {len(values)} values, which is no multiple of"
            raise invalid(name, f"{rule} {size}, the size of shape {list(one.shape)}")
    longest = max((len(values or ()) // size for values in rows), default=0)
    fill = b"" if one.dtype is dtypes.string else 0
    kind = object if one.dtype is dtypes.string else one.dtype.np
    out = np.full((len(rows), longest * size), fill, kind)
    if one.default is not None:
        out[...] = one.default.reshape(-1)[0]
    for i, values in enumerate(rows):
        if values:
            out[i, : len(values)] = array_of(values, one.dtype)
    return out.reshape(len(rows), longest, *one.shape)


def _sparse(one: Expected, rows: list[list[bytes | float] | None]) -> tuple[np.ndarray, ...]:
    lengths = [len(values or ()) for values in rows]
    row = np.repeat(np.arange(len(rows)), lengths)
    column = np.concatenate([np.arange(n) for n in lengths] or [np.zeros(0)])
    indices = np.stack([row, column], 1).astype(np.int64)
    shape = np.array([len(rows), max(lengths, default=0)], np.int64)
    return indices, _joined(one, rows), shape


def _joined(one: Expected, rows: list[list[Any] | None]) -> np.ndarray:
    return array_of([v for values in rows for v in values or ()], one.dtype)


def _pairs(name: str, one: Expected, examples: list[dict[str, bytes]]) -> tuple[np.ndarray, ...]:
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
    return indices, array_of([v for _, v in results], one.dtype), np.array([len(examples), *sizes])


def _ragged(one: Expected, rows: list[list[Any] | None]) -> tuple[np.ndarray, ...]:
    splits = np.cumsum([0, *(len(values or ()) for values in rows)])
    return _joined(one, rows), splits.astype(one.given.row_splits_dtype.as_numpy_dtype)


def _kernel(serialized: np.ndarray, wanted: Wanted) -> tuple[np.ndarray, ...]:
    name = wanted.name
    if serialized.ndim > 1 or (wanted.single and serialized.ndim):
        rule = "`serialized` must be one string" + ("" if wanted.single else ", or a vector")
        help = "Use tf.io.parse_example for several." if wanted.single else ""
        raise invalid(name, rule, ShapeDtype(serialized.shape, dtypes.string), help=help)
    examples = [_example(name, data) for data in serialized.reshape(-1)]
    out: list[np.ndarray] = []
    for one in wanted.features:
        result = answer(name, one, examples)
        out += _alone(one, result) if serialized.ndim == 0 else result
    return tuple(out)


def answer(name: str, one: Expected, examples: list[dict[str, bytes]]) -> tuple[np.ndarray, ...]:
    """The arrays that a feature of some examples is made of."""
    if one.kind == "pairs":
        return _pairs(name, one, examples)
    rows = [values_of(name, example, one, one.source) for example in examples]
    if one.kind == "dense":
        return (dense(name, one, rows, examples),)
    if one.kind == "rows":
        return (_rows(name, one, rows),)
    return _sparse(one, rows) if one.kind == "sparse" else _ragged(one, rows)


def _alone(one: Expected, found: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The arrays for one example, without the axis of the batch."""
    if one.kind in ("dense", "rows"):
        return (np.asarray(found[0][0], found[0].dtype),)
    if one.kind == "ragged":
        return (found[0],)
    indices, values, shape = found
    return indices[:, 1:], values, shape[1:]


def _infer(serialized: ShapeDtype, wanted: Wanted) -> tuple[ShapeDtype, ...]:
    single = wanted.single or serialized.shape == ()
    batch: tuple[int | None, ...] = ()
    if not single:
        batch = (None,) if serialized.shape is None else tuple(serialized.shape)
    out: list[ShapeDtype] = []
    for one in wanted.features:
        out += specs(one, batch)
    return tuple(out)


def specs(one: Expected, batch: tuple[int | None, ...]) -> list[ShapeDtype]:
    """What is known of the arrays that a feature is made of."""
    if one.kind == "dense":
        return [ShapeDtype((*batch, *one.shape), one.dtype)]
    if one.kind == "rows":
        return [ShapeDtype((*batch, None, *one.shape), one.dtype)]
    if one.kind == "ragged":
        values = ShapeDtype((None,), one.dtype)
        if not batch:
            return [values]
        ends = None if batch[0] is None else batch[0] + 1
        return [values, ShapeDtype((ends,), dtypes.as_dtype(one.given.row_splits_dtype))]
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
    rest, result = list(parts), {}
    for one in features:
        result[one.key] = _composed(one, rest, single)
    return result


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
) -> dict[str, Tensor | CompositeTensor]:
    """The features of a vector of serialized `tf.train.Example`s, by name."""
    result = expected("parse_example", features)
    x = operand(serialized, dtypes.string)
    parts = apply(PARSE_EXAMPLE, x, wanted=Wanted("parse_example", result, False))
    return packed(result, parts, x.shape.rank == 0)
