"""`Rows`: a list of arrays, one for each row, of which every version stays what it was.

Writing a row gives a new version in constant time: the newest version holds the list, and each
older one knows the one row in which it differs. Whoever reads an older version walks back to it
first, so reading in the order of writing, or against it, is cheap. To NumPy it is an array.

A tensor becomes such a list for sums that grow one row at a time: a loop that reads `x[i]` or
`x[:, i]` adds to one row of the gradient of `x` in each turn, and dense that would cost the whole of
`x` each time. `EXTENT` keeps the shape of a tensor, or of each row, without its elements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core.padded_stacks import Padded
from wengert.ops.declare import (
    InvalidIndexError,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    apply,
    dtypes,
    invalid,
    lax,
)


def never_written(i: int) -> Exception:
    """What to raise for an element that is read before it is written."""
    return invalid(
        "TensorArray",
        f"element {i} was never written, and no shape is known for it",
        help="Write it first, and keep what `write` returns (`a = a.write(i, x)`), or give "
        "`element_shape`.",
    )


class Rows:
    """Rows of one dtype; `None` stands for zeros that nobody wrote.

    `row` is the shape of a row that is not there; `is_even` says that all rows are arrays of that
    shape. As an array, they are stacked along `axis`.
    """

    __slots__ = ("_change", "_items", "_newer", "axis", "dtype", "is_even", "row")

    def __init__(
        self,
        items: list[Any],
        dtype: np.dtype,
        row: tuple[int, ...] | None = None,
        is_even: bool = True,
        axis: int = 0,
    ) -> None:
        self._items: list[Any] | None = items
        self._newer: Rows | None = None
        # For an older version: its length, and the row in which the newer one differs.
        self._change: tuple[int, int, Any] = (0, 0, None)
        self.dtype = dtype
        self.row = row
        self.is_even = is_even
        self.axis = axis

    @property
    def items(self) -> list[Any]:
        """The rows of this version; to be read before another version is touched."""
        if self._items is None:
            self._go_back()
        items: Any = self._items
        return items

    def _go_back(self) -> None:
        """Turns the path from here to the newest version round, so that it leads here."""
        path: list[Rows] = []
        version: Rows = self
        while version._newer is not None:
            path.append(version)
            version = version._newer
        for older in reversed(path):
            items: Any = version._items
            length, i, row = older._change
            version._change = (len(items), i, items[i] if i < len(items) else None)
            _resize(items, length)
            if i < length:
                items[i] = row
            version._items, version._newer = None, older
            older._items, older._newer = items, None
            version = older

    def written(self, i: int, x: np.ndarray) -> Rows:
        """The version with `x` at `i`, longer if need be."""
        items = self.items
        length = len(items)
        even = type(x) is not Rows and self.is_even
        if even and x.shape != self.row and self.row is not None:
            even = all(y is None for y in items)
        new = Rows(items, self.dtype, x.shape, even, self.axis)
        self._change = (length, i, items[i] if i < length else None)
        self._items, self._newer = None, new
        _resize(items, max(length, i + 1))
        items[i] = x
        return new

    def without(self, i: int) -> Rows:
        """The version without row `i`; without the last one, at no cost."""
        items = self.items
        last = len(items) - 1
        if i != last:
            return Rows(
                [*items[:i], *items[i + 1 :]], self.dtype, self.row, self.is_even, self.axis
            )
        new = Rows(items, self.dtype, self.row, self.is_even, self.axis)
        self._change = (last + 1, last, items[last])
        self._items, self._newer = None, new
        del items[last]
        return new

    def with_more(self, i: int, x: np.ndarray) -> Rows:
        """The version with `x` before row `i`."""
        if i >= len(self.items):
            return self.written(i, x)
        items = [*self.items[:i], x, *self.items[i:]]
        even = self.is_even and type(x) is not Rows and x.shape == self.row
        return Rows(items, self.dtype, x.shape, even, self.axis)

    def get(self, i: int) -> Any:
        """Row `i`, zeros where none was written."""
        result = self.items[i]
        return self.blank(i) if result is None else result

    def blank(self, i: int) -> np.ndarray:
        """What stands where nothing was written."""
        if self.row is None:
            raise never_written(i)
        if self.dtype == object:
            return np.full(self.row, b"", object)
        return np.zeros(self.row, self.dtype)

    def zeros(self) -> Rows:
        """Zeros of the same lengths and shapes."""
        rows = [
            None if x is None else x.zeros() if type(x) is Rows else np.zeros(x.shape, self.dtype)
            for x in self.items
        ]
        return Rows(rows, self.dtype, self.row, self.is_even, self.axis)

    def filled(self) -> list[Any]:
        """All rows, blank ones too."""
        return [self.blank(i) if x is None else x for i, x in enumerate(self.items)]

    # As an array.

    @property
    def shape(self) -> tuple[int, ...]:
        row = self.row or ()
        return (*row[: self.axis], len(self.items), *row[self.axis :])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.get(index) if isinstance(index, int) else np.asarray(self)[index]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """One array; of uneven rows an array of objects, which `as_rows` takes back."""
        rows = self.filled()
        if not rows:
            return np.zeros(self.shape, self.dtype)
        if self.is_even and self.dtype != object:
            result = np.stack(rows, self.axis)
            return result if dtype is None else result.astype(dtype)
        if self.is_even:
            result = np.empty(self.shape, object)
            for i, x in enumerate(rows):
                result[i] = x[()]
            return result
        return _objects(rows)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: np.ndarray | Rows, **kwargs: Any
    ) -> Rows:
        if ufunc is np.add and method == "__call__" and not kwargs:
            axis = next(x.axis for x in inputs if type(x) is Rows)
            a, b = (as_rows(x, axis) for x in inputs)
            return added(a, b)
        plain = [np.asarray(x) if isinstance(x, Rows) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)


def _resize(items: list[np.generic | np.ndarray | None], length: int) -> None:
    if len(items) > length:
        del items[length:]
    else:
        items.extend([None] * (length - len(items)))


def _objects(rows: list[np.ndarray | Rows]) -> np.ndarray:
    rows = list(rows)
    array = np.empty(len(rows), object)
    for i, x in enumerate(rows):
        array[i] = x
    return array


def as_rows(x: np.ndarray | Rows, axis: int = 0) -> Rows:
    """An array as rows along an axis."""
    if isinstance(x, Rows):
        return x
    if x.dtype == object and x.ndim == 1 and len(x) and isinstance(x[0], np.ndarray | Rows):
        return Rows(list(x), x[0].dtype, x[0].shape, is_even=False)
    row = (*x.shape[:axis], *x.shape[axis + 1 :])
    return Rows(list(np.moveaxis(x, axis, 0) if axis else x), x.dtype, row, axis=axis)


def added(a: Rows, b: Rows) -> Rows:
    """The sum row by row; a row that only one of them has is that one's."""
    left, right = list(a.items), list(b.items)
    _resize(left, max(len(left), len(right)))
    _resize(right, len(left))
    rows = [
        y if x is None else x if y is None else _sum(x, y) for x, y in zip(left, right, strict=True)
    ]
    row = b.row if a.row is None else a.row
    even = a.is_even and b.is_even and (b.row is None or row == b.row)
    return Rows(rows, a.dtype, row, even, a.axis)


