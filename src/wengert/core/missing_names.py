"""Namespaces: the names that a table of TensorFlow's names shows, and the answer to all others."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

from wengert.core.remedies import remedy

# What belongs to parts of TensorFlow that are still to come.
LATER = {"tf.Graph"}


# The `__getattr__` and `__dir__` of a module.
Namespace: TypeAlias = "tuple[Callable[[str], Any], Callable[[], list[str]]]"


def namespace(prefix: str, names: dict[str, Any], homes: Sequence[str] = ()) -> Namespace:
    """The `__getattr__` and `__dir__` of a table of names whose globals are `names`.

    `homes` are the modules where a name that is not here may live, likeliest first.
    """
    return missing(prefix, lambda: shown(names), homes), lambda: shown(names)


def shown(names: Mapping[str, Any]) -> list[str]:
    """The names of a module that are for users: those of `__all__`, or what is not private.

    Python puts every submodule that is imported into its package; only those count that are
    namespaces themselves.
    """
    if "__all__" in names:
        return sorted(names["__all__"])
    return sorted(n for n, value in names.items() if n[0] != "_" and _is_public(value))


def _is_public(value: Any) -> bool:
    return not isinstance(value, ModuleType) or "__dir__" in vars(value)


def missing(
    prefix: str, names: Callable[[], list[str]], homes: Sequence[str] = ()
) -> Callable[[str], Any]:
    """A module `__getattr__` that says what is missing, and names what is nearest."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {prefix!r} has no attribute {name!r}")
        if f"{prefix}.{name}" in LATER:
            raise absent(f"Wengert has no `{prefix}.{name}` yet.")
        without = remedy(f"{prefix}.{name}")
        if without:
            raise absent(f"Wengert has no `{prefix}.{name}`. {without}")
        near = " or ".join(f"`{n}`" for n in _nearest(prefix, name, names(), homes))
        raise absent(
            f"Wengert has no `{prefix}.{name}`." + (f" Did you mean {near}?" if near else "")
        )

    return __getattr__


def or_of_keras(module: str, names: dict[str, Any]) -> Namespace:
    """A namespace that takes from Keras, on first use, what the module has not."""

    def theirs() -> ModuleType:
        return getattr(import_module("wengert.keras"), module)

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'wengert.{module}' has no attribute {name!r}")
        try:
            keras = theirs()
        except ModuleNotFoundError as error:
            raise absent(f"Wengert has no `tf.{module}.{name}` of its own. {error}") from None
        if not hasattr(keras, name):
            return missing(f"tf.{module}", __dir__)(name)
        return getattr(keras, name)

    def __dir__() -> list[str]:
        try:
            return sorted({*shown(names), *(n for n in dir(theirs()) if n[0] != "_")})
        except ModuleNotFoundError:  # Keras is not installed
            return shown(names)

    return __getattr__, __dir__


def absent(text: str) -> AttributeError:
    """The error for a name that is not here, with the code under which it is explained."""
    # With a name and an object Python does not add a suggestion of its own behind ours.
    error = AttributeError(text, name="", obj=None)
    error.code = "WG801"  # type: ignore[attr-defined]  # read by the doctor
    return error


def _nearest(prefix: str, name: str, names: list[str], homes: Sequence[str]) -> list[str]:
    """The same name in another module (`tf.log` is `tf.math.log`), or what is spelt alike."""
    results = [m for m in homes if hasattr(import_module(f"wengert.{m}"), name)]
    if results:
        return [f"{prefix}.{m}.{name}" for m in results]
    return [f"{prefix}.{n}" for n in difflib.get_close_matches(name, names, 3, 0.6)]
