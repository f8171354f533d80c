"""From Python and NumPy values to tensors.

Python numbers adopt the dtype of the tensor they meet; NumPy arrays keep theirs unless they meet
a tensor; a list that contains tensors is stacked by an operation, so tapes see it. `operand` is
what operations use (a variable stays a variable: an implicit read; so does a composite that they
take), `to_tensor` what users get.
"""

from __future__ import annotations

from array import array as TypedArray
from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes, nest
from wengert.core import late_operations as late
from wengert.core.apply import CONVERTED, wrap
from wengert.core.composite_operands import CompositeOperand
from wengert.core.context import executing_eagerly
from wengert.core.dims import Dim
from wengert.core.dtypes import DType
from wengert.core.errors import (
    at_site,
    describe,
    exhausted,
    invalid_dtype,
    unexpected,
)
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.shapes import TensorShape
from wengert.core.sites import caller
from wengert.core.tensor import Tensor, Value
from wengert.core.tensorflow_values import array_of, is_foreign, refused
from wengert.core.variable import Variable

if TYPE_CHECKING:
    from wengert.core.types import DTypeLike, TensorLike


_INT32, _INT64 = np.iinfo(np.int32), np.iinfo(np.int64)
_MOST_SCALARS = 1024
# What counts as a list of its elements.
_SEQUENCES = frozenset({range, deque, TypedArray, bytearray, memoryview})
_LARGE, _ALIGNMENT = 2**16, 64  # bytes


def operand(value: Any, dtype: DType | None = None, hint: DType | None = None) -> Any:
    """A tensor or variable for `value`; of `dtype` exactly, or of `hint` where it can adopt."""
    kind = type(value)
    if kind is Tensor or kind is Variable:
        if dtype is not None and value.dtype is not dtype:
            raise _mismatch(value, dtype)
        return value
    if hint is not None and dtype is None and (kind is float or kind is int):
        return scalar(value, hint)
    if isinstance(value, Value):
        if CONVERTED and isinstance(value, tuple(CONVERTED)):
            return by_program(value, dtype)
        if dtype is not None and value.dtype is not dtype:
            raise _mismatch(value, dtype)
        return value
    if type(value) is Dim:
        return late.NUMBER.call(value, dtype or hint)
    if isinstance(value, TensorShape):
        value.assert_is_fully_defined()
        value = value.as_list() or np.zeros(0, np.int32)
    if type(value) is IndexedSlices:
        return operand(late.DENSIFY.call(value), dtype, hint)
    if isinstance(value, CompositeOperand):
        if dtype is not None and value.dtype is not dtype:
            raise _mismatch(value, dtype)
        return value
    convert = getattr(value, "__tf_tensor__", None)
    if convert is not None:
        adopt = getattr(value, "_as_operand", None)  # of an array with a link: it takes a hint
        if adopt is not None:
            return adopt(dtype, hint)
        if not is_foreign(kind):
            return convert(dtype=dtype or None)
        value = array_of(value)
    if CONVERSIONS:
        result = by_program(value, dtype)
        if result is not NotImplemented:
            return result
    if kind in _SEQUENCES:
        value = list(value)
    if isinstance(value, list | tuple):
        try:
            if _holds_tensors(value):
                return _packed(value, dtype, hint)
        except RecursionError as error:
            raise nest.too_deep("convert_to_tensor", error, value) from None
    return wrap(to_array(value, dtype, hint), caller())


def operand_or_empty(value: TensorLike, dtype: DType) -> Value:
    """A tensor or variable for `value`; empty lists, which have no type, take `dtype`."""
    return operand(value, None, dtype if _is_empty(value) else None)


def _is_empty(value: Any) -> bool:
    try:
        return isinstance(value, list | tuple) and all(map(_is_empty, value))
    except RecursionError as error:
        raise nest.too_deep("convert_to_tensor", error, value) from None


