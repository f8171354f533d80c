"""What control flow on tensors cannot mean is said in plain words, at the user's line."""

# Programs with mistakes are the point here.
# ruff: noqa: B007, C416, PERF401, RET503, RET506, RUF034
# pyright: reportPossiblyUnboundVariable=false
from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

import wengert as tf


def told(function: Any, *args: Any, kind: type[BaseException]) -> tuple[str, str]:
    """The message of the error of a traced function, and the user's line that it names."""
    with pytest.raises(kind) as caught:
        tf.function(function)(*[tf.constant(a) for a in args])
    notes = [n for n in getattr(caught.value, "__notes__", []) if n.startswith("  --> ")]
    assert len(notes) == 1
    place, _, line = notes[0].partition(": ")
    assert __file__ in place
    return re.sub(r"at line \d+", "at line N", str(caught.value)), line


def one_branch(x):
    if x > 0.0:
        y = x
    return y


def test_a_name_set_in_one_branch_and_used_later() -> None:
    text, line = told(one_branch, 1.0, kind=ValueError)
    assert text == (
        "if: `y` has a value in one branch only of the `if` at line N, and is used after it. "
        "Give it a value in both branches, or before."
    )
    assert line == "return y"
    with pytest.raises(NameError):
        tf.function(one_branch)(tf.constant(1.0))


def test_any_use_of_such_a_name_is_an_error() -> None:
    uses = [
        lambda y: y + 1.0, lambda y: 1.0 - y, lambda y: -y, lambda y: y > 0.0, lambda y: y.shape,
        lambda y: y[0], lambda y: tf.sin(y), lambda y: tf.stack([y]), lambda y: len(y),
        lambda y: [v for v in y], lambda y: f"{y}", lambda y: y(), lambda y: bool(y),
        lambda y: {y}, lambda y: y == 1, lambda y: 1 in y,
    ]  # fmt: skip

    def f(x, use):
        if x > 0.0:
            y = x
        return use(y)

    for use in uses:
        with pytest.raises(ValueError, match="`y` has a value in one branch only"):
            tf.function(f)(tf.constant(1.0), use)


def test_a_name_that_is_not_used_later_is_no_error() -> None:
    def f(x, use):
        if x > 0.0:
            y = x
        return y if use else x

    assert tf.function(f)(tf.constant(2.0), False) == 2.0
    with pytest.raises(ValueError, match="in one branch only"):
        tf.function(f)(tf.constant(2.0), True)


def test_a_name_without_a_value_is_not_taken_for_none() -> None:
    def f(x):
        mask = None
        if x > 0.0:
            mask = x
        if mask is not None:
            return mask
        return x

    text, line = told(f, 1.0, kind=ValueError)
    assert text == (
        "if: `mask` is float32[] in one branch and None in the other, and which one depends on a "
        "tensor. Make both tensors of one dtype."
    )
    assert line == "if mask is not None:"


def test_dtypes_of_branches() -> None:
    def f(x):
        if x > 0.0:
            y = tf.cast(x, tf.int32)
        else:
            y = x
        return y

    text, line = told(f, 1.0, kind=TypeError)
    assert text == (
        "if: `y` must have one dtype after both branches; got int32[] and float32[]. Cast it with "
        "tf.cast in one branch."
    )
    assert line == "if x > 0.0:"


def test_structures_of_branches() -> None:
    def f(x):
        y = (x, x) if x > 5.0 else (x, x)
        if x > 0.0:
            y = {"a": x}
        return y

    text, _ = told(f, 1.0, kind=TypeError)
    assert text == (
        "if: `y` is {'a': float32[]} in one branch and (float32[], float32[]) in the other, and "
        "which one depends on a tensor. Make both tensors of one dtype."
    )


def returns_nothing(x):
    if x > 0.0:
        return x


def returns_none(x):
    if x > 0.0:
        return x
    return None


def returns_two(x):
    if x > 0.0:
        return x
    return x, x


@pytest.mark.parametrize(
    ("function", "kind", "wanted"),
    [
        (returns_nothing, ValueError, "the function returns float32[] on one path and nothing on "
         "another, and which one depends on a tensor. Return a value on every path."),
        (returns_none, ValueError, "the returned value is float32[] in one branch and None in the "
         "other, and which one depends on a tensor. Make both tensors of one dtype."),
        (returns_two, TypeError, "the returned value is float32[] in one branch and (float32[], "
         "float32[]) in the other, and which one depends on a tensor. Make both tensors of one "
         "dtype."),
    ],
)  # fmt: skip
def test_returns_that_differ(function: Any, kind: Any, wanted: str) -> None:
    text, line = told(function, 1.0, kind=kind)
    assert text == f"return: {wanted}"
    assert line == "if x > 0.0:"


def changes_dtype(n):
    y = tf.constant(1)
    while n > 0:
        y = tf.cast(y, tf.float32)
        n -= 1
    return y


