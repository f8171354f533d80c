"""Why a function was traced again: which argument differed, what that cost, and what would help."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wengert.core.errors import require
from wengert.core.sites import Site
from wengert.explain import findings, source
from wengert.explain.closure_reads import is_user
from wengert.explain.explanation import Explanation, Shown, reason
from wengert.explain.places import exact, known, place
from wengert.explain.terminal import near
from wengert.functions.function import Function
from wengert.functions.trace_log import TRACED_OFTEN, Change, Given, Note, nearest

_log = logging.getLogger("wengert")

_REMEDIES = {
    "WG201": "Let sizes vary with `input_signature={signature}`, or reduce_retracing=True.",
    "WG202": "Cast the argument to one dtype before the call.",
    "WG203": "Pass `{path}` as a tensor, tf.constant({path}), if its value may vary.",
    "WG204": "Give `{path}` the same structure each time, or stack its parts into one tensor.",
    "WG205": "Make the function once, outside the loop, and call it there.",
    "WG206": "Pass the tensors and numbers it needs, or keep one object and change its variables.",
}


@dataclass(frozen=True)
class Retrace:
    """One trace: where it was asked for, what differed, and how long it took."""

    site: Site | None
    changes: tuple[Change, ...]
    milliseconds: float

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain data."""
        return {
            "file": self.site.file if self.site else None,
            "line": self.site.line if self.site else None,
            "milliseconds": self.milliseconds,
            "changes": [str(c) for c in self.changes],
        }


@dataclass(frozen=True, repr=False)
class Ledger(Shown):
    """The traces of a function, oldest first, and the signature that would serve for all."""

    name: str
    traces: tuple[Retrace, ...]
    signature: str | None

    @property
    def milliseconds(self) -> float:
        """What all traces took together."""
        return sum(t.milliseconds for t in self.traces)

    def to_dict(self) -> dict[str, Any]:
        """The ledger as plain data."""
        return {
            "function": self.name,
            "milliseconds": self.milliseconds,
            "signature": self.signature,
            "traces": [t.to_dict() for t in self.traces],
        }

    def __str__(self) -> str:
        count = len(self.traces)
        lines = [
            f"{self.name}: {count} trace{'s' if count != 1 else ''}, {self.milliseconds:.1f} ms"
        ]
        for t in self.traces:
            what = "; ".join(map(str, t.changes)) or "the first"
            lines.append(f"{t.milliseconds:>9.1f} ms  {near(t.site)}  {what}")
        if self.signature is not None and count > 1:
            lines.append(f"One trace would do with input_signature={self.signature}")
        return "\n".join(lines)

    __repr__ = __str__


def retraces(function: Any) -> Ledger:
    """The ledger of a `tf.function`: every trace with its call site, cause and cost."""
    require(
        isinstance(function, Function),
        "retraces",
        "a tf.function was expected",
        function,
        kind=TypeError,
    )
    notes = function._store.notes
    rows = [
        Retrace(exact(n.site), tuple(nearest(notes[:k], n.given)), n.seconds * 1000)
        for k, n in enumerate(notes)
    ]
    return Ledger(function.name, tuple(rows), merged(notes))


def merged(notes: Iterable[Note]) -> str | None:
    """The cheapest signature that covers all traces; `None` where no signature does."""
    all_given = [n.given for n in notes]
    if not all_given or any(g.keys() != all_given[0].keys() for g in all_given):
        return None
    specs = []
    for path in all_given[0]:
        spec = _one_spec([g[path] for g in all_given])
        if spec is None:
            return None
        specs.append(spec)
    return f"[{', '.join(specs)}]"


def _one_spec(given: list[Given]) -> str | None:
    """What one argument was in all traces, as a specification."""
    if any(g.kind != "tensor" or g.dtype != given[0].dtype for g in given):
        return None
    shapes = [g.shape for g in given]
    if any(s is None or len(s) != len(shapes[0] or ()) for s in shapes):
        return f"tf.TensorSpec(None, tf.{given[0].dtype})"
    sizes = [d[0] if len(set(d)) == 1 else None for d in zip(*shapes, strict=True)]
    return f"tf.TensorSpec({sizes}, tf.{given[0].dtype})"


