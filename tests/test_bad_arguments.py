"""Bad attributes: axes, sizes, modes, dtypes and lists that do not fit, as `bad_arguments.txt` lists.

Each call must be refused with an error of the type that TensorFlow users catch, in the house form
(`name: rule`), and with the line of the call as its note.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core import errors

TABLE = Path(__file__).with_name("bad_arguments.txt")
FORM = re.compile(r"^[\w.`()' -]+: \S", re.DOTALL)
# Words of Python and NumPy that say nothing about the program of the user.
RAW = re.compile(
    r"object has no|not supported between|to unpack|cannot be interpreted|unhashable"
    r"|broadcast together|not iterable|tuple index|unsupported operand"
)
NAMES = {
    "tf": tf,
    "X": tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    "V": tf.constant([1.0, 2.0, 3.0]),
    "S": tf.constant(["a", "b"]),
    "IMG": tf.ones((1, 4, 4, 3)),
    "KERNEL": tf.ones((3, 3, 3, 2)),
    "ZERO": tf.zeros((2, 2)),
    "ONE": tf.eye(2),
}
KINDS = {
    "AttributeError": AttributeError,
    "FailedPreconditionError": tf.errors.FailedPreconditionError,
    "IndexError": IndexError,
    "NotImplementedError": NotImplementedError,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "InvalidArgumentError": tf.errors.InvalidArgumentError,
    "InvalidIndexError": errors.InvalidIndexError,
    "InvalidTypeError": errors.InvalidTypeError,
    "OutOfRangeError": tf.errors.OutOfRangeError,
    "UnimplementedError": tf.errors.UnimplementedError,
}


def rows() -> Iterator[Any]:
    """The lines of the table: number, call, error type, part of the message."""
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            call, _, answer = line.partition(" => ")
            kind, _, part = answer.partition(": ")
            yield pytest.param(number, call, kind, part, id=call)


def run(call: str, line: int) -> Any:
    """Evaluates a call as though it stood on its line of the table."""
    tree = ast.increment_lineno(ast.parse(call, mode="eval"), line - 1)
    return eval(compile(tree, str(TABLE), "eval"), dict(NAMES))


@pytest.mark.parametrize(("line", "call", "kind", "part"), [*rows()])
def test_a_bad_argument_is_refused_in_plain_words(
    line: int, call: str, kind: str, part: str
) -> None:
    with pytest.raises(KINDS[kind]) as caught:
        run(call, line)
    text = str(caught.value)
    assert FORM.match(text), f"not in the house form: {text}"
    assert part in text
    assert not RAW.search(text), f"not about the user's program: {text}"
    assert text.endswith((".", "?")), f"not a sentence: {text}"
    notes = "".join(getattr(caught.value, "__notes__", []))
    assert f"{TABLE}:{line}: {call}" in notes, "the note must show the line of the call"


def test_every_call_stands_in_the_table_once() -> None:
    calls = [row.values[1] for row in rows()]
    assert len(calls) == len(set(calls)) > 800


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("tf.reduce_sum(X, [[0], [1]])", 21.0),
        ("tf.concat(X, 0)", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        ("tf.concat([V, V], [0])", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]),
        ("tf.concat(1.0, 0)", 1.0),
        ("tf.stack(1.0)", 1.0),
        ("tf.linspace(0.0, 1.0, [3])", [0.0, 0.5, 1.0]),
        ("tf.repeat(V, [1, -1, 2])", [1.0, 3.0, 3.0]),
        ("tf.math.bincount([1, 2], minlength=-1)", [0, 1, 1]),
        ("tf.nn.avg_pool2d(IMG, 7, 2, 'VALID')", np.zeros((1, 0, 0, 3))),
        ("tf.image.extract_patches(IMG, [1, 7, 7, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')",
         np.zeros((1, 0, 0, 147))),
        ("tf.image.non_max_suppression(tf.ones((2, 4)), [1.0, 2.0], 0)", []),
        ("tf.strings.substr(['abc', 'def'], [0, 1], [1, 2])", [b"a", b"ef"]),
        ("tf.strings.substr('abc', [0, 1], [1, 1])", [b"a", b"b"]),
        ("tf.strings.as_string(-3, width=8, fill='0')", b"-0000003"),
        ("tf.strings.as_string(1.5, width=10, fill='+')", b" +1.500000"),
        ("tf.strings.as_string(float('nan'), width=8, fill='0')", b"     nan"),
        ("tf.strings.as_string([True], width=6)", [b"true"]),
        ("tf.strings.as_string('abc', width=6, precision=1)", b"   abc"),
    ],
)  # fmt: skip
def test_what_looks_bad_but_has_an_answer_in_tensorflow(call: str, wanted: Any) -> None:
    found = run(call, 1)
    np.testing.assert_array_equal(np.asarray(found.numpy()), np.asarray(wanted))
    assert tuple(found.shape) == np.shape(wanted)


def test_an_image_of_a_wrong_type_is_what_tensorflow_calls_it_and_a_type_error() -> None:
    for kind in (AttributeError, TypeError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match="a floating or integer dtype is needed; got bool"):
            tf.image.convert_image_dtype(tf.ones((2, 2, 3)), tf.bool)
