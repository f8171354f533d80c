"""Random tensors: the public functions, with a global or own seed, and stateless ones.

The numbers are Wengert's own: the same seed gives the same numbers in every run and on every
engine, but not those of TensorFlow.
"""

from __future__ import annotations

import enum
from typing import Any

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dims import broadcast, known_unequal, opened
from wengert.core.dtypes import DType, as_dtype
from wengert.core.errors import (
    UnimplementedError,
    at_site,
    describe,
    require,
    require_dtype,
)
from wengert.core.types import DTypeLike, ShapeLike, Tensor, TensorLike, TensorShape
from wengert.ops import distributions, rejection
from wengert.ops import public as tf
from wengert.ops.declare import static, static_int
from wengert.ops.seeds import next_state, seed_state
from wengert.ops.sizes import static_shape as sizes

_INTEGERS = ("int32", "int64", "uint32", "uint64")


class Algorithm(enum.Enum):
    """Generators that TensorFlow names; Wengert has Philox, which is also what `auto` means."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def check_algorithm(alg: int | str) -> int:
    """The number of an algorithm, which must be Philox."""
    names = {"philox": 1, "threefry": 2, "auto_select": 3}
    if isinstance(alg, Algorithm):
        number = alg.value
    elif isinstance(alg, str):
        number = names.get(alg, 0)
    else:
        number = static("random", alg)
    require(
        number in names.values(),
        "random",
        "`alg` must be 'philox' or 'auto_select'",
        alg,
        kind=ValueError,
    )
    require(
        number != Algorithm.THREEFRY.value,
        "random",
        "the algorithm 'threefry' is not here",
        kind=UnimplementedError,
        help="Use 'philox', which gives the same numbers on every engine.",
    )
    return 1


def float_dtype(name: str, dtype: DTypeLike) -> DType:
    """A floating dtype, or an error that says which are allowed."""
    result = as_dtype(dtype)
    require(
        result.kind == "f",
        name,
        f"`dtype` must be float16, bfloat16, float32 or float64; got {result.name}",
        kind=TypeError,
    )
    return result


def _is(value: TensorLike, number: float) -> bool:
    return type(value) in (int, float) and value == number


def scaled(noise: Tensor, mean: TensorLike, stddev: TensorLike) -> Tensor:
    """`noise * stddev + mean`, without work for the standard values."""
    dtype = noise.dtype
    if not _is(stddev, 1):
        noise = noise * operand(stddev, dtype)
    return noise if _is(mean, 0) else noise + operand(mean, dtype)


def between(
    name: str,
    state: Any,
    shape: tuple[int, ...],
    minval: Any,
    maxval: TensorLike | None,
    dtype: DTypeLike,
) -> Tensor:
    """Uniform numbers of a state in [minval, maxval), floating or whole."""
    kind = as_dtype(dtype)
    if kind.kind == "f":
        noise = distributions.fraction(state, shape, kind)
        high = 1 if maxval is None else maxval
        if _is(minval, 0):
            return noise if _is(high, 1) else noise * operand(high, kind)
        low, high = operand(minval, kind), operand(high, kind)
        return noise * (high - low) + low
    require(
        kind.name in _INTEGERS,
        name,
        f"`dtype` must be a floating type or one of {', '.join(_INTEGERS)}; got {kind.name}",
        kind=ValueError,
    )
    if minval is None and maxval is None:
        return distributions.random_bits(state, shape, kind)
    if minval is None or maxval is None:
        raise at_site(
            ValueError(
                f"{name}: whole numbers need both `minval` and `maxval` (or neither, for all of "
                f"them); got minval={describe(minval)} and maxval={describe(maxval)}."
            )
        )
    return distributions.integers(state, operand(minval, kind), operand(maxval, kind), shape)


def uniform(
    shape: Any, minval: TensorLike = 0, maxval: TensorLike | None = None, dtype: DTypeLike = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Uniform numbers in [minval, maxval); whole ones need `maxval`.

    Args:
        shape: the sizes.
        minval, maxval: the bounds; the upper one does not occur.
        dtype: a dtype of floating-point or whole numbers.
        seed: a seed of this operation; see `tf.random.set_seed`.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        ValueError: `maxval` is missing for whole numbers.
        InvalidArgumentError: `minval` is not below `maxval` for whole numbers.

    >>> dice = tf.random.uniform([100], 1, 7, dtype=tf.int32, seed=1)
    >>> int(tf.reduce_min(dice)) >= 1 and int(tf.reduce_max(dice)) <= 6
    True
    """
    kind = as_dtype(dtype)
    require(
        not kind.is_integer or maxval is not None,
        "uniform",
        f"`maxval` is needed for dtype {kind.name}",
        kind=ValueError,
    )
    state = next_state("uniform", seed)
    return between("uniform", state, sizes("uniform", shape), minval, maxval, kind)


