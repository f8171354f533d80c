"""Changing the element type of a tensor, or what its bits mean, and stating its shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core.composite_operands import CompositeOperand
from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    DType,
    DTypeLike,
    IndexedSlices,
    JaxArray,
    Op,
    ShapeDtype,
    ShapeLike,
    Tensor,
    TensorLike,
    UnimplementedError,
    apply,
    as_numbers,
    dtypes,
    invalid,
    lax,
    must_fit,
    operand,
    require,
    require_dtype,
    shapes,
    tf,
    to_tensor,
)


def _cast_kernel(x: np.ndarray, dtype: DType) -> np.ndarray:
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = np.real(x)
    if dtype.kind in "iu" and x.dtype.kind not in "iub":
        return _to_integer(x, dtype)
    return x.astype(dtype.np)


# Floats go to 8 and 16 bits by way of int32, which is then clipped.
_NARROW = dtypes.nums("int8", "int16", "uint8", "uint16")


def _stage(dtype: DType) -> tuple[DType, float, float, int]:
    """The integer type a float is truncated to, the open range it holds, and the answer outside.

    The answer is the one that x86 processors give, on every machine.
    """
    stage = dtypes.int32 if dtype.np.num in _NARROW else dtype
    half = 2.0 ** (stage.size * 8 - 1)
    if stage.is_unsigned:
        return stage, -half, 2 * half, int(half)
    return stage, -half - 1 if stage.size == 4 else -half, half, -int(half)


def _to_integer(x: np.ndarray, dtype: DType) -> np.ndarray:
    stage, low, high, outside = _stage(dtype)
    # The least and the largest number tell whether all fit; NaN compares as false.
    if x.size > 32 and not stage.is_unsigned and low < float(x.min()) and float(x.max()) < high:
        return _narrowed(x.astype(stage.np), dtype)
    wide = x if x.dtype.num == dtypes.float64.np.num else x.astype(np.float64)
    fits = (wide > low) & (wide < high)
    if stage.is_unsigned:
        return _to_unsigned(np.where(fits, wide, 0.0), fits, stage, outside)
    whole = np.where(fits, wide, 0.0).astype(stage.np)
    return _narrowed(np.where(fits, whole, stage.np.type(outside)), dtype)


def _narrowed(whole: np.ndarray, dtype: DType) -> np.ndarray:
    """The integers in `dtype`, clipped to its range if it has 8 or 16 bits."""
    if dtype.np.num not in _NARROW:
        return whole.astype(dtype.np, copy=False)
    return np.minimum(np.maximum(whole, dtype.min), dtype.max).astype(dtype.np)


def _to_unsigned(wide: np.ndarray, fits: np.ndarray, stage: DType, outside: int) -> np.ndarray:
    """Numbers below 0 wrap; those above the signed range are moved down and back up."""
    large = wide >= 2.0**63
    low = np.where(large, wide - 2.0**63, wide).astype(np.int64).astype(np.uint64)
    whole = np.where(large, low + np.uint64(2**63), low).astype(stage.np)
    return np.where(fits, whole, stage.np.type(outside))


def _lower_to_integer(x: JaxArray, dtype: DType) -> JaxArray:
    stage, low, high, outside = _stage(dtype)
    wide = lax.convert_element_type(x, np.float64)
    zero = lax.full_like(wide, 0)
    fits = lax.bitwise_and(
        lax.gt(wide, lax.full_like(wide, low)), lax.lt(wide, lax.full_like(wide, high))
    )
    safe = lax.select(fits, wide, zero)
    if stage.is_unsigned:
        half = lax.full_like(wide, 2.0**63)
        large = lax.ge(safe, half)
        down = lax.convert_element_type(lax.select(large, lax.sub(safe, half), safe), np.int64)
        low_bits = lax.convert_element_type(down, np.uint64)
        up = lax.add(low_bits, lax.full_like(low_bits, np.uint64(2**63)))
        whole = lax.convert_element_type(lax.select(large, up, low_bits), stage.np)
    else:
        whole = lax.convert_element_type(safe, stage.np)
    whole = lax.select(fits, whole, lax.full_like(whole, stage.np.type(outside)))
    if dtype.np.num in _NARROW:
        whole = lax.clamp(np.int32(dtype.min), whole, np.int32(dtype.max))
    return lax.convert_element_type(whole, dtype.np)


def _lower_cast(x: JaxArray, dtype: DType, x_dtype: DType) -> JaxArray:
    if x_dtype.is_complex and not dtype.is_complex:
        x = lax.real(x)
    if dtype.is_bool:
        return lax.ne(x, lax.full_like(x, 0))
    if dtype.is_integer and x_dtype.is_differentiable:
        return _lower_to_integer(x, dtype)
    if x_dtype.is_bool and not dtype.is_integer:
        return as_numbers(x, dtype.np)
    return lax.convert_element_type(x, dtype.np)


CAST = Op(
    "cast",
    "x",
    kernel=lambda x, dtype, x_dtype: _cast_kernel(x, dtype),
    infer=lambda x, dtype, x_dtype: ShapeDtype(x.shape, dtype),
    lower=_lower_cast,
    grad=lambda g, x_dtype: cast(g, x_dtype),
    holomorphic=False,
    rows=True,
    hazards=TAME,
    harmless=True,
    unchanged=lambda x, dtype, x_dtype: x.dtype is dtype,
    contents=known_elements.same,
    elementwise=True,
    on_sparse=True,
)


def cast(x: Any, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Changes the dtype.

    Fractions are cut off, integers wrap, complex numbers lose their imaginary part. A float that an
    integer type cannot hold, NaN included, becomes the type's lowest value (for uint32 and uint64
    the middle of the range). Those that an int32 can hold are clipped to the range of the types of
    8 and 16 bits. Use `saturate_cast` to clip all.

    Args:
        x: a tensor of numbers or truths, also sparse or ragged.
        dtype: the dtype of the result.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        UnimplementedError: strings are involved.

    >>> tf.cast([1.9, -1.9], tf.int32).numpy().tolist()
    [1, -1]
    """
    wanted = dtypes.as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        slices: Any = IndexedSlices(cast(x.values, wanted), x.indices, x._dense_shape)
        return slices
    x = operand(x)
    own = x.dtype
    if own is wanted:
        same: Any = x if isinstance(x, CompositeOperand) else to_tensor(x)
        return same
    if own.kind == "s" or wanted.kind == "s":
        raise invalid(
            "cast",
            f"{own.name} does not convert to {wanted.name}",
            help="Use tf.strings.to_number or tf.strings.as_string.",
            kind=UnimplementedError,
        )
    return apply(CAST, x, dtype=wanted, x_dtype=own)


