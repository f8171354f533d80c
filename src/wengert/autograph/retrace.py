"""Retracing: hints about the state of a branch or loop, and the loop that traces until they hold.

A loop is traced with a guess of the types of its variables. If the guess proves wrong (an integer
becomes a float, a list grows, a shape changes), `Learn` aborts the trace with hints, and it starts
again. The hints are kept with the construct for later traces.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from wengert.core.context import Setting, own_variable
from wengert.core.dtypes import DType
from wengert.core.errors import require
from wengert.core.failures import failures
from wengert.graph.builder import Builder, building
from wengert.tape.abandoned_traces import attempt

# A wrong guess teaches one thing at least; more than this many would be a fault of ours.
_MOST_TRIES = 20
# The kinds of values that earlier traces met; a loop sees few.
_MOST_KEPT = 64
# Branches are traced on both sides, so recursion on a tensor would never end.
_DEEPEST = 60


class Owner:
    """Identifies one attempt to trace, so that an outer one does not catch its `Learn`."""


class Learn(BaseException):
    """Aborts a trace; not an `Exception`, since user code must not catch it."""

    def __init__(self, owner: Owner, hints: dict[Any, Any]) -> None:
        super().__init__()
        self.owner = owner
        self.hints = hints


@dataclass(frozen=True)
class AsTensor:
    """Hint: carry this number as a tensor of this dtype and shape."""

    dtype: DType | None = None
    shape: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Read:
    """Hint: read this `tf.Variable`, which a branch assigns to a name that holds a tensor."""


@dataclass(frozen=True)
class Wider:
    """Hint: relax the shape of this tensor to the sizes that stay the same.

    `told` says that they are the program's `shape_invariants`, which every turn has to keep.
    """

    shape: tuple[int | None, ...] | None
    told: bool = False


@dataclass(frozen=True)
class StandIn:
    """Hint: this symbol is undefined at first; start it from zeros of these specs."""

    needed: Any


@dataclass(frozen=True)
class FirstTurn:
    """Hint: this symbol is `None` at first; peel the first iteration off."""


@dataclass(frozen=True)
class Growing:
    """Hint: this list grows; carry it as arrays of elements with these specs."""

    element: Any


@dataclass(frozen=True)
class AsList:
    """Hint: the body reads this list or appends only sometimes; carry it as a list."""


@dataclass(frozen=True)
class Rotated:
    """Hint: the condition has side effects; evaluate it once at the end of each iteration."""


Hints = dict[Any, Any]


def retrying(learned: dict[Any, Any], key: Any, run: Callable[[Hints, Owner], None]) -> None:
    """Runs `run(hints, owner)` until it needs to learn nothing more."""
    if key in learned:
        try:
            with attempt():
                run(learned[key], Owner())
        except (Learn, Exception):
            # What another trace learned does not hold here.
            del learned[key]
        else:
            return
    hints = _learning(run)
    if hints:
        if len(learned) >= _MOST_KEPT:
            learned.clear()
        learned[key] = hints


def _learning(run: Callable[[Hints, Owner], None]) -> Hints:
    hints: Hints = {}
    for _ in range(_MOST_TRIES):
        owner = Owner()
        try:
            with attempt():
                run(hints, owner)
        except Learn as lesson:
            if lesson.owner is not owner:
                raise
            new = {k: v for k, v in lesson.hints.items() if k not in hints or hints[k] != v}
            if not new:
                raise AssertionError(f"nothing new is learned from {lesson.hints}") from None
            hints = hints | new
        else:
            return hints
    raise AssertionError("a trace keeps learning")


_depth: ContextVar[int] = own_variable("wengert_autograph_depth", 0)
_MEANT = "_wengert_meant"
_HANGING = "_wengert_hanging"


class inside(Setting[int, None]):
    """A block in which user code is traced under a condition."""

    def __init__(self) -> None:
        depth = _depth.get() + 1
        require(
            depth <= _DEEPEST,
            "if",
            f"{_DEEPEST} conditions on tensors are inside each other",
            help="A function that calls itself must end by Python values; on tensors, write a loop.",
            kind=RecursionError,
        )
        super().__init__(_depth, depth)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        super().__exit__(kind)
        if isinstance(error[0], failures()):
            mark_hanging(error[0])


def conditional() -> bool:
    """Whether user code is being traced under a condition."""
    return _depth.get() > 0


def raising(error: Any) -> Any:
    """Marks an exception that the user raises under a condition, to be raised at run time."""
    if not conditional():
        return error
    if isinstance(error, type) and issubclass(error, BaseException):
        error = error()
    if isinstance(error, BaseException):
        vars(error)[_MEANT] = True
    return error


def was_meant(error: BaseException) -> bool:
    """Whether an exception comes from a `raise` of the user's, or from a list that is too short.

    A list may be longer when a turn that the trace does not know of comes to it.
    """
    return _MEANT in vars(error) or str(error) in _TOO_SHORT


def mark_hanging(error: BaseException) -> None:
    """Marks an exception that the graph being built raises for some values of a tensor only."""
    here = building()
    if here is not None:
        vars(error)[_HANGING] = weakref.ref(here)


def hangs_on_tensor(error: BaseException) -> bool:
    """Whether an exception was raised in a part of the graph being built that may not run.

    So was one of a group of them, and one that took its place in a `finally`: it is the context.
    """
    if isinstance(error, BaseExceptionGroup) and any(map(hangs_on_tensor, error.exceptions)):
        return True
    noted = vars(error).get(_HANGING)
    graph: Builder | None = None if noted is None else noted()
    here = building()
    while graph is not None and here is not None:
        if graph is here:
            return True
        graph = graph.parent
    return error.__context__ is not None and hangs_on_tensor(error.__context__)


_TOO_SHORT = ("pop from empty list", "pop index out of range", "list index out of range")