def code_of(change: Change) -> str:
    """The code of what changed."""
    old, new = change.old, change.new
    if old is None or new is None or old.kind != new.kind or new.kind == "structure":
        return "WG204"
    if new.kind == "tensor":
        return "WG202" if old.dtype != new.dtype else "WG201"
    return "WG206" if new.kind == "object" else "WG203"


def explain(function: Function, note: Note) -> Explanation:
    """Why a function was traced once more, as one explanation."""
    notes = [n for n in function._store.notes if n is not note]
    counter = function._options.counter
    if not notes:
        return _made_anew(function, note) if counter.functions > 1 else _on_others(function, note)
    changes = nearest(notes, note.given)
    codes = Counter(
        code_of(c) for k, n in enumerate([*notes, note]) for c in nearest(notes[:k], n.given)
    )
    code = codes.most_common(1)[0][0] if codes else "WG203"
    # Of a structure that varies the whole is named, not what is new or gone in it.
    named = sorted(changes, key=lambda c: not c.path.endswith(" (structure)"))
    change = next((c for c in named if code_of(c) == code), changes[0] if changes else None)
    remedy = _REMEDIES[code].format(
        path=change.path.removesuffix(" (structure)") if change else "the argument",
        signature=merged([*notes, note]) or "[…]",
    )
    text = "; ".join(map(str, changes[:3])) or "the arguments differ"
    return reason(
        code,
        f"{text}; `{function.name}` was traced {len(notes) + 1} times",
        *known(
            place(note.site, "traced again by this call"),
            *[place(n.site, "traced before by this one") for n in notes[-1:]],
            place(_definition(function), f"`{function.name}` is defined here"),
        ),
        remedy=remedy,
        details={
            "function": function.name,
            "traces": len(notes) + 1,
            "milliseconds": sum(n.seconds for n in (*notes, note)) * 1000,
            "changes": [str(c) for c in changes],
            "signature": merged([*notes, note]),
        },
    )


def _made_anew(function: Function, note: Note) -> Explanation:
    counter = function._options.counter
    return reason(
        "WG205",
        f"`{function.name}` was made {counter.functions} times; each is a new function with no "
        f"traces",
        *known(
            place(_definition(function), "made anew each time"),
            place(note.site, "called and traced here"),
        ),
        remedy=_REMEDIES["WG205"],
        details={"function": function.name, "made": counter.functions},
    )


def _on_others(function: Function, note: Note) -> Explanation:
    return reason(
        "WG206",
        f"`{function.name}` is a method, and each object it is called on has traces of its own",
        *known(
            place(note.site, "called and traced here, on another object"),
            place(_definition(function), f"`{function.name}` is defined here"),
        ),
        remedy="Keep one object, or make it a function of tensors.",
        details={"function": function.name},
    )


def _definition(function: Function) -> Site | None:
    """Where a function is defined; its code knows only the line of the first decorator."""
    code = function._options.counter.code
    if code is None:
        return None
    return source.definition(code.co_filename, code.co_firstlineno, code.co_name)


def traced_often(function: Function, note: Note) -> None:
    """Says that a function is traced again and again (called by functions)."""
    result = explain(function, note)
    if result.code == "WG205" and not _is_users(function):
        return  # a library makes its functions as it wants
    if findings.collecting():
        findings.add([result] if function._options.counter.warned == 1 else [])
        return
    _log.warning(
        "5 out of the last %d calls to %s triggered tf.function retracing. %s. %s "
        "Ask wengert.explain.retraces for more.",
        _span(function),
        function.name,
        result.summary,
        result.remedy,
    )


def _is_users(function: Function) -> bool:
    code = getattr(function._options.function, "__code__", None)
    return code is None or is_user(code)


def _span(function: Function) -> int:
    notes = function._store.notes[-5:]
    return max(5, notes[-1].call - notes[0].call + 1) if notes else 5


TRACED_OFTEN.fill(traced_often)
