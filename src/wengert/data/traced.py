"""Datasets inside functions: an iterator is a number in the graph, asked by calls of Python.

An iterator that is an argument is known by the spec of its elements, so that another one of the
same spec needs no new trace. A loop over a dataset starts an iteration when the function runs.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.composite.forms import Form
from wengert.composite.optional import Optional
from wengert.core.apply import wrap
from wengert.core.errors import NotFoundError, at_site, invalid
from wengert.core.spec import TensorSpec
from wengert.data.calls import UserFunction
from wengert.data.plan import Plan
from wengert.data.types import IteratorSpec
from wengert.functions.host_calls import PyCall, emit_call

_numbers = itertools.count(1).__next__
_known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
# Iterations that loops of running functions have started, the one that was asked last at the end;
# one that was left early stays a while.
_started: OrderedDict[int, Any] = OrderedDict()
_MOST_STARTED = 1024


def register(iterator: Any) -> Any:
    """The number of an iterator, as a tensor."""
    number = _numbers()
    _known[number] = iterator
    return wrap(np.asarray(number, np.int64))


def _find(number: Any) -> Any:
    found = _known.get(int(number))
    if int(number) in _started:
        _started.move_to_end(int(number))
    if found is None:
        raise invalid(
            "get_next", "the iterator that the function uses is gone", kind=NotFoundError,
            help="Keep the iterator while its function is used.",
        )  # fmt: skip
    return found


def _called(
    name: str, function: Callable[..., Any], inputs: list[Any], specs: list[Any],
    variables: bool = False,
) -> Any:  # fmt: skip
    return emit_call(PyCall(function, specs, name, False), inputs, variables=variables)


def _uses_variables(plan: Plan) -> bool:
    """Whether elements depend on variables, which the function may have changed on its way."""
    own = (x for x in vars(plan).values() if isinstance(x, UserFunction))
    return any(x.uses_variables() for x in own) or any(map(_uses_variables, plan.inputs))


class TracedIterator:
    """An iterator in a function that is being traced."""

    def __init__(self, element_spec: Any, number: Any, variables: bool = False) -> None:
        self.element_spec = element_spec
        self._number = number
        self._variables = variables
        self._form = Form("get_next", element_spec)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; `tf.errors.OutOfRangeError` at the end, when the function runs."""

        def call(number: Any) -> list[Any]:
            return self._form.apart(_find(number).get_next())

        given = ([self._number], self._form.parts, self._variables)
        return self._form.together(_called("get_next", call, *given))

    __next__ = get_next

    def has_more(self) -> Any:
        """Whether there is another element, which waits for `get_next`."""
        flag = TensorSpec((), "bool")
        call = lambda number: [_find(number).has_more()]
        return _called("has_more", call, [self._number], [flag], self._variables)[0]

    def get_next_as_optional(self, name: str | None = None) -> Optional:
        """The next element as an optional, which is empty at the end."""

        def call(number: Any) -> list[Any]:
            found = _find(number)
            if not found.has_more():
                return [False, *self._form.nothing()]
            return [True, *self._form.apart(found.get_next())]

        specs = [TensorSpec((), "bool"), *self._form.parts]
        full, *parts = _called("get_next", call, [self._number], specs, self._variables)
        return Optional(self.element_spec, self._form.together(parts), full)

    def traced_steps(self) -> TracedIterator:
        """What a loop of a converted function asks."""
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


def started(dataset: Any) -> TracedIterator:
    """An iteration over a dataset that starts when the function runs."""

    def call() -> list[Any]:
        iterator = iter(dataset)
        number = iterator.number()
        _started[int(number)] = iterator
        while len(_started) > _MOST_STARTED:
            _started.popitem(last=False)
        return [number]

    number = _called("iterate", call, [], [TensorSpec((), "int64")])[0]
    return TracedIterator(dataset.element_spec, number, _uses_variables(dataset._plan))


def ended(number: Any) -> None:
    """Forgets an iteration that has come to its end."""
    _started.pop(int(number), None)


def reduced(dataset: Any, state: Any, spec: Any, function: Callable[..., Any]) -> Any:
    """`Dataset.reduce` when the function runs."""
    form = Form("reduce", spec)
    uses = UserFunction("reduce", function, "reduce_func").uses_variables()
    variables = uses or _uses_variables(dataset._plan)

    def call(*parts: Any) -> list[Any]:
        return form.apart(dataset.reduce(form.together(list(parts)), function))

    return form.together(_called("reduce", call, form.apart(state), form.parts, variables))
