"""The arrays that NumPy functions of tensors give where a tape follows: arrays with a link.

A `LinkedArray` is an array in every respect and holds NumPy's values in memory of its own. It also
refers to the tensor that the operation of the same meaning made of the same arguments. An operation
that is given such an array takes the tensor, so gradients flow. Any write ends the link: writes
that pass through Python mark the memory, which views share; for the others the bytes are compared
with the tensor's whenever the array meets an operation. `LinkedArray` does not know which operation
a NumPy function is; `numpy_protocols` does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.core import sites
from wengert.core.convert import to_array
from wengert.core.failures import failures
from wengert.ops.declare import DType, Tensor, Value, Variable, dtypes, get_state, tf, wrap


class Memory:
    """What the views of one piece of memory share: whether, and where, it was written to."""

    __slots__ = ("site", "written")

    def __init__(self) -> None:
        self.written = False
        self.site: Any = None

    def write(self) -> None:
        """Ends the links of all views."""
        if not self.written:
            self.site = sites.caller(1)
            self.written = True


class Link(NamedTuple):
    """The way from an array back to tensors.

    `tensor` is `None` where no operation of the function's meaning exists: then an operation that
    meets the array tells the tapes that the gradient by `sources` was cut at `site`.
    """

    tensor: Any
    sources: tuple[int, ...]
    site: Any
    memory: Memory


class Linked:
    """What linked arrays and linked scalars share."""

    _link: Link | None = None

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return self._as_operand(None if dtype is None else dtypes.as_dtype(dtype), None)

    def _as_operand(self, dtype: DType | None, hint: DType | None) -> Tensor:
        """The tensor that an operation takes: the linked one, or else a constant."""
        array = to_array(plain(self), dtype, hint)
        tensor = followed(self)
        if tensor is None:
            constant = wrap(array, sites.caller(1))
            _tell(self, constant)
            return constant
        if tensor._array.dtype == array.dtype:
            return tensor
        return tf.cast(tensor, dtypes.of(array))

    def _as_source(self) -> Tensor | None:
        """The tensor that a tape may be asked about, `None` once the link has ended."""
        return followed(self)

    def __repr__(self) -> str:
        return repr(plain(self))

    def __str__(self) -> str:
        return str(plain(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return plain(self).__reduce_ex__(protocol)

    def __reduce__(self) -> Any:
        return plain(self).__reduce__()


class LinkedArray(Linked, np.ndarray):
    """An array that refers to the tensor of the same value, until it is written to."""

    def __array_finalize__(self, obj: Any) -> None:
        """What NumPy itself makes of a linked array has no tensor, but the same origin."""
        link = getattr(obj, "_link", None)
        if link is not None:
            self._link = link._replace(tensor=None)

    def __setitem__(self, index: Any, value: Any) -> None:
        written(self)
        np.ndarray.__setitem__(self, index, plain(value))

    def __getitem__(self, index: Any) -> np.ndarray:
        result = plain(self)[index]
        return answer(result, lambda x: _part(x, index), (self,), {})

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __copy__(self) -> Any:
        return np.copy(self)

    def __deepcopy__(self, memo: Any) -> LinkedArray | np.ndarray:
        return np.copy(self)


def _part(x: Tensor, index: Any) -> Tensor:
    """The part of a tensor at any of NumPy's indices: `x[[0, 0, 1]]`, `x[rows, columns]`."""
    try:
        return x[index]
    except failures():
        places = np.arange(x._array.size).reshape(x._array.shape)[index]
        return tf.gather(tf.reshape(x, [-1]), places)


