"""The exceptions, in TensorFlow's hierarchy; each also is the builtin that a caller would catch.

`invalid` and its kin build messages of one form: `name: the rule broken; got ... . The remedy.`
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from wengert.core import sites

if TYPE_CHECKING:
    from wengert.core.sites import RawSite, Site

_E = TypeVar("_E", bound=Exception)

(OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS,
 PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE,
 UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED) = range(17)  # fmt: skip


class OpError(Exception):
    """Something failed while an operation ran."""

    _code = UNKNOWN

    def __init__(
        self,
        node_def: str | None = None,
        op: Any = None,
        message: str = "",
        error_code: int | None = None,
    ) -> None:
        if isinstance(node_def, str) and not message:  # made as any other exception is
            node_def, message = None, node_def
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.message = message
        self.error_code = self._code if error_code is None else error_code
        _inherit(self, sys.exc_info()[1])

    def __init_subclass__(cls, code: int | None = None) -> None:
        cls._code = cls._code if code is None else code

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return type(self), (None, None, self.message)


def _inherit(new: Any, old: Any) -> None:
    """An error made of the words of another one, as Keras does, keeps its line and its code."""
    if not isinstance(old, OpError) or not old.message or old.message not in new.message:
        return
    for name in ("site", "code", "related", "explanation"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    for note in getattr(old, "__notes__", ()):
        new.add_note(note)


class CancelledError(OpError, code=CANCELLED):
    """The operation was cancelled."""


class UnknownError(OpError):
    """An error of no other kind."""


class InvalidArgumentError(OpError, ValueError, code=INVALID_ARGUMENT):
    """An argument breaks a rule of the operation."""


class InvalidTypeError(InvalidArgumentError, TypeError):
    """An argument has the wrong element type."""


class InvalidIndexError(InvalidArgumentError, IndexError):
    """An index lies outside the tensor."""


class DeadlineExceededError(OpError, TimeoutError, code=DEADLINE_EXCEEDED):
    """The time limit passed."""


class NotFoundError(OpError, LookupError, code=NOT_FOUND):
    """A file, key or device does not exist."""


class AlreadyExistsError(OpError, code=ALREADY_EXISTS):
    """What was to be created is there already."""


class PermissionDeniedError(OpError, PermissionError, code=PERMISSION_DENIED):
    """The caller may not do this."""


class ResourceExhaustedError(OpError, MemoryError, code=RESOURCE_EXHAUSTED):
    """There is not enough memory or space."""


class FailedPreconditionError(OpError, RuntimeError, code=FAILED_PRECONDITION):
    """The system is not in the state that the operation needs."""


class AbortedError(OpError, code=ABORTED):
    """The operation was given up."""


class OutOfRangeError(OpError, IndexError, code=OUT_OF_RANGE):
    """A read went past the end."""


class UnimplementedError(OpError, NotImplementedError, code=UNIMPLEMENTED):
    """Wengert does not have this."""


class NotCompiledError(UnimplementedError, InvalidArgumentError):
    """XLA cannot run what `jit_compile=True` demands; TensorFlow calls that an argument."""


class InternalError(OpError, RuntimeError, code=INTERNAL):
    """An invariant of Wengert is broken."""


class UnavailableError(OpError, code=UNAVAILABLE):
    """A service is not there now."""


class DataLossError(OpError, code=DATA_LOSS):
    """A file is damaged."""


class UnauthenticatedError(OpError, code=UNAUTHENTICATED):
    """The caller has no valid credentials."""


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked for the truth or the rows of a tensor that has no value yet."""


class StructureError(TypeError, ValueError):
    """Two structures that must be the same are not; TensorFlow raises one or the other."""


def say(name: str, rule: str, *got: Any, help: str = "") -> str:
    """Renders `name: rule; got a and b. help`, with tensors shown as `float32[2,3]`."""
    text = f"{name}: {rule}"
    if got:
        text += f"; got {' and '.join(map(describe, got))}"
    return f"{text}. {help}".strip()


def invalid(
    name: str, rule: str, *got: Any, help: str = "", kind: type[_E] = InvalidArgumentError
) -> _E:
    """An error about an argument, carrying the user's line as a note."""
    return at_site(kind(say(name, rule, *got, help=help)))


