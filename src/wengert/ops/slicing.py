"""Indexing with integers, slices, `...` and `newaxis`: one operation, whatever the index.

An index is kept as a hashable tuple: whole numbers, `None` for a new axis, `Ellipsis`, and slices
as `(start, stop, step)`. NumPy reads it as a view; `resolve` works out its positions for the
shape rule and the lowering. Masks go to `indexing`, everything else is refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.context import executing_eagerly
from wengert.core.convert import Hooks, operand
from wengert.core.dims import Dim, is_open, negative
from wengert.core.errors import InvalidIndexError, at_site, describe, invalid
from wengert.core.lazy import lax
from wengert.core.lowering import as_value, fail_if, is_symbol, lies_within
from wengert.core.op import AGAIN, Op, Spec
from wengert.core.symbolic import as_number, is_symbolic
from wengert.core.tensor import Tensor, Value
from wengert.core.variable import Variable
from wengert.ops.declare import of_length, static_tuple
from wengert.ops.row_list import Rows

Index = tuple[Any, ...]
_Slice = builtins.slice
_PLAIN = (int, tuple, _Slice)
# Rows that iteration cuts off at once; each block costs one array of the whole size backwards.
_BLOCK = 1024
# Above this size a small slice is copied, so that it does not keep the whole tensor alive.
_LARGE = 16384


def native(index: Index) -> Any:
    """The index as NumPy wants it."""
    return tuple([_native(i) if type(i) is tuple else i for i in index])


def _native(part: tuple[Any, ...]) -> Any:
    # A single number and a fourth entry mark what was unknown while tracing.
    return part[0] if len(part) == 1 else _Slice(*part[:3])


def _expanded(index: Index, x: Spec) -> list[Any]:
    """The index with its ellipsis spelled out, one part per axis of `x` and per new axis."""
    rank = len(x.shape or ())
    used = builtins.sum(i is not None and i is not Ellipsis for i in index)
    if builtins.sum(i is Ellipsis for i in index) > 1:
        raise invalid("strided_slice", "an index may hold `...` only once", x)
    if used > rank:
        raise invalid(
            "strided_slice",
            f"{used} indices are too many for rank {rank}",
            x,
            kind=InvalidIndexError,
        )
    full = [(None, None, None)] * (rank - used)
    at = index.index(Ellipsis) if Ellipsis in index else len(index)
    return [*index[:at], *full, *index[at + 1 :]]


def resolve(index: Index, x: Spec) -> tuple[list[Any], list[int | None]]:
    """Per axis of `x` its (first, count, step), unknown where its size is; and the result's shape."""
    places: list[Any] = []
    shape: list[int | None] = []
    for part in _expanded(index, x):
        if part is None:
            shape.append(1)
            continue
        axis = len(places)
        size = x.shape[axis]  # type: ignore[index]  # the rank is known here
        if type(part) is tuple and len(part) == 1:
            part = part[0]
        if type(part) is int or part is None:
            places.append((None, 1, 1) if part is None else _one(part, axis, size, x))
            continue
        if part[2] == 0:
            raise invalid("strided_slice", "the step of a slice must not be 0", x)
        if size is None or (len(part) == 4 and None in part[3]):
            places.append((None, None, part[2]))
            shape.append(None)
            continue
        first, stop, step = _Slice(*part[:3]).indices(size)
        count = len(builtins.range(first, stop, step))
        places.append((first, count, step))
        shape.append(count)
    return places, shape


def _one(i: int, axis: int, size: int | None, x: Spec) -> Any:
    if size is None:
        return (None, 1, 1)
    if not -size <= i < size:
        raise invalid(
            "strided_slice",
            f"index {i} is out of bounds for axis {axis} of size {size}",
            x,
            kind=InvalidIndexError,
            help=f"Use a value from {-size} to {size - 1}." if size else "The axis is empty.",
        )
    return (i % size, 1, 1)


def _kernel(x: np.ndarray, index: Index) -> np.ndarray:
    out = x[native(index)]
    if type(out) is bytes:
        return np.array(out, object)
    return out.copy() if x.size > _LARGE and out.size * 8 < x.size else out


def _infer(x: Spec, index: Index) -> Spec:
    return Spec(None if x.shape is None else tuple(resolve(index, x)[1]), x.dtype)


