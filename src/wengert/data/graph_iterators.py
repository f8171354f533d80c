"""Datasets inside functions: an iterator is a number in the graph, asked by calls of Python.

An iterator that is an argument is known by the spec of its elements, so that another one of the
same spec needs no new trace. A loop over a dataset starts an iteration when the function runs.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from wengert.composite.composite_forms import Form
from wengert.composite.optional import Optional
from wengert.core import nest
from wengert.core.errors import at_site, invalid
from wengert.core.types import SymbolicTensor, Tensor, TensorSpec, Value, Variable
from wengert.data import dataset_arguments
from wengert.data.dataset_options import UNSET
from wengert.data.iterator_specs import IteratorSpec
from wengert.data.plan import UNKNOWN_CARDINALITY
from wengert.data.structure import normalize, spec_of
from wengert.data.user_functions import UserFunction
from wengert.functions.host_calls import PyCall, emit_call
from wengert.graph.builder import building

if TYPE_CHECKING:
    from wengert.data.captured_tensors import Captured
    from wengert.data.dataset import Dataset
    from wengert.data.dataset_arguments import DatasetArgument
    from wengert.data.plan import Plan

    Given = dict[Captured | DatasetArgument, list[Tensor] | Dataset]


# Iterations that loops of running functions have started, the one that was asked last at the end;
# one that was left early stays a while.
_started: OrderedDict[int, Any] = OrderedDict()
_MOST_STARTED = 1024


def _find(number: Tensor) -> Any:
    if int(number) in _started:
        _started.move_to_end(int(number))
    return dataset_arguments.resolve(number, "get_next", "iterator")


def _called(
    name: str, function: Callable[..., Any], inputs: list[Any], specs: list[TensorSpec],
    variables: bool = False,
) -> list[SymbolicTensor]:  # fmt: skip
    return emit_call(PyCall(function, specs, name, False), inputs, variables=variables)


class TracedIterator:
    """An iterator in a function that is being traced."""

    def __init__(self, element_spec: Any, number: Tensor, variables: bool = False) -> None:
        self.element_spec = element_spec
        self._number = number
        self._variables = variables
        self._form = Form("get_next", element_spec)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; `tf.errors.OutOfRangeError` at the end, when the function runs."""

        def call(number: Tensor) -> list[Tensor]:
            return self._form.apart(_find(number).get_next())

        given = ([self._number], self._form.parts, self._variables)
        return self._form.together(_called("get_next", call, *given))

    __next__ = get_next

    def has_more(self) -> Tensor:
        """Whether there is another element, which the next `get_next` gives."""
        flag = TensorSpec((), "bool")
        call = lambda number: [_find(number).has_more()]
        return _called("has_more", call, [self._number], [flag], self._variables)[0]

    def get_next_as_optional(self, name: str | None = None) -> Optional:
        """The next element as an optional, which is empty at the end."""

        def call(number: Tensor) -> list[Tensor | bool]:
            result = _find(number)
            if not result.has_more():
                return [False, *self._form.nothing()]
            return [True, *self._form.apart(result.get_next())]

        specs = [TensorSpec((), "bool"), *self._form.parts]
        full, *parts = _called("get_next", call, [self._number], specs, self._variables)
        return Optional(self.element_spec, self._form.together(parts), full)

    def traced_steps(self) -> TracedIterator:
        """The iteration of a loop in a converted function."""
        return self

    def __iter__(self) -> Any:
        raise at_site(not_in_python("iterator"))

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self.element_spec)

    def __tf_flatten__(self) -> tuple[Any, list[Any]]:
        return IteratorSpec(self.element_spec), [self._number]

    @staticmethod
    def __tf_unflatten__(spec: IteratorSpec, parts: list[Any]) -> TracedIterator:
        return TracedIterator(spec.element_spec, parts[0])


def not_in_python(what: str) -> ValueError:
    """The error for a loop over a dataset in a function that is not converted."""
    return ValueError(
        f"iteration: in a function, iter() of a {what} and a loop over it need autograph=True and "
        f"available source. Make the iterator outside, pass it as an argument and ask get_next()."
    )


def started(dataset: Dataset, iterate: type) -> TracedIterator:
    """An iteration over a dataset that starts when the function runs."""

    plan = dataset._plan

    def start(given: Given) -> list[Tensor]:
        iterator = iterate(plan, given)
        number = iterator.number()
        _started[int(number)] = iterator
        while len(_started) > _MOST_STARTED:
            _started.popitem(last=False)
        return [number]

    number = _when_run("iterate", plan, start, [TensorSpec((), "int64")])[0]
    return TracedIterator(dataset.element_spec, number, dataset_arguments.uses_variables(plan))


