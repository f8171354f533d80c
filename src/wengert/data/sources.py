"""Plans that make elements from values in memory: tensors, their slices, ranges, random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.dtypes import DType, int64
from wengert.core.errors import at_site, invalid, require
from wengert.core.types import Tensor, TensorSpec
from wengert.data import keys
from wengert.data.array_rows import Rows
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import blank, normalize, packer, rebuild, spec_of, unbatched

# Longer ranges are counted, not laid out in memory.
_LONGEST = 1 << 22


class Tensors(Plan):
    """One element, or a few that are already made."""

    kind = "_TensorDataset"

    def __init__(self, elements: list[Any], spec: Any = None) -> None:
        super().__init__(spec=spec)
        self.values = elements

    def start(self, run: Run) -> Iterator[Any]:
        return iter(self.values)

    def find_spec(self) -> Any:
        return spec_of(self.values[0])

    def arrays(self) -> Iterator[np.ndarray]:
        return (x._array for x in nest.flatten(self.values) if isinstance(x, Tensor))

    def sample(self) -> Any:
        return self.values[0]

    def cardinality(self) -> int:
        return len(self.values)


class Elements(Tensors):
    """The elements of a window or of a group, handed to the user as a dataset."""

    kind = "_VariantDataset"


def one_element(tensors: Any) -> Tensors:
    """The whole value as the only element."""
    element = normalize(tensors)
    _not_empty("from_tensors", element)
    return Tensors([element])


def lent(value: Any) -> Any:
    """Tensors that share the memory of arrays, where its layout is that of a tensor."""
    if isinstance(value, tuple | dict):
        return rebuild(value, lent)
    if type(value) is not np.ndarray or value.dtype.kind not in "fiub":
        return value
    plain = value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative
    return wrap(value) if plain and value.dtype.itemsize <= 8 else value


def _not_empty(name: str, element: Any) -> None:
    require(
        not all(leaf is None for leaf in nest.flatten(element)),
        name,
        f"give at least one tensor; got {element!r}",
        kind=ValueError,
    )


class Slices(Plan):
    """The rows of tensors, one element each."""

    kind = "_TensorSliceDataset"

    def __init__(self, tensors: Any) -> None:
        super().__init__()
        element = normalize(tensors)
        _not_empty("from_tensor_slices", element)
        self.__dict__["spec"] = unbatched("from_tensor_slices", spec_of(element))
        leaves = nest.flatten(element)
        self._pack = packer(element)
        self._tensors = all(leaf is None or isinstance(leaf, Tensor) for leaf in leaves)
        self._columns = tuple([_column(leaf) for leaf in leaves])
        self._length = _common_length("from_tensor_slices", self._columns)

    def rows(self) -> Rows | None:
        if not self._tensors:
            return None
        return Rows(self._columns, self._pack, self._length, self.site)

    def elements(self, run: Run) -> Iterator[Any]:
        return (self._element(i) for i in range(self._length))

    def _element(self, index: int) -> Any:
        return self._pack([_row(column, index) for column in self._columns])

    def arrays(self) -> Iterator[np.ndarray]:
        return (c for c in self._columns if isinstance(c, np.ndarray))

    def sample(self) -> Any:
        if self._length:
            return self._element(0)
        return self._pack([_absent(column) for column in self._columns])

    def cardinality(self) -> int:
        return self._length


def _column(leaf: Any) -> Any:
    """An array of rows for a tensor, a list of them for a composite, `None` for `None`."""
    if isinstance(leaf, Tensor):
        return leaf._array
    if leaf is None:
        return None
    rows = getattr(leaf._type_spec, "_unbatch_value", None)
    if rows is None:
        raise at_site(
            TypeError(f"from_tensor_slices: a {type(leaf).__name__} cannot be cut into rows.")
        )
    return list(rows(leaf))


def _row(column: Any, index: int) -> Any:
    if column is None or isinstance(column, list):
        return column and column[index]
    return wrap(column[index, ...])


def _absent(column: Any) -> Any:
    return wrap(blank(column.shape[1:], column.dtype)) if isinstance(column, np.ndarray) else None


def _common_length(name: str, columns: tuple[Any, ...]) -> int:
    lengths = [len(c) for c in columns if c is not None]
    for length in lengths:
        if length != lengths[0]:
            raise invalid(
                name,
                f"the tensors must have the same number of rows; got {lengths[0]} and {length}",
                help="Cut or pad them to one length.",
            )
    return lengths[0]


class Range(Plan):
    """Whole numbers from `start` in steps; `stop` of `None` goes on for ever."""

    kind = "_RangeDataset"

    def __init__(self, start: int, stop: int | None, step: int, dtype: DType = int64) -> None:
        super().__init__(spec=TensorSpec([], dtype))
        self._numbers = range(start, stop, step) if stop is not None else None
        self._first, self._step, self._dtype = start, step, dtype

    def start(self, run: Run) -> Iterator[Any]:
        numbers = (
            itertools.count(self._first, self._step) if self._numbers is None else self._numbers
        )
        return map(self._tensor, numbers)

    def _tensor(self, number: int) -> Tensor:
        return wrap(np.array(number, self._dtype.np), self.site)

    def rows(self) -> Rows | None:
        if self._numbers is None or len(self._numbers) > _LONGEST:
            return None
        return self._laid_out

    @cached_property
    def _laid_out(self) -> Rows:
        result = np.array(self._numbers, np.int64).astype(self._dtype.np)
        return Rows((result,), lambda leaves: leaves[0], len(result), self.site)

    def sample(self) -> Any:
        return self._tensor(self._first)

    def cardinality(self) -> int:
        return INFINITE_CARDINALITY if self._numbers is None else len(self._numbers)


class Random(Plan):
    """Random whole numbers without end, the same in every iteration unless asked otherwise."""

    kind = "_RandomDataset"

    def __init__(self, seed: int | None, rerandomize: bool) -> None:
        super().__init__(spec=TensorSpec([], int64))
        self._key = keys.step_key("random", seed)
        self._epochs = keys.Epochs(rerandomize)

    def start(self, run: Run) -> Iterator[Any]:
        words = keys.Words(self._key, next(self._epochs)).below(1 << 32)
        return map(self._tensor, words)

    def _tensor(self, number: int) -> Tensor:
        return wrap(np.array(number, np.int64), self.site)

    def sample(self) -> Any:
        return self._tensor(0)

    def cardinality(self) -> int:
        return INFINITE_CARDINALITY


class Started(Plan):
    """Elements from a function that starts a Python iterator; for readers of files and the like."""

    kind = "_FlatMapDataset"

    def __init__(
        self,
        begin: Callable[[], Iterator[Any]],
        spec: tuple[TensorSpec, ...] | TensorSpec,
        sample: Tensor | tuple[Tensor, ...],
    ) -> None:
        super().__init__(spec=spec)
        self._begin, self._sample = begin, sample

    def start(self, run: Run) -> Iterator[Any]:
        return self._begin()

    def sample(self) -> Any:
        return self._sample

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY
