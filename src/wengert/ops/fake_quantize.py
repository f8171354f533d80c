"""Numbers rounded as if they had been quantised, for training networks that will be.

A range is moved a little so that 0 is one of its steps, numbers are clipped to it and rounded to
the nearest step. The gradient passes the rounding as it is; what was clipped gives its gradient
to the end of the range that clipped it.
"""

from __future__ import annotations

from typing import Any

from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    operand,
    require,
    static_int,
    tf,
)
from wengert.ops.shape_checks import sized
from wengert.ops.shaping import sum_to

# A value for which another tensor stands in when it comes to gradients.
IN_PLACE_OF = Op(
    "in_place_of",
    "x value",
    kernel=lambda x, value: value,
    infer=lambda x, value: ShapeDtype(value.shape, value.dtype),
    lower=lambda x, value: value,
    grad=(lambda g: g, None),
    accepts=dtypes.FLOAT,
)


def _nudged(low: Tensor, high: Tensor, first: float, last: float) -> tuple[Tensor, Tensor, Tensor]:
    """The range with 0 on one of its steps, and the step; a range of nothing at 0 has step 1."""
    low, high = tf.stop_gradient(low), tf.stop_gradient(high)
    step = tf.where((low == 0.0) & (high == 0.0), 1.0, (high - low) / (last - first))
    zero = first - low / step
    zero = tf.where(zero < first, first, tf.where(zero > last, last, tf.floor(zero + 0.5)))
    return (first - zero) * step, (last - zero) * step, step


def _rounded(
    name: str, x: Value, low: Tensor, high: Tensor, num_bits: int, narrow_range: bool
) -> Tensor:
    bits = static_int(name, num_bits, "num_bits")
    require(2 <= bits <= 16, name, f"`num_bits` must be from 2 to 16; got {bits}")
    bottom, top, step = _nudged(low, high, 1.0 if narrow_range else 0.0, 2.0**bits - 1.0)
    kept = tf.clip_by_value(x, apply(IN_PLACE_OF, low, bottom), apply(IN_PLACE_OF, high, top))
    zero = tf.floor(-bottom * (1.0 / step) + 0.5)
    value = tf.floor((tf.stop_gradient(kept) - bottom) * (1.0 / step) - zero + 0.5) * step
    nothing = (low == 0.0) & (high == 0.0)
    result = apply(IN_PLACE_OF, kept, value)
    return tf.where(nothing, apply(IN_PLACE_OF, x, tf.zeros_like(x)), result)


def _scalars(name: str, *xs: Value) -> None:
    for x in xs:
        require(not x._array.ndim, name, "`min` and `max` must be scalars", x)


def _channels(name: str, x: Value, *ends: Any) -> list[Tensor]:
    """The ends of the ranges of all channels."""
    rule = "`min` and `max` must be vectors with a number for each channel, the last axis"
    require(x._array.ndim, name, rule, x, *ends)
    return [sized(name, rule, end, (x._array.shape[-1],), x) for end in ends]


def _ends(min: float, max: float) -> tuple[Any, Any]:
    return operand(min, dtypes.float32), operand(max, dtypes.float32)


def _constant_ends(name: str, min: Any, max: Any) -> tuple[Tensor, Tensor]:
    require(float(min) < float(max), name, f"`min` must be smaller than `max`; got {min} and {max}")
    return _ends(float(min), float(max))


def fake_quant_with_min_max_args(
    inputs: TensorLike, min: TensorLike = -6.0, max: TensorLike = 6.0, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers rounded to the `2**num_bits` steps of a fixed range."""
    which = "fake_quant_with_min_max_args"
    low, high = _constant_ends(which, min, max)
    return _rounded(which, operand(inputs, dtypes.float32), low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers rounded to the `2**num_bits` steps of a range that may be learned."""
    which = "fake_quant_with_min_max_vars"
    low, high = _ends(min, max)
    _scalars(which, low, high)
    return _rounded(which, operand(inputs, dtypes.float32), low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with a range for each channel, the last axis."""
    which = "fake_quant_with_min_max_vars_per_channel"
    x = operand(inputs, dtypes.float32)
    low, high = _ends(min, max)
    low, high = _channels(which, x, low, high)
    return _rounded(which, x, low, high, num_bits, narrow_range)


def _pulled(
    g: Any, x: Value, low: Any, high: Any, num_bits: int, narrow_range: bool
) -> tuple[Any, Any, Any]:
    """The gradients of the numbers and of the two ends, given that of the result."""
    bottom, top, _ = _nudged(low, high, 1.0 if narrow_range else 0.0, 2.0**num_bits - 1.0)
    nothing = (low == 0.0) & (high == 0.0)
    inside = nothing | ((x >= bottom) & (x <= top))
    beyond = (~nothing & (x < bottom), ~nothing & (x > top))
    ends = [sum_to(tf.where(at, g, 0.0), low._array.shape) for at in beyond]
    return tf.where(inside, g, 0.0), *ends


def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike, inputs: TensorLike, min: TensorLike = -6.0, max: TensorLike = 6.0, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of `fake_quant_with_min_max_args`, given that of its result."""
    low, high = _constant_ends("fake_quant_with_min_max_args_gradient", min, max)
    g, x = operand(gradients, dtypes.float32), operand(inputs, dtypes.float32)
    return _pulled(g, x, low, high, num_bits, narrow_range)[0]


def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike, inputs: TensorLike, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradients of the arguments of `fake_quant_with_min_max_vars`."""
    low, high = _ends(min, max)
    _scalars("fake_quant_with_min_max_vars_gradient", low, high)
    g, x = operand(gradients, dtypes.float32), operand(inputs, dtypes.float32)
    return _pulled(g, x, low, high, num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike, inputs: TensorLike, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradients of the arguments of `fake_quant_with_min_max_vars_per_channel`."""
    g, x = operand(gradients, dtypes.float32), operand(inputs, dtypes.float32)
    low, high = _ends(min, max)
    low, high = _channels("fake_quant_with_min_max_vars_per_channel_gradient", x, low, high)
    return _pulled(g, x, low, high, num_bits, narrow_range)
