"""Local paths, and errors of the operating system about them as TensorFlow's exceptions.

Each exception is also the builtin that a caller would catch. Only local files are read and
written; a path that names another machine is refused in plain words.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert.core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    at_site,
    describe,
)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file or folder is not there."""


class ExistingFileError(AlreadyExistsError, FileExistsError):
    """A file or folder is there already."""


class WrongKindError(FailedPreconditionError, OSError):
    """A folder was given for a file, or a file for a folder."""


class FullDiskError(ResourceExhaustedError, OSError):
    """There is no room on the disk, or no file may grow so large."""


class FileError(UnknownError, OSError):
    """The operating system refused for another reason."""


_KINDS: dict[int | None, type[OpError]] = {
    errno.ENOENT: MissingFileError,
    errno.EEXIST: ExistingFileError,
    errno.EISDIR: WrongKindError,
    errno.ENOTDIR: WrongKindError,
    errno.ENOTEMPTY: WrongKindError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError,
    errno.ENOSPC: FullDiskError,
    getattr(errno, "EDQUOT", errno.ENOSPC): FullDiskError,  # Windows has no quota error
    errno.EFBIG: FullDiskError,
}


def local(name: str, path: Any) -> str:
    """The path as text, for `str`, `bytes` and path objects on this machine."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise at_site(
            TypeError(f"{name}: a path is a string or a path object; got {describe(path)}.")
        )
    text = os.fsdecode(path)
    match = _SCHEME.match(text)
    if match is None:
        return text
    if match[1].lower() == "file":
        return text[match.end() :]
    rule = f"only local files are read and written, not {match[1]}://"
    raise refused(name, rule, text, "Copy the file to a local disk first.", UnimplementedError)


def refused(
    name: str, rule: str, path: str, help: str = "", kind: type[OpError] = InvalidArgumentError
) -> OpError:
    """An error about a path, which it names in full, however long."""
    return at_site(kind(None, None, f"{name}: {rule}; got {path}. {help}".strip()))


def _remedy(kind: type[OpError], path: str) -> str:
    if kind is MissingFileError:
        relative = not os.path.isabs(path)
        return f"Check the path{f', which begins at {os.getcwd()}' if relative else ''}."
    if kind is PermissionDeniedError:
        return "Check who may read and write it, and its folder."
    return "Free some room on the disk, or write elsewhere." if kind is FullDiskError else ""


def failed(name: str, path: str, error: OSError) -> OpError:
    """The exception for what the operating system refused, with the user's line."""
    kind = _KINDS.get(error.errno, FileError)
    reason = error.strerror or str(error)
    result: Any = refused(name, reason[0].lower() + reason[1:], path, _remedy(kind, path), kind)
    result.errno, result.filename = error.errno, path
    return result


@contextmanager
def reporting(name: str, path: str) -> Iterator[None]:
    """Runs a block that touches `path`; errors of the operating system become ours."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OpError):
            raise
        raise failed(name, path, error) from error
