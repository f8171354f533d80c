"""Summary writers, and the current writer, step and recording condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.context import executing_eagerly, name_scope, scoped
from wengert.core.convert import operand
from wengert.core.errors import NotFoundError, at_site, invalid
from wengert.io.paths import local
from wengert.summary.events import EventFile

if TYPE_CHECKING:
    from wengert.core.types import TensorLike, Value, Variable


class _State(NamedTuple):
    writer: SummaryWriter | None = None
    step: Any = None
    condition: Any = True


_NOTHING = _State()
_state: ContextVar[_State] = ContextVar("wengert_summary")


class SummaryWriter:
    """Takes summaries; made by `create_file_writer`."""

    def init(self) -> None:
        """Nothing to do: a writer is ready when it is made."""

    def flush(self) -> None:
        """Hands what was written to the operating system."""

    def close(self) -> None:
        """Writes what is left and takes nothing more."""

    @contextmanager
    def as_default(self, step: int | None = None) -> Iterator[SummaryWriter]:
        """Summaries made inside go to this writer, at `step` unless they say otherwise."""
        old = _state.get(_NOTHING)
        self.set_as_default(step)
        try:
            yield self
        finally:
            self.flush()
            _state.set(_state.get(_NOTHING)._replace(writer=old.writer, step=old.step))

    def set_as_default(self, step: int | None = None) -> None:
        """Summaries go to this writer from here on."""
        now = _state.get(_NOTHING)
        _state.set(now._replace(writer=self, step=now.step if step is None else step))


class FileWriter(SummaryWriter):
    """Writes to an event file, which TensorBoard shows."""

    def __init__(self, logdir: str, max_queue: int, flush_seconds: float, suffix: str) -> None:
        self._file: EventFile | None = EventFile(logdir, max_queue, flush_seconds, suffix)

    @property
    def file(self) -> EventFile:
        """The file, while the writer is open."""
        if self._file is None:
            raise invalid("summary", "the writer is closed", kind=NotFoundError)
        return self._file

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.flush()
            file.close()

    def set_as_default(self, step: int | None = None) -> None:
        if self._file is None:
            raise at_site(RuntimeError("SummaryWriter: this writer is closed. Create another."))
        super().set_as_default(step)


class NoopWriter(SummaryWriter):
    """Takes nothing; a writer that is the default around it stays so."""

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        yield self

    def set_as_default(self, step: Any = None) -> None:
        pass


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer to a new event file in a folder; needs the package `tensorboard`.

    What was written reaches the file after `max_queue` summaries (10) or `flush_millis` (two
    minutes), when the writer is flushed or closed, and when the program ends.
    """
    if logdir is None:
        raise at_site(ValueError("create_file_writer: give `logdir`, a folder."))
    return FileWriter(
        local("create_file_writer", logdir),
        10 if max_queue is None else int(max_queue),
        120.0 if flush_millis is None else int(flush_millis) / 1000,
        ".v2" if filename_suffix is None else filename_suffix,
    )


def create_noop_writer() -> SummaryWriter:
    """A writer that takes nothing."""
    return NoopWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Flushes a writer, or the default one."""
    chosen = _state.get(_NOTHING).writer if writer is None else writer
    if chosen is not None:
        chosen.flush()


def get_step() -> int | Variable | None:
    """The step that summaries get when they do not say one, or `None`."""
    return _state.get(_NOTHING).step


def set_step(step: TensorLike | None) -> None:
    """Sets the step for summaries that do not say one: a number, or a variable that counts."""
    _state.set(_state.get(_NOTHING)._replace(step=step))


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Inside, summaries are written only if the condition holds: a value, or a function of none."""
    old = _state.get(_NOTHING)
    _state.set(old._replace(condition=condition))
    try:
        yield
    finally:
        _state.set(_state.get(_NOTHING)._replace(condition=old.condition))


def should_record_summaries() -> Value:
    """Whether there is a writer and the condition holds, as a boolean tensor."""
    state = _state.get(_NOTHING)
    condition = state.condition() if callable(state.condition) else state.condition
    if state.writer is None:
        condition = False
    elif condition is None:
        condition = True
    elif isinstance(condition, int | np.bool_):
        condition = bool(condition)
    return operand(
        np.asarray(condition) if isinstance(condition, bool) else condition, dtypes.bool_
    )


def target(step: Any) -> tuple[FileWriter, Value, Value] | None:
    """The writer, the step and the condition for a summary; `None` if none is to be written.

    While a function is traced, the condition is looked at when it runs.
    """
    writer = _state.get(_NOTHING).writer
    if not isinstance(writer, FileWriter):
        return None
    when = should_record_summaries()
    if executing_eagerly() and not bool(when):
        return None
    given = get_step() if step is None else step
    if given is None:
        raise at_site(
            ValueError(
                "summary: no step is set. Give `step`, or call tf.summary.experimental.set_step."
            )
        )
    number = operand(given, dtypes.int64)
    if len(number.shape):
        raise at_site(ValueError(f"summary: `step` must be a scalar; got shape {number.shape}."))
    return writer, number, when


@contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: TensorLike | None = None
) -> Iterator[tuple[str, str]]:
    """The tag for a summary of this name here, and a name scope for the work it takes."""
    chosen = name or default_name
    tag = scoped(chosen)
    with name_scope(re.sub(r"[^A-Za-z0-9_.\\/>-]", "", chosen) or default_name) as scope:
        yield tag, scope
