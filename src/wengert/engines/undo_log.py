"""The undo log of a host run: variables that were given values in the middle of it.

Before Python code looks at variables inside a running graph, they get their values so far; if the
run fails later, the log puts the old ones back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from wengert.core.variable import Variable, put_values

R = TypeVar("R")
# Variables with where their values were, by number.
_log: ContextVar[dict[int, tuple[Variable, object, object]] | None] = ContextVar(
    "wengert_undo", default=None
)


def note(variable: Variable) -> None:
    """Remembers what a variable holds, the first time in a run."""
    log = _log.get()
    if log is not None and variable._id not in log:
        log[variable._id] = (variable, variable._host, variable._device)


def undoing(run: Callable[..., R], *given: object) -> R:
    """What `run` returns; if it fails, all variables are put back that it has changed."""
    if _log.get() is not None:
        return run(*given)
    log: dict[int, tuple[Variable, object, object]] = {}
    try:
        _log.set(log)
        return run(*given)
    except BaseException:
        if log:
            put_values(*zip(*log.values(), strict=True))
        raise
    finally:
        _log.set(None)
