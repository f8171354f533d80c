"""Dropout: elements are set to zero at random, the rest scaled up so that the mean stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.ops.declare import (
    Dim,
    ShapeLike,
    Tensor,
    TensorLike,
    Value,
    known_unequal,
    operand,
    require,
    require_dtype,
    static,
    tf,
    with_fallback,
)


def _shape(name: str, x: Any, noise_shape: Any) -> tuple[int, ...]:
    """The shape of the random numbers: `None` in `noise_shape` means the size of `x`."""
    own = x._array.shape
    if noise_shape is None:
        return own
    given = static(name, noise_shape)
    require(
        isinstance(given, tuple) and all(isinstance(n, int | Dim | None) for n in given),
        name,
        "`noise_shape` must be a list of sizes",
        noise_shape,
    )
    if len(given) == len(own):
        given = tuple([d if n is None else n for n, d in zip(given, own, strict=True)])
    require(
        len(given) == len(own)
        and all(n == 1 or not known_unequal(n, d) for n, d in zip(given, own, strict=True)),
        name,
        f"`noise_shape` {list(given)} does not broadcast to the shape of `x`",
        x,
    )
    return given


def _dropped(
    name: str,
    x: Any,
    rate: Any,
    noise_shape: list[int] | ShapeLike | None,
    draw: Callable[[Any, Any], Any],
) -> Any:
    x = operand(x)
    require_dtype(
        x.dtype.is_floating, name, "`x` must be floating, as it is scaled", x, help="Use tf.cast."
    )
    if isinstance(rate, Value):
        require_dtype(rate.dtype is x.dtype, name, "`rate` must have the dtype of `x`", rate, x)
        scaled = x / (1.0 - rate)
    else:
        require(
            isinstance(rate, int | float), name, "`rate` must be a number", rate, kind=ValueError
        )
        require(0 <= rate < 1, name, f"`rate` must lie in [0, 1); got {rate}")
        if rate == 0:
            return x
        scaled = x * (1 / (1 - rate))
    keep = draw(_shape(name, x, noise_shape), x.dtype) >= rate
    return tf.where(keep, scaled, 0.0)


@with_fallback
def dropout(
    x: TensorLike,
    rate: TensorLike,
    noise_shape: ShapeLike = None,
    seed: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Sets elements to zero with probability `rate` and scales the others by 1 / (1 - rate).

    Args:
        x: a tensor of floating-point numbers.
        rate: the probability, from 0 to below 1.
        noise_shape: the shape of the choice, which broadcasts: size 1 drops a whole axis together.
        seed: a seed of this operation.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: the rate is outside, or the dtype is another.

    >>> x = tf.nn.dropout(tf.ones([1000]), rate=0.5, seed=1)
    >>> sorted({*x.numpy().tolist()})
    [0.0, 2.0]
    """
    return _dropped(
        "dropout",
        x,
        rate,
        noise_shape,
        lambda shape, kind: tf.uniform(shape, dtype=kind, seed=seed),
    )


@with_fallback
def stateless_dropout(
    x: TensorLike, rate: TensorLike, seed: TensorLike, rng_alg: str = "auto_select", noise_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`dropout` that depends on `seed` alone."""
    alg = "auto_select" if rng_alg is None else rng_alg
    return _dropped(
        "stateless_dropout", x, rate, noise_shape,
        lambda shape, kind: tf.stateless_uniform(shape, seed, dtype=kind, alg=alg),
    )  # fmt: skip
