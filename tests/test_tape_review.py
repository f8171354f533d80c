"""Tapes in odd company: failures half-way, tapes used again, row-sparse sums, rules with closures."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

import contextvars
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.context import get_state


def _failing_rule(fail: bool = True) -> Any:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        def rule(g: Any) -> Any:
            if fail:
                raise KeyError("boom")
            return g

        return x * x, rule

    return f


def test_a_tape_whose_rule_failed_is_used_up() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = _failing_rule()(x) * x
    with pytest.raises(KeyError) as caught:
        tape.gradient(y, x)
    assert any("in the gradient of custom_gradient(f)" in n for n in caught.value.__notes__)
    with pytest.raises(RuntimeError, match="can be used once"):
        tape.gradient(y, x)
    assert get_state() is None


def test_a_wrong_source_does_not_use_up_the_tape() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(TypeError, match="a source must be a tensor"):
        tape.gradient(y, [x, 3.0])
    assert tape.gradient(y, x).numpy() == 4.0


def test_the_cause_of_a_failing_rule_is_kept() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        def rule(g: Any) -> Any:
            try:
                return {}["missing"]
            except KeyError as error:
                raise RuntimeError("no rule") from error

        return x * x, rule

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with pytest.raises(RuntimeError, match="no rule") as caught:
        tape.gradient(y, x)
    assert isinstance(caught.value.__cause__, KeyError)


def test_unconnected_error_uses_up_the_tape() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(ValueError, match="does not depend"):
        tape.gradient(y, tf.constant(1.0), unconnected_gradients="error")
    with pytest.raises(RuntimeError, match="can be used once"):
        tape.gradient(y, x)


def test_a_used_tape_opened_again_begins_anew() -> None:
    v, w, x = tf.Variable(2.0), tf.Variable(3.0), tf.constant(4.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = x * v
    assert tape.gradient(y, x).numpy() == 2.0
    assert tape.watched_variables() == (v,)
    with tape:
        y = x * w
    assert tape.watched_variables() == (w,)
    assert tape.gradient(y, [x, w])[0] is None


@pytest.mark.parametrize("where", ["thread", "context"])
def test_stop_recording_elsewhere_pauses_nothing(where: str) -> None:
    x = tf.constant(3.0)
    left: list[Any] = []

    def elsewhere() -> None:
        with tape.stop_recording():
            made.append(x * x * x)
        made.append(x * 5.0)
        left.append(get_state())

    made: list[Any] = []
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        if where == "thread":
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join(60)
        else:
            contextvars.Context().run(elsewhere)
        y = x * x
    assert left == [None]
    assert float(tape.gradient(y, x)) == 6.0
    with tf.explain.settings.using(none_gradients="off"):
        assert tape.gradient(made, x) is None


def test_stop_recording_tells_a_closed_tape_from_a_new_one() -> None:
    tape = tf.GradientTape()
    with pytest.raises(RuntimeError, match="not recording"), tape.stop_recording():
        pass
    with tape:
        with (
            tape.stop_recording(),
            pytest.raises(ValueError, match="not recording"),
            tape.stop_recording(),
        ):
            pass
    with pytest.raises(ValueError, match="not recording"), tape.stop_recording():
        pass


def test_reading_an_integer_variable_is_no_reason_to_warn() -> None:
    steps, x = tf.Variable(3), tf.constant(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.cast(steps, tf.float32)
    dx, dsteps = tape.gradient(y, [x, steps])
    assert dx.numpy() == 3.0
    assert dsteps is None
    assert tape.watched_variables() == (steps,)


@pytest.mark.parametrize("step", [tf.floor, tf.round, tf.zeros_like, tf.ones_like])
def test_what_a_step_function_gives_can_be_a_source(step: Any) -> None:
    v = tf.Variable([1.2, 2.7])
    with tf.GradientTape(persistent=True) as tape:
        r = step(v)
        y = tf.reduce_sum(r * 3.0 + v)
    np.testing.assert_array_equal(tape.gradient(y, r).numpy(), [3.0, 3.0])
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), [1.0, 1.0])


def test_what_stop_gradient_gives_is_a_constant() -> None:
    v = tf.Variable([1.2, 2.7])
    with tf.GradientTape() as tape:
        r = tf.stop_gradient(v)
        y = r * 3.0
    assert tape.gradient(y, r) is None


class TestComplexNumbersThatATapeDoesNotSeeBegin:
    """The conjugate convention holds whichever operation makes a real tensor complex."""

    def _gradient(self, f: Any) -> np.ndarray:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
            y = tf.math.real(z * z * (1 + 3j))
        return tape.gradient(y, x).numpy()

    def test_in_recomputed_code(self) -> None:
        f = tf.recompute_grad(lambda x: tf.complex(x, 2.0 * x))
        np.testing.assert_allclose(self._gradient(f), [-30.0, -60.0])

    def test_in_a_custom_gradient(self) -> None:
        @tf.custom_gradient
        def f(x: Any) -> Any:
            z = tf.constant(x.numpy() * (1 + 2j), tf.complex64)
            return z, lambda g: tf.math.real(g * (1 - 2j))

        np.testing.assert_allclose(self._gradient(f), [-30.0, -60.0])

    def test_in_forward_mode(self) -> None:
        f = tf.recompute_grad(lambda x: tf.complex(x, 2.0 * x))
        x = tf.constant([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as accumulator:
            z = f(x)
            y = tf.math.real(z * z * (1 + 3j))
        np.testing.assert_allclose(accumulator.jvp(y).numpy(), [-30.0, -600.0])


def test_row_sparse_gradients_with_different_index_types_add_up() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        a = tf.gather(v, tf.constant([0, 0], tf.int32))
        b = tf.gather(v, tf.constant([1], tf.int64))
        y = tf.reduce_sum(a) + tf.reduce_sum(b)
    g = tape.gradient(y, v)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.dtype == tf.int64
    np.testing.assert_array_equal(tf.convert_to_tensor(g).numpy(), [[2.0, 2.0], [1.0, 1.0]])


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_the_jacobian_of_nothing_has_a_shape(shape: tuple[int, ...]) -> None:
    x, other = tf.constant(np.zeros(shape, np.float32)), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * x
    assert tape.jacobian(y, x).shape == shape + shape
    assert tape.jacobian(y, other) is None


class TestCustomGradientsWithClosures:
    """Where no argument is followed, the rule has no say, and closures count as usual."""

    def test_a_constant_argument(self) -> None:
        x = tf.constant(3.0)

        @tf.custom_gradient
        def f(a: Any) -> Any:
            return a * x, lambda g: g * 100.0

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(tf.constant(2.0)) * x
        assert tape.gradient(y, x).numpy() == 12.0

    def test_a_followed_argument(self) -> None:
        x, a = tf.constant(3.0), tf.constant(2.0)

        @tf.custom_gradient
        def f(a: Any) -> Any:
            return a * x, lambda g: g * 100.0

        with tf.GradientTape() as tape:
            tape.watch([x, a])
            y = f(a)
        da, dx = tape.gradient(y, [a, x])
        assert da.numpy() == 100.0
        assert dx is None

    def test_a_rule_with_a_rule_of_its_own(self) -> None:
        @tf.custom_gradient
        def f(x: Any) -> Any:
            @tf.custom_gradient
            def rule(g: Any) -> Any:
                return g * 5.0 * x, lambda h: h * 1000.0

            return x * x, rule

        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        assert g.numpy() == 10.0
        assert outer.gradient(g, x).numpy() == 5.0

    def test_variables_are_asked_for_without_a_tape_too(self) -> None:
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def f(x: Any) -> Any:
            return x * v, lambda g: g

        with pytest.raises(TypeError, match="variables=None"):
            f(tf.constant(1.0))


def test_backward_work_after_a_rule_with_a_tape_has_the_right_site() -> None:
    inner = tf.recompute_grad(tf.sin)
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.constant(3.0)  # its gradient is computed here
        z = inner(y)
    g = tape.gradient(z, x)
    assert g._site == y._site


def test_rules_run_only_for_what_the_sources_need() -> None:
    calls: list[str] = []

    def spy(name: str) -> Any:
        @tf.custom_gradient
        def f(x: Any) -> Any:
            return x * 2.0, lambda g: (calls.append(name), g * 2.0)[1]

        return f

    a, b = tf.constant([1.0]), tf.constant([2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = tf.concat([spy("a")(a), spy("b")(b)], 0)
    assert tape.gradient(y, a).numpy() == [2.0]
    assert calls == ["a"]


class Counter(tf.Variable):
    """A variable of the user's own class."""


