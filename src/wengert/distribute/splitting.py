"""How the rows of a batch, or the elements of a dataset, are dealt out to replicas.

A batch of n rows is cut into parts of ceil(n / replicas) rows, as in TensorFlow: the last parts
have fewer rows, or none. Parts of one size are one array with a further axis, not a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from wengert.composite.sparse_shaping import slice as sparse_slice
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape
from wengert.core.tensor import Tensor
from wengert.core.tensor_spec import TensorSpec
from wengert.data.iterators import pulling
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import NoneTensorSpec, map_spec, packer
from wengert.distribute.values import PerReplica, PerReplicaSpec
from wengert.functions.trace import Slot


class Split(Plan):
    """Global batches, each cut into a part for every replica."""

    kind = "_SplitDataset"

    def __init__(self, source: Plan, replicas: int) -> None:
        super().__init__(source)
        self.replicas = replicas
        if source.spec_known:
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        return map(partial(split, replicas=self.replicas), self.input.start(run))

    def find_spec(self) -> Any:
        def leaf(spec: Any) -> Any:
            if isinstance(spec, NoneTensorSpec):
                return spec
            if spec.shape.rank == 0:
                raise _unbatched(spec)
            return PerReplicaSpec(*[_part_spec(spec, self.replicas)] * self.replicas)

        return map_spec(leaf, self.input.spec)


def _part_spec(spec: Any, replicas: int) -> Any:
    """The spec of a part, whose number of rows is known where all parts have the same."""
    shape = spec.shape
    size = shape[0] if shape.rank else None
    even = None if size is None or size % replicas else size // replicas
    if isinstance(spec, TensorSpec):
        if not shape.rank:
            return spec
        return TensorSpec(TensorShape([even]).concatenate(shape[1:]), spec.dtype)
    return spec._unbatch()._batch(even)


def _unbatched(got: Any) -> Exception:
    return at_site(
        ValueError(
            f"experimental_distribute_dataset: the rows of each element are split among the "
            f"replicas; got an element without rows, {describe(got)}. Call dataset.batch(n), "
            f"with n for all replicas together."
        )
    )


def split(element: Any, replicas: int) -> Any:
    """An element of a dataset with the parts of replicas as leaves."""
    if type(element) is Tensor:
        return _parts(element, replicas)
    leaves = [_parts(x, replicas) for x in nest.flatten(element)]
    return packer(element)(leaves)


def _parts(x: Any, replicas: int) -> Any:
    if x is None:
        return None
    if type(x) is not Tensor:
        return _composite_parts(x, replicas)
    array = x._array
    if not array.ndim:
        raise _unbatched(x)
    rows = len(array)
    size, left = divmod(rows, replicas)
    if not left:
        stacked = wrap(array.reshape((replicas, size, *array.shape[1:])))
        return PerReplica.of_parts(_ONLY, [stacked], replicas)
    size += 1
    return PerReplica([wrap(array[k : k + size]) for k in range(0, size * replicas, size)])


_ONLY = Slot(0)


def _composite_parts(x: Any, replicas: int) -> PerReplica:
    rows = int(x.shape[0])
    size = -(-rows // replicas)
    bounds = [(min(k * size, rows), min(k * size + size, rows)) for k in range(replicas)]
    return PerReplica([_rows(x, *b) for b in bounds])


def _rows(x: Any, start: int, stop: int) -> Any:
    """The rows of a tensor or composite from `start` to before `stop`."""
    if isinstance(x, SparseTensor):
        shape = x.dense_shape.numpy().tolist()
        return sparse_slice(x, [start, *[0] * (len(shape) - 1)], [stop - start, *shape[1:]])
    return wrap(x._array[start:stop]) if isinstance(x, Tensor) else x[start:stop]


class Deal(Plan):
    """The elements of one dataset in turn: the first for the first replica, and so on.

    Where the elements run out, the last replicas get batches of no rows; elements of fixed shapes,
    which may not be shorter, are left out, as in TensorFlow.
    """

    kind = "_DealtDataset"

    def __init__(self, source: Plan, replicas: int) -> None:
        super().__init__(source)
        self.replicas = replicas

    def start(self, run: Run) -> Iterator[Any]:
        source = self.input.start(run)

        def following() -> Any:
            elements = list(islice(source, self.replicas))
            missing = self.replicas - len(elements)
            if not elements or (missing and _is_fixed(self.input.spec)):
                raise StopIteration
            if missing:
                elements += [_no_rows(elements[0])] * missing
            return beside(elements)

        return pulling(following)

    def find_spec(self) -> Any:
        replicas = self.replicas
        return map_spec(
            lambda s: s if isinstance(s, NoneTensorSpec) else PerReplicaSpec(*[s] * replicas),
            self.input.spec,
        )

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count < 0:
            return count
        return -(-count // self.replicas)


class Beside(Plan):
    """Datasets of the replicas, which go on together until the last one has ended."""

    kind = "_ReplicaDatasets"

    def start(self, run: Run) -> Iterator[Any]:
        sources = [plan.start(run) for plan in self.inputs]

        def following() -> Any:
            elements = [next(source, _END) for source in sources]
            there = [e for e in elements if e is not _END]
            if not there or (len(there) < len(elements) and _is_fixed(self.inputs[0].spec)):
                raise StopIteration
            return beside([_no_rows(there[0]) if e is _END else e for e in elements])

        return pulling(following)

    def find_spec(self) -> Any:
        return nest.map_structure(
            lambda *s: s[0] if isinstance(s[0], NoneTensorSpec) else PerReplicaSpec(*s),
            *[plan.spec for plan in self.inputs],
        )

    def cardinality(self) -> int:
        counts = [plan.cardinality() for plan in self.inputs]
        if INFINITE_CARDINALITY in counts:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in counts else max(counts)


_END: Any = object()


def beside(elements: list[Any]) -> Any:
    """One element of per-replica values from an element for each replica."""
    pack: Callable[[list[Any]], Any] = packer(elements[0])
    columns = zip(*map(nest.flatten, elements), strict=True)
    return pack([None if c[0] is None else PerReplica(c) for c in columns])


def _is_fixed(spec: Any) -> bool:
    return all(isinstance(s, TensorSpec) and s.shape.is_fully_defined() for s in nest.flatten(spec))


def _no_rows(element: Any) -> Any:
    return nest.map_structure(lambda x: None if x is None else _rows(x, 0, 0), element)
