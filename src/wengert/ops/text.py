"""Tensors as text: the form of `tf.print`, and numbers to strings and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import dtypes, nest
from wengert.core.composite_operands import CompositeOperand
from wengert.core.types import TensorShape, Value

_DIGITS = {4: ("%.6g", "%.9g"), 8: ("%.15g", "%.17g")}


def number(x: Any) -> str:
    """One element as `tf.print` shows it: the short form if it reads back the same."""
    if isinstance(x, bytes):
        return '"' + x.decode("utf-8", "backslashreplace") + '"'
    if isinstance(x, np.bool_ | bool):
        return str(int(x))
    kind = np.asarray(x).dtype
    if kind.kind == "c":
        return f"({number(x.real)},{number(x.imag)})"
    if kind.kind in "iu":
        return str(int(x))
    short, long = _DIGITS.get(kind.itemsize, _DIGITS[4])
    text = short % float(x)
    if not np.isfinite(float(x)) or kind.type(float(text)) == x:
        return text
    return long % float(x)


def tensor_text(array: np.ndarray, summarize: int = 3) -> str:
    """A whole array as `tf.print` shows it, with the middle of long axes left out."""
    if not array.ndim:
        return number(array[()])
    if not array.size:
        return "[]"
    return _rows(array, summarize, 1)


def _rows(array: np.ndarray, summarize: int, indent: int) -> str:
    n = len(array)
    whole = summarize < 0 or n <= 2 * summarize
    picked = list(range(n)) if whole else [*range(summarize), *range(n - summarize, n)]
    if array.ndim == 1:
        parts = [number(array[i]) for i in picked]
        joint = " "
    else:
        parts = [_rows(array[i], summarize, indent + 1) for i in picked]
        joint = "\n" * (array.ndim - 1) + " " * indent
    if not whole:
        parts.insert(summarize, "...")
    return "[" + joint.join(parts) + "]"


def structure_text(value: Any, summarize: int = 3, top: bool = True) -> str:
    """Any nest with tensors in it as `tf.print` shows it."""
    try:
        return _structure_text(value, summarize, top)
    except RecursionError as error:
        raise nest.too_deep("print", error, value) from None


def _structure_text(value: Any, summarize: int, top: bool) -> str:
    if isinstance(value, CompositeOperand):
        return value._as_text(summarize)
    if isinstance(value, Value) or hasattr(type(value), "__tf_tensor__"):
        array = value._array if isinstance(value, Value) else np.asarray(value)
        return tensor_text(array, summarize)
    if isinstance(value, str) and top:
        return value
    if isinstance(value, dict):
        inner = (f"{k!r}: {_structure_text(v, summarize, False)}" for k, v in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_structure_text(v, summarize, False) for v in value) + "]"
    if isinstance(value, tuple):
        inner = [structure_text(v, summarize, False) for v in value]
        fields = getattr(value, "_fields", None)
        if fields is not None:
            named = (f"{k}={v}" for k, v in zip(fields, inner, strict=True))
            return f"{type(value).__name__}({', '.join(named)})"
        return "(" + ", ".join(inner) + ("," if len(inner) == 1 else "") + ")"
    if isinstance(value, np.ndarray):
        return tensor_text(value, summarize)
    if isinstance(value, TensorShape):
        return repr(value)
    return repr(value) if not top else str(value)


def rows_text(rows: Any, summarize: int) -> str:
    """Rows of different lengths as `tf.print` shows them."""
    if isinstance(rows, list):
        shown = [rows_text(r, summarize) for r in rows]
        if 0 <= 2 * summarize < len(shown):
            shown = [*shown[:summarize], "...", *shown[len(shown) - summarize :]]
        return f"[{', '.join(shown)}]"
    if isinstance(rows, bytes):
        return repr(rows.decode(errors="replace"))
    return f"{rows:.6f}" if isinstance(rows, float) else str(rows)


def number_format(
    kind: str, precision: int, scientific: bool, shortest: bool, width: int, fill: str
) -> Callable[[Any], bytes]:
    """The function of `tf.strings.as_string` for an element of a NumPy kind; `fill` as in printf."""
    if kind == "b":
        return lambda x: b"true" if x else b"false"
    size = str(width) if width > 0 else ""
    form = f"%{'' if kind == 'u' and fill in '+ ' else fill}{size}"
    if kind == "O":
        text = f"{form}s".encode()
        return lambda x: text % x
    if kind in "iu":
        return lambda x: (f"{form}d" % x).encode()
    digits = f".{precision}" if precision >= 0 else ""
    end = digits + ("e" if scientific else "g" if shortest else "f")
    # Infinity and NaN are not filled with zeros.
    finite, other = form + end, (f"%{size}" if fill == "0" else form) + end

    def part(x: float) -> str:
        return (finite if math.isfinite(x) else other) % x

    if kind == "c":
        return lambda x: f"({part(x.real)},{part(x.imag)})".encode()
    return lambda x: part(x).encode()


def number_reader(kind: dtypes.DType) -> Callable[[bytes], Any]:
    """A function that reads a string as a number of a type; it raises `ValueError` for others."""
    if kind.is_floating:
        return _float
    low, high = int(kind.min), int(kind.max)

    def whole(text: bytes) -> int:
        result = int(_digits(text))
        if not low <= result <= high:
            raise ValueError(text)
        return result

    return whole


def _float(text: bytes) -> float:
    result = _digits(text)
    return float.fromhex(result) if "x" in result or "X" in result else float(result)


def _digits(text: bytes) -> str:
    """Without what only Python takes for part of a number."""
    result = text.decode("ascii")
    if "_" in result:
        raise ValueError(result)
    return result
