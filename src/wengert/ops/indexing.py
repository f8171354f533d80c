"""Between masks, indices and labels: where, boolean_mask, one_hot, sequence_mask, permutations.

The size of what `where_indices` and `boolean_mask` give depends on the data, so XLA has no
counterpart of them, unless the mask is a constant of the trace.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core.dims import opened
from wengert.ops.declare import (
    Axis,
    Dim,
    DType,
    DTypeLike,
    InvalidIndexError,
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    TensorShape,
    Value,
    apply,
    as_numbers,
    dtypes,
    fail_if,
    integer_operand,
    invalid,
    invalid_dtype,
    is_dynamic,
    known_unequal,
    lax,
    must_fit,
    negative,
    number_type,
    operand,
    require,
    require_dtype,
    shapes,
    static,
    static_int,
    static_tuple,
    tf,
    where_ranked,
    with_fallback,
)
from wengert.ops.gather import fail_outside, integer_tensor
from wengert.ops.sizes import at_least
from wengert.ops.threads import BLOCK, blocks_of, share

_INDEX = dtypes.nums("iu")


def _where_kernel(x: np.ndarray) -> np.ndarray:
    must_fit(x.ndim)
    return np.argwhere(x)


def _infer_where(x: ShapeDtype) -> ShapeDtype:
    require(x.shape != (), "where", "a scalar has no indices", x, help="Use tf.reshape(x, [1]).")
    return ShapeDtype((None, None if x.shape is None else len(x.shape)), dtypes.int64)


WHERE_INDICES = Op(
    "where_indices",
    "x",
    kernel=_where_kernel,
    infer=_infer_where,
    lower=None,
    grad=None,
    accepts=dtypes.nums("biufc"),
)


def where_indices(condition: Tensor | bool | list[bool | list[bool]]) -> Tensor:
    """The index tuples of the elements that are true or not zero, in row order, as int64."""
    return apply(WHERE_INDICES, operand(condition))


def _masked_kernel(x: np.ndarray, mask: np.ndarray, axis: int) -> np.ndarray:
    end = axis + mask.ndim
    must_fit(x.shape[axis:end] == mask.shape)
    flat = x.reshape(*x.shape[:axis], mask.size, *x.shape[end:])
    return flat.take(np.flatnonzero(mask), axis)


@where_ranked
def _infer_masked(x: Ranked, mask: Ranked, axis: int) -> ShapeDtype:
    end = axis + len(mask.shape)
    if not shapes.compatible(x.shape[axis:end], mask.shape):
        raise _mismatch(x, mask, x.shape[axis:end], mask.shape)
    return ShapeDtype((*x.shape[:axis], None, *x.shape[end:]), x.dtype)


def _mismatch(
    x: Value | ShapeDtype | Ranked,
    mask: Any,
    have: tuple[int, ...] | tuple[int | None, ...],
    wanted: tuple[int, ...] | tuple[int | None, ...],
) -> Exception:
    return invalid(
        "boolean_mask",
        f"shapes {TensorShape(have)} and {TensorShape(wanted)} are incompatible: the mask must "
        f"have the sizes of the axes it selects from",
        x,
        mask,
    )


BOOLEAN_MASK = Op(
    "boolean_mask",
    "x mask",
    kernel=_masked_kernel,
    infer=_infer_masked,
    lower=None,
    grad=(
        lambda g, mask, x_shape, axis: apply(UNMASK, g, mask, shape=tuple(x_shape), axis=axis),
        None,
    ),
    match=(),
)


def _unmask_kernel(
    g: np.ndarray, mask: np.ndarray, shape: tuple[int, ...], axis: int
) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    out[(*(slice(None),) * axis, mask)] = g
    return out


UNMASK = Op(
    "boolean_mask_grad",
    "g mask",
    kernel=_unmask_kernel,
    infer=lambda g, mask, shape, axis: ShapeDtype(shape, g.dtype),
    lower=None,
    grad=(lambda h, mask, axis: apply(BOOLEAN_MASK, h, mask, axis=axis), None),
    match=(),
)


@with_fallback
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, axis: Axis = None, name: str = "boolean_mask"
) -> Tensor:
    """The slices from `axis` on where `mask` is true, in order; the mask's axes become one.

    Args:
        tensor: a tensor.
        mask: truths, whose shape is that of the tensor from `axis` on; not a scalar.
        axis: where the mask begins; 0 by default.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        ValueError: the mask is a scalar, or its shape does not fit.

    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()
    [1, 3]
    """
    x, m = operand(tensor), operand(mask)
    if m.dtype.is_numeric:
        m = tf.cast(m, dtypes.bool_)
    require_dtype(m.dtype.is_bool, "boolean_mask", "`mask` must be boolean", m)
    dims, wanted = x._array.shape, m._array.shape
    require(wanted, "boolean_mask", "mask cannot be scalar", help="Give a vector of booleans.")
    dim = static_int("boolean_mask", axis, "axis", 0)
    dim = dim + len(dims) if dim < 0 else dim
    have = dims[dim : dim + len(wanted)]
    if known_unequal(have, wanted):
        raise _mismatch(x, m, opened(have), opened(wanted))
    if type(x) is SymbolicTensor and type(m) is Tensor and have == wanted:
        return _masked_by_constant(x, m._array, dim)
    return apply(BOOLEAN_MASK, x, m, axis=dim)


def _masked_by_constant(x: SymbolicTensor, mask: np.ndarray, axis: int) -> Tensor:
    """What a mask that a trace knows picks from a tensor: of known size, so XLA can run it."""
    dims = x._array.shape
    flat = tf.reshape(x, (*dims[:axis], mask.size, *dims[axis + mask.ndim :]))
    return tf.gather(flat, np.flatnonzero(mask), axis=axis)


def _one_hot_kernel(
    i: np.ndarray, depth: int, axis: int, on: bytes | float, off: bytes | float, dtype: DType
) -> np.ndarray:
    if i.size * depth >= _MANY:
        out = _large_one_hot(i.reshape(-1), depth, on, off, dtype).reshape(*i.shape, depth)
        return out if axis == i.ndim else np.moveaxis(out, -1, axis)
    hot = np.equal(i[..., None], np.arange(depth))
    if (on, off) == (1, 0):
        out = hot.astype(dtype.np)
    else:
        out = np.full(hot.shape, off, dtype.np)
        out[hot] = on
    return out if axis == i.ndim else np.moveaxis(out, -1, axis)


# From so many numbers on, those that are hot are written one by one.
_MANY = 2 * BLOCK


def _large_one_hot(
    i: np.ndarray, depth: int, on: bytes | float, off: bytes | float, dtype: DType
) -> np.ndarray:
    out = np.empty((i.size, depth), dtype.np)
    share(lambda part: out[part].fill(off), blocks_of(i.size, max(1, BLOCK // depth)))
    rows = np.flatnonzero((i >= 0) & (i < depth))
    out[rows, i[rows]] = on
    return out


@where_ranked
def _infer_one_hot(i: Ranked, depth: int, axis: int, on: int, off: int, dtype: DType) -> ShapeDtype:
    return ShapeDtype((*i.shape[:axis], depth, *i.shape[axis:]), dtype)


def _lower_one_hot(i: JaxArray, depth: int, axis: int, on: int, off: int, dtype: DType) -> JaxArray:
    shape = (*i.shape[:axis], depth, *i.shape[axis:])
    kept = [k for k in range(len(shape)) if k != axis]
    # Labels of 8 bits could not be compared with depths above their range.
    labels = lax.convert_element_type(lax.broadcast_in_dim(i, shape, kept), np.int64)
    hot = lax.eq(labels, lax.broadcasted_iota(labels.dtype, shape, axis))
    return lax.select(hot, lax.full(shape, on, dtype.np), lax.full(shape, off, dtype.np))


ONE_HOT = Op(
    "one_hot",
    "i",
    kernel=_one_hot_kernel,
    infer=_infer_one_hot,
    lower=_lower_one_hot,
    grad=None,
    accepts=_INDEX,
)


@with_fallback
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Rows with `on_value` (1) at the index and `off_value` (0) elsewhere.

    An index outside [0, depth) gives a row of `off_value` alone.

    Args:
        indices: whole numbers.
        depth: how many classes there are.
        on_value, off_value: what stands at the index and elsewhere; 1 and 0.
        axis: where the new axis stands; at the end by default.
        dtype: the dtype of the result; that of the values, or float32.
        name: without effect.

    Returns:
        A tensor of one rank more.

    Raises:
        InvalidArgumentError: `depth` is negative.
        TypeError: `on_value` and `off_value` have different dtypes.

    >>> tf.one_hot([0, 2], depth=3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    i = integer_operand(indices)
    if not i.dtype.is_integer:
        raise invalid_dtype("one_hot", "`indices` must be whole numbers", i)
    count = static("one_hot", depth)
    if not isinstance(count, int | Dim) or negative(count):
        raise invalid("one_hot", f"`depth` must be a number from 0 on; got {depth!r}")
    count = at_least("one_hot", "`depth`", count, 0)
    kind, given = _on_and_off(on_value, off_value, dtype)
    dim = static_int("one_hot", axis, "axis", -1)
    rank = i._array.ndim
    if not -1 <= dim <= rank:
        raise invalid("one_hot", f"`axis` must be -1 or from 0 to {rank}; got {dim}", i)
    dim = rank if dim == -1 else dim
    if any(map(is_dynamic, given)):
        hot = apply(ONE_HOT, i, depth=count, axis=dim, on=True, off=False, dtype=dtypes.bool_)
        hot_value, cold_value = (tf.stop_gradient(operand(v, kind)) for v in given)
        return tf.where(hot, hot_value, cold_value)
    on, off = (v if isinstance(v, int) else v._array.reshape(()).item() for v in given)
    return apply(ONE_HOT, i, depth=count, axis=dim, on=on, off=off, dtype=kind)


def _as_hinted(value: TensorLike | None, wanted: DType | None) -> Value | None:
    """A value as a tensor; Python numbers take the dtype that is wanted, if they fit it."""
    fits = wanted is not None and (
        (type(value) is int and wanted.kind in "iufc")
        or (type(value) is float and wanted.kind in "fc")
    )
    return None if value is None else operand(value, wanted if fits else None)


def _on_and_off(
    on_value: TensorLike | None, off_value: TensorLike | None, dtype: DType | DTypeLike | None
) -> tuple[DType, list[Any]]:
    """The dtype of a one-hot tensor and its two values."""
    if on_value is None and off_value is None and dtype is None:
        return dtypes.float32, [1, 0]
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    given = [_as_hinted(v, wanted) for v in (on_value, off_value)]
    result = {v.dtype for v in given if v is not None} | ({wanted} if wanted else set())
    if len(result) > 1:
        names = " and ".join(sorted(d.name for d in result))
        raise invalid_dtype(
            "one_hot", f"`on_value`, `off_value` and `dtype` must agree; got {names}"
        )
    kind = result.pop() if result else dtypes.float32
    require_dtype(
        kind.kind not in "bs" or None not in (on_value, off_value),
        "one_hot",
        f"{kind.name} needs both `on_value` and `off_value`",
    )
    values = [default if v is None else v for v, default in zip(given, (1, 0), strict=True)]
    for v in values:
        require(
            isinstance(v, int) or not known_unequal(v._array.size, 1),
            "one_hot",
            "`on_value` and `off_value` must be scalars",
            v,
        )
    return kind, values


def _lower_mask(x: JaxArray, maxlen: int, dtype: DType) -> JaxArray:
    shape = (*x.shape, maxlen)
    if x.dtype.kind in "iu":
        x = lax.convert_element_type(x, np.int64)
    steps = lax.broadcasted_iota(x.dtype, shape, x.ndim)
    hot = lax.lt(steps, lax.broadcast_in_dim(x, shape, range(x.ndim)))
    return as_numbers(hot, dtype.np)


def _steps(count: int, dtype: np.dtype) -> np.ndarray:
    """The numbers below `count`, of this dtype if it holds them: NumPy need not cast the others."""
    fits = dtype.kind in "iu" and count <= np.iinfo(dtype).max
    return np.arange(count, dtype=dtype if fits else None)


SEQUENCE_MASK = Op(
    "sequence_mask",
    "x",
    kernel=lambda x, maxlen, dtype: np.less(_steps(maxlen, x.dtype), x[..., None]).astype(
        dtype.np, copy=False
    ),
    infer=lambda x, maxlen, dtype: ShapeDtype(
        None if x.shape is None else (*x.shape, maxlen), dtype
    ),
    lower=_lower_mask,
    grad=None,
    accepts=dtypes.REAL,
)


def _longest(x: Any) -> int:
    """The greatest length, at least 0; in a trace, a number that the running function knows."""
    if not is_dynamic(x):
        return max(int(x._array.max()), 0) if x._array.size else 0
    flat = tf.concat([tf.reshape(tf.cast(x, dtypes.int64), [-1]), operand([0], dtypes.int64)], 0)
    return static_int("sequence_mask", tf.reduce_max(flat), "maxlen")


def sequence_mask(
    lengths: TensorLike,
    maxlen: TensorLike | None = None,
    dtype: DTypeLike = dtypes.bool_,
    name: str | None = None,
) -> Tensor:
    """Rows of `maxlen` (the greatest length) that are true for the first `lengths` places.

    A `maxlen` that is a float may have a fraction, which counts as a place.
    """
    x = operand(lengths)
    require_dtype(
        x.dtype.is_numeric or (x.dtype.kind == "b" and maxlen is not None),
        "sequence_mask",
        "`lengths` must be numbers",
        x,
    )
    most = None if maxlen is None else operand(maxlen)
    if x.dtype.kind == "b" or (x.dtype.is_floating and most is not None and most.dtype.is_integer):
        x = tf.cast(x, dtypes.int64)  # compared as whole numbers, like the `maxlen` that was given
    limit = _longest(tf.ceil(x) if x.dtype.is_floating else x) if most is None else _places(most)
    kind = number_type("sequence_mask", dtype)
    return apply(SEQUENCE_MASK, x, maxlen=limit, dtype=kind)


def _places(most: Value) -> int:
    """The length of rows that a number asks for."""
    if most.dtype.is_floating:
        most = tf.cast(tf.ceil(most), dtypes.int64)
    limit = static("sequence_mask", most)
    require(isinstance(limit, int | Dim), "sequence_mask", "`maxlen` must be one number", most)
    require(not negative(limit), "sequence_mask", f"`maxlen` must be 0 or more; got {limit}")
    return at_least("sequence_mask", "`maxlen`", limit, 0)


def _invert_kernel(x: np.ndarray) -> np.ndarray:
    inside = x.ndim == 1 and (not x.size or (x.min() >= 0 and x.max() < x.size))
    seen = np.zeros(x.size, bool)
    if inside:
        seen[x] = True
    require(
        inside and seen.all(),
        "invert_permutation",
        f"each number from 0 to {x.size - 1} must occur once",
        help="The argument is a vector that says where each element goes.",
    )
    out = np.empty_like(x)
    out[x] = np.arange(x.size, dtype=x.dtype)
    return out


def _lower_invert(x: JaxArray) -> JaxArray:
    steps = lax.iota(x.dtype, x.size)
    ranked, order = lax.sort_key_val(x, steps)
    fail_if(lambda: lax.ne(ranked, steps))
    return lax.convert_element_type(order, x.dtype)


def _infer_invert(x: ShapeDtype) -> ShapeDtype:
    require(x.shape is None or len(x.shape) == 1, "invert_permutation", "a vector was expected", x)
    return x


INVERT_PERMUTATION = Op(
    "invert_permutation",
    "x",
    kernel=_invert_kernel,
    infer=_infer_invert,
    lower=_lower_invert,
    grad=None,
    accepts=_INDEX,
    xla_share=20,
)


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`; anything but a permutation is an error."""
    x = integer_operand(x)
    require_dtype(x.dtype.is_integer, "invert_permutation", "whole numbers were expected", x)
    return apply(INVERT_PERMUTATION, x)