def changes_rank(n):
    y = tf.constant(1.0)
    while n > 0:
        y = tf.stack([y, y])
        n -= 1
    return y


def changes_structure(n):
    y = [n, n]
    while n > 0:
        y = n
        n -= 1
    return y


def becomes_none(n):
    y = tf.constant(1.0)
    for _ in tf.range(n):
        y = None
    return y


def changes_text(n):
    y = str
    for _ in tf.range(n):
        y = int
    return y(n)


@pytest.mark.parametrize(
    ("function", "kind", "wanted"),
    [
        (changes_dtype, TypeError, "while: `y` must keep its dtype from turn to turn; it is int32[] "
         "before the loop and float32[] after one turn. Cast it with tf.cast(x, tf.int32) in the "
         "loop."),
        (changes_rank, ValueError, "while: `y` must keep its rank from turn to turn; it is "
         "float32[] before the loop and float32[2] after one turn."),
        (changes_structure, TypeError, "while: `y` must keep its structure from turn to turn; it "
         "is [int32[], int32[]] before the loop and int32[] after one turn."),
        (becomes_none, ValueError, "for: `y` must keep its structure from turn to turn; it is "
         "float32[] before the loop and None after one turn."),
        (changes_text, TypeError, "for: `y` must keep its structure from turn to turn; it is "
         "<class 'str'> before the loop and <class 'int'> after one turn. Only tensors may change "
         "in such a loop."),
    ],
)  # fmt: skip
def test_loop_variables_that_change(function: Any, kind: Any, wanted: str) -> None:
    text, line = told(function, 3, kind=kind)
    assert text == wanted
    assert line in ("while n > 0:", "for _ in tf.range(n):")


def test_elements_of_a_list_must_be_alike() -> None:
    def f(n):
        out = []
        for _ in tf.range(n):
            out.append(tf.zeros([2]))
            out.append(tf.zeros([3]))
        return tf.stack(out)

    text, line = told(f, 3, kind=ValueError)
    assert text == (
        "append: the elements of a list that grows in a loop on tensors must have one shape and "
        "dtype; got float32[2] and float32[3]. Pad or cast them, or keep them in two lists."
    )
    assert line == "out.append(tf.zeros([3]))"


def test_a_condition_with_several_elements() -> None:
    text, line = told(one_branch, [1.0, 2.0], kind=ValueError)
    assert text == (
        "bool: the truth of a tensor with 2 elements is ambiguous; got bool[2]. Use tf.reduce_any "
        "or tf.reduce_all."
    )
    assert line == "if x > 0.0:"


def test_iteration_over_a_scalar() -> None:
    def f(x):
        for v in x:
            x = v
        return x

    text, line = told(f, 1.0, kind=TypeError)
    assert text == "iteration: a scalar tensor has no rows; got float32[]."
    assert line == "for v in x:"


def test_a_loop_without_an_end_that_changes_shapes() -> None:
    def f(x, go_on):
        while go_on:
            x = tf.concat([x, x], 0)
        return x

    always = tf.constant(True)
    text, line = told(lambda x: f(x, always), [1.0, 2.0], kind=ValueError)
    assert text == (
        "while: `x` must keep its shape from turn to turn in a loop whose condition is always true; "
        "got another shape after one turn. Give the loop a condition that a turn makes false, or a "
        "`break`."
    )
    assert line == "while go_on:"


def made_in_a_turn(n):
    while n > 10:
        z = n
        n -= 1
    return z


def none_before(n):
    z = None
    for i in tf.range(n):
        z = i
    return z


def item_of_a_dict(n):
    last = {}
    for i in tf.range(n):
        last["i"] = i
    return last["i"]


def attribute_of_an_object(n):
    last = SimpleNamespace()
    while n > 10:
        last.n = n
        n -= 1
    return last.n


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (item_of_a_dict, "for: `last['i']` has no value before the loop at line N, may be used "
         "after it, and the loop made no turn. Give it a value before the loop."),
        (attribute_of_an_object, "while: `last.n` has no value before the loop at line N, may be "
         "used after it, and the loop made no turn. Give it a value before the loop."),
        (made_in_a_turn, "while: `z` has no value before the loop at line N, is used after it, and "
         "the loop made no turn. Give it a value before the loop."),
        (none_before, "for: `z` is None before the loop at line N, is used after it, and the loop "
         "made no turn. Give it a value before the loop."),
    ],
)  # fmt: skip
def test_a_loop_without_a_turn(function: Any, wanted: str) -> None:
    assert tf.function(function)(tf.constant(12)) == 11
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(function)(tf.constant(0))
    assert re.sub(r"at line \d+", "at line N", str(caught.value)) == wanted


def checked(x):
    assert x > 5.0, "x must be large"
    return x


