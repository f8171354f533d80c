"""Plans: the steps of a dataset, without the public methods that make them.

A plan knows its inputs, the spec and number of its elements, and how to start an iteration. It
holds no state of an iteration: that is in the iterators it starts, and in a `Run`, which the
steps of one iteration share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from wengert.core import sites
from wengert.core.errors import at_site, describe, require
from wengert.core.tensor import Value
from wengert.data.array_rows import RowIterator, Rows
from wengert.data.dataset_options import UNSET, Options, merge

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


class Run:
    """One iteration over a dataset: its options, and how often each user function was called."""

    def __init__(self, options: Options, arguments: dict[Any, Any] | None = None) -> None:
        self.options = options
        self.arguments = arguments or {}  # the datasets and tensors that a function was given
        self.calls: dict[Any, count[int]] = {}

    def inner(self) -> Run:
        """The run of a dataset that is made during this iteration."""
        return Run(self.options, self.arguments)


_LONG = 100  # steps of a dataset, which nobody writes by hand


class Plan:
    """One step. Subclasses say how it starts, and what differs from its first input."""

    kind = "Dataset"

    def __init__(self, *inputs: Plan, spec: Any = None) -> None:
        self.inputs = inputs
        self.site = sites.caller()
        if spec is not None:
            self.__dict__["spec"] = spec

    @property
    def input(self) -> Plan:
        return self.inputs[0]

    def start(self, run: Run) -> Iterator[Any]:
        """A new iteration. The iterator goes on after an error, and pulls only when asked."""
        rows = self.rows()
        return self.elements(run) if rows is None else RowIterator(rows)

    def elements(self, run: Run) -> Iterator[Any]:
        """A new iteration where the elements are no rows of arrays."""
        raise NotImplementedError(f"{type(self).__name__} must start itself")

    def rows(self) -> Rows | None:
        """The elements as rows of arrays, where they are that."""
        return None

    @cached_property
    def spec(self) -> Any:
        """The spec of the elements."""
        try:
            return self.find_spec()
        except RecursionError as error:
            raise self.too_long(error) from None

    def too_long(self, error: RecursionError) -> RecursionError:
        """The error for a `RecursionError`; it says so if the chain of steps is too long."""
        count, plans = 0, self.inputs
        while plans:
            count, plans = count + 1, plans[0].inputs
        if count < _LONG or hasattr(error, "site"):
            return error
        text = "Dataset: so many steps, one on the other, are too deep for Python's recursion limit"
        help = "Put what they do into one map, or make one dataset of a list with from_generator."
        return at_site(RecursionError(f"{text}. {help}"))

    def find_spec(self) -> Any:
        return self.input.spec

    def arrays(self) -> Iterable[np.ndarray]:
        """The arrays of which it makes its elements, where it holds any."""
        return ()

    @property
    def spec_known(self) -> bool:
        """Whether the spec is known, or can be had without calling the user's functions."""
        return "spec" in self.__dict__ or all(i.spec_known for i in self.inputs)

    def sample(self) -> Any:
        """An element that fits the spec; nothing is lost by looking at it."""
        return self.input.sample()

    def cardinality(self) -> int:
        """The number of elements, or one of the two constants."""
        return self.input.cardinality()

    @cached_property
    def options(self) -> Options:
        """The options of the dataset, frozen; most plans share one object with their input."""
        return self.find_options()

    def find_options(self) -> Options:
        """The options of the inputs; where they differ, a later input wins."""
        given = [o for o in (i.options for i in self.inputs) if o is not UNSET]
        return merge(given)


def static_int(name: str, argument: str, value: Any) -> int:
    """A whole number from a Python number, NumPy scalar or tensor."""
    if isinstance(value, Value):
        value = value.numpy()
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        kind = ValueError if value is None else TypeError
        raise at_site(
            kind(f"{name}: `{argument}` must be a whole number; got {describe(value)}.")
        ) from None


def positive(name: str, argument: str, value: float | int | None) -> int:
    """A whole number above zero."""
    result = static_int(name, argument, value)
    require(result > 0, name, f"`{argument}` must be greater than zero", str(result))
    return result


def workers(name: str, num_parallel_calls: int | None) -> int | None:
    """How many calls may run at once: `None` for one, `AUTOTUNE` for as many as seem good."""
    if num_parallel_calls is None:
        return None
    result = static_int(name, "num_parallel_calls", num_parallel_calls)
    require(
        result >= 1 or result == AUTOTUNE,
        name,
        "`num_parallel_calls` must be greater than zero, or tf.data.AUTOTUNE",
        str(result),
    )
    return result