def _lower_symbolic(x: Any, index: Index) -> Any:
    """The same where sizes are symbols, which JAX compares with numbers as far as it can."""
    axis = 0
    for part in _expanded(index, x):
        i = part[0] if type(part) is tuple and len(part) == 1 else part
        if type(i) is int and is_symbol(x.shape[axis]):
            size = as_value(x.shape[axis], np.int32)
            fail_if(lambda i=i, size=size: size <= (i if i >= 0 else -i - 1))
        axis += part is not None
    return x[native(index)]


def _lower(x: Any, index: Index) -> Any:
    if any(map(is_symbol, x.shape)):
        return _lower_symbolic(x, index)
    places, shape = resolve(index, Spec(x.shape, x.dtype))
    low = [first if step > 0 else first + (n - 1) * step for first, n, step in places]
    low = [a if n else 0 for a, (_, n, _) in zip(low, places, strict=True)]
    high = [
        a + (n - 1) * abs(step) + 1 if n else a for a, (_, n, step) in zip(low, places, strict=True)
    ]
    out = lax.slice(x, low, high, [abs(step) for _, _, step in places])
    return lax.reshape(lax.rev(out, _backwards(places)), shape)


def _backwards(places: list[Any]) -> list[int]:
    return [axis for axis, (_, n, step) in enumerate(places) if step < 0 and n > 1]


