"""NumPy's functions on tensors: arrays, as in TensorFlow, linked to tensors where a tape follows.

Eagerly NumPy computes `np.sin(tensor)` from the tensor's array. Where a tape follows the tensor,
`tf.sin` runs as well, and the result is an array that leads back to it (`numpy_arrays`). In a trace
there is no array, so `np.sin(tensor)` is `tf.sin`; what has no counterpart is refused, with a remedy.
`array + tensor` is the tensor's reflected operator everywhere.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.ops import arithmetic, compare, complex, division, power, select, unary
from wengert.ops import trigonometric as trig
from wengert.ops.declare import (
    InvalidTypeError,
    SymbolicTensor,
    Tensor,
    TensorLike,
    Value,
    Variable,
    at_site,
    executing_eagerly,
)
from wengert.ops.numpy_arrays import (
    Linked,
    LinkedScalar,
    answer,
    as_tensors,
    plain,
    values_of,
    written,
)

if TYPE_CHECKING:
    from wengert.ops.numpy_arrays import LinkedArray


def _matmul(x: Tensor | np.ndarray, y: Tensor | np.ndarray) -> Tensor:
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
    np.logical_and: compare.logical_and,
    np.logical_or: compare.logical_or,
    np.logical_xor: compare.logical_xor,
    np.logical_not: compare.logical_not,
    np.bitwise_and: _operator("__and__", "__rand__"),
    np.bitwise_or: _operator("__or__", "__ror__"),
    np.bitwise_xor: _operator("__xor__", "__rxor__"),
    np.invert: lambda x: ~x,
    np.left_shift: compare.left_shift,
    np.right_shift: compare.right_shift,
    np.conjugate: complex.conj,
    np.matmul: _matmul,
    np.positive: lambda x: x,
    np.exp2: lambda x: power.pow(2.0, x),
    np.log2: lambda x: power.log(x) / float(np.log(2.0)),
    np.log10: lambda x: power.log(x) / float(np.log(10.0)),
    np.hypot: lambda x, y: power.sqrt(x * x + y * y),
    np.logaddexp: lambda x, y: x + unary.softplus(y - x),
}
# `array + tensor` of a trace arrives as a ufunc too, and what an operator refuses stays refused.
_OPERATORS = frozenset(
    (np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder, np.power,
     np.matmul, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
     np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.negative, np.absolute, np.invert)
)  # fmt: skip
# Booleans have no gradient to lose, so what we refuse NumPy may answer.
_TRUTHS = frozenset(
    (np.isnan, np.isinf, np.isfinite, np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
)


def _traced_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Tensor:
    """Answers a NumPy ufunc of which some argument is a tensor, in a trace."""
    inputs = as_tensors(inputs)
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


class _InTraces:
    """`__array_ufunc__` of tensors, which exists in a trace alone.

    NumPy looks it up on the class. Where it is missing, NumPy converts tensors by `__array__`, hands
    the result to `__array_wrap__`, and leaves `array + tensor` to the tensor for its
    `__array_priority__`; with it `array + tensor` could not be told from `np.add(array, tensor)`.
    """

    def __get__(self, holder: Any, kind: type | None = None) -> Any:
        if executing_eagerly():
            raise AttributeError("__array_ufunc__")
        return _traced_ufunc


def _array_wrap(
    self: Tensor, array: np.ndarray, context: Any = None, return_scalar: bool = False
) -> np.generic | np.ndarray | LinkedArray:
    """What a ufunc of an eager tensor gives: NumPy's result, which NumPy hands over here."""
    result = array[()] if return_scalar else array
    if context is None:
        return answer(result, None, (self,), {})
    ufunc, args, _ = context
    ours = UFUNCS.get(ufunc) if ufunc.nout == 1 else None
    return answer(result, ours, args[: ufunc.nin], {})


def _linked_ufunc(
    self: LinkedArray, ufunc: Any, method: str, *inputs: LinkedArray, **options: Any
) -> np.ndarray | Tensor:
    """Answers a NumPy ufunc of which some argument is an array with a link."""
    if not executing_eagerly() and any(isinstance(x, Value) for x in inputs):
        return _traced_ufunc(self, ufunc, method, *inputs, **options)
    outs = options.get("out", ())
    for array in (*outs, *inputs[: method == "at"]):
        written(array)
    result = _in_numpy(getattr(ufunc, method), ufunc.__name__, inputs, options)
    if outs:
        return _returned(result, outs)
    ours = UFUNCS.get(ufunc) if method == "__call__" and not options else None
    return answer(result, ours, inputs, options)


