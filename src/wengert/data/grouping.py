"""Steps that put neighbouring or similar elements together, or keep one of those that are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.dtypes import DType, int32, int64, string
from wengert.core.errors import at_site, describe, require
from wengert.core.types import Tensor, TensorSpec
from wengert.data.elementwise import same_state
from wengert.data.infer_element_spec import inferred_group_spec
from wengert.data.iterators import chained, pulling
from wengert.data.mixing import plan_of
from wengert.data.plan import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Plan, Run
from wengert.data.sources import Elements
from wengert.data.structure import columns, map_spec, spec_of
from wengert.data.user_functions import FunctionStep, UserFunction, loosened

if TYPE_CHECKING:
    from wengert.data.dataset import Dataset
    from wengert.data.iterator_specs import DatasetSpec


class Window(Plan):
    """Datasets of `size` elements that lie `stride` apart, each `shift` after the one before."""

    kind = "_WindowDataset"

    def __init__(
        self,
        source: Plan,
        size: int,
        shift: int,
        stride: int,
        drop_remainder: bool,
        dataset: type,
    ) -> None:
        super().__init__(source)
        self._size, self._shift, self._stride = size, shift, stride
        self._drop = drop_remainder
        self._dataset = dataset

    def start(self, run: Run) -> Iterator[Any]:
        reach = (self._size - 1) * self._stride + 1
        source, buffer, skip = self.input.start(run), [], 0

        def following() -> Any:
            nonlocal buffer, skip
            while len(buffer) < reach or skip:
                try:
                    element = next(source)
                except StopIteration:
                    break
                if skip:
                    skip -= 1
                else:
                    buffer.append(element)
            if not buffer or (self._drop and len(buffer) < reach):
                raise StopIteration
            window = buffer[: reach : self._stride]
            skip = max(0, self._shift - len(buffer))
            buffer = buffer[self._shift :]
            return self._nest(window)

        return pulling(following)

    def _nest(
        self, elements: list[Tensor | tuple[Tensor, ...]]
    ) -> tuple[Dataset, Dataset] | Dataset:
        """One dataset per leaf, in the form of an element."""
        result = columns(elements)
        known = self.input.__dict__.get("spec")
        specs = [None] * len(result) if known is None else nest.flatten(known)
        plans = [Elements(list(c), spec) for c, spec in zip(result, specs, strict=True)]
        return nest.pack_sequence_as(elements[0], [self._dataset(plan) for plan in plans])

    def find_spec(self) -> tuple[DatasetSpec, DatasetSpec] | DatasetSpec:
        return map_spec(lambda one: self._dataset(Elements([], one))._type_spec, self.input.spec)

    def sample(self) -> Any:
        _ = self.input.spec
        return self._nest([self.input.sample()] * self._size)

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count < 0:
            return count
        if self._drop:
            residual = count - (self._size - 1) * self._stride - 1
            return residual // self._shift + 1 if residual >= 0 else 0
        return -(-count // self._shift)


class GroupByWindow(FunctionStep):
    """Collects elements by key; when a window is full, a function makes a dataset of it."""

    kind = "_GroupByWindowDataset"

    def __init__(
        self,
        source: Plan,
        key: UserFunction,
        reduce: UserFunction,
        size: UserFunction,
        dataset: type,
    ) -> None:
        super().__init__(source, reduce, None)
        self.key, self.size, self._dataset = key, size, dataset

    def start(self, run: Run) -> Iterator[Any]:
        return chained(pulling(_Groups(self, self.input.start(run), run).following))

    def made(self, key: Tensor, elements: list[Tensor]) -> Plan:
        """The dataset that the user makes of one window."""
        window = self._dataset(Elements(elements, self.__dict__.get("_known")))
        return plan_of(self.function, self.function((key, window)))

    def probe(self) -> tuple[Any, Any]:
        self.__dict__["_known"] = self.input.spec
        sample = self.input.sample()
        plan = self.made(scalar_key(self.key, self.key(sample)), [sample])
        # One group tells of itself only: where the key is asked for its value, sizes may differ.
        return map_spec(loosened, plan.spec), plan.sample()

    def find_spec(self) -> TensorSpec:
        window = self._dataset(Elements([], self.input.spec))
        result = inferred_group_spec(self.function, window)
        return self._probed[0] if result is None else result

    def cardinality(self) -> int:
        count = self.input.cardinality()
        return count if count == INFINITE_CARDINALITY else UNKNOWN_CARDINALITY


class _Groups:
    """The windows of one iteration, each when it is full."""

    def __init__(self, plan: GroupByWindow, source: Iterator[Any], run: Run) -> None:
        self._plan, self._source, self._run = plan, source, run
        self._groups: dict[int, list[Any]] = {}
        self._sizes: dict[int, int] = {}
        self._over = False

    def following(self) -> Iterator[Any]:
        """The next full window; when the elements have run out, what is left, key by key."""
        while not self._over:
            try:
                element = next(self._source)
            except StopIteration:
                self._over = True
                break
            plan = self._plan
            key = scalar_key(plan.key, plan.key(element))
            number = int(key)
            if number not in self._sizes:
                self._sizes[number] = _window_size(plan.size, key)
            group = self._groups.setdefault(number, [])
            group.append(element)
            if len(group) == self._sizes[number]:
                return self._opened(key, self._groups.pop(number))
        if not self._groups:
            raise StopIteration
        number = min(self._groups)
        return self._opened(number, self._groups.pop(number))

    def _opened(self, key: Tensor | int, elements: list[Tensor]) -> Iterator[Any]:
        tensor = key if isinstance(key, Tensor) else wrap(np.array(key, np.int64))
        return self._plan.made(tensor, elements).start(self._run.inner())


def scalar_key(function: UserFunction, key: Tensor) -> Tensor:
    """A group's key, checked."""
    if not isinstance(key, Tensor) or key.dtype is not int64 or key.ndim:
        raise at_site(
            ValueError(
                f"{function.step}: `key_func` must return an int64 scalar; got {describe(key)}."
            ),
            function.site,
        )
    return key


def _window_size(function: UserFunction, key: Tensor) -> int:
    size = int(function(key))
    require(size > 0, function.step, "the window size must be greater than zero", str(size))
    return size


class Unique(Plan):
    """Each value once, where it first appears."""

    kind = "_UniqueDataset"
    _dtypes: tuple[DType, ...] = (int32, int64, string)

    def __init__(self, source: Plan) -> None:
        super().__init__(source)
        if source.spec_known:
            _ = self.spec

    def find_spec(self) -> TensorSpec:
        spec = self.input.spec
        require(isinstance(spec, TensorSpec), "unique", "the elements must be single tensors")
        if spec.dtype not in self._dtypes:
            raise at_site(
                TypeError(
                    f"unique: the elements must be int32, int64 or string; got {spec.dtype.name}."
                )
            )
        return spec

    def start(self, run: Run) -> Iterator[Any]:
        _ = self.spec
        seen: set[Any] = set()

        def is_new(element: Tensor) -> bool:
            array = element._array
            value = array.item() if not array.ndim else (array.shape, tuple(array.ravel().tolist()))
            if value in seen:
                return False
            seen.add(value)
            return True

        return filter(is_new, self.input.start(run))

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


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
