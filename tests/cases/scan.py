"""Cases for running sums, products and log-sum-exps."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole
from tests.cases.reduce import slope

HALF = ("float16", "bfloat16", "float32", "float64")
ZEROS = np.array([[1.0, 0.0, 3.0, 2.0], [0.0, 0.0, 5.0, 0.0]])
Z = normal(3, 4) + 1j * normal(3, 4, seed=1)


def _running(
    ufunc: Any, start: float, x: np.ndarray, axis: int, exclusive: bool, reverse: bool
) -> Any:
    x = np.flip(x, axis) if reverse else x
    out = ufunc.accumulate(x, axis)
    if exclusive:
        first = np.full_like(np.take(out, [0], axis), start)
        out = np.concatenate([first, np.take(out, range(x.shape[axis] - 1), axis)], axis)
    return np.flip(out, axis) if reverse else out


def _forms(name: str, call: Any, ufunc: Any, start: float) -> list[Case]:
    return [
        Case(
            f"{name}_{axis}_{exclusive:d}{reverse:d}",
            lambda x, o=(axis, exclusive, reverse): call(x, *o),
            (normal(3, 4, seed=2),),
            lambda x, o=(axis, exclusive, reverse): _running(ufunc, start, x, *o),
            dtypes=HALF,
            # An exclusive log-sum-exp begins with -inf, which finite differences cannot cross.
            order=0 if exclusive and start == -np.inf else 2,
        )
        for axis, exclusive, reverse in itertools.product((0, 1), (False, True), (False, True))
    ]


CASES = [
    *_forms("cumsum", tf.cumsum, np.add, 0),
    *_forms("cumprod", tf.math.cumprod, np.multiply, 1),
    *_forms("cumulative_logsumexp", tf.math.cumulative_logsumexp, np.logaddexp, -np.inf),
    Case("cumsum_int", lambda x: tf.cumsum(x, 1), (whole(3, 4),), lambda x: x.cumsum(1), order=0),
    Case("cumsum_empty", tf.cumsum, (normal(0, 3),), lambda x: x),
    Case("cumsum_exclusive_empty", lambda x: tf.cumsum(x, exclusive=True), (normal(0, 3),), lambda x: x),
    Case("cumprod_int", lambda x: tf.math.cumprod(x, 0, True), (whole(3, 4),),
         lambda x: _running(np.multiply, 1, x, 0, True, False), order=0),
    Case("cumprod_zeros", lambda x: tf.math.cumprod(x, 1), (ZEROS,), lambda x: x.cumprod(1), order=3),
    Case("cumprod_zeros_reverse", lambda x: tf.math.cumprod(x, 1, True, True), (ZEROS,),
         lambda x: _running(np.multiply, 1, x, 1, True, True), order=3),
    Case("cumprod_slope", slope(lambda x: tf.math.cumprod(x, 1, False, True)), (ZEROS,),
         lambda x: np.array([[0.0, 12.0, 2.0, 4.0], [0.0, 0.0, 0.0, 6.0]]), order=0, dtypes=HALF),
    Case("cumprod_slope_reverse", slope(lambda x: tf.math.cumprod(x, 1)), (ZEROS,),
         lambda x: np.array([[1.0, 10.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]), order=0),
    Case("cumsum_complex", lambda x: tf.cumsum(x, 1), (Z,), lambda x: x.cumsum(1)),
    Case("cumprod_complex", lambda x: tf.math.cumprod(x, 1), (Z,), lambda x: x.cumprod(1)),
    Case("cumulative_logsumexp_inner", lambda x: tf.math.cumulative_logsumexp(x, 0, True)[1:],
         (normal(4, 3),), lambda x: np.logaddexp.accumulate(x, 0)[:-1]),
    Case("cumulative_logsumexp_inner_reverse",
         lambda x: tf.math.cumulative_logsumexp(x, 0, True, True)[:-1], (normal(4, 3),),
         lambda x: np.flip(np.logaddexp.accumulate(np.flip(x, 0), 0), 0)[1:]),
    Case("cumulative_logsumexp_ends", tf.math.cumulative_logsumexp,
         (np.array([-np.inf, -np.inf, 1.0, np.inf, 2.0]),),
         lambda x: np.array([-np.inf, -np.inf, 1.0, np.inf, np.inf]), order=0),
]  # fmt: skip
