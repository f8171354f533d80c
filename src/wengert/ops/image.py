"""Moving pixels about: flips, turns, and the random changes used to enlarge a training set."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from wengert.ops.color import adjust_brightness, adjust_contrast
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    formula,
    is_open,
    is_symbolic,
    jnp,
    lax,
    must_be_fixed,
    negative,
    operand,
    require,
    static_float,
    static_int,
    static_tuple,
    tf,
    with_fallback,
    wrap,
)
from wengert.ops.resize import rank_of


def _flipped(x: Tensor, axis: int) -> Tensor:
    return tf.reverse(x, [x._array.ndim + axis])


@with_fallback
def flip_left_right(image: TensorLike) -> Tensor:
    """Mirrors images about their vertical axis."""
    x = operand(image)
    rank_of("flip_left_right", x)
    return _flipped(x, -2)


@with_fallback
def flip_up_down(image: TensorLike) -> Tensor:
    """Mirrors images about their horizontal axis."""
    x = operand(image)
    rank_of("flip_up_down", x)
    return _flipped(x, -3)


@with_fallback
def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Exchanges height and width."""
    from wengert.ops import shaping

    x = operand(image)
    return shaping.transpose(x, [1, 0, 2] if rank_of("transpose", x) == 3 else [0, 2, 1, 3])


def _infer_turn(x: ShapeDtype, k: ShapeDtype) -> ShapeDtype:
    if x.shape is None:
        return x
    *lead, height, width, depth = x.shape
    side = height if height == width else None
    return ShapeDtype((*lead, side, side, depth), x.dtype)


def _lower_turn(x: Any, k: Any) -> Any:
    axes = (x.ndim - 3, x.ndim - 2)
    if isinstance(k, np.ndarray):
        return jnp.rot90(x, int(k), axes)
    must_be_fixed(
        x.shape[-3] == x.shape[-2],
        "how often an image that is not square is turned depends on a tensor",
    )
    turns = [functools.partial(jnp.rot90, k=i, axes=axes) for i in range(4)]
    return lax.switch(k % 4, turns, x)


# `rot90` by a number of quarters that is known when a function runs.
TURN = Op(
    "turn",
    "x k",
    kernel=lambda x, k: np.rot90(x, int(k), (-3, -2)),
    infer=_infer_turn,
    lower=_lower_turn,
    grad=(lambda g, k: apply(TURN, g, -k), None),
    match=(),
    register=False,
)


@with_fallback
def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Value:
    """Turns images by `k` quarters anticlockwise."""
    x = operand(image)
    rank_of("rot90", x)
    if is_symbolic(k) and k.dtype.is_integer:
        return apply(TURN, x, k)
    turns = static_int("rot90", k, "k") % 4
    if turns == 1:
        return _flipped(transpose(x), -3)
    if turns == 2:
        return _flipped(_flipped(x, -3), -2)
    return transpose(_flipped(x, -3)) if turns == 3 else x


def _maybe_flipped(name: str, image: TensorLike, axis: int, draw: Any) -> Tensor:
    """Flips each image whose number in [0, 1) is below a half."""
    x = operand(image)
    batch = rank_of(name, x) == 4
    chance = draw([x._array.shape[0], 1, 1, 1] if batch else [])
    return tf.where(chance < 0.5, _flipped(x, axis), x)


@with_fallback
def random_flip_left_right(image: TensorLike, seed: TensorLike | None = None) -> Tensor:
    """Mirrors each image left to right with probability a half."""
    draw = lambda shape: tf.uniform(shape, seed=seed)
    return _maybe_flipped("random_flip_left_right", image, -2, draw)


@with_fallback
def random_flip_up_down(image: TensorLike, seed: Any = None) -> Tensor:
    """Mirrors each image upside down with probability a half."""
    draw = lambda shape: tf.uniform(shape, seed=seed)
    return _maybe_flipped("random_flip_up_down", image, -3, draw)


@with_fallback
def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """`random_flip_left_right` that depends on `seed` alone."""
    draw = lambda shape: tf.stateless_uniform(shape, seed)
    return _maybe_flipped("stateless_random_flip_left_right", image, -2, draw)


@with_fallback
def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """`random_flip_up_down` that depends on `seed` alone."""
    draw = lambda shape: tf.stateless_uniform(shape, seed)
    return _maybe_flipped("stateless_random_flip_up_down", image, -3, draw)


