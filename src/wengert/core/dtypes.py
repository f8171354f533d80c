"""Element types: one `DType` object per type, comparable with strings and NumPy dtypes.

Owns the mapping between TensorFlow's names and NumPy's dtypes. String tensors are object arrays
of bytes. `nums(...)` gives NumPy type numbers, which the door compares because that is cheap.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from wengert.core.errors import (
    at_site,
    shown,
)


class DType:
    """An element type such as `tf.float32`."""

    __slots__ = ("_np", "_size", "kind", "name", "scalars")

    def __init__(self, name: str, np_dtype: Any, kind: str) -> None:
        self.name = name
        self._np = np.dtype(np_dtype)
        self.kind = kind
        self._size = self._np.itemsize
        self.scalars: dict[Any, Any] = {}  # Python numbers already converted; see `convert.scalar`

    @property
    def as_numpy_dtype(self) -> Any:
        return object if self.kind == "s" else self._np.type

    @property
    def np(self) -> np.dtype:
        """The NumPy dtype object."""
        return self._np

    @property
    def as_datatype_enum(self) -> int:
        return _ENUM[self.name]

    @property
    def base_dtype(self) -> DType:
        return self

    @property
    def real_dtype(self) -> DType:
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def size(self) -> int:
        return 1 if self.kind == "s" else self._size

    @property
    def is_floating(self) -> bool:
        return self.kind in "fe"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def is_numeric(self) -> bool:
        return self.kind in "iufc"

    @property
    def is_differentiable(self) -> bool:
        """Whether gradients flow through values of this type."""
        return self.kind in "fc"

    @property
    def is_numpy_compatible(self) -> bool:
        return True

    @property
    def min(self) -> Any:
        return self._limit("min", False)

    @property
    def max(self) -> Any:
        return self._limit("max", True)

    @property
    def limits(self) -> tuple[int, int]:
        """The darkest and the brightest value of images of this dtype."""
        if self.kind in "biu":
            return 0, self.max
        if self.name in ("float32", "float64"):
            return 0, 1
        raise ValueError(f"{self!s} does not have defined limits.")

    def _limit(self, which: str, boolean: bool) -> Any:
        if self.kind == "b":
            return boolean
        if self.kind in "fe":
            return getattr(ml_dtypes.finfo(self._np), which)
        if self.kind in "iu":
            return getattr(np.iinfo(self._np), which)
        raise TypeError(f"dtype: {self.name} has no {which}imum. Use a real number type.")

    def is_compatible_with(self, other: Any) -> bool:
        return self == as_dtype(other)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


bool_ = DType("bool", np.bool_, "b")
int8 = DType("int8", np.int8, "i")
int16 = DType("int16", np.int16, "i")
int32 = DType("int32", np.int32, "i")
int64 = DType("int64", np.int64, "i")
uint8 = DType("uint8", np.uint8, "u")
uint16 = DType("uint16", np.uint16, "u")
uint32 = DType("uint32", np.uint32, "u")
uint64 = DType("uint64", np.uint64, "u")
float16 = DType("float16", np.float16, "f")
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16, "f")
float32 = DType("float32", np.float32, "f")
float64 = DType("float64", np.float64, "f")
complex64 = DType("complex64", np.complex64, "c")
complex128 = DType("complex128", np.complex128, "c")
# Kept and cast, but not computed with, so they are of a kind of their own.
float8_e4m3fn = DType("float8_e4m3fn", ml_dtypes.float8_e4m3fn, "e")
float8_e5m2 = DType("float8_e5m2", ml_dtypes.float8_e5m2, "e")
string = DType("string", np.object_, "s")

ALL = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16,
    float32, float64, complex64, complex128, float8_e4m3fn, float8_e5m2, string,
)  # fmt: skip
# TensorFlow's protocol-buffer numbers, which some programs compare.
_ENUM = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
    "complex64": 8, "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18,
    "float16": 19, "uint32": 22, "uint64": 23, "float8_e5m2": 24, "float8_e4m3fn": 25,
}  # fmt: skip

BY_NUM: dict[int, DType] = {d.np.num: d for d in ALL}
# Platforms differ in which C types are 32 and 64 bits wide; each C type gets the type of its size.
for _c in (np.intc, np.uintc, np.long, np.ulong, np.longlong, np.ulonglong):
    BY_NUM.setdefault(np.dtype(_c).num, BY_NUM[np.dtype(np.dtype(_c).str).num])
_BY_NAME: dict[Any, DType] = {d.name: d for d in ALL}
_BY_NAME |= {"half": float16, "float": float32, "double": float64}
_PYTHON: dict[Any, DType] = {
    bool: bool_, int: int64, float: float32, complex: complex128, str: string, bytes: string,
    object: string,
}  # fmt: skip


def of(array: np.ndarray) -> DType:
    """The element type of a NumPy array that Wengert made."""
    return BY_NUM[array.dtype.num]


def as_dtype(type_value: Any) -> DType:
    """Converts a DType, name, NumPy dtype or Python type to a `DType`."""
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str):
        cached = _BY_NAME.get(type_value.removesuffix("_ref"))
        if cached is not None:
            return cached
    elif isinstance(type_value, type) and type_value in _PYTHON:
        return _PYTHON[type_value]
    elif isinstance(type_value, int):
        return _by_enum(type_value)
    elif hasattr(type_value, "as_numpy_dtype"):
        type_value = type_value.as_numpy_dtype
    try:
        num = None if type_value is None else np.dtype(type_value)
    except (TypeError, ValueError, RecursionError):
        num = None
    if num is not None and num.kind in "SU":
        return string
    if num is not None and num.num in BY_NUM:
        return BY_NUM[num.num]
    if hasattr(type_value, "dtype") and not isinstance(type_value, type):
        kind = type(type_value).__name__
        raise at_site(TypeError(f"as_dtype: a {kind} is not an element type. Give its `.dtype`."))
    raise at_site(
        TypeError(
            f"as_dtype: {shown(type_value)} is not an element type of Wengert. Use one of "
            f"{', '.join(d.name for d in ALL)}."
        )
    )


def _by_enum(number: int) -> DType:
    for name, enum in _ENUM.items():
        if enum == number:
            return _BY_NAME[name]
    raise at_site(TypeError(f"as_dtype: {number} is not the number of an element type."))


def nums(*kinds: str) -> frozenset[int]:
    """The NumPy type numbers of all types of these kinds (`"f"`, `"iu"`, …) or names."""
    wanted = "".join(k for k in kinds if k not in _BY_NAME)
    names = {k for k in kinds if k in _BY_NAME}
    return frozenset(n for n, d in BY_NUM.items() if d.kind in wanted or d.name in names)


ANY = nums("biufces")
NUMERIC = nums("iufc")
REAL = nums("iuf")
FLOAT = nums("f")
INEXACT = nums("fc")
INTEGER = nums("iu")
BOOL = nums("b")
COMPLEX = nums("c")
