"""The names of `tf.bitwise`."""

from wengert.core.missing_names import missing as _missing
from wengert.ops.logical import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]

__getattr__ = _missing("tf.bitwise", globals())
