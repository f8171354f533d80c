"""What to say when a program touches a name that Wengert does not have."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

# What belongs to parts of TensorFlow that are still to come.
LATER = {
    "tf.Graph", "tf.RaggedTensor", "tf.SparseTensor", "tf.TensorArray", "tf.autograph", "tf.case",
    "tf.cond", "tf.data", "tf.distribute", "tf.foldl", "tf.foldr", "tf.function", "tf.io",
    "tf.keras", "tf.map_fn", "tf.ragged", "tf.saved_model", "tf.scan", "tf.sparse", "tf.summary",
    "tf.switch_case", "tf.train", "tf.vectorized_map", "tf.while_loop",
}  # fmt: skip


def missing(prefix: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """A module `__getattr__` that says so, and names what is nearest."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {prefix!r} has no attribute {name!r}")
        if f"{prefix}.{name}" in LATER:
            raise AttributeError(f"Wengert has no `{prefix}.{name}` yet.")
        public = [n for n in names if not n.startswith("_")]
        close = difflib.get_close_matches(name, public, 3, 0.6)
        near = " or ".join(f"`{prefix}.{n}`" for n in close)
        raise AttributeError(
            f"Wengert has no `{prefix}.{name}`." + (f" Did you mean {near}?" if near else "")
        )

    return __getattr__
