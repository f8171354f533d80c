"""The shape of a tensor as a value, and axes of size 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core.padded_stacks import RowCount
from wengert.core.sites import caller
from wengert.core.tensorflow_values import array_of, is_foreign
from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    Axis,
    DType,
    DTypeLike,
    Op,
    Ranked,
    ShapeDtype,
    Tensor,
    TensorLike,
    Variable,
    apply,
    as_number,
    as_value,
    dtypes,
    fallback,
    formula,
    invalid,
    invalid_dtype,
    is_open,
    is_symbol,
    is_symbolic,
    jnp,
    larger,
    lax,
    normalized_axis,
    number_type,
    operand,
    rank_of,
    require,
    shapes,
    static,
    static_tuple,
    tf,
    where_ranked,
    with_fallback,
    wrap,
)
from wengert.ops.sizes import listed

SHAPE = Op(
    "shape",
    "x",
    kernel=lambda x, dtype: np.array(x.shape, dtype.np),
    infer=lambda x, dtype: ShapeDtype((None if x.shape is None else len(x.shape),), dtype),
    lower=lambda x, dtype: lax.convert_element_type(np.array(x.shape, np.int64), dtype.np),
    grad=None,
    sizes=tuple,
)


def _whole_type(out_type: DType | DTypeLike | None) -> DType:
    return dtypes.int32 if out_type is None else number_type("size", out_type)


def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The sizes of a tensor as a vector of int32 (or `out_type`, int64).

    Args:
        input: a tensor, or a ragged one.
        out_type: int32 or int64.
        name: without effect.

    Returns:
        A vector, or for a ragged tensor a `DynamicRaggedShape`.

    Raises:
        ValueError: `input` does not become a tensor.

    >>> tf.shape([[1, 2, 3]]).numpy().tolist()
    [1, 3]
    """
    try:
        kind = _whole_type(out_type)
        if kind not in (dtypes.int32, dtypes.int64):
            raise invalid_dtype("shape", f"`out_type` must be int32 or int64; got {kind.name}")
        return apply(SHAPE, operand(input), dtype=kind)
    except Exception as error:
        return fallback(shape, error, (input, out_type))


def row_count(x: Tensor) -> Any:
    """The first size of a tensor, as a number; one that is known later where its rank is too."""
    if rank_of(x) is not None:
        return x._array.shape[0]
    return as_number(shape(x)[0])


def shape_n(
    input: TensorLike, out_type: DTypeLike = dtypes.int32, name: str | None = None
) -> list[Any]:
    """The shape of each tensor in a list."""
    return [shape(x, out_type) for x in listed("shape_n", "input", input)]


def _lower_number(value: Any, dtype: DType) -> Any:
    if type(value) is tuple and RowCount in map(type, value):
        return jnp.stack([_lower_number(n, dtype) for n in value])
    return value.value(dtype.np) if type(value) is RowCount else as_value(value, dtype.np)


# A number that is known when the function runs, as a scalar tensor; several as a vector.
NUMBER = Op(
    "number",
    "",
    kernel=lambda value, dtype: np.array(value, dtype.np),
    infer=lambda value, dtype: ShapeDtype((len(value),) if type(value) is tuple else (), dtype),
    lower=_lower_number,
    grad=(),
    takes_padded=True,
    register=False,
    contents=known_elements.of_attribute,
)
late.NUMBER.fill(lambda value, dtype=None: apply(NUMBER, value=value, dtype=dtype or dtypes.int32))


SIZE = Op(
    "size",
    "x",
    kernel=lambda x, dtype: np.array(x.size, dtype.np),
    infer=lambda x, dtype: ShapeDtype((), dtype),
    lower=lambda x, dtype: lax.full((), x.size, dtype.np),
    grad=None,
    sizes=math.prod,
)


