"""Ragged tensors: `ragged.txt` says what TensorFlow answers to each expression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.semantics.api import tf
from tests.semantics.tables import answer_to, gradient, inside, rows, static_shape

C, RT = tf.ragged.constant, tf.RaggedTensor


def unranked(f: Any, x: Any) -> Any:
    """What `f` gives in a function that does not know the rank of a tensor, or of its values."""

    def function() -> Any:
        if not isinstance(x, RT):
            given = tf.constant(x)
            return f(tf.numpy_function(np.array, [given], given.dtype))
        return f(x.with_flat_values(tf.numpy_function(np.array, [x.flat_values], x.dtype)))

    return tf.function(function, autograph=False)()


NAMES = {
    "tf": tf,
    "np": np,
    "C": C,
    "R": tf.ragged,
    "RT": RT,
    "RP": tf.experimental.RowPartition,
    "grad": gradient,
    "static": static_shape,
    "inside": inside,
    "unranked": unranked,
    "spec": tf.RaggedTensorSpec,
    "dense": tf.TensorSpec,
    "rt": C([[1.0, 2.0], [], [3.0]]),
    "r2": C([[1.0, 2.0], [3.0]]),
    "r3": C([[[1.0], [2.0, 3.0]], [[4.0]]]),
    "r4": C([[[1.0], [2.0, 3.0]], [], [[4.0, 5.0, 6.0], []]]),
    "rm": C([[3.0, 1.0, 2.0], [], [5.0]]),
    "ri": C([[1, 2], [], [3]]),
    "rb": C([[True, False], [], [True]]),
    "rs": C([["a"], ["bb", "ccc"]]),
    "rin": RT.from_row_splits(tf.reshape(tf.range(6.0), [3, 2]), [0, 1, 3]),
    "ru": RT.from_uniform_row_length([1.0, 2.0, 3.0, 4.0], 2),
    "d": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    # Stacks of matrices: of several heights, of several sizes, and dense ones.
    "high": C([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [], [[7.0, 8.0]]], ragged_rank=1),
    "left": C([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0]]]),
    "right": C([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0], [2.0]]]),
    "three": tf.reshape(tf.range(18.0), [3, 2, 3]),
    "two": tf.reshape(tf.range(8.0), [2, 2, 2]),
    # Strings: with an empty row, with rows of rows, and with pairs for values.
    "words": C([["a"], [], ["c", "d", "e"]]),
    "texts": C([[["a", "b"], ["c"]], [], [["d"], [], ["e", "f"]]]),
    "pairs": C([[["a", "b"], ["c", "d"]], [["e", "f"]]], ragged_rank=1),
    "deep": C([[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], [[[7.0, 8.0]]]]),
}


@pytest.mark.parametrize(("expression", "answer"), [*rows("ragged.txt")])
def test_answers(expression: str, answer: str) -> None:
    assert answer_to(expression, NAMES, answer) == answer
