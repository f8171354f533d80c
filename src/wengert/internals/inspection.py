"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, which looks through decorators itself."""

from __future__ import annotations

import functools
import inspect
from inspect import (
    FullArgSpec,
    Parameter,
    Signature,
    currentframe,
    getattr_static,
    getcallargs,
    getdoc,
    getfile,
    getmembers,
    getmodule,
    getmro,
    getsource,
    isbuiltin,
    isclass,
    isfunction,
    isgenerator,
    isgeneratorfunction,
    ismethod,
    ismodule,
    isroutine,
    signature,
    stack,
)
from typing import Any

__all__ = [
    "FullArgSpec", "Parameter", "Signature", "currentframe", "getattr_static", "getcallargs", "getdoc", "getfile",
    "getfullargspec", "getmembers", "getmodule", "getmro", "getsource", "inspect", "isbuiltin",
    "isclass", "isfunction", "isgenerator", "isgeneratorfunction", "ismethod", "ismodule",
    "isroutine", "signature", "stack",
]  # fmt: skip


def getfullargspec(obj: Any) -> FullArgSpec:
    """The parameters of a function, of the innermost one where decorators name what they wrap."""
    if isinstance(obj, functools.partial):
        return inspect.getfullargspec(obj)
    spec = inspect.getfullargspec(inspect.unwrap(obj))
    return spec._replace(annotations={})
