"""Steps that take each element from one of several datasets, by number or at random."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.core.dtypes import int64
from wengert.core.errors import at_site, describe, invalid
from wengert.core.tensor_spec import TensorSpec
from wengert.data import keys
from wengert.data.batching import common_spec
from wengert.data.iterators import pulling
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run


class Choose(Plan):
    """Elements of several datasets, each time from the one that a dataset of numbers names."""

    kind = "_DirectedInterleaveDataset"

    def __init__(self, name: str, choices: Plan, plans: list[Plan], stop_on_empty: bool) -> None:
        super().__init__(*plans, choices)
        self._name, self._stop = name, stop_on_empty
        if choices.spec_known and choices.spec != TensorSpec([], int64):
            raise at_site(
                TypeError(
                    f"{name}: the elements of `choice_dataset` must be int64 scalars; got "
                    f"{describe(choices.spec)}."
                )
            )
        if all(p.spec_known for p in plans):
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        *sources, choices = [plan.start(run) for plan in self.inputs]

        def choose(_: list[int]) -> int:
            index = int(next(choices))
            if not 0 <= index < len(sources):
                rule = f"a choice must be from 0 to {len(sources) - 1}"
                raise invalid(self._name, rule, str(index))
            return index

        return _picked(sources, choose, self._stop)

    def find_spec(self) -> Any:
        return common_spec(self._name, self.inputs[:-1])

    def cardinality(self) -> int:
        return _cardinality(self.inputs[:-1], self._stop)


def _cardinality(plans: Sequence[Plan], stop_on_empty: bool) -> int:
    endless = any(plan.cardinality() == INFINITE_CARDINALITY for plan in plans)
    return INFINITE_CARDINALITY if endless and not stop_on_empty else UNKNOWN_CARDINALITY


def _picked(
    sources: list[Iterator[Any]], choose: Callable[[list[int]], int], stop_on_empty: bool
) -> Iterator[Any]:
    """Each time the next element of one source, whose number is chosen knowing which are left."""
    left = dict(enumerate(sources))

    def following() -> Any:
        while left:
            index = choose(list(left))
            try:
                if index in left:
                    return next(left[index])
            except StopIteration:
                del left[index]
                if stop_on_empty:
                    left.clear()
        raise StopIteration

    return pulling(following)


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
        if self.spec_known:
            _ = self.spec

    def start(self, run: Run) -> Iterator[Any]:
        sources = [plan.start(run) for plan in self.inputs]
        if isinstance(self._weights, Plan):
            weights = map(_array, self._weights.start(run))
        else:
            weights = itertools.repeat(self._weights)
        fractions = keys.Words(self._key, next(self._epochs)).fractions()

        def choose(left: list[int]) -> int:
            bounds = np.cumsum(next(weights)[left])
            if not bounds[-1] > 0:
                raise StopIteration
            position = np.searchsorted(bounds, next(fractions) * bounds[-1], side="right")
            return left[int(position)]

        return _picked(sources, choose, self._stop)

    def find_spec(self) -> Any:
        return common_spec(self._name, self.inputs)

    def cardinality(self) -> int:
        return _cardinality(self.inputs, self._stop)


def _array(weights: Any) -> np.ndarray:
    return np.asarray(weights, np.float64)
