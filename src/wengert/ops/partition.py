"""Sorting slices into groups and putting them back together.

The sizes of the results depend on the data, so XLA has no counterpart, unless the groups or places
are constants of the trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    Dim,
    Joint,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    apply,
    executing_eagerly,
    integer_operand,
    operand,
    require,
    require_dtype,
    shapes,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.gather import check_indices, integer_tensor
from wengert.ops.sizes import listed

_MOST = 2**31 - 1  # results that an operation may have in TensorFlow


def _partition_kernel(
    x: np.ndarray, groups: np.ndarray, num_partitions: int
) -> tuple[np.ndarray, ...]:
    check_indices("dynamic_partition", groups, num_partitions)
    if x.shape[: groups.ndim] != groups.shape:  # with no elements any shape would do
        raise ValueError("the shapes do not fit")
    rows = x.reshape(groups.size, *x.shape[groups.ndim :])
    flat = groups.reshape(-1)
    return tuple(rows[flat == k] for k in range(num_partitions))


def _infer_partition(
    x: ShapeDtype, groups: ShapeDtype, num_partitions: int
) -> tuple[ShapeDtype, ...]:
    shape: shapes.Shape = None
    if x.shape is not None and groups.shape is not None:
        require(
            shapes.compatible(x.shape[: len(groups.shape)], groups.shape),
            "dynamic_partition",
            "the data's shape must start with that of `partitions`",
            x,
            groups,
        )
        shape = (None, *x.shape[len(groups.shape) :])
    return (ShapeDtype(shape, x.dtype),) * num_partitions


def _partition_grad(
    g: tuple[Tensor, ...], groups: Tensor, x_shape: tuple[int | Dim, ...], num_partitions: int
) -> Tensor:
    back = tf.argsort(tf.argsort(tf.reshape(groups, (-1,))))
    return tf.reshape(tf.gather(tf.concat(list(g), 0), back), x_shape)


DYNAMIC_PARTITION = Op(
    "dynamic_partition",
    "x groups",
    kernel=_partition_kernel,
    infer=_infer_partition,
    lower=None,
    grad=(_partition_grad, None),
    outputs=None,
    match=(),
)


@with_fallback
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> list[Tensor]:
    """Sorts slices into `num_partitions` tensors by the number that `partitions` gives each.

    Args:
        data: a tensor.
        partitions: int32, of the first sizes of `data`.
        num_partitions: a whole number.
        name: without effect.

    Returns:
        A list of `num_partitions` tensors.

    Raises:
        InvalidArgumentError: a number in `partitions` is out of range, or the shapes do not fit.

    >>> [x.numpy().tolist() for x in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    count = static_int("dynamic_partition", num_partitions, "num_partitions")
    require(count >= 1, "dynamic_partition", f"`num_partitions` must be at least 1; got {count}")
    require(
        count <= _MOST, "dynamic_partition", f"`num_partitions` must be below 2**31; got {count}"
    )
    x, groups = operand(data), integer_operand(partitions)
    groups = integer_tensor("dynamic_partition", groups, "partitions")
    if type(x) is SymbolicTensor and type(groups) is Tensor:
        known = groups._array
        if x._array.shape[: known.ndim] == known.shape:
            return _partition_by_constant(x, known, count)
    return list(apply(DYNAMIC_PARTITION, x, groups, num_partitions=count))


def _partition_by_constant(x: Any, groups: np.ndarray, count: int) -> list[Any]:
    check_indices("dynamic_partition", groups, count)
    rows = tf.reshape(x, (groups.size, *x._array.shape[groups.ndim :]))
    flat = groups.reshape(-1)
    return [tf.gather(rows, np.flatnonzero(flat == k)) for k in range(count)]


def _stitch_kernel(*xs: np.ndarray) -> np.ndarray:
    half = len(xs) // 2
    indices, data = xs[:half], xs[half:]
    inner: Any = _inner(indices, data)
    count = _extent(indices)
    out = np.full((count, *inner), b"" if data[0].dtype.kind == "O" else 0, data[0].dtype)
    for i, d in zip(indices, data, strict=True):
        check_indices("dynamic_stitch", i, max(count, 1))
        out[i.reshape(-1)] = d.reshape(i.size, *inner)
    return out


def _extent(indices: list[np.ndarray] | tuple[np.ndarray, ...]) -> int:
    """How many places there are up to the last one named."""
    return max((int(i.max()) + 1 for i in indices if i.size), default=0)


def _inner(
    indices: tuple[np.ndarray | ShapeDtype, ...], data: tuple[np.ndarray | ShapeDtype, ...]
) -> shapes.Shape:
    """What the pieces have in common: the shape of one slice."""
    inner: shapes.Shape = None
    for i, d in zip(indices, data, strict=True):
        if i.shape is None or d.shape is None:
            continue
        rank = len(i.shape)
        rest = tuple(d.shape[rank:])
        require(
            shapes.compatible(d.shape[:rank], i.shape) and shapes.compatible(inner, rest),
            "dynamic_stitch",
            "each piece of data must have the shape of its indices, followed by one common shape",
            *indices[:2],
            *data[:2],
        )
        inner = shapes.merge(inner, rest)
    return inner


def _infer_stitch(*xs: ShapeDtype) -> ShapeDtype:
    half = len(xs) // 2
    inner = _inner(xs[:half], xs[half:])
    return ShapeDtype(None if inner is None else (None, *inner), xs[half].dtype)


def _stitch_grad(g: Tensor, inputs: tuple[Tensor, ...]) -> list[Tensor | None]:
    half = len(inputs) // 2
    return [*[None] * half, *[tf.gather(g, i) for i in inputs[:half]]]


DYNAMIC_STITCH = Op(
    "dynamic_stitch",
    "*xs",
    kernel=_stitch_kernel,
    infer=_infer_stitch,
    lower=None,
    grad=Joint(_stitch_grad),
    match=(),
)


def _lower_stitch(*xs: Any, count: int) -> Any:
    from wengert.core.lazy_modules import jnp

    half = len(xs) // 2
    inner = xs[half].shape[xs[0].ndim :]
    out = jnp.zeros((count, *inner), xs[half].dtype)
    for i, d in zip(xs[:half], xs[half:], strict=True):
        out = out.at[i.reshape(-1)].set(d.reshape((i.size, *inner)))
    return out


def _infer_closed(*xs: ShapeDtype, count: int) -> ShapeDtype:
    result = _infer_stitch(*xs)
    return ShapeDtype(result.shape and (count, *result.shape[1:]), result.dtype)


STITCH_CLOSED = Op(
    "dynamic_stitch_closed",
    "*xs",
    kernel=lambda *xs, count: _stitch_kernel(*xs),
    infer=_infer_closed,
    lower=_lower_stitch,
    grad=Joint(_stitch_grad),
    match=(),
    register=False,
)


def dynamic_stitch(indices: TensorLike, data: TensorLike, name: str | None = None) -> Tensor:
    """One tensor from pieces: `data[m][k]` goes to place `indices[m][k]`; the last one stays.

    Places that nobody names hold zeros.

    Args:
        indices: a list of integer tensors.
        data: a list of tensors, whose shapes begin with those of `indices`.
        name: without effect.

    Returns:
        A tensor with as many rows as the largest index asks for.

    Raises:
        InvalidArgumentError: shapes do not fit, or an index is negative.

    >>> tf.dynamic_stitch([[0, 2], [1]], [[1, 3], [2]]).numpy().tolist()
    [1, 2, 3]
    """
    places = listed("dynamic_stitch", "indices", indices)
    where = [integer_operand(i) for i in places]
    given = listed("dynamic_stitch", "data", data)
    require(
        where and len(where) == len(given),
        "dynamic_stitch",
        "each piece of data needs one tensor of whole numbers",
    )
    first = operand(given[0])
    pieces = [first, *(operand(d, None, first.dtype) for d in given[1:])]
    require(
        all(i.dtype.is_integer for i in where),
        "dynamic_stitch",
        "each piece of data needs one tensor of whole numbers",
    )
    require_dtype(
        all(p.dtype is first.dtype for p in pieces),
        "dynamic_stitch",
        "all of `data` must have the same dtype",
        *pieces,
    )
    if all(type(i) is Tensor for i in where) and not executing_eagerly():
        known = [i._array for i in where]
        for i in known:
            check_indices("dynamic_stitch", i, _extent(known) or 1)
        return apply(STITCH_CLOSED, *where, *pieces, count=_extent(known))
    return apply(DYNAMIC_STITCH, *where, *pieces)
