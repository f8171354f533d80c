"""The structure of arguments and results as plain lists, fit for JSON, and back.

Places of tensors are numbered. What is neither a container nor a plain value has no such form:
`Strange` names it. Nothing that is read back is ever run.
"""

from __future__ import annotations

import base64
import itertools
import keyword
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from wengert.core import dtypes
from wengert.core.errors import describe
from wengert.core.types import DType, IndexedSlices, TensorShape, TensorSpec
from wengert.functions.signature import Apart, rebuild
from wengert.functions.trace import Slot


class Strange(TypeError):
    """A value that only Python knows how to make."""

    def __init__(self, value: Any) -> None:
        apart = isinstance(value, Apart)
        what = f"a {value.kind.__name__.removesuffix('Spec')}" if apart else describe(value)
        super().__init__(f"{what} cannot be written down")


def pack(value: Any) -> Any:
    """A structure with a `Slot` for each tensor, as lists that begin with a word."""
    if isinstance(value, Slot):
        return ["tensor", value.number]
    if value is None:
        return ["none"]
    kind = type(value)
    if kind in _PLAIN:
        return [kind.__name__, _PLAIN[kind](value)]
    if isinstance(value, DType):
        return ["dtype", value.name]
    if isinstance(value, TensorShape):
        return ["shape", value.as_list() if value.rank is not None else None]
    if isinstance(value, IndexedSlices):
        return ["rows", *map(pack, value._parts)]
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return ["namedtuple", kind.__name__, list(fields), *map(pack, value)]
    if isinstance(value, list | tuple):
        return ["tuple" if isinstance(value, tuple) else "list", *map(pack, value)]
    if isinstance(value, Mapping):
        return ["dict", *[[pack(k), pack(v)] for k, v in value.items()]]
    raise Strange(value)


# JSON has one kind of number, no infinities and no bytes.
_PLAIN: dict[type, Callable[[Any], Any]] = {
    bool: bool,
    int: int,
    float: float.hex,
    complex: lambda z: [z.real.hex(), z.imag.hex()],
    str: str,
    bytes: lambda b: base64.b64encode(b).decode(),
}


def unpack(data: Any, leaf: Callable[[int], Any]) -> Any:
    """The structure again, with `leaf(number)` in the place of each tensor."""
    word, *rest = data
    cached = _MAKERS.get(word)
    if cached is None:
        raise ValueError(f"the word {word!r} is not known here")
    return cached(rest, lambda part: unpack(part, leaf), leaf)


def _namedtuple(rest: list[Any], inner: Any, leaf: Any) -> Any:
    name, fields, *members = rest
    for word in (name, *fields):
        if not str(word).isidentifier() or keyword.iskeyword(word):
            raise ValueError(f"{word!r} is no name")
    return namedtuple(name, fields)(*map(inner, members))


_MAKERS: dict[str, Callable[[list[Any], Any, Any], Any]] = {
    "tensor": lambda rest, inner, leaf: leaf(int(rest[0])),
    "none": lambda rest, inner, leaf: None,
    "bool": lambda rest, inner, leaf: bool(rest[0]),
    "int": lambda rest, inner, leaf: int(rest[0]),
    "float": lambda rest, inner, leaf: float.fromhex(rest[0]),
    "complex": lambda rest, inner, leaf: complex(*map(float.fromhex, rest[0])),
    "str": lambda rest, inner, leaf: str(rest[0]),
    "bytes": lambda rest, inner, leaf: base64.b64decode(rest[0]),
    "dtype": lambda rest, inner, leaf: dtypes.as_dtype(str(rest[0])),
    "shape": lambda rest, inner, leaf: TensorShape(rest[0]),
    "rows": lambda rest, inner, leaf: IndexedSlices._of(*map(inner, rest)),
    "namedtuple": _namedtuple,
    "tuple": lambda rest, inner, leaf: tuple(map(inner, rest)),
    "list": lambda rest, inner, leaf: list(map(inner, rest)),
    "dict": lambda rest, inner, leaf: {inner(k): inner(v) for k, v in rest},
}


def pack_arguments(pairs: Any, named: Any) -> Any:
    """Positional and keyword arguments by name, or the words for what cannot be written down."""
    numbers = itertools.count()

    def packed(value: Any) -> Any:
        return pack(rebuild(value, lambda x, path: Slot(next(numbers))))

    try:
        return [[n, packed(v)] for n, v in pairs], [[n, packed(v)] for n, v in named.items()]
    except Strange as error:
        return str(error)


def unpack_arguments(
    packed: Any, specs: list[TensorSpec]
) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """Arguments with specs in the place of tensors."""
    pairs, named = packed
    return (
        [(str(n), unpack(v, specs.__getitem__)) for n, v in pairs],
        {str(n): unpack(v, specs.__getitem__) for n, v in named},
    )
