"""Cases for fractional pooling: seeded windows, against a loop over them."""

from __future__ import annotations

import numpy as np

import wengert as tf
from tests.cases import Case, normal, unique_values, whole
from wengert.ops import fractional

POOLS = {"max": (tf.nn.fractional_max_pool, np.max), "avg": (tf.nn.fractional_avg_pool, np.mean)}


def reference(x, rows, columns, pooled, overlapping=False):
    """Pools between edges; windows that overlap share them."""
    y = np.zeros((x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]))
    for i, j in np.ndindex(*y.shape[1:3]):
        down = slice(rows[i], rows[i + 1] + overlapping)
        across = slice(columns[j], columns[j + 1] + overlapping)
        y[:, i, j] = pooled(x[:, down, across], (1, 2))
    return y


def case(name, kind, x, ratio, case_options=None, **options):
    """A pool whose windows are those that its seed gives."""
    pool, pooled = POOLS[kind]
    at = {"seed": 5, **options}

    def ref(x):
        rows, columns = (np.asarray(e) for e in pool(x, ratio, **at)[1:])
        wanted = reference(x.astype(float), rows, columns, pooled, at.get("overlapping", False))
        return wanted.astype(x.dtype), rows, columns

    return Case(
        f"fractional_{kind}_pool_{name}", lambda x: pool(x, ratio, **at), (x,), ref,
        **(case_options or {}),
    )  # fmt: skip


X = unique_values(2, 7, 9, 2)
EDGES = np.array([0, 2, 3, 5, 7]), np.array([0, 3, 5, 8, 9])

CASES = [
    *(case("random", k, X, 1.6) for k in POOLS),
    *(case("overlap", k, X, [1.0, 2.2, 1.3, 1.0], overlapping=True) for k in POOLS),
    *(case("pseudo", k, X, [1.5, 2.0], pseudo_random=True, overlapping=True) for k in POOLS),
    *(case("whole", k, unique_values(1, 6, 4, 1), 2) for k in POOLS),
    *(case("all", k, unique_values(1, 3, 4, 1), [3.0, 4.0]) for k in POOLS),
    *(case("none", k, unique_values(1, 3, 4, 1), 1.0, overlapping=True) for k in POOLS),
    *(case("int", k, whole(1, 6, 7, 2, low=-20, high=20), 1.7, {"order": 0}) for k in POOLS),
    *(case("empty", k, np.zeros((0, 4, 4, 1)), 1.5) for k in POOLS),
    *(case("half", k, normal(1, 6, 6, 2), 1.9, {"dtypes": ("float16", "bfloat16")})
      for k in POOLS),
    Case("fractional_argmax", lambda x, r, c: fractional.largest(x, r, c, False), (X, *EDGES),
         lambda x, r, c: reference(x, r, c, np.max)),
]  # fmt: skip
