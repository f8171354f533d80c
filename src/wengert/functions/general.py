"""`reduce_retracing`: sizes that vary from call to call become unknown."""

from __future__ import annotations

from typing import Any

from wengert.core import shapes
from wengert.core.spec import TensorSpec
from wengert.functions.signature import encode, spec_of


def find(function: Any, key: Any, pairs: Any, named: Any, site: Any) -> Any:
    """A trace that fits these arguments, one with unknown sizes if shapes have varied."""
    leaves, pattern = _pattern(pairs, named)
    specs = [spec_of(x) for x in leaves]
    seen = function._store.__dict__.setdefault("general", {})
    known = seen.get(pattern)
    if known is None:
        found = function._trace(key, pairs, named, spec_of, site)
        seen[pattern] = (specs, found)
        return found
    joined = [_joined(a, b) for a, b in zip(known[0], specs, strict=True)]
    if joined == known[0] and known[1].belongs_here():
        function._store.keep(key, known[1])
        return known[1]
    flat = iter(joined)
    found = function._trace(key, pairs, named, lambda x: next(flat), site)
    seen[pattern] = (joined, found)
    return found


def _joined(a: Any, b: Any) -> TensorSpec:
    return TensorSpec(shapes.join(a.shape._dims, b.shape._dims), a.dtype, a.name)


def _pattern(pairs: Any, named: Any) -> tuple[list[Any], Any]:
    """The tensors, and a key of everything but their sizes."""
    leaves: list[Any] = []
    key = (*[encode(v, leaves) for _, v in pairs], *[(k, encode(v, leaves)) for k, v in named.items()])
    ranks = tuple((x.dtype.np.num, None if x.shape.rank is None else x.shape.rank) for x in leaves)
    return leaves, (ranks, _without_shapes(key))


def _without_shapes(key: Any) -> Any:
    if isinstance(key, tuple):
        if len(key) == 2 and type(key[0]) is int and (key[1] is None or isinstance(key[1], tuple)):
            return key[0]
        return tuple(_without_shapes(k) for k in key)
    return key
