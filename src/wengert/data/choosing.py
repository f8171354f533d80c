"""Steps that take each element from one of several datasets, by number or at random."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.dtypes import int64
from wengert.core.errors import at_site, describe, invalid
from wengert.core.tensor_spec import TensorSpec
from wengert.data import keys
from wengert.data.batching import common_spec
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


class Choose(Plan):
    """Elements of several datasets, each time from the one that a dataset of numbers names."""

    kind = "_DirectedInterleaveDataset"

    def __init__(self, name: str, choices: Plan, plans: list[Plan], stop_on_empty: bool) -> None:
        super().__init__(*plans, choices)
        self._name, self._stop = name, stop_on_empty
        if choices.settled and choices.spec != TensorSpec([], int64):
            raise at_site(
                TypeError(
                    f"{name}: the elements of `choice_dataset` must be int64 scalars; got "
                    f"{describe(choices.spec)}."
                )
            )
        if all(p.settled for p in plans):
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        *sources, choices = [plan.start(run) for plan in self.inputs]
        return _Chosen(self._name, sources, choices, self._stop)

    def find_spec(self) -> Any:
        return common_spec(self._name, self.inputs[:-1])

    def cardinality(self) -> int:
        return _cardinality(self.inputs[:-1], self._stop)


def _cardinality(plans: Sequence[Plan], stop_on_empty: bool) -> int:
    endless = any(plan.cardinality() == INFINITE_CARDINALITY for plan in plans)
    return INFINITE_CARDINALITY if endless and not stop_on_empty else UNKNOWN_CARDINALITY


class _Chosen(Iterator[Any]):
    def __init__(self, name: str, sources: list[Any], choices: Any, stop: bool) -> None:
        self._name, self._choices, self._stop = name, choices, stop
        self._sources: list[Iterator[Any] | None] = sources

    def __next__(self) -> Tensor:
        while any(source is not None for source in self._sources):
            index = int(next(self._choices))
            if not 0 <= index < len(self._sources):
                raise invalid(
                    self._name,
                    f"a choice must be from 0 to {len(self._sources) - 1}",
                    str(index),
                )
            source = self._sources[index]
            if source is None:
                continue
            try:
                return next(source)
            except StopIteration:
                self._sources[index] = None
                if self._stop:
                    self._sources = []
        raise StopIteration


class Sample(Plan):
    """Elements of several datasets, chosen at random by weight."""

    kind = "_DirectedInterleaveDataset"
    _name = "sample_from_datasets"

    def __init__(
        self,
        weights: np.ndarray,
        plans: list[Plan],
        seed: int | None,
        stop_on_empty: bool,
        rerandomize: bool,
    ) -> None:
        super().__init__(*plans)
        self._stop, self._weights = stop_on_empty, weights
        self._key = keys.step_key(self._name, seed)
        self._epochs = keys.Epochs(rerandomize)
        if self.settled:
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        sources = [plan.start(run) for plan in self.inputs]
        if isinstance(self._weights, Plan):
            weights = map(_array, self._weights.start(run))
        else:
            weights = itertools.repeat(self._weights)
        fractions = keys.Words(self._key, next(self._epochs)).fractions()
        return _Sampled(sources, weights, fractions, self._stop)

    def find_spec(self) -> Any:
        return common_spec(self._name, self.inputs)

    def cardinality(self) -> int:
        return _cardinality(self.inputs, self._stop)


def _array(weights: Any) -> np.ndarray:
    return np.asarray(weights, np.float64)


class _Sampled(Iterator[Any]):
    def __init__(self, sources: list[Any], weights: Any, fractions: Any, stop: bool) -> None:
        self._sources: list[Iterator[Any] | None] = sources
        self._weights, self._fractions, self._stop = weights, fractions, stop

    def __next__(self) -> Tensor:
        while True:
            live = [i for i, source in enumerate(self._sources) if source is not None]
            weights = next(self._weights)[live]
            if not live or not weights.sum() > 0:
                raise StopIteration
            bounds = np.cumsum(weights)
            place = np.searchsorted(bounds, next(self._fractions) * bounds[-1], side="right")
            index = live[int(place)]
            source = self._sources[index]
            assert source is not None
            try:
                return next(source)
            except StopIteration:
                self._sources[index] = None
                if self._stop:
                    self._sources = [None] * len(self._sources)
