"""Where the traces of a function are kept, by their keys, up to a bound.

What was noted beside them goes with them: the objects that a key names, the shapes that are known to
fit. How a trace is made, and which one a call needs, it does not know.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from wengert.core.locks import new_lock
from wengert.functions import trace_log, trace_lookup
from wengert.functions.signature import Same, objects_in
from wengert.functions.trace import Trace
from wengert.functions.variable_sharing import Shared

MOST_TRACES = 512


class Store:
    """The traces of one function, or of one method of one instance."""

    def __init__(self) -> None:
        self.traces: OrderedDict[Any, Trace] = OrderedDict()
        self.lock = new_lock()
        self.count = 0
        self.made_variables = False
        self.started = False
        self.shared = Shared()
        self.objects: dict[Any, list[Same]] = {}  # by key, where it names any
        self.fits: dict[Any, Trace] = {}  # by dtypes and shapes that are known to fit a signature
        self.wide = trace_lookup.Wide()
        self.notes: list[trace_log.Note] = []

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