def increased(rows: Rows, i: int, x: np.ndarray) -> Rows:
    """The rows with `x` added to row `i`."""
    old = rows.items[i] if i < len(rows) else None
    return rows.written(i, x if old is None else _sum(old, x))


def _sum(x: np.generic | np.ndarray, y: np.ndarray) -> np.ndarray:
    result = np.add(x, y)
    return result if type(result) is Rows else np.asarray(result)


def joined(rows: list[Any], spec: Any) -> Any:
    """The rows of a loop as one array, or as `Rows` where their shapes differ."""
    if not rows:
        shape = [0 if d is None else d for d in (spec.shape or (0,))[1:]]
        return np.zeros((0, *shape), spec.dtype.np)
    first = rows[0].shape
    if all(type(r) is not Rows and r.shape == first for r in rows):
        return np.stack(rows)
    return Rows(rows, spec.dtype.np, first, is_even=False)


def readable(stack: np.ndarray | Rows) -> np.ndarray | Rows:
    """A stack in the form that `row` reads."""
    if stack.dtype == object and len(stack) and isinstance(stack[0], np.ndarray | Rows):
        return as_rows(stack)
    return stack


def row(stack: np.ndarray | Rows, i: int) -> Any:
    """One row of a stack, an array also where it is a single number."""
    return stack.get(i) if type(stack) is Rows else stack[i, ...]


def outside(what: str, i: int, count: int) -> Exception:
    """The error for an index that the array does not have."""
    return invalid(
        f"TensorArray.{what}",
        f"index {i} is outside [0, {count})",
        help="Make it larger, or with dynamic_size=True.",
        kind=InvalidIndexError,
    )


def _extent_kernel(x: np.ndarray | Rows) -> np.ndarray | Rows:
    if isinstance(x, Rows) and not x.is_even:
        rows = [_extent_kernel(x.blank(i) if r is None else r) for i, r in enumerate(x.items)]
        return Rows(rows, np.dtype(bool), rows[0].shape, is_even=False)
    return np.zeros((*x.shape, 0), bool)


def _lower_extent(x: JaxArray | Padded) -> JaxArray | Padded:
    if type(x) is Padded:
        return x.mapped(_lower_extent)
    return lax.full((*x.shape, 0), False, bool)


EXTENT = Op(
    "extent",
    "x",
    kernel=_extent_kernel,
    infer=lambda x: ShapeDtype(None if x.shape is None else (*x.shape, 0), dtypes.bool_),
    lower=_lower_extent,
    takes_padded=True,
    grad=None,
    folds=False,
    register=False,
    row_lists="takes",
)


def extent(x: SymbolicTensor) -> Tensor:
    """A tensor of no elements that has the sizes of another, and one more of 0."""
    return apply(EXTENT, x)


AS_ROWS = Op(
    "as_rows",
    "x",
    kernel=as_rows,
    infer=lambda x, axis: x,
    lower=lambda x, axis: x,
    grad=lambda g, axis: apply(FROM_ROWS, g, axis=axis),
    folds=False,
    register=False,
    row_lists="makes",
)
FROM_ROWS = Op(
    "from_rows",
    "rows",
    kernel=lambda rows, axis: np.asarray(rows),
    infer=lambda rows, axis: rows,
    lower=lambda rows, axis: rows,
    grad=lambda g, axis: apply(AS_ROWS, g, axis=axis),
    folds=False,
    register=False,
)


def as_axis_rows(x: Tensor, axis: int) -> Tensor:
    """The rows of a tensor along an axis; only sums and slices along it may use them."""
    return apply(AS_ROWS, x, axis=axis)


def from_axis_rows(rows: SymbolicTensor, axis: int) -> Tensor:
    """A tensor from its rows along an axis."""
    return apply(FROM_ROWS, rows, axis=axis)
