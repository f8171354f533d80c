"""What a family of operations is written with: one import brings it.

`unary` and `binary` fill in the shape rule of elementwise operations; everything else is declared
with `Op` in full. `function_of` makes the function that users call. `static` turns what users give
for shapes and axes into plain Python numbers. What else most families need of the core (the door,
conversion, errors, sizes, JAX's modules, types) and `tf`, the functions of other families, this
module hands on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core import late_operations as late
from wengert.core.apply import apply, apply1, apply2, wrap
from wengert.core.context import executing_eagerly, get_state
from wengert.core.convert import operand, operand_or_empty, operands, to_tensor
from wengert.core.dims import formula, is_open, known_unequal, larger, negative, smaller
from wengert.core.errors import (
    InvalidArgumentError,
    InvalidIndexError,
    InvalidTypeError,
    UnimplementedError,
    at_site,
    describe,
    invalid,
    invalid_dtype,
    require,
    require_dtype,
)
from wengert.core.fallbacks import fallback, with_fallback
from wengert.core.lazy_modules import jax, jnp, lax, special
from wengert.core.lowering_checks import (
    as_numbers,
    as_value,
    broadcast_shapes,
    fail_if,
    is_symbol,
    must_be_fixed,
)
from wengert.core.nest import too_deep
from wengert.core.op import Joint
from wengert.core.op_facts import TAME, Hazards, Pole
from wengert.core.padded_stacks import Padded
from wengert.core.shapes import check_axis
from wengert.core.symbolic import as_number, is_symbolic
from wengert.core.types import (
    Axis,
    Dim,
    DType,
    DTypeLike,
    IndexedSlices,
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    ShapeLike,
    SymbolicTensor,
    Tensor,
    TensorLike,
    TensorShape,
    Value,
    Variable,
)
from wengert.ops import public as tf

_INT = {int}
_NUMBER = {int, Dim}
_F = TypeVar("_F", bound=Callable[..., Any])
P = ParamSpec("P")
_NAMES = {"apply1": apply1, "apply2": apply2, "operand": operand, "operands": operands}
_op: Any = None  # of a function that `function_of` makes
HALF = frozenset({dtypes.float16.np.num, dtypes.bfloat16.np.num})


def where_ranked(infer: Callable[..., Any]) -> Callable[..., ShapeDtype]:
    """A shape rule that is asked where the ranks of all inputs are known.

    For an unknown rank the result has an unknown shape, and the dtype of the attribute `dtype` or
    else of the first input.
    """

    @functools.wraps(infer)
    def rule(*inputs: ShapeDtype, **attrs: Any) -> ShapeDtype:
        if any(x.shape is None for x in inputs):
            return ShapeDtype(None, attrs.get("dtype", inputs[0].dtype))
        return infer(*inputs, **attrs)

    return rule


def unary(
    name: str,
    kernel: Callable[..., Any],
    lower: Callable[..., Any] | None,
    grad: Any,
    accepts: frozenset[int] = dtypes.INEXACT,
    dtype: dtypes.DType | None = None,
    elementwise: bool = True,
    **options: Any,
) -> Op:
    """An elementwise operation of one tensor; the result has its dtype, or `dtype`."""

    def infer(x: ShapeDtype, **attrs: Any) -> ShapeDtype:
        return ShapeDtype(x.shape, dtype or x.dtype)

    return Op(
        name,
        "x",
        kernel=kernel,
        infer=infer,
        lower=lower,
        grad=grad,
        accepts=accepts,
        pointwise=True,
        elementwise=elementwise,
        **options,
    )


def binary(
    name: str,
    kernel: Callable[..., Any],
    lower: Callable[..., Any] | None,
    grad: Any,
    accepts: frozenset[int] = dtypes.NUMERIC,
    dtype: dtypes.DType | None = None,
    fails: Callable[[Any, Any], None] | None = None,
    elementwise: bool = True,
    **options: Any,
) -> Op:
    """An elementwise operation of two tensors that broadcast against each other.

    `fails` notes what compiled code cannot raise, from the arguments as they are.
    """

    def infer(x: ShapeDtype, y: ShapeDtype, **attrs: Any) -> ShapeDtype:
        return ShapeDtype(shapes.broadcast(name, x.shape, y.shape), dtype or x.dtype)

    return Op(
        name,
        "x y",
        kernel=kernel,
        infer=infer,
        lower=broadcasting(lower, fails),
        grad=grad,
        accepts=accepts,
        broadcasts=True,
        elementwise=elementwise,
        **options,
    )


def broadcasting(
    lower: Callable[..., Any] | None, fails: Callable[..., None] | None = None
) -> Callable[..., Any] | None:
    """Gives a lowering that wants equal shapes arguments of equal shape."""
    if lower is None:
        return None

    def broadcast_first(*xs: JaxArray | np.ndarray, **attrs: Any) -> JaxArray:
        if fails is not None:
            fails(*xs)
        shape = xs[0].shape
        if all(x.shape == shape for x in xs):
            return lower(*xs, **attrs)
        shape = broadcast_shapes(*[x.shape for x in xs])
        return lower(*[expand(x, shape) for x in xs], **attrs)

    return broadcast_first


def expand(x: JaxArray | np.ndarray, shape: tuple[int, ...]) -> JaxArray | np.ndarray:
    """Broadcasts a JAX array to `shape` by `lax` alone."""
    if x.shape == shape:
        return x
    return lax.broadcast_in_dim(x, shape, range(len(shape) - x.ndim, len(shape)))


def _one(x: Any, name: str | None = None) -> Any:
    return apply1(_op, operand(x))


def _two(x: Any, y: Any, name: str | None = None) -> Any:
    return apply2(_op, *operands(_op.name, x, y))


def function_of(
    op: Op, template: FunctionType | None = None, **names: Any
) -> Callable[[Callable[P, Any]], Callable[P, Tensor]]:
    """Gives a function of which only the head is written its body, that of `template`.

    Without one it is a function of one or two tensors and `name`. The parameters keep their own
    names. What the body refers to is `_op`, the operation, `_function`, the function itself, and
    `names`.
    """

    def with_body(function: Any) -> Any:
        own, body = function.__code__, template or (_one, _two)[len(op.inputs) - 1]
        code = body.__code__.replace(
            co_name=own.co_name,
            co_qualname=own.co_qualname,
            co_varnames=own.co_varnames + body.__code__.co_varnames[own.co_argcount :],
        )
        known = {**(names or _NAMES), "_op": op, "__name__": function.__module__}
        made: Any = FunctionType(code, known, own.co_name, body.__defaults__)
        known["_function"] = made
        made.__doc__, made.__annotations__ = function.__doc__, function.__annotations__
        return made

    return with_body


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a kernel compute half-precision arguments in float32 and round once at the end."""

    @functools.wraps(kernel)
    def widened(
        *xs: np.ndarray, **attrs: Any
    ) -> np.generic | np.ndarray | tuple[np.generic | np.ndarray, ...]:
        for x in xs:
            if x.dtype.num in HALF:
                half = x.dtype
                break
        else:
            return kernel(*xs, **attrs)
        out = kernel(*[x.astype(np.float32) if x.dtype.num in HALF else x for x in xs], **attrs)
        if isinstance(out, tuple):
            return tuple(_narrow(o, half) for o in out)
        return _narrow(out, half)

    return widened


