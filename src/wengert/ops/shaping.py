"""Moving elements without changing them: identity, reshape, transpose, broadcasting."""

from __future__ import annotations

import functools
import math
import os
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core.errors import shown_bytes
from wengert.core.padded_stacks import Padded, RowCount, rows_unknown, spread_rows
from wengert.core.types import Unranked
from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    Dim,
    IndexedSlices,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    TensorShape,
    Value,
    apply,
    dtypes,
    expand,
    fallback,
    has_unknown_length,
    in_float32,
    invalid,
    is_open,
    lax,
    lower_in_float32,
    must_be_fixed,
    negative,
    operand,
    require,
    shapes,
    static_tuple,
    tf,
    unary,
)
from wengert.ops.fast_reductions import combine, fold, sum_rows
from wengert.ops.sizes import listed

IDENTITY = unary(
    "identity",
    lambda x: x,
    lambda x: x,
    grad=lambda g: g,
    accepts=dtypes.ANY,
    rows=True,
    hazards=TAME,
    moves=True,
    harmless=True,
    unchanged=lambda x: True,
    contents=known_elements.same,
    on_sparse=True,
    view=True,
)


def identity(input: Any, name: str | None = None) -> Tensor:
    """The same value as a new tensor, so that tapes can tell the two apart.

    Args:
        input: a tensor, a variable, or what becomes a tensor; composites stay composites.
        name: without effect.

    Returns:
        A tensor with an id of its own.

    Raises:
        ValueError: `input` does not become a tensor.

    >>> float(tf.identity(3.0)) == 3.0
    True
    """
    if isinstance(input, IndexedSlices):
        parts = identity(input.values), identity(input.indices), input._dense_shape
        slices: Any = IndexedSlices(*parts)
        return slices
    return apply(IDENTITY, operand(input))


READ = unary(
    "read_variable",
    lambda x: x,
    lambda x: x,
    grad=lambda g: g,
    accepts=dtypes.ANY,
    rows=True,
    moves=True,
    unchanged=lambda x: True,
)
late.READ.fill(lambda variable: apply(READ, variable))

STOP_GRADIENT = unary(
    "stop_gradient",
    lambda x: x,
    lambda x: lax.stop_gradient(x),
    grad=None,
    accepts=dtypes.ANY,
    unchanged=lambda x: True,
    on_sparse=True,
)


