"""Compiled programs on disk: the folder of JAX's own cache, which later processes read.

JAX decides what an entry's key is and writes the entries. This module chooses the folder, refuses
one that others may write to (an entry is code that will run), separates machines and versions,
bounds the size, and removes entries that are not as they were written. It does not know programs.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import stat
import sys
import time
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version

# The folder of each version of JAX and each kind of processor in it holds entries and their seals.
_ENTRY, _SEAL = "-cache", ".seal"
MOST_BYTES = 1 << 28
# After so many seconds an entry without a seal is not one that another process is writing.
_ABANDONED = 600.0
_SETTING = "jax_compilation_cache_dir"
_LEAST = "jax_persistent_cache_min_compile_time_secs"
# What JAX warns of and then compiles anew; a cache is no reason to end a program.
_HARMLESS = r"Error (reading|writing) persistent compilation cache"


class CompileCache:
    """The folder that this process uses, and whether its program chose it."""

    def __init__(self) -> None:
        self.folder: str | None = None
        self.chosen = False
        self.attached = False

    def choose(self, folder: str | None) -> None:
        """Uses a folder that exists and is safe, or none, from the next compilation on."""
        self.chosen, self.folder = True, folder
        self._tell(0.0)  # whoever asks for a folder wants every program in it

    def attach(self) -> None:
        """Called before the first compilation: uses the user's own folder if nobody chose one.

        An option of JAX, or its variable in the environment, is a choice too.
        """
        if self.attached or self.chosen or not _left_to_us():
            return
        folder = default_folder()
        if folder is None or prepare(folder) is not None:
            return
        self.folder = folder
        self._tell(float(os.environ.get(_LEAST.upper(), 1.0)))

    def _tell(self, least_seconds: float) -> None:
        self.attached = self.folder is not None
        place = None if self.folder is None else os.path.join(self.folder, _machine())
        tell_jax(_SETTING, place)
        if place is not None:
            tell_jax(_LEAST, least_seconds)
            tell_jax("jax_persistent_cache_min_entry_size_bytes", -1)
            # Not for long: whoever resets the filters sees the warning, and the program goes on.
            warnings.filterwarnings("ignore", message=_HARMLESS, category=UserWarning)
            assert self.folder is not None
            with suppress(OSError):
                _remove_damaged(self.folder)
                _remove_oldest(self.folder)
        if "jax" in sys.modules:
            from jax.experimental.compilation_cache import compilation_cache

            compilation_cache.reset_cache()  # else the folder of the first compilation stays in use

    def seal(self) -> None:
        """Notes size and checksum of the entries that have come since."""
        if self.folder is None:
            return
        with suppress(OSError):
            for entry in _entries(self.folder):
                if not os.path.exists(entry + _SEAL):
                    _write_seal(entry)


CACHE = CompileCache()
atexit.register(CACHE.seal)


def tell_jax(name: str, value: object) -> None:
    """Sets an option of JAX; where JAX is not loaded yet, it reads it from the environment."""
    if "jax" in sys.modules:
        sys.modules["jax"].config.update(name, value)
    elif value is None:
        os.environ.pop(name.upper(), None)
    else:
        os.environ[name.upper()] = str(value)


def _left_to_us() -> bool:
    if _SETTING.upper() in os.environ:
        return False
    jax = sys.modules.get("jax")
    return jax is None or getattr(jax.config, _SETTING) is None


def default_folder() -> str | None:
    """The folder of the user's caches where the system keeps them; `None` for nobody's."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    if not base or not os.path.isabs(base):
        return None
    return os.path.join(base, "wengert", "compiled")


def prepare(folder: str) -> str | None:
    """Makes a folder that is the user's alone; why it may not be used, if it may not.

    An entry is machine code: who can write one runs code as the user.
    """
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        info = os.stat(folder)
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(info.st_mode):
        return "it is no folder"
    if not hasattr(os, "geteuid"):
        return None  # Windows: a folder below the user's is the user's
    if info.st_uid != os.geteuid():
        return "it belongs to another user"
    if info.st_mode & 0o077:
        return f"its mode is {stat.S_IMODE(info.st_mode):o}, so other users can reach it"
    return None if os.access(folder, os.W_OK) else "nothing can be written to it"


def _machine() -> str:
    """A name for the processor and the versions: a home directory meets several machines."""
    parts = [version("jax"), version("jaxlib"), platform.system(), platform.machine()]
    parts += _processor()
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _processor() -> list[str]:
    """The model of the processor and its features, as the system tells them."""
    known: dict[str, str] = {}
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            if name in ("model name", "flags", "features", "cpu part", "isa"):
                known.setdefault(name, " ".join(sorted(value.split())))
    return [f"{k}={v}" for k, v in sorted(known.items())] or [platform.processor()]


def _entries(folder: str) -> Iterator[str]:
    """The paths of the entries, of all machines and versions."""
    for place in os.scandir(folder):
        if place.is_dir(follow_symlinks=False):
            for entry in os.scandir(place.path):
                if entry.name.endswith(_ENTRY) and entry.is_file(follow_symlinks=False):
                    yield entry.path


def _write_seal(entry: str) -> None:
    """Writes it in one step, since other processes read it."""
    mine = f"{entry}{_SEAL}.{os.getpid()}"
    with open(mine, "w", encoding="ascii") as file:
        file.write(" ".join(map(str, _facts(entry))))
    os.replace(mine, entry + _SEAL)


def _facts(entry: str) -> tuple[int, int, int]:
    """Size, time of the last change, and checksum of a file."""
    with open(entry, "rb") as file:
        info, data = os.fstat(file.fileno()), file.read()
    return len(data), info.st_mtime_ns, zlib.crc32(data)


def _remove_damaged(folder: str) -> None:
    """Removes entries that changed since they were sealed, and those that nobody ever sealed.

    A file that has its size and its time is taken to be unchanged; any other is read.
    """
    for entry in _entries(folder):
        with suppress(FileNotFoundError):  # another process removes it
            if not _is_whole(entry):
                _remove(entry)


def _is_whole(entry: str) -> bool:
    info = os.stat(entry)
    try:
        with open(entry + _SEAL, encoding="ascii") as file:
            size, changed, checksum = map(int, file.read().split())
    except FileNotFoundError:
        return time.time() - info.st_mtime < _ABANDONED
    except ValueError:
        return False
    if (info.st_size, info.st_mtime_ns) == (size, changed):
        return True
    found = _facts(entry)
    return (found[0], found[2]) == (size, checksum)


def _remove_oldest(folder: str) -> None:
    """Removes the entries that were not read for longest until the folder is within its bound."""
    ages: list[tuple[float, int, str]] = []
    for entry in _entries(folder):
        info = os.stat(entry)
        ages.append((max(info.st_atime, info.st_mtime), info.st_size, entry))
    excess = sum(size for _, size, _ in ages) - MOST_BYTES
    for _, size, entry in sorted(ages):
        if excess <= 0:
            return
        _remove(entry)
        excess -= size


def _remove(entry: str) -> None:
    for path in (entry, entry + _SEAL):
        with suppress(FileNotFoundError):
            os.remove(path)
