"""Calls from converted functions: the user's functions are converted on the way."""

from __future__ import annotations

import weakref
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any

from wengert.autograph.conversion import OPT_OUT, conversion, convert, known, make
from wengert.autograph.library import REPLACED

# Converted functions by the identity of the originals; `None` for those that are left alone. An
# entry holds no reference to the closure of the original, so that functions can be freed.
_made: dict[int, tuple[Any, Any]] = {}


def call(f: Any) -> Any:
    """The callable that replaces `f`."""
    kind = type(f)
    if kind is FunctionType:
        kept = _made.get(id(f))
        return _function(f) if kept is None else kept[1] or f
    if kind is MethodType:
        function = f.__func__
        if type(function) is not FunctionType:
            return f
        kept = _made.get(id(function))
        new = _function(function) if kept is None else kept[1]
        return f if new is None or new is function else MethodType(new, f.__self__)
    replaced = REPLACED.get(id(f))
    if replaced is not None:
        return replaced[1]
    if kind is BuiltinFunctionType or isinstance(f, type):
        return f
    return convert(f)[0]


def _function(f: FunctionType) -> Any:
    kept = known.get(id(f.__code__))
    result = conversion(f) if kept is None else kept[1]
    if result.code is None or (f.__dict__ and getattr(f, OPT_OUT, False)):
        if "__wrapped__" in f.__dict__:
            return _rewrapped(f)
        replaced = REPLACED.get(id(f))
        new = None if replaced is None else replaced[1]
    else:
        new = make(f, result)
    if new is None or not f.__closure__:
        key = id(f)
        _made[key] = (weakref.ref(f, lambda _: _made.pop(key, None)), new)
    return new or f


def _rewrapped(f: FunctionType) -> Any:
    """A wrapper of ours, such as `custom_gradient` makes, around the converted function."""
    inner = f.__wrapped__  # type: ignore[attr-defined]  # the caller has looked
    if not _is_ours(f) or not callable(inner):
        return f
    new = call(inner)
    indices = [k for k, c in enumerate(f.__closure__ or ()) if _content(c) is inner]
    if new is inner or not indices or getattr(f, OPT_OUT, False):
        return f
    cells = list(f.__closure__ or ())
    for k in indices:
        cells[k] = CellType(new)
    made = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, tuple(cells))
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def _is_ours(f: FunctionType) -> bool:
    # `functools.wraps` gives a wrapper the module of what it wraps.
    return str(f.__globals__.get("__name__")).startswith("wengert.")


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None
