"""What public functions give where their own code cannot: for composites, and for unknown ranks.

A function that reads the rank or the sizes of its arguments fails for a composite, and in a trace
for a tensor of unknown rank. Then its rule for that kind of composite answers, or its call is put
off until the graph runs. `with_fallback` at its definition says so; that costs a Python call, so
functions where this counts catch the error themselves, which costs nothing:

    try:
        …
    except Exception as error:
        return fallback(concat, error, (values, axis))

An operation that is not asked for ranks needs neither: it meets composites at the door.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from wengert.core.composite_operands import CompositeArgument, CompositeOperand
from wengert.core.context import executing_eagerly
from wengert.core.failures import failures
from wengert.core.hooks import Hook

P = ParamSpec("P")
R = TypeVar("R")
Rule = Callable[..., Any]
# The rule of a public function for a composite, if there is one.
FIND_RULE: Hook[Callable[[Rule, CompositeOperand], Rule | None]] = Hook(
    "find the rule of a function", "wengert.composite.rules"
)
# Puts off a function that failed while tracing, if a rank is unknown; else raises the error.
PUT_OFF: Hook[Callable[[Rule, tuple[Any, ...], dict[str, Any], Exception], Any]] = Hook(
    "put off a function", "wengert.functions.deferred"
)


def with_fallback(function: Callable[P, R]) -> Callable[P, R]:
    """Lets a public function fall back on its rules for composites, and be put off in a trace."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return fallback(call, error, args, kwargs)

    return call


def fallback(
    function: Rule, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Any:
    """What a function gives that failed with `error`; raises that where nothing else answers."""
    given = kwargs or {}
    try:
        if isinstance(error, CompositeArgument):
            rule = FIND_RULE.call(function, error.value)
            if rule is not None:
                return rule(*args, **given)
        elif not executing_eagerly() and failures():
            return PUT_OFF.call(function, args, given, error)
    except Exception as newer:
        if newer is not error:
            newer.__suppress_context__ = True  # that of the function, which does not matter
        raise
    raise error