late.CAST.fill(cast)


def _limits(dtype: DType) -> tuple[float, float]:
    """The ends of a type as Python numbers, which compare exactly."""
    plain = float if dtype.is_floating else int
    return plain(dtype.min), plain(dtype.max)


def _bounds(own: DType, wanted: DType) -> tuple[np.generic, np.generic]:
    """The range that both types share, in numbers of `own`, rounded inwards."""
    ends = zip(_limits(own), _limits(wanted), strict=True)
    low, high = (pick(pair) for pick, pair in zip((max, min), ends, strict=True))
    kind = own.np.type
    if own.is_integer:
        return kind(int(low)), kind(int(high))
    least, most = kind(float(low)), kind(float(high))
    return (
        np.nextafter(least, kind(0)) if float(least) < low else least,
        np.nextafter(most, kind(0)) if float(most) > high else most,
    )


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """`cast`, with numbers outside the range of either type moved to its ends first, not NaN."""
    wanted = dtypes.as_dtype(dtype)
    x = operand(value)
    own = x.dtype
    if own.is_complex:
        if wanted.is_complex:
            part = wanted.real_dtype
            return tf.complex(saturate_cast(tf.real(x), part), saturate_cast(tf.imag(x), part))
        x, own = tf.real(x), own.real_dtype
    target = wanted.real_dtype
    require_dtype(
        own.is_numeric and target.is_numeric,
        "saturate_cast",
        f"numbers were expected, for {wanted.name} too",
        x,
    )
    return cast(tf.clip_by_value(x, *_bounds(own, target)), wanted)


