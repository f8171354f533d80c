"""Traces with unknown sizes: found again for all arguments that they cover.

One that was asked for by a `TensorSpec` serves later calls, and with `reduce_retracing` sizes that
vary from call to call become unknown.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from wengert.core import dtypes, shapes
from wengert.core.scopes import own_variable
from wengert.core.tensor_spec import TensorSpec
from wengert.functions.signature import encode, rebuild, specs_in
from wengert.functions.variable_sharing import Given
from wengert.graph.builder import building

if TYPE_CHECKING:
    import numpy as np

    from wengert.core.types import RawSite, Tensor
    from wengert.functions.function import Function
    from wengert.functions.trace import Trace


_MOST = 512
# What the elements of the dataset look like whose iterator drives the functions called here.
DRIVEN: ContextVar[Any] = own_variable("wengert_driven", None)


class Wide:
    """The wide traces of one function, by their arguments without shapes, narrowest first."""

    def __init__(self) -> None:
        self.traces: dict[Any, list[tuple[list[TensorSpec], Any]]] = {}
        self.joined: dict[Any, list[TensorSpec]] = {}

    def covering(self, pattern: Any, specs: list[TensorSpec]) -> Trace | None:
        """A trace that takes tensors like these."""
        for known, ref in self.traces.get(pattern, ()):
            trace = ref()
            if trace is not None and trace.belongs_here() and all(map(_covers, known, specs)):
                return trace
        return None

    def note(self, pairs: Any, named: Any, trace: Trace) -> None:
        """Remembers a trace if it takes more than one set of shapes."""
        known = list(trace.specs)
        if not any(map(_unknowns, known)):
            return
        pattern = _pattern(pairs, named)
        if len(self.traces) >= _MOST:
            self.traces.clear()
        results = [e for e in self.traces.get(pattern, ()) if e[1]() is not None]
        results.append((known, weakref.ref(trace)))
        self.traces[pattern] = sorted(results, key=lambda e: sum(map(_unknowns, e[0])))

    def join(self, pattern: Any, specs: list[TensorSpec]) -> list[TensorSpec]:
        """The shapes met so far as one, with unknown sizes where they differ."""
        before = self.joined.get(pattern)
        return specs if before is None else [*map(_joined, before, specs)]

    def keep(self, pattern: Any, specs: list[TensorSpec]) -> None:
        """Remembers the shapes of a trace that came to its end."""
        if len(self.joined) >= _MOST:
            self.joined.clear()
        self.joined[pattern] = specs


def find(function: Function, key: Any, pairs: Any, named: Any, site: RawSite | None) -> Trace:
    """The trace for a signature met for the first time: one that covers it, or a new one."""
    store, joins = function._store, function._options.reduce_retracing
    given = Given(pairs, named)
    if given.variables:
        result = store.shared.find(given)
        if result is not None:
            store.keep(key, result)
            return result
    specs = _as_driven(specs_in([*[v for _, v in pairs], *named.values()]))
    pattern = _pattern(pairs, named) if joins or store.wide.traces else None
    if pattern is not None:
        result = store.wide.covering(pattern, specs)
        if result is not None:
            store.keep(key, result)
            return result
        specs = store.wide.join(pattern, specs) if joins else specs
    flat = iter(specs)
    result = function._trace(key, pairs, named, lambda x: next(flat), site)
    if joins:
        store.wide.keep(pattern, specs)
    return result


def _as_driven(specs: list[TensorSpec]) -> list[TensorSpec]:
    """An element of a dataset as all its elements are: the last batch may be a smaller one."""
    driven = DRIVEN.get()
    if driven is None or building() is not None:
        return specs
    wide = specs_in([driven])
    fits = len(wide) == len(specs) and all(
        w.dtype is s.dtype and _covers(w, s) for w, s in zip(wide, specs, strict=True)
    )
    return wide if fits else specs


def _pattern(pairs: Any, named: Any) -> Any:
    """A key of everything about the arguments but the shapes of their tensors."""

    def shapeless(x: Tensor | np.ndarray | TensorSpec, path: str) -> TensorSpec:
        return TensorSpec(None, dtypes.as_dtype(x.dtype))

    given = [*pairs, *named.items()]
    return tuple([(name, encode(rebuild(value, shapeless), [])) for name, value in given])


def _covers(wide: TensorSpec, spec: TensorSpec) -> bool:
    """Whether every tensor like `spec` is also like `wide`."""
    a, b = wide.shape._dims, spec.shape._dims
    if a is None or b is None:
        return a is None
    return len(a) == len(b) and all(m is None or m == n for m, n in zip(a, b, strict=True))


def _unknowns(spec: TensorSpec) -> int:
    dims = spec.shape._dims
    return 100 if dims is None else sum(d is None for d in dims)


def _joined(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    return TensorSpec(shapes.join(a.shape._dims, b.shape._dims), a.dtype, a.name)
