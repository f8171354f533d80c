"""Functions of one or two numbers, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.errors import at_site
from wengert.core.types import Tensor, TensorLike
from wengert.experimental.numpy_api.arrays import (
    array,
    astype,
    inexact,
    promoted,
    result_np,
)
from wengert.ops import public as tf
from wengert.ops import trigonometric
from wengert.ops.compare import bitwise_and as _and
from wengert.ops.compare import bitwise_or as _or
from wengert.ops.compare import bitwise_xor as _xor
from wengert.ops.compare import invert as _invert
from wengert.ops.complex import imag as _imag
from wengert.ops.complex import real as _real


def _of_fractions(op: Callable[[Tensor], Tensor]) -> Callable[[TensorLike], Tensor]:
    """A function of one number that gives fractions, also of whole numbers."""

    def function(x: TensorLike) -> Tensor:
        return op(inexact(x))

    function.__doc__ = op.__doc__
    return function


arccos = _of_fractions(trigonometric.acos)
arccosh = _of_fractions(trigonometric.acosh)
arcsin = _of_fractions(trigonometric.asin)
arcsinh = _of_fractions(trigonometric.asinh)
arctan = _of_fractions(trigonometric.atan)
arctanh = _of_fractions(trigonometric.atanh)
cos = _of_fractions(trigonometric.cos)
cosh = _of_fractions(trigonometric.cosh)
sin = _of_fractions(trigonometric.sin)
sinh = _of_fractions(trigonometric.sinh)
tan = _of_fractions(trigonometric.tan)
exp, expm1, log = (_of_fractions(op) for op in (tf.exp, tf.expm1, tf.log))
log1p, sqrt, tanh = (_of_fractions(op) for op in (tf.log1p, tf.sqrt, tf.tanh))


def ceil(x: TensorLike) -> Tensor:
    """The next whole numbers above."""
    return tf.ceil(inexact(x))


def floor(x: TensorLike) -> Tensor:
    """The next whole numbers below."""
    return tf.floor(inexact(x))


def fix(x: TensorLike) -> Tensor:
    """The next whole numbers towards zero."""
    x = inexact(x)
    return tf.where(x > 0, tf.floor(x), tf.ceil(x))


def abs(x: TensorLike) -> Tensor:
    """The sizes of numbers."""
    x = array(x)
    return x if x.dtype.kind in "bu" else tf.abs(x)


absolute = abs


def fabs(x: TensorLike) -> Tensor:
    """The sizes of numbers that are not complex."""
    return abs(x)


def negative(x: TensorLike) -> Tensor:
    """The numbers with the other sign."""
    return tf.negative(array(x))


def positive(x: TensorLike) -> Tensor:
    """The numbers as they are."""
    return tf.identity(array(x))


def sign(x: TensorLike, out: None = None, where: None = None, **kwargs: Any) -> Tensor:
    """−1, 0 or 1; complex numbers divided by their size."""
    return tf.sign(array(x))


def square(x: TensorLike) -> Tensor:
    """The squares."""
    return tf.square(array(x))


def cbrt(x: TensorLike) -> Tensor:
    """The real cube roots."""
    x = inexact(x)
    return tf.sign(x) * tf.pow(tf.abs(x), array(1.0 / 3, x.dtype))


def exp2(x: TensorLike) -> Tensor:
    """2 to the power of the numbers."""
    x = inexact(x)
    return tf.pow(array(2.0, x.dtype), x)


def log2(x: TensorLike) -> Tensor:
    """Logarithms to the base 2."""
    x = inexact(x)
    return tf.log(x) / array(np.log(2.0), x.dtype)


def log10(x: TensorLike) -> Tensor:
    """Logarithms to the base 10."""
    x = inexact(x)
    return tf.log(x) / array(np.log(10.0), x.dtype)


def reciprocal(x: TensorLike) -> Tensor:
    """1 divided by the numbers; whole ones are divided as such."""
    x = array(x)
    if x.dtype.kind in "biu":
        return tf.floordiv(array(1, x.dtype), x)
    return tf.reciprocal(x)


def sinc(x: TensorLike) -> Tensor:
    """sin(πx) / πx, and 1 at 0."""
    x = inexact(x)
    turned = x * array(np.pi, x.dtype)
    safe = tf.where(tf.equal(x, 0), tf.ones_like(x), turned)
    return tf.where(tf.equal(x, 0), tf.ones_like(x), tf.sin(safe) / safe)


def deg2rad(x: TensorLike) -> Tensor:
    """Degrees as radians."""
    x = inexact(x)
    return x * array(np.pi / 180.0, x.dtype)


def rad2deg(x: TensorLike) -> Tensor:
    """Radians as degrees."""
    x = inexact(x)
    return x * array(180.0 / np.pi, x.dtype)


def angle(z: TensorLike, deg: bool = False) -> Tensor:
    """The angles of complex numbers; 0 or π of real ones."""
    z = array(z)
    if z.dtype.is_complex:
        result = tf.angle(z)
    else:
        z = inexact(z)
        result = tf.where(z < 0, array(np.pi, z.dtype), array(0.0, z.dtype))
    return result * array(180.0 / np.pi, result.dtype) if deg else result


def conjugate(x: TensorLike) -> Tensor:
    """The complex conjugates."""
    return tf.conj(array(x))


conj = conjugate


def real(val: TensorLike) -> Any:
    """The real parts."""
    return _real(array(val))


def imag(val: TensorLike) -> Tensor:
    """The imaginary parts; zeros of real numbers."""
    val = array(val)
    return _imag(val) if val.dtype.is_complex else tf.zeros_like(val)


def around(a: TensorLike, decimals: int = 0) -> Tensor:
    """The numbers with so many decimals; halves go to the even neighbour."""
    a = array(a)
    kind = a.dtype
    if decimals == 0:
        return tf.round(a) if not kind.is_integer and kind.kind != "b" else a
    x = inexact(a)
    factor = array(10.0**decimals, x.dtype)
    return astype(tf.round(x * factor) / factor, kind)


round = around


def iscomplex(x: TensorLike) -> Tensor:
    """Whether the imaginary parts are not 0."""
    x = array(x)
    if x.dtype.is_complex:
        return tf.not_equal(_imag(x), array(0, x.dtype.real_dtype))
    return tf.zeros_like(x, dtype="bool")


def isreal(x: TensorLike) -> Tensor:
    """Whether the imaginary parts are 0."""
    return tf.logical_not(iscomplex(x))


def isfinite(x: TensorLike) -> Tensor:
    """Whether the numbers are neither infinite nor NaN."""
    return tf.is_finite(inexact(x))


def isinf(x: TensorLike) -> Tensor:
    """Whether the numbers are infinite."""
    x = array(x)
    return tf.is_inf(x) if x.dtype.is_floating else tf.zeros_like(x, dtype="bool")


def isnan(x: TensorLike) -> Tensor:
    """Whether the numbers are NaN."""
    return tf.is_nan(inexact(x))


def isneginf(x: TensorLike) -> Tensor:
    """Whether the numbers are minus infinity."""
    x = inexact(x)
    return tf.equal(x, array(-np.inf, x.dtype))


def isposinf(x: TensorLike) -> Tensor:
    """Whether the numbers are plus infinity."""
    x = inexact(x)
    return tf.equal(x, array(np.inf, x.dtype))


def signbit(x: TensorLike) -> Tensor:
    """Whether the numbers are below 0."""
    x = array(x)
    if x.dtype.kind == "b":
        return tf.zeros_like(x)
    return x < array(0, x.dtype)


def logical_not(x: TensorLike) -> Tensor:
    """Whether the numbers are 0."""
    return tf.logical_not(truth(x))


def truth(x: TensorLike) -> Tensor:
    """Whether the numbers are not 0."""
    x = array(x)
    return x if x.dtype.kind == "b" else tf.not_equal(x, array(0, x.dtype))


def bitwise_not(x: TensorLike) -> Tensor:
    """The numbers with all bits turned."""
    x = array(x)
    return tf.logical_not(x) if x.dtype.kind == "b" else _invert(x)


# Two numbers.


def add(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Sums; of truths, whether one holds."""
    x, y = promoted(x1, x2)
    return tf.logical_or(x, y) if x.dtype.kind == "b" else tf.add(x, y)


