"""What a Python function reads and stores from outside: globals, closures, attributes.

Found in its bytecode, and in that of the user's functions it calls. A `Reference` can be looked up
again later; library code is not looked into.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.core import user_code
from wengert.core.sites import RawSite
from wengert.explain.naming import inside
from wengert.functions.function import Function

RANDOM = (np.random.Generator, np.random.RandomState)
_DEEPEST = 3
_MISSING: Any = object()
_LOADS = {"LOAD_GLOBAL": "global", "LOAD_NAME": "global", "LOAD_DEREF": "cell"}
_LOADS |= {"LOAD_CLASSDEREF": "cell", "LOAD_FAST": "local", "LOAD_FAST_CHECK": "local"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_STORES = {"STORE_GLOBAL": "global", "STORE_DEREF": "cell"}


class Item(NamedTuple):
    """An item of a container that is asked for by a constant: `config["rate"]`."""

    key: Any


class Reference(NamedTuple):
    """A name with attributes and items, as one function sees it, and where that stands."""

    reader: FunctionType
    instance: Any
    kind: str
    name: str
    attributes: tuple[str | Item, ...]
    site: RawSite

    @property
    def text(self) -> str:
        """As it is written."""
        return self.name + "".join(
            f"[{a.key!r}]" if isinstance(a, Item) else f".{a}" for a in self.attributes
        )

    @property
    def key(self) -> tuple[str, int]:
        """The same for all references to one thing, however many functions see it."""
        if self.kind == "local":
            return self.text, id(self.instance)
        reader: Any = self.reader
        if self.kind == "global":
            return self.text, id(reader.__globals__)
        cells = zip(reader.__code__.co_freevars, reader.__closure__ or (), strict=False)
        return self.text, id(dict(cells).get(self.name))

    def value(self) -> Any:
        """What it stands for now; `_MISSING` where that cannot be told."""
        result = _root(self)
        for name in self.attributes:
            result = _inside(result, name)
        return result

    def trimmed(self) -> Reference:
        """Without the attributes that lie in a class: `losses` for `losses.append`."""
        result = _root(self)
        for k, name in enumerate(self.attributes):
            result = _inside(result, name)
            if result is _MISSING:
                return self._replace(attributes=self.attributes[:k])
        return self

    def method(self) -> Any:
        """The method of a class that the last attribute names, bound; else `_MISSING`."""
        owner = self._replace(attributes=self.attributes[:-1]).value()
        kinds = (vars(k) for k in type(owner).__mro__)
        last: Any = self.attributes[-1]
        result = next((k[last] for k in kinds if last in k), None)
        return MethodType(result, owner) if isinstance(result, FunctionType) else _MISSING

    @property
    def is_library(self) -> bool:
        """Whether it names something of a library, which does not change."""
        root = _root(self)
        if not isinstance(root, ModuleType):
            return False
        file = getattr(root, "__file__", None)
        return not user_code.is_user(file) if file else root.__name__ in sys.stdlib_module_names


def is_missing(value: Any) -> bool:
    """Whether a reference had no value."""
    return value is _MISSING


def _inside(owner: Any, name: str | Item) -> Any:
    """An attribute that lies in the object; a property would run the user's code."""
    if not isinstance(name, Item):
        return inside(owner).get(name, _MISSING)
    if isinstance(owner, dict):
        return dict.get(owner, name.key, _MISSING)
    kind: Any = next((k for k in (list, tuple) if isinstance(owner, k)), None)
    try:
        return _MISSING if kind is None else kind.__getitem__(owner, name.key)
    except (TypeError, IndexError):
        return _MISSING


def _root(reference: Reference) -> Any:
    function: Any = reference.reader
    if reference.kind == "global":
        return function.__globals__.get(reference.name, _MISSING)
    if reference.kind == "local":
        return reference.instance
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    try:
        return cells[reference.name].cell_contents
    except (KeyError, ValueError):
        return _MISSING


def is_user(code: CodeType) -> bool:
    """Whether code is the user's own."""
    return user_code.is_user(code.co_filename)


def references(function: Any) -> tuple[list[Reference], list[Reference]]:
    """What a function reads and what it stores, its user's callees included."""
    reads: dict[Any, Reference] = {}
    stores: dict[Any, Reference] = {}
    seen: set[int] = set()
    _collect(function, reads, stores, seen, _DEEPEST)
    return list(reads.values()), list(stores.values())


