"""Steps that put elements together and take them apart: batch, unbatch, rebatch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.errors import at_site, exhausted, invalid, require
from wengert.core.shapes import brief
from wengert.core.types import RawSite, Tensor, TensorSpec, TypeSpec
from wengert.data.array_rows import RowBatches
from wengert.data.iterators import chained, pulling
from wengert.data.plan import UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import batched, columns, example, join, packer, unbatched

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor


def stack(
    elements: list[Any], site: RawSite | None = None, specs: Sequence[Any] | None = None
) -> Any:
    """A batch: the elements side by side along a new first axis.

    A spec of a composite says how its values go together, in `_batch_values`. `specs` are those of
    the leaves where they are known: a row of a ragged tensor may be a plain one.
    """
    result = columns(elements)
    kinds = specs or [getattr(column[0], "_type_spec", None) for column in result]
    leaves = [
        _stack_leaf(c, k, i, site) for i, (c, k) in enumerate(zip(result, kinds, strict=True))
    ]
    return packer(elements[0])(leaves)


def _stack_leaf(
    values: Sequence[Any], kind: TypeSpec | None, component: int, site: RawSite | None
) -> Any:
    first = values[0]
    together = getattr(kind, "_batch_values", None)
    if together is None and type(first) is Tensor:
        return wrap(stack_arrays([v._array for v in values], component), site)
    if first is None:
        return None
    if together is None:
        raise invalid(
            "batch",
            f"a {type(first).__name__} cannot be part of a batch",
            help="Turn it into tensors with map first.",
        )
    return together(list(values))


def stack_arrays(arrays: list[np.ndarray], component: int = 0) -> np.ndarray:
    """`np.stack` without its cost per array, and with an error that names the shapes."""
    first = arrays[0]
    shape, dtype = first.shape, first.dtype
    for i, a in enumerate(arrays):
        if a.shape != shape or a.dtype != dtype:
            raise _uneven(first, a, i, component)
    if shape:
        try:
            return np.concatenate(arrays).reshape((len(arrays), *shape))
        except MemoryError as error:
            raise exhausted("batch", error) from None
    out = np.empty(len(arrays), dtype)
    out[:] = [a[()] for a in arrays]
    return out


def _uneven(first: np.ndarray, other: np.ndarray, index: int, component: int) -> Exception:
    what = "shape" if first.shape != other.shape else "dtype"
    return invalid(
        "batch",
        f"the elements of a batch must have the same {what}; in component {component} the first "
        f"is {first.dtype.name}{brief(first.shape)} and element {index} is "
        f"{other.dtype.name}{brief(other.shape)}",
        help="Use padded_batch, or make them alike with map." if what == "shape" else "",
    )


class Batching(Plan):
    """Consecutive elements, `size` at a time; subclasses say how they go together."""

    def __init__(self, source: Plan, size: int, drop_remainder: bool) -> None:
        super().__init__(source)
        self._size, self._drop = size, drop_remainder

    def combiner(self) -> Callable[[list[Any]], Any]:
        """A function that combines a list of elements into one."""
        raise NotImplementedError

    def start(self, run: Run) -> Iterator[Any]:
        source, combine = self.input.start(run), self.combiner()

        def following() -> Any:
            elements = list(islice(source, self._size))
            if not elements or (self._drop and len(elements) < self._size):
                raise StopIteration
            return combine(elements)

        return pulling(following)

    def batched(self, spec: Any) -> Any:
        """The spec of the batches of elements of a spec."""
        return batched(spec, self._size if self._drop else None)

    def sample(self) -> Any:
        return self.combiner()([self.input.sample()] * self._size)

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count < 0:
            return count
        return count // self._size if self._drop else -(-count // self._size)


class Batch(Batching):
    """Elements side by side along a new first axis."""

    kind = "_BatchDataset"

    def start(self, run: Run) -> Iterator[Any]:
        rows = self.input.rows()
        return super().start(run) if rows is None else RowBatches(rows, self._size, self._drop)

    def combiner(self) -> Callable[[list[Any]], Any]:
        specs = nest.flatten(self.input.spec) if self.input.spec_known else None
        return lambda elements: stack(elements, self.site, specs)

    def find_spec(self) -> Any:
        return self.batched(self.input.spec)


class Unbatch(Plan):
    """The rows of every element."""

    kind = "_UnbatchDataset"

    def __init__(self, source: Plan) -> None:
        super().__init__(source)
        if source.spec_known:
            _ = self.spec
            _leading("unbatch", source.spec)

    def start(self, run: Run) -> Iterator[Any]:
        return chained(map(split, self.input.start(run)))

    def find_spec(self) -> Any:
        return unbatched("unbatch", self.input.spec)

    def sample(self) -> Any:
        return next(split(self.input.sample()), example(self.spec))

    def cardinality(self) -> int:
        if not self.input.spec_known:
            return UNKNOWN_CARDINALITY
        count, size = self.input.cardinality(), _leading("unbatch", self.input.spec)
        if count < 0 or size is None:
            return count if count == -1 else UNKNOWN_CARDINALITY
        return count * size


def _leading(name: str, spec: tuple[TensorSpec, ...] | TypeSpec) -> int | None:
    """The number of rows that a spec promises."""
    specs = [s for s in nest.flatten(spec) if isinstance(s, TensorSpec)]
    sizes = {s.shape[0] for s in specs if s.shape.rank} - {None}
    if len(sizes) > 1:
        raise at_site(
            ValueError(
                f"{name}: the tensors of an element must have the same number of rows; got "
                f"{' and '.join(map(str, sorted(sizes)))}."
            )
        )
    return sizes.pop() if sizes else None


def split(
    element: Tensor | tuple[Tensor, ...] | RaggedTensor,
) -> Iterator[Tensor | tuple[Tensor, Tensor]]:
    """The rows of one element."""
    pack, leaves = packer(element), nest.flatten(element)
    results = [_rows_of(leaf) for leaf in leaves]
    lengths = {len(f) for f in results if f is not None}
    if len(lengths) != 1:
        raise invalid(
            "unbatch",
            f"the tensors of an element must have the same number of rows; got "
            f"{' and '.join(map(str, sorted(lengths)))}",
        )
    for i in range(lengths.pop()):
        yield pack([f if f is None else _row(f, i) for f in results])


def _rows_of(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        require(leaf.ndim, "unbatch", "a scalar has no rows", leaf, kind=ValueError)
        return leaf._array
    return None if leaf is None else list(leaf._type_spec._unbatch_value(leaf))


def _row(rows: list[Tensor] | np.ndarray, index: int) -> Tensor:
    return wrap(rows[index, ...]) if isinstance(rows, np.ndarray) else rows[index]


class Rebatch(Plan):
    """The same rows in batches of other sizes, taken in turn."""

    kind = "_RebatchDataset"

    def __init__(self, source: Plan, sizes: list[int], drop_remainder: bool) -> None:
        super().__init__(source)
        self._sizes, self._drop = sizes, drop_remainder
        if source.spec_known:
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        source, turn, rest = self.input.start(run), 0, []

        def following() -> Any:
            nonlocal turn, rest
            size, have = self._sizes[turn % len(self._sizes)], sum(map(_length, rest))
            for element in source if have < size or not rest else ():
                rest.append(element)
                have += _length(element)
                if have >= size:
                    break
            if not rest or (have == 0 and size) or (self._drop and have < size):
                raise StopIteration
            turn += 1
            whole = _joined(rest)
            rest = [_cut(whole, size, have)] if have > size else []
            return _cut(whole, 0, size) if have > size else whole

        return pulling(following)

    def find_spec(self) -> TensorSpec:
        sizes = set(self._sizes)
        size = sizes.pop() if self._drop and len(sizes) == 1 else None
        return batched(unbatched("rebatch", self.input.spec), size)

    def sample(self) -> Any:
        return stack([next(split(self.input.sample()))] * max(1, self._sizes[0]))

    def cardinality(self) -> int:
        count = self.input.cardinality()
        return count if count == -1 else UNKNOWN_CARDINALITY


def _length(element: Any) -> int:
    return next(len(x) for x in nest.flatten(element) if x is not None)


def _joined(elements: list[Tensor]) -> Tensor:
    if len(elements) == 1:
        return elements[0]

    def leaf(*parts: Tensor) -> Tensor | None:
        return None if parts[0] is None else wrap(np.concatenate([p._array for p in parts]))

    return nest.map_structure(leaf, *elements)


def _cut(element: Tensor, start: int, stop: int) -> Tensor:
    return nest.map_structure(lambda x: None if x is None else wrap(x._array[start:stop]), element)


def common_spec(
    name: str, plans: Sequence[Plan]
) -> dict[str, TensorSpec] | tuple[TensorSpec, TensorSpec] | TensorSpec:
    """The spec that takes in the elements of several datasets."""
    spec = plans[0].spec
    for plan in plans[1:]:
        try:
            spec = join(spec, plan.spec)
        except TypeError as error:
            raise at_site(TypeError(f"{name}: {error}. Make them alike with map.")) from None
    return spec
