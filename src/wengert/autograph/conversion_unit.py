"""One conversion: the names of generated variables, and the values of the user's global names.

A global name is looked up once, at conversion, and only to see which calls can be left as they
are; a function that is rebound later is still called, but not looked into.
"""

from __future__ import annotations

import ast
import builtins
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import Any

from wengert.autograph.name_analysis import Symbol, walk

_MISSING = object()


# The names of ours in rewritten code, under a prefix that the user's code does not use. The first
# seven are in cells of the closure of every rewritten function; the others it makes for itself.
Names = namedtuple(
    "Names",
    "prefix ops call symbolic looping source sourced sites temporary forms form every cells"
    " returned result",
)


@dataclass(eq=False)
class Construct:
    """One `if`, loop or guarded rest of a function: the symbols it changes, and their liveness."""

    kind: str
    line: int
    symbols: tuple[Symbol, ...] = ()
    # Those of them that the body of a loop appends to.
    appended: frozenset[Symbol] = frozenset()
    # Names that belong to another function or to the module.
    outside: frozenset[str] = frozenset()
    # The flags that stop a loop or guard a rest, by their names.
    flags: tuple[str, ...] = ()
    # Names that are read afterwards; of a loop, also those read by a later turn.
    live: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    # For each flag that may go up inside: the names that are read where its jump leads.
    targets: dict[str, frozenset[str]] = field(default_factory=dict)
    # The name that holds the value to be returned.
    result: str = ""
    # The name that each turn of a `for` loop gives its item.
    item: str = ""
    # What earlier traces learned about the values, by what they started from.
    learned: dict[Any, Any] = field(default_factory=dict)
    met: bool = False

    def is_local(self, symbol: Symbol) -> bool:
        """Whether a name is dead after the construct, so that its value may be dropped."""
        name = symbol.base
        return not symbol.steps and name not in self.live and name not in self.outside


def extended(site: Construct, more: tuple[Symbol, ...]) -> Construct:
    """A construct that changes more symbols than its text shows."""
    return replace(site, symbols=(*site.symbols, *more)) if more else site


class Unit:
    """State shared by the conversion of one function and of the functions inside it."""

    def __init__(
        self, node: ast.AST, free: frozenset[str], scope: dict[str, Any], owner: str | None = None
    ) -> None:
        self.sites: list[Construct] = []
        self._scope = scope
        self._owner = owner
        used: set[str] = set()
        self._bound = set(free)
        for n in walk(node):
            if isinstance(n, ast.Name):
                (used if isinstance(n.ctx, ast.Load) else self._bound).add(n.id)
            elif isinstance(n, ast.arg):
                self._bound.add(n.arg)
        prefix = "ag__"
        while any(name.startswith(prefix) for name in used | self._bound):
            prefix = "_" + prefix
        self.names = Names(prefix, *[prefix + name for name in Names._fields[1:]])
        self._count = 0

    def fresh(self, kind: str, ref: Any) -> str:
        """A new name that says what it is for and which line it belongs to."""
        self._count += 1
        return f"{self.names.prefix}{kind}_{ref.lineno}_{self._count}"

    def site(self, construct: Construct) -> int:
        """Takes in a construct and returns its number."""
        self.sites.append(construct)
        return len(self.sites) - 1

    def private(self, name: str) -> str:
        """A name as Python spells it when it runs: private ones carry their class."""
        if self._owner is None or not name.startswith("__") or name.endswith("__"):
            return name
        stem = self._owner.lstrip("_")
        return f"_{stem}{name}" if stem else name

    def resolve(self, name: str) -> Any:
        """The current value of a global or builtin name, or `None`."""
        if name in self._bound:
            return None
        cached = self._scope.get(name, _MISSING)
        return getattr(builtins, name, None) if cached is _MISSING else cached

    def is_builtin(self, name: str) -> bool:
        """Whether a name means the builtin of that name."""
        return name not in self._bound and name not in self._scope and hasattr(builtins, name)
