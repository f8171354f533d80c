"""Dispatch of public functions to libraries: what they do with arguments of a library's own class.

Keras 2 builds models of its symbolic tensors so: `tf.reshape(x, …)` becomes a layer. Once a
library has registered a dispatcher, the functions found below `tensorflow` ask it when they fail.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

from wengert.core.tensor import Tensor

_GLOBAL: list[GlobalOpDispatcher] = []
_OF_FUNCTION: dict[Any, list[OpDispatcher]] = {}


class OpDispatcher:
    """Answers for one function where it fails."""

    NOT_SUPPORTED: Any = object()

    def handle(self, args: Any, kwargs: Any) -> Any:
        """The answer, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Asks this dispatcher where `op` fails."""
        _OF_FUNCTION.setdefault(inspect.unwrap(op), []).append(self)


class GlobalOpDispatcher:
    """Answers for every function where it fails."""

    NOT_SUPPORTED = OpDispatcher.NOT_SUPPORTED

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """The answer, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Asks this dispatcher where a public function fails."""
        _GLOBAL.append(self)


def is_used() -> bool:
    """Whether a library has registered a dispatcher."""
    return bool(_GLOBAL or _OF_FUNCTION)


def answer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What dispatchers answer for a call that failed; `NOT_SUPPORTED` if none does."""
    for one in _OF_FUNCTION.get(inspect.unwrap(function), ()):
        result = one.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    for general in _GLOBAL:
        result = general.handle(function, args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


def dispatching(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which asks dispatchers where it fails."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:
            result = answer(call, args, kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result

    return call


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """Lets a function of a library be dispatched as TensorFlow's are."""
    return dispatching if target is None else dispatching(target)


def dispatch_for_types(op: Any, *types: type) -> Callable[[Any], Any]:
    """A decorator: its function answers for `op` where an argument is of one of these types."""

    def decorate(function: Any) -> Any:
        _TypeBased(function, types).register(op)
        return function

    return decorate


class _TypeBased(OpDispatcher):
    def __init__(self, function: Any, types: tuple[type, ...]) -> None:
        self._function, self._types = function, types

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Calls the function if an argument, or a member of a list, is of one of the types."""
        if any(self._is_one(x) for x in (*args, *kwargs.values())):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED

    def _is_one(self, x: Any) -> bool:
        if isinstance(x, list | tuple):
            return any(isinstance(one, self._types) for one in x)
        return isinstance(x, self._types)


def for_libraries(value: Any) -> Any:
    """What is found below `tensorflow`: a function of ours that dispatches, or the value itself."""
    if type(value) is FunctionType and str(value.__globals__.get("__name__")).startswith(
        "wengert."
    ):
        return dispatching(value)
    return value


# The public functions that stand for the operators of tensors.
_OPERATORS = {
    "abs": "math.abs",
    "add": "__operators__.add",
    "and": "math.logical_and",
    "eq": "__operators__.eq",
    "floordiv": "math.floordiv",
    "ge": "math.greater_equal",
    "getitem": "__operators__.getitem",
    "gt": "math.greater",
    "invert": "math.logical_not",
    "le": "math.less_equal",
    "lt": "math.less",
    "matmul": "linalg.matmul",
    "mod": "math.floormod",
    "mul": "math.multiply",
    "ne": "__operators__.ne",
    "neg": "math.negative",
    "or": "math.logical_or",
    "pow": "math.pow",
    "sub": "math.subtract",
    "truediv": "math.truediv",
    "xor": "math.logical_xor",
}


def _lent(name: str) -> Callable[..., Any]:
    """An operator of tensors for another class, which calls the public function."""
    stem = name.strip("_")
    swapped = stem not in _OPERATORS
    module, _, last = _OPERATORS[stem.removeprefix("r") if swapped else stem].rpartition(".")

    def operator(self: Any, *others: Any) -> Any:
        function = getattr(getattr(import_module("tensorflow"), module), last)
        return function(*others, self) if swapped else function(self, *others)

    operator.__name__ = name
    return operator


def lend_operators() -> None:
    """Lets other classes take the operators of tensors.

    Keras 2 gives its symbolic tensors `getattr(operator, "__func__", operator)` for each operator
    of `tf.Tensor`; ours work on tensors alone and in few steps, so they name another one there.
    """
    for name in Tensor.OVERLOADABLE_OPERATORS:
        vars(getattr(Tensor, name))["__func__"] = _lent(name)


lend_operators()
