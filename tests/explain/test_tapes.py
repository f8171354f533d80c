"""What tapes say by themselves about `None`, what they answer when asked, and what they keep."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.explain import NoGradientWarning, Report, settings
from wengert.tape import history


def unwatched(**options: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, **options)


def caught(f: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f()
    assert all(w.category is NoGradientWarning for w in found)
    return [str(w.message) for w in found]


class TestWarnings:
    def test_one_for_each_line_that_asks(self) -> None:
        (text,) = caught(lambda: [unwatched() for _ in range(3)])
        assert text.startswith(
            "gradient: None. WG101: `x` is a plain tensor; a tape follows one only when told to ("
        )
        assert text.endswith(
            "). Call `tape.watch(x)` inside the `with` block, before it is used. "
            "Ask tape.explain for more."
        )

    def test_it_points_to_the_line_that_asked(self) -> None:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            unwatched()
        assert found[0].filename == __file__
        assert found[0].lineno == unwatched.__code__.co_firstlineno + 4

    def test_other_lines_have_their_own(self) -> None:
        def ask() -> None:
            x, v = tf.constant(3.0), tf.Variable(1.0, trainable=False)
            with tf.GradientTape(persistent=True) as tape:
                y = x * v
            tape.gradient(y, x)
            tape.gradient(y, v)

        codes = [text.split(":")[1].split()[1] for text in caught(ask)]
        assert codes == ["WG101", "WG103"]

    def test_none_where_zeros_are_asked_for(self) -> None:
        assert caught(lambda: unwatched(unconnected_gradients="zero")) == []

    def test_off(self) -> None:
        settings.none_gradients = "off"
        assert caught(unwatched) == []

    def test_as_errors(self) -> None:
        settings.none_gradients = "error"
        for _ in range(2):
            with pytest.raises(ValueError, match="`x` is a plain tensor") as found:
                unwatched()
            assert found.value.code == "WG101"  # type: ignore[attr-defined]  # set by `coded`

    def test_a_setting_for_a_block(self) -> None:
        with settings.using(none_gradients="off"):
            assert caught(unwatched) == []
        assert len(caught(unwatched)) == 0  # that line was answered for
        history.SEEN.clear()
        assert len(caught(unwatched)) == 1

    def test_an_unknown_setting(self) -> None:
        with pytest.raises(ValueError, match="'warn', 'off' or 'error' was expected; got 'loud'"):
            settings.none_gradients = "loud"

    def test_several_causes_are_counted(self) -> None:
        def ask() -> None:
            x, v = tf.constant(3.0), tf.Variable(1.0, trainable=False)
            with tf.GradientTape() as tape:
                y = x * v
            tape.gradient(y, [x, v])

        (text,) = caught(ask)
        assert "(and 1 more cause)" in text

    def test_a_branch_that_is_not_taken_later(self) -> None:
        def ask() -> None:
            for use in (True, True, False):
                x = tf.constant(2.0)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = x * x if use else tf.constant(4.0)
                tape.gradient(y, x)

        (text,) = caught(ask)
        assert "WG118: probably, an earlier call from this line had a gradient for `x`" in text

    def test_a_variable_that_became_a_tensor(self) -> None:
        def ask() -> None:
            w: Any = tf.Variable(1.0)
            for _ in range(2):
                with tf.GradientTape() as tape:
                    loss = w * w
                g = tape.gradient(loss, w)
                if g is not None:
                    w = w - 0.1 * g

        (text,) = caught(ask)
        assert "WG101: `w` is a plain tensor" in text and "change that by `assign`" in text

    def test_an_update_after_the_gradient_is_not_to_blame(self) -> None:
        def ask() -> None:
            v, u = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
            for _ in range(2):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(tf.cast(v > u, tf.float32))
                grads = tape.gradient(loss, [v, u])
                for x, g in zip([v, u], grads, strict=True):
                    if g is not None:
                        x.assign_sub(g)
                if grads[0] is not None:
                    v.assign(v - grads[0])

        found = caught(ask)
        assert found and all("WG116" in text for text in found)

    def test_a_value_that_went_through_a_variable_is(self) -> None:
        def ask() -> None:
            x, state = tf.Variable(2.0), tf.Variable(0.0)
            with tf.GradientTape() as tape:
                state.assign(x * 3.0)
                loss = state * state
            tape.gradient(loss, x)

        assert "WG114" in caught(ask)[0]

    def test_jacobians_too(self) -> None:
        def ask() -> None:
            x = tf.constant([3.0])
            with tf.GradientTape() as tape:
                y = x * x
            tape.jacobian(y, x)

        assert "WG101" in caught(ask)[0]


class TestErrors:
    def test_the_explanation_is_raised(self) -> None:
        with pytest.raises(ValueError, match="does not depend on the source float32") as found:
            unwatched(unconnected_gradients="error")
        error: Any = found.value
        assert error.explanation.code == error.code == "WG101"
        assert error.__notes__[-1] == "  more: wengert explain WG101"
        assert "x = tf.constant(3.0)" in error.__notes__[0]

    def test_every_time(self) -> None:
        for _ in range(2):
            with pytest.raises(ValueError, match="plain tensor"):
                unwatched(unconnected_gradients="error")

    def test_variables_are_named(self) -> None:
        v, w = tf.Variable(1.0, name="first"), tf.Variable(2.0, name="second")
        with tf.GradientTape() as tape:
            y = v * v
        with pytest.raises(ValueError, match=r"float32\[\] \(second:0\): probably, variable"):
            tape.gradient(y, [v, w], unconnected_gradients="error")

    def test_misuse_has_codes(self) -> None:
        x = tf.constant(1.0)
        tape = tf.GradientTape()
        with pytest.raises(RuntimeError, match="never recorded") as never:
            tape.gradient(x, x)
        with tape, pytest.raises(ValueError, match="already recording") as twice:
            tape.__enter__()
        tape.gradient(x, x, unconnected_gradients="zero")
        with pytest.raises(RuntimeError, match="can be used once") as again:
            tape.gradient(x, x)
        errors: Any = [e.value for e in (never, twice, again)]
        assert [e.code for e in errors] == ["WG402", "WG404", "WG401"]


class TestExplain:
    def model(self) -> list[Any]:
        return [tf.Variable(float(i + 1), name=f"layer/v{i}") for i in range(7)]

    def test_a_gradient_that_arrives_needs_no_reason(self) -> None:
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = v * v
        report = tape.explain(y, v)
        assert isinstance(report, Report)
        assert not report
        assert str(report) == "A gradient reaches the source."
        assert tape.gradient(y, v).numpy() == 4.0  # explaining used nothing up

    def test_before_and_after_gradient(self) -> None:
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            y = x * x
        before = tape.explain(y, x)
        tape.gradient(y, x)
        after = tape.explain(y, x)
        assert before.codes == after.codes == ["WG101"]

    def test_in_a_loop(self) -> None:
        x = tf.constant(3.0)
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = x * x
            tape.gradient(y, x)
            assert tape.explain(y, x).codes == ["WG101"]

    def test_a_tape_that_let_go_says_so(self) -> None:
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = v * v
        tape.gradient(y, v)
        with pytest.raises(RuntimeError, match=r"^explain: the tape was used at .*persistent=True"):
            tape.explain(y, v)

    def test_causes_are_grouped(self) -> None:
        variables = self.model()
        extra = tf.Variable(1.0, trainable=False, name="mean")
        with tf.GradientTape() as tape:
            h = sum((v * 2.0 for v in variables[:6]), start=tf.constant(0.0))
            loss = tf.stop_gradient(h) * variables[6] * extra
        report = tape.explain(loss, [*variables, extra])
        assert report.codes == ["WG115", "WG103"]
        cut = report[0]
        assert cut.details["sources"] == [f"variable layer/v{i}:0" for i in range(6)]
        assert cut.cause == (
            "`tf.stop_gradient` makes a constant of what it is given; the sources are variable "
            "`layer/v0:0`, variable `layer/v1:0`, variable `layer/v2:0`, variable `layer/v3:0` "
            "and 2 more"
        )

    def test_how_far_it_got(self) -> None:
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            cut = tf.stop_gradient(v * 2.0) * v[0]
            z = tf.sin(cut)
            loss = tf.reduce_sum(z)
            other = tf.stop_gradient(loss)
        (found,) = tape.explain(other, v)
        assert found.details["operations_passed"] == 0
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            h = tf.floor(v)
            z = tf.sin(h * w)
            loss = tf.reduce_sum(z)
        (found,) = tape.explain(loss, v)
        assert found.code == "WG116"
        assert found.details["operations_passed"] == 3
        assert [p.label for p in found.sites] == [
            "floor: no gradient passes here",
            "the gradient comes back as far as this",
            "asked here",
        ]

    def test_two_reasons_for_one_source(self) -> None:
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            y = x * x
        loss = y + 1.0
        assert tape.explain(loss, x).codes == ["WG105", "WG101"]

    def test_outer_tapes_hear_nothing_of_it(self) -> None:
        v = tf.Variable(2.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = v * v
            count = len(outer._entries)
            inner.explain(y, v)
            assert len(outer._entries) == count

    def test_what_is_asked_must_be_tensors(self) -> None:
        with tf.GradientTape() as tape:
            pass
        with pytest.raises(TypeError, match="explain: a source must be a tensor"):
            tape.explain(tf.constant(1.0), 3.0)

    def test_nothing_is_kept_alive(self) -> None:
        x = tf.constant(np.ones(4, np.float32))
        with tf.GradientTape() as tape:
            y = x * x
        seen = weakref.ref(y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tape.gradient(y, x)
        del y
        gc.collect()
        assert seen() is None


class Hostile:
    """An object that does not like to be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"asked for {name}")

    @property
    def handle(self) -> Any:
        raise RuntimeError("asked for handle")


