"""Random numbers: the published answers of Philox, seeds as TensorFlow documents them, replay,
threads and processes, and whether the distributions are what they say."""

from __future__ import annotations

import copy
import hashlib
import subprocess
import sys
import threading
from typing import Any

import jax
import numpy as np
import pytest
import scipy.stats

import wengert as tf
from wengert.core import random_replay
from wengert.core.apply import wrap
from wengert.core.errors import InvalidArgumentError, UnimplementedError
from wengert.ops import philox, rejection

R = tf.random

gamma_grad: Any = jax.lax.random_gamma_grad  # its annotations ask for more than it takes


@pytest.fixture(autouse=True)
def forget_the_seed() -> Any:
    yield
    R.set_seed(None)


def same(a: Any, b: Any) -> bool:
    return np.array_equal(np.asarray(a), np.asarray(b))


# The generator.


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0), 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((2**64 - 1, 2**64 - 1), 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x85A308D3243F6A88, 0x0370734413198A2E),
            0x299F31D0A4093822,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_gives_the_answers_published_with_random123(
    counter: tuple[int, int], key: int, answer: str
) -> None:
    want = [int(w, 16) for w in answer.split()]
    state = np.array([*counter, key], np.uint64)
    assert list(philox.block(key, *counter)) == want
    assert philox.words(state, 4).tolist() == want
    with jax.enable_x64(True):
        lowered = jax.jit(philox.lower_words, static_argnums=1)(state, 4)
    assert np.asarray(lowered).tolist() == want


def test_a_long_stream_is_its_blocks_in_order() -> None:
    state = np.array([2**64 - 7, 2**64 - 1, 99], np.uint64)
    count = 4 * 20_000 + 3
    whole = philox.words(state, count)
    for i in (0, 6, 7, 8191, 8192, 19_999):
        low, high, key = (int(s) for s in philox.advance(state, i))
        assert whole[4 * i : 4 * i + 4].tolist() == list(philox.block(key, low, high))
    assert len(whole) == count


