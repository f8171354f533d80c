"""Locks: how they are made, taken, lent while Python runs inside a step, and renewed after a fork.

CPython calls the handler of a signal, which may raise, where a function begins, where a call has
returned and where a loop turns. Between `lock.acquire()` and a `try` that follows it there is such
a place; between a C function and C code that calls it there is none. So one lock is held by `with`,
whose methods are C functions, and several by `while_holding`. All of them may be taken again by the
thread that has them, since a handler or a finalizer runs anywhere in it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import compress, repeat
from operator import methodcaller
from threading import RLock
from typing import TypeVar

from wengert.core.errors import FailedPreconditionError, at_site
from wengert.core.sites import find, locate

R = TypeVar("R")

_KIND = type(RLock())
_acquire, _release = _KIND.acquire, _KIND.release
_at_once = repeat(False)
_briefly = methodcaller("acquire", True, 0.02)
_renew: Callable[[RLock], None] = methodcaller("_at_fork_reinit")  # as `threading` does
_PATIENCE = 20.0  # seconds for which a thread waits for one that waits itself
_FORK_PATIENCE = 1.0  # seconds for which a fork waits for other threads

# Whether this is Python that a running step has called.
CALLED_BACK: ContextVar[bool] = ContextVar("wengert_called_back", default=False)

_all: set[weakref.ref[RLock]] = set()


def new_lock() -> RLock:
    """A lock that a forked child finds free."""
    lock = RLock()
    _all.add(weakref.ref(lock, _all.discard))
    return lock


# Python that running steps have called, and what the step of each thread holds.
HOST_CALLS: set[HostCall] = set()
_held: dict[int, tuple[RLock, ...]] = {}


class HostCall:
    """A call of Python by a step, which lends its locks meanwhile to what happens alongside."""

    def __init__(self, locks: tuple[RLock, ...]) -> None:
        self.locks, self.thread = locks, threading.get_ident()
        self.lock = new_lock()  # of those who use them; the step goes on after they have

    def waiting(self) -> tuple[int, int] | None:
        """Where its thread waits for another (a thread, an event, a queue), if it does."""
        frame = sys._current_frames().get(self.thread)
        if frame is None or frame.f_code.co_filename != threading.__file__:
            return None
        return id(frame), frame.f_lasti


def lending(python: Callable[..., R], *given: object) -> R:
    """Calls Python from a running step, and lends the step's locks to other threads meanwhile.

    Python may wait for those threads, which would otherwise wait for the step.
    """
    held = _held.get(threading.get_ident())
    if held is None:  # a thread of XLA's; which step it works for is not known
        held = tuple([lock for locks in [*_held.values()] for lock in locks])
    call, before = HostCall(held), CALLED_BACK.get()
    try:
        CALLED_BACK.set(True)
        HOST_CALLS.add(call)
        return python(*given)
    finally:
        try:
            CALLED_BACK.set(before)
        finally:
            HOST_CALLS.discard(call)
            with call.lock:
                pass


# Whether an action waits for the end of Python that a step called, or happens alongside it.
ALONE, ALONGSIDE = False, True


def while_holding(
    locks: Sequence[RLock], alongside: bool, action: Callable[..., R], *given: object
) -> R:
    """Calls `action` with locks taken, and gives back exactly those that were got.

    `locks` come in one order from all callers. `taken` and the iterator over it are filled and
    emptied by C code alone, so whatever is raised in between finds them true. An action that may
    happen `alongside` Python called by a step (a read, an eager update) does not wait for its end.
    """
    taken: list[RLock] = []
    released = map(_release, taken)
    try:
        taken.extend(compress(locks, map(_acquire, locks, _at_once)))
        if len(taken) == len(locks):
            return action(*given)
    finally:
        [*released]  # noqa: B018  # a call of `list` could be interrupted before it begins
    return _after_waiting(locks, alongside, action, given)


def in_step(locks: Sequence[RLock], action: Callable[..., R], *given: object) -> R:
    """`while_holding` for a step that may call Python, which `lending` then knows of."""
    thread = threading.get_ident()

    def step() -> R:
        before = _held.get(thread, ())
        try:
            _held[thread] = (*before, *locks)
            return action(*given)
        finally:
            if before:
                _held[thread] = before
            else:
                _held.pop(thread, None)

    return while_holding(locks, ALONE, step)


def _after_waiting(
    locks: Sequence[RLock], alongside: bool, action: Callable[..., R], given: tuple[object, ...]
) -> R:
    taken: list[RLock] = []
    released = map(_release, taken)
    try:
        for lock in locks:
            seen, since = None, time.monotonic()
            while True:
                count = len(taken)
                taken.extend(filter(_briefly, (lock,)))
                if len(taken) > count:
                    break
                call = next((c for c in [*HOST_CALLS] if lock in c.locks), None)
                if call is None:
                    seen = None
                elif alongside:
                    taken.extend(filter(_acquire, (call.lock,)))
                    if call in HOST_CALLS:
                        break
                elif (position := call.waiting()) is None or position != seen:
                    seen, since = position, time.monotonic()
                elif time.monotonic() - since > _PATIENCE:
                    raise _stuck(call)
        return action(*given)
    finally:
        [*released]  # noqa: B018


def _stuck(call: HostCall) -> Exception:
    frame = sys._current_frames().get(call.thread)
    where = None if frame is None else locate(find(frame))
    return at_site(
        FailedPreconditionError(
            None,
            None,
            f"variables: a running function that changes them waits in Python that it called"
            f"{f', at {where}' if where else ''}; got no turn for {_PATIENCE:g} s. If that Python "
            f"waits for this thread, neither can go on: there, wait only for threads that read.",
        )
    )


# Forks. The child has one thread; what others were changing nobody there would ever finish.

_at_fork: list[RLock] = []


def _before_fork() -> None:
    """Takes all locks, so that the child finds nothing half changed; a step that lasts is left."""
    until = time.monotonic() + _FORK_PATIENCE
    while True:
        locks = [lock for lock in [ref() for ref in [*_all]] if lock is not None]
        _at_fork.extend(compress(locks, map(_acquire, locks, _at_once)))
        left = until - time.monotonic()
        if len(_at_fork) == len(locks) or left <= 0:
            return
        free = {id(lock) for lock in _at_fork}
        _give_back()
        busy = next(lock for lock in locks if id(lock) not in free)
        # Taken and given back by C code alone, so that no handler of a signal comes in between.
        [*map(_release, filter(methodcaller("acquire", True, left), (busy,)))]


def _give_back() -> None:
    [*map(_release, _at_fork)]
    _at_fork.clear()


def _after_fork_in_child() -> None:
    free = {id(lock) for lock in _at_fork}
    _give_back()
    for ref in [*_all]:
        lock = ref()
        if lock is not None and id(lock) not in free:
            _renew(lock)
    HOST_CALLS.clear()
    mine = threading.get_ident()
    for thread in [*_held]:
        if thread != mine:
            del _held[thread]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_give_back,
        after_in_child=_after_fork_in_child,
    )
