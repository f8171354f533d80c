"""`tf.TensorArray`: a list of tensors that loops write and read.

Eagerly it is a Python list. In a trace it is a buffer, carried through loops like any tensor; each
write gives a new array, and the old one is still what it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply, wrap
from wengert.core.convert import operand
from wengert.core.dims import is_open
from wengert.core.errors import InvalidArgumentError, OutOfRangeError, at_site, describe, invalid
from wengert.core.shapes import TensorShape, as_shape
from wengert.core.symbolic import is_symbolic
from wengert.graph.ir import building
from wengert.ops.cast import cast
from wengert.ops.declare import static_int
from wengert.ops.gather import gather
from wengert.ops.joining import concat, split, stack, unstack
from wengert.ops.rows import COUNT_ROWS, NEW_ROWS, READ_ROW, STACK_ROWS, WRITE_ROW
from wengert.ops.shaping import reshape


class TensorArray:
    """Tensors of one dtype by number: `ta = ta.write(i, x)`, `ta.read(i)`, `ta.stack()`."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: Any = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: Any = None,
    ) -> None:
        self._dtype = dtypes.as_dtype(dtype)
        self._grows = bool(dynamic_size)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._infer = infer_shape
        self._row = as_shape(element_shape)
        self._items: list[Any] | None = None
        self._buffer: Any = None
        size = 0 if size is None else size
        if building() is None:
            self._items = [None] * int(static_int("TensorArray", size, "size"))
        else:
            row = self._row if self._row is not None else None
            count = operand(size)
            count = count if count.dtype is dtypes.int32 else cast(count, dtypes.int32)
            self._buffer = apply(NEW_ROWS, count, dtype=self._dtype, row=row, grows=self._grows)

    # As a part of a structure, in a trace.

    def __tf_flatten__(self) -> tuple[list[Any], Any]:
        return [self._in_trace()], (self._dtype, self._grows, self._infer, self._row)

    @classmethod
    def __tf_unflatten__(cls, rest: Any, parts: list[Any]) -> TensorArray:
        new = object.__new__(cls)
        new._dtype, new._grows, new._infer, new._row = rest
        new._clears = False
        new._items, new._buffer = None, parts[0]
        return new

    def _in_trace(self) -> Any:
        if self._buffer is None:
            items: Any = self._items
            known = [x for x in items if x is not None]
            if not known:
                self._buffer = apply(
                    NEW_ROWS, wrap(np.asarray(len(items), np.int32)), dtype=self._dtype,
                    row=self._row, grows=self._grows,
                )  # fmt: skip
            else:
                self._buffer = self._dense()
            self._items = None
        return self._buffer

    def _with(self, buffer: Any) -> TensorArray:
        new = TensorArray.__tf_unflatten__(self.__tf_flatten__()[1], [buffer])
        new._clears = self._clears
        return new

    def _eager(self) -> bool:
        return self._items is not None and building() is None

    # What it is.

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        return self._grows

    @property
    def element_shape(self) -> TensorShape:
        if self._items is not None:
            known = [x.shape for x in self._items if x is not None]
            return known[0] if known and self._infer else TensorShape(self._row)
        shape = self._buffer.shape
        return TensorShape(None) if shape.rank is None else shape[1:]

    @property
    def flow(self) -> Any:
        return self._buffer if self._buffer is not None else wrap(np.zeros((), np.float32))

    @property
    def handle(self) -> Any:
        return None

    def size(self, name: Any = None) -> Any:
        """The number of places as a scalar."""
        if self._eager():
            items: Any = self._items
            return wrap(np.asarray(len(items), np.int32))
        return apply(COUNT_ROWS, self._in_trace())

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def close(self, name: Any = None) -> None:
        """Lets go of all elements."""
        if self._items is not None:
            self._items.clear()

    # One element.

    def write(self, index: Any, value: Any, name: Any = None) -> TensorArray:
        """The array with `value` at `index`."""
        x = self._checked(value)
        if not self._eager():
            i = _index(index)
            return self._with(apply(WRITE_ROW, self._in_trace(), i, x, grows=self._grows))
        i, items = int(operand(index)), self._list()
        if i < 0 or (i >= len(items) and not self._grows):
            raise _outside("write", i, len(items), OutOfRangeError)
        items.extend([None] * (i + 1 - len(items)))
        items[i] = x
        return self

    def _list(self) -> list[Any]:
        items: Any = self._items
        return items

    def _checked(self, value: Any) -> Any:
        x = operand(value, None, self._dtype)
        if x.dtype is not self._dtype:
            raise invalid(
                "TensorArray", f"the elements are {self._dtype.name}", x, help="Cast the value."
            )
        shape = TensorShape(self._row)
        if self._infer and self._items is not None and self._row is None:
            known = [y.shape for y in self._items if y is not None]
            shape = known[0] if known else shape
        if not shape.is_compatible_with(x.shape):
            raise at_site(
                ValueError(
                    f"TensorArray.write: all elements must have one shape, {shape}; got "
                    f"{describe(x)}. Pad it, or make the array with infer_shape=False."
                )
            )
        return x

    def read(self, index: Any, name: Any = None) -> Any:
        """The element at `index`."""
        if not self._eager():
            return apply(READ_ROW, self._in_trace(), _index(index))
        i, items = int(operand(index)), self._list()
        if not 0 <= i < len(items):
            raise _outside("read", i, len(items), OutOfRangeError)
        x = items[i]
        if x is None:
            x = self._blank(i)
        elif x is _CLEARED:
            raise at_site(
                InvalidArgumentError(
                    None,
                    None,
                    f"TensorArray.read: element {i} was cleared by an earlier read. Make the array "
                    f"with clear_after_read=False.",
                )
            )
        if self._clears:
            items[i] = _CLEARED
        return x

    def _blank(self, i: int) -> Any:
        shape = self.element_shape
        if not shape.is_fully_defined():
            raise invalid("TensorArray.read", f"element {i} was never written")
        return wrap(np.zeros(shape.as_list(), self._dtype.np))

    # All elements.

    def stack(self, name: Any = None) -> Any:
        """All elements as one tensor, along a new first axis."""
        if not self._eager():
            return apply(STACK_ROWS, self._in_trace())
        return self._dense()

    def _dense(self) -> Any:
        items = self._list()
        if not items:
            shape = TensorShape(self._row)
            known = shape.as_list() if shape.is_fully_defined() else []
            return wrap(np.zeros((0, *known), self._dtype.np))
        return stack([self._blank(i) if x is None else _still(x, i) for i, x in enumerate(items)])

    def gather(self, indices: Any, name: Any = None) -> Any:
        """Some elements as one tensor."""
        if not self._eager():
            return gather(self.stack(), indices)
        items = self._list()
        wanted = operand(indices)._array.tolist()
        for i in wanted:
            if not 0 <= i < len(items):
                raise _outside("gather", i, len(items), OutOfRangeError)
        return stack([self._blank(i) if items[i] is None else _still(items[i], i) for i in wanted])

    def concat(self, name: Any = None) -> Any:
        """All elements joined along their first axis."""
        if self._eager():
            return concat([_still(x, i) for i, x in enumerate(self._list())], 0)
        x = self.stack()
        shape = x._array.shape
        return reshape(x, (shape[0] * shape[1], *shape[2:]))

    def unstack(self, value: Any, name: Any = None) -> TensorArray:
        """The array with the rows of `value` as its elements."""
        x = operand(value, None, self._dtype)
        if not self._eager():
            return self._with(x)
        items = self._list()
        rows = unstack(x)
        if len(rows) > len(items) and not self._grows:
            raise _outside("unstack", len(rows) - 1, len(items), OutOfRangeError)
        items[:] = rows
        return self

    def split(self, value: Any, lengths: Any, name: Any = None) -> TensorArray:
        """The array with pieces of `value` of the given lengths as its elements."""
        x = operand(value, None, self._dtype)
        if self._eager():
            self._list()[:] = split(x, operand(lengths)._array.tolist())
            return self
        sizes = operand(lengths)
        if is_symbolic(sizes) or len(set(sizes._array.tolist())) > 1:
            raise invalid("TensorArray.split", "in a function all pieces must have one known length")
        shape = x._array.shape
        return self._with(reshape(x, (sizes._array.size, int(sizes._array.flat[0]), *shape[1:])))

    def scatter(self, indices: Any, value: Any, name: Any = None) -> TensorArray:
        """The array with the rows of `value` at the given places."""
        x = operand(value, None, self._dtype)
        places = operand(indices)
        count = x._array.shape[0]
        if is_open((count,)):
            return self._scatter_all(places, x)
        array: TensorArray = self
        for k in range(count):
            array = array.write(places[k], x[k])
        return array

    def _scatter_all(self, places: Any, x: Any) -> TensorArray:
        from wengert.ops.dims import expand_dims
        from wengert.ops.scatter import scatter_nd

        shape = (static_int("TensorArray", self.size(), "size"), *x._array.shape[1:])
        return self._with(scatter_nd(expand_dims(places, -1), x, shape))


class _Cleared:
    pass


_CLEARED: Any = _Cleared()


def _still(x: Any, i: int) -> Any:
    if x is _CLEARED:
        raise invalid("TensorArray", f"element {i} was cleared by an earlier read")
    return x


def _index(index: Any) -> Any:
    i = operand(index)
    return i if i.dtype is dtypes.int32 else cast(i, dtypes.int32)


def _outside(what: str, i: int, count: int, kind: Any) -> Exception:
    return invalid(
        f"TensorArray.{what}",
        f"index {i} is outside [0, {count})",
        help="Make it larger, or with dynamic_size=True.",
        kind=kind,
    )