def normal(
    shape: Any, mean: TensorLike = 0.0, stddev: Any = 1.0, dtype: DTypeLike = dtypes.float32, seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers; gradients reach `mean` and `stddev`.

    Args:
        shape: the sizes.
        mean, stddev: numbers, or tensors that broadcast to the shape.
        dtype: a floating-point dtype.
        seed: a seed of this operation; see `tf.random.set_seed`.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: a size is negative.

    >>> tf.random.normal([2, 3], stddev=0.1, seed=1).shape
    TensorShape([2, 3])
    """
    kind = float_dtype("normal", dtype)
    noise = distributions.standard_normal(next_state("normal", seed), sizes("normal", shape), kind)
    return scaled(noise, mean, stddev)


def truncated_normal(
    shape: Any, mean: TensorLike = 0.0, stddev: Any = 1.0, dtype: DTypeLike = dtypes.float32, seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers, none further than two deviations from the mean."""
    kind = float_dtype("truncated_normal", dtype)
    state = next_state("truncated_normal", seed)
    noise = distributions.standard_truncated(state, sizes("truncated_normal", shape), kind)
    return scaled(noise, mean, stddev)


def shuffled(value: TensorLike, state: Tensor) -> Any:
    """The rows of a tensor in the order that a state gives; a scalar stays."""
    from wengert.ops.gather import GATHER

    x = operand(value)
    if not x._array.ndim:
        return tf.identity(x)
    order = distributions.permutation(state, x._array.shape[0])
    return apply(GATHER, x, order, axis=0, batch_dims=0)


def shuffle(value: TensorLike, seed: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The rows of a tensor in random order; gradients follow the rows.

    Args:
        value: a tensor.
        seed: a seed of this operation; see `tf.random.set_seed`.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: `value` does not become a tensor.

    >>> sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    return shuffled(value, next_state("shuffle", seed))


def chosen(
    logits: Any, state: Tensor, num_samples: TensorLike, dtype: DType | DTypeLike | None
) -> Tensor:
    """Class numbers of a state."""
    logits = operand(logits)
    require(
        logits.dtype.kind == "f",
        "categorical",
        "`logits` must be floating",
        logits,
        help="Cast them.",
    )
    kind = as_dtype(dtype or dtypes.int64)
    require_dtype(
        kind in (dtypes.int32, dtypes.int64),
        "categorical",
        f"`dtype` must be int32 or int64; got {kind.name}",
    )
    count = static_int("categorical", num_samples, "num_samples")
    return distributions.classes(logits, state, count, kind)


def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws `num_samples` classes for each row of unnormalised log-probabilities.

    Args:
        logits: log-probabilities `[batch, classes]`.
        num_samples: how many to draw.
        dtype: int64 by default, or int32.
        seed: a seed of this operation; see `tf.random.set_seed`.
        name: without effect.

    Returns:
        A tensor `[batch, num_samples]`.

    Raises:
        InvalidArgumentError: the rank is not 2, or there is no class.

    >>> tf.random.categorical([[0.0, -1e9]], num_samples=3).numpy().tolist()
    [[0, 0, 0]]
    """
    return chosen(logits, next_state("categorical", seed), num_samples, dtype)


def gamma_of(
    alpha: TensorLike, beta: TensorLike | None, shape: tuple[int, ...], state: Tensor
) -> Tensor:
    """Gamma numbers of a state."""
    result = rejection.standard_gamma(tf.broadcast_to(alpha, shape), state)
    return result if beta is None else result / beta


def gamma(
    shape: Any, alpha: TensorLike, beta: Any = None, dtype: DTypeLike = dtypes.float32, seed: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Gamma numbers of shape `alpha` and rate `beta`; `shape` is put before the parameters'.

    Differentiable with respect to both parameters. NaN where `alpha` is negative.
    """
    kind = float_dtype("gamma", dtype)
    alpha = operand(alpha, kind)
    beta = None if beta is None else operand(beta, kind)
    full = sizes("gamma", shape) + _joint("gamma", alpha, beta)
    return gamma_of(alpha, beta, full, next_state("gamma", seed))


def _joint(name: str, *parameters: Any) -> tuple[Any, ...]:
    return broadcast(name, *[p._array.shape for p in parameters if p is not None])


def _count_dtype(name: str, dtype: DType | DTypeLike) -> DType:
    """A dtype that holds counts: floating, int32 or int64."""
    kind = as_dtype(dtype)
    require_dtype(
        kind.is_floating or kind in (dtypes.int32, dtypes.int64),
        name,
        f"`dtype` must be floating, int32 or int64; got {kind.name}",
    )
    return kind


def poisson(
    shape: ShapeLike,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Poisson numbers of rate `lam`; `shape` is put before the shape of `lam`."""
    rate = operand(lam, None, dtypes.float32)
    full = sizes("poisson", shape) + rate._array.shape
    kind = _count_dtype("poisson", dtype)
    state = next_state("poisson", seed)
    return rejection.standard_poisson(tf.broadcast_to(rate, full), state, kind)


# The stateless functions: the same numbers for the same seed, always.


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: TensorLike | None = None, dtype: DTypeLike = dtypes.float32,
    name: Any = None, alg: str = "auto_select",
) -> Tensor:  # fmt: skip
    """Uniform numbers that depend on `seed` alone; whole ones over all bits without limits."""
    check_algorithm(alg)
    full = sizes("stateless_uniform", shape)
    return between("stateless_uniform", seed_state(seed), full, minval, maxval, dtype)


def stateless_normal(
    shape: Any, seed: TensorLike, mean: TensorLike = 0.0, stddev: Any = 1.0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None, alg: str = "auto_select",
) -> Tensor:  # fmt: skip
    """Normal numbers that depend on `seed` alone."""
    check_algorithm(alg)
    kind = float_dtype("stateless_normal", dtype)
    full = sizes("stateless_normal", shape)
    return scaled(distributions.standard_normal(seed_state(seed), full, kind), mean, stddev)


def stateless_truncated_normal(
    shape: Any, seed: TensorLike, mean: TensorLike = 0.0, stddev: Any = 1.0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None, alg: str = "auto_select",
) -> Tensor:  # fmt: skip
    """Normal numbers within two deviations that depend on `seed` alone."""
    check_algorithm(alg)
    kind = float_dtype("stateless_truncated_normal", dtype)
    full = sizes("stateless_truncated_normal", shape)
    return scaled(distributions.standard_truncated(seed_state(seed), full, kind), mean, stddev)


def stateless_parameterized_truncated_normal(
    shape: Any, seed: TensorLike, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0,
    maxvals: Any = 2.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers between limits of their own, that depend on `seed` and these alone.

    `shape` is the whole shape; the parameters broadcast to it.
    """
    from wengert.ops.special import erfc, ndtri

    title = "stateless_parameterized_truncated_normal"
    mean = operand(means, None, dtypes.float32)
    kind = float_dtype(title, mean.dtype)
    deviation, low, high = (operand(x, kind) for x in (stddevs, minvals, maxvals))
    full = _whole_shape(title, shape, mean, deviation, low, high)
    low, high = (low - mean) / deviation, (high - mean) / deviation
    # Of both tails the lower one is exact, so what lies right of the mean is drawn on the left.
    right = low + high > 0.0
    left, end = tf.where(right, -high, low), tf.where(right, -low, high)
    below, above = (0.5 * erfc(-x * 0.5**0.5) for x in (left, end))
    share = distributions.fraction(seed_state(seed), full, kind)
    drawn = tf.clip_by_value(ndtri(below + share * (above - below)), left, end)
    return tf.where(right, -drawn, drawn) * deviation + mean


def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Classes that depend on `seed` and `logits` alone."""
    return chosen(logits, seed_state(seed), num_samples, dtype)


def _whole_shape(name: str, shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The full shape of a result, which must end with the parameters' joint shape."""
    full = sizes(name, shape)
    joint = _joint(name, *parameters)
    require(
        not known_unequal(full[len(full) - len(joint) :], joint),
        name,
        lambda: (
            f"`shape` {list(full)} must end with the parameters' shape {TensorShape(opened(joint))}"
        ),
    )
    return full


def stateless_gamma(
    shape: ShapeLike, seed: TensorLike, alpha: TensorLike, beta: TensorLike | None = None, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Gamma numbers that depend on `seed` and the parameters alone; `shape` is the whole shape."""
    kind = float_dtype("stateless_gamma", dtype)
    alpha = operand(alpha, kind)
    beta = None if beta is None else operand(beta, kind)
    full = _whole_shape("stateless_gamma", shape, alpha, beta)
    return gamma_of(alpha, beta, full, seed_state(seed))


def stateless_poisson(
    shape: ShapeLike,
    seed: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Poisson numbers that depend on `seed` and `lam` alone; `shape` is the whole shape."""
    rate = operand(lam, None, dtypes.float32)
    full = _whole_shape("stateless_poisson", shape, rate)
    kind = _count_dtype("stateless_poisson", dtype)
    return rejection.standard_poisson(tf.broadcast_to(rate, full), seed_state(seed), kind)


def successes(
    name: str, shape: ShapeLike, state: TensorLike, counts: TensorLike, probs: Any, dtype: DTypeLike
) -> Tensor:
    """Binomial numbers of a state."""
    probs = operand(probs, None, dtypes.float32)
    counts = operand(counts, None, probs.dtype)
    full = _whole_shape(name, shape, counts, probs)
    return rejection.standard_binomial(
        tf.broadcast_to(counts, full), tf.broadcast_to(probs, full), state, as_dtype(dtype)
    )


def stateless_binomial(
    shape: ShapeLike, seed: TensorLike, counts: TensorLike, probs: TensorLike, output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Binomial numbers that depend on `seed` and the parameters alone."""
    state = seed_state(seed)
    return successes("stateless_binomial", shape, state, counts, probs, output_dtype)


def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: str = "auto_select", name: str | None = None
) -> Tensor:
    """The rows of a tensor in an order that depends on `seed` alone."""
    check_algorithm(alg)
    return shuffled(value, seed_state(seed))


def split(seed: Any, num: Any = 2, alg: str = "auto_select") -> Any:
    """`num` seeds, each as good as new, from one."""
    check_algorithm(alg)
    seed = operand(seed)
    count = static_int("split", num, "num")
    return distributions.random_bits(seed_state(seed), sizes("split", (count, 2)), seed.dtype)


def fold_in(seed: TensorLike, data: Any, alg: str = "auto_select") -> Tensor:
    """A seed made from a seed and a whole number, such as the number of a step."""
    check_algorithm(alg)
    data = operand(data)
    require_dtype(data.dtype.is_integer, "fold_in", "`data` must be a whole number", data)
    fresh = distributions.random_bits(seed_state(seed), (1,), data.dtype)
    return tf.concat([tf.cast(fresh, data.dtype), tf.reshape(data, (1,))], 0)
