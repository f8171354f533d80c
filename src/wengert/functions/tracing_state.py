"""What tracing shares across functions: running eagerly, recursion, conversion, the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, NamedTuple

from wengert.core.errors import at_site, describe

EAGERLY = [False]
# Set by `explain`: called with (function, trace, note) after every trace.
after_trace: Callable[..., None] | None = None

_DEEPEST = 100
_depth: ContextVar[int] = ContextVar("wengert_trace_depth", default=0)


class Note(NamedTuple):
    """One line of a function's ledger of traces."""

    site: Any
    key: Any
    specs: list[Any]
    seconds: float
    pairs: Any
    named: Any


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes all functions run as plain Python from here on, for looking inside; or not."""
    EAGERLY[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions run as plain Python."""
    return EAGERLY[0]


@contextmanager
def entering(options: Any, site: Any) -> Iterator[None]:
    """Guards against functions that trace themselves without end."""
    depth = _depth.get()
    if depth >= _DEEPEST:
        raise at_site(
            RecursionError(
                f"function {options.name!r}: {depth} traces are inside each other. A function that "
                f"calls itself must end by Python values, which change from call to call."
            ),
            site,
        )
    token = _depth.set(depth + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its control flow on tensors rewritten."""
    # The room above this one, which knows syntax trees; asked for by name, at the first trace.
    rewrite = getattr(import_module("wengert.autograph"), "convert", None)
    if not callable(rewrite):
        return function
    return rewrite(function)[0]


def too_many(name: str, most: int, ledger: list[Note], pairs: Any, named: Any) -> Exception:
    """The error for one trace more than allowed, with what differed."""
    changes = difference(ledger[-1], pairs, named) if ledger else []
    text = "; ".join(changes) or "the kinds of the arguments differ"
    return RuntimeError(
        f"function {name!r}: it may be traced {most} times (`max_traces`), and this call needs "
        f"another trace: {text}. Pass tensors instead of Python values that vary, or fix "
        f"`input_signature` with None for sizes that vary."
    )


def difference(note: Note, pairs: Any, named: Any) -> list[str]:
    """Which arguments differ from those of an earlier trace."""
    old = dict([*note.pairs, *note.named.items()])
    found = []
    for path, value in [*pairs, *named.items()]:
        before = old.get(path)
        if describe(before) != describe(value):
            found.append(f"`{path}` was {describe(before)}, now {describe(value)}")
    return found
