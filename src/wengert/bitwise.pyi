"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.ops.logical import bitwise_and as bitwise_and
from wengert.ops.logical import bitwise_or as bitwise_or
from wengert.ops.logical import bitwise_xor as bitwise_xor
from wengert.ops.logical import invert as invert
from wengert.ops.logical import left_shift as left_shift
from wengert.ops.logical import right_shift as right_shift
