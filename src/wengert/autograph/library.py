"""Decides which functions are the user's, to be converted, and which belong to a library.

NumPy, Keras, JAX, the standard library and Wengert are left alone. Any other installed package is
left alone too, unless the module of the function imports Wengert itself.
"""

from __future__ import annotations

import types
from typing import Any

from wengert.core import user_code

# Builtins and functions of ours that have a form which takes tensors of a trace, by identity,
# since not everything that is called can be hashed.
REPLACED: dict[int, tuple[Any, Any]] = {}
_judged: dict[tuple[str, str], bool] = {}
_MOST_FILES = 1 << 14
_PLAIN_TYPES = (types.BuiltinFunctionType, type)


def replace(function: Any, form: Any) -> None:
    """Says what converted functions call in place of `function`."""
    REPLACED[id(function)] = (function, form)


def is_user_code(code: types.CodeType, scope: dict[str, Any]) -> bool:
    """Whether a function with this code and these globals is one to rewrite."""
    key = (code.co_filename, scope.get("__name__", ""))
    cached = _judged.get(key)
    if cached is None:
        if len(_judged) >= _MOST_FILES:
            _judged.clear()
        cached = _judged[key] = _judge(code.co_filename, scope)
    return cached


def _judge(filename: str, scope: dict[str, Any]) -> bool:
    if not user_code.is_user(filename):
        return False
    installed = "site-packages" in filename or "dist-packages" in filename
    return not installed or any(map(_is_ours, list(scope.values())))


def _is_ours(value: Any) -> bool:
    name = getattr(value, "__name__" if isinstance(value, types.ModuleType) else "__module__", None)
    return isinstance(name, str) and name.partition(".")[0] == "wengert"


def needs_no_call(value: Any) -> bool:
    """Whether a callee is certainly left alone, so that its call need not be rewritten."""
    if isinstance(value, _PLAIN_TYPES):
        return id(value) not in REPLACED
    if isinstance(value, types.FunctionType):
        # A wrapper of ours may have a function of the user's inside.
        if "__wrapped__" in value.__dict__:
            return False
        return id(value) not in REPLACED and not is_user_code(value.__code__, value.__globals__)
    return False
