"""Iterators over datasets, as users hold them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.checkpoint.trackable import Trackable
from wengert.composite.optional import Optional
from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.errors import OutOfRangeError, at_site, invalid
from wengert.core.failures import failures
from wengert.core.locks import new_lock
from wengert.core.observers import OBSERVERS, observed
from wengert.core.resources import Resource
from wengert.core.types import Tensor, TensorSpec
from wengert.data import dataset_arguments
from wengert.data.graph_iterators import TracedIterator, ended
from wengert.data.iterator_specs import IteratorSpec
from wengert.data.plan import Plan, Run
from wengert.data.structure import show_spec
from wengert.graph.builder import building

if TYPE_CHECKING:
    from wengert.data.dataset import Dataset


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


class OwnedIterator(Iterator, Trackable, Resource):
    """An iteration over one dataset; several threads may share it.

    A checkpoint keeps how many elements it has given, and the keys of random steps.
    """

    _what = "the iterator of a dataset"
    _remedy = "Save it in a tf.train.Checkpoint, or pickle its elements."

    drives_in_python = True  # see `functions.function_options.Options.drives`

    def __init__(self, plan: Plan, arguments: dict[Any, Any] | None = None) -> None:
        self._plan = plan
        self._arguments = arguments
        try:
            self._random = random_steps(plan)
            self._start()
        except RecursionError as error:
            raise plan.too_long(error) from None
        self._lock = new_lock()
        self._number: Any = None
        self._waiting: list[Any] = []

    def __repr__(self) -> str:
        return f"<OwnedIterator element_spec={show_spec(self.element_spec)}, {self._given} given>"

    def _start(self) -> None:
        self._began = [(step._key, step._epochs.number) for step in self._random]
        self._given = 0
        self._source = self._plan.start(Run(self._plan.options, self._arguments))

    def __next__(self) -> Any:
        if building() is not None:
            return self.traced_steps().get_next()
        with self._lock:
            try:
                if self._waiting:
                    cached = self._waiting.pop()
                else:
                    cached = self._pull() if OBSERVERS else next(self._source)
            except RecursionError as error:
                raise self._plan.too_long(error) from None
            self._given += 1
            return cached

    def _pull(self) -> Any:
        pull = lambda plan, arguments: next(self._source)
        return observed("element", pull, self._plan, self._arguments or {})

    # In checkpoints.

    def _serialize_to_tensors(self) -> dict[str, Tensor]:
        with self._lock:
            facts = [self._given, *[n for pair in self._began for n in pair]]
        return {"position": wrap(np.array(facts, np.uint64))}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        count, *facts = np.asarray(restored_tensors["position"]).tolist()
        if len(facts) != 2 * len(self._random):
            raise invalid(
                "Checkpoint.restore",
                f"the iterator that was saved had {len(facts) // 2} random steps, this one has "
                f"{len(self._random)}",
                help="Build the dataset that it belongs to.",
            )
        with self._lock:
            for step, key, epoch in zip(self._random, facts[::2], facts[1::2], strict=True):
                step._key, step._epochs.number = key, epoch
            self._start()
            self._waiting.clear()
            self._source = _after(self._source, count)
            self._given = count

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

    # Inside functions; see `graph_iterators`.

    def has_more(self) -> bool:
        """Whether there is another element, which the next `get_next` gives."""
        with self._lock:
            if not self._waiting:
                try:
                    self._waiting.append(self._pull())
                except StopIteration:
                    ended(self.number())
            return bool(self._waiting)

    def number(self) -> Tensor:
        """The number by which graphs know this iterator."""
        if self._number is None:
            self._number = dataset_arguments.register(self)
        return self._number

    def traced_steps(self) -> TracedIterator:
        """The iteration of a loop in a converted function."""
        return TracedIterator(self.element_spec, self.number())

    def __tf_flatten__(self) -> tuple[IteratorSpec, list[Tensor]]:
        return self._type_spec, [self.number()]

    @staticmethod
    def __tf_unflatten__(spec: IteratorSpec, parts: list[Tensor]) -> TracedIterator:
        return TracedIterator(spec.element_spec, parts[0])

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._plan.spec

    def _spec(self) -> TensorSpec:
        return self._plan.spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self.element_spec)


def random_steps(plan: Plan) -> list[Any]:
    """The steps of a dataset that are random by a key of their own, in a fixed order."""
    results = [step for one in plan.inputs for step in random_steps(one)]
    return [*results, plan] if hasattr(plan, "_epochs") else results


def _after(source: Any, count: int) -> Any:
    """The elements after the first `count`, which are made again on demand."""
    while count:
        try:
            next(source)
        except StopIteration:
            return
        except failures():
            continue  # an element that failed did not count the first time either
        count -= 1
    yield from source


class NumpyIterator:
    """The elements of a dataset as NumPy values."""

    def __init__(self, dataset: Dataset) -> None:
        self._iterator = iter(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return nest.map_structure(_to_numpy, next(self._iterator))

    def next(self) -> Any:
        """The next element."""
        return next(self)


def _to_numpy(value: Tensor | Dataset | None) -> bytes | np.generic | np.ndarray | None:
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
