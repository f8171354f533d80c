"""Arrays that are written row by row: what a `TensorArray` is inside a graph.

To shape rules it is a tensor with a leading axis. While running, the host engine holds `Rows`, a
list that is copied only when a row is replaced; XLA holds a buffer. Until the first write the
shape of a row may be unknown: `Blank` stands for such a buffer while lowering.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.errors import InvalidIndexError, OutOfRangeError, invalid
from wengert.core.lazy import lax
from wengert.core.lowering import fail_if
from wengert.core.op import Op, Spec
from wengert.ops.create import zeros_like


class Rows:
    """Rows of one shape and dtype, some perhaps not written yet; to NumPy an array."""

    __slots__ = ("dtype", "items", "row")

    def __init__(self, items: list[Any], dtype: np.dtype, row: tuple[int, ...] | None) -> None:
        self.items = items
        self.dtype = dtype
        self.row = row

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.items), *(self.row or ()))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        out = np.zeros(self.shape, self.dtype)
        for i, item in enumerate(self.items):
            if item is not None:
                out[i] = item
        return out if dtype is None else out.astype(dtype)

    def written(self, i: int, x: np.ndarray, grows: bool) -> Rows:
        """The rows with another one at `i`."""
        items = self.items
        if self.row is not None and x.shape != self.row and any(r is not None for r in items):
            raise invalid(
                "TensorArray.write",
                f"all elements must have the same shape; element {i} has shape {list(x.shape)}, "
                f"others have {list(self.row)}",
            )
        if not 0 <= i < len(items):
            if not grows or i < 0:
                raise _outside("write", i, len(items))
            items = items + [None] * (i + 1 - len(items))
        elif items[i] is not None:
            items = list(items)
        elif items is self.items and len(items) > 0:
            # Nobody can have read a row that was never written, so the list may be shared.
            pass
        items[i] = x
        return Rows(items, self.dtype, x.shape)


class Blank:
    """A buffer whose rows have no known shape yet, while lowering."""

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.count = count
        self.dtype = dtype
        self.shape = (count,)

    def buffer(self, row: tuple[int, ...]) -> Any:
        return lax.full((self.count, *row), 0, self.dtype)


def _outside(what: str, i: int, count: int) -> Exception:
    return invalid(
        f"TensorArray.{what}",
        f"index {i} is outside [0, {count})",
        help="Make it larger, or with dynamic_size=True.",
        kind=OutOfRangeError if what == "write" else InvalidIndexError,
    )


def _new_kernel(size: np.ndarray, dtype: Any, row: Any, grows: bool) -> Rows:
    return Rows([None] * int(size), dtype.np, row if row is None or None not in row else None)


def _lower_new(size: Any, dtype: Any, row: Any, grows: bool) -> Any:
    from wengert.core.lowering import NotFixed

    if grows:
        raise NotFixed("a TensorArray with dynamic_size=True grows as the program runs")
    if not isinstance(size, np.ndarray):
        raise NotFixed("the size of a TensorArray depends on the values of tensors")
    if row is None or None in row:
        return Blank(int(size), dtype.np)
    return lax.full((int(size), *row), 0, dtype.np)


NEW_ROWS = Op(
    "new_rows",
    "size",
    kernel=_new_kernel,
    infer=lambda size, dtype, row, grows: Spec(None if row is None else (None, *row), dtype),
    lower=_lower_new,
    grad=None,
    folds=False,
    register=False,
)


def _write_kernel(buffer: Any, i: np.ndarray, x: np.ndarray, grows: bool) -> Rows:
    if not isinstance(buffer, Rows):
        buffer = Rows(list(buffer), buffer.dtype, buffer.shape[1:])
    return buffer.written(int(i), x, grows)


def _infer_write(buffer: Spec, i: Spec, x: Spec, grows: bool) -> Spec:
    if x.shape is None:
        return Spec(buffer.shape, buffer.dtype)
    count = None if buffer.shape is None else buffer.shape[0]
    return Spec((count, *x.shape), buffer.dtype)


def _lower_write(buffer: Any, i: Any, x: Any, grows: bool) -> Any:
    if isinstance(buffer, Blank):
        buffer = buffer.buffer(x.shape)
    count = buffer.shape[0]
    fail_if(lambda: (i < 0) | (i >= count))
    return lax.dynamic_update_index_in_dim(buffer, x, i, 0)


WRITE_ROW = Op(
    "write_row",
    "buffer i x",
    kernel=_write_kernel,
    infer=_infer_write,
    lower=_lower_write,
    grad=(
        lambda g, i: apply(WRITE_ROW, g, i, zeros_like(read_row(g, i)), grows=False),
        None,
        lambda g, i: read_row(g, i),
    ),
    match=(0, 2),
    holomorphic=False,
    register=False,
)


def _read_kernel(buffer: Any, i: np.ndarray) -> np.ndarray:
    n = int(i)
    if not 0 <= n < len(buffer):
        raise _outside("read", n, len(buffer))
    if isinstance(buffer, Rows):
        item = buffer.items[n]
        if item is None:
            if buffer.row is None:
                raise invalid("TensorArray.read", f"element {n} was never written")
            return np.zeros(buffer.row, buffer.dtype)
        return item
    return buffer[n]


def _lower_read(buffer: Any, i: Any) -> Any:
    if isinstance(buffer, Blank):
        raise invalid("TensorArray.read", "no element was ever written")
    count = buffer.shape[0]
    fail_if(lambda: (i < 0) | (i >= count))
    return lax.dynamic_index_in_dim(buffer, i, 0, keepdims=False)


READ_ROW = Op(
    "read_row",
    "buffer i",
    kernel=_read_kernel,
    infer=lambda buffer, i: Spec(None if buffer.shape is None else buffer.shape[1:], buffer.dtype),
    lower=_lower_read,
    grad=(lambda g, i, buffer: apply(PUT_ROW, g, i, buffer), None),
    match=(),
    register=False,
)


def _put_kernel(g: np.ndarray, i: np.ndarray, like: Any) -> Rows:
    items: list[Any] = [None] * len(like)
    items[int(i)] = g
    return Rows(items, g.dtype, g.shape)


# Zeros in the form of a buffer, but for one row: the gradient of a read.
PUT_ROW = Op(
    "put_row",
    "g i like",
    kernel=_put_kernel,
    infer=lambda g, i, like: Spec(
        None if g.shape is None else (None if like.shape is None else like.shape[0], *g.shape), g.dtype
    ),
    lower=lambda g, i, like: lax.dynamic_update_index_in_dim(
        lax.full((like.shape[0], *g.shape), 0, g.dtype), g, i, 0
    ),
    grad=(lambda h, i: read_row(h, i), None, None),
    match=(),
    register=False,
)


def read_row(buffer: Any, i: Any) -> Any:
    """The row of a buffer at a position that may depend on data."""
    return apply(READ_ROW, buffer, i)


def _lower_stack(buffer: Any) -> Any:
    if isinstance(buffer, Blank):
        raise invalid("TensorArray.stack", "no element was ever written, so there is no shape")
    return buffer


STACK_ROWS = Op(
    "stack_rows",
    "buffer",
    kernel=np.asarray,
    infer=lambda buffer: buffer,
    lower=_lower_stack,
    grad=lambda g: g,
    register=False,
)

COUNT_ROWS = Op(
    "count_rows",
    "buffer",
    kernel=lambda buffer: np.array(len(buffer), np.int32),
    infer=lambda buffer: Spec((), dtypes.int32),
    lower=lambda buffer: np.array(buffer.shape[0], np.int32),
    grad=None,
    register=False,
)
