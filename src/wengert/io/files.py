"""Files as tensors: reading, writing and finding them in a program, traced or not.

A traced function touches the files each time it runs, in order with its other effects.
"""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.types import Op, ShapeDtype, Tensor, TensorLike
from wengert.io.paths import local, reporting

_STRING = dtypes.nums("s")


def one_string(name: str, argument: str, x: np.ndarray, help: str = "") -> bytes:
    """The string in an array of one."""
    if x.ndim:
        given = ShapeDtype(x.shape, dtypes.string)
        raise invalid(name, f"`{argument}` must be one string", given, help=help)
    result: Any = x[()]
    return result


def _read(filename: np.ndarray) -> np.ndarray:
    path = local("read_file", one_string("read_file", "filename", filename))
    out = np.empty((), object)
    with reporting("read_file", path), open(path, "rb") as file:
        out[()] = file.read()
    return out


READ_FILE = Op(
    "read_file",
    "filename",
    kernel=_read,
    infer=lambda filename: ShapeDtype((), dtypes.string),
    lower=None,
    grad=None,
    accepts=_STRING,
    effect=True,
    register=False,
)


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The whole content of a file, as a string tensor.

    Args:
        filename: its path.
        name: without effect.

    Returns:
        A scalar string.

    Raises:
        NotFoundError: there is no such file.

    >>> tf.io.write_file("words.txt", "some words")
    >>> tf.io.read_file("words.txt").numpy()
    b'some words'
    """
    return apply(READ_FILE, operand(filename, dtypes.string))


def _write(filename: np.ndarray, contents: np.ndarray) -> np.ndarray:
    path = local("write_file", one_string("write_file", "filename", filename))
    data = one_string("write_file", "contents", contents)
    with reporting("write_file", path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return np.asarray(True)


WRITE_FILE = Op(
    "write_file",
    "filename contents",
    kernel=_write,
    infer=lambda filename, contents: ShapeDtype((), dtypes.bool_),
    lower=None,
    grad=None,
    accepts=_STRING,
    effect=True,
    register=False,
)


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> None:
    """Writes a string to a file, and makes the folders around it where they are missing.

    Args:
        filename: its path.
        contents: a scalar string.
        name: without effect.

    Returns:
        Nothing.

    Raises:
        PermissionDeniedError: the file may not be written.

    >>> tf.io.write_file("note.txt", "text")
    >>> tf.io.gfile.exists("note.txt")
    True
    """
    apply(WRITE_FILE, operand(filename, dtypes.string), operand(contents, dtypes.string))


def _match(pattern: np.ndarray) -> np.ndarray:
    if pattern.ndim > 1:
        given = ShapeDtype(pattern.shape, dtypes.string)
        raise invalid("matching_files", "`pattern` must be one string or a list", given)
    results: list[str] = []
    for one in pattern.reshape(-1):
        results += glob.glob(local("matching_files", one), include_hidden=True)
    out = np.empty(len(results), object)
    out[:] = [os.fsencode(path) for path in sorted(results)]
    return out


MATCHING_FILES = Op(
    "matching_files",
    "pattern",
    kernel=_match,
    infer=lambda pattern: ShapeDtype((None,), dtypes.string),
    lower=None,
    grad=None,
    accepts=_STRING,
    effect=True,
    register=False,
)


def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The paths that match one pattern or several, sorted, as a string tensor."""
    return apply(MATCHING_FILES, operand(pattern, dtypes.string))
