"""Cases for element types, bits, shapes that are promised, and complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole

X = normal(2, 3)
Z = normal(2, 3) + 1j * normal(2, 3, seed=1)
REAL = np.array([-2.0, 0.5, -0.5, 3.0])
OUTSIDE = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 1e19, -1e19, 300.7, -1.9, -129.0])


def _cast(dtype: str) -> Any:
    return lambda x: tf.cast(x, dtype)


def _bits(dtype: str) -> Any:
    return lambda x: tf.bitcast(x, dtype)


# What TensorFlow 2.21 makes of `OUTSIDE` in a large array.
NARROW = {
    "int8": [-128, -128, -128, -128, -128, -128, -128, 127, -1, -128],
    "uint8": [0, 0, 0, 0, 0, 0, 0, 255, 0, 0],
    "int16": [-32768] * 7 + [300, -1, -129],
    "uint16": [0] * 7 + [300, 0, 0],
}
INT32_MIN, INT64_MIN = -(2**31), -(2**63)

CASES = [
    Case("cast_float", _cast("float32"), (X,), lambda x: x.astype(np.float32), order=0),
    Case("cast_up", lambda x: tf.cast(x, "float64") * 2.0, (X,), lambda x: 2 * x,
         dtypes=("float32",)),
    Case("cast_to_complex", lambda x: tf.cast(x, "complex128") * (1 + 2j), (X,),
         lambda x: x * (1 + 2j)),
    Case("cast_to_real", lambda z: tf.cast(z, "float64") * 3.0, (Z,), lambda z: 3 * z.real),
    Case("cast_int", _cast("int32"), (4 * X,), lambda x: x.astype(np.int32), order=0),
    Case("cast_bool", _cast("bool"), (whole(5, high=2),), lambda x: x != 0, order=0),
    Case("cast_wraps", _cast("uint8"), (np.array([300, -1, 70000], np.int32),),
         lambda x: np.array([44, 255, 112], np.uint8), order=0),
    Case("cast_outside_int32", _cast("int32"), (OUTSIDE,),
         lambda x: np.array([INT32_MIN] * 7 + [300, -1, -129], np.int32), order=0),
    Case("cast_outside_int64", _cast("int64"), (OUTSIDE,), order=0, dtypes=("float64",),
         ref=lambda x: np.array([INT64_MIN] * 3 + [3 * 10**9, -3 * 10**9, INT64_MIN, INT64_MIN,
                                                  300, -1, -129], np.int64)),
    *(Case(f"cast_outside_{name}_{size}", _cast(name), (np.tile(OUTSIDE, size),), order=0,
           ref=lambda x, name=name: np.tile(np.array(NARROW[name], name), len(x) // 10))
      for name in NARROW for size in (1, 40)),
    *(Case(f"cast_inside_{name}", _cast(name), (np.tile([0.9, 100.5, -0.9, 127], 20),), order=0,
           ref=lambda x, name=name: np.tile(np.array([0, 100, 0, 127], name), 20))
      for name in NARROW),
    Case("cast_outside_uint32", _cast("uint32"), (OUTSIDE,), order=0, dtypes=("float64",),
         ref=lambda x: np.array([2**31] * 3 + [3 * 10**9] + [2**31] * 3
                                 + [300, 2**32 - 1, 2**32 - 129], np.uint32)),
    Case("cast_outside_uint64", _cast("uint64"), (OUTSIDE,), order=0, dtypes=("float64",),
         ref=lambda x: np.array([2**63] * 3 + [3 * 10**9, 2**64 - 3 * 10**9, 10**19, 2**63,
                                                300, 2**64 - 1, 2**64 - 129], np.uint64)),
    Case("saturate_cast", lambda x: tf.saturate_cast(x, tf.uint8), (np.array([-5.0, 7.9, 300.0]),),
         lambda x: np.array([0, 7, 255], np.uint8), order=0),
    Case("saturate_cast_half", lambda x: tf.saturate_cast(x, tf.float16), (1e5 * X,),
         lambda x: np.clip(x, -65504, 65504).astype(np.float16), order=0),
    Case("bitcast", _bits("int64"), (X,), lambda x: x.view(np.int64), order=0, dtypes=("float64",)),
    Case("bitcast_split", _bits("uint8"), (whole(2, 2),), order=0,
         ref=lambda x: x.view(np.uint8).reshape(2, 2, 4)),
    Case("bitcast_join", _bits("int64"), (whole(3, 2),), order=0,
         ref=lambda x: x.view(np.int64).reshape(3)),
    Case("bitcast_from_complex", _bits("float64"), (Z,), order=0, dtypes=("float64",),
         ref=lambda z: np.stack([z.real, z.imag], -1)),
    Case("bitcast_to_complex", _bits("complex64"), (whole(3).astype(np.int64),), order=0,
         ref=lambda x: x.view(np.complex64)),
    Case("bitcast_complex", _bits("complex64"), (Z,), order=0, dtypes=("float64",),
         ref=lambda z: z.view(np.complex64).reshape(2, 3, 2)),
    Case("ensure_shape", lambda x: tf.ensure_shape(x, [None, 3]) * x, (X,), lambda x: x * x),
    Case("complex", lambda x, y: tf.complex(x, y) * (2 - 1j), (X, normal(3, seed=2)),
         lambda x, y: (x + 1j * y) * (2 - 1j)),
    Case("real", lambda z: tf.math.real(z * z), (Z,), lambda z: (z * z).real),
    Case("imag", lambda z: tf.math.imag(z * z), (Z,), lambda z: (z * z).imag),
    Case("imag_of_real", tf.math.imag, (X,), np.imag, order=0),
    Case("conj", lambda z: tf.math.conj(z) * z, (Z,), lambda z: np.conj(z) * z),
    Case("angle", tf.math.angle, (Z,), np.angle),
    Case("angle_of_real", tf.math.angle, (REAL,), np.angle, order=0),
]  # fmt: skip
