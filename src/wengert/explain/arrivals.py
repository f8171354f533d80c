"""Where values come from that no operation made: datasets, Python functions, variables, constants.

`Arrivals` hears of the elements of datasets and of what Python returns to a dataset or a graph, and
tells `Numerics` of those that are not finite: by the operation in the user's function that made
them, or else by the line where the data or the function was given.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from wengert.core import nest
from wengert.core.context import executing_eagerly
from wengert.core.observers import Observer
from wengert.core.types import RawSite, Value, Variable
from wengert.core.user_code import is_user
from wengert.data.dataset_arguments import BoundPlan
from wengert.data.plan import Plan
from wengert.explain.numerics import Bad, Numerics, finite, outside

if TYPE_CHECKING:
    Arguments = dict[Any, Any]  # the datasets that stand for arguments of a function

_DATA = "the data of a dataset"


def leaves(value: Any) -> Iterator[Value]:
    """The tensors of a nest that are not finite; of a composite, its flat values."""
    for leaf in nest.flatten(value):
        tensor = getattr(leaf, "values", leaf)
        if isinstance(tensor, Value) and not finite(tensor._array):
            yield tensor


class Arrivals(Observer):
    """Follows values that are not finite through datasets, host calls and variables."""

    def __init__(self, numerics: Numerics) -> None:
        self._numerics = numerics
        self._made: WeakKeyDictionary[Any, Bad] = WeakKeyDictionary()  # by function or generator
        self._opened: WeakKeyDictionary[Any, Plan] = WeakKeyDictionary()  # what functions returned
        self._data: WeakKeyDictionary[Plan, Bad] = WeakKeyDictionary()  # by plan of arrays

    def element(self, proceed: Any, plan: Plan, arguments: Arguments) -> Any:
        element = proceed(plan, arguments)
        for tensor in leaves(element):
            self._note(tensor, plan, arguments)
        return element

    def python(self, proceed: Any, caller: Any, function: Any, given: Any) -> Any:
        before = list(leaves(given))
        source = getattr(caller, "source", None)
        if isinstance(source, Plan):
            for tensor in before:
                self._note(tensor, source, {})
        count = self._numerics.count
        result = proceed(caller, function, given)
        self._returned(caller, function, result, before, count)
        return result

    def _returned(
        self, caller: Any, function: Any, result: Any, before: list[Value], count: int
    ) -> None:
        """Notes what Python returned, and of what that was made."""
        plan = getattr(result, "_plan", None)
        if plan is not None:
            self._opened[caller] = plan
            return
        numerics = self._numerics
        for tensor in leaves(result):
            bad = numerics.known(tensor)
            if bad is None and numerics.count > count:
                bad = numerics.latest
            if bad is None and before:
                bad = numerics.known(before[0])
            if bad is None:
                where = _start(function) or getattr(caller, "site", None)
                bad = outside(f"what Python returned to {_name(caller)}", tensor._array, where)
            numerics.pass_on(tensor._id, tensor._array, bad)
            self._made[caller] = bad

    def _note(self, tensor: Value, plan: Plan, arguments: Arguments) -> None:
        """Notes where an element begins: in the last step that made it so, else in the data."""
        numerics = self._numerics
        bad = numerics.known(tensor) or self._step(plan, arguments)
        bad = bad or outside(_DATA, tensor._array, _first(plan).site)
        numerics.pass_on(tensor._id, tensor._array, bad)

    def _step(self, plan: Plan, arguments: Arguments) -> Bad | None:
        if isinstance(plan, BoundPlan):
            arguments = {**arguments, **plan.given}
        caller = getattr(plan, "function", plan)
        made_by = self._made.get(caller)
        if made_by is not None:
            return made_by
        argument = getattr(arguments.get(plan), "_plan", None)
        inputs = filter(None, (argument, self._opened.get(caller), *plan.inputs))
        results = (self._step(one, arguments) for one in inputs)
        return next(filter(None, results), None) or self._held(plan)

    def _held(self, plan: Plan) -> Bad | None:
        """The record of arrays that are given to a dataset, if they are not finite."""
        if plan not in self._data:
            wrong = next((a for a in plan.arrays() if not finite(a)), None)
            if wrong is None:
                return None
            known = self._numerics.made_inside(wrong)
            self._data[plan] = known or outside(_DATA, wrong, plan.site)
        return self._data[plan]

    # Variables.

    def assigned(self, variable: Variable, value: Any, count: int, site: RawSite | None) -> None:
        """Notes that a variable has a value that is not finite, and where it comes from.

        `count` is how many results were not finite before it was worked out.
        """
        if not executing_eagerly() or finite(variable._array):
            return
        numerics = self._numerics
        bad = next((numerics.known(x) for x in leaves([value])), None)
        if bad is None and numerics.count > count:
            bad = numerics.latest
        if bad is None:
            bad = outside(
                f"the value of variable `{variable.name.removesuffix(':0')}`", variable._array, site
            )
        numerics.pass_on(variable._id, variable._array, bad)


def _first(plan: Plan) -> Plan:
    while plan.inputs:
        plan = plan.inputs[0]
    return plan


def _start(function: Any) -> RawSite | None:
    """Where a Python function begins."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code, 0) if code is not None and is_user(code.co_filename) else None


def _name(caller: Any) -> str:
    return getattr(caller, "step", None) or getattr(caller, "name", "from_generator")