def _returned(result: TensorLike, outs: tuple[LinkedArray, ...]) -> Any:
    """The arrays that were written to, as they were given."""
    if not isinstance(result, tuple):
        return outs[0]
    return tuple([r if o is None else o for r, o in zip(result, outs, strict=True)])


def _differentiable(values: Any) -> bool:
    return any(isinstance(x, Value) and x.dtype.is_differentiable for x in values)


# Functions that write to their first argument.
_WRITERS = frozenset({np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis})
# Functions whose results have nothing of the values of their arguments.
_BLANKS = frozenset({np.zeros_like, np.ones_like, np.empty_like, np.full_like})


def _array_function(
    self: Value | LinkedArray, function: Any, types: tuple[type, ...], args: Any, options: Any
) -> Any:
    """Answers a NumPy function (`np.sum`, ...) of which some argument is a tensor."""
    where = function.__module__.partition(".")[2]
    name = f"{where}.{function.__name__}" if where else function.__name__
    if not executing_eagerly() and any(isinstance(x, Value) for x in values_of([args, options])):
        return _traced_function(function, name, as_tensors(args), as_tensors(options))
    out = options.get("out")
    first = args[0] if args else next(iter(options.values()))
    for array in (out, first if function in _WRITERS else None):
        written(array)
    result = _in_numpy(function, name, args, options)
    if out is not None:
        return _returned(result, out if isinstance(out, tuple) else (out,))
    if function in _BLANKS:
        return result
    ours = _functions().get(function)
    if ours is not None and not _takes(ours, args, options):
        ours = None
    return answer(result, ours, args, options)


def _traced_function(
    function: Any, name: str, args: tuple[SymbolicTensor, ...], options: Any
) -> Tensor:
    from wengert.ops.numpy_functions import TRACED

    ours = _functions().get(function) or TRACED.get(function)
    if ours is not None and _takes(ours, args, options):
        try:
            return ours(*args, **options)
        except InvalidTypeError:
            if _differentiable(args):
                raise
    return _in_numpy(function, name, args, options)


def _functions() -> dict[Any, Callable[..., Any]]:
    from wengert.ops.numpy_functions import FUNCTIONS

    return FUNCTIONS


_signature = functools.cache(inspect.signature)


def _takes(function: Callable[..., Any], args: Any, options: Any) -> bool:
    try:
        _signature(function).bind(*args, **options)
    except TypeError:
        return False
    return True


def _in_numpy(function: Any, name: str, args: Any, options: Any) -> Any:
    """Runs NumPy on the arrays of eager tensors, and of arrays with a link."""
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
    """Nested arguments with tensors, and arrays with a link, replaced by plain arrays."""
    if isinstance(value, Linked):
        return plain(value)
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


def _forward(ufunc: Any) -> Callable[[Any, Any], Any]:
    """An infix operator of linked scalars; beside a tensor it is the tensor's."""
    return lambda self, other: NotImplemented if isinstance(other, Value) else ufunc(self, other)


def _reflected(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: ufunc(other, self)


_INFIX = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}


def install() -> None:
    """Puts the protocols on tensors, variables and arrays with a link."""
    Value.__array_ufunc__ = _InTraces()  # type: ignore[attr-defined]  # NumPy asks the type
    Value.__array_wrap__ = _array_wrap  # type: ignore[attr-defined]  # likewise
    Value.__array_function__ = _array_function  # type: ignore[attr-defined]  # likewise
    Linked.__array_ufunc__ = _linked_ufunc  # type: ignore[attr-defined]  # likewise
    Linked.__array_function__ = _array_function  # type: ignore[attr-defined]  # likewise
    for name, ufunc in _INFIX.items():
        setattr(LinkedScalar, f"__{name}__", _forward(ufunc))
        setattr(LinkedScalar, f"__r{name}__", _reflected(ufunc))
    LinkedScalar.__neg__ = lambda self: np.negative(self)  # type: ignore[attr-defined]  # as above
    LinkedScalar.__abs__ = lambda self: np.absolute(self)  # type: ignore[attr-defined]  # as above
