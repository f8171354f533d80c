"""What a Python function reads and stores from outside: globals, closures, attributes.

Found in its bytecode, and in that of the user's functions it calls. A `Reference` can be looked up
again later; library code is not looked into.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.core.sites import USER, RawSite, _is_library
from wengert.explain.naming import inside
from wengert.functions.function import Function

RANDOM = (np.random.Generator, np.random.RandomState)
_DEEPEST = 3
_MISSING: Any = object()
_LOADS = {"LOAD_GLOBAL": "global", "LOAD_NAME": "global", "LOAD_DEREF": "cell"}
_LOADS |= {"LOAD_CLASSDEREF": "cell", "LOAD_FAST": "local", "LOAD_FAST_CHECK": "local"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_STORES = {"STORE_GLOBAL": "global", "STORE_DEREF": "cell"}


class Reference(NamedTuple):
    """A name with attributes, as one function sees it, and where that stands."""

    reader: FunctionType
    instance: Any
    kind: str
    name: str
    attributes: tuple[str, ...]
    site: RawSite

    @property
    def text(self) -> str:
        """As it is written."""
        return ".".join((self.name, *self.attributes))

    def value(self) -> Any:
        """What it stands for now; `_MISSING` where that cannot be told."""
        found = _root(self)
        for name in self.attributes:
            found = _inside(found, name)
        return found

    def trimmed(self) -> Reference:
        """Without the attributes that lie in a class: `losses` for `losses.append`."""
        found = _root(self)
        for k, name in enumerate(self.attributes):
            found = _inside(found, name)
            if found is _MISSING:
                return self._replace(attributes=self.attributes[:k])
        return self

    def method(self) -> Any:
        """The method of a class that the last attribute names, bound; else `_MISSING`."""
        owner = self._replace(attributes=self.attributes[:-1]).value()
        kinds = (vars(k) for k in type(owner).__mro__)
        found = next((k[self.attributes[-1]] for k in kinds if self.attributes[-1] in k), None)
        return MethodType(found, owner) if isinstance(found, FunctionType) else _MISSING

    @property
    def is_library(self) -> bool:
        """Whether it names something of a library, which does not change."""
        root = _root(self)
        if not isinstance(root, ModuleType):
            return False
        return _is_library(getattr(root, "__file__", None) or __file__)


def is_missing(value: Any) -> bool:
    """Whether a reference had no value."""
    return value is _MISSING


def _inside(owner: Any, name: str) -> Any:
    """An attribute that lies in the object; a property would run the user's code."""
    return inside(owner).get(name, _MISSING)


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
    user = USER.get(code.co_filename)
    return not _is_library(code.co_filename) if user is None else user


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
        found = full if stored else full.trimmed()
        (stores if stored else reads).setdefault((found.text, id(found.reader)), found)
        value = full.method() if found is not full else found.value()
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
        # Newer Pythons load two locals at once; the last is the one that attributes are asked of.
        name = row.argval[-1] if isinstance(row.argval, tuple) else row.argval
        if kind is None or (kind == "cell" and name not in free):
            continue
        if kind == "local" and (instance is None or name != first):
            continue
        attributes, stored = _attributes(rows[k + 1 :])
        stored = stored or row.opname in _STORES
        if kind != "local" or attributes:
            names = tuple([a.argval for a in attributes])
            site = (code, (attributes or [row])[-1].offset)
            yield Reference(function, instance, kind, name, names, site), stored


def _attributes(rows: list[Any]) -> tuple[list[Any], bool]:
    """The attributes that are asked of a name, and whether the last of them is stored."""
    found: list[Any] = []
    for row in rows:
        if row.opname in _ATTRIBUTES:
            found.append(row)
        elif row.opname == "STORE_ATTR":
            return [*found, row], True
        elif row.opname != "COPY":  # `x.n += 1` copies x before it asks for n
            break
    return found, False
