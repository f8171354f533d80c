"""Traced functions under the doctor: what tracing froze, leaked or unrolled, and what calls did.

An observer of traces and of their runs, for as long as the doctor runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from wengert.core import nest
from wengert.core.context import get_state
from wengert.core.types import RawSite, Value
from wengert.explain import effects, frozen
from wengert.explain.findings import Findings
from wengert.explain.insides import Inspection, Inspector
from wengert.explain.workload import MANY, baked_arrays, too_small, unrolled

if TYPE_CHECKING:
    from wengert.explain.explanation import Explanation
    from wengert.functions.function import Function
    from wengert.functions.trace import Trace


_EVERY = 8  # after the first calls, every eighth is compared with the snapshot
_FIRST = 16


def _about(e: Explanation) -> str | None:
    return e.details.get("name") or e.details.get("holder")


class Functions(Inspector):
    """What is known of the functions of the program."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(lambda: findings.history.numerics)
        self._findings = findings
        self._snapshots: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()
        self._calls: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._told: set[Any] = set()

    def trace(
        self, proceed: Any, function: Function, pairs: Any, named: Any, specs: Any, site: RawSite
    ) -> Trace:
        snapshot = frozen.Snapshot(function.python_function)
        watch = effects.Watch(function.name, snapshot, site)
        with effects.watched(watch):
            trace = proceed(function, pairs, named, specs, site)
        result = frozen.side_effects(function.name, snapshot, site)
        seen = watch.changed
        self._add(watch.found + [e for e in result if _about(e) not in seen])
        self._add([*unrolled(trace), *baked_arrays(trace)])
        snapshot.refresh()
        self._snapshots[trace] = function.name, snapshot
        return trace

    def _add(self, found: list[Any]) -> None:
        """Each code and line once, however often a function is traced."""
        for e in found:
            key = e.code, e.site and (e.site.file, e.site.line), e.details.get("name")
            if key not in self._told:
                self._told.add(key)
                self._findings.add([e])

    def run(self, proceed: Any, trace: Any, leaves: Any, site: Any) -> Any:
        state = get_state()
        if state is not None and state.graph is not None:
            return proceed(trace, leaves, site)
        count = self._calls[trace] = self._calls.get(trace, 0) + 1
        if count == MANY:
            self._add(too_small(trace))
        known = self._snapshots.get(trace)
        if known is not None and (count <= _FIRST or count % _EVERY == 0):
            self._add(frozen.stale(known[0], known[1], trace.site, site))
        result = super().run(proceed, trace, leaves, site)
        outs = [y for y in nest.flatten(result) if isinstance(y, Value)]
        self._findings.history.called(trace, leaves, outs, site)
        return result

    def inspected(self, inspection: Inspection) -> None:
        self._add([explanation for _, explanation in inspection.explain()])
