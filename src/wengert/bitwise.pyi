"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.ops.compare import bitwise_and as bitwise_and
from wengert.ops.compare import bitwise_or as bitwise_or
from wengert.ops.compare import bitwise_xor as bitwise_xor
from wengert.ops.compare import invert as invert
from wengert.ops.compare import left_shift as left_shift
from wengert.ops.compare import right_shift as right_shift
