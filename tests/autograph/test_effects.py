"""What code under a tensor condition does to objects, lists and variables around it."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as tf

LOG: list[Any] = []


class Thing:
    """Something that is no tensor."""


def test_a_log_outside_the_function_is_written_while_tracing() -> None:
    LOG.clear()
    inner: list[str] = []

    @tf.function
    def f(x):
        for v in x:
            LOG.append("turn")
            if v > 1.0:
                LOG.append("large")
            else:
                inner.append("small")
                LOG.append(3)
        if x[0] > 0.0:
            LOG.append("positive")
        return x

    held = LOG
    f(tf.constant([1.0, 2.0, 3.0]))
    assert LOG is held
    assert LOG == ["turn", "large", 3, "positive"]
    assert inner == ["small"]
    f(tf.constant([4.0, 5.0, 6.0]))
    assert len(LOG) == 4, "the second call does not trace"


def test_a_list_of_objects_is_a_list_of_the_trace() -> None:
    @tf.function
    def f(x):
        things = []
        for _ in x:
            things.append(Thing())  # noqa: PERF401  # the loop is the point
        return len(things)

    assert f(tf.constant([1.0, 2.0])) == 1


class Meter:
    def __init__(self) -> None:
        self.total = 0.0
        self.part = Thing()
        self.part.most = -1.0  # type: ignore[attr-defined]  # any attribute will do

    def note(self, x):
        self.total = self.total + x
        if x > self.part.most:  # type: ignore[attr-defined]  # see above
            self.part.most = x  # type: ignore[attr-defined]  # see above
        self.last = x

    @tf.function
    def run(self, xs):
        for x in xs:
            self.note(x)
        if xs[0] > 0.0:
            self.note(xs[0] * 10.0)
        return self.total, self.part.most, self.last  # type: ignore[attr-defined]  # see above


def test_what_methods_do_to_their_objects_is_state() -> None:
    total, most, last = Meter().run(tf.constant([1.0, 3.0, 2.0]))
    assert (float(total), float(most), float(last)) == (16.0, 10.0, 10.0)
    total, most, last = Meter().run(tf.constant([-1.0, -3.0, -2.0]))
    assert (float(total), float(most), float(last)) == (-6.0, -1.0, -2.0)


METER = Meter()


def test_objects_behind_global_names_too() -> None:
    @tf.function
    def f(xs):
        METER.total = xs[0] * 0.0
        for x in xs:
            METER.note(x)
        return METER.total

    assert f(tf.constant([1.0, 3.0])) == 4.0


def test_aliases_see_changes_of_containers() -> None:
    @tf.function
    def f(x):
        d = {"a": x, "b": [x]}
        alias, items = d, d["b"]
        if x > 0.0:
            d["a"] = x * 2.0
            items[0] = x * 3.0
        for _ in tf.range(2):
            d["a"] = d["a"] + 1.0
        return alias["a"], d["b"][0], items[0]

    assert [float(y) for y in f(tf.constant(2.0))] == [6.0, 6.0, 6.0]
    assert [float(y) for y in f(tf.constant(-2.0))] == [0.0, -2.0, -2.0]


def test_conditions_with_effects_run_as_often_as_python_runs_them() -> None:
    count = tf.Variable(0)

    def more(limit):
        count.assign_add(1)
        return count < limit

    def f(limit):
        turns = 0
        while more(limit):
            turns += 1
        return turns

    traced = tf.function(f)
    for limit in (5, 1, 0):
        for function in (f, traced):
            count.assign(0)
            turns = function(tf.constant(limit))
            assert (int(turns), int(count)) == (max(limit - 1, 0), max(limit, 1))


def test_an_operand_that_is_not_needed_is_not_run() -> None:
    count = tf.Variable(0)

    def noted(x):
        count.assign_add(1)
        return x

    @tf.function
    def f(x):
        return x > 0.0 and noted(x > 1.0), x > 0.0 or noted(x < -1.0), noted(x) if x > 5.0 else x

    for x, runs in ((2.0, 1), (-2.0, 1), (6.0, 2)):
        count.assign(0)
        f(tf.constant(x))
        assert int(count) == runs


def test_a_short_circuit_guards_what_would_fail() -> None:
    @tf.function
    def f(x, i):
        return i < 3 and x[i] > 1.0

    x = tf.constant([0.0, 2.0, 0.0])
    assert [bool(f(x, tf.constant(i))) for i in (0, 1, 3)] == [False, True, False]


def test_variables_assigned_in_branches_and_loops() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        if x > 0.0:
            v.assign(x)
        else:
            for _ in tf.range(3):
                v.assign_add(x)
        return v * 2.0

    assert f(tf.constant(5.0)) == 10.0
    assert f(tf.constant(-1.0)) == 4.0
    assert v.numpy() == 2.0


class Sum:
    """A running sum that a method keeps."""

    def __init__(self) -> None:
        self.total: Any = tf.constant(0.0)

    def add(self, x: Any) -> Any:
        self.total = self.total + x
        return self.total


def test_a_loop_that_is_traced_again_starts_from_the_objects_as_they_were() -> None:
    def f(x):
        box = Sum()
        out = [x[0]]
        for e in x:
            b = box.add(e)
            if b <= 3.0:
                out.append(b)
        return tf.stack(out), box.total

    x = tf.constant([1.0, 2.0, 3.0])
    for found, wanted in zip(tf.function(f)(x), f(x), strict=True):
        assert found.numpy().tolist() == wanted.numpy().tolist()


def test_an_inner_function_sets_a_name_of_the_outer_one_and_returns() -> None:
    def f(s):
        b = s * 0.5

        def h():
            nonlocal b
            if s < 1.0:
                b = s * 3.0
                return s
            return s * 2.0

        a = h()
        return a + b

    for value in (0.5, 2.0):
        assert float(tf.function(f)(tf.constant(value))) == float(f(tf.constant(value)))


def test_an_array_written_after_an_early_return() -> None:
    @tf.function
    def f(x):
        ta = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for e in x:
            if e > 5.0:
                return e
            ta = ta.write(ta.size(), e * 2.0)
        return tf.reduce_sum(ta.stack())

    assert float(f(tf.constant([1.0, 2.0]))) == 6.0
    assert float(f(tf.constant([1.0, 7.0, 2.0]))) == 7.0


def test_a_tape_used_in_a_branch_that_is_traced_again() -> None:
    def grows(s):
        with tf.GradientTape() as tape:
            tape.watch(s)
            y = s * s
        out = [s]
        if s > 0.0:
            out.append(tape.gradient(y, s))
        return tf.reduce_sum(tf.stack(out))

    def by_method(s):
        box = Sum()
        with tf.GradientTape() as tape:
            tape.watch(s)
            y = s * s
        g = s
        if s > 0.0:
            g = tape.gradient(y, s)
            box.add(g)
        return g + box.total

    s = tf.constant(0.5)
    for f in (grows, by_method):
        assert float(tf.function(f)(s)) == float(f(s))


def test_a_tape_used_twice_in_a_function_is_still_an_error() -> None:
    @tf.function
    def f(s):
        with tf.GradientTape() as tape:
            tape.watch(s)
            y = s * s
        g = tape.gradient(y, s)
        if s > 0.0:
            g = g + tape.gradient(y, s)
        return g

    with pytest.raises(RuntimeError, match="can be used once"):
        f(tf.constant(0.5))


# What functions called in a branch or loop do to lists and dicts that they close over or are given.


class Holder:
    def __init__(self) -> None:
        self.items: list[Any] = []
        self.by_name: dict[str, Any] = {"sum": 0}

    def add(self, x: Any) -> None:
        self.items.append(x)
        self.by_name["sum"] = self.by_name["sum"] + x


def closing(n: Any) -> Any:
    items: list[Any] = []
    total = {"sum": 0, "last": [n]}

    def add(x: Any) -> None:
        items.append(x * 2)
        total["sum"] = total["sum"] + x
        total["last"][0] = x

    for i in tf.range(n):
        add(i)
    return tf.stack(items), total["sum"], total["last"][0]


def given(n: Any) -> Any:
    def add(to: Any, x: Any) -> None:
        to.append(x)

    items: list[Any] = []
    while n > 0:
        add(items, n)
        n = n - 1
    return tf.stack(items)


def in_an_object(n: Any) -> Any:
    holder = Holder()
    for i in tf.range(n):
        holder.add(i)
    return tf.stack(holder.items), holder.by_name["sum"]


def in_loops_in_loops(n: Any) -> Any:
    items: list[Any] = []
    add = lambda x: items.append(x)
    for i in tf.range(n):
        for j in tf.range(i + 1):
            if j < 2:
                add(i * j)
    return tf.stack(items)


def by_two_names(n: Any) -> Any:
    items: list[Any] = [n]
    same = items
    count = 0
    for i in tf.range(n):
        items.append(i)
        count += len(same)
    return tf.stack(same), count


def in_a_branch(n: Any) -> Any:
    found = {"is": "few", "n": n}

    def note(x: Any) -> None:
        found["n"] = x

    if n > 2:
        note(n * 10)
    else:
        note(-n)
    return found["n"]


@pytest.mark.parametrize(
    "program", [closing, given, in_an_object, in_loops_in_loops, by_two_names, in_a_branch]
)
def test_what_functions_do_to_lists_and_dicts_is_state(program: Any) -> None:
    traced = tf.function(program)
    for n in (1, 3, 4):
        found, wanted = traced(tf.constant(n)), program(tf.constant(n))
        for x, y in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
            assert (
                tf.convert_to_tensor(x).numpy().tolist() == tf.convert_to_tensor(y).numpy().tolist()
            )


def test_derivatives_by_what_a_function_adds_to_a_list() -> None:
    def f(x: Any) -> Any:
        rows: list[Any] = []

        def add(y: Any) -> None:
            rows.append(y * x)

        for i in tf.range(3):
            add(tf.cast(i, tf.float32))
        return tf.reduce_sum(tf.stack(rows) ** 2)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(f)(x)
    assert tape.gradient(y, x) == 20.0


def test_a_list_changed_behind_its_name_is_refused() -> None:
    @tf.function
    def f(n: Any) -> Any:
        items: list[Any] = []
        add = items.append
        for i in tf.range(n):
            add(i)
        return tf.stack(items)

    with pytest.raises(TypeError, match=r"`items` is changed in the `for` at line \d+ behind its"):
        f(tf.constant(3))


def appended_before_and_after(x: Any) -> Any:
    items = [x * 2.0]
    for i in tf.range(3):
        items.append(x * tf.cast(i, x.dtype))  # noqa: PERF401  # the loop is the point
    items.append(x * x)
    for _ in tf.range(2):
        items.append(x * 3.0)  # noqa: PERF401  # and so it is here
    items.append(items[-1] * x)
    return tf.reduce_sum(tf.stack(items) ** 2)


@pytest.mark.parametrize("jit", [None, True])
def test_derivatives_by_a_list_that_goes_on_growing_after_a_loop(jit: Any) -> None:
    def orders(f: Any) -> list[float]:
        x = tf.constant(0.6, tf.float64)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        return [float(y), float(g), float(outer.gradient(g, x))]

    found = orders(tf.function(appended_before_and_after, jit_compile=jit))
    assert found == pytest.approx(orders(appended_before_and_after))
