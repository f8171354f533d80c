"""Stands in for the doors that work goes through, for as long as a profile is taken.

Before and after, every door is what it was, so a program that takes no profile pays nothing.
Methods are replaced on their classes, and so are infix operators. The three functions through which
other operations go are known by name all over Wengert; they stay the same objects and get other
code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType
from typing import Any

from wengert.core import apply as core
from wengert.core.context import get_state
from wengert.core.op import Op
from wengert.core.tensor import Tensor, Value
from wengert.engines.executables import WATCHED, Executable
from wengert.explain.standing import replaced
from wengert.functions.concrete import ConcreteFunction
from wengert.functions.function import Function
from wengert.ops.operators import INFIX
from wengert.profiler.spans import Recorder
from wengert.tape.gradient_tape import GradientTape


@contextmanager
def watched(recorder: Recorder, level: int) -> Iterator[None]:
    """Writes down what goes through the doors; of level 1 only what is rare."""
    with ExitStack() as stack:
        for owner, name, kind, label in _METHODS:
            if level > 1 or kind in ("trace", "compile"):
                new = _spanning(recorder, kind, label)
                stack.enter_context(replaced(owner, name, new))
        if level > 1:
            stack.callback(WATCHED.__setitem__, 0, False)
            WATCHED[0] = True
            for door, code in ((core.apply, _any), (core.apply1, _one), (core.apply2, _two)):
                stack.enter_context(_changed(door, code, recorder))
            for name, op in INFIX.items():
                stack.enter_context(replaced(Value, name, _operator(recorder, op)))
        yield


_METHODS: list[tuple[type, str, str, Callable[[Any], str]]] = [
    (Function, "__call__", "call", lambda f: f.name),
    (ConcreteFunction, "__call__", "call", lambda f: f._name),
    (Function, "_run_trace", "trace", lambda f: f.name),
    (Executable, "_compile", "compile", lambda e: e.graph.name),
    (Executable, "passed", "xla", lambda e: e.graph.name),
    (GradientTape, "gradient", "gradient", lambda tape: "gradient"),
    (GradientTape, "jacobian", "gradient", lambda tape: "jacobian"),
]


def _spanning(recorder: Recorder, kind: str, label: Callable[[Any], str]) -> Callable[..., Any]:
    def method(old: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        return recorder.timed(kind, label(self), lambda: old(self, *args, **kwargs))

    return method


def _operator(recorder: Recorder, op: Op) -> Callable[..., Any]:
    def method(old: Any, self: Any, other: Any) -> Any:
        state = get_state()
        if state is not None and not state.plain:  # then it goes through the other door
            return old(self, other)
        return recorder.timed("operation", op.name, lambda: old(self, other), _seen)

    return method


# What the doors do instead: hand everything to `_door`, which they find among their defaults.


def _any(op: Any, *inputs: Any, _door: Any, **attrs: Any) -> Any:
    return _door(op, *inputs, **attrs)


def _one(op: Any, x: Any, *, _door: Any, **attrs: Any) -> Any:
    return _door(op, x, **attrs)


def _two(op: Any, x: Any, y: Any, *, _door: Any) -> Any:
    return _door(op, x, y)


@contextmanager
def _changed(door: Any, new: Any, recorder: Recorder) -> Iterator[None]:
    old = door.__code__
    plain = FunctionType(old, door.__globals__, door.__name__)

    def timed(op: Any, *inputs: Any, **attrs: Any) -> Any:
        state = get_state()
        if state is not None and state.graph is not None:
            return plain(op, *inputs, **attrs)
        return recorder.timed("operation", op.name, lambda: plain(op, *inputs, **attrs), _seen)

    # Other threads may be inside: the code must never be there without what it needs.
    door.__kwdefaults__ = {"_door": timed}
    door.__code__ = new.__code__
    try:
        yield
    finally:
        door.__code__ = old
        door.__kwdefaults__ = None


def _seen(found: Any) -> Any:
    """The line and the results of an operation; the words come when the timeline is written."""
    if found is None:
        return None
    outs = found if isinstance(found, tuple) else (found,)
    if not outs or not isinstance(outs[0], Tensor):
        return None
    return outs[0]._site, tuple([(o._array.dtype, o._array.shape) for o in outs])
