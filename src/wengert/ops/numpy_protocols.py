"""NumPy's functions on tensors: what has an operation of ours goes there, so that tapes see it.

`np.sin(tensor)` is `tf.sin`, `array + tensor` is our reflected operator, `np.sum(tensor)` is
`tf.reduce_sum`. What has no counterpart, or arguments that ours does not take (`out=`, ...), runs
in NumPy on the arrays of eager tensors; a tensor without a value yet refuses, with a remedy.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.context import executing_eagerly
from wengert.core.errors import InvalidTypeError, at_site
from wengert.core.tensor import Tensor, Value
from wengert.core.variable import Variable
from wengert.ops import arithmetic, compare, complex, division, logical, power, select, unary
from wengert.ops import trigonometric as trig


def _matmul(x: Any, y: Any) -> Any:
    from wengert.ops.numpy_functions import matmul

    return matmul(x, y)


def _operator(name: str, reflected: str) -> Callable[[Any, Any], Any]:
    """An operator on two values of which at least one is a tensor."""

    def apply_operator(x: Any, y: Any) -> Any:
        return getattr(x, name)(y) if isinstance(x, Value) else getattr(y, reflected)(x)

    return apply_operator


UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: arithmetic.add,
    np.subtract: arithmetic.subtract,
    np.multiply: arithmetic.multiply,
    np.true_divide: arithmetic.truediv,
    np.negative: arithmetic.negative,
    np.floor_divide: division.floordiv,
    np.remainder: division.floormod,
    np.fmod: division.truncatemod,
    np.power: power.pow,
    np.square: power.square,
    np.sqrt: power.sqrt,
    np.reciprocal: power.reciprocal,
    np.exp: power.exp,
    np.expm1: power.expm1,
    np.log: power.log,
    np.log1p: power.log1p,
    np.absolute: unary.abs,
    np.sign: unary.sign,
    np.floor: unary.floor,
    np.ceil: unary.ceil,
    np.rint: unary.rint,
    np.tanh: unary.tanh,
    np.sin: trig.sin,
    np.cos: trig.cos,
    np.tan: trig.tan,
    np.arcsin: trig.asin,
    np.arccos: trig.acos,
    np.arctan: trig.atan,
    np.arctan2: trig.atan2,
    np.sinh: trig.sinh,
    np.cosh: trig.cosh,
    np.arcsinh: trig.asinh,
    np.arccosh: trig.acosh,
    np.arctanh: trig.atanh,
    np.maximum: select.maximum,
    np.minimum: select.minimum,
    np.equal: _operator("__eq__", "__eq__"),
    np.not_equal: _operator("__ne__", "__ne__"),
    np.less: compare.less,
    np.less_equal: compare.less_equal,
    np.greater: compare.greater,
    np.greater_equal: compare.greater_equal,
    np.isnan: compare.is_nan,
    np.isinf: compare.is_inf,
    np.isfinite: compare.is_finite,
    np.nextafter: compare.nextafter,
    np.logical_and: logical.logical_and,
    np.logical_or: logical.logical_or,
    np.logical_xor: logical.logical_xor,
    np.logical_not: logical.logical_not,
    np.bitwise_and: _operator("__and__", "__rand__"),
    np.bitwise_or: _operator("__or__", "__ror__"),
    np.bitwise_xor: _operator("__xor__", "__rxor__"),
    np.invert: lambda x: ~x,
    np.left_shift: logical.left_shift,
    np.right_shift: logical.right_shift,
    np.conjugate: complex.conj,
    np.matmul: _matmul,
    np.positive: lambda x: x,
    np.exp2: lambda x: power.pow(2.0, x),
    np.log2: lambda x: power.log(x) / float(np.log(2.0)),
    np.log10: lambda x: power.log(x) / float(np.log(10.0)),
    np.hypot: lambda x, y: power.sqrt(x * x + y * y),
    np.logaddexp: lambda x, y: x + unary.softplus(y - x),
}
# `array + tensor` arrives as a ufunc too, and an operator that we refuse must stay refused.
_OPERATORS = frozenset(
    (np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder, np.power,
     np.matmul, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
     np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.negative, np.absolute, np.invert)
)  # fmt: skip
# Booleans have no gradient to lose, so what we refuse NumPy may answer.
_TRUTHS = frozenset(
    (np.isnan, np.isinf, np.isfinite, np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
)


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Answers a NumPy ufunc of which some argument is a tensor."""
    ours = UFUNCS.get(ufunc)
    if ours is None or method != "__call__" or options:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return _in_numpy(getattr(ufunc, method), name, inputs, options)
    try:
        return ours(*inputs)
    except InvalidTypeError:
        if ufunc in _OPERATORS or (_differentiable(inputs) and ufunc not in _TRUTHS):
            raise
        return _in_numpy(ufunc, ufunc.__name__, inputs, options)


