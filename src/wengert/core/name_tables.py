"""Tables of names: what a module offers and which module of ours has it, imported on first use.

A program pays only for the families of operations that it touches.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable
from importlib import import_module
from typing import Any

from wengert.core.missing_names import missing


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
    prefix: str, places: dict[str, tuple[str, str]], names: dict[str, Any], **options: Any
) -> Callable[[str], Any]:
    """A module `__getattr__` that imports what the table names, and says what is missing."""
    unknown = missing(prefix, ChainMap[str, Any](names, places), **options)

    def __getattr__(name: str) -> Any:
        place = places.get(name)
        if place is None:
            return unknown(name)
        module = import_module(place[0])
        value = getattr(module, place[1]) if place[1] != "*" else module
        names[name] = value
        return value

    return __getattr__
