"""`explain.nan`, `enable_check_numerics`, and what an operation did wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert import explain
from wengert.core.context import get_state


@pytest.fixture
def checked() -> Iterator[None]:
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def code(f: Any, *args: Any) -> str | None:
    found = explain.nan(f, *args)
    return None if found is None else found.code


X = tf.constant([0.0, 1.0, 4.0])


class TestNan:
    @pytest.mark.parametrize(
        ("f", "wanted"),
        [
            (lambda x: x * 2.0, None),
            (lambda x: tf.math.log(x), "WG501"),
            (lambda x: tf.math.log(x - 1.0), "WG501"),
            (lambda x: 1.0 / x, "WG502"),
            (lambda x: x / x, "WG502"),
            (lambda x: tf.exp(x * 100.0), "WG503"),
            (lambda x: x * 1e38, "WG503"),
            (lambda x: tf.sqrt(x - 1.0), "WG504"),
            (lambda x: tf.where(x > 0.0, tf.math.log(x), x), "WG505"),
            (lambda x: tf.cast(x, tf.float16) * 6e4, "WG506"),
            (lambda x: tf.sqrt(x), "WG507"),
            (lambda x: x**0.5, "WG507"),
            (lambda x: tf.norm(x * 0.0), "WG507"),
            (lambda x: tf.linalg.cholesky(tf.stack([[x[0], x[1]], [x[1], x[0]]])), "WG504"),
            (lambda x: tf.math.igamma(x - 1.0, x + 1.0), "WG508"),
            (lambda x: x * float("nan"), "WG509"),
        ],
    )
    def test_codes(self, f: Any, wanted: str | None) -> None:
        assert code(f, X) == wanted

    def test_the_line_is_that_of_the_first_operation(self) -> None:
        def f(x: Any) -> Any:
            y = x + 1.0
            z = tf.math.log(x)  # here
            return tf.reduce_sum(y * z)

        found = explain.nan(f, X)
        assert found is not None
        assert found.line == f.__code__.co_firstlineno + 2
        assert found.details == {
            "operation": "log", "backward": False, "inputs": ["float32[3] in [0, 4]"],
        }  # fmt: skip

    def test_a_function_with_a_tape_of_its_own(self) -> None:
        v = tf.Variable(0.0)

        def step() -> Any:
            with tf.GradientTape() as tape:
                y = tf.sqrt(v)
            return tape.gradient(y, v)

        assert code(step) == "WG507"

    def test_variables_it_reads(self) -> None:
        v = tf.Variable(0.0, name="scale")
        found = explain.nan(lambda: tf.sqrt(v))
        assert found is not None
        assert found.cause == (
            "the derivative of sqrt is infinite at 0; so the gradient of variable `scale:0` is "
            "not finite"
        )

    def test_what_is_masked_out_is_no_alarm(self) -> None:
        assert code(lambda x: tf.where(x > 0.0, x, float("nan")), X + 1.0) is None
        logits = tf.constant([1.0, -np.inf])
        assert code(lambda x: tf.nn.softmax(x), logits) is None

    def test_nothing_is_left_behind(self) -> None:
        method = vars(tf.Tensor.__mro__[1])["numpy"]
        code(lambda x: tf.math.log(x), X)
        with pytest.raises(KeyError):
            explain.nan(lambda: {}["missing"])
        assert get_state() is None
        assert vars(tf.Tensor.__mro__[1])["numpy"] is method


@pytest.mark.usefixtures("checked")
class TestCheckNumerics:
    def test_forward(self) -> None:
        with pytest.raises(tf.errors.InvalidArgumentError) as found:
            tf.math.log(X)
        assert str(found.value) == (
            "check_numerics: log was asked for 0; so the result of log is not finite; the inputs "
            "are float32[3] in [0, 4]. Add a small number, use tf.math.xlogy, or compute from "
            "logits."
        )
        assert "tf.math.log(X)" in found.value.__notes__[0]

    def test_backward(self) -> None:
        v = tf.Variable(0.0)
        with tf.GradientTape() as tape:
            y = tf.sqrt(v)  # here
        with pytest.raises(tf.errors.InvalidArgumentError, match="derivative of sqrt") as found:
            tape.gradient(y, v)
        assert "y = tf.sqrt(v)  # here" in found.value.__notes__[0]

    def test_what_moves_numbers_passes(self) -> None:
        inf = tf.constant(float("inf"))
        assert tf.identity(inf).numpy() == np.inf
        assert tf.reshape(inf, [1]).numpy() == [np.inf]
        with pytest.raises(tf.errors.InvalidArgumentError):
            inf + 1.0

    def test_other_threads_are_not_checked(self) -> None:
        made: list[Any] = []
        worker = threading.Thread(target=lambda: made.append(tf.math.log(X)))
        worker.start()
        worker.join()
        assert np.isinf(made[0].numpy()[0])

    def test_enabling_twice_and_disabling_twice(self) -> None:
        tf.debugging.enable_check_numerics()
        tf.debugging.disable_check_numerics()
        tf.debugging.disable_check_numerics()
        assert np.isinf(tf.math.log(X).numpy()[0])


def test_a_list_of_rows_that_are_not_all_written_is_looked_into() -> None:
    """What a run leaves unwritten is no array, so a second look must not make it one."""
    w = tf.Variable(-1.0)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
            for i in tf.range(1, 4):
                rows = rows.write(i, tf.math.log(w) * tf.cast(i, tf.float32))
            loss = rows.read(3)
        w.assign_sub(tape.gradient(loss, w))
        return loss

    with explain.doctor() as doctor:
        step()
    assert [e.code for e in doctor.report()] == ["WG508"]


@pytest.mark.parametrize("is_tested", [False, True])
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_a_step_that_tests_its_scaled_gradients_may_overflow(is_tested: bool, size: float) -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            y = x * tf.cast(w, tf.float16)
            z = tf.reduce_sum(tf.cast(y * y, tf.float32)) * 2.0**15
        gradient = tape.gradient(z, w)
        if not is_tested or tf.reduce_all(tf.math.is_finite(gradient)):
            w.assign_sub(gradient / 2.0**25)

    with explain.doctor() as found:
        step(tf.constant([size, size], tf.float16))
    # With large numbers the values overflow, too, which no scale of the loss changes.
    assert found.report().codes == ([] if is_tested and size == 1.0 else ["WG506"])
