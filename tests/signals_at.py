"""Raises a signal at a chosen instruction of Wengert's own code.

CPython calls handlers where a function begins, where a call has returned and where a loop turns.
`interrupt_main` leaves a signal pending, and unpacking a `map` is no such place. So it is handled
at the next one in the traced code, as a signal from outside would be.
"""

from __future__ import annotations

import _thread
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import wengert

_HERE = wengert.__path__[0]
Place = tuple[CodeType, int]


class Stop(Exception):
    """What the handler raises."""


def _traced(
    action: Callable[[], object], at: Callable[[Place], bool], number: signal.Signals
) -> None:
    places = (number,)

    def local(frame: Any, event: str, arg: Any) -> Any:
        if event == "opcode" and at((frame.f_code, frame.f_lasti)):
            sys.settrace(None)  # the function that traces is Python, too
            [*map(_thread.interrupt_main, places)]
            return None
        return local

    def begin(frame: Any, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_HERE):
            return None
        frame.f_trace = local  # Python 3.13 takes the wish only of a frame that has a function
        frame.f_trace_opcodes = True
        return local

    before = sys.gettrace()
    # Python 3.12 looks, when tracing begins, whether any frame has asked for instructions.
    sys._getframe().f_trace_opcodes = True
    try:
        sys.settrace(begin)
        action()
    finally:
        sys.settrace(before)


def places_of(action: Callable[[], object]) -> list[Place]:
    """The instructions of Wengert that an action runs, in the order of their first time."""
    found: dict[Place, None] = {}

    def note(place: Place) -> bool:
        found[place] = None
        return False

    _traced(action, note, signal.SIGINT)
    return [*found]


def stopped_at(action: Callable[[], object], place: Place, number: signal.Signals) -> bool:
    """Runs an action, raises the signal at a place for the first time; whether the handler raised."""
    left = [place]

    def reached(here: Place) -> bool:
        if left and here == place:
            left.clear()
            return True
        return False

    try:
        _traced(action, reached, number)
    except (Stop, wengert.errors.UnknownError):  # the latter where Python called by a step got it
        return True
    return False


@contextmanager
def raising(number: signal.Signals) -> Iterator[list[str]]:
    """A handler for a signal that raises `Stop`; gives the names of the functions where it did."""
    names: list[str] = []

    def stop(number: int, frame: Any) -> None:
        names.append(frame.f_code.co_name)
        raise Stop

    before = signal.signal(number, stop)
    try:
        yield names
    finally:
        signal.signal(number, before)
