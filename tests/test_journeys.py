"""The journeys of `docs/architecture.md` pass the functions that the page names."""
# A checker takes Keras's default values for the types of its arguments.
# pyright: reportArgumentType=false

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import wengert as tf

PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"
NAMED = re.compile(r"`(\w+/\w+\.py): ([\w.<>]+)`")


def named(journey: str) -> set[tuple[str, str]]:
    """The functions that the page names for a journey, by file and qualified name."""
    text = PAGE.read_text().split(f"### {journey}\n")[1]
    return {(m[1], m[2]) for m in NAMED.finditer(re.split(r"\n##", text)[0])}


def passed(program: Callable[[], Any]) -> set[tuple[str, str]]:
    """The functions of ours that a program calls, in this thread."""
    found: set[tuple[str, str]] = set()

    def notice(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call":
            found.add(("/".join(Path(code.co_filename).parts[-2:]), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        program()
    finally:
        sys.setprofile(before)
    return found


def eager_gradient() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.square(x * 2 + 1)
    tape.gradient(y, x)


def second_call() -> None:
    x = tf.constant(3.0)
    f = tf.function(lambda x: x * 2 + 1)
    for _ in range(3):
        f(x)


def step_of_fit() -> None:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((96, 3), "f"), np.ones((96, 1), "f"), batch_size=32, verbose=0)


JOURNEYS = {
    "An eager gradient": eager_gradient,
    "A second call": second_call,
    "A step of `fit`": step_of_fit,
}


@pytest.mark.parametrize("journey", JOURNEYS)
def test_the_page_names_functions_that_are_passed(journey: str) -> None:
    expected = named(journey)
    assert len(expected) > 3
    missing = expected - passed(JOURNEYS[journey])
    assert not missing
