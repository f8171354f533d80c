"""Observers: who hears of traces, calls, compilations, gradients and eager operations.

The profiler, the doctor, `check_numerics` and `tf.summary` subscribe here; nothing is replaced for
them. Observers belong to the process and hear of every thread. Who wants the operations of one
context only, as tapes do, is a `Listener` there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from wengert.core.locks import new_lock
from wengert.core.op import watch_operations

# Those subscribed, outermost first. Whoever announces an event looks first whether there are any.
OBSERVERS: list[Observer] = []
_lock = new_lock()

Proceed = Callable[..., Any]


class Observer:
    """Stands around events: each method does what it wants and returns what `proceed` gives.

    `proceed` takes the arguments that follow it, unchanged.
    """

    operations = False  # whether it wants to hear of eager operations, which costs each of them

    def call(self, proceed: Proceed, function: Any, args: Any, kwargs: Any) -> Any:
        """A call of a traced function by the program; `function` has a `name`."""
        return proceed(function, args, kwargs)

    def trace(
        self, proceed: Proceed, function: Any, pairs: Any, named: Any, specs: Any, site: Any
    ) -> Any:
        """Tracing a function for one signature."""
        return proceed(function, pairs, named, specs, site)

    def run(self, proceed: Proceed, trace: Any, leaves: Any, site: Any) -> Any:
        """A run of a trace on tensors, or its inlining into another trace."""
        return proceed(trace, leaves, site)

    def execute(self, proceed: Proceed, graph: Any, arrays: Any, jit: Any) -> Any:
        """A run of a graph that changes no variables, the forward and backward graphs of tapes."""
        return proceed(graph, arrays, jit)

    def compile(self, proceed: Proceed, executable: Any) -> Any:
        """A compilation by XLA."""
        return proceed(executable)

    def launch(self, proceed: Proceed, executable: Any, arrays: Any, run: Any) -> Any:
        """A run of a compiled program."""
        return proceed(executable, arrays, run)

    def gradient(self, proceed: Proceed, tape: Any, what: str, *given: Any) -> Any:
        """A tape's `gradient` or `jacobian`, which `what` says."""
        return proceed(tape, what, *given)

    def replicate(
        self, proceed: Proceed, strategy: Any, fn: Any, args: Any, kwargs: Any, site: Any
    ) -> Any:
        """A run of a function in several replicas, which traces it."""
        return proceed(strategy, fn, args, kwargs, site)

    def element(self, proceed: Proceed, plan: Any, arguments: Any) -> Any:
        """The next element of an iterator over a dataset, by the plan of its steps.

        `arguments` are the datasets that stand for arguments of a function in the plan.
        """
        return proceed(plan, arguments)

    def python(self, proceed: Proceed, caller: Any, function: Any, given: Any) -> Any:
        """A call of the program's Python for `caller`, a step of a dataset or a running graph.

        `function` is what is called, perhaps in parts; `given` are the values that go in.
        """
        return proceed(caller, function, given)

    def operation(self, proceed: Proceed, op: Any, inputs: Any, attrs: Any) -> Any:
        """An eager operation, if the observer wants `operations`."""
        return proceed(op, inputs, attrs)


def observed(event: str, proceed: Proceed, *given: Any) -> Any:
    """Lets an event happen inside all observers; the first that subscribed is the outermost."""
    for observer in reversed(tuple(OBSERVERS)):
        if event != "operation" or observer.operations:
            proceed = partial(getattr(observer, event), proceed)
    return proceed(*given)


def subscribe(observer: Observer) -> None:
    """Lets an observer hear of what happens from here on."""
    with _lock:
        OBSERVERS.append(observer)
        watch_operations(any(o.operations for o in OBSERVERS))


def unsubscribe(observer: Observer) -> None:
    """Ends what `subscribe` began, in any order; harmless if it did not."""
    with _lock:
        OBSERVERS[:] = [o for o in OBSERVERS if o is not observer]
        watch_operations(any(o.operations for o in OBSERVERS))


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Subscribes an observer for a block."""
    try:
        subscribe(observer)
        yield
    finally:
        unsubscribe(observer)
