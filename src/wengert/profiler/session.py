"""`tf.profiler.experimental`: starting and stopping a profile, and naming parts of a program."""

from __future__ import annotations

import glob
import os
import socket
import time
from contextlib import ExitStack
from time import perf_counter_ns
from typing import Any, NamedTuple

from wengert.core.errors import AlreadyExistsError, UnavailableError, at_site, require
from wengert.core.lazy_modules import jax
from wengert.core.locks import new_lock
from wengert.core.observers import observing
from wengert.io.paths import local
from wengert.profiler import timeline
from wengert.profiler.memory import Sampler
from wengert.profiler.spans import Recorder
from wengert.profiler.timing import Timer

_lock = new_lock()


class _Process:
    """The profile that is being taken, if any; at most one per process."""

    session: _Session | None = None


class ProfilerOptions(NamedTuple):
    """What to write down.

    `host_tracer_level` 0 is XLA's events alone, 1 adds traces, compilations and `Trace` blocks, 2
    adds calls and eager operations. `python_tracer_level` 1 adds every Python call, as JAX's
    profiler sees it. A profile begins `delay_ms` after it is started.
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Session:
    """One profile being taken."""

    def __init__(self, logdir: str, options: ProfilerOptions) -> None:
        self.logdir = logdir
        self.folder = ""
        self.level = options.host_tracer_level
        self._stack = ExitStack()
        self._known = set(_runs(logdir))
        self._with_jax = _start_jax(logdir, options)
        self.recorder = Recorder(jax.profiler.TraceAnnotation if self._with_jax else None)
        self.marked = perf_counter_ns()
        if self._with_jax:
            with jax.profiler.TraceAnnotation(timeline.MARK):
                pass
        devices = jax.local_devices() if self._with_jax else ()
        self._sampler = Sampler(self.recorder, devices)
        if self.level > 0:
            self._stack.enter_context(observing(Timer(self.recorder, self.level)))

    def end(self, save: bool) -> None:
        """Lets go of everything and, with `save`, writes the timeline."""
        self._stack.close()
        self._sampler.stop()
        theirs: list[dict[str, Any]] = []
        if self._with_jax:
            jax.profiler.stop_trace()
            new = sorted(set(_runs(self.logdir)) - self._known)
            self.folder = new[-1] if new else ""
            theirs = timeline.events_of_jax(self.folder) if new and save else []
        if save:
            folder = self.folder or os.path.join(_profiles(self.logdir), _now())
            path = os.path.join(folder, f"{socket.gethostname()}.wengert.json.gz")
            timeline.write(path, self.recorder, self.marked, theirs)


def _profiles(logdir: str) -> str:
    return os.path.join(logdir, "plugins", "profile")


def _runs(logdir: str) -> list[str]:
    return glob.glob(os.path.join(glob.escape(_profiles(logdir)), "*"))


def _now() -> str:
    return time.strftime("%Y_%m_%d_%H_%M_%S")


def _start_jax(logdir: str, options: ProfilerOptions) -> bool:
    wanted = jax.profiler.ProfileOptions()
    wanted.host_tracer_level = max(options.host_tracer_level, 1)
    wanted.python_tracer_level = options.python_tracer_level
    try:
        jax.profiler.start_trace(logdir, profiler_options=wanted)
    except RuntimeError:  # the program takes a profile of its own with JAX
        return False
    return True


def start(logdir: Any, options: Any = None) -> None:
    """Begins a profile; `stop` writes it below `logdir`, for TensorBoard and for Perfetto.

    The folder `plugins/profile` gets JAX's own files, which TensorBoard shows, and a file that
    ends in `.wengert.json.gz` for https://ui.perfetto.dev, which has XLA's events too.
    """
    folder = local("profiler.start", logdir)
    if isinstance(options, dict):
        options = ProfilerOptions(**options)
    options = ProfilerOptions() if options is None else options
    require(
        isinstance(options, ProfilerOptions),
        "profiler.start",
        "`options` are ProfilerOptions",
        options,
        kind=TypeError,
    )
    with _lock:
        if _Process.session is not None:
            text = "profiler.start: another profile is being taken. Call stop() first."
            raise at_site(AlreadyExistsError(None, None, text))
        if options.delay_ms:
            time.sleep(options.delay_ms / 1000)
        _Process.session = _Session(folder, options)


def stop(save: bool = True) -> None:
    """Ends the profile and writes it."""
    with _lock:
        session, _Process.session = _Process.session, None
        if session is None:
            text = "profiler.stop: no profile is being taken. Call start(logdir) first."
            raise at_site(UnavailableError(None, None, text))
        session.end(save)


class Profile:
    """Takes a profile of a block: `with tf.profiler.experimental.Profile(logdir): …`."""

    def __init__(self, logdir: Any, options: ProfilerOptions | None = None) -> None:
        self._logdir = logdir
        self._options = options

    def __enter__(self) -> Profile:
        start(self._logdir, self._options)
        return self

    def __exit__(self, *exc: object) -> None:
        stop()


class Trace:
    """Names a block in the timeline: `with Trace("step", step_num=3): …`."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name = name
        self._details = kwargs
        self._session: _Session | None = None
        self._annotation: Any = None
        self._start = 0

    def __enter__(self) -> Trace:
        session = _Process.session
        if session is not None and session.level > 0:
            self._session = session
            self._start = perf_counter_ns()
            # TensorBoard finds the steps of a program by `step_num`.
            self._annotation = self._session.recorder.annotation(self._name, **self._details)
            self._annotation.__enter__()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Adds details, such as a loss that became known only now."""
        self._details |= kwargs

    def __exit__(self, *exc: object) -> None:
        if self._session is not None:
            self._annotation.__exit__(*exc)
            self._session.recorder.add("block", self._name, self._start, self._details)
            self._session = None


def start_server(port: int) -> None:
    """Lets TensorBoard take profiles of this process from outside, through JAX's server."""
    jax.profiler.start_server(port)