def _grad_kernel(g: np.ndarray, index: Index, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    out[native(index)] = g
    return out


def _lower_grad(g: Any, index: Index, shape: tuple[int, ...]) -> Any:
    places, _ = resolve(index, Spec(shape, g.dtype))
    g = lax.rev(lax.reshape(g, [n for _, n, _ in places]), _backwards(places))
    edges = []
    for size, (first, n, step) in zip(shape, places, strict=True):
        low = first if step > 0 else first + (n - 1) * step
        span = (n - 1) * abs(step) + 1
        edges.append((low, size - low - span, abs(step) - 1) if n else (size, 0, 0))
    return lax.pad(g, g.dtype.type(0), edges)


STRIDED_SLICE = Op(
    "strided_slice",
    "x",
    kernel=_kernel,
    infer=_infer,
    lower=_lower,
    grad=lambda g, x_shape, index: apply(SLICE_GRAD, g, index=index, shape=x_shape),
)

SLICE_GRAD = Op(
    "slice_grad",
    "g",
    kernel=_grad_kernel,
    infer=lambda g, index, shape: Spec(tuple(shape), g.dtype),
    lower=_lower_grad,
    grad=lambda h, index: apply(STRIDED_SLICE, h, index=index),
)


def _part(i: Any) -> Any:
    """One part of an index in its hashable form."""
    if type(i) is _Slice:
        a, b, c = i.start, i.stop, i.step
        plain = (a is None or type(a) is int) and (b is None or type(b) is int)
        if plain and (c is None or type(c) is int):
            return a, b, c
        return marked(*[n if n is None or type(n) is int else _whole(n) for n in (a, b, c)])
    if type(i) is int or i is None or i is Ellipsis:
        return i
    i = _whole(i)
    return (i,) if type(i) is Dim else i


def marked(*part: Any) -> tuple[Any, ...]:
    """The bounds of a slice; unknown ones stand in a fourth entry too, where `None` is unknown."""
    if Dim not in map(type, part):
        return part
    return (*part, tuple([p for p in part if type(p) is Dim]))


def _whole(i: Any) -> Any:
    if type(i) is Dim:
        return i
    if isinstance(i, Variable) and not executing_eagerly():
        i = Hooks.read(i)
    if is_symbolic(i) and i.dtype.is_integer:
        found = as_number(i)
        while type(found) is tuple and len(found) == 1:
            found = found[0]
        if type(found) is not tuple:
            return found
    try:
        if type(i) is not bool:
            return i.__index__()
        raise TypeError
    except (AttributeError, TypeError):
        raise at_site(
            TypeError(
                "getitem: only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and "
                f"scalar integer tensors are indices; got {describe(i)}. Use tf.gather for a "
                "vector of indices, tf.boolean_mask for a mask along one axis."
            )
        ) from None


def _is_mask(index: Any) -> bool:
    if isinstance(index, Value):
        return index.dtype.is_bool
    return isinstance(index, bool | np.ndarray | np.bool_) and np.asarray(index).dtype.kind == "b"


def normalise(index: Any) -> Index:
    """What stands between the brackets as a hashable index; a list means the same as a tuple."""
    kind = type(index)
    if kind is int:
        return (index,)
    if kind is tuple or kind is list:
        return tuple([_part(i) for i in index])
    return (_part(index),)


def _getitem(self: Any, index: Any) -> Any:
    if type(index) not in _PLAIN and _is_mask(index):
        from wengert.ops.indexing import boolean_mask

        return boolean_mask(self, index)
    if not executing_eagerly():
        return _traced_getitem(self, index)
    return apply(STRIDED_SLICE, self, index=normalise(index))


def _traced_getitem(self: Any, index: Any) -> Any:
    """Indexing in a trace: a position that depends on data is taken by an operation of its own."""
    if not depends_on_data(index):
        return apply(STRIDED_SLICE, self, index=normalise(index))
    parts = list(index) if isinstance(index, tuple | list) else [index]
    rank = self._array.ndim
    axis, taken = 0, []
    for k, part in enumerate(parts):
        if part is Ellipsis:
            rest = builtins.sum(p is not None for p in parts[k + 1 :])
            axis = rank - rest
        elif part is not None:
            if _depends(part) and not isinstance(part, _Slice):
                taken.append((axis, part, k))
            axis += 1
    x = self
    for axis, part, k in reversed(taken):
        x = apply(TAKE, x, operand(part), axis=axis)
        del parts[k]
    if all(p == _Slice(None) or p is Ellipsis for p in parts):
        return x
    return apply(STRIDED_SLICE, x, index=normalise(tuple(parts)))


def _depends(part: Any) -> bool:
    """Whether a single position is a tensor of the trace that no shape tells."""
    if isinstance(part, Variable):
        return True
    if not is_symbolic(part) or part._graph.specs[part._value].shape != ():
        return False
    return part._graph.content(part._value) is None


def _take_kernel(x: Any, i: np.ndarray, axis: int) -> np.ndarray:
    if type(x) is Rows:  # already cut along this axis
        return x.get(int(i) % len(x))
    n, size = int(i), x.shape[axis]
    if not -size <= n < size:
        _one(n, axis, size, Spec(x.shape, dtypes.of(x)))
    return x[(_Slice(None),) * axis + (n, ...)]


def _lower_take(x: Any, i: Any, axis: int) -> Any:
    size = x.shape[axis]
    if type(size) is int and lies_within(i, 0, size - 1):
        return lax.dynamic_index_in_dim(x, i, axis, keepdims=False)
    fail_if(lambda: (i < -size) | (i >= size))
    i = lax.select(i < 0, i + np.asarray(size, i.dtype), i)
    return lax.dynamic_index_in_dim(x, i, axis, keepdims=False)


def _take_grad(g: Any, i: Any, x_shape: Any, axis: int) -> Any:
    return apply(PUT, g, i, shape=x_shape, axis=axis)


def _put_kernel(g: np.ndarray, i: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    out[(_Slice(None),) * axis + (int(i),)] = g
    return out


def _lower_put(g: Any, i: Any, shape: tuple[int, ...], axis: int) -> Any:
    i = lax.select(i < 0, i + np.asarray(shape[axis], i.dtype), i)
    start = lax.full(shape, 0, g.dtype)
    return lax.dynamic_update_index_in_dim(start, g, i, axis)


def _without(shape: Any, axis: int) -> Any:
    return None if shape is None else shape[:axis] + shape[axis + 1 :]


# One slice at a position that only the running program knows, and its gradient.
TAKE = Op(
    "take",
    "x i",
    kernel=_take_kernel,
    infer=lambda x, i, axis: Spec(_without(x.shape, axis), x.dtype),
    lower=_lower_take,
    grad=(_take_grad, None),
    match=(),
    register=False,
)
# The same once more, where the first time has checked the position.
AGAIN[TAKE] = Op(
    "take_again",
    "x i",
    kernel=_take_kernel,
    infer=TAKE.infer,
    lower=lambda x, i, axis: lax.dynamic_index_in_dim(
        x, lax.select(i < 0, i + np.asarray(x.shape[axis], i.dtype), i), axis, keepdims=False
    ),
    grad=(_take_grad, None),
    match=(),
    register=False,
)
PUT = Op(
    "put",
    "g i",
    kernel=_put_kernel,
    infer=lambda g, i, shape, axis: Spec(tuple(shape), g.dtype),
    lower=_lower_put,
    grad=(lambda h, i, axis: apply(TAKE, h, i, axis=axis), None),
    match=(),
    register=False,
)


def _getitem_of_variable(self: Any, index: Any) -> Any:
    out = _getitem(self, index)
    if type(index) not in _PLAIN and _is_mask(index):
        return out
    if not executing_eagerly():
        return _traced_writable(out, self, index)
    return _writable(out, self, normalise(index)) if type(out) is Tensor else out


class VariableSlice(Tensor):
    """The value of `v[index]`, and a way to write there: `v[0].assign(row)`."""

    __slots__ = ("_index", "_variable")

    def assign(self, value: Any, name: Any = None) -> Variable:
        """Replaces this part of the variable."""
        return self._variable._assign_slice(native(self._index), value)

    def assign_add(self, value: Any, name: Any = None) -> Variable:
        """Adds to this part of the variable."""
        return self._variable._assign_slice(native(self._index), value, np.add)

    def assign_sub(self, value: Any, name: Any = None) -> Variable:
        """Subtracts from this part of the variable."""
        return self._variable._assign_slice(native(self._index), value, np.subtract)


def _traced_writable(out: Any, variable: Variable, index: Any) -> Any:
    """The same in a trace, where a tensor may have attributes but not another class."""
    for name, ufunc in (("assign", None), ("assign_add", np.add), ("assign_sub", np.subtract)):
        setattr(
            out, name,
            lambda value, name=None, ufunc=ufunc: variable._assign_slice(index, value, ufunc),
        )  # fmt: skip
    return out


def depends_on_data(index: Any) -> bool:
    """Whether an index holds a tensor whose value only running the program tells."""
    return any(map(_depends, index if isinstance(index, tuple | list) else [index]))


def _writable(out: Tensor, variable: Variable, index: Index) -> VariableSlice:
    part = object.__new__(VariableSlice)
    # A view would make the next update of the variable copy all of it.
    part._array = out._array.copy()
    part._id = out._id
    part._site = out._site
    part._variable = variable
    part._index = index
    return part


def _iterate(self: Any) -> Iterator[Any]:
    if not self._array.ndim:
        raise at_site(
            TypeError("iteration: a scalar tensor has no rows. Use tf.reshape(x, [-1]) first.")
        )
    from wengert.ops.joining import unstack

    count = self._array.shape[0]
    if count <= _BLOCK:
        return iter(unstack(self))
    blocks = (self[a : a + _BLOCK] for a in builtins.range(0, count, _BLOCK))
    return (row for block in blocks for row in unstack(block))


setattr(Value, "__getitem__", _getitem)  # noqa: B010  # installed here, declared in `tensor`
setattr(Value, "__iter__", _iterate)  # noqa: B010
setattr(Variable, "__getitem__", _getitem_of_variable)  # noqa: B010


def slice(input_: Any, begin: Any, size: Any, name: Any = None) -> Any:
    """The block of the given size that starts at `begin`; a size of -1 takes all that is left."""
    x = operand(input_)
    dims = x._array.shape
    begin, size = of_length(begin, len(dims)), of_length(size, len(dims))
    starts, counts = static_tuple("slice", begin, "begin"), static_tuple("slice", size, "size")
    if not len(starts) == len(counts) == len(dims):
        raise invalid("slice", f"`begin` and `size` need {len(dims)} numbers each", x)
    if not executing_eagerly() and is_open((starts, counts, dims)):
        return _traced_slice(x, begin, starts, counts)
    return apply(STRIDED_SLICE, x, index=_part_index(x, dims, starts, counts))


def _part_index(x: Any, dims: Any, starts: Any, counts: Any) -> Index:
    """The index of a block; raises where it does not lie within the sizes."""
    for axis, (a, n, d) in enumerate(zip(starts, counts, dims, strict=True)):
        if not 0 <= a <= d or not -1 <= n <= d - a:
            raise invalid(
                "slice",
                f"`begin` {a} and `size` {n} do not fit axis {axis} of size {d}",
                x,
                kind=InvalidIndexError,
            )
    return tuple((a, None if n == -1 else a + n, None) for a, n in zip(starts, counts, strict=True))


def _infer_part(x: Spec, begin: Any, size: Any) -> Spec:
    if x.shape is not None and None not in (*x.shape, *begin, *size):
        return _infer(x, _part_index(x, x.shape, begin, size))
    ends = x.shape or (None,) * len(size)
    return Spec(tuple(map(_part_size, ends, begin, size)), x.dtype)


def _part_size(end: int | None, begin: int | None, size: int | None) -> int | None:
    if size != -1:
        return size
    return None if end is None or begin is None else end - begin


def _part_kernel(x: np.ndarray, begin: tuple[int, ...], size: tuple[int, ...]) -> np.ndarray:
    return _kernel(x, _part_index(Spec(x.shape, dtypes.of(x)), x.shape, begin, size))


def _lower_part(x: Any, begin: tuple[int, ...], size: tuple[int, ...]) -> Any:
    return _lower(x, _part_index(x, x.shape, begin, size))


def _part_grad(g: Any, x_shape: Any, begin: Any) -> Any:
    index = tuple(marked(a, a + n, None) for a, n in zip(begin, g._array.shape, strict=True))
    return apply(SLICE_GRAD, g, index=index, shape=x_shape)


# `slice` whose start and sizes only the running function knows.
PART = Op(
    "slice",
    "x",
    kernel=_part_kernel,
    infer=_infer_part,
    lower=_lower_part,
    grad=_part_grad,
    register=False,
)


def _traced_slice(x: Any, begin: Any, starts: Any, counts: Any) -> Any:
    """`slice` in a trace: with fixed sizes the start may depend on data, also in XLA."""
    if not is_open(counts) and not any(map(negative, counts)):
        return apply(BLOCK, x, operand(begin), size=tuple(counts))
    return apply(PART, x, begin=starts, size=counts)


def _block_kernel(x: np.ndarray, begin: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    return _part_kernel(x, tuple(begin.tolist()), size)


def _lower_block(x: Any, begin: Any, size: tuple[int, ...]) -> Any:
    room = np.asarray([d - n for d, n in zip(x.shape, size, strict=True)], begin.dtype)
    fail_if(lambda: (begin < 0) | (begin > room))
    return lax.dynamic_slice(x, [begin[k] for k in builtins.range(x.ndim)], size)


def _block_grad_kernel(g: np.ndarray, begin: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    out[tuple(_Slice(a, a + n) for a, n in zip(begin.tolist(), g.shape, strict=True))] = g
    return out


def _lower_block_grad(g: Any, begin: Any, shape: tuple[int, ...]) -> Any:
    starts = [begin[k] for k in builtins.range(len(shape))]
    return lax.dynamic_update_slice(lax.full(shape, 0, g.dtype), g, starts)


# A block of fixed size at a place that only the running program knows, and its gradient.
BLOCK = Op(
    "block",
    "x begin",
    kernel=_block_kernel,
    infer=lambda x, begin, size: Spec(tuple(size), x.dtype),
    lower=_lower_block,
    grad=(lambda g, begin, x_shape: apply(BLOCK_GRAD, g, begin, shape=x_shape), None),
    match=(),
    register=False,
)
BLOCK_GRAD = Op(
    "block_grad",
    "g begin",
    kernel=_block_grad_kernel,
    infer=lambda g, begin, shape: Spec(tuple(shape), g.dtype),
    lower=_lower_block_grad,
    grad=(lambda h, begin, g_shape: apply(BLOCK, h, begin, size=g_shape), None),
    match=(),
    register=False,
)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: Any = None,
) -> Any:
    """`input_[begin:end:strides]` for each axis; bit i of a mask changes what entry i means.

    The masks, strongest first: an ellipsis, a new axis, a single index (`begin`) without its
    axis, and bounds that are left open.
    """
    x = operand(input_)
    starts = static_tuple("strided_slice", begin, "begin")
    stops = static_tuple("strided_slice", end, "end")
    steps = (
        (1,) * len(starts) if strides is None else static_tuple("strided_slice", strides, "strides")
    )
    if not len(starts) == len(stops) == len(steps):
        raise invalid("strided_slice", "`begin`, `end` and `strides` must be equally long", x)
    index: list[Any] = []
    for i, (a, b, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            if step <= 0:
                raise invalid("strided_slice", "a single index needs a stride of 1", x)
            index.append((a,) if type(a) is Dim else a)
        else:
            first, last = None if begin_mask & bit else a, None if end_mask & bit else b
            index.append(marked(first, last, step))
    out = apply(STRIDED_SLICE, x, index=tuple(index))
    return out if var is None else _writable(out, var, tuple(index))
