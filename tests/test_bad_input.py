"""Wrong arguments, for every row of the case table: a clear error of ours, or an answer.

Each row is run again with one argument spoilt. Nothing but an error in the house form may come
out: a type that TensorFlow users catch, a text `name: rule`, and the user's line as a note.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.cases import Case, all_cases
from tests.test_operations import tensors

FORM = re.compile(r"^[\w.`()' -]+: \S", re.DOTALL)


def spoilt(x: Any) -> Iterator[tuple[str, Any]]:
    """Variants of a tensor that most operations must refuse."""
    array = x.numpy() if x.shape.rank else np.asarray(x.numpy())
    yield "string", tf.constant(np.full(array.shape, b"a", object))
    if array.dtype.kind != "O":
        yield "bool", tf.constant(np.ones(array.shape, bool))
        yield "other dtype", tf.constant(np.ones(array.shape, np.float16))
    yield "higher rank", tf.constant(np.stack([array] * 7))
    yield "scalar", tf.constant(array.reshape(-1)[0] if array.size else 1.0)
    if array.ndim:
        yield "longer", tf.constant(np.concatenate([array, array, array], -1))
        yield "empty", tf.constant(array[:0])
    if array.dtype.kind == "i" and array.dtype.itemsize > 1:
        yield "too large", tf.constant(array + 1000)
        yield "negative", tf.constant(array - 1000)
    if array.dtype.kind == "f":
        yield "nan", tf.constant(np.full(array.shape, np.nan, array.dtype))


def attempt(case: Case, given: list[Any]) -> Exception | None:
    try:
        case.call(*given, **case.options)
    except (tf.errors.OpError, ValueError, TypeError, LookupError) as error:
        return error
    return None


def ours(error: Exception | None) -> bool:
    """Whether an error comes from Wengert, not from the Python of the row itself."""
    if error is None:
        return False
    frame: Any = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    return "tests" not in Path(frame.tb_frame.f_code.co_filename).parts


def check(error: Exception | None, what: str) -> None:
    if ours(error):
        assert FORM.match(str(error)), f"{what}: not in the house form: {error!r} {error}"
        assert getattr(error, "__notes__", None), f"{what}: without the user's line: {error}"


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_a_spoilt_argument_gives_an_answer_or_a_clear_error(case: Case) -> None:
    good = tensors(case, "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # a tape told to watch what it cannot
        for i, x in enumerate(good):
            for what, bad in spoilt(x):
                error = attempt(case, [*good[:i], bad, *good[i + 1 :]])
                check(error, f"argument {i} {what}: {bad.dtype.name}{bad.shape}")
