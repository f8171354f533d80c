"""Joining tensors into one and cutting one into several, along an axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core.types import ActsAsTensor
from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    Dim,
    JaxArray,
    Joint,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    TensorShape,
    Value,
    apply,
    dtypes,
    fallback,
    invalid,
    invalid_dtype,
    known_unequal,
    lax,
    must_fit,
    negative,
    normalized_axis,
    operand,
    rank_of,
    require,
    shapes,
    static,
    static_int,
    static_tuple,
    tf,
    to_tensor,
    with_length,
)


def _infer_stack(*xs: ShapeDtype, axis: int) -> ShapeDtype:
    shape: Any = xs[0].shape
    for x in xs[1:]:
        require(
            shapes.compatible(shape, x.shape),
            "stack",
            "all tensors must have the same shape",
            *xs[:4],
        )
        shape = shapes.merge(shape, x.shape)
    if shape is None:
        return ShapeDtype(None, xs[0].dtype)
    return ShapeDtype((*shape[:axis], len(xs), *shape[axis:]), xs[0].dtype)


def _stack_kernel(*xs: np.ndarray, axis: int) -> np.ndarray:
    shape = xs[0].shape
    out = np.empty((*shape[:axis], len(xs), *shape[axis:]), xs[0].dtype)
    lead = (slice(None),) * axis
    for k, x in enumerate(xs):
        if x.shape != shape:
            raise ValueError
        out[(*lead, k, ...)] = x
    return out


def _lower_stack(*xs: JaxArray, axis: int) -> JaxArray:
    return lax.concatenate([lax.expand_dims(x, (axis,)) for x in xs], axis)


STACK = Op(
    "stack",
    "*xs",
    kernel=_stack_kernel,
    infer=_infer_stack,
    lower=_lower_stack,
    grad=Joint(lambda g, axis, needs: unstack(g, len(needs), axis)),
    hazards=TAME,
    moves=True,
    contents=known_elements.in_part,
)


def _refuse_names(name: str, values: Any) -> None:
    """A dict would be joined by its keys."""
    if isinstance(values, Mapping):
        rule = "a list of tensors was expected"
        raise invalid_dtype(name, rule, values, help="Give list(d.values()).")


_MOST_PARTS = 2**31 - 1  # counted in an int32 by TensorFlow
# What is one tensor, although Python would go through its parts.
_WHOLE = ActsAsTensor | str | bytes


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Joins tensors of one shape along a new axis.

    Args:
        values: a list of tensors of one shape and dtype.
        axis: where the new axis stands; negative ones count from the end of the result.
        name: without effect.

    Returns:
        A tensor of one rank more.

    Raises:
        InvalidArgumentError: the shapes differ.

    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    try:
        dim = static_int("stack", axis)
        _refuse_names("stack", values)
        if isinstance(values, np.ndarray | np.generic) and not (dim and values.ndim):
            return to_tensor(values)
        if isinstance(values, _WHOLE) or not isinstance(values, Iterable):
            return to_tensor(values)
        if isinstance(values, Value) and not (dim and values._array.ndim):
            return tf.identity(values)
        result = unstack(values) if isinstance(values, Value) else list(values)
        if not dim and not any(isinstance(v, Value | ActsAsTensor) for v in result):
            return to_tensor(result)
        xs = _tensors("stack", result)
        return apply(STACK, *xs, axis=normalized_axis("stack", dim, _of_known_rank(xs), 1))
    except Exception as error:
        return fallback(stack, error, (values, axis))


def parallel_stack(values: TensorLike, name: str = "parallel_stack") -> Tensor:
    """Joins tensors of one shape along a new first axis."""
    return stack(values)


def _tensors(name: str, values: Any) -> list[Value]:
    """The members of a list as tensors of one dtype, that of the first tensor among them."""
    results = list(values)
    if not results:
        raise invalid(name, "the list of tensors is empty", help="Give at least one tensor.")
    if {Tensor}.issuperset(map(type, results)):
        return results
    hint = next((v.dtype for v in results if isinstance(v, Value)), None)
    first = operand(results[0], None, hint)
    return [first, *(operand(v, None, hint or first.dtype) for v in results[1:])]


def _of_known_rank(xs: list[Value]) -> Value:
    """A tensor that tells the rank of all, if there is one."""
    for x in xs:
        if rank_of(x) is not None:
            return x
    return xs[0]


def _infer_unstack(x: ShapeDtype, axis: int, num: int) -> tuple[ShapeDtype, ...]:
    if x.shape is None:
        return (ShapeDtype(None, x.dtype),) * num
    if x.shape[axis] not in (None, num):
        raise invalid("unstack", f"axis {axis} has size {x.shape[axis]}, not {num}", x)
    return (ShapeDtype((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype),) * num


def _unstack_kernel(x: np.ndarray, axis: int, num: int) -> tuple[np.ndarray, ...]:
    must_fit(x.shape[axis] == num)
    if x.ndim == 1:  # arrays of rank 0, also of strings
        return tuple([x[i, ...] for i in range(num)])
    return tuple(np.moveaxis(x, axis, 0) if axis else x)


UNSTACK = Op(
    "unstack",
    "x",
    kernel=_unstack_kernel,
    infer=_infer_unstack,
    lower=lambda x, axis, num: tuple(
        lax.index_in_dim(x, i, axis, keepdims=False) for i in range(num)
    ),
    grad=lambda g, axis: stack(g, axis=axis),
    outputs=None,
    moves=True,
)


def unstack(
    value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """Splits a tensor along an axis into a list of tensors without it.

    Args:
        value: a tensor of rank 1 or more.
        num: how many parts there are, where the size is unknown.
        axis: the axis to take apart.
        name: without effect.

    Returns:
        A list of tensors of one rank less.

    Raises:
        ValueError: the size is unknown or is not `num`.

    >>> [x.numpy().tolist() for x in tf.unstack([[1, 2], [3, 4]], axis=1)]
    [[1, 3], [2, 4]]
    """
    try:
        x = operand(value)
        axis = normalized_axis("unstack", static_int("unstack", axis), x)
        if num is not None and rank_of(x) is None:
            return list(apply(UNSTACK, x, axis=axis, num=static_int("unstack", num, "num")))
        dims = x._array.shape
        count: Any = dims[axis] if num is None else static_int("unstack", num, "num")
        require(
            type(count) is not Dim,
            "unstack",
            f"how many tensors come of it must be known while tracing, and axis {axis} has an "
            f"unknown size",
            x,
            help="Give `num`, or fix the size in `input_signature` or with tf.ensure_shape.",
        )
        require(
            not known_unequal(count, dims[axis]),
            "unstack",
            lambda: f"axis {axis} has size {dims[axis]}, not `num` {count}",
            x,
        )
        return list(apply(UNSTACK, x, axis=axis, num=count))
    except Exception as error:
        return fallback(unstack, error, (value, num, axis))


late.STACK.fill(stack)


def _infer_concat(*xs: ShapeDtype, axis: int) -> ShapeDtype:
    shape: Any = next((x.shape for x in xs if x.shape is not None), None)
    total: int | None = 0
    if shape is None:
        return ShapeDtype(None, xs[0].dtype)
    for x in xs:
        if x.shape is None:
            total = None
            continue
        words = f"`axis` {axis} is out of range for a tensor of rank {len(x.shape)}"
        require(axis < len(x.shape), "concat", words, *xs[:4])
        rest = (*x.shape[:axis], None, *x.shape[axis + 1 :])
        require(
            len(x.shape) == len(shape)
            and shapes.compatible((*shape[:axis], None, *shape[axis + 1 :]), rest),
            "concat",
            f"all sizes but that of axis {axis} must agree",
            *xs[:4],
            help="Check the shapes, or use tf.stack for a new axis.",
        )
        size = x.shape[axis]
        total = None if total is None or size is None else total + size
        shape = shapes.merge((*shape[:axis], None, *shape[axis + 1 :]), rest)
    return ShapeDtype((*shape[:axis], total, *shape[axis + 1 :]), xs[0].dtype)


CONCAT = Op(
    "concat",
    "*xs",
    kernel=lambda *xs, axis: np.concatenate(xs, axis),
    infer=_infer_concat,
    lower=lambda *xs, axis: lax.concatenate(xs, axis),
    grad=Joint(lambda g, shapes, axis: split(g, [s[axis] for s in shapes], axis)),
    hazards=TAME,
    moves=True,
    contents=known_elements.in_part,
)


def _alone(value: Any, axis: Any) -> Tensor:
    """What `concat` makes of one tensor, for any number as its axis."""
    static_int("concat", axis)
    return tf.identity(value)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Joins tensors along an axis they have.

    Args:
        values: a list of tensors of one dtype, whose sizes differ along `axis` only.
        axis: the axis; negative ones count from the end.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: other sizes or ranks differ, or there is no such axis.

    >>> tf.concat([[[1], [2]], [[3], [4]]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    try:
        if type(values) is not list and type(values) is not tuple:
            whole = isinstance(values, Value | _WHOLE | np.ndarray | range | TensorShape)
            if whole or not isinstance(values, Iterable):
                return _alone(values, axis)
            _refuse_names("concat", values)
        xs = _tensors("concat", values)
        if len(xs) == 1:
            return _alone(xs[0], axis)
        if rank_of(xs[0]) == 0:
            raise invalid(
                "concat", "scalars have no axis to join along", *xs[:4], help="Use tf.stack."
            )
        dims_given = static_tuple("concat", axis, "axis")
        if len(dims_given) != 1:
            raise invalid("concat", f"`axis` must be one number; got {list(dims_given)}")
        dim = normalized_axis("concat", dims_given[0], _of_known_rank(xs))
        return apply(CONCAT, *xs, axis=dim)
    except Exception as error:
        return fallback(concat, error, (values, axis))


def _filled(
    x: Value | JaxArray | ShapeDtype, size: Any, sizes: tuple[Any, ...], axis: int
) -> tuple[Any, ...]:
    """The sizes with a -1 among them worked out; raises where they do not add up to `size`."""
    if sizes.count(-1) == 1:
        rest = size - sum(sizes) - 1
        sizes = tuple(rest if type(n) is int and n == -1 else n for n in sizes)
    if known_unequal(sum(sizes), size) or any(map(negative, sizes)):
        raise invalid(
            "split", f"sizes {list(sizes)} do not add up to {size}, the size of axis {axis}", x
        )
    return sizes


def _infer_split(x: ShapeDtype, sizes: tuple[int | None, ...], axis: int) -> tuple[ShapeDtype, ...]:
    if x.shape is None:
        return (ShapeDtype(None, x.dtype),) * len(sizes)
    if x.shape[axis] is not None and None not in sizes:
        sizes = _filled(x, x.shape[axis], sizes, axis)
    parts = [None if n is None or n < 0 else n for n in sizes]
    return tuple(ShapeDtype((*x.shape[:axis], n, *x.shape[axis + 1 :]), x.dtype) for n in parts)


def _split_kernel(x: np.ndarray, sizes: tuple[int, ...], axis: int) -> tuple[np.ndarray, ...]:
    lead = (slice(None),) * axis
    parts = []
    start = 0
    if sum(sizes) != x.shape[axis] or min(sizes, default=0) < 0:
        sizes = _filled(ShapeDtype(x.shape, dtypes.of(x)), x.shape[axis], sizes, axis)
    for n in sizes:
        parts.append(x[(*lead, slice(start, start + n))])
        start += n
    return tuple(parts)


def _lower_split(x: Any, sizes: tuple[int, ...], axis: int) -> tuple[JaxArray, ...]:
    sizes = _filled(x, x.shape[axis], sizes, axis)
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(lax.slice_in_dim(x, a, b, axis=axis) for a, b in pairwise(ends))


SPLIT = Op(
    "split",
    "x",
    kernel=_split_kernel,
    infer=_infer_split,
    lower=_lower_split,
    grad=lambda g, axis: concat(g, axis),
    outputs=None,
)


def split(
    value: Any,
    num_or_size_splits: TensorLike,
    axis: Any = 0,
    num: TensorLike | None = None,
    name: str = "split",
) -> list[Tensor]:
    """Cuts a tensor along an axis: into equal parts for a number, else into the given sizes.

    One of the sizes may be -1 and takes what is left.

    Args:
        value: a tensor.
        num_or_size_splits: how many equal parts, or the size of each; one size may be -1.
        axis: the axis to cut.
        num: how many sizes there are, where they are unknown.
        name: without effect.

    Returns:
        A list of tensors.

    Raises:
        InvalidArgumentError: the parts do not add up to the size.

    >>> [x.numpy().tolist() for x in tf.split([1, 2, 3, 4], [1, -1])]
    [[1], [2, 3, 4]]
    """
    try:
        x = operand(value)
        dims = x._array.shape
        dim = shapes.check_axis("split", static_int("split", axis), len(dims))
        if num is not None:
            num_or_size_splits = with_length(num_or_size_splits, static_int("split", num, "num"))
        wanted = static("split", num_or_size_splits)
        size = dims[dim]
        if type(wanted) is Dim:
            raise wanted.unknown("the number of parts of tf.split")
        if isinstance(wanted, int):
            if wanted <= 0 or wanted > _MOST_PARTS or known_unequal(size % wanted, 0):
                raise invalid(
                    "split",
                    f"axis {dim} of size {size} does not cut into {wanted} equal parts",
                    x,
                    help="Give the sizes of the parts as a list.",
                )
            wanted = (size // wanted,) * wanted
        wanted = static_tuple("split", wanted, "num_or_size_splits")
        if num is not None and static_int("split", num, "num") != len(wanted):
            raise invalid("split", f"`num` is {num}, but there are {len(wanted)} sizes", x)
        return list(apply(SPLIT, x, sizes=_filled(x, size, wanted, dim), axis=dim))
    except Exception as error:
        return fallback(split, error, (value, num_or_size_splits, axis, num))
