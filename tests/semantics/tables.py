"""Tables of expressions and what TensorFlow 2.21 answers: `expression => answer`, one per line.

An answer is written with its dtype and shape; `! ValueError` is an error of that type.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.semantics.api import tf


def rows(name: str) -> Iterator[Any]:
    """The lines of a table as parameters: expression and answer."""
    table = Path(__file__).with_name(name)
    for line in table.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            expression, _, answer = line.partition(" => ")
            yield pytest.param(expression, answer, id=expression)


def answer_to(expression: str, names: dict[str, Any], wanted: str) -> str:
    """What the module under test answers; an error by the type that was wanted, if it is one."""
    try:
        return show(eval(expression, dict(names)))
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        if wanted.startswith("! ") and wanted[2:] in kinds:
            return wanted
        return f"! {kinds[0]}: {error}"


def show(value: Any) -> str:
    """A value in one line, with what is static about it; numbers to four digits."""
    if isinstance(value, tf.SparseTensor):
        places = value.indices.numpy().tolist()
        return f"sparse {_typed(value.values)} at {places} {value.shape}".replace("\n", " ")
    if isinstance(value, tf.RaggedTensor):
        splits = "" if value.row_splits.dtype == tf.int64 else " int32 splits"
        kind = f"ragged {value.dtype.name} {value.shape} rank {value.ragged_rank}{splits}"
        return f"{kind} {_numbers(value.to_list())}"
    if isinstance(value, tf.IndexedSlices):
        return f"slices {_typed(tf.convert_to_tensor(value))}"
    if isinstance(value, tf.TensorShape | tf.DType):
        return repr(value)
    if tf.is_tensor(value):
        return _typed(value)
    if isinstance(value, np.ndarray):
        inner = [show(v) for v in value] if value.dtype == object else _numbers(value.tolist())
        return f"array {value.dtype} {inner}"
    if isinstance(value, dict):
        return f"dict {[(k, show(v)) for k, v in sorted(value.items())]}"
    if isinstance(value, list | tuple):
        return f"list {[show(v) for v in value]}"
    return repr(value)


def _typed(tensor: Any) -> str:
    array = np.asarray(tensor.numpy())
    return f"{tensor.dtype.name} {tuple(array.shape)} {_numbers(array.tolist())}"


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return "[" + ", ".join(_numbers(v) for v in value) + "]"
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"
    return repr(value)


def static_shape(f: Any, *specs: Any) -> Any:
    """The shape that `f` has for arguments of these types while it is traced."""
    found = []

    def traced(*xs: Any) -> Any:
        found.append(f(*xs).shape)
        return tf.constant(0)

    tf.function(traced, input_signature=specs, autograph=False).get_concrete_function()
    return found[-1]


def inside(f: Any, *xs: Any) -> Any:
    """What `f` gives in a function that knows the ranks of its arguments alone."""
    return tf.function(f, input_signature=[_open(x) for x in xs], autograph=False)(*xs)


def _open(x: Any) -> Any:
    if not isinstance(x, tf.RaggedTensor):
        x = tf.convert_to_tensor(x)
        return tf.TensorSpec([None] * len(x.shape), x.dtype)
    return tf.RaggedTensorSpec([None] * len(x.shape), x.dtype, x.ragged_rank, x.row_splits.dtype)


def gradient(f: Any, *xs: Any) -> Any:
    """The gradients of `f(*xs)` by each of its arguments, written out where they are row-sparse."""
    xs = tuple(x if tf.is_tensor(x) else tf.constant(x) for x in xs)
    with tf.GradientTape() as tape:
        for x in xs:
            tape.watch(x)
        y = f(*xs)
    found = tape.gradient(y, list(xs))
    return [tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g for g in found]