def _collect(callable_: Any, reads: Any, stores: Any, seen: set[int], depth: int) -> None:
    function, instance = plain(callable_)
    if function is None or id(function.__code__) in seen or not is_user(function.__code__):
        return
    seen.add(id(function.__code__))
    for full, stored in _scan(function, instance):
        result = full if stored else full.trimmed()
        (stores if stored else reads).setdefault((result.text, id(result.reader)), result)
        value = full.method() if result is not full else result.value()
        if depth and callable(value) and not isinstance(value, type | ModuleType):
            _collect(value, reads, stores, seen, depth - 1)


def plain(callable_: Any) -> tuple[FunctionType | None, Any]:
    """The Python function behind something callable, and the object it is bound to."""
    if isinstance(callable_, Function):
        return plain(callable_.python_function)
    if isinstance(callable_, MethodType):
        return plain(callable_.__func__)[0], callable_.__self__
    if isinstance(callable_, FunctionType):
        return callable_, None
    kinds = (vars(k) for k in type(callable_).__mro__)
    method = next((k["__call__"] for k in kinds if "__call__" in k), None)
    return (method, callable_) if isinstance(method, FunctionType) else (None, None)


def function_of(frame: FrameType) -> Any:
    """The function that a frame runs, bound if it is a method; `None` where it is not found."""
    code = frame.f_code
    owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    for kind in type(owner).__mro__ if owner is not None else ():
        result = plain(vars(kind).get(code.co_name))[0]
        if result is not None and _is_of(result, code):
            return MethodType(result, owner)
    result = plain(frame.f_globals.get(code.co_name))[0]
    return result if result is not None and _is_of(result, code) else None


def _is_of(function: FunctionType, code: CodeType) -> bool:
    """Whether code, perhaps converted, is that of a function."""
    own = function.__code__
    return (own.co_filename, own.co_firstlineno) == (code.co_filename, code.co_firstlineno)


def _scan(function: FunctionType, instance: Any) -> Iterator[tuple[Reference, bool]]:
    """The references of one function and of the functions written inside it."""
    codes = [function.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
        yield from _scan_code(function, instance, code, code is function.__code__)


def _scan_code(
    function: FunctionType, instance: Any, code: CodeType, own: bool
) -> Iterator[tuple[Reference, bool]]:
    first = code.co_varnames[0] if own and code.co_argcount else None
    free = set(function.__code__.co_freevars)
    rows = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "PRECALL")]
    for k, row in enumerate(rows):
        kind = _LOADS.get(row.opname) or _STORES.get(row.opname)
        kind = kind or ("local" if row.opname.startswith("LOAD_FAST_") else None)
        if kind is None:
            continue
        # Newer Pythons load two locals at once; the last is the one that attributes are asked of.
        name = row.argval[-1] if isinstance(row.argval, tuple) else row.argval
        if kind == "cell" and name not in free:
            continue
        if kind == "local" and (instance is None or name != first):
            continue
        attributes, stored = _attributes(rows[k + 1 :])
        stored = stored or row.opname in _STORES
        if kind != "local" or attributes:
            names = tuple([name for name, _ in attributes])
            site = (code, attributes[-1][1] if attributes else row.offset)
            yield Reference(function, instance, kind, name, names, site), stored


_CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")


def _attributes(rows: list[Any]) -> tuple[list[Any], bool]:
    """What is asked of a name, each with its offset, and whether the last of it is stored."""
    results: list[Any] = []
    k = 0
    while k < len(rows):
        row = rows[k]
        if row.opname in _ATTRIBUTES:
            results.append((row.argval, row.offset))
        elif row.opname == "STORE_ATTR":
            return [*results, (row.argval, row.offset)], True
        elif row.opname in _CONSTANTS and _is_item(rows[k + 1 : k + 2]):
            k += 1
            results.append((Item(row.argval), rows[k].offset))
        elif row.opname != "COPY":  # `x.n += 1` copies x before it asks for n
            break
        k += 1
    return results, False


def _is_item(rows: list[Any]) -> bool:
    """Whether the next instruction asks a container for the constant before it."""
    return any(r.opname == "BINARY_SUBSCR" or r.argrepr == "[]" for r in rows)
