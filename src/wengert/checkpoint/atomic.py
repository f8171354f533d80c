"""Replacing a file in one step: whoever looks finds the old content or the new, never a part.

The new content goes to a temporary file in the same folder, is forced to the disk, and takes the
place of the old one. When anything fails before that, the old file is as it was.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TEMPORARY = ".tmp"


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """The name of a temporary file that becomes `path` when the block ends well."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    temporary = f"{path}.{secrets.token_hex(4)}{TEMPORARY}"
    try:
        with open(temporary, "xb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
        yield temporary
        os.chmod(temporary, mode)  # the block may have put a file of its own in its place
        _to_disk(temporary)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    # The new name is what is forced to disk here. Some file systems cannot; the file is in place.
    with suppress(OSError):
        _to_disk(folder)


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