def lower_in_float32(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a lowering compute half-precision arguments in float32 and round once at the end."""

    @functools.wraps(lower)
    def widened(*xs: JaxArray | np.ndarray, **attrs: Any) -> Any:
        half = next((x.dtype for x in xs if x.dtype.kind in "fV" and x.dtype.itemsize == 2), None)
        if half is None:
            return lower(*xs, **attrs)
        out = lower(*[_convert(x, half, np.dtype(np.float32)) for x in xs], **attrs)
        if isinstance(out, tuple):
            return tuple(_convert(o, np.dtype(np.float32), half) for o in out)
        return _convert(out, np.dtype(np.float32), half)

    return widened


def _convert(x: JaxArray | np.ndarray | Padded, old: np.dtype, new: np.dtype) -> Any:
    if type(x) is Padded:
        return x.mapped(lambda a: _convert(a, old, new))
    return lax.convert_element_type(x, new) if x.dtype == old else x


def without_fp_warnings(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Keeps a kernel that calls another library's Python from warning about infinities in it."""

    @functools.wraps(kernel)
    def silent(*xs: Any, **attrs: Any) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            return kernel(*xs, **attrs)

    return silent


def _narrow(out: np.generic | np.ndarray, half: np.dtype) -> np.ndarray:
    out = np.asarray(out)
    return out.astype(half) if out.dtype == np.float32 else out


def rank_of(x: Value) -> int | None:
    """The rank of a tensor, or `None` where a trace does not know it."""
    return x.shape.rank if type(x) is SymbolicTensor else x._array.ndim


def normalized_axis(name: str, axis: int, x: Any, extra: int = 0) -> int:
    """An axis of a tensor, or of one with `extra` more axes, as a non-negative number.

    Where the rank is unknown, axes can only be counted from the front.
    """
    if type(x) is SymbolicTensor and type(axis) is int and axis >= 0 and x.shape.rank is None:
        return axis
    return shapes.check_axis(name, axis, x._array.ndim + extra)


def is_dynamic(value: Any) -> bool:
    """Whether a tensor has its value only when the function that is being traced runs."""
    kind = type(value)
    if kind is Tensor or kind is tuple or kind is list:
        return False
    return kind is SymbolicTensor or (isinstance(value, Variable) and not executing_eagerly())


def has_unknown_length(value: Any) -> bool:
    """Whether how many numbers a tensor holds is known only when the traced function runs."""
    return is_dynamic(value) and not value.shape.is_fully_defined()


def with_length(value: Any, *shape: int) -> Any:
    """A tensor of numbers, with the shape that it must have where a trace does not know it."""
    if not has_unknown_length(value):
        return value
    from wengert.ops.cast import ensure_shape

    return ensure_shape(value, shape)


def must_fit(fits: Any, rule: str = "the shapes do not fit") -> None:
    """Fails a kernel unless its arrays fit each other; the shape rule then words the error."""
    if not fits:
        raise ValueError(rule)


def number_type(name: str, dtype: DTypeLike) -> dtypes.DType:
    """The dtype of a result that counts or tells truth, which text cannot be."""
    kind = dtypes.as_dtype(dtype)
    require_dtype(
        kind is not dtypes.string,
        name,
        "the result cannot be of dtype string",
        help="Use tf.as_string.",
    )
    return kind


def static(name: str, value: Any) -> Any:
    """Axes or sizes as plain Python ints in (nested) tuples; `None` stays `None`."""
    kind = type(value)
    if value is None or kind is int or kind is Dim:
        return value
    if (kind is list or kind is tuple) and {*map(type, value)} == _INT:
        return tuple(value)
    if isinstance(value, Variable) and not executing_eagerly():
        value = late.READ.call(value)
    if isinstance(value, SymbolicTensor):
        return _symbolic(name, value)
    value = without_fractions(value)
    if isinstance(value, Value):
        value = value._array
    if isinstance(value, shapes.TensorShape):
        value = value.as_list()
    if isinstance(value, np.ndarray):
        require_dtype(value.dtype.kind in "iu", name, "whole numbers were expected", value)
        return _tuples(value.tolist())
    if _is_list(value):
        try:
            return tuple(static(name, _whole(v)) for v in value)
        except RecursionError as error:
            raise too_deep(name, error, value) from None
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        raise invalid_dtype(name, "whole numbers were expected", value) from None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def integer_operand(value: Any) -> Value:
    """An integer tensor of labels, lengths or positions; NumPy may hold them as floats or booleans."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype not in (np.int32, np.int64):
        value = _narrowed(without_fractions(value))
    return operand_or_empty(value, dtypes.int32)


def _narrowed(value: np.ndarray) -> np.ndarray:
    if value.dtype.kind not in "biu":
        return value
    narrow = value.astype(np.int32)
    return narrow if np.array_equal(narrow, value) else value


def without_fractions(value: Any) -> Any:
    """NumPy's floats as integers, if they are whole, as they come from its arithmetic on sizes."""
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind != "f":
        return value
    whole = np.isfinite(value) & (np.abs(value) < 2**53) & (value == np.floor(value))
    return np.asarray(value, np.int64) if whole.all() else value


def _whole(value: Any) -> Any:
    """A fraction among tensors that make up a shape is cut off, as TensorFlow does eagerly."""
    single = isinstance(value, Tensor) and not is_symbolic(value) and value._array.ndim == 0
    return int(value) if single and value.dtype.is_floating else value


def _symbolic(name: str, value: SymbolicTensor) -> tuple[int, ...] | Dim:
    require_dtype(value.dtype.is_integer, name, "whole numbers were expected", value)
    return as_number(value)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _static_or_none(name: str, value: Any) -> Any:
    try:
        return static(name, value)
    except InvalidTypeError:
        return None


def remedy_for_none(value: Any) -> str:
    """What to do about `None` among sizes, which in a trace is one that nobody knows yet."""
    if isinstance(value, shapes.TensorShape):
        value = value.as_list() if value.rank is not None else [None]
    parts = value if _is_list(value) else () if executing_eagerly() else (value,)
    if not any(n is None for p in parts for n in (p if _is_list(p) else (p,))):
        return ""
    return "For a size that is None while tracing use tf.shape(x)[i]."


def static_tuple(name: str, value: TensorLike, what: str = "shape") -> tuple[int, ...]:
    """Like `static`, for the argument `what`: a flat list, or a single number as a tuple of one."""
    if type(value) is int:
        return (value,)
    result = _static_or_none(name, value)
    if isinstance(result, int | Dim):
        return (result,)  # type: ignore[return-value]  # an unknown size acts as a number
    if result is None or not _NUMBER.issuperset(map(type, result)):
        help = remedy_for_none(value)
        raise invalid_dtype(name, f"`{what}` must be a list of whole numbers", value, help=help)
    return result


def static_int(
    name: str, value: TensorLike | None, what: str = "axis", default: int | None = None
) -> int:
    """Like `static`, for the argument `what` that must be one number; `default` is for `None`."""
    if type(value) is int:
        return value
    if value is None and default is not None:
        return default
    result = _static_or_none(name, value)
    if not isinstance(result, int | Dim):
        help = "" if what == "axis" else remedy_for_none(value)
        raise invalid_dtype(name, f"`{what}` must be one whole number", value, help=help)
    return result  # type: ignore[return-value]  # an unknown number acts as a number


def _followed(value: Value) -> bool:
    """Whether somebody will want a derivative by the value; others only look on."""
    state = get_state()
    result = () if state is None else state.listeners
    return any(x.differentiates and x.follows((value,)) for x in result)


def static_float(name: str, value: Any, what: str) -> float:
    """A Python or NumPy number, or a scalar tensor, as a float for the argument `what`.

    No gradient reaches it, so one that a tape follows is refused; a function would freeze a
    variable.
    """
    if isinstance(value, Variable) and not executing_eagerly():
        value = late.READ.call(value)
    if isinstance(value, Value) and _followed(value):
        rule = (
            f"`{what}` must be a plain number; a tape follows this one, and no gradient reaches it"
        )
        raise invalid_dtype(name, rule, value, help=f"Give float({what}).")
    if type(value) is SymbolicTensor:
        return float(value)  # says why there is no number
    array = value._array if isinstance(value, Value) else value
    try:
        if isinstance(array, str | bytes):
            raise TypeError
        return float(array)
    except (TypeError, ValueError):
        raise invalid_dtype(name, f"`{what}` must be one number", value) from None


def need_rank(name: str, x: Any, least: int, most: int | None = None) -> int | None:
    """The rank of a tensor or `ShapeDtype`; an error unless it lies within the bounds."""
    shape = x._array.shape if isinstance(x, Value) else x.shape
    if shape is None:
        return None
    rank = len(shape)
    if rank < least or (most is not None and rank > most):
        if most is None:
            rule = f"a tensor of rank {least} or more is needed"
        elif most == least:
            rule = f"a tensor of rank {least} is needed"
        else:
            rule = f"a tensor of rank {least} to {most} is needed"
        raise invalid(name, rule, x)
    return rank
