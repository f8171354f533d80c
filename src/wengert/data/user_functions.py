"""Calls the user's functions for the steps of datasets; no other module does.

A function sees the element as arguments (a tuple is spread, anything else is one argument),
outside all tapes and graphs, and under random keys of its own, so that threads do not change what
it draws. What it raises gets its line and the line of the dataset's step as notes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import context, nest, random_replay, sites
from wengert.core.apply import wrap
from wengert.core.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    at_site,
    invalid_dtype,
    require,
)
from wengert.core.failures import failures
from wengert.core.observers import OBSERVERS, observed
from wengert.core.types import Tensor, TensorSpec, Variable
from wengert.data import keys
from wengert.data.captured_tensors import captured
from wengert.data.plan import Plan, Run
from wengert.data.structure import join, map_spec, normalize, spec_of

if TYPE_CHECKING:
    from wengert.data.keys import Draws


_TOO_MANY = re.compile(r"\(\) (takes \d+ positional|missing \d+ required positional) argument")


class UserFunction:
    """A function of the user's, the step that calls it, and where that was made."""

    def __init__(self, step: str, function: Any, argument: str = "map_func") -> None:
        require(
            callable(function), step, f"`{argument}` must be callable", function, kind=ValueError
        )
        self.step = step
        self.function: Callable[..., Any] = function
        self.site = sites.caller()
        self.source: Plan | None = None  # whose elements it gets, if it stands in a step
        self.key = keys.step_key(step, None) if keys.seeded() else None
        self.reads: bool | None = None  # whether it uses variables, where a trace has shown it
        self.captured = captured(function)  # tensors of a trace that it closes over

    def uses_variables(self) -> bool:
        """Whether it uses variables, by a trace or else by the names in its code."""
        return _mentions_variables(self.function) if self.reads is None else self.reads

    def __call__(self, element: Any, draws: Draws | np.ndarray | None = None) -> Any:
        """The result for one element, as an element."""
        if not OBSERVERS:
            return self._run(element, draws)
        run = lambda caller, function, given: self._run(given, draws)
        return observed("python", run, self, self.function, element)

    def _run(self, element: Any, draws: Any) -> Any:
        function = self.function
        if self.captured is not None and draws is not None:
            function, draws = draws
        given = element if type(element) is tuple else (element,)
        return _call_user(self, function, given, draws)

    def draws(self, run: Run) -> Iterator[Any]:
        """The random keys of one call after the other, in one iteration.

        Beside them stands the function to call, where it needs values that the iteration has.
        """
        key = self.key
        result: Iterator[Any] = repeat(None)
        if key is not None:
            result = (keys.Draws(key, number) for number in run.calls.setdefault(self, count()))
        if self.captured is None:
            return result
        return zip(repeat(self.captured.filled(run.arguments[self.captured])), result)

    def _first_draws(self) -> Any:
        """The random states, and perhaps the function, for a call on a sample."""
        draws = keys.Draws(self.key or 0, 0)
        if self.captured is None:
            return draws
        return self.captured.filled(self.captured.samples()), draws

    def probe(self, plan: Plan, *before: Any) -> tuple[Any, Any]:
        """Spec and sample of what the function makes of a plan's elements.

        `before` are arguments to stand in front. A size that the spec of the plan leaves open
        stays open where it shows: the function is called a second time with longer samples.
        """
        sample = plan.sample()
        draws = self._first_draws()
        call = lambda x: self._on_sample((*before, x) if before else x, draws)
        result = call(sample)
        spec = spec_of(result)
        longer = _lengthened(sample, plan.spec)
        if longer is None:
            return spec, result
        try:
            return join(spec, spec_of(call(longer))), result
        except failures():
            return map_spec(loosened, spec), result

    def try_out(self, plan: Plan, *before: Tensor) -> None:
        """Calls the function on a sample of a plan's elements, for its errors."""
        sample = plan.sample()
        self._on_sample((*before, sample) if before else sample, self._first_draws())

    def _on_sample(self, element: Any, draws: Any) -> Any:
        """The result for an element that is none of the data's, which no detector is to judge."""
        return context.run_under(context.State(), self._run, element, draws)