def test_another_process_gets_the_same_numbers() -> None:
    code = (
        "import hashlib, numpy as np, wengert as tf\n"
        "tf.random.set_seed(5)\n"
        "parts = [tf.random.normal([50]), tf.random.uniform([50], seed=3),\n"
        "         tf.random.stateless_truncated_normal([50], [1, 2]),\n"
        "         tf.random.gamma([50], 0.7), tf.random.shuffle(tf.range(20)),\n"
        "         tf.random.Generator.from_seed(4).uniform([9], maxval=100, dtype=tf.int64)]\n"
        "print(hashlib.sha256(b''.join(np.asarray(p).tobytes() for p in parts)).hexdigest())\n"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    R.set_seed(5)
    parts = [
        R.normal([50]), R.uniform([50], seed=3), R.stateless_truncated_normal([50], [1, 2]),
        R.gamma([50], 0.7), R.shuffle(tf.range(20)),
        R.Generator.from_seed(4).uniform([9], maxval=100, dtype=tf.int64),
    ]  # fmt: skip
    mine = hashlib.sha256(b"".join(np.asarray(p).tobytes() for p in parts)).hexdigest()
    assert other.stdout.strip() == mine


def test_a_forked_child_does_not_repeat_its_parent() -> None:
    code = (
        "import os, wengert as tf\n"
        "tf.random.normal([1])\n"
        "if os.fork() == 0:\n"
        "    print(float(tf.random.normal([1])[0]), flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print(float(tf.random.normal([1])[0]))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    child, parent = out.stdout.split()
    assert child != parent


# Seeds.


def test_a_global_seed_repeats_the_whole_sequence() -> None:
    R.set_seed(1234)
    first = [R.uniform([3]), R.normal([3]), R.uniform([3])]
    R.set_seed(1234)
    again = [R.uniform([3]), R.normal([3]), R.uniform([3])]
    assert all(same(a, b) for a, b in zip(first, again, strict=True))
    assert not same(first[0], first[2])
    R.set_seed(1235)
    assert not same(first[0], R.uniform([3]))


def test_an_operation_seed_gives_a_sequence_of_its_own() -> None:
    R.set_seed(None)
    first = [R.uniform([3], seed=1), R.uniform([3], seed=1)]
    R.set_seed(None)
    R.uniform([3])
    again = [R.uniform([3], seed=1), R.uniform([3], seed=1)]
    assert same(first[0], again[0])
    assert same(first[1], again[1])
    assert not same(first[0], first[1])
    assert not same(first[0], R.uniform([3], seed=2))


def test_both_seeds_together_decide() -> None:
    def draw(overall: int, own: int) -> Any:
        R.set_seed(overall)
        return R.uniform([4], seed=own)

    assert same(draw(1, 2), draw(1, 2))
    assert not same(draw(1, 2), draw(1, 3))
    assert not same(draw(1, 2), draw(2, 2))


def test_without_seeds_numbers_differ() -> None:
    R.set_seed(None)
    first = R.uniform([4])
    R.set_seed(None)
    assert not same(first, R.uniform([4]))


def test_stateless_numbers_depend_on_the_seed_alone() -> None:
    first = R.stateless_normal([3], [1, 2])
    R.normal([3])
    assert same(first, R.stateless_normal([3], tf.constant([1, 2], tf.int64)))
    assert not same(first, R.stateless_normal([3], [2, 1]))
    assert not same(first, R.stateless_normal([3], [-1, 2]))


def test_split_and_fold_in_give_seeds() -> None:
    seeds = R.split([1, 2], 3)
    assert seeds.shape == (3, 2)
    assert seeds.dtype == tf.int32
    assert len({tuple(s) for s in seeds.numpy()}) == 3
    assert R.split(tf.constant([1, 2], tf.int64)).dtype == tf.int64
    folded = [tuple(R.fold_in([1, 2], i).numpy()) for i in range(3)]
    assert len(set(folded)) == 3
    assert same(R.experimental.stateless_split([1, 2], 3), seeds)
    assert same(R.experimental.stateless_fold_in([1, 2], 2), folded[2])


def test_threads_never_draw_the_same_numbers() -> None:
    R.set_seed(3)
    drawn: list[Any] = []

    def work() -> None:
        for _ in range(50):
            drawn.append(tuple(R.uniform([2]).numpy().tolist()))  # noqa: PERF401  # threads race

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == len(set(drawn)) == 400


# Replay.


def test_recorded_draws_are_played_again() -> None:
    generator = R.Generator.from_seed(3)

    def draw() -> list[Any]:
        return [
            R.normal([3]), R.uniform([2], seed=4), R.shuffle(tf.range(9)), generator.normal([3]),
            generator.uniform([3], maxval=9, dtype=tf.int32), generator.split(1)[0].state,
            R.gamma([2], 2.0), R.poisson([2], 3.0), R.categorical([[0.0, 1.0]], 9),
        ]  # fmt: skip

    with random_replay.recording() as keys:
        first = draw()
    state = generator.state.numpy()
    with random_replay.replaying(keys):
        again = draw()
    assert all(same(a, b) for a, b in zip(first, again, strict=True))
    assert same(generator.state, state), "playing again must not move the generator on"


def test_recompute_grad_sees_the_same_numbers() -> None:
    generator = R.Generator.from_seed(8)

    @tf.recompute_grad
    def noisy(x: Any) -> Any:
        return x * R.normal([5]) * generator.uniform([5])

    x = tf.ones([5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = noisy(x)
    state = generator.state.numpy()
    assert np.allclose(tape.gradient(y, x), y)
    assert same(generator.state, state)


# The Generator class.


def test_a_generator_moves_on_and_repeats_from_its_state() -> None:
    generator = R.Generator.from_seed(1234)
    assert generator.state.numpy().tolist() == [0, 0, 1234]
    assert generator.state.dtype == tf.int64
    assert generator.algorithm == 1
    assert generator.key.numpy() == 1234
    first = generator.normal([2])
    assert generator.state.numpy().tolist() == [512, 0, 1234]
    assert not same(first, generator.normal([2]))
    assert same(first, R.Generator.from_seed(1234).normal([2]))
    twin = R.Generator.from_state(generator.state, "philox")
    assert same(twin.uniform([3]), generator.uniform([3]))
    assert same(R.Generator(copy_from=generator).normal([3]), copy.deepcopy(generator).normal([3]))


def test_a_generator_is_reset_and_skipped() -> None:
    generator = R.Generator.from_seed(7)
    first = generator.uniform([4])
    generator.reset_from_seed(7)
    assert same(first, generator.uniform([4]))
    generator.reset([1, 2, 3])
    assert generator.state.numpy().tolist() == [1, 2, 3]
    assert generator.skip(5).numpy().tolist() == [1, 2, 3]
    assert generator.state.numpy().tolist() == [1 + 5 * 256, 2, 3]
    generator.reset_from_key_counter(7, [8, 9])
    assert generator.state.numpy().tolist() == [8, 9, 7]
    assert R.Generator.from_key_counter(7, [8, 9], "philox").state.numpy().tolist() == [8, 9, 7]


def test_generators_split_into_independent_ones() -> None:
    generator = R.Generator.from_seed(7)
    parts = generator.split(3)
    drawn = [tuple(p.normal([3]).numpy().tolist()) for p in [generator, *parts]]
    assert len(set(drawn)) == 4
    seeds = generator.make_seeds(5)
    assert seeds.shape == (2, 5)
    assert seeds.dtype == tf.int64


def test_a_generator_counts_across_64_bits() -> None:
    generator = R.Generator.from_state([-1, 5, 3], "philox")
    generator.skip(1)
    assert generator.state.numpy().tolist() == [255, 6, 3]


def test_seeds_of_generators() -> None:
    assert R.create_rng_state(5, "philox").numpy().tolist() == [0, 0, 5]
    assert R.create_rng_state([5, 6], "philox").numpy().tolist() == [0, 5, 6]
    assert R.create_rng_state(-1, "philox").numpy().tolist() == [-1, -1, -1]
    assert R.create_rng_state(2**64 + 9, "philox").numpy().tolist() == [1, 0, 9]
    one, two = (R.Generator.from_non_deterministic_state() for _ in range(2))
    assert not same(one.state, two.state)


def test_the_global_generator_is_shared_and_replaced() -> None:
    old = R.get_global_generator()
    assert R.get_global_generator() is old
    mine = R.Generator.from_seed(1)
    R.set_global_generator(mine)
    assert R.get_global_generator() is mine
    R.set_global_generator(old)


def test_generator_dtypes() -> None:
    generator = R.Generator.from_seed(1)
    assert generator.uniform_full_int([3]).dtype == tf.uint64
    assert generator.uniform([3], None, None, tf.int32).dtype == tf.int32
    assert generator.truncated_normal([3], dtype=tf.float64).dtype == tf.float64
    assert generator.binomial([2], 9.0, [0.2, 0.7]).dtype == tf.int32
    with pytest.raises(ValueError, match="whole numbers need both `minval` and `maxval`"):
        generator.uniform([3], dtype=tf.int32)
    with pytest.raises(InvalidArgumentError, match="`dtype` must be int32"):
        generator.uniform_full_int([3], tf.float32)


# The distributions.

COUNT = 40_000


def fits(sample: Any, distribution: Any) -> None:
    """The Kolmogorov-Smirnov test does not reject, for this fixed seed."""
    assert scipy.stats.kstest(np.asarray(sample, np.float64).ravel(), distribution).pvalue > 1e-3


def counted(sample: Any, masses: np.ndarray) -> None:
    """A chi-square test of counts of 0, 1, 2, … does not reject, for this fixed seed."""
    found = np.bincount(np.asarray(sample, np.int64).ravel(), minlength=len(masses))
    keep = masses * len(sample) > 5
    want = np.append(masses[keep], 1 - masses[keep].sum()) * len(sample)
    have = np.append(found[: len(masses)][keep], len(sample) - found[: len(masses)][keep].sum())
    if want[-1] < 5:
        want, have = want[:-1], have[:-1]
    statistic = ((have - want) ** 2 / want).sum()
    assert scipy.stats.chi2.sf(statistic, len(want) - 1) > 1e-3


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_uniform_and_normal_numbers_are_what_they_say(dtype: Any) -> None:
    fits(R.stateless_uniform([COUNT], [1, 2], -1, 3, dtype), scipy.stats.uniform(-1, 4).cdf)
    fits(R.stateless_normal([COUNT], [1, 2], 1.0, 2.0, dtype), scipy.stats.norm(1, 2).cdf)
    truncated = R.stateless_truncated_normal([COUNT], [1, 2], 0.0, 1.0, dtype)
    fits(truncated, scipy.stats.truncnorm(-2, 2).cdf)
    assert np.abs(truncated.numpy()).max() <= 2.0


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_half_precision_stays_below_one(dtype: Any) -> None:
    u = np.asarray(R.stateless_uniform([COUNT], [3, 4], dtype=dtype)).astype(np.float64)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert abs(u.mean() - 0.5) < 0.01
    z = np.asarray(R.stateless_normal([COUNT], [3, 4], dtype=dtype)).astype(np.float64)
    assert abs(z.mean()) < 0.02
    assert abs(z.std() - 1.0) < 0.02


def test_neighbours_and_pairs_are_not_correlated() -> None:
    z = R.stateless_normal([COUNT], [5, 6]).numpy()
    for lag in (1, 2, 3, 4):
        assert abs(np.corrcoef(z[:-lag], z[lag:])[0, 1]) < 0.02
    other = R.stateless_normal([COUNT], [5, 7]).numpy()
    assert abs(np.corrcoef(z, other)[0, 1]) < 0.02


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint32, tf.uint64])
def test_whole_numbers_cover_their_range_evenly(dtype: Any) -> None:
    drawn = R.stateless_uniform([COUNT], [1, 2], 3, 10, dtype)
    assert drawn.dtype == dtype
    counted(drawn.numpy().astype(np.int64) - 3, np.full(7, 1 / 7))
    full = R.stateless_uniform([COUNT], [1, 2], None, None, dtype).numpy().astype(np.float64)
    low, high = float(dtype.min), float(dtype.max)
    fits((full - low) / (high - low), "uniform")


def test_wide_ranges_do_not_overflow() -> None:
    low, high = -(2**31), 2**31 - 1
    drawn = R.stateless_uniform([1000], [1, 2], low, high, tf.int32).numpy().astype(np.int64)
    assert drawn.min() < -(2**30)
    assert drawn.max() > 2**30


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.5, 80.0])
def test_gamma_numbers_are_what_they_say(alpha: float) -> None:
    drawn = R.stateless_gamma([COUNT], [1, 2], tf.constant(alpha, tf.float64), dtype=tf.float64)
    fits(drawn, scipy.stats.gamma(alpha).cdf)
    scaled = R.stateless_gamma([COUNT], [1, 2], alpha, 4.0)
    assert abs(float(scaled.numpy().mean()) - alpha / 4) < 0.05 * (1 + alpha / 4)


