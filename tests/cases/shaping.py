"""Cases for moving elements: identity, reshape, transpose, broadcasting, stacking."""

from __future__ import annotations

import numpy as np

import wengert as tf
from tests.cases import Case, normal

CASES = [
    Case("reshape", lambda x: tf.reshape(x, [3, -1]), (normal(2, 6),), lambda x: x.reshape(3, 4)),
    Case("reshape_empty", lambda x: tf.reshape(x, [0, 5]), (normal(0, 3),), lambda x: x.reshape(0, 5)),
    Case("stack", lambda x, y: tf.stack([x, y], 1), (normal(2, 3), normal(2, 3, seed=1)),
         lambda x, y: np.stack([x, y], 1)),
    Case("add_broadcast", lambda x, y: x + y, (normal(2, 3), normal(3, seed=1)), lambda x, y: x + y),
]  # fmt: skip
