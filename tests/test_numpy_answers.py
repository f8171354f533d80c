"""Outside tapes NumPy functions of tensors answer as TensorFlow's do: type, dtype, shape, values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from tests.numpy_cases import CASES, TENSORS, answer

ANSWERS = json.loads(Path(__file__).with_name("numpy_answers.json").read_text())
# TensorFlow cuts the fractions of an array beside a tensor of whole numbers off; here that is refused.
FRACTIONS = {"operator", "operator wide", "operator matrix", "operator scalar", "operator after",
             "comparison", "equality"}  # fmt: skip
WHOLE = {"int32", "uint8", "bool"}


def given(case: str, tensor: Any) -> Any:
    return json.loads(json.dumps(answer(CASES[case], tensor)))


@pytest.mark.parametrize("case", CASES)
def test_answers_are_those_of_tensorflow(case: str) -> None:
    for kind, make in TENSORS.items():
        found, want = given(case, make(tf)), ANSWERS[case][kind]
        if found == "error" and case in FRACTIONS and kind in WHOLE:
            continue
        assert str(found) == str(want), kind  # as text, since NaN differs from itself


OF_NUMPY = [c for c in CASES if not c.startswith(("operator", "comparison", "equality"))]


@pytest.mark.parametrize("case", OF_NUMPY)
def test_in_a_tape_dtypes_and_values_are_the_same(case: str) -> None:
    for kind, make in TENSORS.items():
        tensor = make(tf)
        with tf.GradientTape() as tape:
            if tensor.dtype.is_floating or tensor.dtype.is_complex:
                tape.watch(tensor)
            found = given(case, tensor)
        assert _without_type(found) == _without_type(ANSWERS[case][kind]), kind


def _without_type(found: Any) -> str:
    """An answer without the name of its type, which in a tape is one derived from NumPy's."""
    if not isinstance(found, list):
        return str(found)
    return str([one[1:] for one in found] if isinstance(found[0], list) else found[1:])
