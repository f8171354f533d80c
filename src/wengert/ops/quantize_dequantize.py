"""Numbers rounded to the steps that signed or unsigned whole numbers of some bits would have.

0 is always a step. The range is that of the numbers themselves, unless one is given.
"""

from __future__ import annotations

from typing import Any

from wengert.ops.declare import (
    Tensor,
    TensorLike,
    Value,
    apply,
    normalized_axis,
    operand,
    require,
    require_dtype,
    static_int,
    tf,
)
from wengert.ops.fake_quantize import IN_PLACE_OF

_ROUND = {"HALF_TO_EVEN": lambda x: tf.round(x), "HALF_UP": lambda x: tf.floor(x + 0.5)}


def quantize_and_dequantize(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True,
    num_bits: int = 8, range_given: bool = False, round_mode: str = "HALF_TO_EVEN",
    name: str | None = None, narrow_range: bool = False, axis: int | None = None,
) -> Tensor:  # fmt: skip
    """Like `quantize_and_dequantize_v2`, but the whole gradient passes, that of clipped numbers too."""
    x, low, high = _arguments("quantize_and_dequantize", input, input_min, input_max, axis)
    value = _value("quantize_and_dequantize", x, low, high, signed_input, num_bits, range_given,
                   round_mode, narrow_range, axis)  # fmt: skip
    return apply(IN_PLACE_OF, x, value)


def quantize_and_dequantize_v2(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True,
    num_bits: int = 8, range_given: bool = False, round_mode: str = "HALF_TO_EVEN",
    name: str | None = None, narrow_range: bool = False, axis: int | None = None,
) -> Tensor:  # fmt: skip
    """Numbers rounded to the steps that whole numbers of `num_bits` bits have in a range.

    The gradient passes the rounding where a number lies between `input_min` and `input_max`; that
    of other numbers goes to the end of the range, as in TensorFlow also where these are not taken
    for the range.

    Args:
        input: a floating tensor.
        input_min, input_max: the range, if `range_given`; scalars, or vectors along `axis`.
        signed_input: whether the whole numbers have a sign.
        num_bits: how many bits they have, the sign's included.
        range_given: `False` takes the smallest and largest number for the range.
        round_mode: 'HALF_TO_EVEN' or 'HALF_UP'.
        name: without effect.
        narrow_range: `True` leaves out the lowest signed number, so that the steps are symmetric.
        axis: an axis each index of which has a range of its own.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the range does not fit, or `num_bits` or `round_mode` is none of these.

    >>> x = tf.quantization.quantize_and_dequantize_v2([1.1, -2.0], 0.0, 0.0, num_bits=3)
    >>> x.numpy().tolist()
    [1.0, -2.0]
    """
    name = "quantize_and_dequantize_v2"
    x, low, high = _arguments(name, input, input_min, input_max, axis)
    value = _value(name, x, low, high, signed_input, num_bits, range_given,
                   round_mode, narrow_range, axis)  # fmt: skip
    return apply(IN_PLACE_OF, tf.clip_by_value(x, low, high), value)


def _arguments(
    name: str, input: TensorLike, low: TensorLike, high: TensorLike, axis: int | None
) -> tuple[Value, Value, Value]:
    """The tensors; the ends of the range broadcast to the input."""
    x = operand(input)
    require_dtype(x.dtype.is_floating, name, "`input` must be floating", x)
    ends = operand(low, x.dtype), operand(high, x.dtype)
    if axis is None:
        for end in ends:
            require(not end._array.ndim, name, "`input_min` and `input_max` must be scalars", end)
        return x, *ends
    place = normalized_axis(name, static_int(name, axis, "axis"), x)
    rule = "`input_min` and `input_max` must be vectors of the size of `axis`"
    for end in ends:
        require(end._array.ndim == 1, name, rule, end, x)
    form = [-1, *[1] * (x._array.ndim - place - 1)]
    return x, tf.reshape(ends[0], form), tf.reshape(ends[1], form)


def _value(
    name: str, input: Value, low: Any, high: Any, signed: bool, num_bits: Any, given: bool,
    round_mode: str, narrow: bool, axis: int | None,
) -> Tensor:  # fmt: skip
    """The rounded numbers, which have no gradient."""
    bits = static_int(name, num_bits, "num_bits")
    last = 61 if signed else 62
    require(1 <= bits <= last, name, f"`num_bits` must be from 1 to {last}; got {bits}")
    require(round_mode in _ROUND, name,
            f"`round_mode` must be 'HALF_TO_EVEN' or 'HALF_UP'; got {round_mode!r}")  # fmt: skip
    x: Any = tf.stop_gradient(input)
    low, high = tf.stop_gradient(low), tf.stop_gradient(high)
    if given:
        tf.assert_less_equal(low, high, f"{name}: `input_min` must not exceed `input_max`")
    else:
        place = None if axis is None else axis % x._array.ndim
        others = None if place is None else [k for k in range(x._array.ndim) if k != place]
        low = tf.reduce_min(x, others, keepdims=place is not None)
        high = tf.reduce_max(x, others, keepdims=place is not None)
    first = -(1 << (bits - 1)) + bool(narrow) if signed else 0
    top = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    bottom, scale, step, end = _steps(low, high, float(first), float(top))
    kept = tf.clip_by_value(x, bottom, end) if given else x
    return _ROUND[round_mode](kept * scale) * step


def _steps(low: Any, high: Any, first: float, last: float) -> tuple[Any, Any, Any, Any]:
    """The range in which 0 is a step, how many steps there are to 1, and the step."""
    most = low.dtype.max
    below = tf.where(low * first > 0.0, first / low, most)
    above = tf.where(high * last > 0.0, last / high, most)
    by_low = below < above
    scale = tf.where(by_low, below, above)
    step = tf.where(by_low, low / (first or 1.0), high / (last or 1.0))
    bottom = tf.where(by_low, low, first * step)
    return bottom, scale, step, tf.where(by_low, last * step, high)
