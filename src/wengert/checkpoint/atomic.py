"""Replacing a file in one step: whoever looks finds the old content or the new, never a part.

The new content goes to a temporary folder beside the file, is forced to the disk, and takes the
place of the old one. When anything fails before that, the old file is as it was. The writer holds
a lock on its temporary folder, which the system lets go when the process ends, however it ends:
the next writer removes the temporary folders that nobody holds.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

_TEMPORARY = re.compile(r".+\.[0-9a-f]{8}\.tmp")
# Where there are no locks, a save that takes longer than this counts as dead.
_ABANDONED = 24 * 3600.0


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """The name of a temporary file that becomes `path` when the block ends well."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    _sweep(folder)
    with _temporary_folder(path) as inner:
        temporary = os.path.join(inner, os.path.basename(path))
        with open(temporary, "xb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
        yield temporary
        os.chmod(temporary, mode)  # the block may have put a file of its own in its place
        _to_disk(temporary)
        os.replace(temporary, path)
    # The new name is what is forced to disk here. Some file systems cannot; the file is in place.
    with suppress(OSError):
        _to_disk(folder)


class _Lock:
    """The lock of a folder, given back when nobody knows it any more: a writer that a signal ends
    in the middle of its clean-up leaves a folder that the next one removes."""

    def __init__(self) -> None:
        self.folder = ""
        self._descriptor: int | None = None

    def take(self, folder: str, wait: bool) -> bool:
        """Whether it is held now, where there are locks; another holder raises unless one waits."""
        if fcntl is None:
            return False
        self._descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:
            return False  # some file systems have none
        return True

    def release(self) -> None:
        """Gives it back, if it is held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    __del__ = release


@contextmanager
def _temporary_folder(path: str) -> Iterator[str]:
    """A folder beside `path`, locked while the block runs and removed after it."""
    lock = _Lock()
    try:
        _make_locked(path, lock)
        yield lock.folder
    finally:
        shutil.rmtree(lock.folder, ignore_errors=True)
        lock.release()


def _make_locked(path: str, lock: _Lock) -> None:
    while True:
        lock.folder = f"{path}.{secrets.token_hex(4)}.tmp"
        os.mkdir(lock.folder)
        with suppress(FileNotFoundError):  # a sweep came before the lock
            lock.take(lock.folder, wait=True)
            if os.path.isdir(lock.folder):
                return
        lock.release()


def _sweep(folder: str) -> None:
    """Removes the temporary folders of processes that were killed while they wrote."""
    with os.scandir(folder) as entries:
        results = [e.path for e in entries if _TEMPORARY.fullmatch(e.name) and e.is_dir()]
    for path in results:
        lock = _Lock()
        with suppress(OSError):  # it is held, or just gone
            try:
                if lock.take(path, wait=False) or os.path.getmtime(path) < time.time() - _ABANDONED:
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                lock.release()


def _to_disk(path: str) -> None:
    kind = os.O_RDONLY if os.path.isdir(path) else os.O_RDWR
    descriptor = os.open(path, kind)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_text(path: str, text: str) -> None:
    """Replaces a small text file."""
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
