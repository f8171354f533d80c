"""`einsum` against NumPy's, on random equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as tf
from wengert.testing import check_gradients

LABELS = "abcdE"
each_equation = settings(deadline=None, derandomize=True, max_examples=150)


@st.composite
def equations(draw: Any, most: int = 3, repeat: bool = True) -> tuple[str, list[np.ndarray]]:
    """An equation and tensors that fit it; sizes may be 0 or 1, ellipses broadcast."""
    sizes = {c: draw(st.integers(0, 3), label=c) for c in LABELS}
    dots = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(0, 2)))]
    count = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    terms, arrays = [], []
    for _ in range(count):
        letters = draw(st.lists(st.sampled_from(LABELS), max_size=3, unique=not repeat))
        place = draw(st.integers(0, len(letters))) if draw(st.booleans()) else None
        shape = [sizes[c] for c in letters]
        if place is not None:
            hidden = dots[draw(st.integers(0, len(dots))) :]
            hidden = [1 if draw(st.booleans()) else d for d in hidden]
            shape[place:place] = hidden
            letters.insert(place, "...")
        terms.append("".join(letters))
        arrays.append(rng.standard_normal(shape))
    return _with_output(draw, terms), arrays


def _with_output(draw: Any, terms: list[str]) -> str:
    text = ",".join(terms)
    if draw(st.booleans()):
        return text
    known = sorted(set(text) - set(",."))
    out = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    if "..." in text:
        out.insert(draw(st.integers(0, len(out))), "...")
    return f"{text}->{''.join(out)}"


@each_equation
@given(equations())
def test_einsum_equals_numpy(case: tuple[str, list[np.ndarray]]) -> None:
    equation, arrays = case
    got = tf.einsum(equation, *arrays).numpy()
    want = np.einsum(equation, *arrays)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


@each_equation
@given(equations(most=2))
def test_einsum_of_integers_is_exact(case: tuple[str, list[np.ndarray]]) -> None:
    equation, arrays = case
    whole = [np.rint(a * 10).astype(np.int32) for a in arrays]
    got = tf.einsum(equation, *whole)
    assert got.dtype == tf.int32
    np.testing.assert_array_equal(got.numpy(), np.einsum(equation, *whole))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(equations(most=3))
def test_gradients_of_einsum_equal_finite_differences(
    case: tuple[str, list[np.ndarray]],
) -> None:
    equation, arrays = case
    check_gradients(lambda *xs: tf.einsum(equation, *xs), arrays, order=2, tolerance=1e-4)


@each_equation
@given(equations(most=3), st.sampled_from(["greedy", "optimal"]))
def test_spaces_and_the_order_of_work_change_nothing(
    case: tuple[str, list[np.ndarray]], optimize: str
) -> None:
    equation, arrays = case
    spaced = " ".join(equation.replace("...", "~").replace("->", "=")).replace("~", "...")
    spaced = spaced.replace("=", "->")
    got = tf.einsum(spaced, *arrays, optimize=optimize).numpy()
    np.testing.assert_allclose(got, tf.einsum(equation, *arrays).numpy(), rtol=1e-10, atol=1e-10)