@pytest.mark.parametrize("rate", [0.3, 4.0, 9.9, 10.1, 60.0])
def test_poisson_numbers_are_what_they_say(rate: float) -> None:
    drawn = R.stateless_poisson([COUNT], [1, 2], rate)
    counted(drawn.numpy(), scipy.stats.poisson.pmf(np.arange(200), rate))


@pytest.mark.parametrize(("n", "p"), [(5, 0.3), (100, 0.05), (100, 0.5), (40, 0.9), (1000, 0.97)])
def test_binomial_numbers_are_what_they_say(n: int, p: float) -> None:
    drawn = R.stateless_binomial([COUNT], [1, 2], float(n), p)
    counted(drawn.numpy(), scipy.stats.binom.pmf(np.arange(n + 1), n, p))


def test_categories_follow_their_probabilities() -> None:
    logits = np.log([[0.1, 0.2, 0.0, 0.7], [0.25, 0.25, 0.25, 0.25]], where=[True, True, False, True],
                    out=np.full((2, 4), -np.inf))  # fmt: skip
    drawn = R.stateless_categorical(logits, COUNT, [1, 2]).numpy()
    assert drawn.dtype == np.int64
    counts = np.bincount(drawn[0], minlength=4) / COUNT
    assert counts[2] == 0
    assert np.allclose(counts, [0.1, 0.2, 0.0, 0.7], atol=0.01)
    assert R.categorical([[0.0, 0.0]], 3, tf.int32).dtype == tf.int32
    assert R.categorical([[np.nan, 1.0]], 5).numpy().tolist() == [[1] * 5]


