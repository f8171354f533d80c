"""Cases for random numbers: fixed seeds, references by hand where the bits decide alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

import wengert as tf
from tests.cases import Case, normal, positive, within
from wengert.core import dtypes
from wengert.ops import distributions, philox, rejection

SEED = np.array([7, -3], np.int32)
STATE = np.array([2**64 - 2, 5, 12345678901234567890], np.uint64)


def words(count: int) -> np.ndarray:
    """The stream of `STATE`, block by block, in Python integers."""
    low, high, key = (int(s) for s in STATE)
    start = low | high << 64
    found: list[int] = []
    for i in range(math.ceil(count / 4)):
        at = start + i
        found += philox.block(key, at & (2**64 - 1), at >> 64)
    return np.array(found[:count], np.uint32)


def wide(count: int) -> np.ndarray:
    w = words(2 * count).astype(np.uint64)
    return w[0::2] | w[1::2] << np.uint64(32)


def quantile_slope(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """How the quantile that `x` is at `a` moves with `a`, by differences."""
    p, q = scipy.special.gammainc(a, x), scipy.special.gammaincc(a, x)
    step = 1e-4 * a

    def at(b: np.ndarray) -> np.ndarray:
        low, high = scipy.special.gammaincinv(b, p), scipy.special.gammainccinv(b, q)
        return np.where(p < 0.5, low, high)

    return (at(a + step) - at(a - step)) / (2 * step)


def random_case(name: str, call: Any, *args: Any, **options: Any) -> Case:
    return Case(name, call, args, order=0, **options)


R = tf.random
CASES = [
    random_case("random_bits", lambda s: distributions.random_bits(s, (3, 5)), STATE,
                ref=lambda s: words(15).reshape(3, 5)),
    random_case("random_bits_64", lambda s: distributions.random_bits(s, (7,), dtypes.int64),
                STATE, ref=lambda s: wide(7).view(np.int64)),
    random_case("random_bits_empty", lambda s: distributions.random_bits(s, (0, 5)), STATE,
                ref=lambda s: np.zeros((0, 5), np.uint32)),
    random_case("random_uniform", lambda s: distributions.fraction(s, (2, 3)), STATE,
                ref=lambda s: (words(6) >> 8).reshape(2, 3) / 2.0**24),
    random_case("random_uniform_float64",
                lambda s: distributions.fraction(s, (), dtypes.float64), STATE,
                ref=lambda s: (wide(1)[0] >> np.uint64(11)) / 2.0**53),
    random_case("random_uniform_float16",
                lambda s: distributions.fraction(s, (9,), dtypes.float16), STATE,
                ref=lambda s: (words(9) >> 21) / 2.0**11),
    random_case("random_uniform_bfloat16",
                lambda s: distributions.fraction(s, (9,), dtypes.bfloat16), STATE,
                ref=lambda s: (words(9) >> 24) / 2.0**8),
    random_case("random_normal", lambda s: distributions.standard_normal(s, (257,)), STATE),
    random_case("random_normal_float64",
                lambda s: distributions.standard_normal(s, (3, 7), dtypes.float64), STATE),
    random_case("random_normal_empty", lambda s: distributions.standard_normal(s, (0,)), STATE,
                ref=lambda s: np.zeros(0)),
    random_case("random_truncated", lambda s: distributions.standard_truncated(s, (257,)), STATE),
    random_case("random_truncated_float64",
                lambda s: distributions.standard_truncated(s, (31,), dtypes.float64), STATE),
    random_case("random_integers",
                lambda s, a, b: distributions.integers(s, a, b, (4, 3)), STATE,
                np.array([-5, 0, 7], np.int32), np.array(9, np.int32),
                ref=lambda s, a, b: a + (wide(12).reshape(4, 3) % (b - a).astype(np.uint64)).astype(
                    np.int32)),
    random_case("random_permutation", lambda s: distributions.permutation(s, 50), STATE,
                ref=lambda s: np.argsort(wide(50)).astype(np.int32)),
    random_case("random_categorical",
                lambda x, s: distributions.classes(x, s, 40, dtypes.int64), normal(3, 5), STATE),
    random_case("random_gamma", rejection.standard_gamma,
                np.concatenate([positive(40, low=0.1, high=9.0), [0.0, -1.0, np.nan]]), STATE),
    Case("gamma_slope", rejection.gamma_slope,
         (within(30, low=0.2, high=20.0), within(30, low=0.1, high=25.0, seed=1)),
         quantile_slope, order=0, tolerance=1e-4),
    random_case("random_poisson",
                lambda x, s: rejection.standard_poisson(x, s, dtypes.float64),
                np.concatenate([within(60, low=0.0, high=60.0), [0.0, -1.0, np.nan, np.inf]]),
                STATE),
    random_case("random_poisson_int",
                lambda x, s: rejection.standard_poisson(x, s, dtypes.int32),
                np.array([0.5, 5.0, 500.0, np.nan, np.inf]), STATE),
    random_case("random_binomial",
                lambda n, p, s: rejection.standard_binomial(n, p, s, dtypes.float64),
                np.array([0.0, 3.0, 30.0, 300.0, 300.0, 300.0, 5.0, -1.0, 9.0, 1e6]),
                np.array([0.5, 0.1, 0.9, 0.5, 0.01, 0.97, 1.0, 0.5, 1.5, 0.3]), STATE),
    random_case("stateless_uniform", lambda s: R.stateless_uniform([2, 3], s, -1.0, 2.5), SEED),
    random_case("stateless_uniform_int",
                lambda s: R.stateless_uniform([6], s, -4, 9, dtype=tf.int64), SEED),
    random_case("stateless_normal", lambda s: R.stateless_normal([5], s), SEED),
    random_case("stateless_truncated_normal",
                lambda s: R.stateless_truncated_normal([5], s), SEED),
    random_case("stateless_categorical",
                lambda x, s: R.stateless_categorical(x, 4, s), normal(2, 3), SEED),
    random_case("stateless_poisson", lambda s: R.stateless_poisson([3], s, 4.0), SEED),
    random_case("stateless_binomial", lambda s: R.stateless_binomial([3], s, 9.0, 0.4), SEED),
    random_case("stateless_shuffle",
                lambda x, s: R.experimental.stateless_shuffle(x, s), normal(5, 2), SEED),
    random_case("seed_split", lambda s: R.split(s, 3), SEED),
    random_case("seed_fold_in", lambda s: R.fold_in(s, 11), SEED),
    Case("normal_location_scale",
         lambda m, d: R.stateless_normal([4, 3], SEED, m, d, m.dtype),
         (normal(3), positive(4, 1))),
    Case("uniform_limits", lambda a, b: R.stateless_uniform([4, 3], SEED, a, a + b, a.dtype),
         (normal(3), positive(4, 1))),
    Case("shuffle_rows", lambda x: tf.reshape(R.experimental.stateless_shuffle(x, SEED), [-1]),
         (normal(4, 2),)),
]  # fmt: skip