def _bitcast_shape(x: ShapeDtype, dtype: DType) -> shapes.Shape:
    """Narrower elements get a new last axis; wider ones use the last axis up."""
    old, new = x.dtype.size, dtype.size
    if x.shape is None or old == new:
        return x.shape
    if old > new:
        return (*x.shape, old // new)
    require(
        x.shape and x.shape[-1] in (None, new // old),
        "bitcast",
        lambda: f"the last size must be {new // old} to make {dtype.name} of {x.dtype.name}",
        x,
        help="Reshape the tensor first.",
    )
    return x.shape[:-1]


def _bitcast(x: np.ndarray, dtype: DType) -> np.ndarray:
    shape: Any = _bitcast_shape(ShapeDtype(x.shape, dtypes.of(x)), dtype)
    return np.ascontiguousarray(x).reshape(-1).view(dtype.np).reshape(shape)


def _lower_bitcast(x: JaxArray, dtype: DType) -> JaxArray:
    shape: Any = _bitcast_shape(ShapeDtype(x.shape, dtypes.as_dtype(x.dtype)), dtype)
    if x.dtype.kind == "c":
        # XLA does not look into complex numbers: their parts go side by side first.
        parts = [lax.expand_dims(p, (x.ndim,)) for p in (lax.real(x), lax.imag(x))]
        pair = lax.concatenate(parts, x.ndim)
        if dtype.size == x.dtype.itemsize and not dtype.is_complex:
            return lax.bitcast_convert_type(pair, dtype.np)
        flat = lax.bitcast_convert_type(pair, dtype.real_dtype.np)
        if not dtype.is_complex:
            return lax.reshape(flat, shape)
        return _paired(lax.reshape(flat, (*shape, 2)))
    if dtype.is_complex:
        flat = lax.bitcast_convert_type(x, dtype.real_dtype.np)
        return _paired(lax.reshape(flat, (*shape, 2)))
    return lax.bitcast_convert_type(x, dtype.np)


def _paired(x: JaxArray) -> JaxArray:
    axis = x.ndim - 1
    return lax.complex(
        lax.index_in_dim(x, 0, axis, keepdims=False), lax.index_in_dim(x, 1, axis, keepdims=False)
    )


BITCAST = Op(
    "bitcast",
    "x",
    kernel=_bitcast,
    infer=lambda x, dtype: ShapeDtype(_bitcast_shape(x, dtype), dtype),
    lower=_lower_bitcast,
    grad=None,
    accepts=dtypes.NUMERIC,
    view=True,
)


def bitcast(input: TensorLike, type: str | DType, name: str | None = None) -> Tensor:
    """The same bits read as another number type; the last axis splits or joins elements."""
    wanted = dtypes.as_dtype(type)
    require_dtype(
        wanted.is_numeric, "bitcast", f"the new type must hold numbers; got {wanted.name}"
    )
    return apply(BITCAST, operand(input), dtype=wanted)


def _infer_ensure(x: ShapeDtype, shape: shapes.Shape) -> ShapeDtype:
    require(
        shapes.compatible(x.shape, shape),
        "ensure_shape",
        lambda: f"the shape {shapes.TensorShape(x.shape)} is not {shapes.TensorShape(shape)}",
        x,
    )
    return ShapeDtype(shapes.merge(x.shape, shape), x.dtype)


def _ensure(x: np.ndarray, shape: shapes.Shape) -> np.ndarray:
    must_fit(shapes.compatible(x.shape, shape), "another shape was promised")
    return x


ENSURE_SHAPE = Op(
    "ensure_shape",
    "x",
    kernel=_ensure,
    infer=_infer_ensure,
    lower=_ensure,
    grad=lambda g: g,
    view=True,
)


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The same tensor, or an error where its shape does not fit; `None` fits any size.

    Args:
        x: a tensor.
        shape: the shape that it must have; `None` within it fits any size.
        name: without effect.

    Returns:
        `x`; inside functions its shape is known afterwards.

    Raises:
        InvalidArgumentError: the shape does not fit; inside functions, when they run.

    >>> tf.ensure_shape(tf.ones([2, 3]), [None, 3]).shape
    TensorShape([2, 3])
    """
    return apply(ENSURE_SHAPE, operand(x), shape=shapes.as_shape(shape))