def test_shuffles_are_orders_and_all_orders_come_up() -> None:
    seen = {tuple(R.shuffle([1, 2, 3], seed=i).numpy().tolist()) for i in range(100)}
    assert len(seen) == 6
    assert sorted(R.shuffle(tf.range(1000)).numpy().tolist()) == list(range(1000))
    assert R.shuffle(7).numpy() == 7
    rows = R.shuffle([[1, 1], [2, 2], [3, 3]]).numpy()
    assert (rows[:, 0] == rows[:, 1]).all()


def test_parameters_outside_their_domain() -> None:
    assert np.isnan(R.gamma([2], -1.0).numpy()).all()
    assert (R.gamma([2], 0.0).numpy() == np.float32(1.1754944e-38)).all()
    assert R.poisson([2], -1.0).numpy().tolist() == [0.0, 0.0]
    assert np.isinf(R.poisson([2], np.inf).numpy()).all()
    assert np.isnan(R.stateless_binomial([1], [1, 2], 3.0, 1.5, tf.float32).numpy()).all()


def test_shapes_of_parameters() -> None:
    assert R.gamma([2], [1.0, 2.0], [[3.0], [4.0]]).shape == (2, 2, 2)
    assert R.poisson([3], [1.0, 2.0]).shape == (3, 2)
    assert R.poisson([3], [1.0, 2.0], tf.int32).dtype == tf.int32
    assert R.stateless_gamma([4, 2], [1, 2], [1.0, 2.0]).shape == (4, 2)
    assert R.normal([]).shape == ()
    assert R.normal(tf.constant([2, 3])).shape == (2, 3)
    assert R.normal([2, 3], [0.0, 1.0, 2.0], [[1.0], [2.0]]).shape == (2, 3)
    assert R.uniform([0, 3]).shape == (0, 3)


