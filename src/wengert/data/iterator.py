"""Iterators over datasets, as users hold them."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Any

from wengert.composite.optional import Optional
from wengert.core import nest
from wengert.core.errors import OutOfRangeError, at_site, invalid
from wengert.core.tensor import Tensor
from wengert.data.plan import Plan, Run
from wengert.data.traced import TracedIterator, ended, register
from wengert.data.types import IteratorSpec
from wengert.graph.ir import building


class Iterator(ABC):
    """What `iter(dataset)` gives: a Python iterator that can also be asked by name."""

    def __iter__(self) -> Iterator:
        return self

    @abstractmethod
    def __next__(self) -> Any: ...

    @property
    @abstractmethod
    def element_spec(self) -> Any:
        """The spec of the elements."""

    @abstractmethod
    def get_next(self) -> Any:
        """The next element; `tf.errors.OutOfRangeError` at the end."""

    @abstractmethod
    def get_next_as_optional(self) -> Optional:
        """The next element as an optional, which is empty at the end."""


class OwnedIterator(Iterator):
    """An iteration over one dataset; several threads may share it."""

    drives_in_python = True  # see `functions.function.Options.drives`

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._source = plan.start(Run(plan.options()))
        self._lock = threading.Lock()
        self._number: Any = None
        self._waiting: list[Any] = []

    def __next__(self) -> Any:
        if building() is not None:
            return self.traced_steps().get_next()
        with self._lock:
            return self._waiting.pop() if self._waiting else next(self._source)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; `tf.errors.OutOfRangeError` at the end."""
        try:
            return self.__next__()
        except StopIteration:
            pass
        raise invalid("get_next", "the dataset has no more elements", kind=OutOfRangeError)

    def get_next_as_optional(self, name: str | None = None) -> Optional:
        """The next element as an optional, which is empty at the end."""
        if building() is not None:
            return self.traced_steps().get_next_as_optional()
        try:
            return Optional(None, self.__next__(), True, self._spec)
        except StopIteration:
            return Optional(None, None, False, self._spec)

    # Inside functions; see `traced`.

    def has_more(self) -> bool:
        """Whether there is another element, which waits for `get_next`."""
        with self._lock:
            if not self._waiting:
                try:
                    self._waiting.append(next(self._source))
                except StopIteration:
                    ended(self.number())
            return bool(self._waiting)

    def number(self) -> Any:
        """The number by which graphs know this iterator."""
        if self._number is None:
            self._number = register(self)
        return self._number

    def traced_steps(self) -> TracedIterator:
        """What a loop of a converted function asks."""
        return TracedIterator(self.element_spec, self.number())

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        return self._type_spec, [self.number()]

    @staticmethod
    def __tf_unflatten__(spec: IteratorSpec, parts: list[Any]) -> TracedIterator:
        return TracedIterator(spec.element_spec, parts[0])

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._plan.spec

    def _spec(self) -> Any:
        return self._plan.spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self.element_spec)


class NumpyIterator:
    """The elements of a dataset as NumPy values."""

    def __init__(self, dataset: Any) -> None:
        self._iterator = iter(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return nest.map_structure(_to_numpy, next(self._iterator))

    def next(self) -> Any:
        """The next element."""
        return next(self)


def _to_numpy(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.numpy()
    if value is None:
        return None
    convert = getattr(value, "_numpy", None) or getattr(value, "numpy", None)
    if convert is None:
        raise at_site(
            TypeError(
                f"as_numpy_iterator: a {type(value).__name__} is not a NumPy value. "
                f"Iterate over the dataset itself."
            )
        )
    return convert()
