"""Files and folders by name: what is there, and making, moving and removing it.

Names come back sorted, where the operating system has no order of its own.
"""

from __future__ import annotations

import glob as _glob
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from wengert.io.paths import (
    ExistingFileError,
    MissingFileError,
    WrongKindError,
    local,
    refused,
    reporting,
)


class FileStatistics(NamedTuple):
    """What is known of a file: its length in bytes, when it changed, whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is a file or folder of this name."""
    return os.path.exists(local("exists", path))


def isdir(path: str) -> bool:
    """Whether this is a folder."""
    return os.path.isdir(local("isdir", path))


def listdir(path: Any) -> list[str]:
    """The names in a folder."""
    where = local("listdir", path)
    if not os.path.isdir(where):
        raise refused("listdir", "there is no such folder", where, kind=MissingFileError)
    with reporting("listdir", where):
        return sorted(os.listdir(where))


def glob(pattern: list[str] | str) -> list[str]:
    """The paths that match a pattern with `*`, `?` and `[...]`, or one of several patterns."""
    patterns = pattern if isinstance(pattern, list | tuple) else [pattern]
    results: list[str] = []
    for one in patterns:
        results += sorted(_glob.glob(local("glob", one), include_hidden=True))
    return results


def stat(path: Any) -> FileStatistics:
    """The length, time and kind of a file."""
    where = local("stat", path)
    with reporting("stat", where):
        status = os.stat(where)
    return FileStatistics(status.st_size, status.st_mtime_ns, os.path.isdir(where))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder below `top` with the names of its folders and files."""
    for folder, folders, files in os.walk(local("walk", top), topdown, onerror):
        folders.sort()
        yield folder, folders, sorted(files)


def mkdir(path: str) -> None:
    """Makes a folder; the one around it must be there. One that is there already is left."""
    where = local("mkdir", path)
    if not os.path.isdir(where):
        with reporting("mkdir", where):
            os.mkdir(where)


def makedirs(path: Any) -> None:
    """Makes a folder and those around it, where they are missing."""
    where = local("makedirs", path)
    if os.path.exists(where) and not os.path.isdir(where):
        raise refused("makedirs", "this is a file, not a folder", where, kind=WrongKindError)
    with reporting("makedirs", where):
        os.makedirs(where, exist_ok=True)


def _free(name: str, path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        advice = "Pass `overwrite=True` to replace it."
        raise refused(name, "the file is there already", path, advice, ExistingFileError)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file."""
    source, target = local("copy", src), local("copy", dst)
    if os.path.isdir(source):
        raise refused("copy", "a folder is not copied", source, "Copy its files.")
    _free("copy", target, overwrite)
    with reporting("copy", source if not os.path.exists(source) else target):
        shutil.copyfile(source, target)


def rename(src: str, dst: str, overwrite: bool = False) -> None:
    """Moves a file or folder."""
    source, target = local("rename", src), local("rename", dst)
    _free("rename", target, overwrite)
    with reporting("rename", source):
        os.replace(source, target)


def remove(path: Any) -> None:
    """Removes a file."""
    where = local("remove", path)
    if os.path.isdir(where):
        raise refused("remove", "this is a folder", where, "Use rmtree.", WrongKindError)
    with reporting("remove", where):
        os.remove(where)


def rmtree(path: str) -> None:
    """Removes a folder and all that is in it."""
    where = local("rmtree", path)
    with reporting("rmtree", where):
        if os.path.isdir(where):
            shutil.rmtree(where)
        else:
            os.remove(where)


def join(path: Any, *paths: Any) -> Any:
    """The parts of a path as one; an absolute part starts anew."""
    parts = [os.fspath(p) for p in (path, *paths)]
    return os.path.join(*parts)


def get_registered_schemes() -> list[str]:
    """The kinds of path that are understood: plain ones and `file://`."""
    return ["", "file"]
