"""Tensors as text: the form of `tf.print`, and numbers to strings and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.shapes import TensorShape
from wengert.core.tensor import Value

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
    if isinstance(value, Value) or hasattr(type(value), "__tf_tensor__"):
        array = value._array if isinstance(value, Value) else np.asarray(value)
        return tensor_text(array, summarize)
    if isinstance(value, str) and top:
        return value
    if isinstance(value, dict):
        inner = (f"{k!r}: {structure_text(v, summarize, False)}" for k, v in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(structure_text(v, summarize, False) for v in value) + "]"
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


def format_number(
    x: Any, precision: int, scientific: bool, shortest: bool, width: int, fill: str
) -> bytes:
    """One element as `tf.strings.as_string` writes it: `fill` is a flag of printf."""
    if isinstance(x, np.bool_ | bool):
        return b"true" if x else b"false"
    size = str(width) if width > 0 else ""
    form = f"%{fill}{size}"
    if isinstance(x, bytes):
        return f"{form}s".encode() % x
    kind = np.asarray(x).dtype.kind
    if kind in "iu":
        return (f"{form}d" % int(x)).encode()
    digits = f".{precision}" if precision >= 0 else ""
    letter = "e" if scientific else "g" if shortest else "f"
    parts = []
    for part in (x.real, x.imag) if kind == "c" else (x,):
        # Infinity and NaN are not filled with zeros.
        lead = form if np.isfinite(float(part)) or fill != "0" else f"%{size}"
        parts.append(f"{lead}{digits}{letter}" % float(part))
    return (f"({','.join(parts)})" if kind == "c" else parts[0]).encode()


def parse_number(text: bytes, kind: dtypes.DType) -> Any:
    """A string as a number of the given type; `ValueError` where it is none."""
    value = text.decode().strip()
    if kind.is_integer:
        number_ = int(value)
        limits = np.iinfo(kind.np)
        if not limits.min <= number_ <= limits.max:
            raise ValueError(value)
        return number_
    return float(value)
