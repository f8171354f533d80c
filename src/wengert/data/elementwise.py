"""Steps that look at one element at a time: map, filter, take_while, scan, ignore_errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.dtypes import bool_
from wengert.core.errors import FailedPreconditionError, at_site, describe, invalid
from wengert.core.handlers import failures
from wengert.core.sites import warn
from wengert.core.tensor_spec import TensorSpec
from wengert.data.infer_element_spec import foreseen
from wengert.data.parallel import ParallelMap
from wengert.data.plan import UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import join, normalize, show_spec, spec_of
from wengert.data.user_functions import UserFunction

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


class Map(Plan):
    """A function of the user's on every element."""

    kind = "_MapDataset"

    def __init__(
        self, source: Plan, function: UserFunction, workers: int | None, ordered: bool | None
    ) -> None:
        super().__init__(source)
        self.function, self._workers, self._ordered = function, workers, ordered
        if workers is not None:
            self.kind = "_ParallelMapDataset"
        spec = foreseen(function, source)
        if spec is not None:
            self.__dict__["spec"] = spec

    def start(self, run: Run) -> Iterator[Any]:
        source, draws = self.input.start(run), self.function.draws(run)
        if self._workers in (None, 1):
            return _Mapped(source, self.function, draws)
        ordered = run.options.deterministic is not False if self._ordered is None else self._ordered
        return ParallelMap(source, self.function, draws, self._workers, ordered, run.options)

    @property
    def settled(self) -> bool:
        return "spec" in self.__dict__

    @cached_property
    def _probed(self) -> tuple[Any, Any]:
        return self.function.probe(self.input)

    def find_spec(self) -> Any:
        return self._probed[0]

    def sample(self) -> Any:
        return self._probed[1]


class _Mapped(Iterator[Any]):
    def __init__(self, source: Iterator[Any], function: UserFunction, draws: Iterator[Any]) -> None:
        self._source, self._function, self._draws = source, function, draws

    def __next__(self) -> Any:
        return self._function(next(self._source), next(self._draws))


class Filter(Plan):
    """The elements for which a predicate holds."""

    kind = "_FilterDataset"

    def __init__(self, source: Plan, predicate: UserFunction) -> None:
        super().__init__(source)
        self._predicate = predicate
        spec = foreseen(predicate, source)
        if spec is not None:
            _check_predicate(predicate, spec, spec)

    def start(self, run: Run) -> Iterator[Any]:
        return _Filtered(self.input.start(run), self._predicate, self._predicate.draws(run))

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


class _Filtered(_Mapped):
    def __next__(self) -> Tensor | tuple[Tensor, Tensor]:
        while True:
            element = next(self._source)
            if truth(self._function, self._function(element, next(self._draws))):
                return element


class TakeWhile(Filter):
    """The elements before the first for which a predicate does not hold."""

    kind = "_TakeWhileDataset"

    def start(self, run: Run) -> Iterator[Any]:
        return _WhileTrue(self.input.start(run), self._predicate, self._predicate.draws(run))


class _WhileTrue(_Mapped):
    def __next__(self) -> Tensor:
        element = next(self._source)
        if truth(self._function, self._function(element, next(self._draws))):
            return element
        self._source = iter(())
        raise StopIteration


def truth(function: UserFunction, result: Tensor) -> bool:
    """What a predicate said."""
    _check_predicate(function, spec_of(result), result)
    return bool(result._array)


def _check_predicate(function: UserFunction, spec: TensorSpec, result: Tensor | TensorSpec) -> None:
    if not isinstance(spec, TensorSpec) or spec.dtype is not bool_ or spec.shape.rank:
        raise at_site(
            ValueError(
                f"{function.step}: `predicate` must return a boolean scalar; got "
                f"{describe(result)}."
            ),
            function.site,
        )


class Scan(Plan):
    """A function of the state so far and the element, which gives the next state and a result."""

    kind = "_ScanDataset"

    def __init__(self, source: Plan, initial: Tensor | float, function: UserFunction) -> None:
        super().__init__(source)
        self.initial = normalize(initial)
        self.function = function
        spec = foreseen(function, source, self.initial)
        if spec is not None:
            state, self.__dict__["spec"] = pair(function, spec)
            _same_kind(function, spec_of(self.initial), state)

    def start(self, run: Run) -> Iterator[Any]:
        return _Scanned(
            self.input.start(run), self.function, self.function.draws(run), self.initial
        )

    @property
    def settled(self) -> bool:
        return "spec" in self.__dict__

    @cached_property
    def _probed(self) -> tuple[Any, Any]:
        return self.function.probe(self.input, self.initial)

    def find_spec(self) -> Any:
        return pair(self.function, self._probed[0])[1]

    def sample(self) -> Any:
        return pair(self.function, self._probed[1])[1]


