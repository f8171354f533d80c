"""Hooks: functions that a lower room calls and an upper room supplies, filled once before use.

Imports point down, so a lower room cannot import such a function. It declares a `Hook` and says
which module fills it; that module is imported when the hook is first called, if nobody has before.
A `HookTable` has one entry for each key, such as how each kind of node is run. Whoever wants to
hear of events subscribes to `core.observers` instead.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from types import ModuleType

F = TypeVar("F")
K = TypeVar("K")
G = TypeVar("G")


class Hook(Generic[F]):
    """A function of an upper room: `hook.call(…)` below, `hook.fill(function)` above."""

    __slots__ = ("call", "filler", "name")

    call: F  # unset until it is filled, so that a call through it costs one attribute

    def __init__(self, name: str, filler: str) -> None:
        self.name = name
        self.filler = filler

    def fill(self, function: F) -> F:
        """Supplies the function, once; also a decorator."""
        assert not self.is_filled(), (
            f"hook {self.name!r} is filled twice; only {self.filler} fills it"
        )
        self.call = function
        return function

    def is_filled(self) -> bool:
        """Whether the function has been supplied."""
        try:
            object.__getattribute__(self, "call")
        except AttributeError:
            return False
        return True

    def __getattr__(self, name: str) -> F:
        """The function, on first use: imports the module that fills the hook."""
        if name != "call":
            raise AttributeError(f"Hook has no attribute {name!r}")
        import_module(self.filler)
        if not self.is_filled():
            raise AssertionError(
                f"hook {self.name!r} is called before {self.filler} has filled it; import that "
                f"module completely first"
            )
        return self.call


class HookTable(dict[K, G]):
    """Functions of upper rooms by key, each supplied once. Reading is reading a `dict`.

    `table[key]` imports the fillers where the key is missing; `get` and `in` see what is there, so
    who relies on them makes sure with `requires`.
    """

    def __init__(self, name: str, *fillers: str) -> None:
        super().__init__()
        self.name = name
        self.fillers = fillers
        self._filled_by: set[str] = set()

    def fill(self, filler: str, entries: dict[K, G]) -> None:
        """Supplies functions; `filler` is the `__name__` of the module that does."""
        assert filler in self.fillers, (
            f"{filler} fills table {self.name!r}, which names {', '.join(self.fillers)} only"
        )
        twice = [key for key in entries if key in self]
        assert not twice, f"table {self.name!r}: {twice} filled twice, now by {filler}"
        self.update(entries)
        self._filled_by.add(filler)

    def requires(self, *modules: ModuleType) -> None:
        """Makes sure that these modules, which the caller imports, have filled their part."""
        for module in modules:
            assert module.__name__ in self._filled_by, (
                f"table {self.name!r} is used before {module.__name__} has filled its part"
            )

    def __missing__(self, key: K) -> G:
        for filler in self.fillers:
            import_module(filler)
        assert key in self, (
            f"table {self.name!r} has no entry for {key!r}; {', '.join(self.fillers)} fill it"
        )
        return self[key]
