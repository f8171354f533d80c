"""Calls from converted functions: the user's functions are converted on the way."""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from wengert.autograph.conversion import OPT_OUT, conversion, convert, known, make
from wengert.autograph.library import REPLACED

_PLAIN = (BuiltinFunctionType, type)


def call(f: Any) -> Any:
    """What to call in place of `f`."""
    kind = type(f)
    if kind is FunctionType:
        return _function(f)
    if kind is MethodType:
        function = f.__func__
        if type(function) is not FunctionType:
            return f
        new = _function(function)
        return f if new is function else MethodType(new, f.__self__)
    replaced = REPLACED.get(id(f))
    if replaced is not None:
        return replaced[1]
    if kind is BuiltinFunctionType or isinstance(f, type):
        return f
    return convert(f)[0]


def _function(f: FunctionType) -> Any:
    kept = known.get(id(f.__code__))
    found = conversion(f) if kept is None else kept[1]
    if found.code is None:
        replaced = REPLACED.get(id(f))
        return f if replaced is None else replaced[1]
    return f if f.__dict__ and getattr(f, OPT_OUT, False) else make(f, found)
