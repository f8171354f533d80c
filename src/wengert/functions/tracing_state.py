"""What tracing shares across functions: running eagerly, recursion, conversion."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from wengert.core.context import Scoped, Setting, own_variable
from wengert.core.errors import at_site
from wengert.core.hooks import Hook
from wengert.core.process_settings import PROCESS
from wengert.core.types import RawSite

if TYPE_CHECKING:
    from wengert.functions.function_options import Options


# What else than its arguments tells the traces of a function apart; `None` where nothing does.
CONTEXT: Scoped[Any] = Scoped("wengert_trace_context", None)
_DEEPEST = 100
_depth: ContextVar[int] = own_variable("wengert_trace_depth", 0)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes all functions run as plain Python from here on, for looking inside; or not.

    Args:
        run_eagerly: whether to.

    Returns:
        Nothing.

    Raises:
        Nothing: any value counts as its truth.

    >>> tf.config.run_functions_eagerly(True)
    >>> tf.config.functions_run_eagerly()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    PROCESS.runs_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions run as plain Python."""
    return PROCESS.runs_eagerly


def enter_context(block: object, context: Any) -> None:
    """Begins a block whose traces are made for a context."""
    PROCESS.calls_in_full = True
    CONTEXT.enter(block, context)


def is_special() -> bool:
    """Whether something else than the arguments of a call here decides what it runs."""
    return PROCESS.runs_eagerly or CONTEXT.get() is not None


def entering(options: Options, site: RawSite | None) -> Setting[int, None]:
    """A block that guards against functions that trace themselves without end."""
    depth = _depth.get()
    if depth >= _DEEPEST:
        raise at_site(
            RecursionError(
                f"function {options.name!r}: {depth} traces are inside each other. A function that "
                f"calls itself must end by Python values, which change from call to call."
            ),
            site,
        )
    return Setting(_depth, depth + 1)


# The function with its control flow on tensors rewritten, and if it is not, the reason.
CONVERT: Hook[Callable[[Callable[..., Any]], tuple[Callable[..., Any], str | None]]] = Hook(
    "convert", "wengert.autograph.conversion"
)


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its control flow on tensors rewritten."""
    return CONVERT.call(function)[0]


def why_not_converted(function: Callable[..., Any]) -> str | None:
    """The reason why control flow on tensors stays Python's, or `None`."""
    return CONVERT.call(function)[1]
