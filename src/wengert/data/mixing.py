"""Steps that draw on several datasets: zip, concatenate, flat_map, interleave."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.errors import at_site, describe
from wengert.core.handlers import failures
from wengert.data.array_rows import RowIterator, Rows, zipped
from wengert.data.batching import common_spec
from wengert.data.infer_element_spec import announced
from wengert.data.parallel import Prefetched
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import packer
from wengert.data.user_functions import UserFunction

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor
    from wengert.data.dataset import Dataset


class Zip(Plan):
    """Elements side by side, until the shortest dataset ends."""

    kind = "_ZipDataset"

    def __init__(self, structure: Any, plans: list[Plan]) -> None:
        super().__init__(*plans)
        self._structure = structure
        self._pack = packer(structure)

    def rows(self) -> Rows | None:
        parts = [plan.rows() for plan in self.inputs]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or any(part.order is not None for part in known):
            return None
        return zipped(known, packer(self.spec), self.site)

    def start(self, run: Run) -> Iterator[Any]:
        rows = self.rows()
        if rows is not None:
            return RowIterator(rows)
        return _Zipped([plan.start(run) for plan in self.inputs], self._pack)

    def find_spec(self) -> Any:
        return self._pack([plan.spec for plan in self.inputs])

    def sample(self) -> Any:
        return self._pack([plan.sample() for plan in self.inputs])

    def cardinality(self) -> int:
        counts = [plan.cardinality() for plan in self.inputs]
        if UNKNOWN_CARDINALITY in counts:
            return UNKNOWN_CARDINALITY
        known = [c for c in counts if c >= 0]
        return min(known) if known else INFINITE_CARDINALITY


class _Zipped(Iterator[Any]):
    def __init__(self, sources: list[Iterator[Any]], pack: Any) -> None:
        self._sources, self._pack = sources, pack

    def __next__(self) -> Any:
        result, failed = [], None
        for source in self._sources:
            try:
                result.append(next(source))
            except StopIteration:
                self._sources = [iter(())]
                raise
            except failures() as error:
                # The others go on too, so that they stay side by side.
                failed = failed or error
        if failed is not None:
            raise failed
        return self._pack(result)


class Concatenate(Plan):
    """One dataset after the other."""

    kind = "_ConcatenateDataset"

    def __init__(self, *plans: Plan) -> None:
        super().__init__(*plans)
        if self.settled:
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        return _Chained(plan.start(run) for plan in self.inputs)

    def find_spec(self) -> Any:
        return common_spec("concatenate", self.inputs)

    def cardinality(self) -> int:
        counts = [plan.cardinality() for plan in self.inputs]
        if INFINITE_CARDINALITY in counts:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in counts else sum(counts)


class _Chained(Iterator[Any]):
    """`itertools.chain.from_iterable`, but an error of a source does not end it."""

    def __init__(self, sources: Iterator[Iterator[Any]]) -> None:
        self._sources = sources
        self._source: Iterator[Any] = iter(())

    def __next__(self) -> Tensor | dict[str, Tensor] | tuple[Tensor, Tensor]:
        while True:
            try:
                return next(self._source)
            except StopIteration:
                self._source = next(self._sources)


class Interleave(Plan):
    """The elements of the datasets that a function makes, by blocks in turn; flat_map for 1."""

    kind = "_InterleaveDataset"

    def __init__(
        self, source: Plan, function: UserFunction, cycle: int, block: int, threads: bool
    ) -> None:
        super().__init__(source)
        self.function, self._cycle, self._block, self._threads = function, cycle, block, threads
        if function.step == "flat_map":
            self.kind = "_FlatMapDataset"
        spec = announced(function, source)
        if spec is not None:
            self.__dict__["spec"] = spec

    def start(self, run: Run) -> Iterator[Any]:
        inner = _Inner(self.input.start(run), self.function, run, self._threads)
        return (
            _Chained(inner) if self._cycle == 1 else _Interleaved(inner, self._cycle, self._block)
        )

    @property
    def settled(self) -> bool:
        return "spec" in self.__dict__

    @cached_property
    def _probed(self) -> tuple[Any, Any]:
        spec, result = self.function.probe(self.input)
        return spec, plan_of(self.function, result)

    def find_spec(self) -> Any:
        return self._probed[0].element_spec

    def sample(self) -> Any:
        return self._probed[1].sample()

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


def plan_of(function: UserFunction, result: Tensor | Dataset) -> Plan:
    """The plan of the dataset that a user's function returned."""
    plan = getattr(result, "_plan", None)
    if not isinstance(plan, Plan):
        raise at_site(
            TypeError(
                f"{function.step}: the function must return a tf.data.Dataset; got "
                f"{describe(result)}. Use map for functions that return tensors."
            ),
            function.site,
        )
    return plan


class _Inner(Iterator[Iterator[Any]]):
    """The iterators of the datasets that a function makes."""

    def __init__(self, source: Any, function: UserFunction, run: Run, threads: bool) -> None:
        self._source, self._function, self._run = source, function, run
        self._draws = function.draws(run)
        self._threads = threads

    def __next__(self) -> Iterator[Any]:
        result = self._function(next(self._source), next(self._draws))
        value = plan_of(self._function, result).start(self._run.inner())
        return Prefetched(value, 2) if self._threads else value


class _Interleaved(Iterator[Any]):
    """A ring of `cycle` open iterators; one that ended is replaced when its turn comes."""

    def __init__(self, inner: _Inner, cycle: int, block: int) -> None:
        self._inner, self._block = inner, block
        self._ring: list[Iterator[Any] | None] = [None] * cycle
        self._turn = self._taken = 0
        self._more = True

    def __next__(self) -> Tensor:
        while self._more or any(one is not None for one in self._ring):
            current = self._ring[self._turn]
            if current is None:
                self._open()
                continue
            try:
                element = next(current)
            except StopIteration:
                self._ring[self._turn] = None
                self._advance()
                continue
            self._taken += 1
            if self._taken == self._block:
                self._advance()
            return element
        raise StopIteration

    def _open(self) -> None:
        if self._more:
            try:
                self._ring[self._turn] = next(self._inner)
                return
            except StopIteration:
                self._more = False
        self._advance()

    def _advance(self) -> None:
        self._turn = (self._turn + 1) % len(self._ring)
        self._taken = 0


def flatten_plans(name: str, datasets: Any) -> tuple[Any, list[Plan]]:
    """The structure of a nest of datasets, and their plans."""
    for leaf in nest.flatten(datasets):
        if not isinstance(getattr(leaf, "_plan", None), Plan):
            raise at_site(
                TypeError(
                    f"{name}: the arguments must be datasets, or tuples and dicts of them; got "
                    f"{describe(leaf)}."
                )
            )
    if _holds_list(datasets):
        raise at_site(TypeError(f"{name}: use a tuple instead of a list of datasets."))
    return datasets, [leaf._plan for leaf in nest.flatten(datasets)]


def _holds_list(value: Any) -> bool:
    if isinstance(value, list):
        return True
    if isinstance(value, dict):
        return any(map(_holds_list, value.values()))
    return isinstance(value, tuple) and any(map(_holds_list, value))