# Functions of the program that make tensors of its own types, by priority.
CONVERSIONS: list[tuple[int, Any, Callable[..., Any]]] = []


def register_tensor_conversion_function(
    base_type: int | type, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Lets operations take objects of a type: `conversion_func(value, dtype, name, as_ref)`."""
    kinds: Any = base_type if isinstance(base_type, tuple) else (base_type,)
    if not kinds or not all(isinstance(k, type) for k in kinds):
        text = f"register_tensor_conversion_function: a type was expected; got {base_type!r}."
        raise at_site(TypeError(text))
    if not callable(conversion_func):
        raise unexpected("register_tensor_conversion_function", "a function", conversion_func)
    CONVERTED.update(k for k in kinds if issubclass(k, Value))
    CONVERSIONS.append((priority, kinds, conversion_func))
    CONVERSIONS.sort(key=lambda entry: entry[0])


def by_program(value: Any, dtype: DType | None) -> Any:
    """What a registered conversion makes of a value; `NotImplemented` without one."""
    for _, kinds, convert in CONVERSIONS:
        if isinstance(value, kinds):
            tensor = convert(value, dtype=dtype, name=None, as_ref=False)
            if tensor is not NotImplemented:
                return operand(tensor, dtype)
    return NotImplemented


def operands(name: str, x: Any, y: TensorLike) -> tuple[Any, Any]:
    """Both arguments of a binary operation; one that is no tensor adopts the other's dtype."""
    if isinstance(x, Value):
        return x, operand(y, None, x.dtype)
    if isinstance(y, Value):
        return operand(x, None, y.dtype), y
    if isinstance(y, CompositeOperand):
        return operand(x, None, y.dtype), y
    x = operand(x)
    return x, operand(y, None, x.dtype)


def to_tensor(
    value: Any,
    dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Converts a value to a tensor; reading a variable this way is a recorded operation.

    Args:
        value: a number, string, nested list, array, tensor or variable.
        dtype: the dtype it must have.
        dtype_hint: the dtype to take if the value allows it.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        ValueError: a tensor has another dtype.
        TypeError: the value does not become a tensor of that dtype.

    >>> tf.convert_to_tensor([1, 2], dtype_hint=tf.float32).dtype
    tf.float32
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    hint = None if dtype_hint is None else dtypes.as_dtype(dtype_hint)
    if type(value) is float or type(value) is int:
        # Not the shared scalar of `operand`: a user may watch this tensor.
        return wrap(to_array(value, wanted, hint), caller())
    result = operand(value, wanted, hint)
    if isinstance(result, Variable):
        return late.READ.call(result)
    if isinstance(result, CompositeOperand):
        raise result.not_dense()
    return result


def scalar(value: float, dtype: DType) -> Tensor:
    """A Python number that meets a tensor of `dtype`, as a cached constant.

    Cached tensors must not reach users, who could watch one and so watch every equal number.
    """
    cache = dtype.scalars
    # Zero has two signs that compare equal, so it is known by its text.
    key = (type(value), value or repr(value))
    cached = cache.get(key)
    if cached is None:
        cached = wrap(to_array(value, None, dtype), None)
        cached._id = 0  # no tape follows it, and a trace takes it for a constant
        if len(cache) >= _MOST_SCALARS:
            cache.clear()
        cache[key] = cached
    return cached


def to_array(value: Any, dtype: DType | None = None, hint: DType | None = None) -> np.ndarray:
    """A NumPy array of its own for a Python or NumPy value.

    `dtype` is a demand: what does not fit is an error. `hint` is a wish: what does not fit keeps
    the dtype of its own.
    """
    source: Any = value
    if isinstance(value, list | tuple):
        return _from_python(value, dtype, hint)
    if type(value) in _SEQUENCES:
        return _from_python(list(value), dtype, hint)
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype, hint)
    if value is None:
        raise at_site(ValueError(_none_text()))
    if hasattr(value, "__dlpack__"):
        return _from_numpy(np.from_dlpack(source), dtype, hint)
    return _from_python(value, dtype, hint)


def _none_text() -> str:
    result = "convert_to_tensor: None is not a tensor. Was a `return` forgotten"
    if executing_eagerly():
        return f"{result}, or is it the gradient by something that the target does not depend on?"
    return f"{result}, or is it a size that is not known while tracing? Then use tf.shape(x)[i]."


def _from_numpy(array: np.ndarray, dtype: DType | None, hint: DType | None) -> np.ndarray:
    if array.dtype.kind in "SUO":
        array = _encode(array)
    own = dtypes.as_dtype(array.dtype)
    if (dtype or hint or own) is own:
        return _copied(array, own.np)
    for target in (dtype or hint, own):
        if target is None:
            continue
        if (target.kind == "s") == (own.kind == "s"):
            result = _cast(array, own, target)
            if result is not None:
                return result
        if target is dtype:
            break
    raise _cannot(array, own.name, dtype or own)


def _cast(array: np.ndarray, own: DType, target: DType) -> np.ndarray | None:
    """The numbers in another type; `None` where more than digits would be lost."""
    if own.kind == "c" and target.kind != "c":
        if np.imag(array).any():
            return None
        array = np.real(array)
    with np.errstate(all="ignore"):
        result = _copied(array, target.np)
    loses = own.kind in "fc" and target.kind in "iub" and not np.array_equal(result, array)
    return None if loses else result


def _copied(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy; a large one begins where XLA can read it in place, which saves a copy per call."""
    if array.nbytes < _LARGE or array.dtype.kind not in "fiub" or dtype.kind not in "fiub":
        return np.array(array, dtype)
    size = array.size * dtype.itemsize
    try:
        memory = np.empty(size + _ALIGNMENT, np.uint8)
    except MemoryError as error:  # of a broadcast array, which takes no memory itself
        raise exhausted("convert_to_tensor", error) from None
    start = -memory.__array_interface__["data"][0] % _ALIGNMENT
    result = memory[start : start + size].view(dtype).reshape(array.shape)
    np.copyto(result, array, "unsafe")
    return result


def _encode(array: np.ndarray) -> np.ndarray:
    result = np.empty(array.shape, object)
    for i in np.ndindex(array.shape):
        item = array[i]
        if not isinstance(item, str | bytes):
            raise invalid_dtype(
                "convert_to_tensor",
                f"an object array must hold strings; got {describe(item)}",
                help="Give it a number dtype.",
            )
        result[i] = item.encode() if isinstance(item, str) else bytes(item)
    return result


_KIND_OF = {bool: "b", int: "i", float: "f", complex: "c", str: "s", bytes: "s"}


def _plain(value: Any) -> Any:
    """A value in which nested sequences of other kinds are lists; others stay as they are."""
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, str | bytes | Mapping | Set):
        return value
    if isinstance(value, Sequence) or (hasattr(value, "__len__") and hasattr(value, "__getitem__")):
        results = [_plain(v) for v in islice(value, len(value))]
        if len(results) != len(value):
            raise at_site(
                ValueError(
                    f"convert_to_tensor: a {type(value).__name__} says that it has {len(value)} "
                    f"elements, and gives {len(results)}."
                )
            )
        return results
    return value


def _kind_like(value: Any) -> str | None:
    """The kind of a number or text of a type derived from Python's, such as an `IntEnum`."""
    return next((k for base, k in _KIND_OF.items() if isinstance(value, base)), None)


def _leaf_kinds(value: Any, kinds: list[str], numpy_floats: list[DType]) -> None:
    """Collects the kinds of the numbers in nested lists, first met first.

    A float of NumPy's counts with its width only if it is the first number of all.
    """
    if isinstance(value, list | tuple):
        flat = set(map(type, value))
        if flat <= _KIND_OF.keys():
            for v in value[:1]:
                _leaf_kinds(v, kinds, numpy_floats)
            kinds.extend(_KIND_OF[t] for t in flat)
            return
        for v in value:
            _leaf_kinds(v, kinds, numpy_floats)
        return
    if type(value) in _KIND_OF:
        kinds.append(_KIND_OF[type(value)])
        return
    if isinstance(value, np.ndarray | np.generic):
        own = dtypes.as_dtype(value.dtype)
        if own.kind == "f" and not kinds and value.size:
            numpy_floats.append(own)
        if value.size:
            kinds.append(own.kind.replace("u", "i"))
        return
    other = _plain(value)
    if other is not value:
        count = len(kinds)
        _leaf_kinds(other, kinds, numpy_floats)
        kinds.insert(count, "")  # NumPy would iterate over it without end, or take no notice of it
        return
    like = _kind_like(value)
    if like is None and is_foreign(type(value)):
        raise refused(value)
    if like is None:
        raise at_site(
            ValueError(
                f"convert_to_tensor: a {type(value).__name__} is not a number, string, array or "
                f"tensor; got {describe(value)}."
            )
        )
    kinds.append(like)


def _from_python(value: Any, dtype: DType | None, hint: DType | None) -> np.ndarray:
    kinds: list[str] = []
    numpy_floats: list[DType] = []
    _leaf_kinds(value, kinds, numpy_floats)
    if "" in kinds:
        return _from_python(_plain(value), dtype, hint)
    names = set(kinds)
    if len(names) > 1 and ("s" in names or (kinds[0] == "b" and dtype is None)):
        raise at_site(
            ValueError(
                f"convert_to_tensor: a list must not mix numbers, strings and booleans; got "
                f"{describe(value)}. Make all elements of one kind."
            )
        )
    kind = max(names, key="bifcs".index) if names else None
    own = numpy_floats[0] if numpy_floats and numpy_floats[0].kind == kind else None
    target = dtype or hint
    if kind == "s":
        if dtype is not None and dtype is not dtypes.string:
            raise _cannot(value, "string", dtype)
        return _strings(value)
    if target is not None and kind is not None and not _adopts(kind, target):
        if dtype is not None:
            raise _cannot(value, {"f": "float", "c": "complex"}.get(kind, kind), dtype)
        target = None
    chosen = target or own
    try:
        array = _quietly(lambda: np.array(value, None if chosen is None else chosen.np))
    except OverflowError:
        if dtype is None and target is not None:
            return _from_python(value, None, None)
        raise _too_large(value, target) from None
    except TypeError:  # bfloat16 takes no whole number beyond 64 bits
        if chosen is None or kind not in ("i", "f"):
            raise
        array = np.array(value, np.float64).astype(chosen.np)
    except ValueError:
        if _depth(value) > _MOST_DIMENSIONS:
            text = f"convert_to_tensor: a tensor has at most {_MOST_DIMENSIONS} dimensions"
            raise at_site(ValueError(f"{text}; got a list nested {_depth(value)} deep.")) from None
        raise at_site(
            ValueError(
                f"convert_to_tensor: the rows of a nested list must have the same length; got "
                f"{describe(value)}. Pad them, or use tf.ragged.constant."
            )
        ) from None
    return _narrow(array, value) if chosen is None else array


_MOST_DIMENSIONS = 64  # NumPy's bound


def _depth(value: Any) -> int:
    """How deep a list is nested, along its first elements."""
    depth = 0
    while isinstance(value, list | tuple):
        depth += 1
        value = value[0] if value else None
    return depth


def _quietly(make: Callable[[], np.ndarray]) -> np.ndarray:
    """An overflow is infinity, also in a program that turns NumPy's warnings into exceptions."""
    try:
        return make()
    except (RuntimeWarning, FloatingPointError):
        with np.errstate(all="ignore"):
            return make()


def _narrow(array: np.ndarray, value: Any) -> np.ndarray:
    """Numbers in lists become float32, complex128 and, where they fit, int32."""
    kind = array.dtype.kind
    if kind in "fc":
        return _quietly(lambda: array.astype(np.float32 if kind == "f" else np.complex128))
    if kind == "O" or (kind == "u" and array.size and array.max() > _INT64.max):
        raise _too_large(value, dtypes.int64)
    if kind in "iu":
        if array.size and (array.max() > _INT32.max or array.min() < _INT32.min):
            return array.astype(np.int64)
        return array.astype(np.int32)
    return array


def _adopts(kind: str, target: DType) -> bool:
    order = "bifc"
    if target.kind == "b":
        return kind == "b"
    own = {"u": "i", "e": "f"}.get(target.kind, target.kind)
    return own != "s" and order.index(kind) <= order.index(own)


def _strings(value: Any) -> np.ndarray:
    if isinstance(value, str | bytes):
        array = np.empty((), object)
        array[()] = value.encode() if isinstance(value, str) else value
        return array
    return _encode(np.array(value, object))


def _holds_tensors(value: Any) -> bool:
    for t in set(map(type, value)):
        if t is Dim or issubclass(t, Value) or hasattr(t, "__tf_tensor__"):
            return True
        if t in (list, tuple) and any(_holds_tensors(v) for v in value if type(v) is t):
            return True
    return False


def _tensor_dtype(value: Any) -> DType | None:
    for v in value:
        if isinstance(v, list | tuple):
            result = _tensor_dtype(v)
            if result:
                return result
        elif isinstance(v, Value) or hasattr(v, "__tf_tensor__"):
            return dtypes.as_dtype(v.dtype)
    return None


def _packed(value: Any, dtype: DType | None, hint: DType | None) -> Tensor:
    """A list with tensors as one tensor: of `dtype`, of `hint` where it can be, or of their own."""
    if dtype is None and hint is not None:
        try:
            return _stacked(value, hint)
        except (TypeError, ValueError):
            pass
    return _stacked(value, dtype or _tensor_dtype(value), cast=dtype is not None)


def _stacked(value: Any, dtype: DType | None, cast: bool = True) -> Tensor:
    if dtype is None or not cast:
        return late.STACK.call([operand(v, None, dtype) for v in value])
    return late.STACK.call([_converted(v, dtype) for v in value])


def _converted(value: Any, dtype: DType) -> Tensor:
    """One element of a list, of `dtype` exactly; tensors are cast unless they lose fractions."""
    if isinstance(value, list | tuple) and _holds_tensors(value):
        return _stacked(value, dtype)
    if not isinstance(value, Value) and not hasattr(value, "__tf_tensor__"):
        return operand(value, dtype)
    tensor = operand(value)
    own = tensor.dtype
    if own is dtype:
        return tensor
    kind: str = {"u": "i", "e": "f"}.get(own.kind) or own.kind
    if "s" in (kind, dtype.kind) or not _adopts(kind, dtype):
        raise _cannot(value, own.name, dtype)
    return late.CAST.call(tensor, dtype)


def _mismatch(value: Value | CompositeOperand, dtype: DType) -> Exception:
    # TensorFlow raises a ValueError here, an InvalidArgumentError or, in a function, a TypeError.
    rule = f"dtype {dtype.name} was asked for"
    return invalid_dtype("convert_to_tensor", rule, value, help=f"Use tf.cast(x, tf.{dtype.name}).")


def _cannot(value: Any, kind: str, target: DType) -> Exception:
    return invalid_dtype(
        "convert_to_tensor",
        f"{describe(value)} ({kind}) does not convert to {target.name} without loss",
        help="Give the value in that dtype, or use tf.cast.",
    )


def _too_large(value: Any, target: DType | None) -> Exception:
    name = target.name if target else "int64"
    return at_site(
        ValueError(f"convert_to_tensor: {describe(value)} lies outside the range of {name}.")
    )