def _when_run(
    name: str,
    plan: Plan,
    run: Callable[..., list[Any]],
    specs: list[TensorSpec],
    elements: bool = False,
    function: UserFunction | None = None,
    more: Sequence[Any] = (),
) -> list[SymbolicTensor]:
    """Calls `run` on the datasets of a call, and on more tensors, when the function runs.

    `elements` says that it goes through the elements, which may depend on variables. A `function`
    of the user's may close over tensors, which are handed in like the datasets.
    """
    arguments = dataset_arguments.arguments_of(plan)
    variables = elements and dataset_arguments.uses_variables(plan)
    if function is not None and function.captured is not None:
        arguments = [*arguments, function.captured]
    variables = variables or (function is not None and function.uses_variables())
    inputs = [t for argument in arguments for t in argument.tensors]

    def call(*values: Tensor) -> list[Any]:
        left = iter(values)
        given = {a: a.resolve(*islice(left, len(a.tensors))) for a in arguments}
        return run(given, *left)

    return _called(name, call, [*inputs, *more], specs, variables)


# How many of the datasets made at one node stay alive: those of concurrent calls.
_MOST_MADE = 8


def bound(dataset: Dataset) -> Tensor:
    """The number of a dataset that the function makes of its arguments, when it runs."""
    kept: deque[Any] = deque(maxlen=_MOST_MADE)

    def make(given: Given) -> list[Tensor]:
        new = type(dataset)(dataset_arguments.BoundPlan(dataset._plan, given))
        kept.append(new)
        return [dataset_arguments.number_of(new)]

    return _when_run("dataset", dataset._plan, make, [TensorSpec((), "int64")])[0]


def is_symbolic(value: Any) -> bool:
    """Whether a dataset is to be made of tensors that have their values when the function runs."""
    if building() is None:
        return False
    return any(isinstance(x, SymbolicTensor | Variable) for x in nest.flatten(value))


def made(
    make: Callable[[Any], Any],
    value: Any,
    spec: dict[str, TensorSpec] | tuple[TensorSpec, ...] | TensorSpec,
    count: int,
) -> dataset_arguments.DatasetArgument:
    """The plan of a dataset that the function makes of tensors, when it runs."""
    value = normalize(value)
    form = Form("dataset", spec_of(value))
    kept: deque[Any] = deque(maxlen=_MOST_MADE)

    def call(*parts: Tensor) -> list[Tensor]:
        new = make(form.together(list(parts)))
        kept.append(new)
        return [dataset_arguments.number_of(new)]

    number = _called("dataset", call, form.apart(value), [TensorSpec((), "int64")])[0]
    return dataset_arguments.DatasetArgument(
        dataset_arguments.DatasetSignature(spec, count, UNSET, False), number
    )


def made_of_rows(
    make: Callable[[Any], Any], value: SymbolicTensor | tuple[SymbolicTensor, ...]
) -> dataset_arguments.DatasetArgument:
    """The same, where each row of the tensors is an element."""
    value = normalize(value)
    for x in nest.flatten(value):
        if not isinstance(x, Value) or x.shape.rank is None or not x.shape.rank:
            rule = "in a function, a dataset is made of tensors of known rank, 1 or more"
            raise invalid("from_tensor_slices", rule, x, help="Make the dataset outside.")
    spec = nest.map_structure(lambda x: TensorSpec(x.shape[1:], x.dtype), value)
    sizes = {x.shape[0] for x in nest.flatten(value)} - {None}
    return made(make, value, spec, sizes.pop() if len(sizes) == 1 else UNKNOWN_CARDINALITY)


def ended(number: Tensor) -> None:
    """Forgets an iteration that has come to its end."""
    _started.pop(int(number), None)


def single(dataset: Dataset) -> Tensor | dict[str, SymbolicTensor]:
    """`Dataset.get_single_element` when the function runs."""
    name = "get_single_element"
    form = Form(name, dataset.element_spec)
    run = lambda given: form.apart(dataset._single(given))
    return form.together(_when_run(name, dataset._plan, run, form.parts, True))


def reduced(dataset: Dataset, state: Tensor, spec: TensorSpec, function: UserFunction) -> Tensor:
    """`Dataset.reduce` when the function runs."""
    form = Form("reduce", spec)

    def run(given: Given, *parts: Tensor) -> list[Any]:
        return form.apart(dataset._reduced(form.together(list(parts)), function, given))

    start = form.apart(state)
    return form.together(_when_run("reduce", dataset._plan, run, form.parts, True, function, start))
