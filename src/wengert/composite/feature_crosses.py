"""Crosses of features: every combination of the values in a row, as text or as a hash.

The features may be sparse, ragged or dense; `tf.sparse` and `tf.ragged` differ in the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.composite.ragged_convert import from_sparse, to_sparse
from wengert.composite.ragged_tensor import RaggedTensor
from wengert.composite.sparse_tensor import SparseTensor
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    TensorLike,
    apply,
    dtypes,
    invalid,
    operand,
    require,
    require_dtype,
)
from wengert.ops.hashing import fingerprint
from wengert.ops.strings import static_int_or, static_str

_WORD = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_KEY = 956888297470  # TensorFlow's own, so that equal features get equal numbers
_LARGEST = (1 << 63) - 1


def _mixed(a: int, b: int) -> int:
    """FarmHash's way to make one fingerprint of two."""
    turned = b * _MULTIPLIER & _WORD
    result = a ^ _MULTIPLIER ^ ((turned ^ turned >> 47) * _MULTIPLIER & _WORD)
    result = result * _MULTIPLIER & _WORD
    result = (result ^ result >> 47) * _MULTIPLIER & _WORD
    return result ^ result >> 47


def _hashed(values: tuple[bytes | int, ...], key: int, buckets: int) -> int:
    result = key
    for v in values:
        result = _mixed(result, fingerprint(v) if isinstance(v, bytes) else v & _WORD)
    return result % (buckets or _LARGEST)


def _text(values: tuple[bytes | int, ...], mark: bytes) -> bytes:
    return mark.join(v if isinstance(v, bytes) else str(v).encode() for v in values)


def _rows(parts: tuple[np.ndarray, ...], sparse: tuple[bool, ...]) -> list[list[list[Any]]]:
    """For each feature the values of each row."""
    result, left = [], iter(parts)
    for is_sparse in sparse:
        if not is_sparse:
            result.append(next(left).tolist())
            continue
        indices, values, shape = next(left), next(left), next(left)
        rows: list[list[Any]] = [[] for _ in range(int(shape[0]))]
        for i, v in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
            rows[i].append(v)
        result.append(rows)
    return result


def _kernel(
    *parts: np.ndarray,
    name: str,
    sparse: tuple[bool, ...],
    hashed: bool,
    key: int,
    buckets: int,
    mark: bytes,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = _rows(parts, sparse)
    if len({len(r) for r in rows}) > 1:
        counts = " and ".join(sorted({str(len(r)) for r in rows}))
        raise invalid(name, f"the features must have the same number of rows; got {counts}")
    places: list[tuple[int, int]] = []
    results: list[Any] = []
    widest = 0
    for i, features in enumerate(zip(*rows, strict=True)):
        made = [
            _hashed(v, key, buckets) if hashed else _text(v, mark)
            for v in itertools.product(*features)
        ]
        places += [(i, k) for k in range(len(made))]
        results += made
        widest = max(widest, len(made))
    values = np.empty(len(results), np.int64 if hashed else object)
    values[:] = results
    shape = np.array([len(rows[0]), widest], np.int64)
    return np.array(places, np.int64).reshape(-1, 2), values, shape


def _infer(*parts: ShapeDtype, hashed: bool, **attrs: Any) -> tuple[ShapeDtype, ...]:
    kind = dtypes.int64 if hashed else dtypes.string
    return (
        ShapeDtype((None, 2), dtypes.int64),
        ShapeDtype((None,), kind),
        ShapeDtype((2,), dtypes.int64),
    )


CROSS = Op(
    "sparse_cross", "*parts", kernel=_kernel, infer=_infer, lower=None, grad=None, outputs=3,
    match=(), register=False,
)  # fmt: skip


def _crossed(name: str, inputs: Any, **attrs: Any) -> SparseTensor:
    require(isinstance(inputs, list | tuple) and inputs, name, "give a list of features")
    parts: list[Any] = []
    sparse = []
    for one in inputs:
        is_sparse = isinstance(one, SparseTensor)
        x = one.values if is_sparse else operand(one)
        require_dtype(
            x.dtype is dtypes.string or x.dtype.is_integer,
            name,
            "features are strings or whole numbers",
            x,
        )
        require(
            (one if is_sparse else x).shape.rank in (2, None),
            name,
            "a feature has rows of values",
            x,
            help="Use tf.expand_dims.",
        )
        parts += [one.indices, one.values, one.dense_shape] if is_sparse else [x]
        sparse.append(is_sparse)
    return SparseTensor(*apply(CROSS, *parts, name=name, sparse=tuple(sparse), **attrs))


def cross(
    inputs: TensorLike, name: str | None = None, separator: str | None = None
) -> SparseTensor:
    """Every combination of the features' values in a row, as text."""
    return crossed("sparse.cross", inputs, separator)


def crossed(name: str, inputs: TensorLike, separator: str | None = None) -> SparseTensor:
    """`cross` under the name that a program called."""
    mark = static_str(name, separator, "separator", "_X_").encode()
    return _crossed(name, inputs, hashed=False, key=0, buckets=0, mark=mark)


def cross_hashed(
    inputs: TensorLike, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Every combination of the features' values in a row, as a number below `num_buckets`."""
    return crossed_hashed("sparse.cross_hashed", inputs, num_buckets, hash_key)


def crossed_hashed(
    name: str, inputs: TensorLike, num_buckets: TensorLike, hash_key: TensorLike | None
) -> SparseTensor:
    """`cross_hashed` under the name that a program called."""
    key = static_int_or(name, hash_key, "hash_key", _KEY)
    buckets = static_int_or(name, num_buckets, "num_buckets", 0)
    require(buckets >= 0, name, f"`num_buckets` must not be negative; got {buckets}")
    return _crossed(name, inputs, hashed=True, key=key, buckets=buckets, mark=b"")


def ragged_cross(inputs: TensorLike, name: str | None = None) -> RaggedTensor:
    """Every combination of the features' values in a row, as text.

    >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["d"], ["e"]]]).to_list()
    [[b'a_X_d'], [b'b_X_e', b'c_X_e']]
    """
    return _ragged_crossed("ragged.cross", crossed, inputs)


def ragged_cross_hashed(
    inputs: TensorLike, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """Every combination of the features' values in a row, as a number below `num_buckets`."""
    function = crossed_hashed
    return _ragged_crossed("ragged.cross_hashed", function, inputs, num_buckets, hash_key)


def _ragged_crossed(
    name: str, function: Callable[..., Any], inputs: Any, *options: int | None
) -> RaggedTensor:
    features = list(inputs) if isinstance(inputs, list | tuple) else []
    rows = [x for x in features if isinstance(x, RaggedTensor)]
    require(
        not any(x.shape.rank not in (2, None) for x in rows),
        name,
        "a feature has rows of values",
        *rows,
    )
    # Features that are not ragged go with rows of either type; alone they make int64.
    kind = max((x.row_splits.dtype for x in rows), key=lambda k: k.size, default=dtypes.int64)
    plain = [to_sparse(x) if isinstance(x, RaggedTensor) else x for x in features]
    return from_sparse(function(name, plain, *options), kind)
