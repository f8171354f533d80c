"""A program as source text with its arguments, and the names its text may use.

The text runs under Wengert and under TensorFlow alike: nothing here imports either.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

# Kinds of values: a scalar, a vector of three, a matrix of 2 by 3, rows of three (any number of
# them), and a small whole number. All but the last are of the program's float type `F`.
SHAPES = {"s": [], "v": [3], "m": [2, 3], "r": [None, 3], "i": []}
PARAMETERS = {"x": "v", "m": "m", "s": "s", "r": "r", "n": "i"}


@dataclass
class Program:
    """`text` defines `program(x, m, s, r, n)` and the variables `VARIABLES`."""

    text: str
    seed: int
    dtype: str = "float64"
    order: int = 2
    tolerance: float = 1e-7
    needs: frozenset[str] = frozenset()
    used: Counter[str] = field(default_factory=Counter)

    def with_text(self, text: str) -> Program:
        return replace(self, text=text)

    def arguments(self, which: int = 0) -> list[np.ndarray]:
        """The arguments of the first or the second call: other values, another number of rows."""
        rng = np.random.default_rng([self.seed, which])
        rows = int(rng.integers(0 if which else 1, 5))
        shapes = ([3], [2, 3], [], [rows, 3])
        given = [rng.normal(size=shape).astype(self.dtype) for shape in shapes]
        return [*given, np.array(rng.integers(1, 4), np.int32)]


# What the rows of the case table are called with: their own arguments, of sizes that the trace
# does not know, of no rows, with a number that is not finite, or in another dtype.
VARIANTS = ("plain", "open", "empty", "nan", "inf", "float32", "float16", "bfloat16")
# In the message of an error, when two ways to the same value give different ones.
DISAGREE = "two ways disagree"
# The outcome of what is refused.
REFUSED = -77.0


def helpers(tf: Any) -> dict[str, Any]:
    """What the text of a program may use beside `tf`."""

    def case(name: str, nudge: Any, how: str = "plain", rows: Any = None) -> Any:
        """The row `name` on its own arguments, the floats among them moved a little by `nudge`.

        `how` is one of `VARIANTS`; the sizes of an open one depend on that of `rows`.
        """
        move = 1e-3 * (1.5 + tf.tanh(tf.cast(nudge, tf.float64)))
        row = _rows()[name]
        given = [_varied(np.asarray(a), how) for a in row.args]
        given = [tf.constant(a) + move if a.dtype == np.float64 else tf.constant(a) for a in given]
        if how == "open":
            zero = tf.minimum(tf.shape(rows)[0], 0)
            given = [_open(tf, x, zero) for x in given]
        if how in ("float32", "float16", "bfloat16"):
            given = [tf.cast(x, how) if x.dtype.is_floating else x for x in given]
        return row.call(*given, **row.options)

    def digest(nest: Any, dtype: Any) -> Any:
        """A number that depends on each element of a nest, and on the dtypes."""
        total = tf.zeros([], tf.float64)
        for leaf in tf.nest.flatten(nest, expand_composites=True):
            x = tf.convert_to_tensor(leaf)
            total += _weighed(tf, x) + _number(x.dtype.name)
        return tf.cast(tf.asinh(total * 0.1), dtype)

    @tf.autograph.experimental.do_not_convert
    def outcome(f: Any, dtype: Any) -> Any:
        """The digest of what `f` returns, or a number that stands for an error."""
        try:
            return digest(f(), dtype)
        except Exception:
            return tf.constant(REFUSED, dtype)

    def agree(one: Any, other: Any, tolerance: float = 1e-6) -> Any:
        """`one`, which has to equal `other`: two ways to the same value."""
        a, b = tf.convert_to_tensor(one), tf.convert_to_tensor(other)
        same = a.dtype == b.dtype and a.shape.is_compatible_with(b.shape)
        tf.debugging.Assert(same, [f"{DISAGREE}: {a.dtype} {a.shape}, {b.dtype} {b.shape}"])
        if not same:
            return a
        tf.debugging.Assert(tf.reduce_all(tf.shape(a) == tf.shape(b)), [DISAGREE, "in shape"])
        near = tf.equal(a, b)
        if a.dtype.is_floating:
            near |= tf.abs(a - b) <= tolerance * (1 + tf.abs(b))
            near |= tf.math.is_nan(a) & tf.math.is_nan(b)
        tf.debugging.Assert(tf.reduce_all(near), [DISAGREE, a, b])
        return a

    def kinds(nest: Any, dtype: Any) -> Any:
        """A number that stands for the types of a nest: containers, composites, tensors."""
        return tf.constant(_number(_kinds(tf, nest)), dtype)

    return {
        "np": np, "tf": tf, "case": case, "digest": digest, "outcome": outcome, "agree": agree,
        "kinds": kinds, "Record": Record, "Pair": Pair, "Rows": Rows,
        "Flat": Flat,
    }  # fmt: skip


@dataclass
class Record:
    """A dataclass: a leaf for `tf.nest`, an argument of functions by its fields."""

    x: Any
    note: Any


class Pair(NamedTuple):
    x: Any
    y: Any


class Rows:
    """A sequence by `__len__` and `__getitem__` alone."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> list[float]:
        return [[1.0, 2.0], [3.0, 4.5]][i]


