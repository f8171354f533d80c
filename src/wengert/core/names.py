"""`name_scope`: prefixes for the names of variables, as a stack in a `ContextVar`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

_scope: ContextVar[str] = ContextVar("wengert_name_scope", default="")


class name_scope:  # TensorFlow's name
    """Prefixes the names of variables made inside: `with tf.name_scope("layer"): ...`."""

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None):
        self._name = name or default_name or ""
        self._tokens: list[Any] = []

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        absolute = self._name.endswith("/") or not self._name
        full = self._name if absolute else f"{_scope.get()}{self._name}/"
        self._tokens.append(_scope.set(full))
        return full

    def __exit__(self, *exc: object) -> None:
        _scope.reset(self._tokens.pop())


def scoped(name: str) -> str:
    """The name with the present prefix."""
    return _scope.get() + name


def get_current_name_scope() -> str:
    """The present prefix, without its last slash."""
    return _scope.get().removesuffix("/")
