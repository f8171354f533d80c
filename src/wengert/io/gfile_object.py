"""`GFile`: a local file that opens when it is first used, in text or bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from wengert.core.errors import PermissionDeniedError, at_site, describe, invalid
from wengert.io.paths import local, refused, reporting

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file: `with tf.io.gfile.GFile("notes.txt", "w") as f: f.write("hello")`.

    Text is UTF-8; with `b` in the mode, bytes are read. Nothing is opened or made before the first
    use, and a closed file opens again when it is used again, as in TensorFlow.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        if mode.replace("b", "") not in _MODES:
            raise invalid(
                "GFile",
                f"`mode` must be one of {', '.join(_MODES)}, with or without b; got {mode!r}",
            )
        self._name = name
        self._path = local("GFile", name)
        self._mode = mode
        self._binary = "b" in mode
        self._file: Any = None

    @property
    def name(self) -> str:
        """The path that was given."""
        return self._name

    @property
    def mode(self) -> str:
        """How it opens."""
        return self._mode

    def _open(self, action: str) -> Any:
        """The open file, if the mode allows the action."""
        plain = self._mode.replace("b", "")
        allowed = {"reading": "+" in plain or plain == "r", "writing": plain != "r"}
        if not allowed.get(action, True):
            rule = f"mode {self._mode!r} is not for {action}"
            raise refused("GFile", rule, self._path, kind=PermissionDeniedError)
        if self._file is None:
            with reporting("GFile", self._path):
                self._file = open(self._path, plain + "b")  # noqa: SIM115  # `close` closes it
        return self._file

    def _text(self, data: bytes) -> bytes | str:
        return data if self._binary else data.decode()

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that is left; as text unless the mode has `b`."""
        file = self._open("reading")
        with reporting("GFile", self._path):
            return self._text(file.read(n))

    def readline(self) -> Any:
        """The next line with its end, or nothing at the end of the file."""
        return self._text(self._open("reading").readline())

    def readlines(self) -> list[str]:
        """The lines that are left."""
        return list(self)

    def next(self) -> Any:
        """The next line; `StopIteration` at the end."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    __next__ = next

    def __iter__(self) -> Iterator[Any]:
        return self

    def write(self, file_content: str | bytes) -> None:
        """Writes text or bytes at the current position."""
        if not isinstance(file_content, str | bytes):
            raise at_site(TypeError(f"GFile.write: text or bytes; got {describe(file_content)}."))
        data = file_content.encode() if isinstance(file_content, str) else file_content
        file = self._open("writing")
        with reporting("GFile", self._path):
            file.write(data)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Goes to a byte: from the start (`whence=0`), from here (1), or from the end (2)."""
        if whence not in (0, 1, 2):
            raise invalid("GFile.seek", f"`whence` must be 0, 1 or 2; got {whence!r}")
        target = position if offset is None else offset
        if target is None:
            raise at_site(TypeError("GFile.seek: give `offset`."))
        file = self._open("seeking")
        with reporting("GFile.seek", self._path):
            file.seek(target, whence)

    def tell(self) -> int:
        """The current position, in bytes."""
        return self._open("asking").tell()

    def size(self) -> int:
        """The size of the file, in bytes."""
        with reporting("GFile.size", self._path):
            return os.stat(self._path).st_size

    def seekable(self) -> bool:
        """Whether `seek` works; it does."""
        return True

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is not None:
            with reporting("GFile.flush", self._path):
                self._file.flush()

    def close(self) -> None:
        """Writes what is left and closes the file."""
        file, self._file = self._file, None
        if file is not None:
            with reporting("GFile.close", self._path):
                file.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        # An unclosed file is closed here, so that Python has nothing to warn of.
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()
