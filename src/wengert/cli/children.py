"""Processes that a program under `wengert run` or `doctor` starts: they find Wengert too.

A forked process has everything already. One that begins anew (`multiprocessing` with `spawn` or
`forkserver`, `subprocess` with the same Python) gets Python's path from its parent, as
`multiprocessing` hands it on and as PYTHONPATH says: a folder with a module `tensorflow` that
puts Wengert in its place when it is first imported. Nothing is installed, no start-up file is
touched, and a process that never imports TensorFlow loads nothing.

Under the doctor such a process has its own detectors, which write what they find to a folder that
the first process reads at the end.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wengert.keras_glue import alias

if TYPE_CHECKING:
    from wengert.explain.examining import Doctor


STAND_IN = str(Path(__file__).parent / "stand_in")
RUN, DOCTOR = "WENGERT_RUN", "WENGERT_DOCTOR"
_standing = ExitStack()  # the detectors of a child, until it ends


@contextmanager
def alias_in_children() -> Iterator[None]:
    """Processes that are started in the block resolve `tensorflow` to Wengert."""
    path = [STAND_IN, *filter(None, [os.environ.get("PYTHONPATH")])]
    sys.path.insert(1, STAND_IN)
    try:
        with _environment(PYTHONPATH=os.pathsep.join(path), **{RUN: sys.prefix}):
            yield
    finally:
        if STAND_IN in sys.path:
            sys.path.remove(STAND_IN)


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def alias_in_this_child() -> None:
    """Puts Wengert in TensorFlow's place in a process that was started so."""
    sys.modules.pop("tensorflow", None)
    alias.install()
    folder = os.environ.get(DOCTOR)
    if folder is not None and os.path.isdir(folder):
        _examine_this_child(folder)
    __import__("tensorflow")


def _examine_this_child(folder: str) -> None:
    from wengert.explain.examining import doctor

    result = _standing.enter_context(doctor())
    result.findings.on_new = lambda e: _write_down(folder, e)
    _standing.enter_context(_errors_of_children(result))

    def end() -> None:
        for e in result.tapes.wasteful():
            _write_down(folder, e)
        _standing.close()

    atexit.register(end)


def _write_down(folder: str, explanation: Any) -> None:
    """Writes a finding down at once: a worker of a pool may be ended at any moment."""
    with Path(folder, f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(explanation.to_dict(), default=str) + "\n")


@contextmanager
def examined(found: Doctor) -> Iterator[None]:
    """What processes started in the block find is added to what this one finds."""
    with tempfile.TemporaryDirectory(prefix="wengert-") as folder, _environment(**{DOCTOR: folder}):
        own, here = os.getpid(), os.getcwd()
        _after_fork.append(
            lambda: setattr(found.findings, "on_new", lambda e: _write_down(folder, e))
        )
        try:
            with _errors_of_children(found):
                yield
        finally:
            _after_fork.pop()
            if os.getpid() == own:  # what was forked shares this code, but not the end
                _wait()
                found.findings.add(_read(Path(folder), here))


_after_fork: list[Any] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: [run() for run in _after_fork[-1:]])


@contextmanager
def _errors_of_children(found: Doctor) -> Iterator[None]:
    """Looks at the errors that end processes of `multiprocessing`, which it catches itself."""
    from multiprocessing.process import BaseProcess

    old = BaseProcess.run

    def run(self: BaseProcess) -> Any:
        try:
            return old(self)
        except Exception as error:
            found.examine(error)
            raise

    # `multiprocessing` catches these errors itself and has no hook for others to hear of them.
    BaseProcess.run = run
    try:
        yield
    finally:
        BaseProcess.run = old


def _wait() -> None:
    """Waits for processes that Python would wait for at its end."""
    multiprocessing = sys.modules.get("multiprocessing")
    for process in multiprocessing.active_children() if multiprocessing is not None else ():
        if not process.daemon:
            process.join()


def _read(folder: Path, here: str) -> Iterator[Any]:
    """What was found; below `here` files go by the short names that this process gives them."""
    from wengert.explain.explanation import Explanation

    prefix = json.dumps(os.path.join(here, ""))[1:-1]
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield Explanation.from_dict(json.loads(line.replace(prefix, "")))
