"""Datasets of what stands in files: names of files, and lines of text."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from wengert.core import nest
from wengert.core.apply import wrap
from wengert.core.dtypes import string
from wengert.core.errors import at_site, describe, invalid
from wengert.core.tensor import Tensor
from wengert.core.tensor_spec import TensorSpec
from wengert.data.sources import Started
from wengert.io.expansion import opened
from wengert.io.paths import local, reporting
from wengert.io.tfrecord import compression

if TYPE_CHECKING:
    from wengert.core.types import TensorLike


def file_names(given: TensorLike, name: str) -> list[str]:
    """File names from strings, paths, lists and string tensors."""
    if isinstance(given, Tensor | np.ndarray):
        return [_file_name(n, name) for n in np.asarray(given, object).ravel()]
    return [_file_name(n, name) for n in nest.flatten(given)]


def _file_name(given: bytes | str, name: str) -> str:
    if isinstance(given, Tensor):
        given = given.numpy()
    try:
        return os.fsdecode(os.fspath(given))
    except TypeError:
        kind = ValueError if given is None else TypeError
        raise at_site(kind(f"{name}: file names are strings; got {describe(given)}.")) from None


def matching(file_pattern: str, name: str = "list_files") -> list[str]:
    """The files that match patterns, sorted; an error where there are none."""
    patterns = file_names(file_pattern, name)
    results = sorted({one for pattern in patterns for one in glob.glob(pattern)})
    if not results:
        raise invalid(name, f"no file matches {', '.join(patterns)}")
    return results


def text_lines(filenames: TensorLike, compression_type: str | None) -> Started:
    """The lines of text files, one file after the other, without their ends."""
    names = file_names(filenames, "TextLineDataset")
    kind = compression("TextLineDataset", compression_type)
    sample = wrap(scalar_text(b""))
    return Started(lambda: _lines(names, kind), TensorSpec([], string), sample)


def scalar_text(text: bytes) -> np.ndarray:
    """One string as an array."""
    array = np.empty((), object)
    array[()] = text
    return array


def _lines(names: list[str], kind: str) -> Iterator[Tensor]:
    own = "TextLineDataset"
    for name in names:
        path = local(own, name)
        with reporting(own, path), open(path, "rb") as file:
            for line in opened(own, path, file, kind):
                yield wrap(scalar_text(line.removesuffix(b"\n").removesuffix(b"\r")))