def test_an_assertion_is_checked_when_the_function_runs() -> None:
    function = tf.function(checked)
    assert function(tf.constant(6.0)) == 6.0
    for kind in (AssertionError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match=r"^x must be large"):
            function(tf.constant(1.0))
    assert function.experimental_get_tracing_count() == 1
    compiled = tf.function(checked, jit_compile=True)
    with pytest.raises(AssertionError, match=r"^x must be large"):
        compiled(tf.constant(1.0))


class Refused(Exception):
    """An error of the user's own."""


def refuses(x):
    if x > 0.0:
        if x > 10.0:
            raise Refused("far too large")
        raise ValueError(f"too large: {x.dtype.name}")
    return x * 2.0


def test_a_raise_happens_when_its_branch_runs() -> None:
    function = tf.function(refuses)
    assert function(tf.constant(-1.0)) == -2.0
    with pytest.raises(ValueError, match=r"^too large: float32") as caught:
        function(tf.constant(1.0))
    assert any('raise ValueError(f"too large' in n for n in caught.value.__notes__)
    with pytest.raises(Refused, match="far too large"):
        function(tf.constant(11.0))
    assert function.experimental_get_tracing_count() == 1


def test_a_branch_that_raises_hands_nothing_on() -> None:
    @tf.function
    def f(x):
        out = [x]
        pair = (x, 1)
        ta = tf.TensorArray(tf.float32, size=1, element_shape=[])
        if x > 5.0:
            raise ValueError("too large")
        else:
            for v in tf.range(2):
                if v > 0:
                    out.append(x)
            pair = (x * 2.0, 1)
            ta = ta.write(0, x)
            label = "small"
        return tf.stack(out), pair, ta.stack(), label == "small"

    out, pair, written, small = f(tf.constant(2.0))
    assert out.numpy().tolist() == [2.0, 2.0]
    assert [float(v) for v in pair] == [4.0, 1.0]
    assert (written.numpy().tolist(), bool(small)) == ([2.0], True)
    with pytest.raises(ValueError, match="too large"):
        f(tf.constant(6.0))


def test_a_raise_that_is_caught_is_pythons() -> None:
    def f(x):
        if x > 0.0:
            try:
                raise KeyError("k")
            except KeyError:
                return x
        return -x

    assert tf.function(f)(tf.constant(2.0)) == 2.0
    assert tf.function(f)(tf.constant(-2.0)) == 2.0


def test_errors_of_operations_in_a_branch_are_errors_of_the_trace() -> None:
    def f(x):
        if x > 0.0:
            return tf.reshape(x, [7])
        return tf.zeros([7])

    with pytest.raises(ValueError, match="reshape"):
        tf.function(f)(tf.constant(-1.0))


def test_an_endless_python_loop_that_a_tensor_should_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    from wengert.autograph import loop_operators

    monkeypatch.setattr(loop_operators, "_MOST_UNROLLED", 5)

    def f(x):
        for i in iter(int, 1):
            x = x + 1.0
            if x > 3.0:
                break
        return x

    text, line = told(f, 1.0, kind=RuntimeError)
    assert text == (
        "for: whether this Python loop stops depends on a tensor, so it is unrolled to its end, "
        "and there was none after 5 turns. Loop over tf.range or a tensor."
    )
    assert line == "for i in iter(int, 1):"


def test_a_list_that_grew_says_what_it_cannot_do() -> None:
    def f(n, use):
        out = []
        for i in tf.range(n):
            if i > 0:
                out.append(i)
        return use(out)

    def unconverted(function):
        return tf.autograph.experimental.do_not_convert(function)

    for use, what in (
        (lambda out: len(out), "len"),
        (lambda out: [v for v in out], "iteration"),
        (lambda out: 1 if out else 0, "bool"),
    ):
        with pytest.raises(TypeError, match=f"^{what}: the list has grown in a loop on tensors"):
            tf.function(f)(tf.constant(3), unconverted(use))


def test_a_list_that_runs_empty_says_so_when_it_does() -> None:
    @tf.function
    def f(n):
        stack = []
        for i in tf.range(n):
            stack.append(i + 0)
        for i in tf.range(n + 1):
            stack.pop()
        return len(stack)

    with pytest.raises(IndexError) as caught:
        f(tf.constant(2))
    assert str(caught.value) == "pop: the list has no element -1; it has 0. Test its length first."
    assert "stack.pop()" in "".join(caught.value.__notes__)


def test_recursion_on_a_tensor_has_no_end() -> None:
    def fall(x):
        if x > 0.0:
            return fall(x - 1.0)
        return x

    text, line = told(fall, 3.0, kind=RecursionError)
    assert text == (
        "if: 60 conditions on tensors are inside each other. A function that calls itself must end "
        "by Python values; on tensors, write a loop."
    )
    assert line == "if x > 0.0:"
