"""Padding with a constant or with the tensor's own mirror image."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    apply,
    at_site,
    dtypes,
    fallback,
    invalid,
    invalid_dtype,
    is_dynamic,
    lax,
    must_fit,
    negative,
    operand,
    remedy_for_none,
    require,
    static,
    tf,
    with_length,
)
from wengert.ops.slicing import marked
from wengert.ops.strides import STRIDED_SLICE

Paddings = tuple[tuple[Any, Any], ...]


def _infer_pad(
    x: ShapeDtype, paddings: tuple[tuple[int | None, ...], ...], value: bool | float | None = None
) -> ShapeDtype:
    _check_paddings(paddings)
    return _padded(x, paddings)


def _padded(x: ShapeDtype, paddings: tuple[tuple[int | None, ...], ...]) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype((None,) * len(paddings), x.dtype)
    require(
        len(x.shape) == len(paddings),
        "pad",
        f"{len(paddings)} pairs of `paddings` do not fit rank {len(x.shape)}",
        x,
    )
    return ShapeDtype(
        tuple(
            None if None in (d, a, b) else d + a + b  # type: ignore[operator]  # no size is None
            for d, (a, b) in zip(x.shape, paddings, strict=True)
        ),
        x.dtype,
    )


def _check_paddings(paddings: tuple[tuple[int | None, ...], ...]) -> None:
    require(
        all(not isinstance(n, int) or n >= 0 for pair in paddings for n in pair),
        "pad",
        lambda: f"`paddings` must be pairs of sizes from 0 on; got {paddings!r}",
    )


def _pad_kernel(
    x: np.ndarray, paddings: tuple[tuple[int, ...], ...], value: bool | bytes | float
) -> np.ndarray:
    _check_paddings(paddings)
    shape = tuple([d + a + b for d, (a, b) in zip(x.shape, paddings, strict=True)])
    out = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
    if value == b"":
        out[...] = value
    out[tuple([slice(a, a + d) for d, (a, _) in zip(x.shape, paddings, strict=True)])] = x
    return out


def _pad_grad(
    g: Tensor, x_shape: tuple[int | Dim, ...], paddings: tuple[tuple[int | Dim, ...], ...]
) -> Tensor:
    index = tuple(marked(a, a + d, None) for d, (a, _) in zip(x_shape, paddings, strict=True))
    return apply(STRIDED_SLICE, g, index=index)


PAD = Op(
    "pad",
    "x",
    kernel=_pad_kernel,
    infer=_infer_pad,
    lower=lambda x, paddings, value: lax.pad(
        x, x.dtype.type(value), [(a, b, 0) for a, b in paddings]
    ),
    grad=_pad_grad,
)


def _edges(size: int, before: int, after: int, skip: int) -> tuple[slice, slice]:
    """The parts of an axis that are mirrored before and after it; `skip` leaves out the edge."""
    stop = size - skip - after - 1
    return (
        slice(before + skip - 1, skip - 1 if skip else None, -1),
        slice(size - skip - 1, None if stop < 0 else stop, -1),
    )


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, part)


def _mirror_kernel(x: np.ndarray, paddings: tuple[tuple[int, ...], ...], skip: int) -> np.ndarray:
    _check_paddings(paddings)
    for axis, (before, after) in enumerate(paddings):
        size = x.shape[axis]
        must_fit(max(before, after) <= size - skip)
        if before or after:
            first, last = _edges(size, before, after, skip)
            parts = [x[_along(axis, first)]] * bool(before) + [x]
            x = np.concatenate([*parts, *[x[_along(axis, last)]] * bool(after)], axis)
    return x


def _infer_mirror(x: ShapeDtype, paddings: tuple[tuple[int, ...], ...], skip: int) -> ShapeDtype:
    out = _infer_pad(x, paddings)
    for axis, (d, pair) in enumerate(zip(x.shape or (), paddings, strict=False)):
        if d is not None and any(n is not None and n > d - skip for n in pair):
            mode, most = ("REFLECT", "less than") if skip else ("SYMMETRIC", "at most")
            raise invalid(
                "pad",
                f"padding {list(pair)} of axis {axis} must be {most} its size {d} in mode {mode}",
                x,
            )
    return out


def _lower_mirror(x: JaxArray, paddings: tuple[tuple[int, ...], ...], skip: int) -> JaxArray:
    for axis, (before, after) in enumerate(paddings):
        size = x.shape[axis]
        first = lax.slice_in_dim(x, skip, skip + before, axis=axis)
        last = lax.slice_in_dim(x, size - skip - after, size - skip, axis=axis)
        x = lax.concatenate([lax.rev(first, (axis,)), x, lax.rev(last, (axis,))], axis)
    return x


def _mirror_grad_kernel(
    g: np.ndarray, paddings: tuple[tuple[int, ...], ...], skip: int
) -> np.ndarray:
    for axis, (before, after) in enumerate(paddings):
        if not before and not after:
            continue
        size = g.shape[axis] - before - after
        out = g[_along(axis, slice(before, before + size))].copy()
        first, last = _edges(size, before, after, skip)
        if before:
            out[_along(axis, first)] += g[_along(axis, slice(0, before))]
        if after:
            out[_along(axis, last)] += g[_along(axis, slice(before + size, None))]
        g = out
    return g


def _lower_mirror_grad(g: JaxArray, paddings: tuple[tuple[int, ...], ...], skip: int) -> JaxArray:
    for axis, (before, after) in enumerate(paddings):
        size = g.shape[axis] - before - after
        out = lax.slice_in_dim(g, before, before + size, axis=axis)
        first = lax.rev(lax.slice_in_dim(g, 0, before, axis=axis), (axis,))
        last = lax.rev(lax.slice_in_dim(g, before + size, g.shape[axis], axis=axis), (axis,))
        zero = g.dtype.type(0)
        around = [[(0, 0, 0)] * g.ndim for _ in range(2)]
        around[0][axis] = (skip, size - skip - before, 0)
        around[1][axis] = (size - skip - after, skip, 0)
        g = lax.add(out, lax.add(lax.pad(first, zero, around[0]), lax.pad(last, zero, around[1])))
    return g


def _minus(n: int | None) -> int | None:
    return None if n is None else -n


MIRROR_PAD = Op(
    "mirror_pad",
    "x",
    kernel=_mirror_kernel,
    infer=_infer_mirror,
    lower=_lower_mirror,
    grad=lambda g, paddings, skip: apply(MIRROR_PAD_GRAD, g, paddings=paddings, skip=skip),
)

MIRROR_PAD_GRAD = Op(
    "mirror_pad_grad",
    "g",
    kernel=_mirror_grad_kernel,
    infer=lambda g, paddings, skip: _padded(g, tuple((_minus(a), _minus(b)) for a, b in paddings)),
    lower=_lower_mirror_grad,
    grad=lambda h, paddings, skip: apply(MIRROR_PAD, h, paddings=paddings, skip=skip),
    accepts=dtypes.NUMERIC,
)


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """Puts `paddings[i][0]` elements before and `paddings[i][1]` after axis i.

    `mode` says what they are: CONSTANT (`constant_values`), REFLECT (the mirror image without the
    edge) or SYMMETRIC (with it).

    Args:
        tensor: a tensor.
        paddings: whole numbers `[rank, 2]`.
        mode: "CONSTANT", "REFLECT" or "SYMMETRIC".
        constant_values: what CONSTANT puts there.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        ValueError: the mode is none of these.
        InvalidArgumentError: a padding is negative, or larger than what is mirrored.

    >>> tf.pad([[1, 2]], [[0, 1], [1, 0]]).numpy().tolist()
    [[0, 1, 2], [0, 0, 0]]
    """
    try:
        x = operand(tensor)
        pairs = static("pad", with_length(paddings, x._array.ndim, 2))
        if not isinstance(pairs, tuple) or any(
            not isinstance(p, tuple) or len(p) != 2 or any(map(negative, p)) for p in pairs
        ):
            raise invalid("pad", f"`paddings` must be pairs of sizes from 0 on; got {paddings!r}")
        if any(n is None for p in pairs for n in p):
            rule = "`paddings` must be whole numbers"
            raise invalid_dtype("pad", rule, paddings, help=remedy_for_none(paddings))
        kind = mode.upper() if isinstance(mode, str) else mode
        if kind == "CONSTANT":
            if is_dynamic(constant_values):
                return _pad_with(x, pairs, operand(constant_values, x.dtype))
            return apply(PAD, x, paddings=pairs, value=_constant(x, constant_values))
        if kind not in ("REFLECT", "SYMMETRIC"):
            raise at_site(
                ValueError(f"pad: `mode` must be CONSTANT, REFLECT or SYMMETRIC; got {mode!r}.")
            )
        return apply(MIRROR_PAD, x, paddings=pairs, skip=int(kind == "REFLECT"))
    except Exception as error:
        return fallback(pad, error, (tensor, paddings, mode, constant_values))


def _pad_with(
    x: SymbolicTensor, paddings: tuple[tuple[int, ...], ...], value: SymbolicTensor
) -> Tensor:
    """Padding with a value that only the running function knows."""
    inside = apply(PAD, tf.ones_like(x, dtypes.bool_), paddings=paddings, value=False)
    padded = apply(PAD, x, paddings=paddings, value=_constant(x, 0))
    return tf.where(inside, padded, tf.stop_gradient(value))


def _constant(x: Tensor, value: TensorLike) -> bool | bytes | float:
    """The padding as a plain Python number of the tensor's kind."""
    if type(value) is int and value == 0:
        return b"" if x.dtype is dtypes.string else False if x.dtype.is_bool else 0
    return operand(value, x.dtype)._array.reshape(()).item()
