"""What a tape remembers so that a gradient that is `None` can be explained.

Events (opened, closed, watched, ...) and cuts (operations that no gradient passes) are noted as
they happen, each with its moment on the id clock; both are rare. What an ordinary entry says is
copied, without its tensors, only when an explanation may be wanted: `gradient` does so the first
time it is called from a line, before it frees its entries. The explaining itself is done
elsewhere: `explain` fills the hooks of this module and is imported when they are first called.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from wengert.core import dtypes
from wengert.core.context import executing_eagerly
from wengert.core.hooks import Hook
from wengert.core.types import Op, RawSite, Tensor, Value
from wengert.tape.arguments import ERROR, ZERO, UnconnectedGradients
from wengert.tape.entries import full_form

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape


OPENED, CLOSED, STOPPED, RESUMED, RESET, WATCHED = range(6)
MOST = 10_000  # call sites remembered, and steps kept of what a tape forgot


class Event(NamedTuple):
    """Something that happened to a tape at a moment of the id clock; `about` is a tensor's id."""

    clock: int
    kind: int
    site: RawSite | None
    about: int = 0


class Step(NamedTuple):
    """An operation and the ids of its tensors.

    It keeps no tensor alive: an operation that was made for one call, as for a rule of the user's,
    is there by the `name` and the name of the user's function alone. `passes` says for each input
    whether gradients may; `whole` that the result is not a float. `kind` is empty for an operation,
    or says how else a value was carried from input to output.
    """

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    passes: tuple[bool, ...]
    site: RawSite | None
    whole: bool = False
    thread: int = 0  # 0 for what the tape itself noted
    kind: str = ""
    discrete: bool = False  # whether the result is known not to be a float, gradient or not
    op: Op | None = None
    user: str = ""  # the function whose gradient rule is the user's


def step_of(
    op: Op, inputs: tuple[int, ...], outputs: tuple[int, ...], site: RawSite | None,
    discrete: bool = False, **rest: Any,
) -> Step:  # fmt: skip
    """The step that an operation took; `discrete` if its result is known not to be a float."""
    return Step(
        op.name, inputs, outputs, passes(op, len(inputs)), site,
        whole=discrete and op.gradient is not None, discrete=discrete,
        op=None if op.user else op, user=op.user, **rest,
    )  # fmt: skip


class Evidence(NamedTuple):
    """What a tape knew at one moment."""

    events: tuple[Event, ...]
    steps: tuple[Step, ...]
    tracked: set[int]
    thread: int
    watches_variables: bool
    sites: dict[int, RawSite]
    missing: frozenset[int] = frozenset()  # the sources that got no gradient


class Taking:
    """When evidence is taken."""

    always = False  # at every call
    written_down = False  # whether somebody writes ordinary operations down anyway


# Who explains: why there was no gradient, in a log or as a report, and what a tape keeps alive.
UNCONNECTED: Hook[Callable[..., None]] = Hook("unconnected", "wengert.explain.unconnected")
EXPLAIN: Hook[Callable[..., Any]] = Hook("explain", "wengert.explain.unconnected")
MEMORY_REPORT: Hook[Callable[..., Any]] = Hook("memory_report", "wengert.explain.unconnected")


# Lines from which `gradient` was called: True where all was well, False where it was explained.
# The code object is kept beside, so that its number is not given to another.
SEEN: dict[tuple[int, int], tuple[bool, Any]] = {}


# The latest gradients that were asked for: the clock before and after, and where. What a backward
# loop makes has the sites of the operations it differentiates.
ASKED: deque[tuple[int, int, RawSite | None]] = deque(maxlen=32)


def asked_at(number: int) -> RawSite | None:
    """Where the gradient was asked for whose computing made this tensor, if one did."""
    results = [(end - start, site) for start, end, site in ASKED if start < number < end]
    return min(results, key=lambda row: row[0])[1] if results else None


def cut(
    op: Op, inputs: tuple[Value, ...], outputs: tuple[Tensor, ...], site: RawSite | None
) -> Step:
    """An operation on watched tensors that no gradient passes."""
    ids = tuple([x._id for x in inputs])
    discrete = not outputs or outputs[0]._array.dtype.num not in dtypes.INEXACT
    step = step_of(op, ids, tuple([o._id for o in outputs]), site, discrete)
    return step._replace(passes=(False,) * len(ids))


def left(sources: tuple[int, ...], constant: Tensor, site: RawSite | None) -> Step:
    """A value that left the tensors at `site` and came back as a constant."""
    return Step("", sources, (constant._id,), (False,) * len(sources), site, kind="left")


def passes(op: Op, count: int) -> tuple[bool, ...]:
    """For each input whether the operation has a gradient with respect to it."""
    if op.joint is not None:
        return (True,) * count
    if op.gradient is None:
        return (False,) * count
    return tuple([r is not None for r in op.rules])


def take(tape: GradientTape) -> Evidence:
    """What the tape knows, without the tensors; it begins new sets when it lets go of these."""
    table: dict[int, RawSite] = {}
    entries = tape._entries
    if Taking.written_down and executing_eagerly():
        # Calls and rules of the user's are told to tapes alone.
        entries = [e for e in entries if e[0].lower is None]
    steps = [_step(entry, table) for entry in entries]
    return Evidence(
        tuple([Event(*e) for e in tape._events]),
        (*tape._past, *tape._cuts, *steps),
        tape._tracked,
        tape._thread,
        tape._watch_accessed,
        table,
    )


def _step(entry: Any, sites: dict[int, RawSite]) -> Step:
    op, _, ids, outs, kept, _, _, _, site, *_ = full_form(entry)
    outs = outs if isinstance(outs, tuple) else (outs,)
    for x in kept or ():
        if isinstance(x, Tensor) and x._site is not None:
            sites[x._id] = x._site
    return step_of(op, ids, outs, site)


def forget(tape: Any) -> None:
    """Keeps the steps of a tape that is about to be reset, up to a bound."""
    tape._past = take(tape).steps[-MOST:]


def before(tape: GradientTape, site: RawSite | None, mode: UnconnectedGradients) -> Evidence | None:
    """Evidence for a call that may have to be explained; taken while there still is some."""
    if mode is ZERO:
        return None
    if site is None or (id(site[0]), site[1]) not in SEEN or mode is ERROR:
        return take(tape)
    return take(tape) if Taking.always else None


def went_well(site: RawSite | None) -> bool | None:
    """How the last call from this line ended; `None` if there was none."""
    result = None if site is None else SEEN.get((id(site[0]), site[1]))
    return None if result is None else result[0]


def after(site: RawSite | None, well: bool) -> None:
    """Notes how a call from this line ended."""
    if len(SEEN) >= MOST:
        SEEN.clear()
    if site is not None:
        SEEN[id(site[0]), site[1]] = well, site[0]
