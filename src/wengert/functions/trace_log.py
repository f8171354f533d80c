"""What a function remembers of its traces: who asked, for which arguments, and how long it took.

Arguments are kept as words, never as values, so a ledger keeps nothing alive. Calls and traces are
counted by the code of the Python function, so that functions made anew in a loop count together;
where most of the latest calls traced, whoever explains is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from wengert.core.errors import at_site, coded, describe
from wengert.core.hooks import Hook
from wengert.core.types import RawSite, Tensor, TensorSpec
from wengert.functions.signature import _BY_VALUE, Same, encode, rebuild

if TYPE_CHECKING:
    from types import CodeType

    import numpy as np

    from wengert.ops.numpy_arrays import LinkedArray


MOST = 32  # notes kept for each function
_COUNTERS = 1000
_RECENT, _OFTEN, _WARNINGS = 10, 5, 2  # as TensorFlow counts: calls looked at, traces, warnings


class Given(NamedTuple):
    """An argument in words: what kind it is, and what of it belongs to the signature."""

    kind: str  # "tensor", "value", "object" or "structure"
    text: str
    dtype: str = ""
    shape: Any = None


class Note(NamedTuple):
    """One trace."""

    site: Any
    given: dict[str, Given]
    seconds: float
    call: int


class Change(NamedTuple):
    """An argument that differs from that of an earlier trace; `None` where there was none."""

    path: str
    old: Given | None
    new: Given | None

    def __str__(self) -> str:
        if self.old is None or self.new is None:
            which = "is new" if self.old is None else "is gone"
            return f"`{self.path}` {which}"
        another = " (another object)" if self.old.text == self.new.text else ""
        return f"`{self.path}` was {self.old.text}, now {self.new.text}{another}"


class Counter:
    """The calls and traces of all functions with one code."""

    __slots__ = ("calls", "code", "functions", "traced", "warned")

    def __init__(self, code: CodeType | None) -> None:
        self.code = code
        self.calls = 0
        self.functions = 0
        self.warned = 0
        self.traced: deque[int] = deque(maxlen=_OFTEN)

    def often(self) -> bool:
        """Notes a trace; whether most of the latest calls traced, for the first times."""
        self.traced.append(self.calls)
        full = len(self.traced) == _OFTEN
        if not full or self.calls - self.traced[0] >= _RECENT or self.warned >= _WARNINGS:
            return False
        self.warned += 1
        self.traced.clear()
        return True


_counters: dict[int, Counter] = {}


def counter(function: Any) -> Counter:
    """The counter of a Python function."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return Counter(None)
    cached = _counters.get(id(code))
    if cached is None:
        if len(_counters) >= _COUNTERS:
            _counters.clear()
        cached = _counters[id(code)] = Counter(code)
    cached.functions += 1
    return cached


# Explains that a function is traced again and again.
TRACED_OFTEN: Hook[Callable[[Any, Note], None]] = Hook("traced_often", "wengert.explain.ledgers")


def spelled(pairs: Any, named: Any) -> dict[str, Given]:
    """The arguments in words, each by its path."""
    table: dict[str, Given] = {}

    def tensor(
        x: Tensor | np.ndarray | TensorSpec | LinkedArray, path: str
    ) -> Tensor | np.ndarray | TensorSpec | LinkedArray:
        dtype = getattr(x.dtype, "name", str(x.dtype))
        shape = getattr(x.shape, "_dims", x.shape)
        table[path] = Given("tensor", describe(x), dtype, None if shape is None else tuple(shape))
        return x

    for name, value in [*pairs, *named.items()]:
        before = len(table)
        rebuild(value, tensor, name, other=None)
        if isinstance(value, dict | list | tuple):
            table[f"{name} (structure)"] = Given("structure", _form(value))
        elif len(table) == before:
            table[name] = _plain(value)
    return table


def _plain(value: Any) -> Given:
    if isinstance(value, _BY_VALUE):
        return Given("value", describe(value))
    if isinstance(encode(value, []), Same):
        return Given("object", f"a {type(value).__name__}", shape=Same(value))
    return Given("value", describe(value))


def _form(value: Any) -> str:
    """The structure of nested containers, with the Python values in it."""
    if isinstance(value, dict):
        inner = ", ".join(f"{k!r}: {_form(v)}" for k, v in value.items())
        return f"{type(value).__name__}({inner})"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(_form, value))})"
    return "tensor" if hasattr(value, "dtype") else describe(value)


def difference(old: dict[str, Given], new: dict[str, Given]) -> list[Change]:
    """Which arguments differ between two traces."""
    return [
        Change(path, old.get(path), new.get(path))
        for path in dict.fromkeys((*old, *new))
        if old.get(path) != new.get(path)
    ]


def nearest(notes: Iterable[Note], given: dict[str, Given]) -> list[Change]:
    """The least that differs from some earlier trace, the latest of those alike."""
    return min((difference(n.given, given) for n in reversed(list(notes))), key=len, default=[])


def too_many(
    name: str, most: int, notes: list[Note], given: dict[str, Given], site: RawSite | None
) -> Any:
    """The error for one trace more than `max_traces` allows, with what differed."""
    text = "; ".join(map(str, nearest(notes, given))) or "the kinds of the arguments differ"
    error = RuntimeError(
        f"function {name!r}: it may be traced {most} times (`max_traces`), and this call needs "
        f"another trace: {text}. Pass tensors instead of Python values that vary, or fix "
        f"`input_signature` with None for sizes that vary."
    )
    return coded(at_site(error, site), "WG207", *[n.site for n in notes[-1:]])
