"""Cases for arithmetic on two tensors, guarded quotients, rounding divisions and powers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

import wengert as tf
from tests.cases import Case, normal, positive, whole

HALF = ("float16", "bfloat16", "float32", "float64")
A, B, ROW = normal(2, 3), normal(2, 3, seed=1), normal(3, seed=2)
UP = positive(2, 3, seed=3)
Z = normal(2, 3) + 1j * normal(2, 3, seed=4)
W = positive(3, seed=5) + 1j * normal(3, seed=6)
# Zeros where a guarded operation looks at them, away from where a gradient is checked.
GAPS = np.array([[0.0, 1.5, -2.0], [0.7, 0.0, 3.0]])
WHOLE = whole(2, 3, low=-9, high=9)
DIVISOR = np.array([2, -3, 4], np.int32)
BYTES = np.array([[250, 3], [7, 255]], np.uint8)


def _two(name: str, f: Any, ref: Any, x: Any = A, y: Any = B, **options: Any) -> Case:
    return Case(name, f, (x, y), ref, **options)


def _int_pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.power(x, y)


def _no_nan(f: Any, test: int) -> Any:
    """The reference that answers 0 where argument number `test` is 0."""

    def ref(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.where((x, y)[test] == 0, 0, f(x, y))

    return ref


CASES = [
    _two("add", tf.add, np.add, dtypes=HALF),
    _two("add_scalar", tf.add, np.add, y=np.float64(1.5)),
    _two("add_empty", tf.add, np.add, x=normal(0, 3), y=ROW),
    _two("add_int", tf.add, np.add, x=WHOLE, y=WHOLE, order=0),
    _two("add_complex", tf.add, np.add, x=Z, y=W),
    _two("subtract", tf.subtract, np.subtract, y=ROW, dtypes=HALF),
    _two("subtract_unsigned", tf.subtract, np.subtract, x=BYTES, y=BYTES[::-1], order=0),
    _two("multiply", tf.multiply, np.multiply, y=ROW, dtypes=HALF),
    _two("multiply_complex", tf.multiply, np.multiply, x=Z, y=W),
    _two("divide", tf.divide, np.divide, y=UP, dtypes=HALF),
    _two("divide_complex", tf.realdiv, np.divide, x=Z, y=W),
    _two("divide_int", tf.truediv, np.divide, x=WHOLE, y=DIVISOR, order=0),
    Case("negative", tf.negative, (A,), np.negative, dtypes=HALF),
    _two("squared_difference", tf.math.squared_difference, lambda x, y: (x - y) ** 2, y=ROW,
         dtypes=HALF),
    _two("squared_difference_complex", tf.math.squared_difference,
         lambda x, y: np.abs(x - y) ** 2 + 0j, x=Z, y=W),
    Case("scalar_mul", lambda x: tf.scalar_mul(2.5, x), (A,), lambda x: 2.5 * x),
    Case("add_n", lambda *xs: tf.add_n(list(xs)), (A, B, UP), lambda x, y, z: x + y + z,
         dtypes=HALF, half_tolerance=4e-2),
    Case("add_n_single", lambda x: tf.add_n([x]), (A,), lambda x: x),
    Case("add_n_int", lambda *xs: tf.add_n(list(xs)), (WHOLE, WHOLE), np.add, order=0),
    Case("accumulate_n", lambda *xs: tf.math.accumulate_n(list(xs), [2, 3]), (A, B), np.add),
    _two("divide_no_nan", tf.math.divide_no_nan, _no_nan(np.divide, 1), y=GAPS, order=0),
    _two("divide_no_nan_grad", tf.math.divide_no_nan, np.divide, y=UP, dtypes=HALF),
    _two("divide_no_nan_int", tf.math.divide_no_nan, _no_nan(np.divide, 1), x=WHOLE,
         y=whole(3, high=3), order=0),
    Case("reciprocal_no_nan", tf.math.reciprocal_no_nan, (GAPS,),
         lambda x: _no_nan(np.divide, 1)(1.0, x), order=0),
    _two("multiply_no_nan", tf.math.multiply_no_nan, _no_nan(np.multiply, 1), y=GAPS),
    _two("multiply_no_nan_complex", tf.math.multiply_no_nan, np.multiply, x=Z, y=W),
    _two("xdivy", tf.math.xdivy, _no_nan(np.divide, 0), x=GAPS, y=UP, order=0),
    _two("xdivy_grad", tf.math.xdivy, np.divide, y=UP[0], dtypes=HALF),
    _two("xlogy", tf.math.xlogy, special.xlogy, x=GAPS, y=UP, order=0),
    _two("xlogy_grad", tf.math.xlogy, special.xlogy, y=UP, dtypes=HALF),
    _two("xlogy_complex", tf.math.xlogy, lambda x, y: x * np.log(y), x=Z, y=W),
    _two("xlog1py", tf.math.xlog1py, special.xlog1py, x=GAPS, y=UP, order=0),
    _two("xlog1py_grad", tf.math.xlog1py, special.xlog1py, y=UP, dtypes=HALF),
    _two("floordiv", tf.math.floordiv, lambda x, y: np.floor(x / y), y=UP, order=0),
    _two("floordiv_int", tf.math.floordiv, np.floor_divide, x=WHOLE, y=DIVISOR, order=0),
    _two("floordiv_unsigned", tf.math.floordiv, np.floor_divide, x=BYTES, y=BYTES[::-1], order=0),
    _two("floormod", tf.math.floormod, np.mod, x=3 * A, y=-UP),
    _two("floormod_half", tf.math.floormod, np.mod, x=np.array([-7.0, 5.5]),
         y=np.array([2.0, -2.0]), order=0, dtypes=HALF),
    _two("floormod_int", tf.math.mod, np.mod, x=WHOLE, y=DIVISOR, order=0),
    _two("floormod_unsigned", tf.math.mod, np.mod, x=BYTES, y=BYTES[::-1], order=0),
    _two("truncatediv", tf.truncatediv, lambda x, y: np.trunc(x / y), x=3 * A, y=UP, order=0),
    _two("truncatediv_int", tf.truncatediv, lambda x, y: np.trunc(x / y).astype(np.int32), x=WHOLE,
         y=DIVISOR, order=0),
    _two("truncatemod", tf.truncatemod, np.fmod, x=3 * A, y=UP),
    _two("truncatemod_int", tf.truncatemod, np.fmod, x=WHOLE, y=DIVISOR, order=0),
    _two("pow", tf.pow, np.power, x=UP, y=A, dtypes=HALF, half_tolerance=5e-2),
    _two("pow_broadcast", tf.pow, np.power, x=UP, y=np.float64(1.7)),
    Case("pow_square", lambda x: x**2, (A,), np.square, dtypes=HALF),
    _two("pow_int", tf.pow, _int_pow, x=WHOLE, y=whole(3, high=12), order=0),
    _two("pow_complex", tf.pow, np.power, x=Z + 3, y=W),
    _two("pow_int_wraps", tf.pow, _int_pow, x=np.array([2, -3, 7], np.int32),
         y=np.array([31, 33, 2**31 - 1], np.int32), order=0),
    Case("polyval", lambda x: tf.math.polyval([2.0, -1.0, 0.5], x), (A,),
         lambda x: np.polyval([2.0, -1.0, 0.5], x)),
]  # fmt: skip
