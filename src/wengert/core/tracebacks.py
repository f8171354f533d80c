"""What Python, IPython and pytest show of an error: the program's frames, not those of libraries.

Frames of Wengert, JAX and Keras are left out, and frames of NumPy and the standard library that
those have called. Errors themselves stay as they are: what is shown is cut while it is shown, by
the hooks that Python and IPython have for that, which are chained to those found there. An error
that none of our frames is part of is shown as it always was. `PROCESS.filters_tracebacks` switches
this off."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from wengert.core.errors import unexpected
from wengert.core.process_settings import PROCESS
from wengert.core.sites import ipython
from wengert.core.user_code import is_ours, is_user

if TYPE_CHECKING:
    pass


Frames = list[TracebackType]
_log = logging.getLogger("wengert")


def trimmed(tb: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of libraries; itself, if there is nothing to leave out."""
    every = _steps(tb)
    kept = list(_shown(every))
    return tb if len(kept) == len(every) else _joined(kept)


def _steps(tb: TracebackType | None) -> Frames:
    steps = []
    while tb is not None:
        steps.append(tb)
        tb = tb.tb_next
    return steps


def _shown(steps: Frames) -> Iterator[TracebackType]:
    """The steps through the program, and through other libraries that it has called itself.

    Converted control flow is code of its own at the line of the program; that is shown once.
    """
    inside = False
    last: Any = None, None
    for step in steps:
        code = step.tb_frame.f_code
        inside = is_ours(code.co_filename) or (inside and not is_user(code.co_filename))
        if inside:
            continue
        place = code.co_filename, code.co_name, step.tb_lineno
        if last[0] != place or last[1] is code:
            yield step
        last = place, code


def _joined(steps: Frames) -> TracebackType | None:
    result = None
    for step in reversed(steps):
        result = TracebackType(result, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return result


def _family(error: BaseException) -> list[BaseException]:
    """An error with its causes, contexts and the members of groups, each once."""
    family: dict[int, BaseException] = {}
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in family:
            family[id(one)] = one
            waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return list(family.values())


def trim(error: BaseException) -> Callable[[], None]:
    """Cuts the tracebacks of an error and of those it came from; returns what undoes it.

    Those that the program had no part in, such as NumPy's words for what we say in ours, are left
    out. An error that none of the program's frames has seen keeps its traceback.
    """
    family = _family(error)
    before = [(e, e.__traceback__, e.__cause__, e.__context__, e.__suppress_context__)
              for e in family]  # fmt: skip
    cut = {id(e): trimmed(e.__traceback__) for e in family}
    inner = {id(e) for e in family if e.__traceback__ is not None and cut[id(e)] is None}
    for e in family:
        if e is not error or id(e) not in inner:
            e.__traceback__ = cut[id(e)]
        suppressed = e.__suppress_context__
        e.__cause__, e.__context__ = _outside(e.__cause__, inner), _outside(e.__context__, inner)
        e.__suppress_context__ = suppressed

    def undo() -> None:
        for e, tb, cause, context, suppressed in before:
            e.__traceback__, e.__cause__, e.__context__ = tb, cause, context
            e.__suppress_context__ = suppressed

    return undo


def _outside(error: BaseException | None, inner: set[int]) -> BaseException | None:
    """The error, or the first it came from that the program has seen."""
    passed: set[int] = set()
    while error is not None and id(error) in inner and id(error) not in passed:
        passed.add(id(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return None if error is None or id(error) in inner else error


@contextmanager
def shown(error: BaseException | None) -> Iterator[bool]:
    """A block in which an error has the traceback that a user wants to see, if that is cut."""
    undo = None if error is None else _prepared(error)
    try:
        yield undo is not None
    finally:
        if undo is not None:
            undo()


def format_exception(error: BaseException) -> str:
    """An error that the program has caught as text, as Python shows it where nobody catches it.

    With the frames of the program only, and what helps (the nearest spelling of a wrong name). For
    logs: `traceback` and `logging` print all frames, since the exception itself keeps them.

    Args:
        error: the exception.

    Returns:
        The lines that begin with `Traceback`, as one string without a last line end.

    Raises:
        TypeError: `error` is no exception.

    >>> try:
    ...     tf.one_hot([1], dept=3)
    ... except TypeError as error:
    ...     "depth" in tf.explain.format_exception(error)
    True
    """
    if not isinstance(error, BaseException):
        raise unexpected("format_exception", "an exception", error)
    with shown(error):
        return "".join(traceback.format_exception(error)).rstrip("\n")


def _prepared(error: BaseException) -> Callable[[], None] | None:
    """Cuts an error and adds to it what helps; it is shown as it is where that fails."""
    try:
        _suggest(error)
        if PROCESS.filters_tracebacks:
            _name_the_ways(error)
            return trim(error)
    except Exception:
        _log.debug("An error could not be cut to the program's frames.", exc_info=True)
    return None


_WAYS = (
    "  Wengert takes TensorFlow's place once it is asked to: write `import wengert as tf`, or "
    "`import wengert.keras` before this line; run a script as it is with `wengert run`, and tests "
    "with `wengert_tensorflow = true` among pytest's settings."
)


def _name_the_ways(error: BaseException) -> None:
    """Says how a program that asks for TensorFlow gets Wengert."""
    is_missing = isinstance(error, ModuleNotFoundError) and error.name == "tensorflow"
    if is_missing and "tensorflow" not in sys.modules and not hasattr(error, "__notes__"):
        error.add_note(_WAYS)


def _suggest(error: BaseException) -> None:
    """Names what is spelt alike, where a misspelt name has caused the error."""
    if isinstance(error, TypeError | ValueError | ImportError | AttributeError):
        from wengert.core.suggestions import suggest

        suggest(error)


def install() -> None:
    """Lets the hooks that show errors show them cut; those that were there are called by ours."""
    _in_python(sys.excepthook)
    _in_threads(threading.excepthook)
    shell = ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _in_ipython)


def _in_python(before: Any) -> None:
    def excepthook(kind: Any, error: BaseException, tb: TracebackType | None) -> None:
        with shown(error):
            before(kind, error, error.__traceback__ if PROCESS.filters_tracebacks else tb)

    sys.excepthook = excepthook


def _in_threads(before: Any) -> None:
    def excepthook(args: Any) -> None:
        error = args.exc_value
        with shown(error):
            tb = args.exc_traceback if error is None else error.__traceback__
            before(threading.ExceptHookArgs((args.exc_type, error, tb, args.thread)))

    threading.excepthook = excepthook


def _in_ipython(
    shell: Any, kind: Any, error: BaseException, tb: Any, tb_offset: int | None = None
) -> None:
    with shown(error):
        given = (kind, error, error.__traceback__)
        shell.showtraceback(given, tb_offset=tb_offset, running_compiled_code=True)


install()
