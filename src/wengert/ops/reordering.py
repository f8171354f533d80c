"""Changing the order of elements along axes: reverse, reverse_sequence, roll."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.graph import known_elements
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    at_site,
    dtypes,
    fail_if,
    integer_operand,
    is_open,
    lax,
    operand,
    require,
    require_dtype,
    shapes,
    static,
    static_int,
    static_tuple,
    with_fallback,
)

REVERSE = Op(
    "reverse",
    "x",
    kernel=lambda x, axis: x[
        tuple([slice(None, None, -1 if i in axis else 1) for i in range(x.ndim)])
    ],
    infer=lambda x, axis: x,
    lower=lambda x, axis: lax.rev(x, axis),
    grad=lambda g, axis: apply(REVERSE, g, axis=axis),
    contents=known_elements.by_kernel,
)


@with_fallback
def reverse(tensor: TensorLike, axis: Any, name: str | None = None) -> Tensor:
    """Turns the order of elements along the axes in the list `axis` around.

    Args:
        tensor: a tensor.
        axis: a list of axes.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: an axis is out of range, or stands twice.

    >>> tf.reverse([1, 2, 3], [0]).numpy().tolist()
    [3, 2, 1]
    """
    x = operand(tensor)
    require(
        not isinstance(static("reverse", axis), int),
        "reverse",
        lambda: f"`axis` must be a list of axes; got {axis!r}",
    )
    wanted = static_tuple("reverse", axis, "axis")
    axes = shapes.axes("reverse", wanted, x._array.ndim)
    require(
        len(set(axes)) == len(axes), "reverse", f"`axis` names an axis twice; got {list(wanted)}", x
    )
    return apply(REVERSE, x, axis=axes)


def _places(n: int, lengths: np.ndarray, where: Any) -> np.ndarray:
    """For each batch the positions to take: backwards up to its length, then as they are."""
    steps = np.arange(n)
    return where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)


def _reverse_sequence_kernel(
    x: np.ndarray, lengths: np.ndarray, seq_axis: int, batch_axis: int
) -> np.ndarray:
    n = x.shape[seq_axis]
    require(
        lengths.shape == (x.shape[batch_axis],)
        and (not lengths.size or (lengths.min() >= 0 and lengths.max() <= n)),
        "reverse_sequence",
        lambda: (
            f"`seq_lengths` must be {x.shape[batch_axis]} numbers from 0 to {n}; got "
            f"{lengths.tolist()}"
        ),
    )
    places = _places(n, lengths.astype(np.intp), np.where)
    moved = np.moveaxis(x, (batch_axis, seq_axis), (0, 1))
    out = moved[np.arange(len(lengths))[:, None], places]
    return np.moveaxis(out, (0, 1), (batch_axis, seq_axis))


def _infer_reverse_sequence(
    x: ShapeDtype, lengths: ShapeDtype, seq_axis: int, batch_axis: int
) -> ShapeDtype:
    if x.shape is None:
        return x
    require(
        shapes.compatible(lengths.shape, (x.shape[batch_axis],)),
        "reverse_sequence",
        "one length per batch is needed",
        x,
        lengths,
    )
    rows: Any = shapes.merge((x.shape[batch_axis],), lengths.shape)
    return ShapeDtype((*x.shape[:batch_axis], *rows, *x.shape[batch_axis + 1 :]), x.dtype)


def _lower_reverse_sequence(
    x: JaxArray, lengths: JaxArray, seq_axis: int, batch_axis: int
) -> JaxArray:
    order = [batch_axis, seq_axis, *(k for k in range(x.ndim) if k not in (batch_axis, seq_axis))]
    moved = lax.transpose(x, order)
    b, n = moved.shape[:2]
    given = lengths
    fail_if(lambda: (given < 0) | (given > n))
    lengths = lax.broadcast_in_dim(lengths, (b, n), (0,))
    steps = lax.broadcasted_iota(lengths.dtype, (b, n), 1)
    places = lax.select(
        lax.lt(steps, lengths), lax.sub(lax.sub(lengths, lax.full_like(lengths, 1)), steps), steps
    )
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(2, x.ndim)),
        collapsed_slice_dims=(1,),
        start_index_map=(1,),
        operand_batching_dims=(0,),
        start_indices_batching_dims=(0,),
    )
    sizes = (1, 1, *moved.shape[2:])
    out = lax.gather(moved, lax.expand_dims(places, (2,)), numbers, sizes, mode="clip")
    return lax.transpose(out, [int(k) for k in np.argsort(order)])


REVERSE_SEQUENCE = Op(
    "reverse_sequence",
    "x lengths",
    kernel=_reverse_sequence_kernel,
    infer=_infer_reverse_sequence,
    lower=_lower_reverse_sequence,
    grad=(
        lambda g, lengths, seq_axis, batch_axis: apply(
            REVERSE_SEQUENCE, g, lengths, seq_axis=seq_axis, batch_axis=batch_axis
        ),
        None,
    ),
    match=(),
)


@with_fallback
def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: TensorLike | None = None,
    batch_axis: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Reverses the first `seq_lengths[i]` elements of row i along `seq_axis`; the rest stays."""
    x, lengths = operand(input), integer_operand(seq_lengths)
    if seq_axis is None:
        raise at_site(TypeError("reverse_sequence: give `seq_axis`, the axis to reverse."))
    require_dtype(
        lengths.dtype.is_integer, "reverse_sequence", "`seq_lengths` must be whole numbers", lengths
    )
    rank = x._array.ndim
    seq = shapes.check_axis(
        "reverse_sequence", static_int("reverse_sequence", seq_axis, "seq_axis"), rank
    )
    batch = shapes.check_axis(
        "reverse_sequence",
        static_int("reverse_sequence", batch_axis, "batch_axis", 0),
        rank,
    )
    require(seq != batch, "reverse_sequence", f"`seq_axis` and `batch_axis` are both {seq}", x)
    return apply(REVERSE_SEQUENCE, x, lengths, seq_axis=seq, batch_axis=batch)


