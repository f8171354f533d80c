"""Steps that draw on several datasets: zip, concatenate, flat_map, interleave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.errors import at_site, describe, require
from wengert.core.failures import failures
from wengert.data.array_rows import Rows, zipped
from wengert.data.batching import common_spec
from wengert.data.infer_element_spec import inferred_dataset_spec
from wengert.data.iterators import chained, pulling
from wengert.data.parallel import Prefetched
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import packer
from wengert.data.user_functions import FunctionStep, UserFunction

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

    def elements(self, run: Run) -> Iterator[Any]:
        sources = [plan.start(run) for plan in self.inputs]

        def together() -> Any:
            result, failed = [], None
            for source in sources:
                try:
                    result.append(next(source))
                except StopIteration:
                    sources[:] = [iter(())]
                    raise
                except failures() as error:
                    # The others go on too, so that they stay side by side.
                    failed = failed or error
            if failed is not None:
                raise failed
            return self._pack(result)

        return pulling(together)

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


class Concatenate(Plan):
    """One dataset after the other."""

    kind = "_ConcatenateDataset"

    def __init__(self, *plans: Plan) -> None:
        super().__init__(*plans)
        if self.spec_known:
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        return chained(plan.start(run) for plan in self.inputs)

    def find_spec(self) -> Any:
        return common_spec("concatenate", self.inputs)

    def cardinality(self) -> int:
        counts = [plan.cardinality() for plan in self.inputs]
        if INFINITE_CARDINALITY in counts:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in counts else sum(counts)


class Interleave(FunctionStep):
    """The elements of the datasets that a function makes, by blocks in turn; flat_map for 1."""

    kind = "_InterleaveDataset"

    def __init__(
        self, source: Plan, function: UserFunction, cycle: int, block: int, threads: bool
    ) -> None:
        super().__init__(source, function, inferred_dataset_spec(function, source))
        self._cycle, self._block, self._threads = cycle, block, threads
        if function.step == "flat_map":
            self.kind = "_FlatMapDataset"

    def start(self, run: Run) -> Iterator[Any]:
        def opened(element: Any, draws: Any) -> Iterator[Any]:
            plan = plan_of(self.function, self.function(element, draws))
            source = plan.start(run.inner())
            return Prefetched(source, 2) if self._threads else source

        sources = map(opened, self.input.start(run), self.function.draws(run))
        if self._cycle == 1:
            return chained(sources)
        return _Interleaved(sources, self._cycle, self._block)

    def probe(self) -> tuple[Any, Any]:
        spec, result = self.function.probe(self.input)
        return spec.element_spec, plan_of(self.function, result).sample()

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


class _Interleaved(Iterator[Any]):
    """A ring of `cycle` open iterators; one that ended is replaced when its turn comes."""

    def __init__(self, inner: Iterator[Iterator[Any]], cycle: int, block: int) -> None:
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
        require(
            isinstance(getattr(leaf, "_plan", None), Plan),
            name,
            "the arguments must be datasets, or tuples and dicts of them",
            leaf,
            kind=TypeError,
        )
    require(
        not _holds_list(datasets), name, "use a tuple instead of a list of datasets", kind=TypeError
    )
    return datasets, [leaf._plan for leaf in nest.flatten(datasets)]


def _holds_list(value: Any) -> bool:
    if isinstance(value, list):
        return True
    if isinstance(value, dict):
        return any(map(_holds_list, value.values()))
    return isinstance(value, tuple) and any(map(_holds_list, value))
