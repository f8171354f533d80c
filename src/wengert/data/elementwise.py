"""Steps that look at one element at a time: map, filter, take_while, scan, ignore_errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from wengert.core import nest
from wengert.core.dtypes import bool_
from wengert.core.errors import FailedPreconditionError, at_site, describe, invalid
from wengert.core.failures import failures
from wengert.core.sites import warn
from wengert.core.types import Tensor, TensorSpec
from wengert.data.infer_element_spec import inferred_spec
from wengert.data.iterators import pulling
from wengert.data.parallel import ParallelMap
from wengert.data.plan import UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import join, normalize, show_spec, spec_of
from wengert.data.user_functions import FunctionStep, UserFunction


class Map(FunctionStep):
    """A function of the user's on every element."""

    kind = "_MapDataset"

    def __init__(
        self, source: Plan, function: UserFunction, workers: int | None, ordered: bool | None
    ) -> None:
        super().__init__(source, function, inferred_spec(function, source))
        self._workers, self._ordered = workers, ordered
        if workers is not None:
            self.kind = "_ParallelMapDataset"

    def start(self, run: Run) -> Iterator[Any]:
        source, draws = self.input.start(run), self.function.draws(run)
        if self._workers in (None, 1):
            return map(self.function, source, draws)
        ordered = run.options.deterministic is not False if self._ordered is None else self._ordered
        return ParallelMap(source, self.function, draws, self._workers, ordered, run.options)


class Filter(Plan):
    """The elements for which a predicate holds."""

    kind = "_FilterDataset"

    def __init__(self, source: Plan, predicate: UserFunction) -> None:
        super().__init__(source)
        self.function = predicate
        predicate.source = source
        spec = inferred_spec(predicate, source)
        if spec is not None:
            _check_predicate(predicate, spec, spec)

    def start(self, run: Run) -> Iterator[Any]:
        function, draws = self.function, self.function.draws(run)
        holds = lambda element: truth(function, function(element, next(draws)))
        return self.chosen(holds, self.input.start(run))

    def chosen(self, holds: Callable[[Any], bool], source: Iterator[Any]) -> Iterator[Any]:
        return filter(holds, source)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


class TakeWhile(Filter):
    """The elements before the first for which a predicate does not hold."""

    kind = "_TakeWhileDataset"

    def chosen(self, holds: Callable[[Any], bool], source: Iterator[Any]) -> Iterator[Any]:
        return takewhile(holds, source)


def truth(function: UserFunction, result: Tensor) -> bool:
    """The result of a predicate as a `bool`."""
    if type(result) is not Tensor or result.dtype is not bool_ or result._array.ndim:
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


class Scan(FunctionStep):
    """A function of the state so far and the element, which gives the next state and a result."""

    kind = "_ScanDataset"

    def __init__(self, source: Plan, initial: Tensor | float, function: UserFunction) -> None:
        self.initial = normalize(initial)
        spec = inferred_spec(function, source, self.initial)
        if spec is not None:
            state, spec = pair(function, spec)
            _same_kind(function, spec_of(self.initial), state)
        super().__init__(source, function, spec)

    def start(self, run: Run) -> Iterator[Any]:
        function, state, kind = self.function, self.initial, spec_of(self.initial)

        def step(element: Any, draws: Any) -> Any:
            nonlocal state, kind
            following, output = pair(function, function((state, element), draws))
            kind = same_state(function, kind, following)
            state = following
            return output

        return map(step, self.input.start(run), function.draws(run))

    def probe(self) -> tuple[Any, Any]:
        spec, sample = self.function.probe(self.input, self.initial)
        return pair(self.function, spec)[1], pair(self.function, sample)[1]


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
    new: tuple[TensorSpec, ...] | TensorSpec,
) -> Any:
    try:
        return join(spec, new)
    except TypeError:
        raise at_site(
            TypeError(
                f"{function.step}: the state must stay of one kind; it was {show_spec(spec)} and "
                f"became {show_spec(new)}. Give the initial state that structure and dtype."
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
        source = self.input.start(run)

        def following() -> Any:
            while True:
                try:
                    return next(source)
                except StopIteration:
                    raise
                except failures() as error:
                    if self._log:
                        warn(f"ignore_errors: an element was left out: {error}")

        return pulling(following)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


class AssertCardinality(Plan):
    """Checks that there are as many elements as expected."""

    kind = "_AssertCardinalityDataset"

    def __init__(self, source: Plan, expected: int) -> None:
        super().__init__(source)
        self._expected = expected

    def start(self, run: Run) -> Iterator[Any]:
        source, expected, seen = self.input.start(run), self._expected, 0

        def following() -> Any:
            nonlocal seen
            try:
                element = next(source)
            except StopIteration:
                if seen >= expected >= 0 or expected == UNKNOWN_CARDINALITY:
                    raise
                text = f"at least {seen}" if expected < 0 else str(seen)
            else:
                seen += 1
                if expected < 0 or seen <= expected:
                    return element
                text = f"at least {seen}"
            raise invalid(
                "assert_cardinality",
                f"{expected} elements were expected; there are {text}",
                kind=FailedPreconditionError,
            )

        return pulling(following)

    def cardinality(self) -> int:
        return self._expected
