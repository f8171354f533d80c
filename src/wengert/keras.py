"""`tf.keras`: the Keras of PyPI, unmodified, on its TensorFlow backend, which finds Wengert.

Importing this module imports Keras and puts Keras's own module in its place, so that `tf.keras`
is what TensorFlow hands out under this name. A process that has loaded it finds Wengert under the
name `tensorflow` from then on.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

from wengert.alias import KERAS, install

_BACKEND = "tensorflow"


def load() -> ModuleType:
    """Imports Keras with Wengert in TensorFlow's place."""
    install()
    _check_backend()
    os.environ["KERAS_BACKEND"] = _BACKEND
    try:
        found = import_module(KERAS)
    except ModuleNotFoundError as error:
        if error.name not in ("keras", "optree", "h5py", "namex", "absl"):
            raise
        raise ModuleNotFoundError(
            f"keras: the package {error.name} is not installed. Install Keras 3 with "
            f"`pip install wengert[keras]`.",
            name=error.name,
        ) from None
    import_module("wengert.inside").introduce()
    return found


def _check_backend() -> None:
    """Refuses a Keras that runs on another library already; it cannot change its mind."""
    config = sys.modules.get("keras.src.backend.config")
    if config is not None and config.backend() != _BACKEND:
        raise ImportError(
            f"keras: it is imported already, on {config.backend()}, and cannot change its backend. "
            f"Import wengert.keras before keras, and leave KERAS_BACKEND unset."
        )


sys.modules[__name__] = load()
