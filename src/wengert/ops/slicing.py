"""`x[...]`: what an index may be, on tensors and variables, and iteration.

Masks go to `indexing`, an index that is a tensor of a graph to an operation of its own, the rest
to `strides`; everything else is refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core.gradient_kernels import Call
from wengert.core.lowering_checks import lies_within
from wengert.core.op import AGAIN
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    Value,
    Variable,
    apply,
    as_number,
    as_value,
    at_site,
    describe,
    dtypes,
    executing_eagerly,
    fail_if,
    is_symbolic,
    lax,
    operand,
    tf,
    with_fallback,
)
from wengert.ops.row_list import Rows
from wengert.ops.strides import STRIDED_SLICE, Index, native, position

_Slice = builtins.slice
_PLAIN = (int, tuple, _Slice)
# Rows that iteration cuts off at once; each block costs one array of the whole size backwards.
_BLOCK = 1024


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


def marked(*part: int | Dim | None) -> tuple[Any, ...]:
    """The bounds of a slice; unknown ones stand in a fourth entry too, where `None` is unknown."""
    if Dim not in map(type, part):
        return part
    return (*part, tuple([p for p in part if type(p) is Dim]))


def _whole(i: Any) -> Any:
    if type(i) is Dim:
        return i
    if isinstance(i, Variable) and not executing_eagerly():
        i = late.READ.call(i)
    if is_symbolic(i) and i.dtype.is_integer:
        result = as_number(i)
        while type(result) is tuple and len(result) == 1:
            result = result[0]
        if type(result) is not tuple:
            return result
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


def _getitem(self: Value | VariableSlice, index: Any) -> Any:
    if type(index) not in _PLAIN and _is_mask(index):
        return tf.boolean_mask(self, index)
    if not executing_eagerly():
        return _traced_getitem(self, index)
    return apply(STRIDED_SLICE, self, index=normalise(index))


@with_fallback
def _traced_getitem(self: Value, index: Any) -> Any:
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
    if all(p is Ellipsis or (isinstance(p, _Slice) and p == _Slice(None)) for p in parts):
        return x
    return apply(STRIDED_SLICE, x, index=normalise(tuple(parts)))


def _depends(part: Any) -> bool:
    """Whether a single position is a tensor of the trace that no shape tells."""
    if isinstance(part, Variable):
        return True
    if not is_symbolic(part) or part._graph.specs[part._value].shape != ():
        return False
    return part._graph.content(part._value) is None


def _take_kernel(x: np.ndarray, i: np.ndarray, axis: int) -> np.ndarray:
    if type(x) is Rows:  # already cut along this axis
        return x.get(int(i) % len(x))
    n, size = int(i), x.shape[axis]
    if not -size <= n < size:
        position(n, axis, size, ShapeDtype(x.shape, dtypes.of(x)))
    return x[(_Slice(None),) * axis + (n, ...)]


def _lower_take(x: JaxArray, i: JaxArray, axis: int) -> JaxArray:
    size = x.shape[axis]
    if type(size) is int and not size:  # code that is never reached, or fails
        fail_if(lambda: np.True_)
        return lax.full(_without(x.shape, axis), 0, x.dtype)
    if type(size) is int and lies_within(i, 0, size - 1):
        return lax.dynamic_index_in_dim(x, i, axis, keepdims=False)
    fail_if(lambda: (i < -size) | (i >= size))
    i = lax.select(i < 0, i + as_value(size, i.dtype), i)
    return lax.dynamic_index_in_dim(x, i, axis, keepdims=False)


def _lower_take_again(x: JaxArray, i: JaxArray, axis: int) -> JaxArray:
    if not x.shape[axis]:
        return lax.full(_without(x.shape, axis), 0, x.dtype)
    i = lax.select(i < 0, i + np.asarray(x.shape[axis], i.dtype), i)
    return lax.dynamic_index_in_dim(x, i, axis, keepdims=False)


def _take_grad(
    g: SymbolicTensor, i: SymbolicTensor, x_shape: tuple[int | Dim, ...], axis: int
) -> Tensor | Call:
    return apply(PUT, g, i, shape=x_shape, axis=axis)


def _put_kernel(g: np.ndarray, i: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    out[(_Slice(None),) * axis + (int(i),)] = g
    return out


def _lower_put(g: JaxArray, i: JaxArray, shape: tuple[int, ...], axis: int) -> JaxArray:
    start = lax.full(shape, 0, g.dtype)
    if type(shape[axis]) is int and not shape[axis]:
        return start
    i = lax.select(i < 0, i + as_value(shape[axis], i.dtype), i)
    return lax.dynamic_update_index_in_dim(start, g, i, axis)


def _without(shape: tuple[int | None, ...], axis: int) -> Any:
    return None if shape is None else shape[:axis] + shape[axis + 1 :]


# One slice at a position that only the running program knows, and its gradient.
TAKE = Op(
    "take",
    "x i",
    kernel=_take_kernel,
    infer=lambda x, i, axis: ShapeDtype(_without(x.shape, axis), x.dtype),
    lower=_lower_take,
    grad=(_take_grad, None),
    match=(),
    register=False,
)
# The same once more, where the first time has checked the position.
TAKE_AGAIN = Op(
    "take_again",
    "x i",
    kernel=_take_kernel,
    infer=TAKE.infer,
    lower=_lower_take_again,
    grad=(_take_grad, None),
    match=(),
    register=False,
)
AGAIN.fill(__name__, {TAKE: TAKE_AGAIN})
PUT = Op(
    "put",
    "g i",
    kernel=_put_kernel,
    infer=lambda g, i, shape, axis: ShapeDtype(tuple(shape), g.dtype),
    lower=_lower_put,
    grad=(lambda h, i, axis: apply(TAKE, h, i, axis=axis), None),
    match=(),
    register=False,
)


def _getitem_of_variable(self: Variable, index: Any) -> Tensor | VariableSlice:
    out = _getitem(self, index)
    if type(index) not in _PLAIN and _is_mask(index):
        return out
    if not executing_eagerly():
        return _traced_writable(out, self, index)
    return writable(out, self, normalise(index)) if type(out) is Tensor else out


class VariableSlice(Tensor):
    """The value of `v[index]`, and a way to write there: `v[0].assign(row)`."""

    __slots__ = ("_index", "_variable")

    def assign(
        self,
        value: Tensor | float | list[float | list[float]] | np.ndarray,
        name: str | None = None,
    ) -> Variable:
        """Replaces this part of the variable."""
        return self._variable._assign_slice(native(self._index), value)

    def assign_add(self, value: list[float], name: str | None = None) -> Variable:
        """Adds to this part of the variable."""
        return self._variable._assign_slice(native(self._index), value, np.add)

    def assign_sub(self, value: float, name: str | None = None) -> Variable:
        """Subtracts from this part of the variable."""
        return self._variable._assign_slice(native(self._index), value, np.subtract)


def _traced_writable(
    out: SymbolicTensor,
    variable: Variable,
    index: int | slice | tuple[SymbolicTensor | slice, SymbolicTensor | int],
) -> Tensor:
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


def writable(out: Tensor, variable: Variable, index: Index) -> VariableSlice:
    part = object.__new__(VariableSlice)
    # A view would make the next update of the variable copy all of it.
    part._array = out._array.copy()
    part._id = out._id
    part._site = out._site
    part._variable = variable
    part._index = index
    return part


def _iterate(self: Value) -> Iterator[Any]:
    if not self._array.ndim:
        raise at_site(
            TypeError("iteration: a scalar tensor has no rows. Use tf.reshape(x, [-1]) first.")
        )
    count = self._array.shape[0]
    if count <= _BLOCK:
        return iter(tf.unstack(self))
    blocks = (self[a : a + _BLOCK] for a in builtins.range(0, count, _BLOCK))
    return (row for block in blocks for row in tf.unstack(block))


setattr(Value, "__getitem__", _getitem)  # noqa: B010  # installed here, declared in `tensor`
setattr(Value, "__iter__", _iterate)  # noqa: B010
setattr(Variable, "__getitem__", _getitem_of_variable)  # noqa: B010