def subtract(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Differences."""
    return tf.subtract(*promoted(x1, x2))


def multiply(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Products; of truths, whether both hold."""
    x, y = promoted(x1, x2)
    return tf.logical_and(x, y) if x.dtype.kind == "b" else tf.multiply(x, y)


def _fractions(x1: TensorLike, x2: TensorLike) -> Any:
    """Two arguments in one dtype of fractions."""
    x, y = promoted(x1, x2)
    return [inexact(x), inexact(y)]


def true_divide(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Quotients, as fractions."""
    return tf.truediv(*_fractions(x1, x2))


divide = true_divide


def floor_divide(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Quotients rounded down."""
    x, y = promoted(x1, x2)
    if x.dtype.kind == "b":
        x, y = astype(x, np.int8), astype(y, np.int8)
    return tf.floordiv(x, y)


def mod(x1: TensorLike, x2: TensorLike) -> Tensor:
    """What is left by `floor_divide`."""
    x, y = promoted(x1, x2)
    if x.dtype.kind == "b":
        x, y = astype(x, np.int8), astype(y, np.int8)
    return tf.floormod(x, y)


remainder = mod


def divmod(x1: TensorLike, x2: TensorLike) -> tuple[Tensor, Tensor]:
    """Quotients rounded down, and what is left."""
    return floor_divide(x1, x2), mod(x1, x2)


def power(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Powers."""
    return tf.pow(*promoted(x1, x2))


def float_power(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Powers as fractions of the default precision at least."""
    return power(*_fractions(x1, x2))


def maximum(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The larger of two numbers."""
    x, y = promoted(x1, x2)
    return tf.logical_or(x, y) if x.dtype.kind == "b" else tf.maximum(x, y)


def minimum(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The smaller of two numbers."""
    x, y = promoted(x1, x2)
    return tf.logical_and(x, y) if x.dtype.kind == "b" else tf.minimum(x, y)


def arctan2(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The angle of the point (x2, x1)."""
    from wengert.ops.trigonometric import atan2

    return atan2(*_fractions(x1, x2))


def hypot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The distance of the point (x1, x2) from 0."""
    x, y = _fractions(x1, x2)
    return tf.sqrt(tf.square(x) + tf.square(y))


def _largest_first(x1: TensorLike, x2: TensorLike) -> tuple[Tensor, Tensor]:
    x, y = _fractions(x1, x2)
    return tf.maximum(x, y), -tf.abs(x - y)


def logaddexp(x1: TensorLike, x2: TensorLike) -> Tensor:
    """log(exp(x1) + exp(x2)) without overflow."""
    top, gap = _largest_first(x1, x2)
    return top + tf.log1p(tf.exp(gap))


def logaddexp2(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The same to the base 2."""
    top, gap = _largest_first(x1, x2)
    two = array(np.log(2.0), top.dtype)
    return top + tf.log1p(tf.exp(gap * two)) / two


def heaviside(x1: TensorLike, x2: TensorLike) -> Tensor:
    """0 for negative numbers, 1 for positive ones, and `x2` at 0."""
    x, y = _fractions(x1, x2)
    zero, one = tf.zeros_like(x), tf.ones_like(x)
    return tf.where(x < zero, zero, tf.where(x > zero, one, y))


def nextafter(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The next number after `x1` in the direction of `x2`."""
    from wengert.ops.compare import nextafter as following

    return following(*_fractions(x1, x2))


def _compared(op: Callable[..., Tensor]) -> Callable[[TensorLike, TensorLike], Tensor]:
    """A comparison of two numbers in the dtype that they have together."""
    return lambda x1, x2: op(*promoted(x1, x2))


equal, not_equal = _compared(tf.equal), _compared(tf.not_equal)
less, less_equal = _compared(tf.less), _compared(tf.less_equal)
greater, greater_equal = _compared(tf.greater), _compared(tf.greater_equal)


def logical_and(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Whether both numbers are not 0."""
    return tf.logical_and(truth(x1), truth(x2))


def logical_or(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Whether one of two numbers is not 0."""
    return tf.logical_or(truth(x1), truth(x2))


def logical_xor(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Whether one of two numbers, and not both, is not 0."""
    return tf.not_equal(truth(x1), truth(x2))


def _bits(x1: TensorLike, x2: TensorLike, on_bits: Any, on_truths: Any) -> Any:
    x, y = promoted(x1, x2)
    return on_truths(x, y) if x.dtype.kind == "b" else on_bits(x, y)


def bitwise_and(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The bits that both numbers have."""
    return _bits(x1, x2, _and, tf.logical_and)


def bitwise_or(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The bits that one of two numbers has."""
    return _bits(x1, x2, _or, tf.logical_or)


def bitwise_xor(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The bits that one of two numbers has, and not both."""
    return _bits(x1, x2, _xor, tf.not_equal)


def _whole(name: str, x1: TensorLike, x2: TensorLike) -> list[Tensor]:
    x, y = promoted(x1, x2)
    if x.dtype.kind not in "iu":
        raise at_site(ValueError(f"{name}: whole numbers are needed; got {x.dtype.name}."))
    return [x, y]


def gcd(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The greatest common divisors."""
    from wengert.functions.while_loop import while_loop

    x, y = (abs(v) for v in _whole("gcd", x1, x2))
    x, y = x + tf.zeros_like(y), y + tf.zeros_like(x)
    zero = tf.zeros_like(y)

    def step(x: Any, y: Any) -> tuple[Tensor, Tensor]:
        safe = tf.where(tf.equal(y, 0), tf.ones_like(y), y)
        return tf.where(tf.equal(y, 0), x, y), tf.where(tf.equal(y, 0), zero, tf.floormod(x, safe))

    return while_loop(lambda x, y: tf.reduce_any(tf.not_equal(y, 0)), step, (x, y))[0]


def lcm(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The least common multiples."""
    x, y = (abs(v) for v in _whole("lcm", x1, x2))
    common = gcd(x, y)
    safe = tf.where(tf.equal(common, 0), tf.ones_like(common), common)
    return tf.where(tf.equal(common, 0), tf.zeros_like(common), tf.floordiv(x, safe) * y)


def isclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether two numbers are the same to a tolerance."""
    x, y = promoted(a, b)
    if x.dtype.kind in "biu":
        x, y = inexact(x), inexact(y)
    near = tf.less_equal(
        tf.abs(x - y), array(atol, x.dtype.real_dtype) + array(rtol, x.dtype.real_dtype) * tf.abs(y)
    )
    result = tf.logical_or(tf.equal(x, y), tf.logical_and(near, tf.is_finite(tf.abs(y))))
    if equal_nan:
        result = tf.logical_or(result, tf.logical_and(tf.not_equal(x, x), tf.not_equal(y, y)))
    return result


def allclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether all numbers of two arrays are the same to a tolerance."""
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Whether two arrays have one shape and the same numbers."""
    x, y = promoted(a1, a2)
    if x.shape.is_fully_defined() and y.shape.is_fully_defined() and x.shape != y.shape:
        return array(False)
    return tf.reduce_all(tf.equal(x, y))


def clip(a: TensorLike, a_min: TensorLike | None, a_max: TensorLike | None) -> Tensor:
    """The numbers within bounds."""
    if a_min is None and a_max is None:
        raise at_site(ValueError("clip: a bound is needed. Give `a_min` or `a_max`."))
    result = array(a)
    if a_min is not None:
        result = maximum(result, a_min)
    return result if a_max is None else minimum(result, a_max)


def where(condition: TensorLike, x: Any = None, y: Any = None) -> Any:
    """Elements of `x` where a condition holds, else of `y`; alone, the places where it holds."""
    test = truth(condition)
    if (x is None) != (y is None):
        raise at_site(ValueError("where: give both `x` and `y`, or neither."))
    if x is None:
        from wengert.experimental.numpy_api.shaping import nonzero

        return nonzero(test)
    return tf.where(test, *promoted(x, y))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """From each place of the first choice whose condition holds there, else `default`."""
    if len(condlist) != len(choicelist):
        found = f"{len(condlist)} and {len(choicelist)}"
        raise at_site(
            ValueError(f"select: there must be as many conditions as choices; got {found}.")
        )
    kind = result_np(*choicelist, default)
    result = array(default, kind)
    for test, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = tf.where(truth(test), array(choice, kind), result)
    return result
