"""Reads the damaged files of a format and judges what comes of each."""

from __future__ import annotations

import signal
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tools.damage.damages import damages
from tools.damage.formats import Format


class Finding(NamedTuple):
    """A damaged file that was not answered as it should be."""

    format: str
    file: str
    damage: str
    problem: str

    def __str__(self) -> str:
        return f"{self.format} ({self.file}): {self.damage}: {self.problem}"


class TookTooLong(BaseException):
    """Raised inside a read that has had its time."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(*unused: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(
    name: str, form: Format, folder: Path, seed: int, count: int,
    limit: float = 10.0, memory: int = 64 << 20, until: float = float("inf"),
) -> Iterator[Finding | None]:  # fmt: skip
    """One entry for each damaged file: `None` where all is well."""
    form.make(folder)
    sound = form.read(folder)
    files = [p for p in sorted(folder.glob(form.files)) if p.is_file()]
    assert files, f"{name}: no file in {form.files}"
    for i, path in enumerate(files):
        data = path.read_bytes()
        try:
            for damage in damages(data, seed + i, max(count // len(files), 1)):
                if time.monotonic() > until:
                    return
                if form.empty and not damage.data:
                    continue
                path.write_bytes(damage.data)
                problem = _judged(form, folder, path, sound, limit, memory)
                yield Finding(name, path.name, damage.what, problem) if problem else None
        finally:
            path.write_bytes(data)
    assert _same(form.read(folder), sound), f"{name}: the sound file reads otherwise now"


def _judged(
    form: Format, folder: Path, path: Path, sound: Any, limit: float, memory: int
) -> str | None:
    tracemalloc.start()
    try:
        with _limited(limit):
            data = form.read(folder)
    except TookTooLong:
        return f"the read took more than {limit} s"
    except Exception as error:
        return _wrong_error(form, path, error)
    else:
        if form.checked and not _same(data, sound) and not (form.prefix and _begins(sound, data)):
            return f"it was read as {str(data)[:200]}"
        return None
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if most > memory:
            return f"the read took {most >> 20} MiB"  # noqa: B012  # says more than the rest


def _wrong_error(form: Format, path: Path, error: Exception) -> str | None:
    text = f"{type(error).__name__}: {error}"
    if not isinstance(error, form.errors):
        return f"the wrong kind of error: {text}"
    if not hasattr(error, "site"):
        return f"an error without the line of the user: {text}"
    if form.names and str(path) not in str(error) and str(path.parent) not in str(error):
        return f"an error that does not name the file: {text}"
    return None


def _begins(sound: Any, found: Any) -> bool:
    return len(found) < len(sound) and _same(found, sound[: len(found)])


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return np.array_equal(a, b)
