"""What to say when a program touches a name that Wengert does not have."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module
from typing import Any

# What belongs to parts of TensorFlow that are still to come.
LATER = {
    "tf.Graph", "tf.RaggedTensor", "tf.SparseTensor", "tf.TensorArray", "tf.autograph", "tf.case",
    "tf.cond", "tf.data", "tf.distribute", "tf.foldl", "tf.foldr", "tf.function", "tf.io",
    "tf.keras", "tf.map_fn", "tf.ragged", "tf.saved_model", "tf.scan", "tf.sparse", "tf.summary",
    "tf.switch_case", "tf.train", "tf.vectorized_map", "tf.while_loop",
}  # fmt: skip
# Where a name that is not at the root may live, likeliest first.
_HOMES = ("math", "nn", "linalg", "random", "image", "signal", "strings", "debugging")
_INTERNAL = {"core", "module", "ops", "placement", "tape"}


def missing(prefix: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """A module `__getattr__` that says so, and names what is nearest."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {prefix!r} has no attribute {name!r}")
        if f"{prefix}.{name}" in LATER:
            raise AttributeError(f"Wengert has no `{prefix}.{name}` yet.")
        near = " or ".join(f"`{n}`" for n in _nearest(prefix, name, names))
        raise AttributeError(
            f"Wengert has no `{prefix}.{name}`." + (f" Did you mean {near}?" if near else "")
        )

    return __getattr__


def _nearest(prefix: str, name: str, names: Any) -> list[str]:
    """The same name in another module (`tf.log` is `tf.math.log`), or what is spelt alike."""
    if prefix == "tf":
        homes = [m for m in _HOMES if hasattr(import_module(f"wengert.{m}"), name)]
        if homes:
            return [f"tf.{m}.{name}" for m in homes]
    public = [n for n in names if not n.startswith("_") and n not in _INTERNAL]
    return [f"{prefix}.{n}" for n in difflib.get_close_matches(name, public, 3, 0.6)]
