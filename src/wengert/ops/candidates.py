"""Losses over many classes that look at a few of them: candidates, and what is made of them.

The candidates are drawn on the host, since how many draws it takes to find distinct ones depends
on the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.ops import philox
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    operand,
    require,
    require_dtype,
    tf,
)
from wengert.ops.seeds import next_state
from wengert.ops.sizes import at_least, fixed

_DRAWS = 256


class Candidates(NamedTuple):
    """Classes drawn at random, and how often each class was to be expected among them."""

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


def _uniforms(state: np.ndarray) -> Iterator[float]:
    """Numbers from 0 to 1, one after the other."""
    low, high, key = (int(s) for s in state)
    while True:
        counters = np.arange(low, low + _DRAWS, dtype=np.uint64)
        yield from (philox.blocks(key, counters, np.uint64(high)).reshape(-1) / 2.0**32).tolist()
        low += _DRAWS


def _draw(
    state: np.ndarray, quantile: Callable[[float, int], int], count: int, unique: bool, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    results: list[int] = []
    seen: set[int] = set()
    tries = 0
    for u in _uniforms(state):
        if len(results) == count:
            break
        tries += 1
        k = min(quantile(u, limit), limit - 1)
        if unique and k in seen:
            continue
        seen.add(k)
        results.append(k)
    return np.array(results, np.int64), np.array(tries, np.int32)


DRAW = Op(
    "draw_candidates",
    "state",
    kernel=_draw,
    infer=lambda state, quantile, count, unique, limit: (
        ShapeDtype((count,), dtypes.int64),
        ShapeDtype((), dtypes.int32),
    ),
    lower=None,
    grad=None,
    outputs=2,
    folds=False,
    register=False,
)


def _positive(name: str, what: str, value: int) -> int:
    """A number of classes; TensorFlow cuts fractions off."""
    number = int(value) if type(value) is float else fixed(name, what, value)
    require_dtype(isinstance(number, int), name, f"`{what}` must be one whole number", value)
    return at_least(name, f"`{what}`", number, 1)


def _sampled(
    name: str,
    quantile: Any,
    chance: Any,
    true: TensorLike,
    count: int,
    unique: bool,
    limit: int,
    seed: TensorLike | None,
) -> Candidates:
    count, limit = _positive(name, "num_sampled", count), _positive(name, "range_max", limit)
    require(
        not unique or count <= limit,
        name,
        f"{count} distinct classes cannot be drawn from {limit}",
        help="Draw fewer, or pass unique=False.",
    )
    state = next_state(name, seed)
    result, tries = apply(
        DRAW, state, quantile=quantile, count=count, unique=bool(unique), limit=limit
    )
    turns = tf.cast(tries, dtypes.float32)

    def expected(classes: Tensor) -> Tensor:
        p = chance(tf.cast(classes, dtypes.float32), float(limit))
        return -tf.expm1(turns * tf.log1p(-p)) if unique else p * float(count)

    return Candidates(result, expected(operand(true)), expected(result))


def _log_uniform(u: float, limit: int) -> int:
    return int(np.exp(u * np.log(limit + 1.0))) - 1


def _log_uniform_chance(k: Tensor, limit: float) -> Tensor:
    return (tf.log(k + 2.0) - tf.log(k + 1.0)) / float(np.log(limit + 1.0))


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn with chances that fall off with their numbers, as for words by frequency."""
    return _sampled(
        "log_uniform_candidate_sampler", _log_uniform, _log_uniform_chance,
        true_classes, num_sampled, unique, range_max, seed,
    )  # fmt: skip


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: Any = None,
    name: str | None = None,
) -> Candidates:
    """Classes drawn with equal chances."""
    return _sampled(
        "uniform_candidate_sampler",
        lambda u, limit: int(u * limit),
        lambda k, limit: tf.zeros_like(k) + 1.0 / limit,
        true_classes, num_sampled, unique, range_max, seed,
    )  # fmt: skip


def _logits(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    values: Any,
    num_true: int,
    remove: bool,
) -> tuple[Tensor, Tensor]:
    """Logits of the true classes and of the candidates, and the labels that belong to them."""
    x = operand(inputs)
    true = tf.cast(operand(labels), dtypes.int64)
    sampled, true_expected, sampled_expected = (tf.stop_gradient(operand(v)) for v in values)
    flat = tf.reshape(true, [-1])
    width = x.shape[-1]
    w_true = tf.reshape(tf.embedding_lookup(weights, flat), [-1, num_true, width])
    b_true = tf.reshape(tf.embedding_lookup(biases, flat), [-1, num_true])
    near = tf.reduce_sum(tf.reshape(x, [-1, 1, width]) * w_true, 2) + b_true
    far = tf.matmul(x, tf.embedding_lookup(weights, sampled), transpose_b=True)
    far = far + tf.embedding_lookup(biases, sampled)
    if remove:
        hits = tf.equal(tf.reshape(true, [-1, num_true, 1]), tf.reshape(sampled, [1, 1, -1]))
        hit = tf.reduce_sum(tf.cast(hits, x.dtype), 1) > 0.0
        far = tf.where(hit, tf.zeros_like(far) + float(x.dtype.min), far)
    near = near - tf.log(true_expected)
    far = far - tf.log(sampled_expected)
    return tf.concat([near, far], 1), tf.concat(
        [tf.ones_like(near) / float(num_true), tf.zeros_like(far)], 1
    )


def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: TensorLike | None = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: each true class against a few that were drawn."""
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes
        )
    logits, wanted = _logits(
        weights, biases, labels, inputs, sampled_values, num_true, remove_accidental_hits
    )
    return tf.reduce_sum(tf.sigmoid_cross_entropy_with_logits(wanted, logits), 1)


def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: TensorLike | None = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
    name: str | None = "sampled_softmax_loss",
) -> Tensor:
    """The cross-entropy over the true class and a few that were drawn."""
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes, seed
        )
    logits, wanted = _logits(
        weights, biases, labels, inputs, sampled_values, num_true, remove_accidental_hits
    )
    return tf.softmax_cross_entropy_with_logits(tf.stop_gradient(wanted), logits)
