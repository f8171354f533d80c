"""Cases for functions of one tensor: powers, exponentials, trigonometry, rounding, logistic."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

import wengert as tf
from tests.cases import Case, normal, positive, whole, within

HALF = ("float16", "bfloat16", "float32", "float64")
X = normal(2, 3)
UP = positive(2, 3, seed=1)
UNIT = within(2, 3, low=-0.9, high=0.9, seed=2)
Z = normal(4, seed=3) + 1j * normal(4, seed=4)
INTS = whole(2, 3, low=-9, high=9)
EDGES = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6, 0.0, 1e9])
FAR = np.array([-800.0, -30.0, -1.0, 0.0, 1.0, 30.0, 800.0])


def _one(name: str, f: Any, ref: Any, x: Any = X, **options: Any) -> list[Case]:
    """A function of floats in every precision."""
    return [Case(name, f, (x,), ref, dtypes=HALF, half_tolerance=4e-2, **options)]


def _both(name: str, f: Any, ref: Any, x: Any = X, z: Any = Z, **options: Any) -> list[Case]:
    """A holomorphic function, for floats and for complex numbers."""
    return [*_one(name, f, ref, x, **options), Case(f"{name}_complex", f, (z,), ref)]


CASES = [
    *_both("abs", tf.abs, np.abs),
    Case("abs_int", tf.abs, (INTS,), np.abs, order=0),
    *_both("sign", tf.sign, np.sign),
    Case("sign_int", tf.sign, (INTS,), np.sign, order=0),
    *_both("square", tf.square, np.square),
    Case("square_int", tf.square, (INTS,), np.square, order=0),
    *_both("sqrt", tf.sqrt, np.sqrt, UP),
    *_both("rsqrt", tf.math.rsqrt, lambda x: 1 / np.sqrt(x), UP),
    *_both("reciprocal", tf.math.reciprocal, lambda x: 1 / x, UP),
    *_both("exp", tf.exp, np.exp),
    *_both("expm1", tf.math.expm1, np.expm1),
    *_both("log", tf.math.log, np.log, UP),
    *_both("log1p", tf.math.log1p, np.log1p, UP),
    *_both("sigmoid", tf.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    Case("sigmoid_far", tf.sigmoid, (FAR,), special.expit, order=1),
    *_both("tanh", tf.tanh, np.tanh),
    *_one("softplus", tf.math.softplus, lambda x: np.logaddexp(x, 0)),
    Case("softplus_far", tf.math.softplus, (FAR,), lambda x: np.logaddexp(x, 0), order=1),
    *_one("log_sigmoid", tf.math.log_sigmoid, special.log_expit),
    Case("log_sigmoid_far", tf.math.log_sigmoid, (FAR,), special.log_expit, order=1),
    *_both("sin", tf.sin, np.sin),
    *_both("cos", tf.cos, np.cos),
    *_both("tan", tf.tan, np.tan, UNIT),
    *_both("asin", tf.asin, np.arcsin, UNIT),
    *_both("acos", tf.acos, np.arccos, UNIT),
    *_both("atan", tf.atan, np.arctan),
    *_both("sinh", tf.sinh, np.sinh),
    *_both("cosh", tf.cosh, np.cosh),
    *_both("asinh", tf.asinh, np.arcsinh),
    *_both("acosh", tf.acosh, np.arccosh, UP + 1.1),
    *_both("atanh", tf.atanh, np.arctanh, UNIT),
    Case("atan2", tf.atan2, (X, normal(3, seed=5)), np.arctan2, dtypes=HALF),
    *_one("floor", tf.floor, np.floor, EDGES[:-1], order=0),
    *_one("ceil", tf.math.ceil, np.ceil, EDGES[:-1], order=0),
    Case("round", tf.round, (EDGES,), np.rint, order=0),
    Case("round_int", tf.round, (INTS,), lambda x: x, order=0),
    *_one("rint", tf.math.rint, np.rint, EDGES[:-3], order=0),
    Case("sin_empty", tf.sin, (normal(0, 2),), np.sin),
    Case("exp_scalar", tf.exp, (np.float64(0.5),), np.exp),
]  # fmt: skip