def _lower_roll(x: JaxArray, shift: tuple[int, ...], axis: tuple[int, ...]) -> JaxArray:
    for s, a in zip(shift, axis, strict=True):
        n = x.shape[a]
        if n and s % n:
            cut = n - s % n
            parts = lax.slice_in_dim(x, cut, n, axis=a), lax.slice_in_dim(x, 0, cut, axis=a)
            x = lax.concatenate(parts, a)
    return x


ROLL = Op(
    "roll",
    "x",
    kernel=lambda x, shift, axis: np.roll(x, shift, axis),
    infer=lambda x, shift, axis: x,
    lower=_lower_roll,
    grad=lambda g, shift, axis: apply(ROLL, g, shift=tuple(-s for s in shift), axis=axis),
    accepts=dtypes.ANY,
)


def _lower_roll_by(x: JaxArray, shift: JaxArray, axis: tuple[int, ...]) -> JaxArray:
    for s, a in zip(lax.reshape(shift, (len(axis),)), axis, strict=True):
        n = shift.dtype.type(x.shape[a])
        if n:
            start = lax.rem(lax.rem(-s, n) + n, n)
            x = lax.dynamic_slice_in_dim(lax.concatenate([x, x], a), start, x.shape[a], a)
    return x


# `roll` by numbers that only the running function knows.
ROLL_BY = Op(
    "roll_by",
    "x shift",
    kernel=lambda x, shift, axis: np.roll(x, tuple(shift.ravel().tolist()), axis),
    infer=lambda x, shift, axis: x,
    lower=_lower_roll_by,
    grad=(lambda g, shift, axis: apply(ROLL_BY, g, -shift, axis=axis), None),
    match=(),
    register=False,
)


@with_fallback
def roll(input: TensorLike, shift: TensorLike, axis: Any, name: str | None = None) -> Tensor:
    """Moves elements along axes by `shift` places; what falls off one end enters at the other.

    Args:
        input: a tensor of rank 1 or more.
        shift: a whole number, or one for each of `axis`; towards the end where it is positive.
        axis: an axis, or a list of them.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: `axis` is out of range, or there are more or fewer shifts than
            axes.

    >>> tf.roll([1, 2, 3], 1, 0).numpy().tolist()
    [3, 1, 2]
    """
    x = operand(input)
    shifts, wanted = static_tuple("roll", shift, "shift"), static_tuple("roll", axis, "axis")
    require(
        len(shifts) == len(wanted),
        "roll",
        f"`shift` and `axis` must be equally long; got {len(shifts)} and {len(wanted)}",
    )
    axes = shapes.axes("roll", wanted, x._array.ndim)
    if not axes:
        return apply(ROLL, x, shift=(0,), axis=(0,)) if x._array.ndim else x
    if is_open(shifts):
        return apply(ROLL_BY, x, operand(shift), axis=axes)
    return apply(ROLL, x, shift=shifts, axis=axes)
