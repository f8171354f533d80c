"""The names of `tf.math`."""

from wengert import special
from wengert.core.missing_names import namespace as _namespace
from wengert.ops.arithmetic import (
    accumulate_n,
    add,
    add_n,
    divide,
    multiply,
    negative,
    scalar_mul,
    squared_difference,
    subtract,
    truediv,
)  # fmt: skip
from wengert.ops.bessel import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
from wengert.ops.compare import (
    approximate_equal,
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    is_non_decreasing,
    is_strictly_increasing,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    nextafter,
    not_equal,
)  # fmt: skip
from wengert.ops.complex import angle, conj, imag, real
from wengert.ops.division import floordiv, floormod, mod
from wengert.ops.gamma import (
    betainc,
    digamma,
    igamma,
    igammac,
    lbeta,
    lgamma,
    polygamma,
    zeta,
)  # fmt: skip
from wengert.ops.guarded import (
    divide_no_nan,
    multiply_no_nan,
    reciprocal_no_nan,
    xdivy,
    xlog1py,
    xlogy,
)  # fmt: skip
from wengert.ops.histogram import bincount, confusion_matrix
from wengert.ops.indexing import invert_permutation
from wengert.ops.normalization import l2_normalize
from wengert.ops.positions import argmax, argmin, in_top_k
from wengert.ops.power import (
    exp,
    expm1,
    log,
    log1p,
    polyval,
    pow,
    reciprocal,
    rsqrt,
    sqrt,
    square,
)  # fmt: skip
from wengert.ops.reduce import (
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    zero_fraction,
)  # fmt: skip
from wengert.ops.scan import cumprod, cumsum, cumulative_logsumexp
from wengert.ops.segment import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)  # fmt: skip
from wengert.ops.select import maximum, minimum
from wengert.ops.smooth import softsign
from wengert.ops.softmax import log_softmax, softmax
from wengert.ops.sorting import approx_max_k, approx_min_k, top_k
from wengert.ops.special import erf, erfc, erfcinv, erfinv, ndtri
from wengert.ops.statistics import (
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_std,
    reduce_variance,
)  # fmt: skip
from wengert.ops.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
)  # fmt: skip
from wengert.ops.unary import (
    abs,
    ceil,
    floor,
    log_sigmoid,
    rint,
    round,
    sigmoid,
    sign,
    softplus,
    tanh,
)  # fmt: skip

__getattr__, __dir__ = _namespace("tf.math", globals())
