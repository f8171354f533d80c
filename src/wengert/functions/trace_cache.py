"""The cache of traces of one function: which trace serves a call, and how long it is kept.

A trace is found by its key. One with unknown sizes serves all arguments that it covers: it was
asked for by a `TensorSpec`, or `reduce_retracing` made sizes unknown that vary from call to call.
The cache is bounded, and what it notes beside a trace goes with it: the objects that the key names,
the shapes that are known to fit. How a trace is made it does not know.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from wengert.core import dtypes, shapes
from wengert.core.context import own_variable
from wengert.core.locks import new_lock
from wengert.core.types import RawSite, Tensor, TensorSpec
from wengert.functions import trace_log
from wengert.functions.signature import Same, encode, objects_in, rebuild, specs_in
from wengert.functions.trace import Trace
from wengert.functions.variable_sharing import Given, Shared
from wengert.graph.builder import building

if TYPE_CHECKING:
    import numpy as np

    from wengert.functions.function import Function


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


MOST_TRACES = 512


class Store:
    """The traces of one function, or of one method of one instance."""

    def __init__(self, context: Any = None) -> None:
        self.context = context  # what these traces are made for, besides arguments
        self.beside: dict[Any, Store] = {}  # those made for other contexts
        self.runs: dict[Any, Any] = {}  # functions that run this one in replicas, by strategy
        self.traces: OrderedDict[Any, Trace] = OrderedDict()
        self.lock = new_lock()
        self.count = 0
        self.made_variables = False
        self.started = False
        self.shared = Shared()
        self.objects: dict[Any, list[Same]] = {}  # by key, where it names any
        self.fits: dict[Any, Trace] = {}  # by dtypes and shapes that are known to fit a signature
        self.wide = Wide()
        self.notes: list[trace_log.Note] = []

    def within(self, context: Any) -> Store:
        """The traces that are made for another context."""
        known = self.beside.get(context)
        if known is not None:
            return known
        with self.lock:
            if len(self.beside) >= _MOST:
                self.beside.clear()
            return self.beside.setdefault(context, Store(context))

    def whole_count(self) -> int:
        """How often the function has been traced, in all contexts."""
        return self.count + sum(s.count for s in self.beside.values())

    def keep(self, key: Any, found: Trace) -> None:
        """Adds a trace; those of dead objects go, and the oldest gives way."""
        objects = objects_in(key)
        self.fits.clear()
        with self.lock:
            for old in [k for k, known in self.objects.items() if any(o.is_dead() for o in known)]:
                del self.objects[old]
                self.traces.pop(old, None)
            if objects:
                self.objects[key] = objects
            self.traces[key] = found
            gone = self.shared.oldest(key, found)
            if gone is not None:
                self.objects.pop(gone, None)
                self.traces.pop(gone, None)
            while len(self.traces) > MOST_TRACES:
                self.objects.pop(self.traces.popitem(last=False)[0], None)

    def note_fit(self, form: Any, found: Trace) -> None:
        """Remembers that tensors of these dtypes and shapes need not be looked at again."""
        if len(self.fits) >= MOST_TRACES:
            self.fits.clear()
        self.fits[form] = found
