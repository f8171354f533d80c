"""`name_scope`: prefixes for the names of variables, set by blocks."""

from __future__ import annotations

from typing import Any

from wengert.core.scopes import Scoped

_scope = Scoped("wengert_name_scope", "")


class name_scope:  # TensorFlow's name
    """Prefixes the names of variables made inside: `with tf.name_scope("layer"): ...`."""

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None):
        self._name = name or default_name or ""

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        absolute = self._name.endswith("/") or not self._name
        full = self._name if absolute else f"{_scope.get()}{self._name}/"
        _scope.enter(self, full)
        return full

    def __exit__(self, *exc: object) -> None:
        _scope.leave(self)


def scoped(name: str) -> str:
    """The name with the present prefix."""
    return _scope.get() + name


def get_current_name_scope() -> str:
    """The present prefix, without its last slash."""
    return _scope.get().removesuffix("/")
