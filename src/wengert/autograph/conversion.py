"""Converts functions: finds the source, rewrites it, and makes a function of the result.

The new function has the globals, the closure cells and the defaults of the old one, and its code
names the user's file and lines. Conversions are kept by code object, weakly.
"""

from __future__ import annotations
import __future__

import ast
import functools
import gc
import logging
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from wengert.autograph import source_trees
from wengert.autograph import syntax as b
from wengert.autograph.analysis import Facts
from wengert.autograph.conversion_unit import Construct, Unit
from wengert.autograph.expressions import Expressions
from wengert.autograph.handlers import Guarded, guarded
from wengert.autograph.inline_form import convert_function
from wengert.autograph.library import is_user_code
from wengert.core.failures import failures
from wengert.functions.tracing_state import CONVERT

_log = logging.getLogger("wengert.autograph")
OPT_OUT = "__wengert_do_not_convert__"
_FUNCTION = 0x1  # what has fast local variables
_GENERATOR = 0x20 | 0x80 | 0x200  # generators and coroutines
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


@dataclass(eq=False)
class Conversion:
    """The conversion of one code object: new code, or the reason why it is left alone.

    Converted code itself has neither; `guarded` are its `try` statements.
    """

    code: CodeType | None = None
    reason: str | None = None
    cells: dict[str, CellType] = field(default_factory=dict)
    sites: list[Construct] = field(default_factory=list)
    guarded: Sequence[Guarded] = ()


known: dict[int, tuple[Any, Conversion]] = {}


def convert(f: Any) -> tuple[Any, str | None]:
    """The converted form of a callable and `None`, or the callable itself and why it stays so."""
    try:
        return _convert(f)
    except failures() as error:
        return f, f"the conversion failed: {type(error).__name__}: {error}"


def _convert(f: Any) -> tuple[Any, str | None]:
    if getattr(f, OPT_OUT, False):
        return f, "it is marked `do_not_convert`"
    if isinstance(f, FunctionType):
        result = conversion(f)
        if result.code is None:
            return f, result.reason
        return make(f, result), None
    if isinstance(f, MethodType):
        new, reason = _convert(f.__func__)
        return (f if new is f.__func__ else MethodType(new, f.__self__)), reason
    if isinstance(f, functools.partial):
        new, reason = _convert(f.func)
        return (f if new is f.func else functools.partial(new, *f.args, **f.keywords)), reason
    method = None if isinstance(f, type) else getattr(type(f), "__call__", None)  # noqa: B004
    if isinstance(method, FunctionType):
        new, reason = _convert(method)
        return (f if new is method else MethodType(new, f)), reason
    return f, "it is a class" if isinstance(f, type) else "it is not written in Python"


def conversion(f: FunctionType) -> Conversion:
    """The conversion of the code of a function, cached."""
    kept = known.get(id(f.__code__))
    if kept is not None:
        return kept[1]
    # Syntax trees are many small objects without cycles, which the collector would go through.
    collecting = gc.isenabled()
    try:
        gc.disable()
        result = _rewrite(f)
    except failures() as error:
        result = Conversion(reason=f"the conversion failed: {type(error).__name__}: {error}")
    finally:
        if collecting:
            gc.enable()
    _remember(f.__code__, result)
    if _log.isEnabledFor(logging.DEBUG):
        where = f"{f.__qualname__} ({f.__code__.co_filename}:{f.__code__.co_firstlineno})"
        _log.debug(
            "%s", f"left {where}: {result.reason}" if result.reason else f"converted {where}"
        )
    return result


def _remember(code: CodeType, converted: Conversion) -> None:
    key = id(code)
    forget = known.pop  # bound now: at the end of the process the module's names go first
    known[key] = (weakref.ref(code, lambda _: forget(key, None)), converted)


def _rewrite(f: FunctionType) -> Conversion:
    code = f.__code__
    if not is_user_code(code, f.__globals__):
        return Conversion(reason="it is library code")
    if code.co_flags & _GENERATOR:
        return Conversion(reason="it is a generator or a coroutine")
    try:
        node = source_trees.find(f)
    except source_trees.NoSource as error:
        return Conversion(reason=f"its source is not available: {error}")
    return rewritten(f, node)


def rewritten(f: FunctionType, node: ast.AST) -> Conversion:
    """The conversion of a function whose syntax tree is known."""
    from wengert.autograph.operators import tools

    owner = source_trees.enclosing_class(f)
    unit = Unit(node, frozenset(f.__code__.co_freevars), f.__globals__, owner)
    cells = {name: CellType(value) for name, value in tools(unit).items()}
    done = Conversion(guarded=guarded(node))
    new = _compiled(tree(f, node, unit, list(cells)), f, unit.names.prefix, done)
    return Conversion(new, None, cells, unit.sites)