class TestWhatLiesAround:
    def test_objects_near_the_call_are_only_looked_at(self) -> None:
        hostile, nest = Hostile(), [Hostile(), {"key": Hostile()}]
        assert len(caught(lambda: unwatched())) == 1
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            y = x * x
        assert tape.explain(y, x).codes == ["WG101"]
        assert hostile is not nest

    def test_what_locals_returned_stays(self) -> None:
        x = tf.constant(3.0)
        mine = locals()
        with tf.GradientTape() as tape:
            y = x * x
        assert tape.explain(y, x).codes == ["WG101"]
        assert mine["x"] is x

    def test_a_failure_to_explain_is_no_failure_of_the_program(self, monkeypatch: Any) -> None:
        from wengert.explain import unconnected

        def fail(*args: Any, **kwargs: Any) -> Any:
            raise KeyError("a bug of ours")

        monkeypatch.setattr(unconnected, "reasons", fail)
        (text,) = caught(unwatched)
        assert "probably, nothing on the tape leads from the target to it" in text


class TestMemoryReport:
    def test_by_line_and_operation(self) -> None:
        size = 1 << 18
        x = tf.ones([size])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(3):
                y = tf.tanh(y)
            z = tf.reduce_sum(y + 1.0)
        report = tape.memory_report()
        assert report.bytes == 3 * 4 * size
        assert report.entries == 5
        largest = report.rows[0]
        assert (largest.operation, largest.entries, largest.bytes) == ("tanh", 3, 3 * 4 * size)
        assert largest.site is not None
        assert largest.site.text.strip() == "y = tf.tanh(y)"
        assert str(report).splitlines()[0] == "The tape keeps 3.0 MiB for 5 entries."
        assert "   3.0 MiB      3 × tanh" in str(report)
        assert tape.gradient(z, x) is not None
        assert tape.memory_report().bytes == 0

    def test_recomputation_keeps_less(self) -> None:
        def block(x: Any) -> Any:
            for _ in range(6):
                x = tf.tanh(x * 1.01)
            return x

        def kept(f: Any) -> int:
            x = tf.ones([1 << 14])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in range(10):
                    y = f(y)
            return tape.memory_report().bytes

        plain, again = kept(block), kept(tf.recompute_grad(block))
        assert plain == 10 * 6 * 4 * (1 << 14) + 4  # and the constant
        assert again <= plain / 5

    def test_as_data(self) -> None:
        v = tf.Variable([1.0])
        with tf.GradientTape() as tape:
            _ = v * v
        data = tape.memory_report().to_dict()
        assert data["entries"] == 1
        assert data["rows"][0]["file"] == __file__
