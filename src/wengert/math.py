"""The names of `tf.math`."""

from wengert.ops.arithmetic import (
    accumulate_n, add, add_n, divide, multiply, negative, scalar_mul, squared_difference,
    subtract, truediv,
)  # fmt: skip
from wengert.ops.compare import (
    approximate_equal, equal, greater, greater_equal, is_finite, is_inf, is_nan,
    is_non_decreasing, is_strictly_increasing, less, less_equal, nextafter, not_equal,
)  # fmt: skip
from wengert.ops.complex import angle, conj, imag, real
from wengert.ops.division import floordiv, floormod, mod
from wengert.ops.indexing import invert_permutation
from wengert.ops.guarded import (
    divide_no_nan, multiply_no_nan, reciprocal_no_nan, xdivy, xlog1py, xlogy,
)  # fmt: skip
from wengert.ops.logical import logical_and, logical_not, logical_or, logical_xor
from wengert.ops.power import (
    exp, expm1, log, log1p, polyval, pow, reciprocal, rsqrt, sqrt, square,
)  # fmt: skip
from wengert.ops.select import maximum, minimum
from wengert.ops.trigonometric import (
    acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan,
)  # fmt: skip
from wengert.ops.unary import (
    abs, ceil, floor, log_sigmoid, rint, round, sigmoid, sign, softplus, tanh,
)  # fmt: skip
from wengert.ops.reduce import reduce_sum
