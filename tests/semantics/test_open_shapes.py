"""The static shapes of results where sizes are unknown while tracing: what is known stays known.

Each line of open_shapes.txt was measured on TensorFlow; programs read these sizes (`x.shape[-1]`)
to build the next layer.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.semantics.api import tf

FLOAT, INT = tf.float32, tf.int32
INPUTS = {
    "A": tf.TensorSpec([None, None], FLOAT),
    "C": tf.TensorSpec([2, 3], FLOAT),
    "I": tf.TensorSpec([None], INT),
    "J": tf.TensorSpec([None, 2], INT),
    "K": tf.TensorSpec([3], INT),
    "M": tf.TensorSpec([None], tf.bool),
    "N": tf.TensorSpec([], INT),
    "S": tf.TensorSpec([None, 4, 4], FLOAT),
    "U": tf.TensorSpec(None, FLOAT),
    "V": tf.TensorSpec([None], FLOAT),
    "W": tf.TensorSpec([4, 5], FLOAT),
    "X": tf.TensorSpec([None, 4], FLOAT),
    "Z": tf.TensorSpec([None, 3, 4], FLOAT),
}
TABLE = Path(__file__).with_name("open_shapes.txt").read_text().splitlines()
LINES = [line.split(" => ") for line in TABLE if line and not line.startswith("#")]


def shown(result: Any) -> str:
    if isinstance(result, list | tuple):
        return " ".join(map(shown, result))
    if result.shape.rank is None:
        return "unknown"
    return "[" + ",".join("?" if d is None else str(d) for d in result.shape) + "]"


@pytest.mark.parametrize(("text", "shapes"), LINES, ids=[text for text, _ in LINES])
def test_static_shape(text: str, shapes: str) -> None:
    found = []
    names = [n for n in INPUTS if n in text]

    def traced(*tensors: Any) -> Any:
        inputs = dict(zip(names, tensors, strict=True))
        found.append(shown(eval(text, {"tf": tf, **inputs})))
        return tf.constant(0)

    signature = [INPUTS[n] for n in names]
    function = tf.function(traced, input_signature=signature, autograph=False)
    function.get_concrete_function()
    assert found[-1] == shapes


def test_a_shape_that_cannot_fit_is_refused_while_tracing() -> None:
    def refuses(text: str) -> None:
        function = tf.function(lambda X: eval(text, {"tf": tf, "X": X}), autograph=False)
        with pytest.raises(ValueError):  # noqa: PT011  # the texts of two libraries differ
            function.get_concrete_function(INPUTS["X"])

    for text in (
        "tf.reshape(X, [])",
        "tf.reshape(X, [3, 3])",
        "tf.unstack(X)",
        "X + tf.zeros([3])",
        "tf.concat([X, tf.zeros([2, 3])], 0)",
        "tf.squeeze(X, 1)",
        "tf.split(X, 3, axis=1)",
        "tf.ensure_shape(X, [None, 5])",
        "X[:, 4]",
    ):
        refuses(text)