def identity_n(input: TensorLike, name: str | None = None) -> list[Tensor]:
    """Each tensor of a list as a new tensor."""
    return [identity(x) for x in listed("identity_n", "input", input)]


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The same value, treated as a constant by every tape.

    Args:
        input: a tensor.
        name: without effect.

    Returns:
        The same value.

    Raises:
        ValueError: `input` does not become a tensor.

    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> float(tape.gradient(y, x)) == 3.0
    True
    """
    if isinstance(input, IndexedSlices):
        slices: Any = IndexedSlices(stop_gradient(input.values), input.indices, input._dense_shape)
        return slices
    return apply(STOP_GRADIENT, operand(input))


_SMALL = 4096


def _sum_axes(have: tuple[int, ...], want: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(have) - len(want)
    return tuple(range(lead)) + tuple(
        lead + i for i, d in enumerate(want) if d == 1 and have[lead + i] != 1
    )


def _sum_to_kernel(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    own, char = x.shape, x.dtype.char
    # The gradient of a bias, in most cases.
    if own[1:] == shape and len(own) == 2 and char in "fd":
        return sum_rows(x, own[0], char)
    if own == shape:  # a size that was unknown proved the same
        return x
    return _sum_any(x, shape=shape)


@in_float32
def _sum_any(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(combine(np.add, x, _sum_axes(x.shape, shape))).reshape(shape)


def _lower_sum_to(x: JaxArray | Padded, shape: tuple[Any, ...]) -> JaxArray | Padded:
    if type(x) is Padded:
        if len(shape) and type(shape[0]) is RowCount and len(shape) == len(x.array.shape):
            if not shape[0].is_of(x):
                raise rows_unknown()
            return x.mapped(lambda a: _lower_sum_to(a, (a.shape[0], *shape[1:])))
        if len(shape) == len(x.array.shape) and shape[0] != 1:
            raise rows_unknown()
        x = x.filled(0)
    return lax.reshape(fold(x, 0, lax.add, _sum_axes(x.shape, shape)), shape)


SUM_TO = Op(
    "sum_to",
    "x",
    kernel=_sum_to_kernel,
    infer=lambda x, shape: ShapeDtype(shape, x.dtype),
    lower=lower_in_float32(_lower_sum_to),
    grad=lambda g, x_shape: broadcast_to(g, x_shape),
    takes_padded=True,
    hazards=TAME,
    unchanged=lambda x, shape: x.shape is not None and x.shape == shape,
    adds_up=lambda x, shape: (0,) if x.shape and len(x.shape) > len(shape) else None,
)


def sum_to(x: Tensor, shape: tuple[int | Dim, ...] | Unranked) -> Any:
    """Undoes broadcasting: sums `x` down to `shape`."""
    if type(shape) is Unranked:
        return apply(SUM_LIKE, x, shape.tensor)
    return apply(SUM_TO, x, shape=shape)


# `sum_to` the shape of another tensor, for one whose rank is unknown while tracing.
SUM_LIKE = Op(
    "sum_like",
    "x like",
    kernel=lambda x, like: _sum_to_kernel(x, like.shape),
    infer=lambda x, like: ShapeDtype(like.shape, x.dtype),
    lower=lower_in_float32(lambda x, like: _lower_sum_to(x, like.shape)),
    grad=(lambda g, x_shape: broadcast_to(g, x_shape), None),
    match=(),
    register=False,
)


def _infer_broadcast_to(x: ShapeDtype, shape: tuple[int, ...]) -> ShapeDtype:
    require(
        not any(map(negative, shape)),
        "broadcast_to",
        f"a size must not be negative; got {list(shape)}",
    )
    if x.shape is not None:
        bad = len(shape) < len(x.shape) or any(
            d not in (None, 1, s) and s is not None
            for d, s in zip(x.shape, shape[len(shape) - len(x.shape) :], strict=True)
        )
        require(
            not bad,
            "broadcast_to",
            lambda: f"shape {TensorShape(x.shape)} does not broadcast to {TensorShape(shape)}",
            help="Sizes must be equal or 1, counted from the right.",
        )
    return ShapeDtype(shape, x.dtype)


@functools.cache
def _memory() -> int:
    """The bytes of memory of this machine, or 1 TiB where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**40