def _unravel_kernel(i: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    require(
        not i.size or (i.max() < int(np.prod(dims)) and i.min() >= 0),
        "unravel_index",
        lambda: f"an index is outside [0, {int(np.prod(dims))})",
        kind=InvalidIndexError,
    )
    return np.stack(np.unravel_index(i, dims)).astype(i.dtype)


def _lower_unravel(i: JaxArray, dims: tuple[int, ...]) -> JaxArray:
    parts = []
    fail_outside(i, math.prod(dims))
    for d in reversed(dims):
        size = lax.full_like(i, d)
        parts.append(lax.rem(i, size))
        i = lax.div(i, size)
    return lax.concatenate([lax.expand_dims(p, (0,)) for p in reversed(parts)], 0)


UNRAVEL_INDEX = Op(
    "unravel_index",
    "i",
    kernel=_unravel_kernel,
    infer=lambda i, dims: ShapeDtype(None if i.shape is None else (len(dims), *i.shape), i.dtype),
    lower=_lower_unravel,
    grad=None,
    accepts=_INDEX,
)


@with_fallback
def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """Flat indices as index tuples of an array of shape `dims`, one row per axis."""
    i = integer_tensor("unravel_index", integer_operand(indices))
    sizes = static_tuple("unravel_index", dims, "dims")
    require(i._array.ndim <= 1, "unravel_index", "`indices` must be a scalar or a vector", i)
    require(
        all(type(d) is not int or d >= 1 for d in sizes),
        "unravel_index",
        lambda: f"`dims` must be a vector of sizes; got {dims!r}",
    )
    return apply(UNRAVEL_INDEX, i, dims=sizes)