@formula
def _starts(size: int, have: int) -> int:
    """At how many places a crop can start along an axis."""
    require(
        0 <= size <= have,
        "random_crop",
        f"a size of {size} does not fit into an axis of size {have}",
    )
    return have - size + 1


def _crop(name: str, value: TensorLike, size: TensorLike, draw: Any) -> Tensor:
    x = operand(value)
    wanted = static_tuple(name, size, "size")
    have = x._array.shape
    require(
        len(wanted) == len(have)
        and all(
            not negative(n) and (is_open((n, d)) or not n > d)
            for n, d in zip(wanted, have, strict=True)
        ),
        name,
        f"`size` {list(wanted)} does not fit into the value",
        x,
    )
    starts = [_starts(n, d) for n, d in zip(wanted, have, strict=True)]
    room = operand(starts, dtypes.int32) if starts else wrap(np.zeros(0, np.int32))
    return tf.slice(x, draw(room), wanted)


@with_fallback
def random_crop(
    value: TensorLike, size: TensorLike, seed: Any = None, name: str | None = None
) -> Tensor:
    """A block of `size` from a random place of a tensor."""
    return _crop("random_crop", value, size, lambda room: tf.uniform(
        room.shape, 0, room, dtypes.int32, seed))  # fmt: skip


@with_fallback
def stateless_random_crop(
    value: TensorLike, size: TensorLike, seed: TensorLike, name: str | None = None
) -> Tensor:
    """`random_crop` that depends on `seed` alone."""
    return _crop("stateless_random_crop", value, size, lambda room: tf.stateless_uniform(
        room.shape, seed, 0, room, dtypes.int32))  # fmt: skip


def _delta(name: str, max_delta: TensorLike, limit: float | None = None) -> None:
    most = static_float(name, max_delta, "max_delta")
    require(not most < 0, name, f"`max_delta` must not be negative; got {most}", kind=ValueError)
    require(
        limit is None or not most > limit,
        name,
        f"`max_delta` must not exceed {limit}; got {most}",
        kind=ValueError,
    )


def _range(name: str, lower: TensorLike, upper: TensorLike) -> None:
    least = static_float(name, lower, "lower")
    require(
        not static_float(name, upper, "upper") <= least,
        name,
        f"`upper` {upper} must exceed `lower` {lower}",
        kind=ValueError,
    )
    require(not least < 0, name, f"`lower` must not be negative; got {lower}", kind=ValueError)


def random_brightness(image: TensorLike, max_delta: Any, seed: Any = None) -> Value:
    """Adds a random number from [-max_delta, max_delta)."""
    _delta("random_brightness", max_delta)
    return adjust_brightness(image, tf.uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: Any = None
) -> Value:
    """Changes the contrast by a random factor from [lower, upper)."""
    _range("random_contrast", lower, upper)
    return adjust_contrast(image, tf.uniform([], lower, upper, seed=seed))


def random_saturation(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: Any = None
) -> Value:
    """Changes the saturation by a random factor from [lower, upper)."""
    _range("random_saturation", lower, upper)
    return tf.adjust_saturation(image, tf.uniform([], lower, upper, seed=seed))


def random_hue(image: TensorLike, max_delta: Any, seed: Any = None) -> Value:
    """Turns the hue by a random part of a turn from [-max_delta, max_delta)."""
    _delta("random_hue", max_delta, 0.5)
    return tf.adjust_hue(image, tf.uniform([], -max_delta, max_delta, seed=seed))


def stateless_random_brightness(image: TensorLike, max_delta: Any, seed: TensorLike) -> Value:
    """`random_brightness` that depends on `seed` alone."""
    _delta("stateless_random_brightness", max_delta)
    return adjust_brightness(image, tf.stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_contrast(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike
) -> Value:
    """`random_contrast` that depends on `seed` alone."""
    _range("stateless_random_contrast", lower, upper)
    return adjust_contrast(image, tf.stateless_uniform([], seed, lower, upper))


def stateless_random_saturation(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike | None = None
) -> Value:
    """`random_saturation` that depends on `seed` alone."""
    _range("stateless_random_saturation", lower, upper)
    return tf.adjust_saturation(image, tf.stateless_uniform([], seed, lower, upper))


def stateless_random_hue(image: TensorLike, max_delta: Any, seed: TensorLike) -> Value:
    """`random_hue` that depends on `seed` alone."""
    _delta("stateless_random_hue", max_delta, 0.5)
    return tf.adjust_hue(image, tf.stateless_uniform([], seed, -max_delta, max_delta))
