"""What Wengert says by itself, and what it only says when asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert.core.errors import require
from wengert.tape.history import Taking

_CHOICES = ("warn", "off", "error")


class NoGradientWarning(UserWarning):
    """A gradient is `None`, and this is why."""


class Settings:
    """`none_gradients`: what `tape.gradient` does about a `None` it returns.

    `"warn"` (the default) warns once for each line that asks, `"off"` says nothing, `"error"`
    raises the explanation.
    """

    def __init__(self) -> None:
        self._none_gradients = "warn"

    @property
    def none_gradients(self) -> str:
        return self._none_gradients

    @none_gradients.setter
    def none_gradients(self, value: str) -> None:
        require(
            value in _CHOICES,
            "settings.none_gradients",
            f"'warn', 'off' or 'error' was expected; got {value!r}",
            kind=ValueError,
        )
        self._none_gradients = value
        Taking.always = value == "error"

    def __repr__(self) -> str:
        return f"Settings(none_gradients={self._none_gradients!r})"

    @contextmanager
    def using(self, **values: Any) -> Iterator[Settings]:
        """Other settings for a block."""
        old = {name: getattr(self, name) for name in values}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield self
        finally:
            for name, value in old.items():
                setattr(self, name, value)


settings = Settings()
