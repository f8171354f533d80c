"""Rules of `custom_gradient` that have tapes of their own, and accumulators, inside functions.

A rule speaks of the tensors that its function was traced with, but runs where that function is run
again: around a call, in a loop, in a branch. Everywhere it gives what it gives eagerly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import wengert as tf

X = tf.constant([1.0, 2.0])
W = tf.Variable(3.0)


@tf.custom_gradient
def tape_before(x: Any) -> Any:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.sin(x) * x
    return y, lambda g: g * tape.gradient(y, x)


@tf.custom_gradient
def tape_in_rule(x: Any) -> Any:
    def rule(g: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * x
        return tape.gradient(y, x, output_gradients=g)

    return tf.sin(x) * x, rule


@tf.custom_gradient
def jacobian_in_rule(x: Any) -> Any:
    def rule(g: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * x
        return tf.linalg.matvec(tape.jacobian(y, x), g, transpose_a=True)

    return tf.sin(x) * x, rule


@tf.custom_gradient
def with_a_variable(x: Any) -> Any:
    def rule(g: Any, variables: Any = None) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * W
        dx, dw = tape.gradient(y, [x, W], output_gradients=g)
        return dx, [dw]

    return tf.sin(x) * W, rule


@tf.custom_gradient
def fixed_point(a: Any) -> Any:
    z = tf.zeros_like(a)
    for _ in range(30):
        z = tf.tanh(a + 0.5 * z)

    def rule(g: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([a, z])
            y = tf.tanh(a + 0.5 * z)
        turned = tf.eye(2) - tf.transpose(tape.jacobian(y, z))
        u = tf.linalg.solve(turned, g[:, None])[:, 0]
        return tape.gradient(y, a, output_gradients=u)

    return z, rule


@tf.custom_gradient
def forward_in_rule(x: Any) -> Any:
    def rule(g: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, g) as forward:
            y = tf.sin(x) * x
        return forward.jvp(y)

    return tf.sin(x) * x, rule


@tf.custom_gradient
def variable_in_rule(x: Any) -> Any:
    return x * x, lambda g: g * 2.0 * x * W * W


RULES = [
    tape_before, tape_in_rule, jacobian_in_rule, with_a_variable, fixed_point, forward_in_rule,
    variable_in_rule,
]  # fmt: skip


def gradient(f: Callable[..., Any], x: Any = X) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([x, W])
        y = f(x)
    return tape.gradient(y, [x, W], unconnected_gradients="zero")


def looped(c: Any, count: Any = 2) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = x
        for _ in tf.range(count):
            y = c(y) + y
        return y

    return f


def branched(c: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = x
        if tf.reduce_sum(x) > 0:
            y = c(x) * x
        return y

    return f


def mapped(c: Any) -> Callable[[Any], Any]:
    return lambda x: tf.map_fn(lambda row: c(row * x), tf.stack([x, 2.0 * x]))


PROGRAMS = {
    "plain": lambda c: lambda x: c(x) + 3.0 * x,
    "loop": looped,
    "branch": branched,
    "rows": mapped,
    "at once": lambda c: lambda x: tf.vectorized_map(lambda r: c(r * x), tf.stack([x, 2.0 * x])),
    "branch in a loop": lambda c: looped(branched(c)),
}
WAYS: dict[str, Callable[[Any], Any]] = {
    "around": lambda f: gradient(tf.function(f)),
    "around, compiled": lambda f: gradient(tf.function(f, jit_compile=True)),
    "around two": lambda f: gradient(tf.function(lambda x: tf.function(f)(x) * 1.0)),
    "inside": lambda f: tf.function(lambda x: gradient(f, x))(X),
    "inside, compiled": lambda f: tf.function(lambda x: gradient(f, x), jit_compile=True)(X),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("rule", RULES, ids=lambda f: f.__name__)
def test_a_rule_gives_what_it_gives_eagerly(rule: Any, program: str, way: str) -> None:
    f = PROGRAMS[program](rule)
    for found, wanted in zip(WAYS[way](f), gradient(f), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rule", [tape_before, tape_in_rule, jacobian_in_rule, with_a_variable])
def test_second_derivatives_of_rules_with_tapes(rule: Any) -> None:
    def second(f: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(X)
            g = gradient(f)[0]
        return tape.gradient(g, X)

    found = second(tf.function(lambda x: rule(x) * x))
    np.testing.assert_allclose(found, second(lambda x: rule(x) * x), rtol=1e-4)


def pushed(primal: Any, f: Callable[[], Any]) -> Any:
    with tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0)) as forward:
        y = f()
    return forward.jvp(y)


@pytest.mark.parametrize("jit", [None, True])
def test_forward_mode_sees_variables_as_they_are(jit: bool | None) -> None:
    v = tf.Variable(1.0)

    def cube_and_slope() -> Any:
        with tf.GradientTape() as tape:
            y = v * v * v
        return y, tape.gradient(y, v)

    def assigning(x: Any) -> Any:
        v.assign(7.0)
        return pushed(x, lambda: x * v)

    function = partial(tf.function, jit_compile=jit)
    of_tensor = function(lambda x: pushed(x, lambda: x * v))
    of_variable = function(lambda: pushed(v, lambda: cube_and_slope()[0]))
    of_gradient = function(lambda: pushed(v, lambda: cube_and_slope()[1]))
    after_assigning = function(assigning)
    x = tf.constant(1.0)
    for value in (1.0, 5.0, 2.0):
        v.assign(value)
        assert float(of_tensor(x)) == value
        assert float(of_variable()) == 3 * value**2
        assert float(of_gradient()) == 6 * value
    v.assign(1.0)
    assert float(after_assigning(x)) == 7.0


@tf.custom_gradient
def product(a: Any, b: Any) -> Any:
    return a * b, lambda d: (d * b, d * a)


def by_loop(a: Any, b: Any) -> Any:
    y = a
    for _ in tf.range(2):
        y = product(y, b)
    return y


PLACES = {
    "loop": (by_loop, (1.0, 4.0)),
    "branch": (lambda a, b: tf.cond(a > 0, lambda: product(a, b) * b, lambda: a), (1.0, 4.0)),
    "map_fn": (lambda a, b: tf.map_fn(lambda q: product(q, b), tf.stack([a, a])), (2.0, 2.0)),
    "vectorized_map": (
        lambda a, b: tf.vectorized_map(lambda q: product(q, b), tf.stack([a, a])), (2.0, 2.0)
    ),
}  # fmt: skip
KINDS = {"constants": tf.constant, "variables": tf.Variable}
WHERE = {"around": False, "inside": True}


@pytest.mark.parametrize("inside", WHERE.values(), ids=WHERE.keys())
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize(("program", "expected"), PLACES.values(), ids=PLACES.keys())
def test_a_rule_about_tensors_from_outside_has_second_derivatives(
    program: Any, expected: Any, kind: Any, inside: bool
) -> None:
    a, b = kind(1.5), kind(0.5)
    traced = tf.function(lambda: program(a, b))

    def second() -> Any:
        with tf.GradientTape() as outer:
            outer.watch([a, b])
            with tf.GradientTape() as inner:
                inner.watch([a, b])
                y = program(a, b) if inside else traced()
            first = inner.gradient(y, [a, b])
        return outer.gradient(first, [a, b])

    found = tf.function(second)() if inside else second()
    assert [float(g) for g in found] == list(expected)


@tf.custom_gradient
def sine(x: Any) -> Any:
    return tf.sin(x), lambda g: g * tf.cos(x)


@tf.custom_gradient
def with_a_constant(x: Any) -> Any:
    """The rule closes over a constant that another rule made."""
    scale = sine(tf.constant(0.3))
    return scale * x * x, lambda g: g * scale * x * 2.0


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("inside", [False, True])
def test_second_derivatives_of_a_rule_that_closes_over_a_constant(
    program: str, inside: bool
) -> None:
    def second(f: Any, x: Any = X) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            g = gradient(f, x)[0]
        return tape.gradient(g, x)

    f = PROGRAMS[program](with_a_constant)
    found = tf.function(lambda x: second(f, x))(X) if inside else second(tf.function(f))
    np.testing.assert_allclose(found, second(f), rtol=1e-4)


@tf.custom_gradient
def doubled(p: Any) -> Any:
    return tf.sin(p), lambda d: d * tf.cos(p) * 2.0


traced_doubled = tf.function(doubled)


@tf.function
def half_traced(z: Any) -> Any:
    return doubled(z * 2.0)


def in_a_branch(s: Any) -> Any:
    if s > 0.0:
        s = half_traced(s)
    return s


def in_a_loop(s: Any) -> Any:
    for _ in tf.range(2):
        s = half_traced(s)
    return s


def in_a_conditional(s: Any) -> Any:
    return tf.cond(s > 0.0, lambda: traced_doubled(s), lambda: s)


@pytest.mark.parametrize("program", [in_a_branch, in_a_loop, in_a_conditional])
@pytest.mark.parametrize("way", ["traced", "compiled"])
def test_a_rule_of_a_function_that_is_called_in_a_branch(program: Any, way: str) -> None:
    def derivatives(f: Any) -> list[float]:
        s = tf.constant(0.7)
        with tf.GradientTape() as outer:
            outer.watch(s)
            with tf.GradientTape() as inner:
                inner.watch(s)
                y = f(s)
            g = inner.gradient(y, s)
        return [float(y), float(g), float(outer.gradient(g, s))]

    found = derivatives(tf.function(program, jit_compile=way == "compiled" or None))
    np.testing.assert_allclose(found, derivatives(program), rtol=1e-5)


# A variable that only the rule reads.


def second(f: Callable[..., Any], x: Any = X) -> Any:
    """First and second derivatives by the argument and the variable."""
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return g, *outer.gradient(g, [x, W], unconnected_gradients="zero")


@pytest.mark.parametrize("way", ["around", "around, compiled", "inside", "inside, compiled"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives_by_a_variable_that_only_the_rule_reads(program: str, way: str) -> None:
    f = PROGRAMS[program](variable_in_rule)
    jit = "compiled" in way or None
    if "around" in way:
        found = second(tf.function(f, jit_compile=jit))
    else:
        found = tf.function(lambda x: second(f, x), jit_compile=jit)(X)
    for got, wanted in zip(found, second(f), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_variable_of_the_rule_is_read_when_the_gradient_is_asked_for(program: str) -> None:
    def changed(f: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        W.assign(5.0)
        return tape.gradient(y, X)

    f = PROGRAMS[program](variable_in_rule)
    try:
        found, wanted = changed(tf.function(f)), changed(f)
    finally:
        W.assign(3.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_a_rule_reads_a_variable_that_is_an_argument() -> None:
    @tf.function
    def f(x: Any, w: Any) -> Any:
        square = tf.custom_gradient(lambda x: (x * x, lambda g: g * 2.0 * x * w))
        return square(x) if tf.reduce_sum(x) > 0.0 else x

    for variable in (tf.Variable(2.0), tf.Variable(7.0)):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(X)
                y = f(X, variable)
            g = inner.gradient(y, X)
        np.testing.assert_allclose(g, 2.0 * X.numpy() * variable.numpy())
        np.testing.assert_allclose(outer.gradient(g, variable), 2.0 * X.numpy().sum())


def python_beside(x: Any) -> Any:
    y = x
    for _ in tf.range(2):
        y = tf.py_function(tf.sin, [y], tf.TensorSpec([2], tf.float32)) * W + variable_in_rule(y)
    return y


def python_beside_in_a_branch(x: Any) -> Any:
    if tf.reduce_sum(x) > 0.0:
        x = tf.py_function(tf.sin, [x], tf.TensorSpec([2], tf.float32)) * W + variable_in_rule(x)
    return x


@pytest.mark.parametrize("way", ["around", "around two", "inside"])
@pytest.mark.parametrize("program", [python_beside, python_beside_in_a_branch])
def test_a_variable_of_the_rule_is_read_after_python_was_called(program: Any, way: str) -> None:
    for found, wanted in zip(WAYS[way](program), gradient(program), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


# Variables that the function assigns on its way, and rules that would.


@tf.custom_gradient
def slope_by_variable(x: Any) -> Any:
    return x * W, lambda g, variables=(): (g * W, [tf.reduce_sum(g * x) for _ in variables])


def assigned_after(x: Any) -> Any:
    y = slope_by_variable(x)
    W.assign(5.0)
    return y


def assigned_in_the_turns(x: Any) -> Any:
    y = x
    for _ in tf.range(2):
        W.assign(W * 0.5)
        for _ in tf.range(2):
            y = y + slope_by_variable(x)
    return y


def assigned_in_branches(x: Any) -> Any:
    y = x
    for _ in tf.range(3):
        if W > 1.0:
            y = y * slope_by_variable(x)
            W.assign(W * 0.5)
        else:
            y = y + slope_by_variable(y)
    return y


V = tf.Variable(0.5)


@tf.custom_gradient
def by_two_variables(x: Any) -> Any:
    return x * x, lambda g: g * x * W * V


def of_different_variables(x: Any) -> Any:
    if tf.reduce_sum(x) > 9.0:
        return slope_by_variable(x)
    return slope_by_variable(x) * by_two_variables(x)


@pytest.mark.parametrize("way", WAYS)
def test_branches_whose_rules_read_different_variables(way: str) -> None:
    wanted = gradient(of_different_variables)
    for got, want in zip(WAYS[way](of_different_variables), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("way", ["around", "around, compiled", "around two", "inside"])
@pytest.mark.parametrize("program", [assigned_after, assigned_in_the_turns, assigned_in_branches])
def test_a_rule_reads_what_the_function_has_assigned_in_the_end(program: Any, way: str) -> None:
    """As it does eagerly, where TensorFlow is the measure."""
    try:
        wanted = gradient(program)
        W.assign(3.0)
        found = WAYS[way](program)
    finally:
        W.assign(3.0)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_rule_that_assigns_is_refused() -> None:
    seen = tf.Variable(0.0, name="seen")

    @tf.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda g: (seen.assign(tf.reduce_sum(g)), g * 2.0 * x)[1]

    @tf.function
    def inside(x: Any) -> Any:
        return gradient(square, x)[0]

    np.testing.assert_allclose(inside(X), 2.0 * X.numpy())
    assert seen == 2.0
    with pytest.raises(ValueError, match=r"must not assign variables .* got 'seen:0'"):
        gradient(tf.function(square))
    with pytest.raises(ValueError, match="Return the value, or assign it where the gradient is"):
        tf.function(lambda x: gradient(branched(square), x))(X)


@tf.custom_gradient
def exponential(x: Any) -> Any:
    """A rule whose own rule reads what it closes over."""
    y = tf.exp(x)

    @tf.custom_gradient
    def times(d: Any) -> Any:
        return d * y, lambda dd: dd * y

    return y, lambda d: times(d)


@pytest.mark.parametrize("sizes", [[None, None], [1, None], [1, 2]])
@pytest.mark.parametrize("engine", ["host", "xla"])
def test_third_derivatives_of_rules_within_rules(sizes: Any, engine: Any) -> None:
    def third(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as middle:
                middle.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = exponential(x) * x
                first = inner.gradient(y, x)
            second = middle.gradient(first, x)
        return first, second, outer.gradient(second, x)

    x = tf.constant([[1.0, 2.0]])
    with tf.engine(engine):
        found = tf.function(third, input_signature=[tf.TensorSpec(sizes)])(x)
    for got, expected in zip(found, third(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
