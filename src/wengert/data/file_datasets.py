"""The names of files that a program gives to a dataset, and strings of files as arrays."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from wengert.core import nest
from wengert.core.errors import at_site, describe, invalid
from wengert.core.types import Tensor, TensorLike


def file_names(given: TensorLike, name: str) -> list[str]:
    """File names from strings, paths, lists and string tensors."""
    if isinstance(given, Tensor | np.ndarray):
        return [_file_name(n, name) for n in np.asarray(given, object).ravel()]
    return [_file_name(n, name) for n in nest.flatten(given)]


def _file_name(given: Any, name: str) -> str:
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


def scalar_text(text: bytes) -> np.ndarray:
    """One string as an array."""
    array = np.empty((), object)
    array[()] = text
    return array
