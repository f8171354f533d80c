"""Effects of Python code while a function is traced, seen by a profile hook.

On only under the doctor, and only while tracing: calls of built-in functions such as `print`,
`open`, `time.time` and `random.random`, and changes of containers that were there before. Calls
made by library code are not looked at.
"""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from wengert.core.sites import RawSite, find
from wengert.explain.closure_reads import function_of, is_user
from wengert.explain.explanation import Explanation, reason
from wengert.explain.frozen import Snapshot, baked, holds_symbolic, leaked
from wengert.explain.places import known, place, written

_MUTATORS = {
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "discard",
    "update", "setdefault", "popitem", "appendleft",
}  # fmt: skip
_CLOCKS = {"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "process_time", "now"}
_WRITES = {"write", "writelines"}
_LOGS = {"debug", "info", "warning", "error", "critical", "exception", "log"}
_IDENTITIES = {("uuid", "uuid1"), ("uuid", "uuid4"), ("secrets", "token_hex")}


class Watch:
    """What was seen during one trace."""

    def __init__(self, name: str, snapshot: Snapshot, traced: RawSite) -> None:
        self._name = name
        self._snapshot = snapshot
        self._containers = snapshot.containers()
        self._traced = traced
        self._entered: set[Any] = set()
        self._found: dict[Any, Explanation] = {}
        self._owners: dict[str, tuple[Any, Any]] = {}

    @property
    def found(self) -> list[Explanation]:
        """What was seen; a container that now keeps a tensor of the trace is a leak."""
        leaks = {
            text: leaked(self._name, text, site, self._traced)
            for text, (owner, site) in self._owners.items()
            if holds_symbolic(owner)
        }
        kept = [e for e in self._found.values() if e.details.get("name") not in leaks]
        return [*kept, *leaks.values()]

    @property
    def changed(self) -> set[str]:
        """The containers whose change was seen at its line."""
        return set(self._owners)

    def event(self, frame: FrameType, event: str, arg: Any) -> None:
        """A profile event: `arg` is the built-in function that is called."""
        if event == "call":
            self._enter(frame)
            self._called(frame)
        if event != "c_call" or not _by_user(frame):
            return
        name = getattr(arg, "__name__", "")
        owner = getattr(arg, "__self__", None)
        module = getattr(arg, "__module__", None) or getattr(owner, "__name__", "") or ""
        site = find(frame)
        if name in ("print", "input") and arg in (print, input):
            self._effect(site, f"`{name}` runs while tracing, and not again")
        elif isinstance(owner, io.IOBase) and name in _WRITES:
            self._effect(site, "the file is written to while tracing, and not again")
        elif name == "open" and module in ("io", "_io"):
            self._effect(site, "the file is opened while tracing, and not again")
        elif name in _MUTATORS and id(owner) in self._containers:
            text = self._containers[id(owner)].text
            self._effect(site, f"`{text}.{name}` runs while tracing, and not again", text)
            self._owners[text] = owner, site
        elif arg is next:
            self._advance(site)
        elif _is_random(owner, module) or name == "urandom":
            self._baked(site)
        elif (module == "time" and name in _CLOCKS) or (
            type(owner) is type and owner.__module__ == "datetime" and name in ("now", "today")
        ):
            self._baked(site, clock=True)

    def _enter(self, frame: FrameType) -> None:
        """Looks at what a function of the user's reads that a library calls, such as `call`."""
        code = frame.f_code
        if not is_user(code) or "site-packages" in code.co_filename or code.co_name in _ONCE:
            return
        if not _by_library(frame.f_back):
            return
        function = function_of(frame)
        key = code.co_filename, code.co_firstlineno, id(getattr(function, "__self__", None))
        if function is not None and key not in self._entered:
            self._entered.add(key)
            self._containers |= self._snapshot.extend(function)

    def _called(self, frame: FrameType) -> None:
        """Sees the user call functions of Python's library that are no built-ins."""
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module == "logging" and name in _LOGS and _by_user(frame.f_back):
            site = find(frame)
            self._effect(
                site, f"`{written(site).partition('(')[0]}` runs while tracing, and not again"
            )
        elif (module, name) in _IDENTITIES and _by_user(frame.f_back):
            self._baked(find(frame))

    def _advance(self, site: Any) -> None:
        """An iterator from outside is asked for its next item."""
        text = written(site).removeprefix("next(").partition(",")[0].rstrip(")")
        if text in self._snapshot.iterators():
            self._effect(site, f"`next({text})` runs while tracing, and not again")

    def _effect(self, site: Any, words: str, holder: str = "") -> None:
        details = {"function": self._name} | ({"name": holder} if holder else {})
        self._found.setdefault(
            ("WG302", site and (id(site[0]), site[1])),
            reason(
                "WG302",
                f"{words} when `{self._name}` runs as a graph",
                *known(place(site, "here"), place(self._traced, "traced by this call")),
                remedy=_INSTEAD["print" if words.startswith("`print`") else ""],
                details=details,
            ),
        )

    def _baked(self, site: Any, clock: bool = False) -> None:
        self._found.setdefault(
            ("WG303", site and (id(site[0]), site[1])),
            baked(self._name, written(site), site, self._traced, clock),
        )


_INSTEAD = {
    "print": "Use tf.print, which prints in every call.",
    "": "Return the value, keep it in a tf.Variable, or do it outside the function.",
}


# Methods whose effects are meant to happen once.
_ONCE = {"__init__", "build", "__init_subclass__", "__new__", "__post_init__"}


def _by_library(frame: FrameType | None) -> bool:
    """Whether a library other than this one calls."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("wengert."):
        frame = frame.f_back
    return frame is not None and not is_user(frame.f_code)


def _is_random(owner: Any, module: str) -> bool:
    kind = type(owner)
    names = (module, kind.__module__, getattr(owner, "__name__", ""))
    return any(n.startswith(("numpy.random", "random", "_random")) for n in names if n)


def _by_user(frame: FrameType | None) -> bool:
    """Whether the user's code calls, directly or through converted control flow."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("wengert.autograph") and module != "random":
            return is_user(frame.f_code)
        frame = frame.f_back
    return False


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Hears what built-in functions are called in a block, in this thread.

    The garbage collector waits meanwhile: what it calls back is not the user's doing.
    """
    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(watch.event)
    try:
        yield
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
