"""Cases for comparisons, logic, bits, selection and clipping."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, unique_values, whole
from wengert.core.apply import apply
from wengert.ops.compare import OPEN_EQUAL, OPEN_NOT_EQUAL

NAN, INF = np.nan, np.inf
X, ROW = unique_values(2, 3), unique_values(3, seed=1) + 0.1
WITH_NAN = np.array([[1.0, NAN, -INF], [0.0, 2.0, INF]])
OTHER = np.array([1.0, 1.0, NAN])
INTS, MORE = whole(2, 3, low=-9, high=9), whole(3, low=0, high=7, seed=1)
TRUTH, COLUMN = np.array([[True, False, True], [False, False, True]]), np.array([[True], [False]])


def _flat(name: str, f: Any, ref: Any, *args: Any) -> Case:
    return Case(name, f, args, ref, order=0)


CASES = [
    *[
        _flat(f"{f.__name__}{suffix}", f, ref, *args)
        for f, ref in (
            (tf.equal, np.equal),
            (tf.not_equal, np.not_equal),
            (tf.less, np.less),
            (tf.less_equal, np.less_equal),
            (tf.greater, np.greater),
            (tf.greater_equal, np.greater_equal),
        )
        for suffix, args in (("", (WITH_NAN, OTHER)), ("_int", (INTS, MORE)))
    ],
    *[
        _flat(f"{op.name}{suffix}", lambda x, y, op=op: apply(op, x, y), ref, *args)
        for op, ref in ((OPEN_EQUAL, np.equal), (OPEN_NOT_EQUAL, np.not_equal))
        for suffix, args in (("", (WITH_NAN, OTHER)), ("_int", (INTS, MORE)))
    ],
    _flat("equal_bool", tf.equal, np.equal, TRUTH, COLUMN),
    _flat("approximate_equal", lambda x, y: tf.math.approximate_equal(x, y, 0.5),
          lambda x, y: np.abs(x - y) < 0.5, X, X + np.array([0.4, -0.6, NAN])),
    _flat("approximate_equal_int", lambda x: tf.math.approximate_equal(x, x), lambda x: x == x,
          whole(3).astype(np.uint8)),
    _flat("is_nan", tf.math.is_nan, np.isnan, WITH_NAN),
    _flat("is_inf", tf.math.is_inf, np.isinf, WITH_NAN),
    _flat("is_finite", tf.math.is_finite, np.isfinite, WITH_NAN),
    _flat("is_non_decreasing", tf.math.is_non_decreasing, lambda x: np.bool_(True),
          np.array([[1, 1], [2, 5]], np.int32)),
    _flat("is_non_decreasing_not", tf.math.is_non_decreasing, lambda x: np.bool_(False), WITH_NAN),
    _flat("is_strictly_increasing", tf.math.is_strictly_increasing, lambda x: np.bool_(False),
          np.array([1, 1, 2], np.int32)),
    _flat("is_strictly_increasing_empty", tf.math.is_strictly_increasing, lambda x: np.bool_(True),
          normal(0)),
    _flat("is_strictly_increasing_single", tf.math.is_strictly_increasing,
          lambda x: np.bool_(True), normal(1)),
    Case("nextafter", tf.math.nextafter, (X, ROW), np.nextafter, order=0, dtypes=("float64",)),
    _flat("logical_and", tf.logical_and, np.logical_and, TRUTH, COLUMN),
    _flat("logical_or", tf.logical_or, np.logical_or, TRUTH, COLUMN),
    _flat("logical_xor", tf.math.logical_xor, np.logical_xor, TRUTH, COLUMN),
    _flat("logical_not", tf.logical_not, np.logical_not, TRUTH),
    _flat("bitwise_and", tf.bitwise.bitwise_and, np.bitwise_and, INTS, MORE),
    _flat("bitwise_or", tf.bitwise.bitwise_or, np.bitwise_or, INTS, MORE),
    _flat("bitwise_xor", tf.bitwise.bitwise_xor, np.bitwise_xor, INTS, MORE),
    _flat("invert", tf.bitwise.invert, np.invert, INTS),
    _flat("left_shift", tf.bitwise.left_shift, np.left_shift, INTS, MORE),
    _flat("left_shift_far", tf.bitwise.left_shift,
          lambda x, y: np.array([2, -(2**31), -(2**31)], np.int32),
          np.array([2, 1, 3], np.int32), np.array([-4, 31, 50], np.int32)),
    _flat("right_shift", tf.bitwise.right_shift, np.right_shift, INTS, MORE),
    _flat("right_shift_unsigned", tf.bitwise.right_shift, lambda x, y: np.array([100, 1], np.uint8),
          np.array([200, 255], np.uint8), np.array([1, 40], np.uint8)),
    Case("where", tf.where, (TRUTH, X, ROW), np.where,
         dtypes=("float16", "bfloat16", "float32", "float64")),
    Case("where_broadcast", tf.where, (COLUMN, np.float64(2.0), ROW), np.where),
    Case("where_complex", tf.where, (TRUTH, X + 1j, X - 2j), np.where),
    _flat("where_int", tf.where, np.where, TRUTH, INTS, MORE),
    Case("maximum", tf.maximum, (X, ROW), np.maximum,
         dtypes=("float16", "bfloat16", "float32", "float64")),
    _flat("maximum_nan", tf.maximum, np.maximum, WITH_NAN, OTHER),
    _flat("maximum_int", tf.maximum, np.maximum, INTS, MORE),
    Case("minimum", tf.minimum, (X, ROW), np.minimum),
    _flat("minimum_nan", tf.minimum, np.minimum, WITH_NAN, OTHER),
    Case("clip_by_value", lambda x, a, b: tf.clip_by_value(x, a, b),
         (X, np.float64(-1.1), np.array([0.4, 0.5, 0.6])), np.clip,
         dtypes=("float16", "bfloat16", "float32", "float64")),
    _flat("clip_by_value_int", lambda x: tf.clip_by_value(x, -2, 4), lambda x: np.clip(x, -2, 4),
          INTS),
]  # fmt: skip