# Gradients.


def test_gradients_reach_location_and_scale() -> None:
    mean, deviation = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([mean, deviation])
        y = R.stateless_normal([5, 2], [1, 2], mean, deviation)
    found = tape.gradient(y, [mean, deviation])
    assert np.allclose(found[0], [5.0, 5.0])
    noise = R.stateless_normal([5, 2], [1, 2]).numpy()
    assert np.allclose(found[1], noise.sum(0), atol=1e-5)


@pytest.mark.parametrize("alpha", [0.1, 0.9, 4.0, 100.0])
def test_gamma_numbers_are_differentiable_in_alpha(alpha: float) -> None:
    a = tf.fill([2000], tf.constant(alpha, tf.float64))
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = R.stateless_gamma([2000], [1, 2], a, dtype=tf.float64)
    slope = tape.gradient(y, a).numpy()
    with jax.enable_x64(True):
        want = np.asarray(gamma_grad(a.numpy(), y.numpy()))
    assert np.allclose(slope, want, rtol=1e-5)
    # The mean of a gamma distribution is alpha, so its numbers move by 1 on average.
    assert abs(slope.mean() - 1.0) < 0.2


def test_gamma_slope_far_in_the_tails() -> None:
    a = np.array([0.5, 2.0, 2.0, 50.0, 1e4])
    x = np.array([1e-8, 1e-4, 30.0, 90.0, 1.05e4])
    with jax.enable_x64(True):
        want = np.asarray(gamma_grad(a, x))
    assert np.allclose(rejection.gamma_slope(wrap(a), wrap(x)), want, rtol=1e-4)


