"""NumPy functions of tensors, and what TensorFlow 2.21 answers: `numpy_answers.json`.

The same functions ran there on the same values; an answer is its type, dtype, shape and values, or
the word "error".
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

X = np.array([[0.25, 1.5, 0.75], [2.0, 0.5, 1.125]], np.float32)

TENSORS: dict[str, Callable[[Any], Any]] = {
    "float32": lambda tf: tf.constant(X),
    "float64": lambda tf: tf.constant(X, tf.float64),
    "float16": lambda tf: tf.constant(X, tf.float16),
    "bfloat16": lambda tf: tf.cast(X, tf.bfloat16),
    "int32": lambda tf: tf.constant([[1, 5, 2], [3, 2, 7]]),
    "uint8": lambda tf: tf.constant([[1, 5, 2], [3, 2, 7]], tf.uint8),
    "bool": lambda tf: tf.constant([[True, False, True], [False, False, True]]),
    "complex128": lambda tf: tf.constant([[1 + 2j, 3j, 0.5], [1.0, 2.0, -1j]], tf.complex128),
    "string": lambda tf: tf.constant([["a", "b", "c"], ["d", "a", "b"]]),
    "scalar": lambda tf: tf.constant(0.75),
    "variable": lambda tf: tf.Variable(X),
}

CASES: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "exp": np.exp,
    "abs": np.abs,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "negative": np.negative,
    "positive": np.positive,
    "floor": np.floor,
    "isnan": np.isnan,
    "logical_not": np.logical_not,
    "add": lambda t: np.add(t, t),
    "add number": lambda t: np.add(t, 1),
    "add fraction": lambda t: np.add(t, 1.5),
    "multiply array": lambda t: np.multiply(X, t),
    "multiply by array": lambda t: np.multiply(t, X),
    "multiply wide": lambda t: np.multiply(t, X.astype(np.float64)),
    "less": lambda t: np.less(t, 1),
    "power": lambda t: np.power(t, 2),
    "divide": lambda t: np.divide(t, 2),
    "maximum": lambda t: np.maximum(t, 1),
    "modf": lambda t: list(np.modf(t)),
    "divmod": lambda t: list(np.divmod(t, 2)),
    "ufunc of a dtype": lambda t: np.add(t, 1, dtype=np.float64),
    "reduce": lambda t: np.add.reduce(t),
    "reduce all": lambda t: np.multiply.reduce(t, axis=None),
    "accumulate": lambda t: np.add.accumulate(t),
    "outer": lambda t: np.multiply.outer(t, t),
    "reduceat": lambda t: np.add.reduceat(t, [0, 1]),
    "sum": np.sum,
    "sum of rows": lambda t: np.sum(t, axis=0),
    "sum kept": lambda t: np.sum(t, axis=1, keepdims=True),
    "sum in dtype": lambda t: np.sum(t, dtype=np.float64),
    "prod": np.prod,
    "mean": np.mean,
    "mean of rows": lambda t: np.mean(t, 1),
    "std": np.std,
    "var": np.var,
    "max": np.max,
    "amin": np.amin,
    "any": np.any,
    "all": np.all,
    "argmax": np.argmax,
    "argsort": np.argsort,
    "cumsum": np.cumsum,
    "sort": np.sort,
    "median": np.median,
    "unique": np.unique,
    "dot": lambda t: np.dot(t, X.T),
    "matmul": lambda t: np.matmul(t, X.T),
    "einsum": lambda t: np.einsum("ij,ij->i", t, t),
    "norm": np.linalg.norm,
    "where": lambda t: np.where(X > 1, t, t),
    "where one": lambda t: list(np.where(t)),
    "clip": lambda t: np.clip(t, 1, 2),
    "round": np.round,
    "concatenate": lambda t: np.concatenate([t, t]),
    "stack": lambda t: np.stack([t, t]),
    "vstack": lambda t: np.vstack([t, t]),
    "append": lambda t: np.append(t, t),
    "split": lambda t: np.split(t, 3, axis=1),
    "reshape": lambda t: np.reshape(t, -1),
    "ravel": np.ravel,
    "transpose": np.transpose,
    "squeeze": np.squeeze,
    "squeeze to nothing": lambda t: np.squeeze(t[..., :1][:1] if len(t.shape) else t),
    "expand_dims": lambda t: np.expand_dims(t, 0),
    "tile": lambda t: np.tile(t, 2),
    "repeat": lambda t: np.repeat(t, 2),
    "roll": lambda t: np.roll(t, 1),
    "take": lambda t: np.take(t, [0]),
    "diag": np.diag,
    "copy": np.copy,
    "zeros_like": np.zeros_like,
    "real": np.real,
    "broadcast_to": lambda t: np.broadcast_to(t, (2, 2, 3)),
    "array_equal": lambda t: np.array_equal(t, t),
    "asarray": np.asarray,
    "array": np.array,
    "array in dtype": lambda t: np.array(t, np.float64),
    "array of list": lambda t: np.array([t, t]),
    "operator": lambda t: X * t,
    "operator wide": lambda t: X.astype(np.float64) * t,
    "operator matrix": lambda t: X.T @ t,
    "operator scalar": lambda t: np.float32(2) * t,
    "operator after": lambda t: t - X,
    "comparison": lambda t: X > t,  # noqa: SIM300 - the array asks
    "equality": lambda t: X == t,  # noqa: SIM300 - the array asks
    "method of an array": lambda t: X.dot(np.transpose(t)),
}


def answer(function: Callable[[Any], Any], tensor: Any) -> Any:
    """What a function gives: type, dtype, shape and values; of a list, for each."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(tensor)
    except Exception:
        return "error"
    return [describe(x) for x in found] if isinstance(found, list) else describe(found)


def describe(found: Any) -> Any:
    kind = type(found).__name__.replace("EagerTensor", "Tensor")
    if not hasattr(found, "dtype"):
        return [kind, repr(found)]
    array = np.asarray(found)
    dtype = array.dtype.name
    if array.dtype == object:
        values = [x.decode() if isinstance(x, bytes) else x for x in array.ravel().tolist()]
    elif array.dtype.kind == "c":
        values = [[x.real, x.imag] for x in array.ravel().tolist()]
    else:
        values = array.ravel().astype(np.float64).tolist()
    return [kind, dtype, list(array.shape), [_rounded(v) for v in values]]


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value
