"""Cases for scaled dot-product attention."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

import wengert as tf
from tests.cases import Case, normal, rng

ALL = ("float16", "bfloat16", "float32", "float64")
Q, K, V = normal(2, 2, 3, 4), normal(2, 2, 5, 4, seed=1), normal(2, 2, 5, 3, seed=2)
MASK = rng(3).random((2, 1, 3, 5)) > 0.4
attend = tf.nn.scaled_dot_product_attention


def reference(q, k, v, bias: Any = 0.0, scale=None):
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    return special.softmax(scores, -1) @ v


def barred(allowed):
    return np.where(allowed, 0.0, -np.inf)


CASES = [
    Case("attention", attend, (Q, K, V), reference, dtypes=ALL),
    Case("attention_causal", lambda q, k, v: attend(q, k, v, is_causal=True), (Q, K, V),
         lambda q, k, v: reference(q, k, v, barred(np.tri(3, 5, dtype=bool)))),
    Case("attention_mask", lambda q, k, v: attend(q, k, v, MASK), (Q, K, V),
         lambda q, k, v: reference(q, k, v, barred(MASK))),
    Case("attention_bias", attend, (Q, K, V, normal(2, 3, 5, seed=4)), reference),
    Case("attention_scale", lambda q, k, v: attend(q, k, v, scale=0.2), (Q, K, V),
         lambda q, k, v: reference(q, k, v, scale=0.2)),
    Case("attention_matrices", attend, (Q[0, 0], K[0, 0], V[0, 0]), reference),
    Case("attention_large", lambda q, k, v: attend(1e4 * q, k, v), (Q, K, V),
         lambda q, k, v: reference(1e4 * q, k, v), order=0, dtypes=("float64",)),
    Case("attention_empty", attend, (Q[:0], K[:0], V[:0]), lambda q, k, v: np.zeros((0, 2, 3, 3))),
]  # fmt: skip
