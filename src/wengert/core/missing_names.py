"""What to say when a program touches a name that Wengert does not have."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from wengert.core.remedies import remedy

# What belongs to parts of TensorFlow that are still to come.
LATER = {"tf.Graph"}


def missing(
    prefix: str, names: Any, homes: Sequence[str] = (), hidden: Sequence[str] = ()
) -> Callable[[str], Any]:
    """A module `__getattr__` that says so, and names what is nearest.

    `homes` are the modules where a name that is not here may live, likeliest first; `hidden` are
    names that are here but not for users.
    """

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {prefix!r} has no attribute {name!r}")
        if f"{prefix}.{name}" in LATER:
            raise absent(f"Wengert has no `{prefix}.{name}` yet.")
        without = remedy(f"{prefix}.{name}")
        if without:
            raise absent(f"Wengert has no `{prefix}.{name}`. {without}")
        near = " or ".join(f"`{n}`" for n in _nearest(prefix, name, names, homes, hidden))
        raise absent(
            f"Wengert has no `{prefix}.{name}`." + (f" Did you mean {near}?" if near else "")
        )

    return __getattr__


def or_of_keras(module: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """A module `__getattr__` that takes from Keras, on first use, what the module has not."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'wengert.{module}' has no attribute {name!r}")
        try:
            theirs = getattr(import_module("wengert.keras"), module)
        except ModuleNotFoundError as error:
            raise absent(f"Wengert has no `tf.{module}.{name}` of its own. {error}") from None
        if not hasattr(theirs, name):
            return missing(f"tf.{module}", {**vars(theirs), **names})(name)
        return getattr(theirs, name)

    return __getattr__


def absent(text: str) -> AttributeError:
    """The error for a name that is not here, with the code under which it is explained."""
    error = AttributeError(text)
    error.code = "WG801"  # type: ignore[attr-defined]  # read by the doctor
    return error


def _nearest(
    prefix: str, name: str, names: Any, homes: Sequence[str], hidden: Sequence[str]
) -> list[str]:
    """The same name in another module (`tf.log` is `tf.math.log`), or what is spelt alike."""
    results = [m for m in homes if hasattr(import_module(f"wengert.{m}"), name)]
    if results:
        return [f"{prefix}.{m}.{name}" for m in results]
    public = [n for n in names if not n.startswith("_") and n not in hidden]
    return [f"{prefix}.{n}" for n in difflib.get_close_matches(name, public, 3, 0.6)]
