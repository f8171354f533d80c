"""Programs whose results have known shapes give the same on the compiled engine."""

from __future__ import annotations

import pytest

import wengert as tf
from tests.autograph.programs import CASES, Case
from tests.autograph.test_programs import check_equal, gradient_of, tensors

WITH_GRADIENT = ("while_state", "for_rows", "append_each_turn", "while_with_lazy_index")


@pytest.mark.parametrize("case", [c for c in CASES if c.xla], ids=lambda c: c.name)
def test_in_a_compiled_function(case: Case) -> None:
    function = tf.function(case.function, jit_compile=True)
    for run in case.runs:
        args = tensors(run)
        case.reset()
        wanted = case.function(*args)
        case.reset()
        check_equal(function(*args), wanted)


@pytest.mark.parametrize("name", WITH_GRADIENT)
def test_gradients_of_a_compiled_function(name: str) -> None:
    case = next(c for c in CASES if c.name == name)
    function = tf.function(case.function, jit_compile=True)
    for run in case.runs:
        args = tensors(run)
        check_equal(gradient_of(function, args), gradient_of(case.function, args))


def test_a_list_of_unknown_length_is_refused_at_the_line() -> None:
    @tf.function(jit_compile=True)
    def positive(x):
        out = []
        for v in x:
            if v > 0.0:
                out.append(v)  # noqa: PERF401  # the loop is the point
        return tf.stack(out)

    with pytest.raises(NotImplementedError, match="positive: XLA needs fixed shapes"):
        positive(tf.constant([1.0, -1.0]))
