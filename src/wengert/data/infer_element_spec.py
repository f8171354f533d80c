"""Infers the element spec of a step from the user's function, when the step is made.

The function is traced once on symbolic tensors, as in TensorFlow: that gives the spec of its
results, and its errors are raised at the line of `map`. Elements are computed by calling it on
values, so the spec of a function that needs values (`int(x)`, `if x > 0`) is not inferred here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.core import context, nest
from wengert.core.context import restoring
from wengert.core.dtypes import int64
from wengert.core.failures import failures
from wengert.core.symbolic import needs_value
from wengert.core.types import CompositeSpec, Tensor, TensorSpec, TypeSpec
from wengert.data.plan import Plan
from wengert.data.structure import NoneTensorSpec, spec_of
from wengert.data.user_functions import UserFunction, as_element
from wengert.functions.trace import trace

if TYPE_CHECKING:
    from wengert.data.dataset import Dataset


def inferred_spec(function: UserFunction, plan: Plan, *before: Tensor) -> Any:
    """The spec of the function's results on a plan's elements; `None` where only calls can tell.

    `before` are arguments to stand in front.
    """
    if not plan.spec_known:
        return None
    spec = (*map(spec_of, before), plan.spec) if before else plan.spec
    if not all(map(_can_be_traced, nest.flatten(spec))):
        return None
    try:
        return _traced(function, spec, lambda call: call)
    except failures() as error:
        if _asks_for_values(error):
            return None
    # Python can do more than a trace: it is an error of the function if a call fails as well.
    function.try_out(plan, *before)
    return None


def inferred_dataset_spec(
    function: UserFunction, plan: Plan
) -> tuple[TensorSpec, TensorSpec] | TensorSpec | None:
    """The spec of the elements of the datasets that a function makes of a plan's elements.

    It is `None` where only calls can tell: where the function reads files or values, say.
    """
    if not plan.spec_known or not all(map(_can_be_traced, nest.flatten(plan.spec))):
        return None
    return _announced(function, plan.spec, lambda call: call)


def inferred_group_spec(function: UserFunction, window: Dataset) -> Any:
    """The same for a function of a key and a dataset, of which `window` is an empty one."""
    by_key = lambda call: lambda key: call(key, window)
    return _announced(function, TensorSpec((), int64), by_key)


def _announced(
    function: UserFunction, spec: TensorSpec, form: Callable[..., Any]
) -> tuple[TensorSpec, TensorSpec] | TensorSpec | None:
    try:
        result = _traced(function, spec, form)
    except failures():
        return None
    return getattr(result, "element_spec", None)


def _can_be_traced(spec: TypeSpec) -> bool:
    return isinstance(spec, TensorSpec | CompositeSpec | NoneTensorSpec)


@restoring
def _traced(function: UserFunction, spec: Any, form: Callable[..., Any]) -> Any:
    """The spec of the results of the function, in the form that takes elements of a spec."""
    given = nest.map_structure(lambda s: None if isinstance(s, NoneTensorSpec) else s, spec)
    arguments = given if type(given) is tuple else (given,)
    own, outer = len(arguments), function.captured
    arguments = (*arguments, *(outer.specs if outer is not None else ()))
    result: Any = None

    def watched(*args: Any) -> None:
        nonlocal result
        call = function.function if outer is None else outer.filled(args[own:])
        # A function of a dataset may change the dict that it is given.
        element = nest.map_structure(lambda x: x, args[:own])
        result = spec_of(as_element(function.step, form(call)(*element)))

    with context.using(context.State()):
        pairs = [(f"args[{k}]", x) for k, x in enumerate(arguments)]
        made = trace(function.step, watched, pairs, {}, lambda s: s, [], None, function.site)
    function.reads = bool(made.graph.variables or made.graph.held)
    return result


def _asks_for_values(error: BaseException | None) -> bool:
    """Whether an error, or what led to it, is that a tensor has no value while tracing."""
    while error is not None:
        if needs_value(error):
            return True
        error = error.__cause__ or error.__context__
    return False