def tree(f: FunctionType, node: Any, unit: Unit, given: list[str]) -> ast.Module:
    """A module that holds the rewritten function inside one that has its free variables."""
    bare = _bare(node.args)
    if isinstance(node, ast.Lambda):
        body = Expressions(Facts(node, unit), unit, plain=True)(node.body)
        inner: Any = b.do(node, b.changed(node, args=bare, body=body))
    else:
        inner = b.changed(node, args=bare, decorator_list=[], returns=None)
        inner = convert_function(inner, unit)
    free = [*given, *[n for n in f.__code__.co_freevars if n != "__class__"]]
    owner = source_trees.enclosing_class(f)
    if owner is not None:
        inner = b.class_(node, owner, [inner])
    elif "__class__" in f.__code__.co_freevars:
        free.append("__class__")
    # The names of the function and its class mean in the body what they mean in the user's file.
    bound = [n for n in (getattr(node, "name", None), owner) if n and n not in free]
    head = [b.declare(ast.Global, node, bound)] if bound else []
    return ast.Module([b.function(node, unit.names.prefix, free, [*head, inner])], [])


def _bare(args: ast.arguments) -> ast.arguments:
    """Parameters without annotations and defaults, which the old function has evaluated."""
    fields: dict[str, Any] = {
        name: [b.changed(a, annotation=None) for a in getattr(args, name)]
        for name in ("posonlyargs", "args", "kwonlyargs")
    }
    for name in ("vararg", "kwarg"):
        one = getattr(args, name)
        fields[name] = one and b.changed(one, annotation=None)
    defaults = [b.const(a, None) for a in args.defaults]
    kw_defaults = [d and b.const(d, None) for d in args.kw_defaults]
    return b.changed(args, **fields, defaults=defaults, kw_defaults=kw_defaults)


def _compiled(module: ast.Module, f: FunctionType, prefix: str, done: Conversion) -> CodeType:
    old = f.__code__
    flags = old.co_flags & _FUTURE
    code = compile(module, old.co_filename, "exec", flags=flags, dont_inherit=True)
    # The module, the function around, and perhaps a class each hold just one piece of code.
    while code.co_name != old.co_name or code.co_name in (prefix, "<module>"):
        code = next(c for c in code.co_consts if isinstance(c, CodeType))
    if code.co_argcount != old.co_argcount:  # a class of the same name as its method
        code = next(c for c in code.co_consts if isinstance(c, CodeType))
    return _named(code, old.co_name, old.co_qualname, prefix, done)


def _named(
    code: CodeType, name: str, qualname: str, prefix: str, done: Conversion | None
) -> CodeType:
    """Code under the user's names; functions of ours inside it go by the name they belong to."""
    # The body of a class is left as it is; its methods are converted when they are called.
    if not code.co_flags & _FUNCTION:
        done = None
    consts = []
    for one in code.co_consts:
        if isinstance(one, CodeType):
            ours = one.co_name.startswith(prefix)
            inner = name if ours else one.co_name
            full = qualname if ours else _inside(qualname, code, inner)
            one = _named(one, inner, full, prefix, done)
        consts.append(one)
    new = code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(consts))
    if done is not None:
        _remember(new, done)
    return new


def guarded_by(code: CodeType) -> Sequence[Guarded]:
    """The `try` statements of the function that code belongs to, if it is converted code."""
    kept = known.get(id(code))
    return () if kept is None else kept[1].guarded


def _inside(qualname: str, outer: CodeType, name: str) -> str:
    return f"{qualname}.<locals>.{name}" if outer.co_flags & _FUNCTION else f"{qualname}.{name}"


def make(f: FunctionType, converted: Conversion) -> FunctionType:
    """A function of the new code with everything else from the old one."""
    assert converted.code is not None, "there is code to make a function of"
    closure: Any = converted.cells
    if f.__closure__:
        closure = converted.cells | dict(zip(f.__code__.co_freevars, f.__closure__, strict=True))
    cells = tuple([closure[n] for n in converted.code.co_freevars])
    new = FunctionType(converted.code, f.__globals__, f.__name__, f.__defaults__, cells)
    if f.__kwdefaults__:
        new.__kwdefaults__ = f.__kwdefaults__
    if f.__dict__:
        new.__dict__.update(f.__dict__)
    new.__qualname__ = f.__qualname__
    new.__module__ = f.__module__
    return new


CONVERT.fill(convert)
