"""Tables of names: what a module offers and which module of ours has it, imported on first use.

A program pays only for the families of operations that it touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from wengert.core.missing_names import Namespace, missing, shown


def read(table: dict[str, str]) -> dict[str, tuple[str, str]]:
    """From `{"ops.unary": "abs floor round_=round"}` to where each public name is found."""
    mapping: dict[str, tuple[str, str]] = {}
    for module, names in table.items():
        for entry in names.split():
            inner, _, public = entry.partition("=")
            assert (public or inner) not in mapping, f"{public or inner} stands twice in a table"
            mapping[public or inner] = (f"wengert.{module}", inner)
    return mapping


def lazily(
    prefix: str,
    places: dict[str, tuple[str, str]],
    names: dict[str, Any],
    homes: Sequence[str] = (),
) -> Namespace:
    """The `__getattr__` and `__dir__` of a module that imports what the table names.

    Modules that it shows stand in the table.
    """

    def __dir__() -> list[str]:
        here = [n for n in shown(names) if not isinstance(names.get(n), ModuleType)]
        return sorted({*here, *places})

    unknown = missing(prefix, __dir__, homes)

    def __getattr__(name: str) -> Any:
        place = places.get(name)
        if place is None:
            return unknown(name)
        module = import_module(place[0])
        value = getattr(module, place[1]) if place[1] != "*" else module
        names[name] = value
        return value

    return __getattr__, __dir__