class LinkedScalar(Linked):
    """A NumPy scalar that refers to the tensor of the same value."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def plain(value: Any) -> np.ndarray:
    """The array or scalar without the link, in the same memory; other values as they are."""
    if isinstance(value, LinkedArray):
        return value.view(np.ndarray)
    if isinstance(value, LinkedScalar):
        return np.asarray(value)[()]
    return value


def written(array: LinkedArray | None) -> None:
    """Ends the link of an array and of all views that share its memory."""
    link = array._link if isinstance(array, LinkedArray) else None
    if link is not None:
        link.memory.write()


def followed(value: Any) -> Tensor | None:
    """The tensor that an array refers to; `None` where it has none, or was written to."""
    link = value._link
    if link is None or link.tensor is None or link.memory.written:
        return None
    if isinstance(value, np.ndarray) and not _same_bytes(plain(value), link.tensor._array):
        link.memory.write()
        return None
    return link.tensor


def _same_bytes(x: np.ndarray, y: np.ndarray) -> bool:
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    return bool(np.array_equal(_bytes(x), _bytes(y)))


def _bytes(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)


def _tell(value: Any, constant: Tensor) -> None:
    """Tells the listeners that a constant was made of an array whose link has ended."""
    link, state = value._link, get_state()
    if link is None or state is None:
        return
    site = link.memory.site if link.memory.written else link.site
    for listener in state.listeners:
        listener.lost(link.sources, constant, site)


# From a NumPy function and an operation to a result.


def values_of(value: Any) -> list[Any]:
    """The tensors, variables and linked arrays among nested arguments."""
    if isinstance(value, Value | Linked):
        return [value]
    if type(value) is dict:
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [x for v in value for x in values_of(v)]
    return []


def answer(
    result: bool | np.generic | np.ndarray | tuple[int, ...],
    ours: Callable[..., Any] | None,
    args: Any,
    options: dict[str, bool | float],
) -> Any:
    """A NumPy result, linked to that of `ours` for the same arguments where a tape follows one."""
    state = get_state()
    if state is None or state.graph is not None or not _can_be_linked(result):
        return result
    given = values_of([args, options])
    tensors = [x if isinstance(x, Value) else followed(x) for x in given]
    listeners = [x for x in state.listeners if x.differentiates]
    sources = [x for x in tensors if x is not None and any(o.follows((x,)) for o in listeners)]
    ids = tuple([x._id for x in sources])
    for x in given:
        link = x._link if isinstance(x, Linked) else None
        if link is not None and (link.tensor is None or link.memory.written):
            ids += link.sources
    if not ids:
        return result
    site = sites.caller(1)
    mine = _mine(result, ours, args, options) if sources and ours is not None else None
    arrays = [x for x in given if isinstance(x, LinkedArray)]
    if not isinstance(result, list | tuple):
        return _linked(result, mine, ids, site, arrays)
    several = mine if isinstance(mine, list | tuple) and len(mine) == len(result) else None
    value = several or [None] * len(result)
    answers = [_linked(r, m, ids, site, arrays) for r, m in zip(result, value, strict=True)]
    return type(result)(answers) if type(result) in (list, tuple) else result


def _can_be_linked(result: Any) -> bool:
    if isinstance(result, list | tuple):
        return any(map(_can_be_linked, result))
    return isinstance(result, np.ndarray | np.generic) and result.dtype.num in dtypes.INEXACT


def _mine(
    result: Any, ours: Callable[..., Any], args: Any, options: Any
) -> Tensor | list[Tensor] | None:
    """What our operation makes of the arguments, `None` where it refuses them.

    Tensors whose dtypes it does not take together are cast to the one that NumPy found for them.
    """
    args, options = as_tensors(args), as_tensors(options)
    dtype = getattr(result, "dtype", None)
    try:
        value = ours(*args, **options)
    except failures():
        value = None
    if dtype is None or getattr(getattr(value, "_array", None), "dtype", None) == dtype:
        return value
    try:
        return ours(*_in_dtype(args, dtype), **options)
    except failures():
        return None


def as_tensors(value: Any) -> Any:
    """Nested arguments with arrays replaced by the tensors that they refer to."""
    if isinstance(value, Linked):
        return value._as_operand(None, None)
    if type(value) in (list, tuple):
        return type(value)([as_tensors(v) for v in value])
    if type(value) is dict:
        return {k: as_tensors(v) for k, v in value.items()}
    return value


def _in_dtype(value: Tensor | np.ndarray | tuple[Tensor, np.ndarray], dtype: np.dtype) -> Any:
    if isinstance(value, Value):
        return tf.cast(value, dtypes.BY_NUM[dtype.num]) if value.dtype.is_differentiable else value
    if type(value) in (list, tuple):
        return type(value)([_in_dtype(v, dtype) for v in value])
    return value


def _linked(result: Any, mine: Any, ids: tuple[int, ...], site: Any, arrays: list[Any]) -> Any:
    """One result with its link; a tensor that NumPy disagrees with is none."""
    if not _can_be_linked(result):
        return result
    if isinstance(mine, Variable):
        mine = mine._snapshot()
    shared = [x for x in arrays if x._link is not None and np.may_share_memory(x, result)]
    memory = shared[0]._link.memory if shared else None
    fits = isinstance(mine, Tensor) and _agrees(mine._array, np.asarray(result))
    if fits and not _same_bytes(mine._array, np.asarray(result)):
        if mine._id in ids or type(mine) is not Tensor:
            fits = False
        else:
            mine._array = np.array(result)
    if fits:
        return _with_link(result, Link(mine, (mine._id,), site, memory or Memory()))
    return _with_link(result, Link(None, ids, site, Memory()))


def _with_link(result: np.generic | np.ndarray, link: Link) -> np.generic | LinkedArray:
    if isinstance(result, np.ndarray):
        out: Any = result.view(LinkedArray)
    elif type(result).__module__ == "numpy":
        out = scalar_kind(type(result))(result)
    else:  # bfloat16, whose type makes no objects of derived types
        out = np.array(result).view(LinkedArray)
    out._link = link
    return out


# How far an operation may be from NumPy's result: the root of what the dtype resolves.
_NEAR = {"float32": 4e-4, "complex64": 4e-4, "float64": 2e-8, "complex128": 2e-8}


def _agrees(mine: np.ndarray, result: np.ndarray) -> bool:
    """Whether the operation means what the function does, up to rounding."""
    if mine.shape != result.shape or mine.dtype != result.dtype:
        return False
    if _same_bytes(mine, result):
        return True
    a, b = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (mine, result))
    near = _NEAR.get(mine.dtype.name, 0.1)
    with np.errstate(all="ignore"):
        size = np.abs(b[np.isfinite(b)])
        return np.allclose(a, b, near, near * float(size.max(initial=0.0)), equal_nan=True)


@functools.cache
def scalar_kind(kind: type) -> type:
    """The linked scalars of one of NumPy's types.

    That type comes first among the bases, since NumPy takes the dtype from there; so what a linked
    scalar does otherwise must stand in the class itself.
    """
    members: dict[str, Any] = {}
    for one in (Linked, LinkedScalar):
        members |= {k: v for k, v in vars(one).items() if k not in _OWN}
    return type(kind.__name__, (kind, LinkedScalar), members)


_OWN = ("__dict__", "__weakref__", "__module__", "__doc__", "__qualname__")