class _Scanned(_Mapped):
    def __init__(self, source: Any, function: UserFunction, draws: Any, initial: Tensor) -> None:
        super().__init__(source, function, draws)
        self._state, self._kind = initial, spec_of(initial)

    def __next__(self) -> Tensor | tuple[Tensor, Tensor]:
        element = next(self._source)
        result = self._function((self._state, element), next(self._draws))
        state, output = pair(self._function, result)
        self._kind = same_state(self._function, self._kind, state)
        self._state = state
        return output


def pair(function: UserFunction, result: Any) -> tuple[Any, Any]:
    """State and output from what `scan_func` returned."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise at_site(
            TypeError(
                f"{function.step}: `scan_func` must return a pair of state and output; got "
                f"{describe(result)}."
            ),
            function.site,
        )
    return result


def same_state(
    function: UserFunction, spec: Any, state: Tensor | tuple[Tensor, ...]
) -> tuple[TensorSpec, TensorSpec] | TensorSpec:
    """The spec of all states so far; the kind of a state may not change, its sizes may."""
    return _same_kind(function, spec, spec_of(state))


def _same_kind(
    function: UserFunction,
    spec: tuple[TensorSpec, ...] | TensorSpec,
    found: tuple[TensorSpec, ...] | TensorSpec,
) -> Any:
    try:
        return join(spec, found)
    except TypeError:
        raise at_site(
            TypeError(
                f"{function.step}: the state must stay of one kind; it was {show_spec(spec)} and "
                f"became {show_spec(found)}. Give the initial state that structure and dtype."
            ),
            function.site,
        ) from None


def shaped_like(form: Tensor | tuple[Tensor, ...], state: Tensor | tuple[Tensor, ...]) -> Any:
    """A state in the form of the first one, where it has as many leaves."""
    leaves = nest.flatten(state)
    if len(leaves) != len(nest.flatten(form)):
        return state
    return nest.pack_sequence_as(form, leaves)


class IgnoreErrors(Plan):
    """The elements that could be made."""

    kind = "_IgnoreErrorsDataset"

    def __init__(self, source: Plan, log_warning: bool) -> None:
        super().__init__(source)
        self._log = log_warning

    def start(self, run: Run) -> Iterator[Any]:
        return _Ignoring(self.input.start(run), self._log)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


class _Ignoring(Iterator[Any]):
    def __init__(self, source: Iterator[Any], log: bool) -> None:
        self._source, self._log = source, log

    def __next__(self) -> Tensor:
        while True:
            try:
                return next(self._source)
            except StopIteration:
                raise
            except failures() as error:
                if self._log:
                    warn(f"ignore_errors: an element was left out: {error}")


class AssertCardinality(Plan):
    """Checks that there are as many elements as was said."""

    kind = "_AssertCardinalityDataset"

    def __init__(self, source: Plan, expected: int) -> None:
        super().__init__(source)
        self._expected = expected

    def start(self, run: Run) -> Iterator[Any]:
        return _Counted(self.input.start(run), self._expected)

    def cardinality(self) -> int:
        return self._expected


class _Counted(Iterator[Any]):
    def __init__(self, source: Iterator[Any], expected: int) -> None:
        self._source, self._expected, self._seen = source, expected, 0

    def __next__(self) -> Tensor:
        try:
            element = next(self._source)
        except StopIteration:
            if self._seen >= self._expected >= 0 or self._expected == UNKNOWN_CARDINALITY:
                raise
            text = f"at least {self._seen}" if self._expected < 0 else str(self._seen)
        else:
            self._seen += 1
            if self._expected < 0 or self._seen <= self._expected:
                return element
            text = f"at least {self._seen}"
        raise invalid(
            "assert_cardinality",
            f"{self._expected} elements were expected; there are {text}",
            kind=FailedPreconditionError,
        )
