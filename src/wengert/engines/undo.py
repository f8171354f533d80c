"""The undo log of a host run: variables that were given values in the middle of it.

Before Python code looks at variables inside a running graph, they get their values so far; if the
run fails later, the log puts the old ones back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_log: ContextVar[dict[int, tuple[Any, Any]] | None] = ContextVar("wengert_undo", default=None)


def note(variable: Any) -> None:
    """Remembers what a variable holds, the first time in a run."""
    log = _log.get()
    if log is not None and variable._id not in log:
        log[variable._id] = (variable, variable._array)


@contextmanager
def logging() -> Iterator[None]:
    """Puts all variables back that a failing run has changed."""
    if _log.get() is not None:
        yield
        return
    log: dict[int, tuple[Any, Any]] = {}
    token = _log.set(log)
    try:
        yield
    except BaseException:
        for variable, old in log.values():
            variable._array = old
        raise
    finally:
        _log.reset(token)
