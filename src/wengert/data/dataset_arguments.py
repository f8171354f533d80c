"""Datasets as arguments of functions.

A trace depends on the spec and number of the elements only, so another such dataset needs no new
trace. In the trace the argument is a plan without elements, `DatasetArgument`. A graph passes the
id of the dataset that a call was given, and an iteration looks it up in its `Run`.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.composite_forms import Form
from wengert.core.apply import wrap
from wengert.core.errors import NotFoundError, invalid
from wengert.core.types import SymbolicTensor, Tensor
from wengert.data.captured_tensors import Captured
from wengert.data.dataset_options import Options
from wengert.data.plan import Plan, Run
from wengert.data.user_functions import UserFunction
from wengert.functions.signature import Same
from wengert.graph.builder import building

if TYPE_CHECKING:
    from wengert.core.resources import Resource
    from wengert.data.dataset import Dataset


_numbers = itertools.count(1).__next__
# Datasets and iterators by the numbers that graphs know them by.
_known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def register(holder: Resource) -> Tensor:
    """The number of a dataset or iterator, as a tensor."""
    number = _numbers()
    _known[number] = holder
    return wrap(np.asarray(number, np.int64))


def resolve(number: Tensor, name: str = "dataset", what: str = "dataset") -> Resource:
    """The dataset or iterator of a number."""
    holder = _known.get(int(number))
    if holder is None:
        raise invalid(
            name, f"the {what} that the function uses is gone", kind=NotFoundError,
            help=f"Keep the {what} while its function is used.",
        )  # fmt: skip
    return holder


class DatasetSignature:
    """What a trace depends on: spec and count of elements, options, use of variables."""

    def __init__(self, spec: Any, count: int, options: Options, variables: bool) -> None:
        self.spec, self.count, self.options, self.variables = spec, count, options, variables
        self.form = Form("dataset", spec)
        self.kept: Any = None

    @staticmethod
    def of(dataset: Dataset) -> DatasetSignature:
        """The signature of a dataset that is passed on."""
        plan = dataset._plan
        facts = DatasetSignature(plan.spec, plan.cardinality(), plan.options, uses_variables(plan))
        facts.kept = dataset if building() is not None else None  # a result must last
        return facts

    def _facts(self) -> Any:
        return self.spec, self.count, self.variables, repr(self.options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSignature) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash((repr(self.spec), self.count, self.variables))


class DatasetArgument(Plan):
    """A dataset that a function was given."""

    def __init__(self, facts: DatasetSignature, number: SymbolicTensor) -> None:
        super().__init__()
        self.facts, self.number = facts, number

    @property
    def tensors(self) -> list[Any]:
        """The tensors that a graph passes for it."""
        return [self.number]

    def resolve(self, number: Tensor) -> Any:
        """The dataset of one call."""
        return resolve(number)

    def start(self, run: Run) -> Iterator[Any]:
        return run.arguments[self]._plan.start(run)

    def find_spec(self) -> Any:
        return self.facts.spec

    def sample(self) -> Any:
        return self.facts.form.together(self.facts.form.nothing())

    def cardinality(self) -> int:
        return self.facts.count

    def find_options(self) -> Options:
        return self.facts.options


def arguments_of(plan: Plan) -> list[DatasetArgument | Captured]:
    """The arguments that a plan depends on, and the tensors its functions close over."""
    result: list[DatasetArgument | Captured] = [plan] if isinstance(plan, DatasetArgument) else []
    own = [x.captured for x in vars(plan).values() if isinstance(x, UserFunction)]
    result += [x for x in own if x is not None]
    for one in plan.inputs:
        result += [h for h in arguments_of(one) if h not in result]
    return result


def uses_variables(plan: Plan) -> bool:
    """Whether elements depend on variables, which the function may have changed on its way."""
    if isinstance(plan, DatasetArgument):
        return plan.facts.variables
    own = (x for x in vars(plan).values() if isinstance(x, UserFunction))
    return any(x.uses_variables() for x in own) or any(map(uses_variables, plan.inputs))


def number_of(dataset: Dataset) -> Tensor:
    """The number by which graphs know a dataset, as a tensor."""
    if isinstance(dataset._plan, DatasetArgument):
        return dataset._plan.number
    if dataset._number is None:
        dataset._number = register(dataset)
    return dataset._number


class BoundPlan(Plan):
    """A plan made in a function, bound to the arguments of one call."""

    def __init__(self, plan: Plan, given: dict[Any, Any]) -> None:
        super().__init__(plan)
        self.given = given

    def start(self, run: Run) -> Iterator[Any]:
        return self.input.start(Run(run.options, {**run.arguments, **self.given}))


def flatten_dataset(dataset: Dataset, bound: Any) -> tuple[Any, list[Any]]:
    """A dataset for a trace: its facts and number; itself, where a trace could not pass it on.

    One that the function made of its arguments has a number only when the function runs; `bound`
    asks for it.
    """
    try:
        facts = DatasetSignature.of(dataset)
    except TypeError:  # of elements that are no tensors
        return Same(dataset), []
    if not isinstance(dataset._plan, DatasetArgument) and arguments_of(dataset._plan):
        return facts, [bound(dataset)]
    return facts, [number_of(dataset)]


def unflatten_dataset(kind: type, rest: DatasetSignature, parts: list[Tensor]) -> Any:
    """The dataset of facts and a number, or a stand-in where the number has no value yet."""
    if isinstance(rest, Same):
        return rest.ref()
    if isinstance(parts[0], SymbolicTensor):
        return kind(DatasetArgument(rest, parts[0]))
    return resolve(parts[0])