class FunctionStep(Plan):
    """A step whose elements a function makes.

    Their spec was inferred when the step was made, or a call on a sample tells it.
    """

    def __init__(self, source: Plan, function: UserFunction, spec: Any) -> None:
        super().__init__(source, spec=spec)
        self.function = function
        function.source = source

    @property
    def spec_known(self) -> bool:
        return "spec" in self.__dict__

    @cached_property
    def _probed(self) -> tuple[Any, Any]:
        return self.probe()

    def probe(self) -> tuple[Any, Any]:
        """The spec of the elements, and one of them."""
        return self.function.probe(self.input)

    def find_spec(self) -> Any:
        return self._probed[0]

    def sample(self) -> Any:
        return self._probed[1]


def _mentions_variables(function: Any) -> bool:
    try:
        result = inspect.getclosurevars(inspect.unwrap(function))
    except TypeError:  # written in C, or an object that is called
        return hasattr(function, "variables")
    named = [*result.nonlocals.values(), *result.globals.values()]
    return any(isinstance(x, Variable) or hasattr(x, "trainable_variables") for x in named)


def _call_user(
    function: UserFunction, call: Any, arguments: tuple[Any, ...], draws: Draws | np.ndarray | None
) -> Any:
    """Calls the user's function on tensors; whatever tapes and graphs there are see nothing."""
    if context.get_state() is None:
        return _called(function, call, arguments, draws)
    return context.run_under(context.detached(), _called, function, call, arguments, draws)


def _called(function: UserFunction, call: Any, arguments: tuple[Any, ...], draws: Any) -> Any:
    try:
        if draws is None:
            result = call(*arguments)
        else:
            with random_replay.replaying(draws):
                result = call(*arguments)
        return as_element(function.step, result)
    except (StopIteration, OutOfRangeError) as error:
        # These would be taken for the end of the dataset.
        text = f"{function.step}: the function raised {type(error).__name__}: {error}"
        raise explain(InvalidArgumentError(None, None, text), function, error) from error
    except failures() as error:
        explain(error, function, error)
        raise


def as_element(step: str, result: Any) -> Any:
    """The result of a function as an element; a list becomes a tuple."""
    try:
        return normalize(tuple(result) if type(result) is list else result)
    except (TypeError, ValueError) as error:
        raise invalid_dtype(
            step, f"the function must return tensors, or nests of them; {str(error).rstrip('.')}"
        ) from error


def explain(error: Any, function: UserFunction, cause: BaseException) -> Any:
    """Adds the line in the user's function, and the line of the step, to an error."""
    if not hasattr(error, "site"):
        site = sites.raised_at(cause)
        if site is not None:
            at_site(error, site)
    made = sites.locate(function.site)
    if _TOO_MANY.search(str(error)) and cause.__traceback__ is not None:
        error.add_note(
            "  An element that is a tuple comes as one argument for each of its parts: "
            "`lambda x, y: ...`; an element that is a dict or list is one argument."
        )
    error.add_note(f"  in the function of {function.step}, made at {made}")
    return error


def _lengthened(sample: Any, spec: Any) -> Tensor | tuple[Tensor, Tensor] | None:
    """The sample with one more row wherever the spec leaves a size open; `None` if nowhere."""
    changed = False

    def longer(value: Any, one: Any) -> Any:
        nonlocal changed
        if not isinstance(one, TensorSpec) or not isinstance(value, Tensor):
            return value
        array: np.ndarray = value._array
        for axis, size in enumerate(one.shape if one.shape.rank is not None else ()):
            if size is None and array.shape[axis]:
                last = array.take([-1], axis=axis)
                array, changed = np.concatenate([array, last], axis), True
        return wrap(array)

    result = nest.map_structure(longer, sample, spec)
    return result if changed else None


def loosened(spec: TensorSpec) -> TensorSpec:
    """A spec of which only the rank is sure."""
    if not isinstance(spec, TensorSpec):
        return spec
    rank = spec.shape.rank
    return TensorSpec(None if rank is None else [None] * rank, spec.dtype)
