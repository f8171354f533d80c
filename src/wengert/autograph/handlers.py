"""Handlers of exceptions, which are chosen while tracing.

Both sides of a branch are traced, and the body of a loop once. An exception that leaves one of them
is raised for some values of a tensor only, but a handler outside would run for all of them. So
`inside` marks such exceptions; a handler in converted code calls `caught` before its own
statements, as does a `finally` that jumps, and a `with` that may suppress exceptions is followed
by `swallowed`. Both raise where the code would be wrong for other values.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

from wengert.autograph.name_analysis import FUNCTIONS, effects, walk
from wengert.autograph.retrace import Learn, hangs_on_tensor, mark_hanging
from wengert.core import sites
from wengert.core.errors import at_site
from wengert.core.failures import failures

# Code with frames of its own that belongs to the function around it.
_INNER = frozenset({"<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"})


class Guarded(NamedTuple):
    """The lines that a `try` guards, and the types that it catches; `None` is everything."""

    lines: frozenset[int]
    types: tuple[CodeType | None, ...]


def guarded(function: ast.AST) -> list[Guarded]:
    """The lines that the `try` statements of a function and of its inner functions guard."""
    results: list[Guarded] = []
    for node in walk(function):
        if isinstance(node, ast.Try | ast.TryStar):
            types = [
                h.type and compile(ast.Expression(h.type), "<handler>", "eval")
                for h in node.handlers
            ]
            results.append(Guarded(_lines(node.body), tuple(types)))
            if effects(node.finalbody).jumps:
                handled = [s for h in node.handlers for s in h.body]
                results.append(Guarded(_lines([*node.body, *handled, *node.orelse]), (None,)))
    return results


def _lines(body: Sequence[ast.stmt]) -> frozenset[int]:
    """The lines of statements, without those of functions inside them."""
    names: set[int] = set()
    for statement in body:
        names.update(_span([statement]))
        for inner in walk(statement):
            if isinstance(inner, FUNCTIONS) and not isinstance(inner, ast.Lambda):
                names.difference_update(_span(inner.body))
    return frozenset(names)


def _span(body: Sequence[ast.stmt]) -> range:
    return range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1)


def is_handled(error: BaseException, known: Callable[[CodeType], Sequence[Guarded]]) -> bool:
    """Whether a handler of the converted code that is running would catch an exception."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name not in _INNER:
            for one in known(frame.f_code):
                if frame.f_lineno in one.lines and _catches(one.types, error, frame):
                    return True
        frame = frame.f_back
    return False


def _catches(types: Sequence[CodeType | None], error: BaseException, frame: FrameType) -> bool:
    for one in types:
        try:
            if one is None or isinstance(error, eval(one, frame.f_globals, frame.f_locals)):
                return True
        except failures():
            return True  # which types they are is not known here, so it may
    return False


def caught() -> None:
    """Raises if the exception that is being handled hangs on a tensor, or is none of the user's."""
    _must_hold_for_all("except", sys.exception())


def _must_hold_for_all(kind: str, error: BaseException | None) -> None:
    if isinstance(error, Learn):
        raise error
    if error is not None and hangs_on_tensor(error):
        raise _refused(kind, error) from error


def pending() -> BaseException | None:
    """The exception that waits for the end of a `finally`; `caught` would raise for it."""
    caught()
    return sys.exception()


class Passing:
    """Sees the exception that reaches a context manager around it."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> Passing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.error = error


def swallowed(passing: Passing) -> None:
    """Raises if a context manager has swallowed an exception that hangs on a tensor."""
    _must_hold_for_all("with", passing.error)


def _refused(kind: str, error: BaseException) -> RuntimeError:
    where = sites.locate(sites.raised_at(error))
    line = "" if where is None else f" at line {where.line}"
    refused = at_site(
        RuntimeError(
            f"{kind}: whether {type(error).__name__} is raised{line} depends on a tensor, but what "
            f"handles an exception is decided while tracing, for all values at once. Write the "
            f"condition as an `if` whose branches do what the handler does, or let the exception "
            f"leave the function."
        )
    )
    mark_hanging(refused)
    return refused