def test_a_subclass_of_variable_is_followed_and_kept_by_value() -> None:
    v = Counter(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        z = tf.convert_to_tensor(v) * 2.0
    dy = tape.gradient([y, z], v)
    assert dy.numpy() == 8.0
    assert type(tf.convert_to_tensor(v)) is tf.Tensor


def test_recomputed_code_answers_zeros_for_what_it_does_not_use() -> None:
    x, unused = tf.constant(2.0), tf.constant([1.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch([x, unused])
        y = tf.recompute_grad(lambda x, unused: x * x)(x, unused)
    dx, dunused = tape.gradient(y, [x, unused])
    assert dx.numpy() == 4.0
    np.testing.assert_array_equal(dunused.numpy(), [0.0, 0.0])


def _chain(x: Any, factors: list[Any]) -> list[Any]:
    """The results of multiplying by one factor after the other, with sums in between."""
    made = [x]
    for f in factors:
        made.append(made[-1] * f + f)
    return made


def test_gradients_down_a_chain_leave_alone_what_others_hold() -> None:
    rng = np.random.default_rng(0)
    x, *factors = [tf.constant(rng.uniform(0.5, 2, (3, 4)).astype(np.float32)) for _ in range(6)]
    seed = tf.constant(rng.uniform(0.5, 2, (3, 4)).astype(np.float32))
    before = [f.numpy() for f in [*factors, seed]]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        made = _chain(x, factors)
        y = made[-1] + made[2] / factors[0]  # the third is used twice
    first = tape.gradient(y, [x, *made[1:]], seed)
    again = tape.gradient(y, [x, *made[1:]], seed)
    left = [np.prod([f.numpy() for f in factors[i:]], 0) for i in range(6)]
    beside = [np.prod([f.numpy() for f in factors[i:2]], 0) / before[0] for i in range(3)]
    for i, (a, b) in enumerate(zip(first, again, strict=True)):
        want = before[-1] * (left[i] + (beside[i] if i < 3 else 0))
        np.testing.assert_allclose(a.numpy(), want, rtol=1e-5)
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    only_x = tape.gradient(y, x, seed)
    np.testing.assert_array_equal(only_x.numpy(), first[0].numpy())
    for array, value in zip(before, [*factors, seed], strict=True):
        np.testing.assert_array_equal(array, value.numpy())


@pytest.mark.parametrize("how", ["raise", "warn"])
def test_overflow_down_a_chain_is_infinity_where_numpy_is_strict(how: Any) -> None:
    x = tf.constant([1.0, 2.0])
    large = tf.constant([1e20, 1.0])
    with np.errstate(all=how), warnings.catch_warnings():
        warnings.simplefilter("error")
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * large / tf.constant([1e20, 1.0]) * large * large * tf.constant([2.0, 3.0])
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [np.inf, 3.0])
        x = tf.constant([60.0, 0.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(x) * large * tf.constant([1.0, 2.0])  # a rule that makes a new array
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [np.inf, 2.0])
