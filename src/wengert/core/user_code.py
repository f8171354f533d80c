"""Tells the user's code from that of libraries, such as Keras, by the file that it stands in.

Errors, sites and the doctor name the user's lines only. Code under `site-packages` is the user's,
too, unless it belongs to a library through which programs call Wengert.
"""

from __future__ import annotations

import functools
import os
import sysconfig

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STDLIB = sysconfig.get_paths()["stdlib"]
_FRAMEWORKS = ("keras", "jax", "jaxlib")
_LIBRARIES = (*_FRAMEWORKS, "numpy", "optree", "scipy", "ml_dtypes", "rich")


def _package(path: str) -> str:
    """The installed package that a file belongs to, or nothing."""
    parts = path.replace("\\", "/").split("/")
    if "site-packages" not in parts:
        return ""
    return parts[parts.index("site-packages") + 1].removesuffix(".py")


def is_library(filename: str) -> bool:
    path = os.path.abspath(filename)
    package = _package(path)
    if is_ours(filename) or package in _LIBRARIES:
        return True
    return not package and (path.startswith(_STDLIB + os.sep) or filename.startswith("<frozen"))


@functools.cache
def is_ours(filename: str) -> bool:
    """Whether a file is Wengert's, or of the frameworks that it works with or for."""
    path = os.path.abspath(filename)
    package = _package(path)
    if path.startswith(_HERE + os.sep) or filename.startswith("<wengert"):
        return True
    return package in _FRAMEWORKS or package.startswith("jax_")  # its plugins


@functools.cache
def is_wengert(filename: str) -> bool:
    """Whether a file is one of this package."""
    return os.path.abspath(filename).startswith(_HERE + os.sep) or filename.startswith("<wengert")


@functools.cache
def is_installed(filename: str) -> bool:
    """Whether a file belongs to an installed package."""
    return bool(_package(os.path.abspath(filename)))


def is_user(filename: str) -> bool:
    """Whether a file is the program's, or of a library that is not known here."""
    known = USER.get(filename)
    if known is None:
        known = USER[filename] = not is_library(filename)
    return known


# Files already judged; `True` for the user's own. Looked into by the door at every operation.
USER: dict[str, bool] = {}