class Flat:
    """An object that `tf.nest` takes apart by its own methods."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __tf_flatten__(self) -> Any:
        return ("note",), self.parts

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, parts: Any) -> Flat:
        return cls(*parts)


def _kinds(tf: Any, nest: Any) -> str:
    if isinstance(nest, dict):
        return "{" + ",".join(f"{k}:{_kinds(tf, nest[k])}" for k in sorted(nest)) + "}"
    if isinstance(nest, list | tuple):
        return type(nest).__name__ + "(" + ",".join(_kinds(tf, x) for x in nest) + ")"
    for name in ("IndexedSlices", "RaggedTensor", "SparseTensor"):
        if isinstance(nest, getattr(tf, name)):
            return name
    return f"Tensor {nest.dtype.name}" if tf.is_tensor(nest) else type(nest).__name__


def _number(text: str) -> float:
    return zlib.crc32(text.encode()) % 997 / 97.0


def _varied(a: np.ndarray, how: str) -> np.ndarray:
    if how == "empty" and a.ndim:
        return a[:0]
    if a.dtype.kind != "f":
        return a
    a = np.array(a, np.float64)
    if how in ("nan", "inf") and a.size:
        a.flat[a.size // 2] = float(how)
    return a


def _open(tf: Any, x: Any, zero: Any) -> Any:
    """`x`, of sizes that are not known where `zero` is not."""
    return tf.slice(x, [0] * len(x.shape), [n + zero for n in x.shape]) if len(x.shape) else x


def _weighed(tf: Any, x: Any) -> Any:
    if x.dtype == tf.string:
        x = tf.strings.length(x)
    if x.dtype.is_complex:
        x = tf.stack([tf.math.real(x), tf.math.imag(x)])
    if x.dtype != tf.bool and not x.dtype.is_floating:
        x = tf.cast(x, tf.int64) % 1009
    flat = tf.reshape(tf.cast(x, tf.float64), [-1])
    odd = tf.where(
        tf.math.is_nan(flat), 3.7, tf.where(flat > 0, 5.1, tf.constant(-2.3, flat.dtype))
    )
    flat = tf.where(tf.math.is_finite(flat), flat, tf.cast(odd, flat.dtype))
    return tf.reduce_sum(tf.asinh(flat) * tf.cast(1 + tf.range(tf.size(flat)) % 13, tf.float64))


_ROWS: dict[str, Any] = {}


def _rows() -> dict[str, Any]:
    if not _ROWS:
        from tests.cases import all_cases

        _ROWS.update({c.name: c for c in all_cases()})
    return _ROWS


def rows() -> dict[str, Any]:
    """The case table by name."""
    return _rows()


def repeatable_rows() -> list[str]:
    """The rows that answer the same each time: not those that draw random numbers."""
    words = ("random", "shuffle", "dropout")
    return sorted(name for name in rows() if not any(w in name for w in words))
