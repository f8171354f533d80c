"""`tf.distribute` with four replicas answers as TensorFlow does: values, types of errors."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wengert as tf
from tests.distribute_cases import CASES, answer
from tests.distribute_cases.differences import DIFFERENCES

ANSWERS: dict[str, list[Any]] = json.loads(
    (Path(__file__).parent / "distribute_cases" / "answers.json").read_text()
)


@pytest.fixture(autouse=True)
def four_logical_cpus() -> Iterator[None]:
    cpu = tf.config.list_physical_devices("CPU")[0]
    shown = [tf.config.LogicalDeviceConfiguration()] * 4
    tf.config.set_logical_device_configuration(cpu, shown)
    yield
    tf.config.set_logical_device_configuration(cpu, None)


def test_every_case_is_recorded() -> None:
    assert set(CASES) == set(ANSWERS)
    assert set(DIFFERENCES) <= set(CASES)


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("case", CASES)
def test_answers_are_those_of_tensorflow(case: str, traced: bool) -> None:
    found = json.loads(json.dumps(answer(tf, case, traced)))
    if case in DIFFERENCES:
        assert agree(found, DIFFERENCES[case]), found
    else:
        assert agree(found, ANSWERS[case][-1 if traced else 0]), found


# Kinds of errors that TensorFlow's own code runs into, rather than says.
ACCIDENTAL = {"AttributeError", "AssertionError", "IndexError"}


def agree(found: Any, want: Any) -> bool:
    """Whether two answers are the same; of an error, the kind that TensorFlow raises, or Python."""
    if isinstance(want, list) and want[:1] == ["variable"] and found == want[1]:
        return True  # a copy of a variable is a tensor here
    if isinstance(want, list) and want[:1] == ["error"]:
        is_error = isinstance(found, list) and found[:1] == ["error"]
        return is_error and (want[1] in ACCIDENTAL or want[1] in found)
    if isinstance(want, list):
        return isinstance(found, list) and len(found) == len(want) and all(map(agree, found, want))
    if isinstance(want, dict):
        return (
            isinstance(found, dict)
            and list(found) == list(want)
            and all(agree(found[k], want[k]) for k in want)
        )
    if isinstance(want, float) and isinstance(found, float):
        return math.isclose(found, want, rel_tol=1e-4, abs_tol=1e-6) or found == want
    return found == want and type(found) is type(want)