# Bad input.


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: R.stateless_normal([2], [1]), InvalidArgumentError,
         "stateless random: `seed` must have shape [2]; got int32[1]. Give two whole numbers."),
        (lambda: R.stateless_normal([2], [1.0, 2.0]), TypeError,
         "seed_state: dtype float32 is not supported"),
        (lambda: R.uniform([2], dtype=tf.int32), ValueError,
         "uniform: `maxval` is needed for dtype int32."),
        (lambda: R.uniform([2], 3, 3, tf.int32), InvalidArgumentError,
         "uniform: `minval` must be less than `maxval`; got 3 and 3"),
        (lambda: R.uniform([2], dtype=tf.complex64), ValueError,
         "uniform: `dtype` must be a floating type or one of int32, int64, uint32, uint64; got "
         "complex64."),
        (lambda: R.stateless_uniform([2], [1, 2], dtype=tf.int32), ValueError,
         "stateless_uniform: whole numbers need both `minval` and `maxval`"),
        (lambda: R.normal([2], dtype=tf.int32), TypeError,
         "normal: `dtype` must be float16, bfloat16, float32 or float64; got int32."),
        (lambda: R.normal([-2]), InvalidArgumentError,
         "normal: a size must not be negative; got shape [-2]"),
        (lambda: R.normal([2.0]), TypeError, "normal: `shape` must be a list of whole numbers; got [2.0]."),
        (lambda: R.normal([2, 3], [1.0, 2.0]), InvalidArgumentError, "do not broadcast"),
        (lambda: R.categorical([0.0, 0.0], 3), InvalidArgumentError,
         "categorical: `logits` must be a matrix"),
        (lambda: R.categorical(np.zeros((2, 0)), 3), InvalidArgumentError, "at least one class"),
        (lambda: R.categorical([[1, 2]], 3), InvalidArgumentError, "`logits` must be floating"),
        (lambda: R.categorical([[0.0]], -3), InvalidArgumentError, "not negative"),
        (lambda: R.stateless_gamma([2, 3], [1, 2], [1.0, 2.0]), InvalidArgumentError,
         "must end with the parameters' shape (2,)"),
        (lambda: R.set_seed("one"), TypeError, "set_seed: `seed` must be a whole number"),
        (lambda: R.stateless_uniform([2], [1, 2], alg="rot13"), ValueError,
         "`alg` must be 'philox' or 'auto_select'"),
        (lambda: R.stateless_uniform([2], [1, 2], alg="threefry"), UnimplementedError,
         "the algorithm 'threefry' is not here"),
        (lambda: R.Generator(), ValueError, "Generator: give `state` and `alg`"),
        (lambda: R.Generator.from_state([1, 2], "philox"), ValueError,
         "Generator: a state is int64[3]"),
        (lambda: R.Generator.from_seed("x"), TypeError, "Generator: a seed is a whole number"),
    ],
)  # fmt: skip
def test_bad_input_is_said_plainly(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


@pytest.fixture
def determinism():
    tf.config.experimental.enable_op_determinism()
    tf.random.set_seed(None)
    try:
        yield
    finally:
        from wengert.runtime import settings

        settings.disable_op_determinism()
        tf.random.set_seed(None)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random.normal([2]),
        lambda: tf.random.shuffle([1, 2]),
        lambda: tf.nn.dropout(tf.ones(3), 0.5),
        lambda: tf.function(lambda: tf.random.uniform([2]))(),
        lambda: list(tf.data.Dataset.range(3).shuffle(3)),
    ],
    ids=["normal", "shuffle", "dropout", "function", "dataset"],
)
def test_with_determinism_random_numbers_need_a_seed(determinism, draw):
    with pytest.raises(RuntimeError, match=r"need a seed.*Call tf.random.set_seed\(1\) first"):
        draw()
    tf.random.set_seed(1)
    draw()


def test_with_determinism_a_seed_of_its_own_is_enough(determinism):
    assert tf.random.normal([2], seed=3).shape == (2,)
    assert tf.random.stateless_normal([2], [1, 2]).shape == (2,)
    assert tf.random.Generator.from_seed(1).normal([2]).shape == (2,)
    with pytest.raises(RuntimeError, match=r"Use Generator\.from_seed"):
        tf.random.Generator.from_non_deterministic_state()


def test_a_seed_may_be_numpys_whole_floats() -> None:
    want = tf.random.stateless_uniform([3], [1, 2])
    assert (tf.random.stateless_uniform([3], np.array([1.0, 2.0])) == want).numpy().all()
