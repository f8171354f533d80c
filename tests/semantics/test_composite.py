"""Nests, specs and optionals of composites: `composite.txt` says what TensorFlow answers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.api import tf
from tests.semantics.tables import answer_to, rows

NAMES = {
    "tf": tf,
    "np": np,
    "S": tf.SparseTensorSpec,
    "R": tf.RaggedTensorSpec,
    "O": tf.experimental.Optional,
    "OS": tf.OptionalSpec,
    "sp": tf.sparse.from_dense([[1.0, 0.0], [0.0, -2.0]]),
    "rt": tf.ragged.constant([[1.0, 2.0], [3.0]]),
    "sl": tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2])),
}


@pytest.mark.parametrize(("expression", "answer"), [*rows("composite.txt")])
def test_answers(expression: str, answer: str) -> None:
    assert answer_to(expression, NAMES, answer) == answer