def broadcast_view(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The array repeated without memory; no larger than memory, since its readers would not end."""
    size = math.prod(shape) * x.dtype.itemsize
    if size > _memory():
        what = f"for an array with shape {tuple(shape)} and data type {x.dtype}"
        raise MemoryError(f"unable to allocate {shown_bytes(size)} {what}")
    return np.broadcast_to(x, shape)


def _broadcast_kernel(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if math.prod(shape) > _SMALL or x.ndim > len(shape):  # an assignment would drop axes of size 1
        return broadcast_view(x, shape)
    # A small copy costs a fifth of what NumPy takes to make the view.
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


def _lower_broadcast(x: JaxArray | Padded, shape: tuple[Any, ...]) -> Any:
    if type(x) is Padded or RowCount in map(type, shape):
        return spread_rows(x, shape, expand)
    return expand(x, tuple(shape))


BROADCAST_TO = Op(
    "broadcast_to",
    "x",
    kernel=_broadcast_kernel,
    infer=_infer_broadcast_to,
    lower=_lower_broadcast,
    takes_padded=True,
    grad=lambda g, x_shape: sum_to(g, x_shape),
    hazards=TAME,
    unchanged=lambda x, shape: x.shape is not None and x.shape == shape,
    contents=known_elements.by_kernel,
)


def _fixed(shape: Any) -> tuple[int, ...]:
    """A vector of sizes as a lowering needs it."""
    must_be_fixed(isinstance(shape, np.ndarray), "a shape depends on the values of tensors")
    return tuple(shape.tolist())


# For a shape whose length, and so the rank of the result, only the running function knows.
BROADCAST_BY = Op(
    "broadcast_by",
    "x shape",
    kernel=lambda x, shape: _broadcast_by(x, tuple(shape.tolist())),
    infer=lambda x, shape: ShapeDtype(None, x.dtype),
    lower=lambda x, shape: expand(x, _fixed(shape)),
    grad=(lambda g, x_shape: sum_to(g, x_shape), None),
    match=(),
    register=False,
)


def _shape_of(x: SymbolicTensor) -> Tensor:
    return tf.shape(x)


def _broadcast_by(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    _infer_broadcast_to(ShapeDtype(x.shape, dtypes.of(x)), shape)
    return _broadcast_kernel(x, shape)


def broadcast_to(input: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """Repeats a tensor along new axes and axes of size 1 until it has `shape`.

    Args:
        input: a tensor.
        shape: a list or tensor of sizes.
        name: without effect.

    Returns:
        A tensor of `shape`.

    Raises:
        InvalidArgumentError: the shape of `input` does not broadcast to `shape`.

    >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    if type(shape) is Unranked:
        shape = _shape_of(shape.tensor)
    if isinstance(shape, Value) and has_unknown_length(shape):
        return apply(BROADCAST_BY, operand(input), shape)
    return apply(BROADCAST_TO, operand(input), shape=static_tuple("broadcast_to", shape, "shape"))


def _resolve_open(x: ShapeDtype, shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """`_resolve` where sizes of the target are unknown: a single one may follow from the rest."""
    result = tuple(None if d == -1 else d for d in shape)
    count, rest = shapes.size(x.shape), math.prod(d for d in result if d is not None)
    if result.count(None) == 1 and count is not None and rest and count % rest == 0:
        return tuple(count // rest if d is None else d for d in result)
    return result


def _resolve(x: ShapeDtype, shape: tuple[int, ...]) -> tuple[int | None, ...]:
    """The target of a reshape with its -1 worked out, as far as that is known."""
    if None in shape:
        return _resolve_open(x, shape)
    rest = 1
    for d in shape:
        rest *= 1 if d == -1 else d
    count = shapes.size(x.shape)
    wrong = shape.count(-1) > 1 or any(d < -1 for d in shape)
    if count is None and -1 not in shape:
        least = math.prod(d for d in x.shape or () if d is not None)
        wrong = wrong or (least > 0 and rest % least > 0)
    if count is None and not wrong:
        return tuple(None if d == -1 else d for d in shape)
    if not wrong and count is not None:
        if -1 not in shape and count == rest:
            return shape
        if -1 in shape and rest and count % rest == 0:
            return tuple(count // rest if d == -1 else d for d in shape)
        if -1 in shape and not rest and not count:
            # Beside a 0 the open size is what is left of the other sizes, as TensorFlow has it.
            left = math.prod(d or 1 for d in x.shape or ())
            left //= math.prod(d for d in shape if d > 0)
            return tuple(left if d == -1 else d for d in shape)
    raise invalid(
        "reshape",
        f"{'the' if count is None else count} elements do not fit shape {list(shape)}",
        x,
        help="The product of the sizes must stay the same; one size may be -1.",
    )


def _reshape_kernel(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if shape and min(shape) < 0:
        # NumPy takes any negative size for -1, and refuses -1 beside a 0.
        shape = _resolve(ShapeDtype(x.shape, dtypes.of(x)), shape)  # type: ignore[assignment]  # closed
    return x.reshape(shape)


RESHAPE = Op(
    "reshape",
    "x",
    kernel=_reshape_kernel,
    infer=lambda x, shape: ShapeDtype(_resolve(x, shape), x.dtype),
    lower=lambda x, shape: lax.reshape(x, _resolve(ShapeDtype(x.shape, x.dtype), shape)),
    grad=lambda g, x_shape: reshape(g, x_shape),
    hazards=TAME,
    moves=True,
    unchanged=lambda x, shape: x.shape is not None and x.shape == shape,
    contents=known_elements.by_kernel,
    view=True,
)


def _infer_reshape_by(x: ShapeDtype, shape: ShapeDtype) -> ShapeDtype:
    require(
        shape.shape is None or len(shape.shape) == 1, "reshape", "`shape` must be a vector", shape
    )
    return ShapeDtype(None, x.dtype)


RESHAPE_BY = Op(
    "reshape_by",
    "x shape",
    kernel=lambda x, shape: _reshape_kernel(x, tuple(shape.tolist())),
    infer=_infer_reshape_by,
    lower=lambda x, shape: lax.reshape(x, _resolve(ShapeDtype(x.shape, x.dtype), _fixed(shape))),
    grad=(lambda g, x_shape: reshape(g, x_shape), None),
    match=(),
    register=False,
)


def reshape(tensor: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in row order under another shape; one size may be -1.

    Args:
        tensor: a tensor.
        shape: the sizes; one may be -1 and follows from the others.
        name: without effect.

    Returns:
        A tensor with the same elements.

    Raises:
        InvalidArgumentError: the sizes do not hold that many elements.

    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    if type(shape) is Unranked:
        shape = _shape_of(shape.tensor)
    if isinstance(shape, Value) and has_unknown_length(shape):
        return apply(RESHAPE_BY, operand(tensor), shape)
    return apply(RESHAPE, operand(tensor), shape=static_tuple("reshape", shape, "shape"))


def _order(perm: tuple[int, ...]) -> tuple[int, ...]:
    """Axes counted from the front; those that are not there stay as they are."""
    rank = len(perm)
    return tuple([i % rank if -rank <= i < rank else i for i in perm])


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(_order(perm)))


def _infer_transpose(x: ShapeDtype, perm: tuple[int, ...], conjugate: bool) -> ShapeDtype:
    if x.shape is None or (None in perm and len(perm) == len(x.shape)):
        return ShapeDtype((None,) * len(perm), x.dtype)
    if len(perm) != len(x.shape) or sorted(_order(perm)) != list(range(len(x.shape))):
        what = f"`perm` {list(perm)}" if None not in perm else f"`perm` with {len(perm)} numbers"
        text = f"{what} is not an order of the {len(x.shape)} axes"
        raise invalid("transpose", text, x, help="Name each axis once.")
    return ShapeDtype(tuple(x.shape[i] for i in perm), x.dtype)


def _lower_transpose(x: JaxArray, perm: tuple[int, ...], conjugate: bool) -> JaxArray:
    return lax.transpose(lax.conj(x) if conjugate else x, _order(perm))


def _grad_transpose(g: Tensor, perm: tuple[int, ...], conjugate: bool) -> Tensor:
    if is_open(perm):
        return apply(TRANSPOSE_BACK, g, perm=perm, conjugate=conjugate)
    return apply(TRANSPOSE, g, perm=_inverse(perm), conjugate=conjugate)


TRANSPOSE = Op(
    "transpose",
    "x",
    kernel=lambda x, perm, conjugate: (np.conj(x) if conjugate else x).transpose(perm),
    infer=_infer_transpose,
    lower=_lower_transpose,
    grad=_grad_transpose,
    # With `conjugate` the map is not complex-linear, so the rule states the whole truth itself.
    holomorphic=False,
    hazards=TAME,
    moves=True,
    contents=known_elements.by_kernel,
)

# The way back from an order that is known only when a function runs.
TRANSPOSE_BACK = Op(
    "transpose_back",
    "x",
    kernel=lambda x, perm, conjugate: TRANSPOSE.kernel(x, _inverse(perm), conjugate),
    infer=lambda x, perm, conjugate: _infer_transpose(
        x, perm if None in perm else _inverse(perm), conjugate
    ),
    lower=lambda x, perm, conjugate: _lower_transpose(x, _inverse(perm), conjugate),
    grad=lambda g, perm, conjugate: apply(TRANSPOSE, g, perm=perm, conjugate=conjugate),
    holomorphic=False,
    register=False,
)


def transpose(
    a: Any, perm: TensorLike | None = None, conjugate: bool = False, name: str = "transpose"
) -> Tensor:
    """Permutes the axes; reverses them without `perm`.

    Args:
        a: a tensor.
        perm: for each axis of the result the axis of `a`.
        conjugate: whether to conjugate complex numbers.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: `perm` is no permutation of the axes.

    >>> tf.transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    try:
        a = operand(a)
        rank = a._array.ndim
        order = (
            tuple(range(rank))[::-1] if perm is None else static_tuple("transpose", perm, "perm")
        )
        if perm is not None and not is_open(order):
            if any(not -rank <= i < rank for i in order):
                raise invalid(
                    "transpose", f"`perm` {list(order)} names an axis that is not there", a
                )
            order = tuple(i % rank for i in order)
        return apply(TRANSPOSE, a, perm=order, conjugate=bool(conjugate and a.dtype.is_complex))
    except Exception as error:
        return fallback(transpose, error, (a, perm, conjugate))
