"""What to add to an error about a misspelt argument or imported name while it is shown.

Python itself raises these errors, before any code of the function has run, so calls that succeed pay
nothing. Python 3.13 names the nearest argument itself; for older ones the call is looked up in the
source of the failed line, without running anything.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import linecache
import re
import sys
from itertools import islice
from types import FrameType, FunctionType, TracebackType
from typing import Any

from wengert.core.hints import hint
from wengert.core.user_code import is_ours

_UNEXPECTED = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_OF_KERAS = re.compile(r"Unrecognized keyword arguments passed to (\w+): \{'(\w+)'")
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")


def suggest(error: BaseException) -> None:
    """Adds a note with the nearest spelling, or the remedy, to an error in others' words."""
    kinds = TypeError | ValueError | ImportError | AttributeError
    if isinstance(error, kinds) and not hasattr(error, "__notes__"):
        note = _argument(error) or _imported(error) or _called_module(error) or _hinted(error)
        if note:
            error.add_note(f"  {note}")


def _argument(error: BaseException) -> str | None:
    tb = error.__traceback__
    match = _UNEXPECTED.fullmatch(str(error))
    if match is not None:
        function = _called(tb, match[1])
    else:
        match = _OF_KERAS.match(str(error))
        function = match and _made(tb, match[1])
    if match is None or not isinstance(function, FunctionType):
        return None
    if not is_ours(function.__code__.co_filename):
        return None
    near = difflib.get_close_matches(match[2], inspect.signature(function).parameters, 1, 0.6)
    return f"Did you mean `{near[0]}`?" if near else None


def _hinted(error: BaseException) -> str | None:
    """The remedy for an error of Keras, or of Python about one of our objects."""
    tb, about_ours = error.__traceback__, "' object " in str(error)
    while tb is not None and not about_ours:
        about_ours, tb = is_ours(tb.tb_frame.f_code.co_filename), tb.tb_next
    return hint(str(error)) if about_ours else None


def _called_module(error: BaseException) -> str | None:
    """What to call where one of our namespaces was called."""
    if str(error) != "'module' object is not callable" or error.__traceback__ is None:
        return None
    tb = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    call = _call(tb)
    module = None if call is None else _value(call.func, tb.tb_frame)
    if call is None or not is_ours(getattr(module, "__file__", None) or ""):
        return None
    name = ast.unparse(call.func)
    names = [n for n in dir(module) if n.islower() and isinstance(getattr(module, n), FunctionType)]
    return f"`{name}` is a namespace: call one of its functions, such as {name}.{names[0]}."


def _imported(error: BaseException) -> str | None:
    """What the module says of a name that `from module import name` has not found."""
    match = _NO_NAME.match(str(error)) if isinstance(error, ImportError) else None
    module = match and sys.modules.get(match[2])
    if match is None or module is None or not is_ours(getattr(module, "__file__", None) or ""):
        return None
    try:
        getattr(module, match[1])
    except AttributeError as why:
        return str(why)
    return None


def _called(tb: TracebackType | None, name: str) -> Any:
    """The function of this name that the last line of a traceback has called."""
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None:
        return None
    call = _call(tb)
    if call is not None:
        value = _value(call.func, tb.tb_frame)
        if isinstance(value, type):
            value = inspect.getattr_static(value, "__init__")
        value = getattr(value, "__func__", value)
        if value is not _UNKNOWN:
            return value if getattr(value, "__qualname__", None) == name else None
    # A method of what another call gave; its class is ours if there is such a class.
    return _by_name(name) if "." in name else None


def _call(tb: TracebackType) -> ast.Call | None:
    """The call that failed, as Python has marked it in the source."""
    code = tb.tb_frame.f_code
    marks = next(islice(code.co_positions(), tb.tb_lasti // 2, None), (None,) * 4)
    first, last, start, end = marks
    if first is None or last is None or start is None or end is None:
        return None
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        tree = ast.parse(b"".join(lines).decode(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.Call) else None


_UNKNOWN: Any = object()


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What a name or dotted name stands for, looked up without running anything."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, _UNKNOWN))
    if not isinstance(node, ast.Attribute):
        return _UNKNOWN
    holder = _value(node.value, frame)
    if holder is _UNKNOWN:
        return _UNKNOWN
    value = inspect.getattr_static(holder, node.attr, _UNKNOWN)
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    return _UNKNOWN if isinstance(value, property) else value


def _by_name(name: str) -> Any:
    """The method of this name, if the program has none of its own; rather ours than Keras's."""
    first, *rest = name.split(".")
    found: dict[int, FunctionType] = {}
    for module in list(sys.modules.values()):
        value: Any = getattr(module, "__dict__", {}).get(first)
        for part in rest if isinstance(value, type) else ():
            value = inspect.getattr_static(value, part, None)
        value = getattr(value, "__func__", value)
        if isinstance(value, FunctionType) and value.__qualname__ == name:
            found[id(value)] = value
    methods = sorted(found.values(), key=lambda f: not f.__module__.startswith("wengert."))
    own = all(is_ours(f.__code__.co_filename) for f in methods)
    return methods[0] if methods and own else None


def _made(tb: TracebackType | None, name: str) -> Any:
    """The initializer of the object of that class which was being made."""
    while tb is not None:
        self = tb.tb_frame.f_locals.get("self")
        if type(self).__name__ == name:
            return inspect.getattr_static(type(self), "__init__")
        tb = tb.tb_next
    return None
