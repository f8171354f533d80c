"""One result per key: elements with the same key are reduced to a state, and that to an element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.errors import at_site, describe
from wengert.data.elementwise import same_state
from wengert.data.grouping import scalar_key
from wengert.data.plan import UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.structure import spec_of
from wengert.data.user_functions import UserFunction

if TYPE_CHECKING:
    from wengert.core.types import Tensor, TensorSpec


class Reducer:
    """How to reduce a group: its first state, the state after one more element, the result."""

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self.init_func, self.reduce_func = init_func, reduce_func
        self.finalize_func = finalize_func


class GroupByReducer(Plan):
    """The results of all groups, in the order of their keys."""

    kind = "_GroupByReducerDataset"

    def __init__(self, source: Plan, key_func: Callable[..., Any], reducer: Reducer) -> None:
        super().__init__(source)
        if not isinstance(reducer, Reducer):
            words = f"group_by_reducer: `reducer` must be a Reducer; got {describe(reducer)}."
            raise at_site(TypeError(words))
        self._key = UserFunction("group_by_reducer", key_func, "key_func")
        self._first = UserFunction("group_by_reducer", reducer.init_func, "init_func")
        self._next = UserFunction("group_by_reducer", reducer.reduce_func, "reduce_func")
        self._last = UserFunction("group_by_reducer", reducer.finalize_func, "finalize_func")

    def start(self, run: Run) -> Iterator[Any]:
        states: dict[int, Any] = {}
        kind = None
        for element in self.input.start(run):
            key = int(scalar_key(self._key, self._key(element)))
            if key not in states:
                states[key] = self._begun(key)
                kind = kind or spec_of(states[key])
            states[key] = self._next((states[key], element))
            kind = same_state(self._next, kind, states[key])
        for key in sorted(states):
            yield self._last(states[key])

    def _begun(self, key: int) -> Tensor | tuple[Tensor, Tensor]:
        return self._first(wrap(np.array(key, np.int64)))

    @cached_property
    def _probed(self) -> dict[str, Tensor]:
        return self._last(self._next((self._begun(0), self.input.sample())))

    def find_spec(self) -> dict[str, TensorSpec]:
        return spec_of(self._probed)

    def sample(self) -> Any:
        return self._probed

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY
