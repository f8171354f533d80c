"""`rejection_resample`: elements left out at random until their classes come as often as wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.errors import at_site, invalid, require
from wengert.data import keys
from wengert.data.infer_element_spec import inferred_spec
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.user_functions import FunctionStep, UserFunction

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


_NAME = "rejection_resample"


class Resample(FunctionStep):
    """Pairs of a class and an element, in the wanted proportions."""

    kind = "_MapDataset"

    def __init__(
        self,
        source: Plan,
        function: UserFunction,
        target: list[float],
        initial: list[float] | None,
        seed: int | None,
    ) -> None:
        spec = inferred_spec(function, source)
        super().__init__(source, function, None if spec is None else (spec, source.spec))
        self._target = _shares("target_dist", target)
        self._initial = None if initial is None else _shares("initial_dist", initial)
        if self._initial is not None and len(self._initial) != len(self._target):
            raise at_site(
                ValueError(
                    f"{_NAME}: `target_dist` and `initial_dist` must name the same classes; got "
                    f"{len(self._target)} and {len(self._initial)}."
                )
            )
        self._key = keys.step_key(_NAME, seed)
        self._epochs = keys.Epochs()

    def start(self, run: Run) -> Iterator[Any]:
        chances = keys.Words(self._key, next(self._epochs)).fractions()
        source, draws = self.input.start(run), self.function.draws(run)
        return self._picked(source, draws, chances)

    def _picked(self, source: Any, draws: Any, chances: Iterator[float]) -> Iterator[Any]:
        seen = np.ones(len(self._target))
        for element in source:
            label = self.function(element, next(draws))
            index = self._class_index(label)
            shares = self._initial
            if shares is None:
                seen[index] += 1
                shares = seen / seen.sum()
            wanted = np.divide(self._target, shares, where=shares > 0, out=np.zeros_like(shares))
            if next(chances) * wanted.max() < wanted[index]:
                yield label, element

    def _class_index(self, label: Tensor) -> int:
        index = int(label)
        if not 0 <= index < len(self._target):
            raise invalid(
                _NAME, f"`class_func` gave class {index}; there are {len(self._target)} classes"
            )
        return index

    def probe(self) -> tuple[Any, Any]:
        spec, label = self.function.probe(self.input)
        return (spec, self.input.spec), (label, self.input.sample())

    def cardinality(self) -> int:
        endless = self.input.cardinality() == INFINITE_CARDINALITY
        return INFINITE_CARDINALITY if endless else UNKNOWN_CARDINALITY


def _shares(argument: str, given: list[float]) -> np.ndarray:
    array = np.asarray(given, np.float64)
    require(
        array.ndim == 1 and len(array) and (not (array < 0).any()) and (array.sum() > 0),
        _NAME,
        f"`{argument}` must be a list of probabilities; got {given!r}",
        kind=ValueError,
    )
    return array / array.sum()
