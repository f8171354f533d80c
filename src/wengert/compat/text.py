"""Text, bytes and kinds of numbers: what `tf.compat` has kept from the days of Python 2."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes; bytes stay as they are."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    return bytes(_checked("as_bytes", bytes_or_text))


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text; text stays as it is."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    return bytes(_checked("as_text", bytes_or_text)).decode(encoding)


as_str = as_text


def _checked(name: str, value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return value
    raise TypeError(f"{name}: it takes text or bytes; got {value!r}. Use str(x).")


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Any value as text."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as text; everything else as it is."""
    return os.fspath(path) if hasattr(path, "__fspath__") else path


def dimension_value(dimension: Any) -> Any:
    """A size of a shape, which is a number or `None` in TensorFlow 2."""
    return getattr(dimension, "value", dimension)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether programs may rely on operations of that day: all that are here."""
    return True
