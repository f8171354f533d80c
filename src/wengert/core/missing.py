"""What to say when a program touches a name that Wengert does not have."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any


def missing(prefix: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """A module `__getattr__` that says so, and names what is nearest."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {prefix!r} has no attribute {name!r}")
        public = [n for n in names if not n.startswith("_")]
        close = difflib.get_close_matches(name, public, 3, 0.6)
        near = " or ".join(f"`{prefix}.{n}`" for n in close)
        raise AttributeError(
            f"Wengert has no `{prefix}.{name}`." + (f" Did you mean {near}?" if near else "")
        )

    return __getattr__
