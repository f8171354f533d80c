"""Python frozen in a trace: values that have changed since, and effects that will not be replayed.

A snapshot of what a function reads from outside is taken when it is traced. Compared after the
trace it shows what the function did to the world around it; compared at later calls, what has
become stale. Only plain values are compared: numbers, strings, arrays and nests of them, and the
identity of tensors and functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from wengert.core.types import RawSite, SymbolicTensor, Value, Variable
from wengert.explain.closure_reads import RANDOM, Reference, is_missing, references
from wengert.explain.explanation import Explanation, reason
from wengert.explain.places import known, place

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
_MOST = 200  # items of a container, references of a function
_LARGE = 1 << 16  # elements of an array


class Seen(NamedTuple):
    """A value as it was: something to compare, and how to show it."""

    mark: Any
    text: str


def seen(value: Any) -> Seen | None:
    """A value in a form that stays; `None` for what is not compared."""
    mark = _mark(value, 3)
    return None if mark is None else Seen(mark, _show(value))


def _mark(value: Any, depth: int) -> Any:
    if isinstance(value, _PLAIN):
        return type(value), repr(value)
    if isinstance(value, Value | FunctionType):
        return "one", id(value)
    source = random_source(value)
    if source is not None:
        return "random", str(_state(source))
    if isinstance(value, np.ndarray):
        return ("array", value.shape, value.tobytes()) if value.size <= _LARGE else None
    if depth and isinstance(value, list | tuple | set | frozenset) and len(value) <= _MOST:
        marks = [_mark(v, depth - 1) for v in value]
        pairs = zip(marks, value, strict=True)
        return type(value), len(value), tuple(m or ("other", id(v)) for m, v in pairs)
    if depth and isinstance(value, dict) and len(value) <= _MOST:
        pairs = [(repr(k), _mark(v, depth - 1) or ("other", id(v))) for k, v in value.items()]
        return dict, len(value), tuple(pairs)
    return None


def random_source(value: Any) -> Any:
    """The generator that a value is, or whose method it is."""
    bound = isinstance(value, MethodType | BuiltinMethodType)
    owner = value.__self__ if bound else value
    return owner if isinstance(owner, RANDOM) else None


def _state(source: Any) -> Any:
    if isinstance(source, np.random.RandomState):
        state = source.get_state(legacy=False)
        return state["state"]["pos"], hash(state["state"]["key"].tobytes()), state["has_gauss"]
    return source.bit_generator.state


def _show(value: Any) -> str:
    if isinstance(value, SymbolicTensor):
        return "a tensor of the trace"
    if isinstance(value, list | set | dict | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, Value):
        return "another tensor"
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Snapshot:
    """What a function read from outside when it was traced."""

    def __init__(self, function: Any) -> None:
        self.stores: dict[Any, Reference] = {}
        self._all: dict[Any, Reference] = {}
        self._taken: dict[Any, Seen] = {}
        self.extend(function)

    def extend(self, function: Any) -> dict[int, Reference]:
        """Adds what another function reads and stores; answers the containers among it."""
        reads, stores = references(function)
        kept = [r for r in reads if not r.is_library or random_source(r.value()) is not None]
        new = {r.key: r for r in (*kept[:_MOST], *stores) if r.key not in self._all}
        self._all |= new
        self.stores |= {r.key: r for r in stores if r.key not in self.stores}
        self._take(new)
        return _containers(new)

    def refresh(self) -> None:
        """Takes the values anew."""
        self._taken = {}
        self._take(self._all)

    def _take(self, references: dict[tuple[str, int], Reference]) -> None:
        for key, reference in references.items():
            value = reference.value()
            taken = None if is_missing(value) else seen(value)
            if taken is not None:
                self._taken[key] = taken

    def changes(self) -> list[tuple[Reference, Seen | None, Seen, Any]]:
        """What is another value now: the reference, then and now."""
        results = []
        for key, reference in self._all.items():
            value = reference.value()
            now = None if is_missing(value) else seen(value)
            old = self._taken.get(key)
            if now is not None and (old is None or old.mark != now.mark):
                results.append((reference, old, now, value))
        return results

    def containers(self) -> dict[int, Reference]:
        """The lists, dicts and sets it reaches, by their identity."""
        return _containers(self._all)

    def iterators(self) -> set[str]:
        """The Python iterators it reaches, as they are written."""
        values = [(r.value(), r.text) for r in self._all.values()]
        return {text for v, text in values if isinstance(v, Iterator) and not _is_ours(v)}


def _is_ours(value: Any) -> bool:
    return type(value).__module__.startswith("wengert.")


def _containers(references: dict[tuple[str, int], Reference]) -> dict[int, Reference]:
    values = [(r.value(), r) for r in references.values()]
    return {id(v): r for v, r in values if isinstance(v, list | dict | set)}


def stale(name: str, snapshot: Snapshot, traced: RawSite, called: RawSite) -> list[Explanation]:
    """Values that have changed since the trace that is used now."""
    results = []
    for reference, old, now, value in snapshot.changes():
        if old is None or random_source(value) is not None:
            continue
        item, before, after = difference(old, now)
        what = f"{reference.text}{item}"
        results.append(
            reason(
                "WG301",
                f"`{what}` was {before} when `{name}` was traced, it is {after} now; the trace "
                f"goes on with the old value",
                *known(
                    place(reference.site, "read here, once, while tracing"),
                    place(called, "this call uses the old value"),
                    place(traced, "traced by this call"),
                ),
                remedy=f"Pass it as an argument, or keep it in a tf.Variable and assign to it "
                f"(`{what}.assign(...)`).",
                details={"function": name, "name": reference.text},
            )
        )
    return results


def difference(old: Seen, now: Seen) -> tuple[str, str, str]:
    """The first item in which two containers differ, then and now; else the values as they are."""
    path, a, b = "", old.mark, now.mark
    while _is_container(a) and _is_container(b) and a[:2] == b[:2]:
        rows = zip(a[2], b[2], strict=True)
        k, (x, y) = next((k, row) for k, row in enumerate(rows) if row[0] != row[1])
        if a[0] is dict:
            if x[0] != y[0]:  # another key
                break
            path, a, b = f"{path}[{x[0]}]", x[1], y[1]
        elif a[0] in (list, tuple):
            path, a, b = f"{path}[{k}]", x, y
        else:
            break
    if not path or not (_is_plain(a) and _is_plain(b)):
        return "", old.text, now.text
    return path, a[1], b[1]


def _is_container(mark: Any) -> bool:
    return isinstance(mark, tuple) and len(mark) == 3 and mark[0] in (dict, list, tuple)


def _is_plain(mark: Any) -> bool:
    return isinstance(mark, tuple) and len(mark) == 2 and isinstance(mark[1], str)


def side_effects(name: str, snapshot: Snapshot, traced: RawSite) -> list[Explanation]:
    """What the function did to the world outside while it was traced."""
    results = []
    for reference, old, now, value in snapshot.changes():
        where = snapshot.stores.get(reference.key, reference)
        if isinstance(value, Variable) and (old is None or old.text == "None"):
            continue  # variables are made by the first call, and stay
        if random_source(value) is not None:
            results.append(baked(name, reference.text, reference.site, traced))
            continue
        if holds_symbolic(value):
            results.append(leaked(name, where.text, where.site, traced))
            continue
        before = f"was {old.text}" if old is not None else "was not there"
        results.append(
            reason(
                "WG302",
                f"`{where.text}` {before} and is {now.text} after the trace of `{name}`; Python's "
                f"effects happen while tracing and are not replayed",
                *known(
                    place(where.site, "changed here, while tracing only"),
                    place(traced, "traced by this call"),
                ),
                remedy="Return the value, keep it in a tf.Variable, or do it outside the function.",
                details={"function": name, "name": where.text},
            )
        )
    return results


def baked(
    name: str, asked: str, site: RawSite, traced: RawSite, clock: bool = False
) -> Explanation:
    """A random number or a time that a trace has fixed."""
    return reason(
        "WG303",
        f"`{asked}` is asked while tracing, and its answer is the same in every later call of "
        f"`{name}`",
        *known(place(site, "asked once"), place(traced, "traced by this call")),
        remedy=f"Use {'tf.timestamp' if clock else 'tf.random'}, or pass the value as an argument.",
        details={"function": name},
    )


def holds_symbolic(value: Any) -> bool:
    if isinstance(value, SymbolicTensor):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(inner, list | tuple | set | type({}.values())) and any(
        isinstance(v, SymbolicTensor) for v in inner
    )


def leaked(name: str, holder: str, site: RawSite, traced: RawSite) -> Explanation:
    """A tensor of a trace that something outside holds on to."""
    return reason(
        "WG405",
        f"`{holder}` keeps a tensor of the trace of `{name}`, which never gets a value outside it",
        *known(place(site, "kept here"), place(traced, "traced by this call")),
        remedy="Return it from the function, or keep it in a tf.Variable.",
        details={"function": name, "holder": holder},
    )
