"""The names of `tf.bitwise`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.compare import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]

__getattr__, __dir__ = _namespace("tf.bitwise", globals())
