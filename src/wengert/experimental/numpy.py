"""The names of `tf.experimental.numpy`: NumPy's functions on tensors."""

from __future__ import annotations

from numpy import (
    bool_,
    complex64,
    complex128,
    e,
    float16,
    float32,
    float64,
    iinfo,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    issubdtype,
    newaxis,
    object_,
    pi,
    uint8,
    uint16,
    uint32,
    uint64,
)
from numpy import bytes_ as string_
from numpy import complex128 as complex_
from numpy import float64 as float_
from numpy import int64 as int_
from numpy import str_ as unicode_

from wengert.core.name_tables import lazily as _lazily
from wengert.core.name_tables import read as _read
from wengert.core.types import Tensor as ndarray

_HOME = "experimental.numpy_api"
_TABLE = {
    f"{_HOME}.arrays": "array",
    f"{_HOME}.behavior": "experimental_enable_numpy_behavior finfo",
    f"{_HOME}.creation": (
        "arange asanyarray asarray ascontiguousarray copy diag_indices empty empty_like eye full "
        "full_like geomspace identity ix_ linspace logspace meshgrid ones ones_like tri vander zeros "
        "zeros_like"
    ),
    f"{_HOME}.elementwise": (
        "abs absolute add allclose angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh around "
        "array_equal bitwise_and bitwise_not bitwise_or bitwise_xor cbrt ceil clip conj conjugate cos "
        "cosh deg2rad divide divmod equal exp exp2 expm1 fabs fix float_power floor floor_divide gcd "
        "greater greater_equal heaviside hypot imag isclose iscomplex isfinite isinf isnan isneginf "
        "isposinf isreal lcm less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and "
        "logical_not logical_or logical_xor maximum minimum mod multiply negative nextafter not_equal "
        "positive power rad2deg real reciprocal remainder round select sign signbit sin sinc sinh "
        "sqrt square subtract tan tanh true_divide where"
    ),
    f"{_HOME}.products": "cross dot einsum inner kron matmul outer polyval tensordot vdot",
    f"{_HOME}.random": "*=random",
    f"{_HOME}.reductions": (
        "all amax amin any argmax argmin argsort average count_nonzero cumprod cumsum max mean min "
        "nanmean nanprod nansum prod ptp sort std sum var"
    ),
    f"{_HOME}.shaping": (
        "append atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to compress concatenate "
        "diag diagflat diagonal diff dsplit dstack expand_dims flatten flip fliplr flipud hsplit "
        "hstack iscomplexobj isrealobj isscalar moveaxis ndim nonzero pad promote_types ravel repeat "
        "reshape result_type roll rot90 shape size split squeeze stack swapaxes take take_along_axis "
        "tile trace transpose tril triu vsplit vstack"
    ),
}

_PLACES = _read(_TABLE)
__getattr__, __dir__ = _lazily("tf.experimental.numpy", _PLACES, globals())
