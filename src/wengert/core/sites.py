"""Call sites: where in the user's program something was made.

A raw site is the pair (code object, instruction offset) of the first frame outside library code;
taking one costs about 0.2 µs, and `distant` takes those behind many library frames. File, line and
columns are worked out only when asked (`locate`).
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import warnings
from dataclasses import dataclass
from itertools import islice
from types import CodeType
from typing import Any

RawSite = tuple[CodeType, int]
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STDLIB = sysconfig.get_paths()["stdlib"]
_LIBRARIES = ("numpy", "keras", "jax", "jaxlib", "optree", "scipy", "ml_dtypes", "rich")


def _is_library(filename: str) -> bool:
    path = os.path.abspath(filename)
    if path.startswith(_HERE + os.sep):
        return True
    parts = path.replace("\\", "/").split("/")
    if "site-packages" in parts:
        package = parts[parts.index("site-packages") + 1].removesuffix(".py")
        return package in _LIBRARIES or package.startswith("jax_")  # its plugins
    return path.startswith(_STDLIB + os.sep) or filename.startswith(("<frozen", "<wengert"))


# Files already judged; `True` for the user's own. Looked into by the door at every operation.
USER: dict[str, bool] = {}


def find(frame: Any) -> RawSite | None:
    """The raw site of the first user frame from `frame` outwards."""
    user = USER
    while frame is not None:
        try:
            while not user[frame.f_code.co_filename]:
                frame = frame.f_back
            return frame.f_code, frame.f_lasti
        except KeyError:  # a file that was not judged yet
            name = frame.f_code.co_filename
            user[name] = not _is_library(name)
        except AttributeError:  # no frame is left
            return None
    return None


def caller(depth: int = 1) -> RawSite | None:
    """The raw site of the first user frame, starting `depth` frames above the caller of this."""
    return find(sys._getframe(depth + 1))


@dataclass(frozen=True)
class Site:
    """A place in the user's source."""

    file: str
    line: int
    function: str
    column: int | None = None
    end_column: int | None = None

    @property
    def text(self) -> str:
        """The source line, or nothing where Python no longer has it."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def __str__(self) -> str:
        text = self.text.strip()
        return f"{self.file}:{self.line}" + (f": {text}" if text else "")


def locate(site: RawSite | Site | None) -> Site | None:
    """Works out file, line and columns of a raw site."""
    if site is None or isinstance(site, Site):
        return site
    code, offset = site
    position = next(islice(code.co_positions(), offset // 2, None), (None,) * 4)
    line, _, column, end = position
    return Site(code.co_filename, line or code.co_firstlineno, code.co_qualname, column, end)


def warn(message: str) -> None:
    """Warns at the user's line; Python shows it once for each such line."""
    frame: Any = sys._getframe(1)
    while frame is not None and find(frame) is not None:
        if USER[frame.f_code.co_filename]:
            break
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, UserWarning, stacklevel=2)
        return
    warnings.warn_explicit(
        message,
        UserWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
