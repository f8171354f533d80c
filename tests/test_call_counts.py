"""How many Python calls the two shortest journeys take, which is what they cost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import wengert as tf


def calls(function: Callable[[], Any]) -> list[str]:
    """The Python functions that are called once everything is warm, without `function` itself."""
    found: list[str] = []

    def notice(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.append(f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}")

    for _ in range(3):
        function()
    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        function()
    finally:
        sys.setprofile(before)
    return found[1:]


def test_a_cached_call() -> None:
    step = tf.function(lambda x: x * 2 + 1)
    x = tf.constant(3.0)
    found = calls(lambda: step(x))
    assert len(found) <= 20, found


SQUARES: dict[str, Callable[[Any], Any]] = {"x * x": lambda x: x * x, "tf.square(x)": tf.square}


@pytest.mark.parametrize("square", SQUARES)
@pytest.mark.parametrize("kind", ["tensor", "variable"])
def test_an_eager_gradient(square: str, kind: str) -> None:
    x = tf.constant(3.0) if kind == "tensor" else tf.Variable(3.0)

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            if kind == "tensor":
                tape.watch(x)
            y = SQUARES[square](x * 2 + 1)
        return tape.gradient(y, x)

    found = calls(gradient)
    assert len(found) <= 50, found
