"""The specs of the features of an example (`FixedLenFeature` and relatives), and their checks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.errors import at_site, describe

KINDS = {dtypes.string: "bytes_list", dtypes.float32: "float_list", dtypes.int64: "int64_list"}


class FixedLenFeature(NamedTuple):
    """A feature with the same number of values in every example."""

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values, as a sparse tensor."""

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of entries of one shape, as a padded tensor."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A sparse tensor whose indices and values are two features of the example."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class RaggedFeature(NamedTuple):
    """A feature with any number of values, as a ragged tensor (a vector for one example)."""

    dtype: Any
    value_key: str | None = None
    partitions: Any = ()
    row_splits_dtype: Any = dtypes.int32
    validate: bool = False


class Expected:
    """The checked spec of a feature: its name, kind of result, dtype, shape and default."""

    def __init__(self, name: str, key: str, given: Any, sequence: bool) -> None:
        self.key, self.given = key, given
        self.dtype = dtypes.as_dtype(given.dtype)
        if self.dtype not in KINDS:
            raise _wrong(name, key, f"the dtype must be float32, int64 or string; got {self.dtype}")
        self.source = key
        self.list_name = KINDS[self.dtype]
        self.array_dtype = object if self.dtype is dtypes.string else self.dtype.np
        self.empty_value = b"" if self.dtype is dtypes.string else 0
        self.shape: tuple[int, ...] = ()
        self.default: np.ndarray | None = None
        self.kind = _KIND[type(given)]
        if self.kind in ("dense", "rows"):
            self._take_shape(name, key, given)
        elif self.kind == "ragged":
            self._take_ragged(name, key, given)
        if sequence and self.kind in ("dense", "pairs"):
            help = "Use a FixedLenSequenceFeature, a VarLenFeature or a RaggedFeature"
            raise _wrong(name, key, f"a list of features cannot be read so. {help}")
        if self.kind == "rows" and not sequence and not given.allow_missing:
            raise _wrong(name, key, "a FixedLenSequenceFeature needs allow_missing=True here")

    def _take_shape(
        self, name: str, key: str, given: FixedLenFeature | FixedLenSequenceFeature
    ) -> None:
        shape = [given.shape] if isinstance(given.shape, int) else list(given.shape)
        if any(not isinstance(d, int | np.integer) or d < 0 for d in shape):
            help = "Use a FixedLenSequenceFeature, a RaggedFeature or a VarLenFeature."
            raise _wrong(name, key, f"all sizes of its shape must be known; got {shape}. {help}")
        self.shape = tuple(map(int, shape))
        if given.default_value is not None:
            self.default = _default(name, key, given.default_value, self)

    def _take_ragged(self, name: str, key: str, given: RaggedFeature) -> None:
        self.source = given.value_key or key
        self.splits = dtypes.as_dtype(given.row_splits_dtype)
        if given.partitions:
            words = "partitions of a RaggedFeature are not there yet"
            help = "Parse their features, and use tf.RaggedTensor.from_row_splits and the like."
            raise _wrong(name, key, f"{words}. {help}", NotImplementedError)


_KIND: dict[type, str] = {
    FixedLenFeature: "dense",
    FixedLenSequenceFeature: "rows",
    VarLenFeature: "sparse",
    SparseFeature: "pairs",
    RaggedFeature: "ragged",
}


def _default(name: str, key: str, value: float | list[int], to: Expected) -> np.ndarray:
    if to.dtype is dtypes.string:
        result = np.asarray(value, object)
        result = np.vectorize(lambda t: t.encode() if isinstance(t, str) else t, [object])(result)
    else:
        result = np.asarray(value).astype(to.dtype.np)
    try:
        wide = result if to.kind == "rows" else np.broadcast_to(result, to.shape)
        if result.size not in (1, wide.size):
            raise ValueError
    except ValueError:
        words = f"its default must be one value or have shape {list(to.shape)}"
        raise _wrong(name, key, f"{words}; got shape {list(result.shape)}") from None
    return wide


def expected(name: str, features: Any, sequence: bool = False) -> list[Expected]:
    """The features of a dict, in TensorFlow's order: sparse, dense, then ragged ones."""
    if not isinstance(features, dict) or not features:
        words = f"{name}: `features` must be a dict of features, and not empty"
        raise at_site(ValueError(f"{words}; got {describe(features)}."))
    results = []
    for key in sorted(features):
        if type(features[key]) not in _KIND:
            known = ", ".join(kind.__name__ for kind in _KIND)
            raise _wrong(name, key, f"it must be one of {known}; got {describe(features[key])}")
        results.append(Expected(name, key, features[key], sequence))
    order = {"sparse": 0, "pairs": 0, "dense": 1, "rows": 1, "ragged": 2}
    return sorted(results, key=lambda one: order[one.kind])


def _wrong(name: str, key: str, words: str, kind: type[Exception] = ValueError) -> Exception:
    return at_site(kind(f"{name}: feature {key!r}: {words.rstrip('.')}."))