def _differentiable(values: Any) -> bool:
    return any(isinstance(x, Value) and x.dtype.is_differentiable for x in values)


# Functions whose results are whole numbers or truths, whatever they are given.
_PLACES = frozenset({np.all, np.any, np.argmax, np.argmin, np.argsort, np.count_nonzero})


def _has_differentiable(*values: Any) -> bool:
    """Whether a tape could follow one of the tensors in nested arguments."""
    for value in values:
        if isinstance(value, Value):
            if value.dtype.is_differentiable:
                return True
        elif isinstance(value, dict):
            if _has_differentiable(*value.values()):
                return True
        elif isinstance(value, list | tuple) and _has_differentiable(*value):
            return True
    return False


def _array_function(self: Any, function: Any, types: Any, args: Any, options: Any) -> Any:
    """Answers a NumPy function (`np.sum`, ...) of which some argument is a tensor."""
    from wengert.ops.numpy_functions import FUNCTIONS

    ours = FUNCTIONS.get(function) or _traced(function)
    if executing_eagerly() and (function in _PLACES or not _has_differentiable(args, options)):
        ours = None  # no tape would follow it, so it is NumPy's own, as in TensorFlow
    if ours is not None and _takes(ours, args, options):
        try:
            return ours(*args, **options)
        except InvalidTypeError:
            if _differentiable(args):
                raise
    where = function.__module__.partition(".")[2]
    name = f"{where}.{function.__name__}" if where else function.__name__
    return _in_numpy(function, name, args, options)


def _traced(function: Any) -> Any:
    if executing_eagerly():
        return None
    from wengert.ops.numpy_traced import TRACED

    return TRACED.get(function)


_signature = functools.cache(inspect.signature)


def _takes(function: Callable[..., Any], args: Any, options: Any) -> bool:
    try:
        _signature(function).bind(*args, **options)
    except TypeError:
        return False
    return True


def _in_numpy(function: Any, name: str, args: Any, options: Any) -> Any:
    """Runs NumPy on the arrays of eager tensors."""
    return function(*_arrays(name, args), **_arrays(name, options))


# What comes near NumPy's functions, with other arguments or results.
_NEAR = {
    f"linalg.{name}": f"tf.linalg.{name}"
    for name in (
        "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "norm", "pinv",
        "qr", "slogdet", "solve", "svd", "tensordot",
    )
}  # fmt: skip
_NEAR |= {
    f"fft.{n}": f"tf.signal.{n}" for n in ("fft", "fftshift", "ifft", "ifftshift", "irfft", "rfft")
}
_NEAR |= {"fft.fft2": "tf.signal.fft2d", "fft.ifft2": "tf.signal.ifft2d"}
_NEAR |= {"histogram": "tf.histogram_fixed_width", "interp": "tf.searchsorted and tf.gather"}
_NEAR |= {"median": "tf.sort", "percentile": "tf.sort", "quantile": "tf.sort", "cbrt": "tf.pow"}


def _arrays(name: str, value: Any) -> Any:
    """Nested arguments with the tensors replaced by their arrays."""
    if isinstance(value, Value):
        if not isinstance(value, Tensor | Variable) or not executing_eagerly():
            raise at_site(
                TypeError(
                    f"np.{name}: there is no operation of this meaning for a tensor that has no "
                    f"value yet. Use {_NEAR.get(name, 'a function of tf.')}, or wrap the call in "
                    f"tf.numpy_function."
                )
            )
        return value.__array__()
    if type(value) in (list, tuple):
        return type(value)(_arrays(name, v) for v in value)
    if type(value) is dict:
        return {k: _arrays(name, v) for k, v in value.items()}
    return value


def install() -> None:
    """Puts the two protocols on tensors and variables."""
    Value.__array_ufunc__ = _array_ufunc  # type: ignore[attr-defined]  # NumPy asks the type
    Value.__array_function__ = _array_function  # type: ignore[attr-defined]  # likewise
