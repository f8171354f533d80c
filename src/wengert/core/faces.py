"""The namespaces of the public modules, and the functions that stand in for others in them.

Programs that never make a sparse or ragged tensor should not pay for the question whether an
argument is one. So plain functions are public until the first such tensor is made; from then on
`stand_in` puts functions that ask in their place, in every public module at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_faces: list[dict[str, Any]] = []
_found: dict[Any, Any] = {}
_finder: Callable[[Any], Any] | None = None


def face(names: dict[str, Any]) -> None:
    """Takes note of a public namespace, and puts in the functions that stand in by now."""
    _faces.append(names)
    _refresh(names)


def stand_in(finder: Callable[[Any], Any]) -> None:
    """Lets `finder(function)` say what is public in place of a function from here on."""
    global _finder
    _finder = finder
    for names in _faces:
        _refresh(names)


def present(value: Any) -> Any:
    """What is public now in place of `value`."""
    if _finder is None or not callable(value) or isinstance(value, type):
        return value
    found = _found.get(value)
    if found is None:
        found = _finder(value)
        # What stands in once must not be wrapped again.
        _found[value] = _found[found] = found
    return found


def _refresh(names: dict[str, Any]) -> None:
    if _finder is not None:
        for name, value in list(names.items()):
            if not name.startswith("_"):
                names[name] = present(value)