def invalid_dtype(name: str, rule: str, *got: Any, help: str = "") -> OpError:
    """An error about an element type."""
    return invalid(name, rule, *got, help=help, kind=InvalidTypeError)


def require(
    holds: Any,
    name: str,
    rule: str | Callable[[], str],
    *got: Any,
    help: str = "",
    kind: type[Exception] = InvalidArgumentError,
) -> None:
    """Raises the error of `invalid` unless an argument keeps the rule.

    The rule is a function that returns its text where the text is costly, or fails for good
    arguments."""
    if not holds:
        text = rule if isinstance(rule, str) else rule()
        raise invalid(name, text, *got, help=help, kind=kind)


def require_dtype(
    holds: Any, name: str, rule: str | Callable[[], str], *got: Any, help: str = ""
) -> None:
    """Raises the error of `invalid_dtype` unless an argument keeps the rule about its dtype."""
    if not holds:
        require(False, name, rule, *got, help=help, kind=InvalidTypeError)


def lower_first(error: Exception) -> str:
    """NumPy's own words, fit to stand behind the name of an operation."""
    text = str(error).removeprefix("RESOURCE_EXHAUSTED: ").rstrip(".")
    if not text:
        text = "not enough memory" if isinstance(error, MemoryError) else type(error).__name__
    return text[0].lower() + text[1:]


_TOO_LARGE = ("array is too big", "iterator is too large", "broadcast dimensions too large")


def finds_no_room(error: Exception) -> bool:
    """Whether NumPy or XLA found no memory for an array, or cannot count its bytes."""
    if isinstance(error, MemoryError) or str(error).startswith("RESOURCE_EXHAUSTED"):
        return True
    return lower_first(error).startswith(_TOO_LARGE)


def shown_bytes(size: int) -> str:
    """A number of bytes with its unit."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):.3g} {unit}"
    return f"{size} bytes"


def exhausted(name: str, error: Exception, *got: Any, site: Any = None) -> Any:
    """The error of what found no memory, for NumPy's `MemoryError`, which says how much."""
    if isinstance(error, ResourceExhaustedError):
        return error
    help = "Make it smaller, or work on parts of it."
    text = say(name, lower_first(error), *got, help=help)
    return at_site(ResourceExhaustedError(None, None, text), site)


def at_site(error: Any, site: RawSite | Site | None = None) -> Any:
    """Adds the user's line to an error as a note: that of `site`, or of the caller."""
    where = sites.locate(sites.caller() if site is None else site)
    if where is not None:
        error.site = where
        error.add_note(f"  --> {where}")
    return error


def valueless(error: Any) -> Any:
    """Marks an error: it wants what is known only when the traced function runs."""
    error.is_valueless = True
    return error


def coded(error: Any, code: str, *related: Any) -> Any:
    """Gives an error the user's line, and the code under which it is explained.

    `related` are the raw sites of what led to it.
    """
    if not hasattr(error, "site"):
        at_site(error)
    error.code = code
    error.related = related
    error.add_note(f"  more: wengert explain {code}")
    return error


def shown(value: Any) -> str:
    """The repr of a value, however deep it is nested."""
    try:
        return repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deep to be shown"


def unexpected(name: str, wanted: str, value: Any) -> TypeError:
    """The error for an argument of a kind that the function does not take."""
    return at_site(TypeError(f"{name}: {wanted} was expected; got {describe(value)}."))


def describe(value: Any) -> str:
    """Shows a tensor as `float32[2,3]` and anything else by its repr, shortened."""
    shape = getattr(value, "shape", None)
    dtype = getattr(value, "dtype", None)
    if dtype is None or not hasattr(value, "shape") or isinstance(value, type | ModuleType):
        text = value if isinstance(value, str) else shown(value)
        return text if len(text) <= 80 else text[:77] + "..."
    try:
        dims = "..." if shape is None else ",".join("?" if d is None else str(d) for d in shape)
    except ValueError:
        dims = "..."
    return f"{getattr(dtype, 'name', dtype)}[{dims}]"
