"""A program as source text with its arguments, and the names its text may use.

The text runs under Wengert and under TensorFlow alike: nothing here imports either.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

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
    needs: frozenset[str] = frozenset()
    used: Counter[str] = field(default_factory=Counter)

    def with_text(self, text: str) -> Program:
        return replace(self, text=text)

    def arguments(self, which: int = 0) -> list[np.ndarray]:
        """The arguments of the first or the second call: other values, another number of rows."""
        rng = np.random.default_rng([self.seed, which])
        rows = int(rng.integers(0 if which else 1, 5))
        given = [rng.normal(size=shape) for shape in ([3], [2, 3], [], [rows, 3])]
        return [*given, np.array(rng.integers(1, 4), np.int32)]


def helpers(tf: Any) -> dict[str, Any]:
    """What the text of a program may use beside `tf`: rows of the case table and a digest."""

    def case(name: str, nudge: Any) -> Any:
        """The row `name` on its own arguments, the floats among them moved a little by `nudge`."""
        move = 1e-3 * (1.5 + tf.tanh(tf.cast(nudge, tf.float64)))

        def moved(a: Any) -> Any:
            if np.asarray(a).dtype.kind != "f":
                return tf.constant(a)
            return tf.constant(np.asarray(a, np.float64)) + move

        row = _rows()[name]
        return row.call(*[moved(a) for a in row.args], **row.options)

    def digest(nest: Any, dtype: Any) -> Any:
        """A bounded number that depends on each element of a nest, whatever its dtypes."""
        total = tf.zeros([], tf.float64)
        for leaf in tf.nest.flatten(nest, expand_composites=True):
            total += _weighed(tf, tf.convert_to_tensor(leaf))
        return tf.cast(tf.tanh(total * 0.1), dtype)

    return {"np": np, "tf": tf, "case": case, "digest": digest}


def _weighed(tf: Any, x: Any) -> Any:
    if x.dtype == tf.string:
        x = tf.strings.length(x)
    if x.dtype.is_complex:
        x = tf.math.real(x) + 0.5 * tf.math.imag(x)
    if x.dtype != tf.bool and not x.dtype.is_floating:
        x = x % 17
    flat = tf.reshape(tf.cast(x, tf.float64), [-1])
    flat = tf.where(tf.math.is_finite(flat), flat, tf.zeros_like(flat))
    return tf.reduce_sum(flat * tf.cast(1 + tf.range(tf.size(flat)) % 7, tf.float64))


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