def size(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The number of elements as an int32 (or `out_type`) scalar.

    Args:
        input: a tensor.
        out_type: int32 or int64; int32 for `None`.
        name: without effect.

    Returns:
        A scalar.

    Raises:
        ValueError: `input` does not become a tensor.

    >>> int(tf.size([[1, 2], [3, 4]]))
    4
    """
    try:
        return apply(SIZE, operand(input), dtype=_whole_type(out_type))
    except Exception as error:
        return fallback(size, error, (input, out_type))


@with_fallback
def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of axes as an int32 scalar.

    Args:
        input: a tensor.
        name: without effect.

    Returns:
        A scalar; its number of rows or columns is not meant.

    Raises:
        ValueError: `input` does not become a tensor.

    >>> int(tf.rank([[1, 2], [3, 4]]))
    2
    """
    x = operand(input)
    if is_symbolic(x) and x.shape.rank is None:
        return size(shape(x))
    return wrap(np.array(x._array.ndim, np.int32), caller())


EXPAND_DIMS = Op(
    "expand_dims",
    "x",
    kernel=lambda x, axis: x.reshape(x.shape[:axis] + (1,) + x.shape[axis:]),
    infer=lambda x, axis: ShapeDtype(
        None if x.shape is None else (*x.shape[:axis], 1, *x.shape[axis:]), x.dtype
    ),
    lower=lambda x, axis: lax.expand_dims(x, (axis,)),
    grad=lambda g, axis: apply(SQUEEZE, g, axis=(axis,)),
    hazards=TAME,
    moves=True,
    contents=known_elements.by_kernel,
    view=True,
)


def expand_dims(input: TensorLike, axis: Axis, name: str | None = None) -> Tensor:
    """Inserts an axis of size 1 at `axis`; negative numbers count from the end of the result.

    Args:
        input: a tensor.
        axis: where the new axis stands in the result.
        name: without effect.

    Returns:
        A tensor of one rank more.

    Raises:
        InvalidArgumentError: there is no such place.

    >>> tf.expand_dims([1, 2], axis=1).numpy().tolist()
    [[1], [2]]
    """
    try:
        x = operand(input)
        dim = static("expand_dims", axis)
        if isinstance(dim, tuple) and len(dim) == 1:
            dim = dim[0]
        if not isinstance(dim, int):
            raise invalid("expand_dims", f"`axis` must be one number; got {axis!r}")
        return apply(EXPAND_DIMS, x, axis=normalized_axis("expand_dims", dim, x, 1))
    except Exception as error:
        return fallback(expand_dims, error, (input, axis))


@where_ranked
def _infer_squeeze(x: Ranked, axis: tuple[int, ...]) -> ShapeDtype:
    for a in axis:
        if x.shape[a] not in (None, 1):
            raise invalid(
                "squeeze",
                f"axis {a} has size {x.shape[a]}, not 1",
                x,
                help="Only axes of size 1 can be dropped; use an index or tf.reshape.",
            )
    return ShapeDtype(tuple(d for i, d in enumerate(x.shape) if i not in axis), x.dtype)


def _expand_all(g: Tensor, axis: tuple[int, ...]) -> Tensor:
    for a in axis:
        g = apply(EXPAND_DIMS, g, axis=a)
    return g


SQUEEZE = Op(
    "squeeze",
    "x",
    kernel=lambda x, axis: x.squeeze(axis),
    infer=_infer_squeeze,
    lower=lambda x, axis: lax.squeeze(x, axis),
    grad=_expand_all,
    moves=True,
    contents=known_elements.by_kernel,
)


# Which axes are dropped depends on sizes that are unknown while tracing, and so does the rank.
SQUEEZE_ALL = Op(
    "squeeze_all",
    "x",
    kernel=lambda x: x.squeeze(),
    infer=lambda x: ShapeDtype(None, x.dtype),
    lower=lambda x: lax.squeeze(x, [i for i, d in enumerate(x.shape) if d == 1]),
    grad=lambda g, x_shape: tf.reshape(g, x_shape),
    register=False,
)


def squeeze(input: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Drops the given axes, which must have size 1; without `axis`, all of size 1.

    Args:
        input: a tensor.
        axis: one axis or several.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: an axis does not have size 1.

    >>> tf.squeeze([[[1], [2]]], axis=0).numpy().tolist()
    [[1], [2]]
    """
    try:
        x = operand(input)
        wanted = () if axis is None else static_tuple("squeeze", axis, "axis")
        if not wanted and rank_of(x) is None:
            return apply(SQUEEZE_ALL, x)
        dims = x._array.shape
        if wanted:
            axes = tuple(sorted(set(shapes.axes("squeeze", wanted, len(dims)))))
        elif is_open(dims):
            return apply(SQUEEZE_ALL, x)
        else:
            axes = tuple(i for i, d in enumerate(dims) if d == 1)
        return apply(SQUEEZE, x, axis=axes)
    except Exception as error:
        return fallback(squeeze, error, (input, axis))


def broadcast_static_shape(shape_x: TensorLike, shape_y: TensorLike) -> shapes.TensorShape:
    """The shape that two shapes broadcast to; unknown sizes stay unknown."""
    x, y = shapes.as_shape(shape_x), shapes.as_shape(shape_y)
    return shapes.TensorShape(shapes.broadcast("broadcast_static_shape", x, y))


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape that two shapes, given as vectors, broadcast to."""
    kind = dtypes.as_dtype(getattr(shape_y, "dtype", dtypes.int32))
    x = operand(shape_x, None, kind)
    y = operand(shape_y, None, x.dtype)
    for given in (x, y):
        require(
            rank_of(given) in (1, None),
            "broadcast_dynamic_shape",
            "a shape is a vector of sizes",
            given,
        )
    if is_symbolic(x) or is_symbolic(y):
        sizes = _broadcast_sizes(static_tuple("shape", x), static_tuple("shape", y))
        return tf.stack([operand(d, None, x.dtype) for d in sizes]) if sizes else x
    shape = shapes.broadcast(
        "broadcast_dynamic_shape", tuple(x._array.tolist()), tuple(y._array.tolist())
    )
    return wrap(np.array(shape, x.dtype.np), caller())


def _broadcast_sizes(x: tuple[Any, ...], y: tuple[Any, ...]) -> tuple[Any, ...]:
    """What two shapes with unknown sizes broadcast to; that they do is found out when it runs."""
    rank = max(len(x), len(y))
    x, y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    return tuple(
        [
            b if a == 1 else a if b == 1 or a == b else _common(a, b)
            for a, b in zip(x, y, strict=True)
        ]
    )


@formula
def _common(a: int, b: int) -> int:
    """The size that two broadcast to; an error where they do not."""
    if is_symbol(a) or is_symbol(b):
        return larger(a, b)
    shape: Any = shapes.broadcast("broadcast_dynamic_shape", (a,), (b,))
    return shape[0]


def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """The value of a tensor as a NumPy array where it is known now; `None` for a variable."""
    if isinstance(tensor, Variable):
        return None
    if is_symbolic(tensor):
        content = tensor._graph.content(tensor._value)
        if content is None or not partial:
            return None
        return [d if type(d) is int else None for d in content.ravel().tolist()]
    if is_foreign(type(tensor)):
        return array_of(tensor)
    return tensor.numpy() if isinstance(tensor, Tensor) else tensor
