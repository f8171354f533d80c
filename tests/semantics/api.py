"""The module under test, and the few helpers that every file here needs.

`tf` is Wengert, or TensorFlow when `WENGERT_TEST_AGAINST=tensorflow`: each statement in this folder
was first measured on TensorFlow 2.21 (CPU) and holds for both, except those of `test_further`.
"""

import importlib
import os
from typing import Any

import numpy as np
import pytest

NAME = os.environ.get("WENGERT_TEST_AGAINST", "wengert")
AGAINST_TENSORFLOW = NAME == "tensorflow"

tf: Any = importlib.import_module(NAME)

NAN, INF = float("nan"), float("inf")
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN = -(2**63)
FLOAT32_MAX = float(np.finfo(np.float32).max)


def gradient(f, *inputs, dtype=None, **options):
    """Gradient of `f(*inputs)` with respect to each input, or to the only one."""
    dtype = tf.float32 if dtype is None else dtype
    xs = [tf.constant(x, dtype) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    gradients = tape.gradient(y, xs, **options)
    return gradients if len(xs) > 1 else gradients[0]


def refuses(error: type[BaseException]):
    """`pytest.raises` by the type alone: the texts of two libraries differ."""
    return pytest.raises(error)


def check(actual, expected, dtype=None, rtol: float = 1e-6, atol: float = 0.0) -> None:
    """Assert equal structure, shape and values (NaN equals NaN), and `dtype` where given."""
    if expected is None:
        assert actual is None
    elif isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            check(a, e, dtype, rtol, atol)
    else:
        assert actual is not None
        if dtype is not None:
            assert actual.dtype == dtype
        array, wanted = actual.numpy() if hasattr(actual, "numpy") else actual, np.asarray(expected)
        assert np.shape(array) == wanted.shape
        if wanted.dtype.kind in "SUO":
            assert np.asarray(array, object).tolist() == wanted.astype(object).tolist()
        else:
            array = np.asarray(array)
            array = array if array.dtype.kind in "biufc" else array.astype(np.float32)
            np.testing.assert_allclose(array, wanted, rtol=rtol, atol=atol)
