"""`tf.keras`: the Keras of PyPI, unmodified, on its TensorFlow backend, which finds Wengert.

Importing `wengert.keras` imports Keras and puts Keras's own module in its place, so that `tf.keras`
is what TensorFlow hands out under this name. A process that has loaded it finds Wengert under the
name `tensorflow` from then on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from wengert.core.missing_names import missing
from wengert.keras_glue.alias import KERAS, install
from wengert.keras_glue.private_names import introduce

_BACKEND = "tensorflow"


def load() -> ModuleType:
    """Imports Keras with Wengert in TensorFlow's place."""
    install()
    _check_backend()
    os.environ["KERAS_BACKEND"] = _BACKEND
    try:
        with _without_jax():
            result = import_module(KERAS)
    except ModuleNotFoundError as error:
        if error.name not in ("keras", "optree", "h5py", "namex", "absl"):
            raise
        raise ModuleNotFoundError(
            f"keras: the package {error.name} is not installed. Install Keras 3 with "
            f"`pip install 'wengert[keras]'`.",
            name=error.name,
        ) from None
    introduce()
    _answer_for("tf.keras", result, set())
    return result


def _answer_for(place: str, module: ModuleType, seen: set[int]) -> None:
    """Lets Keras's namespaces answer a misspelt name with the nearest, as those of `tf` do."""
    seen.add(id(module))
    if not hasattr(module, "__getattr__"):
        setattr(module, "__getattr__", missing(place, lambda: _public(module)))  # noqa: B010
    for name in _public(module):
        value = getattr(module, name)
        if isinstance(value, ModuleType) and id(value) not in seen:
            _answer_for(f"{place}.{name}", value, seen)


def _public(module: ModuleType) -> list[str]:
    """The names of a module that are not private."""
    return sorted(n for n in vars(module) if not n.startswith("_"))


@contextmanager
def _without_jax() -> Iterator[None]:
    """Hides JAX from one of Keras's callbacks, which would import it to mend an old version.

    It takes as long to load as the rest of Keras, and is wanted only when something is compiled.
    """
    if "jax" in sys.modules:
        yield
        return
    hidden: Any = None
    sys.modules["jax"] = hidden
    try:
        yield
    finally:
        del sys.modules["jax"]


def _check_backend() -> None:
    """Refuses a Keras that runs on another library already; it cannot change its mind."""
    config = sys.modules.get("keras.src.backend.config")
    if config is not None and config.backend() != _BACKEND:
        raise ImportError(
            f"keras: it is imported already, on {config.backend()}, and cannot change its backend. "
            f"Import wengert.keras before keras, and leave KERAS_BACKEND unset."
        )
