"""Random numbers inside functions: new ones for each call, site and turn; the eager ones again."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import wengert as tf

R = tf.random
DRAWS = {
    "uniform": lambda: R.uniform([5]),
    "uniform_wide": lambda: R.uniform([5], dtype=tf.float64),
    "uniform_whole": lambda: R.uniform([5], 0, 1000, tf.int32),
    "uniform_between": lambda: R.uniform([2, 3], -1.0, 4.0),
    "normal": lambda: R.normal([5]),
    "normal_scaled": lambda: R.normal([3], 2.0, 0.5, tf.float64),
    "truncated_normal": lambda: R.truncated_normal([5]),
    "gamma": lambda: R.gamma([3], [0.5, 2.0]),
    "poisson": lambda: R.poisson([3], [0.5, 20.0]),
    "categorical": lambda: R.categorical([[0.0, 1.0, 2.0]], 6),
    "shuffle": lambda: R.shuffle(tf.range(9)),
    "own_seed": lambda: R.uniform([5], seed=7),
    "dropout": lambda: tf.nn.dropout(tf.ones([20]), 0.5),
    "flip": lambda: tf.image.random_flip_left_right(tf.reshape(tf.range(24.0), [2, 2, 6, 1])),
    "crop": lambda: tf.image.random_crop(tf.reshape(tf.range(24), [4, 6]), [2, 3]),
}
EXACT = (
    "uniform", "uniform_wide", "uniform_whole", "shuffle", "categorical", "poisson", "own_seed",
    "dropout", "flip", "crop",
)  # fmt: skip
each_draw = pytest.mark.parametrize("name", DRAWS)
each_engine = pytest.mark.parametrize("jit", [None, True], ids=["host", "xla"])


@pytest.fixture(autouse=True)
def seeds() -> Any:
    yield
    R.set_seed(None)


def numbers(x: Any) -> Any:
    return np.asarray(x).tolist()


def three_times(f: Any) -> list[Any]:
    R.set_seed(3)
    with tf.engine("host"):
        return [f().numpy() for _ in range(3)]


@each_engine
@each_draw
def test_the_numbers_are_those_of_eager_code(name: str, jit: bool | None) -> None:
    eager = three_times(DRAWS[name])
    found = three_times(tf.function(DRAWS[name], jit_compile=jit, autograph=False))
    for a, b in zip(found, eager, strict=True):
        if name in EXACT:
            assert numbers(a) == numbers(b)
        else:
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)
    assert len({str(numbers(a)) for a in found}) > 1, "each call draws anew"


@each_engine
def test_each_site_draws_for_itself(jit: bool | None) -> None:
    @tf.function(jit_compile=jit)
    def pair() -> Any:
        return R.uniform([4]), R.uniform([4]), R.normal([4], seed=1), R.normal([4], seed=2)

    found = {str(numbers(x)) for x in (*pair(), *pair())}
    assert len(found) == 8


def pattern(*results: Any) -> str:
    """Which results are equal: "ABA" where the first and the third are."""
    found = [str(numbers(x)) for x in tf.nest.flatten(results)]
    return "".join(chr(65 + list(dict.fromkeys(found)).index(x)) for x in found)


@each_engine
def test_the_examples_of_set_seed_hold_for_functions(jit: bool | None) -> None:
    R.set_seed(1234)
    f, g = (
        tf.function(lambda: (R.uniform([1]), R.uniform([1])), jit_compile=jit) for _ in range(2)
    )
    assert pattern(f(), g(), f()) == "ABABCD"
    R.set_seed(1234)
    f, g = (
        tf.function(lambda: (R.uniform([1], seed=1), R.uniform([1], seed=1)), jit_compile=jit)
        for _ in range(2)
    )
    assert pattern(f(), f(), g(), g()) == "AABBAABB"
    h = tf.function(lambda: (*f(), *g(), R.uniform([1], seed=1)), jit_compile=jit)
    assert pattern(h(), h()) == "AAAAABBBBB"


def test_a_function_does_not_repeat_what_the_program_drew() -> None:
    f = tf.function(lambda: R.uniform([1]))
    R.set_seed(1234)
    weights = R.uniform([1])
    assert pattern(weights, f(), f()) == "ABC"
    R.set_seed(1234)
    assert pattern(weights, R.uniform([1])) == "AA"


@each_engine
def test_recomputing_a_call_draws_the_same_again(jit: bool | None) -> None:
    drop = tf.function(lambda x: tf.nn.dropout(x, 0.5), jit_compile=jit)
    block = tf.recompute_grad(lambda x: drop(x) ** 2)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = block(x)
        return y, tape.gradient(y, x)

    for run in (step, tf.function(step, jit_compile=jit)):
        for _ in range(2):
            y, gradient = run(tf.ones([64]))
            assert numbers(gradient) == numbers(2.0 * y)


@each_engine
def test_without_a_seed_two_functions_differ(jit: bool | None) -> None:
    R.set_seed(None)
    first = tf.function(lambda: R.uniform([4]), jit_compile=jit)
    second = tf.function(lambda: R.uniform([4]), jit_compile=jit)
    assert numbers(first()) != numbers(second())


@each_engine
def test_an_inner_function_draws_at_each_of_its_calls(jit: bool | None) -> None:
    inner = tf.function(lambda: R.uniform([4]))

    @tf.function(jit_compile=jit)
    def outer() -> Any:
        return inner(), inner()

    a, b = outer()
    c, d = outer()
    assert len({str(numbers(x)) for x in (a, b, c, d)}) == 4


def in_a_loop() -> Any:
    def body(i: Any, found: Any) -> Any:
        return i + 1, tf.concat([found[1:], R.uniform([1])], 0)

    return tf.while_loop(lambda i, found: i < 5, body, (tf.constant(0), tf.zeros([5])))[1]


@each_engine
def test_each_turn_of_a_loop_draws_anew(jit: bool | None) -> None:
    found = three_times(tf.function(in_a_loop, jit_compile=jit))
    assert len({x for a in found for x in numbers(a)}) == 15
    again = three_times(tf.function(in_a_loop, jit_compile=jit))
    assert [numbers(a) for a in found] == [numbers(a) for a in again]


def test_loops_agree_on_both_engines() -> None:
    host, xla = (three_times(tf.function(in_a_loop, jit_compile=jit)) for jit in (None, True))
    assert [numbers(a) for a in host] == [numbers(a) for a in xla]


@each_engine
def test_each_row_of_a_map_draws_anew(jit: bool | None) -> None:
    @tf.function(jit_compile=jit)
    def rows() -> Any:
        return tf.map_fn(lambda x: x + R.uniform([2]), tf.zeros([4, 2]))

    found = rows().numpy()
    assert len(set(found.reshape(-1).tolist())) == 8


@each_engine
def test_branches_draw(jit: bool | None) -> None:
    @tf.function(jit_compile=jit)
    def either(x: Any) -> Any:
        return tf.cond(x > 0, lambda: R.uniform([3]), lambda: R.uniform([3]) + 5.0)

    a, b, c = either(tf.constant(1)), either(tf.constant(1)), either(tf.constant(-1))
    assert numbers(a) != numbers(b)
    assert max(numbers(a)) < 1 and min(numbers(c)) >= 5


@each_engine
def test_open_sizes(jit: bool | None) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3])], jit_compile=jit)
    def noise(x: Any) -> Any:
        return x + R.uniform(tf.shape(x))

    R.set_seed(1)
    found = [noise(tf.zeros([n, 3])).numpy() for n in (2, 5)]
    R.set_seed(1)
    assert [numbers(x) for x in found] == [numbers(R.uniform([n, 3])) for n in (2, 5)]


@each_engine
def test_a_gradient_sees_the_mask_of_its_forward_pass(jit: bool | None) -> None:
    @tf.function(jit_compile=jit)
    def inside(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.dropout(x, 0.5)
        return y, tape.gradient(y, x)

    x = tf.ones([50])
    y, g = inside(x)
    assert numbers(y) == numbers(g)
    drop = tf.function(lambda x: tf.nn.dropout(x, 0.5), jit_compile=jit)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = drop(x)
    assert numbers(y) == numbers(tape.gradient(y, x))


@each_engine
def test_recomputation_draws_the_same_again(jit: bool | None) -> None:
    block = tf.recompute_grad(lambda x: tf.nn.dropout(x, 0.5) * x)

    @tf.function(jit_compile=jit)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = block(x)
        return y, tape.gradient(y, x)

    y, g = step(tf.ones([50]))
    assert numbers(g) == numbers(2.0 * y)


def many(g: Any) -> list[Any]:
    return [
        g.uniform([3]), g.normal([2, 2]), g.uniform([4], 0, 50, tf.int32), g.skip(2),
        g.truncated_normal([3]), g.uniform_full_int([2]), g.make_seeds(2), g.key,
        g.binomial([3], 10.0, 0.5),
    ]  # fmt: skip


@each_engine
def test_a_generator_gives_its_eager_numbers(jit: bool | None) -> None:
    eager, traced = R.Generator.from_seed(5), R.Generator.from_seed(5)
    call = tf.function(lambda: many(traced), jit_compile=jit)
    for _ in range(2):
        for a, b in zip(call(), many(eager), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)
    assert numbers(traced.state) == numbers(eager.state)


@each_engine
def test_a_generator_is_set_inside_a_function(jit: bool | None) -> None:
    g = R.Generator.from_seed(5)

    @tf.function(jit_compile=jit)
    def again(seed: Any) -> Any:
        g.reset_from_seed(seed)
        first = g.uniform([3])
        g.reset(tf.stack([tf.constant(0, tf.int64), tf.constant(0, tf.int64), seed]))
        return first, g.uniform([3])

    a, b = again(tf.constant(9, tf.int64))
    want = R.Generator.from_seed(9).uniform([3])
    assert numbers(a) == numbers(b) == numbers(want)


@each_engine
def test_a_generator_moves_on_at_each_turn_of_a_loop(jit: bool | None) -> None:
    g, same = R.Generator.from_seed(5), R.Generator.from_seed(5)

    @tf.function(jit_compile=jit)
    def loop() -> Any:
        def body(i: Any, found: Any) -> Any:
            return i + 1, tf.concat([found[1:], g.uniform([1])], 0)

        return tf.while_loop(lambda i, found: i < 4, body, (tf.constant(0), tf.zeros([4])))[1]

    found = loop()
    assert numbers(found) == [x for _ in range(4) for x in numbers(same.uniform([1]))]
    assert numbers(g.state) == numbers(same.state)


@each_engine
def test_a_failed_step_does_not_move_a_generator(jit: bool | None) -> None:
    g = R.Generator.from_seed(5)

    @tf.function(jit_compile=jit)
    def step(high: Any) -> Any:
        return g.uniform([3], 0, high, tf.int32)

    before = numbers(g.state)
    with pytest.raises(tf.errors.InvalidArgumentError, match="`minval` must be less than `maxval`"):
        step(tf.constant(0))
    assert numbers(g.state) == before
    step(tf.constant(9))
    assert numbers(g.state) != before


def test_a_generator_counts_in_128_bits() -> None:
    g = R.Generator.from_seed(1)

    @tf.function(jit_compile=True)
    def moved(start: Any, delta: Any) -> Any:
        g.reset(start)
        g.skip(delta)
        return g.state.read_value()

    for start in ([-1, 0, 7], [5, 1, 7], [-1, -1, 7], [0, 0, 1]):
        for delta in (0, 1, 3, -1, -4, 2**40):
            same = R.Generator.from_state(start, "philox")
            same.skip(delta)
            found = moved(tf.constant(start, tf.int64), tf.constant(delta, tf.int64))
            assert numbers(found) == numbers(same.state), (start, delta)


def test_a_generator_draws_open_sizes() -> None:
    g, same = R.Generator.from_seed(5), R.Generator.from_seed(5)

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def noise(x: Any) -> Any:
        return g.uniform(tf.shape(x))

    for n in (3, 1):
        assert numbers(noise(tf.zeros([n, 2]))) == numbers(same.uniform([n, 2]))
    assert numbers(g.state) == numbers(same.state)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function, partial(tf.function, jit_compile=True)])
def test_each_row_of_a_vectorized_map_draws_anew(wrap: Any) -> None:
    rows = wrap(lambda x: tf.vectorized_map(lambda r: tf.nn.dropout(r, 0.5), x))
    x = tf.ones([4, 64])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = rows(x)
    assert len({str(numbers(r)) for r in y}) == 4
    assert numbers(tape.gradient(y, x)) == numbers(y)


@each_engine
def test_recomputing_a_loop_draws_the_same_again(jit: bool | None) -> None:
    def dropped(x: Any) -> Any:
        body = lambda i, a: (i + 1, tf.nn.dropout(a, 0.3))
        return tf.while_loop(lambda i, a: i < 2, body, (tf.constant(0), x))[1]

    f = tf.function(tf.recompute_grad(dropped), jit_compile=jit)
    x = tf.range(1.0, 33.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x) * x, y, rtol=1e-5)
