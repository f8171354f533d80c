"""The names of `tf.dtypes`."""

from wengert.core.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from wengert.core.dtypes import (
    bool_ as bool,
)
from wengert.core.missing_names import namespace as _namespace
from wengert.ops.cast import cast, saturate_cast
from wengert.ops.complex import complex

half = float16
double = float64

__all__ = [
    "DType", "as_dtype", "bfloat16", "bool", "cast", "complex", "complex64", "complex128",
    "double", "float16", "float32", "float64", "half", "int8", "int16", "int32", "int64",
    "saturate_cast", "string", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

__getattr__, __dir__ = _namespace("tf.dtypes", globals())
