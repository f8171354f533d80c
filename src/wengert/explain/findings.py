"""Where explanations go while a program runs under the doctor: a list, each finding once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wengert.core.locks import new_lock
from wengert.explain.explanation import Explanation

_MOST = 1000


class Findings:
    """Explanations as they come in, from any thread."""

    def __init__(self, history: Any = None) -> None:
        self.history = history
        self.on_new: Callable[[Explanation], None] | None = None  # called with each that is new
        self._found: dict[Any, Explanation] = {}
        self._lock = new_lock()

    def add(self, explanations: Iterable[Explanation]) -> None:
        """Takes explanations in; the same code at the same place counts once."""
        with self._lock:
            for e in explanations:
                site = e.site
                where = None if site is None else (site.file, site.line, site.column)
                key = e.code, where, e.cause
                if len(self._found) < _MOST and key not in self._found:
                    self._found[key] = e
                    if self.on_new is not None:
                        self.on_new(e)

    def all(self) -> list[Explanation]:
        """What was found, in the order it came."""
        with self._lock:
            return list(self._found.values())


_current: Findings | None = None


def begin(findings: Findings | None) -> Findings | None:
    """Sends explanations to `findings` (nowhere, for `None`); returns where they went before."""
    global _current
    before, _current = _current, findings
    return before


def collecting() -> bool:
    """Whether somebody takes explanations in."""
    return _current is not None


def add(explanations: Iterable[Explanation]) -> None:
    """Hands explanations to whoever collects them."""
    if _current is not None:
        _current.add(explanations)


def history() -> Any:
    """All that happened, where that is written down."""
    return None if _current is None else _current.history
