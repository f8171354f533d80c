"""Sparse tensors: `sparse.txt` says what TensorFlow answers to each expression."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.api import tf
from tests.semantics.tables import answer_to, gradient, rows, static_shape

ST = tf.SparseTensor
NAMES = {
    "tf": tf,
    "np": np,
    "S": tf.sparse,
    "ST": ST,
    "C": tf.ragged.constant,
    "grad": gradient,
    "static": static_shape,
    "spec": tf.SparseTensorSpec,
    "dense": tf.TensorSpec,
    "sp": tf.sparse.from_dense([[1.0, 0.0, 3.0], [0.0, -2.0, 0.0]]),
    "sq": tf.sparse.from_dense([[0.0, 5.0, -3.0], [0.0, 0.0, 7.0]]),
    "un": ST([[1, 1], [0, 2], [0, 0]], [4.0, 5.0, 6.0], [2, 3]),
    "s3": tf.sparse.from_dense(np.arange(12.0).reshape(2, 3, 2) % 4),
    "si": tf.sparse.from_dense([[1, 0, 3], [0, 2, 0]]),
    "em": ST(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 3]),
    "dup": ST([[0, 0], [0, 0]], [1.0, 2.0], [2, 2]),
    "d": tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
}


@pytest.mark.parametrize(("expression", "answer"), [*rows("sparse.txt")])
def test_answers(expression: str, answer: str) -> None:
    assert answer_to(expression, NAMES, answer) == answer
