"""`tf.TensorArray`: a list of tensors that loops write and read.

Eagerly it is a Python list, changed in place as in TensorFlow. In a trace it is a buffer, carried
through loops like any tensor; each write gives a new array, and the old one is still what it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply, wrap
from wengert.core.convert import operand
from wengert.core.dims import is_open
from wengert.core.errors import (
    OutOfRangeError,
    at_site,
    describe,
    exhausted,
    invalid,
    require,
    require_dtype,
)
from wengert.core.shapes import as_shape, merge
from wengert.core.symbolic import is_symbolic
from wengert.core.types import DType, IndexedSlices, SymbolicTensor, Tensor, TensorShape
from wengert.graph.builder import building
from wengert.ops.cast import cast
from wengert.ops.declare import static_int
from wengert.ops.gather import gather
from wengert.ops.joining import concat, split, stack, unstack
from wengert.ops.row_counts import row_count
from wengert.ops.row_list import never_written
from wengert.ops.row_pieces import CUT_ROWS, JOIN_ROWS, row_lengths
from wengert.ops.rows import (
    COUNT_ROWS,
    DROP_ROW,
    INSERT_ROW,
    NEW_ROWS,
    STACK_ROWS,
    UNSTACK_ROWS,
    WRITE_ROW,
    read_row,
)
from wengert.ops.shape_checks import of_shape


class TensorArray:
    """Tensors of one dtype by number: `ta = ta.write(i, x)`, `ta.read(i)`, `ta.stack()`.

    Args:
        dtype: the dtype of the tensors.
        size: how many places there are; 0 by default.
        dynamic_size: whether writing behind the end makes it longer.
        clear_after_read: with `False` a place may be read more than once inside functions.
        tensor_array_name, handle, flow, colocate_with_first_write_call: without effect.
        infer_shape: whether all tensors must have one shape.
        element_shape: that shape, where it is known before.
        name: without effect.

    Raises:
        OutOfRangeError: a place is behind the end.

    >>> array = tf.TensorArray(tf.float32, size=2)
    >>> array.write(0, 1.0).write(1, 2.0).stack().numpy().tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        dtype: DType,
        size: Tensor | int | IndexedSlices | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: list[int | None] | TensorShape | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if size is None:
            raise at_site(ValueError("TensorArray: `size` must be given; 0 for one that grows."))
        self._dtype = dtypes.as_dtype(dtype)
        self._grows = bool(dynamic_size)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._infer = infer_shape
        self._row = as_shape(element_shape)
        self._items: list[Any] | None = None
        self._cleared: set[int] = set()
        self._buffer: Any = None
        require(
            not isinstance(size, int) or size <= dtypes.int32.max,
            "TensorArray",
            f"`size` must be an int32; got {size}",
        )
        if building() is None:
            count = int(static_int("TensorArray", size, "size"))
            try:
                self._items = [None] * count
            except MemoryError as error:
                raise exhausted("TensorArray", error) from None
        else:
            self._buffer = self._new(operand(size))

    def __repr__(self) -> str:
        row = "" if self._row is None else f", rows {list(self._row)}"
        kind = f"TensorArray {self._dtype.name}{row}"
        if self._items is None:
            return f"<{kind}: of a trace>"
        written = sum(x is not None for x in self._items)
        growing = ", growing" if self._grows else ""
        return f"<{kind}: {written} of {len(self._items)} written{growing}>"

    def _new(self, size: Tensor | IndexedSlices) -> Tensor:
        size = size if size.dtype is dtypes.int32 else cast(size, dtypes.int32)
        return apply(NEW_ROWS, size, dtype=self._dtype, row=self._row, grows=self._grows)

    # As a part of a structure, in a trace.

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        return (self._dtype, self._grows, self._infer, self._row), [self._in_trace()]

    @classmethod
    def __tf_unflatten__(
        cls,
        rest: tuple[DType, bool, bool, tuple[int | None, ...] | None],
        parts: list[SymbolicTensor] | list[Tensor],
    ) -> TensorArray:
        new = object.__new__(cls)
        new._dtype, new._grows, new._infer, new._row = rest
        new._clears, new._cleared = False, set()
        new._items, new._buffer = None, parts[0]
        if type(parts[0]) is Tensor and building() is None:
            new._items, new._buffer = _items(parts[0]), None
        return new

    def _in_trace(self) -> Any:
        """The buffer; of an array that was made eagerly a copy of what it holds."""
        if self._buffer is not None:
            return self._buffer
        if any(x is not None for x in self._list()):
            return apply(UNSTACK_ROWS, self._dense())
        return self._new(wrap(np.asarray(len(self._list()), np.int32)))

    def _with(
        self, buffer: SymbolicTensor | Tensor, row: tuple[int | None, ...] | None = None
    ) -> TensorArray:
        new = TensorArray.__tf_unflatten__(
            (self._dtype, self._grows, self._infer, self._row), [buffer]
        )
        if self._infer and row is not None:
            new._row = merge(self._row, row)
        return new

    def _eager(self) -> bool:
        return self._items is not None and building() is None

    def _list(self) -> list[Any]:
        items: Any = self._items
        return items

    # What it is.

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        return self._grows

    @property
    def element_shape(self) -> TensorShape:
        return TensorShape(self._row)

    @property
    def flow(self) -> Any:
        return self._buffer if self._buffer is not None else wrap(np.zeros((), np.float32))

    @property
    def handle(self) -> Any:
        return None

    def size(self, name: str | None = None) -> Tensor:
        """The number of places as a scalar."""
        if self._eager():
            return wrap(np.asarray(len(self._list()), np.int32))
        return apply(COUNT_ROWS, self._in_trace())

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Lets go of all elements."""
        if self._items is not None:
            self._items.clear()

    # One element.

    def write(self, index: Tensor | float, value: Any, name: str | None = None) -> TensorArray:
        """The array with `value` at `index`."""
        x = self._checked(value)
        i = _index("write", index)
        if not self._eager():
            even = self._infer
            return self._with(
                apply(WRITE_ROW, self._in_trace(), i, x, grows=self._grows, even=even),
                x.shape._dims,
            )
        place, items = int(i), self._list()
        if place < 0 or (place >= len(items) and not self._grows):
            raise _outside("write", place, len(items))
        items.extend([None] * (place + 1 - len(items)))
        items[place] = x
        self._cleared.discard(place)
        return self

    def without(self, index: SymbolicTensor | int) -> TensorArray:
        """In a trace: the array without the element at `index`."""
        return self._with(apply(DROP_ROW, self._in_trace(), _index("read", index)))

    def with_more(self, index: SymbolicTensor, value: SymbolicTensor) -> TensorArray:
        """In a trace: the array with `value` before the element at `index`."""
        x = self._checked(value)
        return self._with(apply(INSERT_ROW, self._in_trace(), _index("write", index), x))

    def _checked(self, value: Any) -> Tensor:
        x = operand(value, None, self._dtype)
        require_dtype(
            x.dtype is self._dtype,
            "TensorArray",
            lambda: f"the elements are {self._dtype.name}",
            x,
            help="Cast the value.",
        )
        shape = TensorShape(self._row)
        require(
            shape.is_compatible_with(x.shape),
            "TensorArray.write",
            f"all elements must have one shape, {shape}",
            x,
            help="Pad it, or make the array with infer_shape=False.",
            kind=ValueError,
        )
        rule = "all elements must have one shape, {wanted}; got {given}. Pad it"
        x = of_shape(x, self._row, "TensorArray.write", rule)
        if self._infer and self._items is not None:
            self._row = merge(self._row, x.shape._dims)
        return x

    def read(self, index: Tensor | int, name: str | None = None) -> Tensor:
        """The element at `index`; an eager array lets go of it, unless `clear_after_read=False`."""
        i = _index("read", index)
        if not self._eager():
            return self._shaped(read_row(self._in_trace(), i))
        place, items = int(i), self._list()
        if not 0 <= place < len(items):
            raise _outside("read", place, len(items))
        require(
            place not in self._cleared,
            "TensorArray.read",
            f"element {place} was cleared by an earlier read",
            help="Make the array with clear_after_read=False.",
        )
        x = self._item(place)
        if self._clears:
            items[place] = None
            self._cleared.add(place)
        return x

    def _shaped(self, x: SymbolicTensor | Tensor) -> Tensor:
        """An element with the shape that all of them have, as far as it is known."""
        if self._row is not None and is_symbolic(x):
            x.set_shape(self._row)
        return x

    def _item(self, i: int) -> Tensor:
        """An element, zeros where none was written."""
        result = self._list()[i]
        if result is not None:
            return result
        shape = self.element_shape
        if not shape.is_fully_defined():
            raise never_written(i)
        blank = b"" if self._dtype is dtypes.string else 0
        sizes: Any = shape.as_list()
        return wrap(np.full(sizes, blank, self._dtype.np))

    # All elements.

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor, along a new first axis."""
        if self._eager():
            return self._dense()
        buffer = self._in_trace()
        result = apply(STACK_ROWS, buffer, count=None, name="TensorArray.stack")
        if self._row is not None and is_symbolic(result):
            result.set_shape((_count(buffer), *self._row))
        return result

    def _dense(self) -> Tensor:
        count = len(self._list())
        if not count:
            shape = self.element_shape
            known: Any = shape.as_list() if shape.is_fully_defined() else []
            return wrap(np.zeros((0, *known), self._dtype.np))
        return stack([self._item(i) for i in range(count)])

    def gather(self, indices: Tensor | list[int], name: str | None = None) -> Tensor:
        """Some elements as one tensor."""
        if not self._eager():
            return gather(self.stack(), indices)
        wanted = _vector("gather", "indices", indices)._array.tolist()
        count = len(self._list())
        for i in wanted:
            if not 0 <= i < count:
                raise _outside("gather", i, count)
        return stack([self._item(i) for i in wanted]) if wanted else self._dense()[:0]

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined along their first axis."""
        if self._eager():
            items = [self._item(i) for i in range(len(self._list()))]
            require(
                not any(x.shape.rank == 0 for x in items),
                "TensorArray.concat",
                "the elements must have an axis to join them along",
                help="Use stack().",
            )
            return concat(items, 0) if items else self._nothing()
        buffer = self._in_trace()
        return apply(JOIN_ROWS, buffer, row_lengths(buffer))

    def _nothing(self) -> Any:
        shape = self.element_shape
        rest: Any = shape.as_list()[1:] if shape.is_fully_defined() else []
        return wrap(np.zeros((0, *rest), self._dtype.np))

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` as its elements."""
        x = self._of_dtype(value)
        require(x.shape.rank != 0, "TensorArray.unstack", "`value` must have rows", x)
        row = None if x.shape.rank is None else x.shape._dims[1:]
        require(
            TensorShape(self._row).is_compatible_with(row),
            "TensorArray.unstack",
            lambda: (
                f"all elements must have one shape, {TensorShape(self._row)}; got rows of "
                f"{describe(x)}"
            ),
            kind=ValueError,
        )
        if not self._eager():
            rule = (
                f"all elements must have one shape, {TensorShape(self._row)}; got rows of {{given}}"
            )
            wanted = None if self._row is None else (None, *self._row)
            x = of_shape(x, wanted, "TensorArray.unstack", rule)
            return self._with(apply(UNSTACK_ROWS, x), row)
        items, rows = self._list(), unstack(x)
        require(
            len(rows) <= len(items) or self._grows,
            "TensorArray.unstack",
            lambda: f"{len(rows)} rows do not fit an array of {len(items)}",
            help="Make it larger, or with dynamic_size=True.",
        )
        items[:] = rows
        self._cleared.clear()
        self._row = merge(self._row, row) if self._infer else self._row
        return self

    def _of_dtype(self, value: Tensor) -> Any:
        x = operand(value, None, self._dtype)
        require_dtype(
            x.dtype is self._dtype,
            "TensorArray",
            lambda: f"the elements are {self._dtype.name}",
            x,
            help="Cast the value.",
        )
        return x

    def split(self, value: Tensor, lengths: list[int], name: str | None = None) -> TensorArray:
        """The array with pieces of `value` of the given lengths as its elements."""
        x, sizes = self._of_dtype(value), _vector("split", "lengths", lengths)
        require(x.shape.rank != 0, "TensorArray.split", "`value` must have rows", x)
        if not self._eager():
            known = None if is_symbolic(sizes) else set(sizes._array.tolist())
            piece = known.pop() if known is not None and len(known) == 1 else None
            pieces = apply(CUT_ROWS, x, cast(sizes, dtypes.int64), piece=piece)
            return self._with(pieces)
        result, count = sizes._array.tolist(), len(self._list())
        require(
            sum(result) == x._array.shape[0] and min(result, default=0) >= 0,
            "TensorArray.split",
            lambda: (
                f"the lengths must add up to the {x._array.shape[0]} rows of `value`; got {result}"
            ),
        )
        if len(result) != count and not self._grows:
            rule = f"there must be one length for each of the {count} elements"
            raise invalid("TensorArray.split", rule, help=f"There are {len(result)}.")
        self._list()[:] = split(x, result)
        self._cleared.clear()
        return self

    def scatter(self, indices: list[int], value: Tensor, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` at the given places."""
        x, places = self._of_dtype(value), _vector("scatter", "indices", indices)
        require(x.shape.rank != 0, "TensorArray.scatter", "`value` must have rows", x)
        count, wanted = x._array.shape[0], places._array.shape[0]
        if is_open((count, wanted)):
            return self._scatter_all(places, x)
        if count != wanted:
            rule = f"there must be one index for each row of `value`; there are {wanted}"
            raise invalid("TensorArray.scatter", rule, x)
        array: TensorArray = self
        for k in range(count):
            array = array.write(places[k], x[k])
        return array

    def _scatter_all(self, places: Any, x: Any) -> TensorArray:
        """As many writes as there are rows, which only the running function knows."""
        from wengert.functions.while_loop import while_loop
        from wengert.ops.dims import shape

        count = shape(x)[0]
        row = x.shape._dims[1:]
        start = self._with(self._in_trace(), row)
        body = lambda k, array: (k + 1, array.write(places[k], x[k]))
        return while_loop(lambda k, array: k < count, body, (wrap(np.zeros((), np.int32)), start))[
            1
        ]


def _count(buffer: SymbolicTensor | Tensor) -> int | None:
    """How many elements a buffer of this trace has, where that is known."""
    here: Any = building()
    return row_count(here, here.value_of(buffer))


def _items(buffer: Tensor) -> list[Any]:
    """The elements of an array that a function returned."""
    array = buffer._array
    if array.dtype == object and len(array) and isinstance(array[0], np.ndarray):
        return [wrap(x) for x in array]
    return list(unstack(buffer)) if len(array) else []


def _index(what: str, index: Tensor | int | float) -> Any:
    i = operand(index)
    require(
        i.dtype.is_integer,
        f"TensorArray.{what}",
        "the index must be a whole number",
        i,
        kind=TypeError,
    )
    return i if i.dtype is dtypes.int32 else cast(i, dtypes.int32)


def _vector(method: str, what: str, value: Any) -> Any:
    """A list of whole numbers as a tensor."""
    x = operand(value)
    if not x.dtype.is_integer or x.shape.rank not in (1, None):
        # An empty list has no numbers of another dtype.
        require_dtype(
            x.shape.rank == 1 and x.shape.num_elements() == 0,
            f"TensorArray.{method}",
            f"`{what}` must be a list of whole numbers",
            x,
        )
        return cast(x, dtypes.int32)
    return x


def _outside(what: str, i: int, count: int) -> Exception:
    return invalid(
        f"TensorArray.{what}",
        f"index {i} is outside [0, {count})",
        help="Make it larger, or with dynamic_size=True.",
        kind=OutOfRangeError,
    )
